// What spans of all levels have in common.
#include "engine/runs/column_span.h"

#include <iterator>
#include <utility>

namespace halfscope {

size_t ColumnSpan::indexAt(int64_t step, int64_t slack) const {
    if (step <= m_first) return 0;
    if (step > m_last || m_last - m_first <= slack) return size();
    return indexWithin(step, slack);
}

std::optional<size_t> ColumnSpan::indexByGroups(std::span<const ColumnGroup> groups, size_t width,
                                                int64_t step, int64_t slack) const {
    const auto after =
        std::lower_bound(groups.begin(), groups.end(), step,
                         [](const ColumnGroup& each, int64_t at) { return each.first < at; });
    const auto behind = static_cast<size_t>(after - groups.begin()) * width;
    const int64_t next = after == groups.end() ? m_last + 1 : after->first;
    if (next == step || next - std::prev(after)->first <= slack) return behind;
    return std::nullopt;
}

void ColumnSpan::setStored(std::shared_ptr<const ChunkStore> store, int64_t key) const {
    m_store = std::move(store);
    m_key.store(key, std::memory_order_release);
}

bool ColumnSpan::drop() const {
    if (m_readAgain.exchange(false, std::memory_order_relaxed)) return false;
    const bool freed = freeStored();
    if (key() != 0) m_released.store(true, std::memory_order_release);
    return freed;
}

} // namespace halfscope
