// Whole factors only copy and add; any other size gathers pixels at computed places.
#include "engine/ops/functions/resampling.h"

#include "engine/ops/functions/operands.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace halfscope::fn {

using namespace detail;

namespace {

/// Returns the neighbours of all values along an axis, one place before (-1) or behind (1); the
/// outermost value is its own.
NodeId neighbours(Builder& b, NodeId x, int axis, int step) {
    const int64_t extent = b.shapeOf(x)[axis];
    if (step < 0)
        return b.concat(std::array{b.slice(x, axis, 0, 1), b.slice(x, axis, 0, extent - 1)}, axis);
    return b.concat(std::array{b.slice(x, axis, 1, extent), b.slice(x, axis, extent - 1, extent)},
                    axis);
}

/// The distance of value k of `factor` from the middle of them, where their source is.
double phaseOf(int64_t k, int64_t factor) {
    return (static_cast<double>(k) + 0.5) / static_cast<double>(factor) - 0.5;
}
NodeId betweenEdges(Builder& b, NodeId x, NodeId before, NodeId behind, double distance) {
    if (distance == 0) return x;
    const double share = std::fabs(distance);
    return b.add(b.scale(x, 1 - share), b.scale(distance < 0 ? before : behind, share));
}
/// Where the outermost pixels keep their places, the distance of value k depends on the place i of
/// its source: (k (n - 1) - i (factor - 1)) / (factor n - 1).
NodeId betweenPixels(Builder& b, NodeId x, int axis, NodeId before, NodeId behind, int64_t k,
                     int64_t factor) {
    const int64_t extent = b.shapeOf(x)[axis];
    Shape places{1, 1, 1, 1};
    places[axis] = extent;
    const NodeId place = b.iota(places, axis, b.dtypeOf(x));
    const NodeId shifts = b.shift(b.scale(place, static_cast<double>(1 - factor)),
                                  static_cast<double>(k * (extent - 1)));
    const NodeId distance =
        b.div(shifts, b.constantLike(static_cast<double>(factor * extent - 1), shifts));
    const auto times = [&](NodeId value, NodeId share) {
        return b.mul(value, b.expandLike(share, value));
    };
    const NodeId own = b.sub(b.constantLike(1, distance), b.unary(Op::Abs, distance));
    const NodeId sides = b.add(times(before, b.unary(Op::Relu, b.neg(distance))),
                               times(behind, b.unary(Op::Relu, distance)));
    return b.add(times(x, own), sides);
}

/// Interpolates linearly along an axis of (n, c, h, w): each value becomes `factor` values, between
/// its neighbours on both sides.
NodeId interpolated(Builder& b, NodeId x, int axis, int64_t factor, Corners corners) {
    const Shape shape = b.shapeOf(x);
    const int64_t extent = shape[axis];
    if (factor == 1) return x;
    if (extent == 1) {
        Shape copies = shape;
        copies[axis] = factor;
        return b.expand(x, copies);
    }
    const NodeId before = neighbours(b, x, axis, -1), behind = neighbours(b, x, axis, 1);
    Shape apart;
    for (int i = 0; i < 4; ++i) {
        apart.push(shape[i]);
        if (i == axis) apart.push(1);
    }
    std::vector<NodeId> values;
    for (int64_t k = 0; k < factor; ++k) {
        const NodeId value = corners == Corners::Edges
                                 ? betweenEdges(b, x, before, behind, phaseOf(k, factor))
                                 : betweenPixels(b, x, axis, before, behind, k, factor);
        values.push_back(b.reshape(value, apart));
    }
    Shape grown = shape;
    grown[axis] *= factor;
    return b.reshape(b.concat(values, axis + 1), grown);
}

/// Returns the values of x at `places` along an axis, which are numbers (1, .., n, .., 1); those
/// beyond the ends are at the ends.
NodeId valuesAt(Builder& b, NodeId x, int axis, NodeId places) {
    Shape shape = b.shapeOf(x);
    const auto last = static_cast<double>(shape[axis] - 1);
    const NodeId index = b.cast(b.emit(Op::Clamp, {places}, RangeAttrs{0, last}), DType::I32);
    shape[axis] = b.shapeOf(places)[axis];
    return b.emit(Op::Gather, {x, b.expand(index, shape)}, AxisAttrs{axis, 0});
}

/// Returns the polynomial of t with these coefficients, the highest power first.
NodeId polynomial(Builder& b, NodeId t, std::array<double, 4> c) {
    NodeId sum = b.shift(b.scale(t, c[0]), c[1]);
    for (const size_t i : {2U, 3U})
        sum = b.shift(b.mul(sum, t), c[i]);
    return sum;
}

/// Returns how much each neighbour counts at a distance t, 0 to 1, behind a pixel. The first
/// neighbour is that pixel, or the one before it for splines.
std::vector<NodeId> sharesAt(Builder& b, NodeId t, Resampling how) {
    if (how == Resampling::Bilinear) return {b.sub(b.constantLike(1, t), t), t};
    constexpr double a = -0.75; // PyTorch's; the two polynomials of Keys, 1981, at 1 + t and t
    return {polynomial(b, t, {a, -2 * a, a, 0}), polynomial(b, t, {a + 2, -a - 3, 0, 1}),
            polynomial(b, t, {-a - 2, 2 * a + 3, -a, 0}), polynomial(b, t, {-a, a, 0, 0})};
}

/// Interpolates along an axis to `count` values.
NodeId resampled(Builder& b, NodeId x, int axis, int64_t count, double step, Resampling how,
                 Corners corners) {
    const int64_t extent = b.shapeOf(x)[axis];
    if (count == extent && (step == 1 || corners == Corners::Pixels)) return x;
    Shape places{1, 1, 1, 1};
    places[axis] = count;
    NodeId at = b.iota(places, axis, b.dtypeOf(x));
    if (corners == Corners::Pixels)
        at = b.scale(
            at, count > 1 ? static_cast<double>(extent - 1) / static_cast<double>(count - 1) : 0);
    else
        at = b.shift(b.scale(b.shift(at, 0.5), step), -0.5);
    if (how == Resampling::Bilinear) at = b.unary(Op::Relu, at); // the first pixel reaches the edge
    const NodeId whole = b.unary(Op::Floor, at);
    const std::vector<NodeId> shares = sharesAt(b, b.sub(at, whole), how);
    NodeId sum = kNoNode;
    for (size_t i = 0; i < shares.size(); ++i) {
        const double first = how == Resampling::Bicubic ? -1 : 0;
        const NodeId value = valuesAt(b, x, axis, b.shift(whole, first + static_cast<double>(i)));
        const NodeId term = b.mul(value, b.expandLike(shares[i], value));
        sum = i == 0 ? term : b.add(sum, term);
    }
    return sum;
}

/// Returns what to add to step * i for i below `count`, so that none is near a whole number and
/// those below them are PyTorch's: those below the products in float32.
double awayFromWhole(int64_t count, double step) {
    double least = 0, most = 1;
    for (int64_t i = 0; i < count; ++i) {
        const auto place = static_cast<double>(i);
        const double whole = std::floor(static_cast<float>(place) * static_cast<float>(step));
        least = std::max(least, whole - place * step);
        most = std::min(most, whole + 1 - place * step);
    }
    return (least + most) / 2;
}

/// Returns the pixels that have the upper left corners of those of the result.
NodeId nearest(Builder& b, NodeId x, const NewSize& to) {
    x = castInputs(b, "upsample_nearest2d", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    for (const size_t i : {0U, 1U}) {
        const int axis = 2 + static_cast<int>(i);
        if (to.size[i] == b.shapeOf(x)[axis] && to.step[i] == 1) continue;
        Shape places{1, 1, 1, 1};
        places[axis] = to.size[i];
        const NodeId place = b.iota(places, axis, DType::F32);
        const NodeId at =
            b.shift(b.scale(place, to.step[i]), awayFromWhole(to.size[i], to.step[i]));
        x = valuesAt(b, x, axis, b.unary(Op::Floor, at));
    }
    return x;
}

} // namespace

NodeId upsampleNearest2d(Builder& b, NodeId given, std::array<int64_t, 2> factors) {
    const NodeId x = castInputs(b, "upsample_nearest2d", std::array{given})[0];
    const AutocastScope off(b, nullptr);
    const auto [down, across] = factors;
    const Shape s = b.shapeOf(x);
    const NodeId apart = b.reshape(x, {s[0], s[1], s[2], 1, s[3], 1});
    const NodeId blocks = b.expand(apart, {s[0], s[1], s[2], down, s[3], across});
    return b.reshape(blocks, {s[0], s[1], s[2] * down, s[3] * across});
}

NodeId upsampleBilinear2d(Builder& b, NodeId x, std::array<int64_t, 2> factors, Corners corners) {
    const Operands in(b, "upsample_bilinear2d", std::array{x});
    const AutocastScope off(b, nullptr);
    const NodeId wide = interpolated(b, in[0], 3, factors[1], corners);
    return in.result(b, interpolated(b, wide, 2, factors[0], corners));
}

NodeId resampled2d(Builder& b, NodeId x, const NewSize& to, Resampling how, Corners corners) {
    if (how == Resampling::Nearest) return nearest(b, x, to);
    const bool splines = how == Resampling::Bicubic;
    const Operands in(b, splines ? "upsample_bicubic2d" : "upsample_bilinear2d", std::array{x});
    const AutocastScope off(b, nullptr);
    const NodeId wide = resampled(b, in[0], 3, to.size[1], to.step[1], how, corners);
    return in.result(b, resampled(b, wide, 2, to.size[0], to.step[0], how, corners));
}

} // namespace halfscope::fn
