// Looks for values that move to another place from each sample to the next one.
#include "engine/data/window_overlap.h"

#include "engine/core/cancel.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

constexpr int64_t kSeen = 64;         // samples that are compared
constexpr size_t kLeast = 8;          // fewer different values may be equal by chance
constexpr int64_t kMostValues = 2048; // of a sample; longer ones take long

constexpr Phrase kOverlap =
    phrase("Data", "Each sample shares values with those around it, as windows of a series do, so "
                   "samples that chance holds back are partly trained on. With data.held_back set "
                   "to last and data.gap to %1, they are not.");

/// The values at each place of a sample, from sample to sample.
using Series = std::vector<std::vector<float>>;

/// Whether what stands in `from` stands in `to` one sample later.
bool moves(const std::vector<float>& from, const std::vector<float>& to) {
    return std::equal(from.begin(), from.end() - 1, to.begin() + 1);
}

bool varies(const std::vector<float>& series) {
    return std::set<float>(series.begin(), series.end()).size() >= kLeast;
}

/// Returns pairs of places between which values move.
std::vector<std::pair<size_t, size_t>> linksOf(const Series& series) {
    std::vector<std::pair<size_t, size_t>> links;
    for (size_t from = 0; from < series.size(); ++from) {
        checkCancelled();
        if (!varies(series[from])) continue;
        for (size_t to = 0; to < series.size(); ++to)
            if (to != from && moves(series[from], series[to])) links.emplace_back(from, to);
    }
    return links;
}

} // namespace

int64_t overlapOf(int64_t samples, int64_t values,
                  const std::function<void(int64_t, std::span<float>)>& read) {
    const int64_t seen = std::min(samples, kSeen);
    if (seen < static_cast<int64_t>(kLeast) || values < 2 || values > kMostValues) return 0;
    Series series(static_cast<size_t>(values));
    std::vector<float> sample(static_cast<size_t>(values));
    for (int64_t i = 0; i < seen; ++i) {
        read(i, sample);
        for (size_t place = 0; place < sample.size(); ++place)
            series[place].push_back(sample[place]);
    }
    const auto links = linksOf(series);
    std::vector<int64_t> moved(series.size(), 0); // the most moves by which a value comes here
    for (size_t round = 0; round < series.size(); ++round) {
        bool grew = false;
        for (const auto& [from, to] : links)
            if (moved[to] < moved[from] + 1) {
                moved[to] = moved[from] + 1;
                grew = true;
            }
        if (!grew) break;
    }
    const int64_t most = *std::max_element(moved.begin(), moved.end());
    return most < values ? most : 0; // values that move in a circle never leave
}

Message overlapNote(int64_t overlap) { return {kOverlap, overlap}; }

bool tellsOverlap(const Message& note) { return note.format() == kOverlap; }

} // namespace halfscope
