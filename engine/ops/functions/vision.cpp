// Functions on images: pooling by windows or to a given size, growing, and reading at given places.
#include "engine/ops/functions/vision.h"

#include "engine/core/error.h"
#include "engine/ops/functions/operands.h"

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

} // namespace

NodeId maxPool2d(Builder& b, NodeId x, const PoolAttrs& attrs) {
    x = castInputs(b, "max_pool2d", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    const NodeId index = b.emit(Op::MaxPool2dIndex, {x}, attrs);
    const Shape image = b.shapeOf(x), pooled = b.shapeOf(index);
    const Shape flatImage{image[0], image[1], image[2] * image[3]};
    const Shape flatPooled{pooled[0], pooled[1], pooled[2] * pooled[3]};
    const NodeId flat = b.emit(Op::Gather, {b.reshape(x, flatImage), b.reshape(index, flatPooled)},
                               AxisAttrs{2, 0});
    return b.reshape(flat, pooled);
}

NodeId avgPool2d(Builder& b, NodeId x, const PoolAttrs& attrs) {
    x = castInputs(b, "avg_pool2d", std::array{x})[0];
    const AutocastScope off(b, nullptr);
    return b.emit(Op::AvgPool2d, {x}, attrs);
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

NodeId upsampleNearest2d(Builder& b, NodeId given, std::array<int64_t, 2> factors) {
    const NodeId x = castInputs(b, "upsample_nearest2d", std::array{given})[0];
    const auto [down, across] = factors;
    const Shape s = b.shapeOf(x);
    const NodeId apart = b.reshape(x, {s[0], s[1], s[2], 1, s[3], 1});
    const NodeId blocks = b.expand(apart, {s[0], s[1], s[2], down, s[3], across});
    return b.reshape(blocks, {s[0], s[1], s[2] * down, s[3] * across});
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
