// Functions on images: pooling to a given size, and reading at given places.
#include "engine/core/error.h"
#include "engine/ops/functional_detail.h"
#include "engine/ops/functional_more.h"

namespace halfscope::fn {

using namespace detail;

namespace {

/// One axis in `count` windows, from floor(i n / count) to ceil((i + 1) n / count), each reduced.
NodeId reducedWindows(Builder& b, Op op, NodeId x, int axis, int64_t count) {
    const int64_t extent = b.shapeOf(x)[axis];
    std::vector<NodeId> windows;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t begin = i * extent / count;
        const int64_t end = ((i + 1) * extent + count - 1) / count;
        windows.push_back(b.emit(op, {b.slice(x, axis, begin, end)}, AxesAttrs{Shape{axis}}));
    }
    return b.concat(windows, axis);
}

/// A mean (maximum) of a rectangle is that of its rows' means (maxima), so the axes go in turn.
NodeId adaptivePool(Builder& b, std::string_view name, Op op, NodeId x,
                    std::array<int64_t, 2> size) {
    const Operands in(b, name, std::array{x});
    const Shape shape = b.shapeOf(in[0]);
    require(shape.rank() == 4, std::string(name) + ": rank 4 (n, c, h, w) wanted");
    if (size[0] < 1 || size[1] < 1) throw InputError(std::string(name) + ": a size below 1");
    const NodeId rows = reducedWindows(b, op, in[0], 2, size[0]);
    return in.result(b, reducedWindows(b, op, rows, 3, size[1]));
}

/// A coordinate of the grid in pixels, its whole part and the rest.
struct Position {
    NodeId whole, rest;
};
Position positionOf(Builder& b, NodeId grid, int which, int64_t extent) {
    const NodeId g = b.slice(grid, 3, which, which + 1);
    const double half = static_cast<double>(extent) / 2;
    // (g + 1) extent / 2 - 1/2: -1 and 1 are the outer edges of the outer pixels
    const NodeId at = b.shift(b.scale(g, half), half - 0.5);
    const NodeId whole = b.unary(Op::Floor, at);
    return {whole, b.sub(at, whole)};
}

/// Whether 0 <= x < extent, and x where it is, else 0: NaN and infinity become no index.
struct Inside {
    NodeId mask, index;
};
Inside insideOf(Builder& b, NodeId x, int64_t extent) {
    const NodeId zero = b.constantLike(0, x);
    const NodeId last = b.constantLike(static_cast<double>(extent - 1), x);
    const NodeId mask = b.emit(
        Op::LogicalAnd, {b.emit(Op::LessEqual, {zero, x}), b.emit(Op::LessEqual, {x, last})});
    return {mask, b.where(mask, x, zero)};
}

} // namespace

NodeId adaptiveAvgPool2d(Builder& b, NodeId x, std::array<int64_t, 2> size) {
    return adaptivePool(b, "adaptive_avg_pool2d", Op::Mean, x, size);
}

NodeId adaptiveMaxPool2d(Builder& b, NodeId x, std::array<int64_t, 2> size) {
    return adaptivePool(b, "adaptive_max_pool2d", Op::ReduceMax, x, size);
}

NodeId gridSample(Builder& b, NodeId x, NodeId grid) {
    const Operands in(b, "grid_sample", std::array{x, grid}, Mixing::Refuse);
    const Shape image = b.shapeOf(in[0]), places = b.shapeOf(in[1]);
    require(image.rank() == 4 && places.rank() == 4 && places[3] == 2 && places[0] == image[0],
            "grid_sample: an image (n, c, h, w) and a grid (n, oh, ow, 2) wanted");
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
