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
constexpr size_t kWorthDropping = 1024;

/// Shared locks: one lock per chunk would take more memory than what it guards.
std::mutex& lockOf(const void* chunk) {
    static std::array<std::mutex, 64> locks;
    return locks[std::hash<const void*>{}(chunk) / alignof(ColumnChunk) % locks.size()];
}

} // namespace

ColumnChunk::ColumnChunk(std::shared_ptr<const ChunkValues> values, size_t runs)
    : m_first(values->stepAt(0)), m_last(values->stepAt(kValues - 1)), m_runs(runs),
      m_values(std::move(values)) {
    const int64_t stride = m_values->stepAt(1) - m_first;
    bool equal = true;
    for (size_t i = 2; equal && i < kValues; ++i)
        equal = m_values->stepAt(i) == m_first + static_cast<int64_t>(i) * stride;
    m_stride = equal ? stride : 0;
}

std::shared_ptr<const ChunkValues> ColumnChunk::held() const {
    const std::lock_guard lock(lockOf(this));
    return m_values;
}

std::shared_ptr<const ChunkValues> ColumnChunk::values() const {
    if (auto there = held()) return there;
    auto read = loaded(); // without the lock, because it takes a while
    m_readAgain.store(true, std::memory_order_relaxed);
    const std::lock_guard lock(lockOf(this));
    if (!m_values) m_values = std::move(read);
    return m_values;
}

std::shared_ptr<const ChunkValues> ColumnChunk::loaded() const {
    size_t count = 0, runs = 0;
    auto read = ChunkValues::unpacked(m_store->read(key()), count, runs);
    const bool same = read && count == kValues && runs == m_runs && read->stepAt(0) == m_first &&
                      read->stepAt(kValues - 1) == m_last;
    if (same) return read;
    auto lost = std::make_shared<ChunkValues>(ChunkValues::Coding::Floats, kValues, 0);
    for (size_t i = 0; i < kValues; ++i)
        lost->put(i, runs, stepAt(i), std::numeric_limits<double>::quiet_NaN());
    return lost;
}

size_t ColumnChunk::indexAt(int64_t step) const {
    if (step <= m_first) return 0;
    if (step > m_last) return kValues;
    if (m_stride == 0) return values()->indexAt(kValues, step);
    return static_cast<size_t>((step - m_first + m_stride - 1) / m_stride);
}

void ColumnChunk::gather(size_t from, size_t to, Extremes& into) const {
    std::shared_ptr<const ChunkValues> values = held();
    if (values) return values->gather(m_runs, from, to, into);
    while (from < to) {
        if (from % kWide == 0 && from + kWide <= to) {
            const Group& group = (*m_groups)[from / kWide];
            into.notFinite += static_cast<int64_t>(kWide) - group.finite;
            if (group.finite > 0)
                into.add({stepAt(group.lowestAt), group.lowest},
                         {stepAt(group.highestAt), group.highest},
                         {stepAt(group.lastAt), group.last}, group.finite);
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
    std::shared_ptr<const ChunkValues> values = held();
    if (values) return values->firstNotFinite(m_runs, from, to);
    while (from < to) {
        const size_t end = std::min(to, (from / kWide + 1) * kWide);
        if ((*m_groups)[from / kWide].finite < kWide) {
            if (!values) values = this->values();
            const size_t found = values->firstNotFinite(m_runs, from, end);
            if (found < end) return found;
        }
        from = end;
    }
    return to;
}

size_t ColumnChunk::bytes() const {
    const std::lock_guard lock(lockOf(this));
    return sizeof(*this) + (m_values ? m_values->bytes() : 0) + (m_groups ? sizeof(Groups) : 0);
}

void ColumnChunk::setStored(std::shared_ptr<const ChunkStore> store, int64_t key) const {
    m_store = std::move(store);
    m_key.store(key, std::memory_order_release);
}

bool ColumnChunk::drop() const {
    if (key() == 0 || m_stride == 0 || m_readAgain.exchange(false, std::memory_order_relaxed))
        return false;
    const std::shared_ptr<const ChunkValues> values = held();
    if (!values || values->bytes() < kWorthDropping) return false;
    auto groups = m_groups ? nullptr : std::make_unique<Groups>();
    for (size_t i = 0; groups && i < groups->size(); ++i) {
        Extremes all;
        values->gather(m_runs, i * kWide, (i + 1) * kWide, all);
        if (all.finite == 0) continue;
        const auto placeOf = [this](const Point& point) {
            return static_cast<uint16_t>((point.step - m_first) / m_stride);
        };
        (*groups)[i] = {all.lowest.value,
                        all.highest.value,
                        all.last.value,
                        placeOf(all.lowest),
                        placeOf(all.highest),
                        placeOf(all.last),
                        static_cast<uint16_t>(all.finite)};
    }
    const std::lock_guard lock(lockOf(this));
    if (groups) m_groups = std::move(groups);
    m_values = nullptr;
    return true;
}

} // namespace halfscope
