// Drops values by their places in the columns.
#include "engine/runs/value_budget.h"

#include "engine/core/usable_memory.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace halfscope {
namespace {

/// Returns all spans of the runs, each with its place in its column.
std::vector<std::pair<size_t, ColumnSpanPtr>> spansOf(std::span<const RunSnapshot> runs) {
    std::vector<std::pair<size_t, ColumnSpanPtr>> spans;
    for (const RunSnapshot& now : runs)
        for (int lane = 0; lane < now.laneCount(); ++lane)
            for (MetricId id = 0; static_cast<size_t>(id) < now.metrics().size(); ++id) {
                size_t place = 0;
                for (const ColumnSpanPtr& span : now.column(lane, id).spans()) {
                    spans.emplace_back(place, span);
                    place += span->size();
                }
            }
    return spans;
}

} // namespace

size_t usualBudget() {
    constexpr size_t kMost = 4ull << 30;
    const size_t memory = usableMemory();
    return memory == 0 ? kMost : std::min(kMost, memory / 4);
}

size_t dropValues(std::span<const RunSnapshot> runs, size_t budget,
                  std::vector<ColumnSpanPtr>& unwritten) {
    size_t bytes = 0;
    std::unordered_set<const TargetPicture*> targets;
    for (const RunSnapshot& now : runs) {
        bytes += now.bytes();
        const TargetPicture* target = now.sharedTarget().get();
        if (targets.insert(target).second) bytes += target->bytes();
    }
    if (bytes <= budget) return bytes;
    const size_t wanted = budget - budget / 8; // lower, so that not every look has to drop again
    std::vector<std::pair<size_t, ColumnSpanPtr>> spans = spansOf(runs);
    std::stable_sort(spans.begin(), spans.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [place, span] : spans) {
        if (bytes <= wanted) break;
        const size_t before = span->bytes();
        if (span->drop()) bytes -= before - std::min(before, span->bytes());
        if (span->level() > 0 && span->key() == 0) unwritten.push_back(span);
    }
    return bytes;
}

} // namespace halfscope
