// What spans of all levels have in common.
#include "engine/runs/column_span.h"

#include <utility>

namespace halfscope {

size_t ColumnSpan::indexAt(int64_t step) const {
    if (step <= m_first) return 0;
    if (step > m_last) return size();
    return static_cast<size_t>((step - m_first + m_stride - 1) / m_stride);
}

void ColumnSpan::setStored(std::shared_ptr<const ChunkStore> store, int64_t key) const {
    m_store = std::move(store);
    m_key.store(key, std::memory_order_release);
}

bool ColumnSpan::drop() const {
    if (m_stride == 0 || m_readAgain.exchange(false, std::memory_order_relaxed)) return false;
    const bool freed = freeStored();
    if (key() != 0) m_released.store(true, std::memory_order_release);
    return freed;
}

} // namespace halfscope
