// Layers that widen images and sequences by a border, and those that regroup channels and pixels.
#include "engine/models/layer_context.h"
#include "engine/models/pool_shape.h"
#include "engine/ops/functional.h"

#include <algorithm>

namespace halfscope {

namespace {

constexpr double kMostBorder = 4096;

constexpr ArgInfo kSides{"padding", ArgKind::Sides, "", ArgShown::Bare, 0, kMostBorder};
constexpr ArgInfo kEnds{"padding", ArgKind::Pair, "", ArgShown::Bare, 0, kMostBorder};
constexpr ArgInfo named(ArgInfo arg) {
    arg.shown = ArgShown::Named;
    return arg;
}
constexpr ArgInfo kImageArgs[] = {kSides};
constexpr ArgInfo kLineArgs[] = {kEnds};
constexpr ArgInfo kValueImageArgs[] = {named(kSides), {"value", ArgKind::Real}};
constexpr ArgInfo kValueLineArgs[] = {named(kEnds), {"value", ArgKind::Real}};

using Require = void (*)(const LayerSpec&, const NodeType&);

/// Returns the widened shape.
template <Require require>
NodeType borderedOutput(const LayerSpec& layer, const NodeType& in) {
    require(layer, in);
    const fn::Border border = borderOf(layer, in.shape);
    NodeType out = in;
    const int last = in.shape.rank() - 1;
    out.shape[last] += border.left + border.right;
    out.shape[last - 1] += border.top + border.bottom;
    return out;
}

/// Whether no side of the border is wider than the input less `by`.
bool isNarrow(const fn::Border& border, const Shape& in, int64_t by) {
    const int last = in.rank() - 1;
    return std::max(border.left, border.right) <= in[last] - by &&
           std::max(border.top, border.bottom) <= in[last - 1] - by;
}

template <Require require>
NodeType reflectedOutput(const LayerSpec& layer, const NodeType& in) {
    const NodeType out = borderedOutput<require>(layer, in);
    requireReflectable(layer, in.shape, borderOf(layer, in.shape));
    return out;
}

template <Require require>
NodeType circularOutput(const LayerSpec& layer, const NodeType& in) {
    const NodeType out = borderedOutput<require>(layer, in);
    requireRepeatable(layer, in.shape, borderOf(layer, in.shape));
    return out;
}

NodeId emitZeros(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::constantPad(c.b, x, borderOf(layer, c.b.shapeOf(x)), 0);
}
NodeId emitConstant(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::constantPad(c.b, x, borderOf(layer, c.b.shapeOf(x)), layer.real("value"));
}
template <NodeId (*function)(Builder&, NodeId, const fn::Border&)>
NodeId emitBorder(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return function(c.b, x, borderOf(layer, c.b.shapeOf(x)));
}

constexpr ArgInfo kShuffleArgs[] = {
    {"upscale_factor", ArgKind::Whole, "", ArgShown::Named, 1, kMostBorder},
};
constexpr ArgInfo kUnshuffleArgs[] = {
    {"downscale_factor", ArgKind::Whole, "", ArgShown::Named, 1, kMostBorder},
};
constexpr ArgInfo kGroupsArgs[] = {
    {"groups", ArgKind::Whole, "", ArgShown::Named, 1, 1 << 20},
};

NodeType shuffleOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    const Shape& s = in.shape;
    const int64_t factor = layer.whole("upscale_factor");
    if (s[1] % (factor * factor) != 0)
        layer.refuse({phrase("Model", "the input has %1 channels, and a multiple of %2 is needed"),
                      s[1], factor * factor});
    return {{s[0], s[1] / factor / factor, s[2] * factor, s[3] * factor}, in.dtype};
}
NodeId emitShuffle(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::pixelShuffle(c.b, x, layer.whole("upscale_factor"));
}

NodeType unshuffleOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    const Shape& s = in.shape;
    const int64_t factor = layer.whole("downscale_factor");
    if (s[2] % factor != 0 || s[3] % factor != 0)
        layer.refuse({phrase("Model", "height and width of the input, %1, must be multiples of %2"),
                      shapeText(s), factor});
    return {{s[0], s[1] * factor * factor, s[2] / factor, s[3] / factor}, in.dtype};
}
NodeId emitUnshuffle(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::pixelUnshuffle(c.b, x, layer.whole("downscale_factor"));
}

NodeType groupsOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    if (in.shape[1] % layer.whole("groups") != 0)
        layer.refuse({phrase("Model", "the input has %1 channels, and a multiple of %2 is needed"),
                      in.shape[1], layer.whole("groups")});
    return in;
}
NodeId emitGroups(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::channelShuffle(c.b, x, layer.whole("groups"));
}

constexpr LayerInfo moves(LayerInfo row) {
    row.computes = false;
    return row;
}

constexpr LayerInfo kRows[] = {
    moves({"ZeroPad1d", Wants::Samples, kLineArgs, borderedOutput<requireSequence>, emitZeros}),
    moves({"ZeroPad2d", Wants::Images, kImageArgs, borderedOutput<requireImage>, emitZeros}),
    {"ConstantPad1d", Wants::Samples, kValueLineArgs, borderedOutput<requireSequence>,
     emitConstant},
    {"ConstantPad2d", Wants::Images, kValueImageArgs, borderedOutput<requireImage>, emitConstant},
    {"ReflectionPad1d", Wants::Samples, kLineArgs, reflectedOutput<requireSequence>,
     emitBorder<fn::reflectionPad>},
    {"ReflectionPad2d", Wants::Images, kImageArgs, reflectedOutput<requireImage>,
     emitBorder<fn::reflectionPad>},
    {"ReplicationPad1d", Wants::Samples, kLineArgs, borderedOutput<requireSequence>,
     emitBorder<fn::replicationPad>},
    {"ReplicationPad2d", Wants::Images, kImageArgs, borderedOutput<requireImage>,
     emitBorder<fn::replicationPad>},
    moves({"CircularPad1d", Wants::Samples, kLineArgs, circularOutput<requireSequence>,
           emitBorder<fn::circularPad>}),
    moves({"CircularPad2d", Wants::Images, kImageArgs, circularOutput<requireImage>,
           emitBorder<fn::circularPad>}),
    moves({"PixelShuffle", Wants::Images, kShuffleArgs, shuffleOutput, emitShuffle}),
    moves({"PixelUnshuffle", Wants::Images, kUnshuffleArgs, unshuffleOutput, emitUnshuffle}),
    moves({"ChannelShuffle", Wants::Images, kGroupsArgs, groupsOutput, emitGroups}),
};

} // namespace

std::span<const LayerInfo> paddingLayers() { return kRows; }

/// A reflection leaves out the outermost values.
void requireReflectable(const LayerSpec& layer, const Shape& in, const fn::Border& border) {
    if (!isNarrow(border, in, 1))
        layer.refuse({phrase("Model", "the border must be narrower than the input, %1, which it "
                                      "reflects"),
                      shapeText(in)});
}

void requireRepeatable(const LayerSpec& layer, const Shape& in, const fn::Border& border) {
    if (!isNarrow(border, in, 0))
        layer.refuse({phrase("Model", "the border must not be wider than the input, %1, which it "
                                      "repeats"),
                      shapeText(in)});
}

fn::Border borderOf(const LayerSpec& layer, const Shape& in) {
    const std::vector<double>& numbers = layer.value("padding").numbers;
    const auto side = [&](size_t i) {
        return static_cast<int64_t>(numbers.size() == 1 ? numbers[0] : numbers.at(i));
    };
    if (in.rank() == 3) return {side(0), side(1)};
    return {side(0), side(1), side(2), side(3)};
}

} // namespace halfscope
