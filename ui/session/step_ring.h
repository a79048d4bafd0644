// A lock-free ring for one producer and one consumer thread, of fixed capacity. It holds values
// only; what to do when it is full is the producer's choice (the training worker keeps a backlog).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace halfscope {

template <class T>
class StepRing {
    static_assert(std::is_trivially_copyable_v<T>, "values are copied between threads");

public:
    /// Capacity is rounded up to a power of two so that positions wrap by a mask.
    explicit StepRing(size_t capacity) {
        size_t size = 2;
        while (size < capacity)
            size *= 2;
        m_slots.resize(size);
    }

    size_t capacity() const { return m_slots.size(); }

    /// Producer only. Takes as many of the first rows as fit, in order, and returns how many it
    /// took.
    size_t push(std::span<const T> rows) {
        const size_t head = m_head.load(std::memory_order_relaxed);
        const size_t tail = m_tail.load(std::memory_order_acquire);
        const size_t count = std::min(rows.size(), m_slots.size() - (head - tail));
        for (size_t i = 0; i < count; ++i)
            m_slots[(head + i) & (m_slots.size() - 1)] = rows[i];
        // release: the rows are visible before the position that announces them
        m_head.store(head + count, std::memory_order_release);
        return count;
    }

    /// Consumer only. Appends everything that is there to `out` and returns how many rows
    /// there were.
    size_t drain(std::vector<T>& out) {
        const size_t tail = m_tail.load(std::memory_order_relaxed);
        const size_t head = m_head.load(std::memory_order_acquire);
        out.reserve(out.size() + (head - tail));
        for (size_t i = tail; i != head; ++i)
            out.push_back(m_slots[i & (m_slots.size() - 1)]);
        m_tail.store(head, std::memory_order_release);
        return head - tail;
    }

private:
    std::vector<T> m_slots;
    // Positions only grow; each on its own cache line, or the threads would slow each other down.
    alignas(64) std::atomic<size_t> m_head{0};
    alignas(64) std::atomic<size_t> m_tail{0};
};

} // namespace halfscope
