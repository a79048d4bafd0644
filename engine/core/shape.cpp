// Shape: extents with value semantics, their products and strides, and the broadcasting rule.
// Leaves shape rules of single ops to the op rows.
#include "engine/core/shape.h"

#include "engine/core/error.h"

#include <algorithm>

namespace halfscope {

Shape::Shape(std::initializer_list<int64_t> extents)
    : Shape(std::span<const int64_t>(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const int64_t> extents) {
    for (const int64_t extent : extents)
        push(extent);
}

Shape Shape::filled(int rank, int64_t value) {
    Shape shape;
    for (int axis = 0; axis < rank; ++axis)
        shape.push(value);
    return shape;
}

void Shape::push(int64_t extent) {
    require(m_rank < kMaxRank, "a shape has more than six extents");
    m_extents[static_cast<size_t>(m_rank)] = extent;
    ++m_rank;
}

int64_t Shape::back() const {
    require(m_rank > 0, "the last extent of a shape of rank 0");
    return (*this)[m_rank - 1];
}

int64_t Shape::elements() const {
    int64_t product = 1;
    bool isEmpty = false;
    for (const int64_t extent : *this) {
        require(extent >= 0, "a shape has an extent below 0");
        isEmpty = isEmpty || extent == 0;
        // Zeros count as 1 here: strides() are products of some of the other extents.
        require(!__builtin_mul_overflow(product, std::max<int64_t>(extent, 1), &product),
                "a shape has 2^63 elements or more");
    }
    return isEmpty ? 0 : product;
}

Shape Shape::strides() const {
    Shape strides = filled(m_rank, 1);
    for (int axis = m_rank - 2; axis >= 0; --axis)
        strides[axis] = strides[axis + 1] * (*this)[axis + 1];
    return strides;
}

std::string Shape::text() const {
    std::string text = "[";
    for (int axis = 0; axis < m_rank; ++axis) {
        if (axis > 0) text += ", ";
        text += std::to_string((*this)[axis]);
    }
    return text + "]";
}

bool operator==(const Shape& a, const Shape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::optional<Shape> broadcastShape(const Shape& a, const Shape& b) {
    const int rank = std::max(a.rank(), b.rank());
    Shape common = Shape::filled(rank, 1);
    for (int axis = 0; axis < rank; ++axis) {
        const int axisOfA = axis - (rank - a.rank());
        const int axisOfB = axis - (rank - b.rank());
        const int64_t extentOfA = axisOfA < 0 ? 1 : a[axisOfA];
        const int64_t extentOfB = axisOfB < 0 ? 1 : b[axisOfB];
        if (extentOfA != extentOfB && extentOfA != 1 && extentOfB != 1) return std::nullopt;
        common[axis] = extentOfA == 1 ? extentOfB : extentOfA;
    }
    return common;
}

Shape channelsLast(const Shape& shape) {
    if (shape.rank() < 3) return shape;
    Shape last{shape[0]};
    for (int axis = 2; axis < shape.rank(); ++axis)
        last.push(shape[axis]);
    last.push(shape[1]);
    return last;
}

Shape channelsFirst(const Shape& shape) {
    if (shape.rank() < 3) return shape;
    Shape first{shape[0], shape.back()};
    for (int axis = 1; axis < shape.rank() - 1; ++axis)
        first.push(shape[axis]);
    return first;
}

Shape allAxes(int rank) {
    Shape axes;
    for (int i = 0; i < rank; ++i)
        axes.push(i);
    return axes;
}

int normalAxis(int64_t axis, int rank) {
    if (axis < -rank || axis >= rank)
        failInvariant("axis " + std::to_string(axis) + " of a shape of rank " +
                      std::to_string(rank));
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

} // namespace halfscope
