// Layers that only change the shape or change nothing, dropout, and containers.
#include "engine/models/layer_context.h"
#include "engine/ops/functional.h"

namespace halfscope {

namespace {

constexpr ArgInfo kFlattenArgs[] = {
    {"start_dim", ArgKind::Whole, "1", ArgShown::Named, -kMaxRank, kMaxRank},
    {"end_dim", ArgKind::Whole, "-1", ArgShown::Named, -kMaxRank, kMaxRank},
};
constexpr ArgInfo kUnflattenArgs[] = {
    {"dim", ArgKind::Whole, "", ArgShown::Named, -kMaxRank, kMaxRank},
    {"unflattened_size", ArgKind::Extents, "", ArgShown::Named, -1, 1 << 30},
};
constexpr ArgInfo kDropoutArgs[] = {
    {"p", ArgKind::Real, "0.5", ArgShown::Named, 0, 1},
    {"inplace", ArgKind::Truth, "False"},
};

NodeType flattenOutput(const LayerSpec& layer, const NodeType& in) {
    const int first = axisOf(layer, "start_dim", in.shape);
    const int last = axisOf(layer, "end_dim", in.shape);
    if (first > last) layer.refuse(phrase("Model", "start_dim comes after end_dim"));
    NodeType out{{}, in.dtype};
    int64_t product = 1;
    for (int axis = 0; axis < in.shape.rank(); ++axis) {
        const bool joined = axis >= first && axis <= last;
        if (joined) product *= in.shape[axis];
        if (!joined || axis == last) out.shape.push(joined ? product : in.shape[axis]);
    }
    return out;
}

/// Returns the sizes into which an axis of `extent` is split; one of them may be given as -1, the
/// rest.
Shape partsOf(const LayerSpec& layer, int64_t extent) {
    Shape parts = layer.extents("unflattened_size");
    double known = 1;
    int open = -1;
    for (int i = 0; i < parts.rank(); ++i) {
        if (parts[i] < 1 && (parts[i] != -1 || open >= 0))
            layer.refuse(phrase(
                "Model", "each of unflattened_size must be at least 1, and one of them may be -1"));
        if (parts[i] == -1)
            open = i;
        else
            known *= static_cast<double>(parts[i]);
    }
    const auto whole = static_cast<int64_t>(std::min(known, 1e15));
    const bool fits = open >= 0 ? extent % whole == 0 : extent == whole;
    if (!fits)
        layer.refuse(
            {phrase("Model", "the axis has %1 values, which do not fit into this size"), extent});
    if (open >= 0) parts[open] = extent / whole;
    return parts;
}

NodeType unflattenOutput(const LayerSpec& layer, const NodeType& in) {
    const int axis = axisOf(layer, "dim", in.shape);
    const Shape parts = partsOf(layer, in.shape[axis]);
    if (in.shape.rank() - 1 + parts.rank() > kMaxRank)
        layer.refuse({phrase("Model", "the result has more than %1 axes"), kMaxRank});
    NodeType out{{}, in.dtype};
    for (int i = 0; i < in.shape.rank(); ++i) {
        if (i != axis) out.shape.push(in.shape[i]);
        for (int part = 0; i == axis && part < parts.rank(); ++part)
            out.shape.push(parts[part]);
    }
    return out;
}

template <NodeType (*rule)(const LayerSpec&, const NodeType&)>
NodeId emitReshape(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return c.b.reshape(x, rule(layer, {c.b.shapeOf(x), c.b.dtypeOf(x)}).shape);
}

NodeId emitIdentity(LayerContext&, const LayerSpec&, NodeId x) { return x; }

/// Emits a dropout of any kind, which does nothing in evaluation.
template <NodeId (*function)(Builder&, NodeId, double, NodeId, uint64_t)>
NodeId emitDropout(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const double p = layer.real("p");
    return c.trains() && p > 0 ? function(c.b, x, p, c.counter(), c.seed()) : x;
}

template <void (*require)(const LayerSpec&, const NodeType&)>
NodeType sameOf(const LayerSpec& layer, const NodeType& in) {
    require(layer, in);
    return in;
}

NodeType channelsOutput(const LayerSpec& layer, const NodeType& in) {
    requirePlaces(layer, in, 2);
    return in;
}

constexpr std::string_view kResidualClass = R"(
class Residual(nn.Sequential):
    """Adds its input, or what a layer called shortcut makes of it, to the result of the others."""

    def __init__(self, *layers, shortcut=None):
        super().__init__(*layers)
        if shortcut is not None:
            self.shortcut = shortcut

    def forward(self, x):
        y = beside = x
        for name, layer in self.named_children():
            if name == "shortcut":
                beside = layer(x)
            else:
                y = layer(y)
        return y + beside
)";

constexpr LayerInfo kRows[] = {
    {.name = "Flatten",
     .wants = Wants::Features,
     .args = kFlattenArgs,
     .output = flattenOutput,
     .emitNodes = emitReshape<flattenOutput>,
     .computes = false},
    {.name = "Unflatten",
     .wants = Wants::Features,
     .args = kUnflattenArgs,
     .output = unflattenOutput,
     .emitNodes = emitReshape<unflattenOutput>,
     .computes = false},
    {"Dropout", Wants::Anything, kDropoutArgs, sameType, emitDropout<fn::dropout>, nullptr,
     anyLayout},
    {"Dropout1d", Wants::Samples, kDropoutArgs, sameOf<requireSequence>,
     emitDropout<fn::channelDropout>},
    {"Dropout2d", Wants::Images, kDropoutArgs, sameOf<requireImage>,
     emitDropout<fn::channelDropout>},
    {"AlphaDropout", Wants::Anything, kDropoutArgs, sameType, emitDropout<fn::alphaDropout>,
     nullptr, anyLayout},
    {"FeatureAlphaDropout", Wants::Samples, kDropoutArgs, channelsOutput,
     emitDropout<fn::featureAlphaDropout>},
    {.name = "Identity",
     .output = sameType,
     .emitNodes = emitIdentity,
     .layout = anyLayout,
     .computes = false,
     .ignoresArguments = true},
    {.name = "Sequential", .holds = Holds::Chain},
    {.name = "Residual", .holds = Holds::Residual, .python = kResidualClass},
};

} // namespace

std::span<const LayerInfo> shapeLayers() { return kRows; }

} // namespace halfscope
