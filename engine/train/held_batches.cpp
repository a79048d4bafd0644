// Fills batches with what can be read.
#include "engine/train/held_batches.h"

#include "engine/data/loader.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace halfscope {

namespace {

/// Copies the first `rows` rows of a batch into another one, from the row `at` on.
void putRows(Batch& into, size_t at, const Batch& from, size_t rows) {
    for (size_t row = 0; row < rows; ++row)
        into.setRow(at + row, from, row);
}

} // namespace

HeldBatches::HeldBatches(const Dataset& judges, int64_t rows, LoneSample lone, ThreadPool* pool)
    : m_judges(judges), m_rows(rows), m_lone(lone), m_pool(pool),
      m_samples(judges.samples(Split::Validation)) {}

std::vector<int64_t> HeldBatches::sizes(int64_t samples, int64_t rows, LoneSample lone) {
    int64_t whole = samples / rows, last = samples % rows;
    if (last == 1 && whole > 0 && lone == LoneSample::Joined) {
        --whole;
        last += rows;
    }
    std::vector<int64_t> all;
    if (whole > 0) all.push_back(rows);
    if (last > 0) all.push_back(last);
    return all;
}

std::optional<HeldBatch> HeldBatches::next() {
    std::optional<HeldBatch> now = m_ahead ? std::exchange(m_ahead, std::nullopt) : read();
    if (!now || m_lone == LoneSample::Alone) return now;
    m_ahead = read();
    if (!m_ahead || m_ahead->samples.size() != 1) return now;
    const HeldBatch lone = *std::exchange(m_ahead, std::nullopt);
    const size_t rows = now->samples.size();
    Batch both = Batch::of(m_judges.tensors(), static_cast<int64_t>(rows + 1));
    putRows(both, 0, now->batch, rows);
    putRows(both, rows, lone.batch, 1);
    now->batch = std::move(both);
    now->samples.push_back(lone.samples.front());
    return now;
}

std::optional<HeldBatch> HeldBatches::read() {
    const int64_t rows = std::min(m_rows, m_samples - m_next);
    if (rows == 0) return std::nullopt;
    HeldBatch found; // its batch is filled only when samples are skipped
    while (found.samples.size() < static_cast<size_t>(rows) && m_next < m_samples) {
        const int64_t wanted =
            std::min(rows - static_cast<int64_t>(found.samples.size()), m_samples - m_next);
        std::vector<int64_t> samples(static_cast<size_t>(wanted));
        std::iota(samples.begin(), samples.end(), m_next);
        m_next += wanted;
        Batch batch = Batch::of(m_judges.tensors(), wanted);
        const std::vector<Unread> unread =
            readTogether(m_judges, Split::Validation, samples, batch, m_pool);
        if (unread.empty() && wanted == rows)
            return HeldBatch{std::move(batch), std::move(samples)};
        if (found.batch.tensors.empty()) found.batch = Batch::of(m_judges.tensors(), rows);
        std::vector<bool> damaged(samples.size());
        for (const Unread& each : unread) {
            damaged[each.row] = true;
            m_skipped.push_back(each.why);
        }
        for (size_t row = 0; row < damaged.size(); ++row) {
            if (damaged[row]) continue;
            found.batch.setRow(found.samples.size(), batch, row);
            found.samples.push_back(samples[row]);
        }
    }
    const size_t count = found.samples.size();
    if (count == 0) return std::nullopt;
    if (count == static_cast<size_t>(rows)) return found;
    Batch last = Batch::of(m_judges.tensors(), static_cast<int64_t>(count));
    putRows(last, 0, found.batch, count);
    found.batch = std::move(last);
    return found;
}

} // namespace halfscope
