// A list that only grows, whose elements never move: a view of it stays valid and may be read on
// any thread while its owner appends.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

namespace halfscope {

template <class T>
class GrowingList {
    static constexpr size_t kFirst = 8; ///< elements of the first block; each has twice as many as
                                        ///< the one before
    static constexpr size_t kBlocks = 48;
    struct Blocks {
        std::array<std::unique_ptr<T[]>, kBlocks> block;
    };
    static size_t blockOf(size_t i) {
        return static_cast<size_t>(std::bit_width(i / kFirst + 1)) - 1;
    }
    static size_t startOf(size_t block) { return kFirst * ((size_t{1} << block) - 1); }
    static T& at(const Blocks& blocks, size_t i) {
        const size_t block = blockOf(i);
        return blocks.block[block][i - startOf(block)];
    }

public:
    /// What the list held when the view was made. A copy costs one counted pointer.
    class View {
    public:
        size_t size() const { return m_size; }
        bool empty() const { return m_size == 0; }
        const T& operator[](size_t i) const { return at(*m_blocks, i); }
        const T& back() const { return (*this)[m_size - 1]; }

        class Iterator {
        public:
            using iterator_category = std::input_iterator_tag;
            using value_type = T;
            using difference_type = std::ptrdiff_t;
            using pointer = const T*;
            using reference = const T&;
            Iterator(const View* view, size_t at) : m_view(view), m_at(at) {}
            reference operator*() const { return (*m_view)[m_at]; }
            pointer operator->() const { return &**this; }
            Iterator& operator++() {
                ++m_at;
                return *this;
            }
            Iterator operator++(int) { return std::exchange(*this, Iterator(m_view, m_at + 1)); }
            bool operator==(const Iterator& other) const { return m_at == other.m_at; }

        private:
            const View* m_view;
            size_t m_at;
        };
        Iterator begin() const { return {this, 0}; }
        Iterator end() const { return {this, m_size}; }

    private:
        friend class GrowingList;
        std::shared_ptr<const Blocks> m_blocks;
        size_t m_size = 0;
    };

    GrowingList() = default;
    GrowingList(GrowingList&&) noexcept = default;
    GrowingList& operator=(GrowingList&&) noexcept = default;

    /// Appends a value; one thread at a time. A view is handed to another thread through a lock or
    /// another kind of synchronisation.
    void append(T value) {
        if (!m_blocks) m_view.m_blocks = m_blocks = std::make_shared<Blocks>();
        const size_t block = blockOf(m_view.m_size);
        // readers of older views only look at earlier elements
        if (!m_blocks->block[block])
            m_blocks->block[block] = std::make_unique<T[]>(kFirst << block);
        at(*m_blocks, m_view.m_size) = std::move(value);
        ++m_view.m_size;
    }
    const View& view() const { return m_view; }
    /// Returns the bytes of the list itself, without those of what its elements point to.
    static size_t bytesFor(size_t size) {
        return size == 0 ? 0 : sizeof(Blocks) + sizeof(T) * startOf(blockOf(size - 1) + 1);
    }

private:
    std::shared_ptr<Blocks> m_blocks;
    View m_view;
};

} // namespace halfscope
