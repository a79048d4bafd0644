// Releases the values of full chunks and loads them again.
#include "engine/runs/column_chunk.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>

namespace halfscope {

namespace {

constexpr size_t kWide = ChunkValues::kWide;
/// Chunks that take less stay in memory.
constexpr size_t kWorthDropping = 2 * sizeof(ColumnGroup) * ColumnSpan::kChunkValues / kWide;
static_assert(ColumnSpan::kChunkValues == ChunkValues::kMost);

/// Shared locks: one lock per chunk would take more memory than what it guards.
std::mutex& lockOf(const void* chunk) {
    static std::array<std::mutex, 64> locks;
    return locks[std::hash<const void*>{}(chunk) / alignof(ColumnChunk) % locks.size()];
}

/// Returns the distance of the steps; 0 when they are not at equal distances.
int64_t strideOf(const ChunkValues& values) {
    const int64_t first = values.stepAt(0), stride = values.stepAt(1) - first;
    for (size_t i = 2; i < ChunkValues::kMost; ++i)
        if (values.stepAt(i) != first + static_cast<int64_t>(i) * stride) return 0;
    return stride;
}

} // namespace

ColumnChunk::ColumnChunk(std::shared_ptr<const ChunkValues> values, size_t runs)
    : ColumnSpan(0, values->stepAt(0), values->stepAt(kChunkValues - 1), strideOf(*values)),
      m_runs(runs), m_values(std::move(values)) {}

ColumnChunk::ColumnChunk(int64_t first, int64_t last, int64_t stride, size_t runs,
                         std::shared_ptr<const ChunkStore> store, int64_t key)
    : ColumnSpan(0, first, last, stride), m_runs(runs) {
    setStored(std::move(store), key);
}

ColumnChunk::Held ColumnChunk::held() const {
    const std::lock_guard lock(lockOf(this));
    return {m_values, m_groups.get()};
}

std::shared_ptr<const ChunkValues> ColumnChunk::values() const {
    if (auto there = held().values) return there;
    auto read = loaded(); // without the lock, because it takes a while
    if (!read) return lost();
    readAgain();
    const std::lock_guard lock(lockOf(this));
    if (!m_values) m_values = std::move(read);
    return m_values;
}

/// Returns null when the store cannot read the values now, or has others under the key.
std::shared_ptr<const ChunkValues> ColumnChunk::loaded() const {
    size_t count = 0, runs = 0;
    auto read = ChunkValues::unpacked(store()->read(key()), count, runs);
    const bool same = read && count == kChunkValues && runs == m_runs &&
                      read->stepAt(0) == firstStep() &&
                      read->stepAt(kChunkValues - 1) == lastStep();
    return same ? read : nullptr;
}

std::shared_ptr<const ChunkValues> ColumnChunk::lost() const {
    size_t runs = m_runs;
    auto lost = std::make_shared<ChunkValues>(ChunkValues::Coding::Floats, kChunkValues,
                                              stride() == 0 ? kChunkValues : 0);
    for (size_t i = 0; i < kChunkValues; ++i)
        lost->put(i, runs, stepAt(i), std::numeric_limits<double>::quiet_NaN());
    return lost;
}

size_t ColumnChunk::indexWithin(int64_t step, int64_t slack) const {
    if (stride() != 0 && slack == 0) return indexOf(step);
    Held there = held();
    if (stride() == 0 && !there.values) {
        if (there.groups && slack > 0)
            if (const auto found = indexByGroups(*there.groups, kWide, step, slack)) return *found;
        there.values = this->values();
    }
    const ChunkValues* const values = there.values.get(); // may be null with equal distances
    const auto stepOf = [&](size_t i) { return stride() != 0 ? stepAt(i) : values->stepAt(i); };
    const size_t index = stride() != 0 ? indexOf(step) : values->indexAt(kChunkValues, step);
    const size_t begin = index / kWide * kWide, end = begin + kWide;
    if (index == begin) return index;
    const int64_t next = end < size() ? stepOf(end) : lastStep() + 1;
    return next - stepOf(begin) <= slack ? end : index;
}

void ColumnChunk::read(size_t from, std::span<Point> out) const {
    values()->read(m_runs, from, out);
}

void ColumnChunk::gather(size_t from, size_t to, Extremes& into) const {
    auto [values, groups] = held();
    if (!values && !groups) values = this->values();
    if (values) return values->gather(m_runs, from, to, into);
    while (from < to) {
        if (from % kWide == 0 && from + kWide <= to) {
            (*groups)[from / kWide].addTo(into, kWide);
            from += kWide;
        } else {
            const size_t end = std::min(to, (from / kWide + 1) * kWide);
            if (!values) values = this->values();
            values->gather(m_runs, from, end, into);
            from = end;
        }
    }
}

size_t ColumnChunk::firstNotFinite(size_t from, size_t to) const {
    auto [values, groups] = held();
    if (!values && !groups) values = this->values();
    if (values) return values->firstNotFinite(m_runs, from, to);
    while (from < to) {
        const size_t end = std::min(to, (from / kWide + 1) * kWide);
        if ((*groups)[from / kWide].finite < static_cast<int64_t>(kWide)) {
            if (!values) values = this->values();
            const size_t found = values->firstNotFinite(m_runs, from, end);
            if (found < end) return found;
        }
        from = end;
    }
    return to;
}

size_t ColumnChunk::bytes() const {
    const auto [values, groups] = held();
    return sizeof(*this) + (values ? values->bytes() : 0) + (groups ? sizeof(Groups) : 0);
}

bool ColumnChunk::knowsExtremes() const {
    const auto [values, groups] = held();
    return values || groups;
}

int64_t ColumnChunk::knownStep(size_t index) const {
    const auto [values, groups] = held();
    return groups ? (*groups)[index / kWide].first : values->stepAt(index);
}

std::vector<std::byte> ColumnChunk::packed() const {
    return values()->packed(kChunkValues, m_runs);
}

bool ColumnChunk::freeStored() const {
    const auto [values, there] = held();
    if (key() == 0 || !values || values->bytes() < kWorthDropping) return false;
    auto groups = there ? nullptr : std::make_unique<Groups>();
    for (size_t i = 0; groups && i < groups->size(); ++i) {
        Extremes all;
        values->gather(m_runs, i * kWide, (i + 1) * kWide, all);
        (*groups)[i] = {
            values->stepAt(i * kWide), all.finite, all.lowest, all.highest, all.last, all.sum};
    }
    const std::lock_guard lock(lockOf(this));
    if (groups) m_groups = std::move(groups);
    m_values = nullptr;
    return true;
}

} // namespace halfscope
