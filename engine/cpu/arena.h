// Where a program's values lie in memory. Knows no kernel.
#pragma once

#include <cstddef>
#include <span>

namespace halfscope {

/// One block of memory, in which the plan gives every stored value its offset. One input may lie
/// elsewhere, in memory that its owner lends: it is read there instead of being copied.
class Arena {
public:
    Arena() = default;
    explicit Arena(std::byte* base) : m_base(base) {}

    /// Returns the address of the value at an offset.
    std::byte* at(size_t offset) const {
        const size_t inside = offset - m_lentOffset; // huge when the offset is smaller
        return inside < m_lentBytes ? m_lent + inside : m_base + offset;
    }
    /// Reads the values at [offset, offset + bytes.size()) from `bytes` until takeBack() or another
    /// lend(). No kernel may write there: inputs are never written.
    void lend(size_t offset, std::span<const std::byte> bytes) {
        m_lentOffset = offset;
        m_lentBytes = bytes.size();
        m_lent = const_cast<std::byte*>(bytes.data());
    }
    void takeBack() { m_lentBytes = 0; }

private:
    std::byte* m_base = nullptr;
    std::byte* m_lent = nullptr;
    size_t m_lentOffset = 0, m_lentBytes = 0;
};

} // namespace halfscope
