// Functions on images: pooling by windows or to a given size, borders, regrouping, and reading at
// given places.
#include "engine/ops/functions/vision.h"

#include "engine/core/error.h"
#include "engine/ops/functions/operands.h"

#include <algorithm>
#include <cmath>

namespace halfscope::fn {

using namespace detail;

namespace {

/// Window i of `count` windows over an axis of n: from floor(i n / count) to ceil((i + 1) n /
/// count).
struct Window {
    int64_t begin, end;
};
Window windowOf(int64_t i, int64_t count, int64_t extent) {
    return {i * extent / count, ((i + 1) * extent + count - 1) / count};
}

/// Returns the mean of each of `count` windows over one axis.
NodeId windowMeans(Builder& b, NodeId x, int axis, int64_t count) {
    std::vector<NodeId> means;
    for (int64_t i = 0; i < count; ++i) {
        const Window at = windowOf(i, count, b.shapeOf(x)[axis]);
        means.push_back(b.mean(b.slice(x, axis, at.begin, at.end), Shape{axis}));
    }
    return b.concat(means, axis);
}

/// Checks and prepares x for pooling to a given size. Throws std::logic_error for another rank and
/// InputError for a size below 1.
Operands imageOf(Builder& b, std::string_view name, NodeId x, std::array<int64_t, 2> size) {
    Operands in(b, name, std::array{x});
    require(b.shapeOf(in[0]).rank() == 4, std::string(name) + ": rank 4 (n, c, h, w) expected");
    if (size[0] < 1 || size[1] < 1)
        throw InputError(phrase("Operations", "%1: a size below 1"), name);
    return in;
}

/// A coordinate of the grid in pixels, split into its whole part and the rest.
struct Position {
    NodeId whole, rest;
};
Position positionOf(Builder& b, NodeId grid, int which, int64_t extent) {
    const NodeId g = b.slice(grid, 3, which, which + 1);
    const double half = static_cast<double>(extent) / 2;
    // (g + 1) extent / 2 - 1/2: -1 and 1 are the outer edges of the outer pixels.
    const NodeId at = b.shift(b.scale(g, half), half - 0.5);
    const NodeId whole = b.unary(Op::Floor, at);
    return {whole, b.sub(at, whole)};
}

/// mask: whether x is not outside 0 <= x < extent, which lets NaN in so that its weight shows.
/// index: x when it is inside, otherwise 0, so that infinity and NaN never become an index.
struct Inside {
    NodeId mask, index;
};
Inside insideOf(Builder& b, NodeId x, int64_t extent) {
    const NodeId zero = b.constantLike(0, x);
    const NodeId last = b.constantLike(static_cast<double>(extent - 1), x);
    const NodeId inside = b.emit(
        Op::LogicalAnd, {b.emit(Op::LessEqual, {zero, x}), b.emit(Op::LessEqual, {x, last})});
    const NodeId outside =
        b.emit(Op::LogicalOr, {b.emit(Op::Less, {x, zero}), b.emit(Op::Less, {last, x})});
    return {b.unary(Op::LogicalNot, outside), b.where(inside, x, zero)};
}

/// Lays given numbers along an axis of (n, c, h, w), with extents of 1 elsewhere, in x's dtype.
/// Runs of equal numbers, of which there are few, are one constant each.
NodeId row(Builder& b, const std::vector<double>& numbers, int axis, NodeId x) {
    std::vector<NodeId> runs;
    for (size_t begin = 0, end = 0; begin < numbers.size(); begin = end) {
        while (end < numbers.size() && numbers[end] == numbers[begin])
            ++end;
        Shape shape{1, 1, 1, 1};
        shape[axis] = static_cast<int64_t>(end - begin);
        runs.push_back(b.constant(numbers[begin], shape, b.dtypeOf(x)));
    }
    return runs.size() == 1 ? runs[0] : b.concat(runs, axis);
}

/// Returns `count` copies of the values at one place of an axis.
NodeId repeated(Builder& b, NodeId x, int axis, int64_t at, int64_t count) {
    Shape shape = b.shapeOf(x);
    shape[axis] = count;
    return b.expand(b.slice(x, axis, at, at + 1), shape);
}

/// The end of an axis at which a border begins.
enum class End : uint8_t { Front, Back };

/// Returns the border of a width beyond one end of an axis: what a mirror shows that stands on the
/// outermost value.
NodeId mirrored(Builder& b, NodeId x, int axis, End end, int64_t width) {
    const int64_t begin = end == End::Front ? 1 : b.shapeOf(x)[axis] - 1 - width;
    const NodeId strip = b.slice(x, axis, begin, begin + width);
    std::vector<NodeId> parts;
    for (int64_t i = width; i-- > 0;)
        parts.push_back(b.slice(strip, axis, i, i + 1));
    return b.concat(parts, axis);
}
/// Likewise: copies of the outermost value.
NodeId replicated(Builder& b, NodeId x, int axis, End end, int64_t width) {
    return repeated(b, x, axis, end == End::Front ? 0 : b.shapeOf(x)[axis] - 1, width);
}
/// Likewise: the values at the other end.
NodeId wrapped(Builder& b, NodeId x, int axis, End end, int64_t width) {
    const int64_t extent = b.shapeOf(x)[axis];
    return end == End::Front ? b.slice(x, axis, extent - width, extent)
                             : b.slice(x, axis, 0, width);
}

/// The last two axes with their borders, the last one first.
struct Side {
    int axis;
    std::array<int64_t, 2> by;
};
std::array<Side, 2> sidesOf(const Builder& b, NodeId x, const Border& border) {
    const int last = b.shapeOf(x).rank() - 1;
    require(last == 2 || last == 3, "a border: (n, c, length) or (n, c, h, w) expected");
    return {{{last, {border.left, border.right}}, {last - 1, {border.top, border.bottom}}}};
}

/// Widens x by what `strip` returns for the ends of its axes. For autocast, PyTorch has one
/// function for each number of axes.
NodeId bordered(Builder& b, const char* line, const char* image, NodeId x, const Border& border,
                NodeId (*strip)(Builder&, NodeId, int axis, End, int64_t width)) {
    x = castInputs(b, b.shapeOf(x).rank() == 3 ? line : image, std::array{x})[0];
    const AutocastScope off(b, nullptr);
    for (const auto& [axis, by] : sidesOf(b, x, border)) {
        std::vector<NodeId> parts;
        if (by[0] > 0) parts.push_back(strip(b, x, axis, End::Front, by[0]));
        parts.push_back(x);
        if (by[1] > 0) parts.push_back(strip(b, x, axis, End::Back, by[1]));
        if (parts.size() > 1) x = b.concat(parts, axis);
    }
    return x;
}

/// Lays the values of each window side by side, in their order, so that they are a window of one
/// row. The lowest number is the padding; unlike in PyTorch, it wins over -inf.
NodeId dilatedMaxPool(Builder& b, NodeId x, const PoolAttrs& attrs, Beyond beyond,
                      std::array<int64_t, 2> dilation) {
    const auto [down, across] = attrs.padding;
    x = constantPad(b, x, {across, across + beyond[1], down, down + beyond[0]},
                    -formatOf(b.dtypeOf(x)).maxFinite);
    const auto [high, wide] = attrs.kernel;
    const auto every = [&](NodeId from, size_t i, int64_t at) {
        const int axis = 2 + static_cast<int>(i);
        const int64_t reach = dilation[i] * (attrs.kernel[i] - 1), begin = dilation[i] * at;
        const int64_t end = b.shapeOf(x)[axis] - reach + begin;
        return b.slice(from, axis, begin, end, attrs.stride[i]);
    };
    std::vector<NodeId> values;
    Shape windows;
    for (int64_t i = 0; i < high; ++i) {
        const NodeId rows = every(x, 0, i);
        for (int64_t j = 0; j < wide; ++j) {
            const NodeId value = every(rows, 1, j);
            windows = b.shapeOf(value);
            values.push_back(
                b.reshape(value, {windows[0], windows[1], windows[2] * windows[3], 1}));
        }
    }
    const PoolAttrs whole{{1, high * wide}, {1, 1}, {0, 0}, {}};
    return b.reshape(maxPool2d(b, b.concat(values, 3), whole), windows);
}

} // namespace

NodeId maxPool2d(Builder& b, NodeId x, const PoolAttrs& attrs, Beyond beyond,
                 std::array<int64_t, 2> dilation) {
    x = castInputs(b, "max_pool2d", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    if (dilation != std::array<int64_t, 2>{1, 1})
        return dilatedMaxPool(b, x, attrs, beyond, dilation);
    // Copies of the last values: a copy never wins, because its original comes first.
    x = replicationPad(b, x, {0, beyond[1], 0, beyond[0]});
    const NodeId index = b.emit(Op::MaxPool2dIndex, {x}, attrs);
    const Shape image = b.shapeOf(x), pooled = b.shapeOf(index);
    const Shape flatImage{image[0], image[1], image[2] * image[3]};
    const Shape flatPooled{pooled[0], pooled[1], pooled[2] * pooled[3]};
    const NodeId flat = b.emit(Op::Gather, {b.reshape(x, flatImage), b.reshape(index, flatPooled)},
                               AxisAttrs{2, 0});
    return b.reshape(flat, pooled);
}

std::vector<double> windowShares(int64_t extent, const PoolAttrs& attrs, size_t i,
                                 const Beyond& beyond, const Divisor& divisor) {
    const int64_t kernel = attrs.kernel[i], padding = attrs.padding[i];
    const int64_t windows = (extent + 2 * padding + beyond[i] - kernel) / attrs.stride[i] + 1;
    std::vector<double> shares;
    for (int64_t at = 0; at < windows; ++at) {
        const int64_t begin = at * attrs.stride[i] - padding, end = begin + kernel;
        const int64_t counted = divisor.countsPadding
                                    ? std::min(end, extent + padding) - begin
                                    : std::min(end, extent) - std::max<int64_t>(begin, 0);
        shares.push_back(static_cast<double>(kernel) / static_cast<double>(counted));
    }
    return shares;
}

NodeId avgPool2d(Builder& b, NodeId x, const PoolAttrs& attrs, Beyond beyond,
                 const Divisor& divisor) {
    const bool padded = attrs.padding != std::array<int64_t, 2>{0, 0};
    if (beyond == Beyond{0, 0} && divisor.fixed < 1 && (divisor.countsPadding || !padded)) {
        x = castInputs(b, "avg_pool2d", std::array{x})[0];
        const AutocastScope off(b, nullptr);
        return b.emit(Op::AvgPool2d, {x}, attrs);
    }
    const Operands in(b, "avg_pool2d", std::array{x});
    const AutocastScope off(b, nullptr);
    const Shape image = b.shapeOf(in[0]);
    const NodeId whole = constantPad(b, in[0], {0, beyond[1], 0, beyond[0]}, 0);
    NodeId y = b.emit(Op::AvgPool2d, {whole}, attrs);
    if (divisor.fixed > 0) {
        const auto window = static_cast<double>(attrs.kernel[0] * attrs.kernel[1]);
        return in.result(b, b.scale(y, window / static_cast<double>(divisor.fixed)));
    }
    for (const size_t i : {0U, 1U}) {
        const int axis = 2 + static_cast<int>(i);
        const auto shares = windowShares(image[axis], attrs, i, beyond, divisor);
        y = b.mul(y, b.expandLike(row(b, shares, axis, y), y));
    }
    return in.result(b, y);
}

NodeId adaptiveAvgPool2d(Builder& b, NodeId x, std::array<int64_t, 2> size) {
    const Operands in = imageOf(b, "adaptive_avg_pool2d", x, size);
    // The mean of a rectangle is the mean of its rows' means, so the axes are reduced one after the
    // other.
    return in.result(b, windowMeans(b, windowMeans(b, in[0], 2, size[0]), 3, size[1]));
}

NodeId adaptiveMaxPool2d(Builder& b, NodeId x, std::array<int64_t, 2> size) {
    const Operands in = imageOf(b, "adaptive_max_pool2d", x, size);
    const AutocastScope off(b, nullptr);
    const Shape image = b.shapeOf(in[0]);
    // Uses max_pool2d, so that the first of equal values gets the gradient: one call when all
    // windows have one size and do not overlap, otherwise one for each.
    const std::array<int64_t, 2> step{image[2] / size[0], image[3] / size[1]};
    if (step[0] * size[0] == image[2] && step[1] * size[1] == image[3])
        return in.result(b, maxPool2d(b, in[0], {step, step, {0, 0}, {}}));
    std::vector<NodeId> rows;
    for (int64_t i = 0; i < size[0]; ++i) {
        const Window down = windowOf(i, size[0], image[2]);
        const NodeId band = b.slice(in[0], 2, down.begin, down.end);
        std::vector<NodeId> row;
        for (int64_t j = 0; j < size[1]; ++j) {
            const Window across = windowOf(j, size[1], image[3]);
            const std::array<int64_t, 2> all{down.end - down.begin, across.end - across.begin};
            const NodeId window = b.slice(band, 3, across.begin, across.end);
            row.push_back(maxPool2d(b, window, {all, all, {0, 0}, {}}));
        }
        rows.push_back(b.concat(row, 3));
    }
    return in.result(b, b.concat(rows, 2));
}

NodeId constantPad(Builder& b, NodeId x, const Border& border, double value) {
    x = castInputs(b, "constant_pad_nd", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    const Shape none = Shape::filled(b.shapeOf(x).rank(), 0);
    PadAttrs pad{none, none, none, value};
    for (const Side& side : sidesOf(b, x, border)) {
        pad.before[side.axis] = side.by[0];
        pad.after[side.axis] = side.by[1];
    }
    return b.emit(Op::Pad, {x}, pad);
}

NodeId reflectionPad(Builder& b, NodeId x, const Border& border) {
    return bordered(b, "reflection_pad1d", "reflection_pad2d", x, border, mirrored);
}

NodeId replicationPad(Builder& b, NodeId x, const Border& border) {
    return bordered(b, "replication_pad1d", "replication_pad2d", x, border, replicated);
}

NodeId circularPad(Builder& b, NodeId x, const Border& border) {
    return bordered(b, "_pad_circular", "_pad_circular", x, border, wrapped);
}

NodeId pixelShuffle(Builder& b, NodeId x, int64_t factor) {
    x = castInputs(b, "pixel_shuffle", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    const Shape s = b.shapeOf(x);
    const int64_t channels = s[1] / factor / factor;
    const NodeId apart = b.reshape(x, {s[0], channels, factor, factor, s[2], s[3]});
    return b.reshape(b.transpose(apart, {0, 1, 4, 2, 5, 3}),
                     {s[0], channels, s[2] * factor, s[3] * factor});
}

NodeId pixelUnshuffle(Builder& b, NodeId x, int64_t factor) {
    x = castInputs(b, "pixel_unshuffle", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    const Shape s = b.shapeOf(x);
    const int64_t high = s[2] / factor, wide = s[3] / factor;
    const NodeId apart = b.reshape(x, {s[0], s[1], high, factor, wide, factor});
    return b.reshape(b.transpose(apart, {0, 1, 3, 5, 2, 4}),
                     {s[0], s[1] * factor * factor, high, wide});
}

NodeId channelShuffle(Builder& b, NodeId x, int64_t groups) {
    x = castInputs(b, "channel_shuffle", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    const Shape s = b.shapeOf(x);
    const NodeId apart = b.reshape(x, {s[0], groups, s[1] / groups, s[2], s[3]});
    return b.reshape(b.transpose(apart, {0, 2, 1, 3, 4}), s);
}

NodeId gridSample(Builder& b, NodeId x, NodeId grid) {
    const Operands in(b, "grid_sample", std::array{x, grid}, Mixing::Refuse);
    const Shape image = b.shapeOf(in[0]), places = b.shapeOf(in[1]);
    require(image.rank() == 4 && places.rank() == 4 && places[3] == 2 && places[0] == image[0],
            "grid_sample: an image (n, c, h, w) and a grid (n, oh, ow, 2) expected");
    require(image[2] * image[3] <= 1 << 24, "grid_sample: more pixels than float32 counts");
    const int64_t count = places[1] * places[2];
    const Shape out{image[0], image[1], count};
    const NodeId flat = b.reshape(in[0], {image[0], image[1], image[2] * image[3]});
    const Position px = positionOf(b, in[1], 0, image[3]), py = positionOf(b, in[1], 1, image[2]);
    const auto spread = [&](NodeId id) {
        return b.expand(b.reshape(id, {image[0], 1, count}), out);
    };
    NodeId sum = kNoNode;
    for (const bool below : {false, true}) {
        for (const bool right : {false, true}) {
            const Inside column = insideOf(b, right ? b.shift(px.whole, 1) : px.whole, image[3]);
            const Inside row = insideOf(b, below ? b.shift(py.whole, 1) : py.whole, image[2]);
            const NodeId place =
                b.add(b.scale(row.index, static_cast<double>(image[3])), column.index);
            const NodeId pixel =
                b.emit(Op::Gather, {flat, spread(b.cast(place, DType::I32))}, AxisAttrs{2, 0});
            const NodeId one = b.constantLike(1, px.rest);
            const NodeId weight =
                b.mul(right ? px.rest : b.sub(one, px.rest), below ? py.rest : b.sub(one, py.rest));
            const NodeId inside = b.emit(Op::LogicalAnd, {column.mask, row.mask});
            const NodeId share = b.where(inside, weight, b.constantLike(0, weight));
            const NodeId term = b.mul(pixel, spread(share));
            sum = sum == kNoNode ? term : b.add(sum, term);
        }
    }
    return in.result(b, b.reshape(sum, {image[0], image[1], places[1], places[2]}));
}

} // namespace halfscope::fn
