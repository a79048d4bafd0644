// The activations. Elementwise ones take images in either layout; PReLU, GLU and the softmax family
// look at an axis.
#include "engine/models/layer_context.h"
#include "engine/ops/functional.h"

namespace halfscope {

namespace {

// In a graph, an activation in place is the same as one that is not.
constexpr ArgInfo kInplace{"inplace", ArgKind::Truth, "False", ArgShown::Changed};
constexpr ArgInfo kInplaceArgs[] = {kInplace};
/// Of the layers that PyTorch prints without it.
constexpr ArgInfo kHiddenInplaceArgs[] = {
    {"inplace", ArgKind::Truth, "False", ArgShown::Never},
};
constexpr ArgInfo kLeakyArgs[] = {
    {"negative_slope", ArgKind::Real, "0.01"},
    kInplace,
};
constexpr ArgInfo kRreluArgs[] = {
    {"lower", ArgKind::Real, "0.125"},
    {"upper", ArgKind::Real, "0.3333333333333333"},
    kInplace,
};
constexpr ArgInfo kPreluArgs[] = {
    {"num_parameters", ArgKind::Whole, "1", ArgShown::Named, 1, 1 << 20},
    {"init", ArgKind::Real, "0.25", ArgShown::Lost},
};
constexpr ArgInfo kEluArgs[] = {{"alpha", ArgKind::Real, "1.0"}, kInplace}; // and of CELU
constexpr ArgInfo kHardshrinkArgs[] = {{"lambd", ArgKind::Real, "0.5", ArgShown::Bare}};
constexpr ArgInfo kSoftshrinkArgs[] = {{"lambd", ArgKind::Real, "0.5", ArgShown::Bare, 0}};
constexpr ArgInfo kThresholdArgs[] = {
    {"threshold", ArgKind::Real},
    {"value", ArgKind::Real},
    kInplace,
};
constexpr ArgInfo kGluArgs[] = {
    {"dim", ArgKind::Whole, "-1", ArgShown::Named, -kMaxRank, kMaxRank}};
constexpr ArgInfo kSoftmaxArgs[] = {
    {"dim", ArgKind::Whole, "None", ArgShown::Named, -kMaxRank, kMaxRank},
};
constexpr ArgInfo kGeluArgs[] = {
    {"approximate", ArgKind::Word, "'none'", ArgShown::Named, 0, 0, "'none' or 'tanh'"},
};
constexpr ArgInfo kSoftplusArgs[] = {
    {"beta", ArgKind::Real, "1.0"},
    {"threshold", ArgKind::Real, "20.0"},
};
constexpr ArgInfo kHardtanhArgs[] = {
    {"min_val", ArgKind::Real, "-1.0"},
    {"max_val", ArgKind::Real, "1.0"},
    kInplace,
};

using Emit = NodeId (*)(LayerContext&, const LayerSpec&, NodeId);

void completeHardtanh(LayerSpec& layer) {
    if (layer.real("min_val") >= layer.real("max_val"))
        layer.refuse(phrase("Model", "max_val must be above min_val"));
}

template <Op op>
NodeId emitUnary(LayerContext& c, const LayerSpec&, NodeId x) {
    return fn::unary(c.b, op, x);
}
NodeId emitLeakyRelu(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::leakyRelu(c.b, x, layer.real("negative_slope"));
}
void completeRrelu(LayerSpec& layer) {
    if (layer.real("lower") > layer.real("upper"))
        layer.refuse(phrase("Model", "upper must not be below lower"));
}
/// In evaluation, all slopes are the mean of the bounds.
NodeId emitRrelu(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const double low = layer.real("lower"), high = layer.real("upper");
    return c.trains() ? fn::rrelu(c.b, x, low, high, c.counter(), c.seed())
                      : fn::leakyRelu(c.b, x, (low + high) / 2);
}
NodeType preluOutput(const LayerSpec& layer, const NodeType& in) {
    const int64_t slopes = layer.whole("num_parameters");
    if (slopes != 1 && (in.shape.rank() < 2 || in.shape[1] != slopes))
        layer.refuse({phrase("Model", "the input has the shape %1; with %2 slopes, its axis 1 "
                                      "must have as many"),
                      shapeText(in.shape), slopes});
    return in;
}
std::vector<ParameterInfo> preluParameters(const LayerSpec& layer) {
    return {{"weight",
             {layer.whole("num_parameters")},
             ParameterRole::Weight,
             {InitialValue::Kind::Constant, layer.real("init")}}};
}
NodeId emitPrelu(LayerContext& c, const LayerSpec&, NodeId x) {
    return fn::prelu(c.b, x, c.parameter("weight"));
}
NodeId emitElu(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::elu(c.b, x, layer.real("alpha"));
}
NodeId emitGelu(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const bool tanh = layer.value("approximate").word == "tanh";
    return tanh ? fn::geluTanh(c.b, x) : fn::unary(c.b, Op::Gelu, x);
}
NodeId emitHardtanh(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::hardtanh(c.b, x, layer.real("min_val"), layer.real("max_val"));
}
NodeId emitRelu6(LayerContext& c, const LayerSpec&, NodeId x) { return fn::hardtanh(c.b, x, 0, 6); }

/// Emits a function that has no arguments.
template <NodeId (*function)(Builder&, NodeId)>
NodeId emitPlain(LayerContext& c, const LayerSpec&, NodeId x) {
    return function(c.b, x);
}
/// Emits a function of one bound.
template <NodeId (*function)(Builder&, NodeId, double)>
NodeId emitShrink(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return function(c.b, x, layer.real("lambd"));
}

void completeSoftplus(LayerSpec& layer) {
    if (layer.real("beta") == 0) layer.refuse(phrase("Model", "beta must not be 0"));
}
NodeId emitSoftplus(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::softplus(c.b, x, layer.real("beta"), layer.real("threshold"));
}

void completeCelu(LayerSpec& layer) {
    if (layer.real("alpha") == 0) layer.refuse(phrase("Model", "alpha must not be 0"));
}
NodeId emitCelu(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::celu(c.b, x, layer.real("alpha"));
}
NodeId emitThreshold(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::threshold(c.b, x, layer.real("threshold"), layer.real("value"));
}

NodeType gluOutput(const LayerSpec& layer, const NodeType& in) {
    const int axis = axisOf(layer, "dim", in.shape);
    if (in.shape[axis] % 2 != 0)
        layer.refuse({phrase("Model", "the axis has %1 values, and only an even number can be "
                                      "halved"),
                      in.shape[axis]});
    NodeType out = in;
    out.shape[axis] /= 2;
    return out;
}
NodeId emitGlu(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return fn::glu(c.b, x, axisOf(layer, "dim", c.b.shapeOf(x)));
}

NodeType softmaxOutput(const LayerSpec& layer, const NodeType& in) {
    softmaxAxis(layer, in.shape);
    return in;
}
template <NodeId (*function)(Builder&, NodeId, int)>
NodeId emitSoftmax(LayerContext& c, const LayerSpec& layer, NodeId x) {
    return function(c.b, x, softmaxAxis(layer, c.b.shapeOf(x)));
}
constexpr LayerInfo softmaxRow(std::string_view name, Emit emit) {
    return {.name = name, .args = kSoftmaxArgs, .output = softmaxOutput, .emitNodes = emit};
}

NodeType imageSoftmaxOutput(const LayerSpec& layer, const NodeType& in) {
    requireImage(layer, in);
    return in;
}
NodeId emitImageSoftmax(LayerContext& c, const LayerSpec&, NodeId x) {
    return fn::softmax(c.b, x, 1);
}

constexpr LayerInfo activation(std::string_view name, std::span<const ArgInfo> args, Emit emit,
                               void (*complete)(LayerSpec&) = nullptr) {
    return {name, Wants::Anything, args, sameType, emit, nullptr, anyLayout, complete};
}

constexpr std::string_view kSineClass = R"(
class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(x)
)";

constexpr LayerInfo kRows[] = {
    activation("ReLU", kInplaceArgs, emitUnary<Op::Relu>),
    activation("LeakyReLU", kLeakyArgs, emitLeakyRelu),
    activation("RReLU", kRreluArgs, emitRrelu, completeRrelu),
    {.name = "PReLU",
     .args = kPreluArgs,
     .output = preluOutput,
     .emitNodes = emitPrelu,
     .parameters = preluParameters},
    activation("ELU", kEluArgs, emitElu),
    activation("GELU", kGeluArgs, emitGelu),
    activation("SiLU", kInplaceArgs, emitUnary<Op::Silu>),
    activation("Tanh", {}, emitUnary<Op::Tanh>),
    activation("Sigmoid", {}, emitUnary<Op::Sigmoid>),
    activation("Softplus", kSoftplusArgs, emitSoftplus, completeSoftplus),
    activation("Hardtanh", kHardtanhArgs, emitHardtanh, completeHardtanh),
    activation("Hardswish", kHiddenInplaceArgs, emitPlain<fn::hardswish>),
    activation("ReLU6", kInplaceArgs, emitRelu6),
    activation("SELU", kInplaceArgs, emitPlain<fn::selu>),
    activation("CELU", kEluArgs, emitCelu, completeCelu),
    activation("Mish", kInplaceArgs, emitPlain<fn::mish>),
    activation("LogSigmoid", {}, emitPlain<fn::logSigmoid>),
    activation("Hardsigmoid", kHiddenInplaceArgs, emitPlain<fn::hardsigmoid>),
    activation("Hardshrink", kHardshrinkArgs, emitShrink<fn::hardshrink>),
    activation("Softshrink", kSoftshrinkArgs, emitShrink<fn::softshrink>),
    activation("Tanhshrink", {}, emitPlain<fn::tanhshrink>),
    activation("Softsign", {}, emitPlain<fn::softsign>),
    activation("Threshold", kThresholdArgs, emitThreshold),
    {.name = "GLU", .args = kGluArgs, .output = gluOutput, .emitNodes = emitGlu},
    softmaxRow("Softmax", emitSoftmax<fn::softmax>),
    softmaxRow("LogSoftmax", emitSoftmax<fn::logSoftmax>),
    softmaxRow("Softmin", emitSoftmax<fn::softmin>),
    {.name = "Softmax2d",
     .wants = Wants::Images,
     .output = imageSoftmaxOutput,
     .emitNodes = emitImageSoftmax},
    {.name = "Sine",
     .output = sameType,
     .emitNodes = emitUnary<Op::Sin>,
     .layout = anyLayout,
     .python = kSineClass},
};

} // namespace

std::span<const LayerInfo> activationLayers() { return kRows; }

int softmaxAxis(const LayerSpec& layer, const Shape& in) {
    if (!layer.value("dim").isNone) return axisOf(layer, "dim", in);
    return in.rank() == 3 || in.rank() < 2 ? 0 : 1;
}

} // namespace halfscope
