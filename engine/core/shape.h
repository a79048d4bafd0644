// Shape of a tensor: up to six extents, row-major. Broadcasting is explicit in the graph; the
// helper here only computes the common shape.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

namespace halfscope {

inline constexpr int kMaxRank = 6;

/// A short list of int64 with value semantics: extents, strides, axes or permutations.
class Shape {
public:
    Shape() = default;
    Shape(std::initializer_list<int64_t> extents);
    explicit Shape(std::span<const int64_t> extents);
    static Shape filled(int rank, int64_t value);

    int rank() const { return m_rank; }
    bool empty() const { return m_rank == 0; }
    int64_t operator[](int axis) const { return m_extents[static_cast<size_t>(axis)]; }
    int64_t& operator[](int axis) { return m_extents[static_cast<size_t>(axis)]; }
    int64_t back() const;      ///< the last extent; the shape must not be empty
    void push(int64_t extent); ///< rank must stay within kMaxRank
    /// Returns the product of the extents, 1 for rank 0; throws std::logic_error when one is
    /// negative or the positive ones multiply to 2^63 or more.
    int64_t elements() const;
    Shape strides() const; ///< row-major, in elements; throws as elements() does
    const int64_t* begin() const { return m_extents.data(); }
    const int64_t* end() const { return m_extents.data() + m_rank; }
    std::string text() const; ///< "[2, 3]"; "[]" for rank 0

    friend bool operator==(const Shape& a, const Shape& b);

private:
    std::array<int64_t, kMaxRank> m_extents{};
    int m_rank = 0;
};

/// Returns the common shape by NumPy's broadcasting rule, or nothing.
std::optional<Shape> broadcastShape(const Shape& a, const Shape& b);

/// Returns the extents of (n, c, ..) as (n, .., c): axis 1 goes behind the last. Of fewer than
/// three axes they stay.
Shape channelsLast(const Shape&);
/// Returns the extents of (n, .., c) as (n, c, ..).
Shape channelsFirst(const Shape&);

/// Returns all axes of a rank: [0, 1, ...].
Shape allAxes(int rank);

/// Returns an axis in [-rank, rank) as one in [0, rank); throws std::logic_error otherwise.
int normalAxis(int64_t axis, int rank);

} // namespace halfscope
