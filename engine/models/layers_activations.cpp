// The activations. All of them but PReLU are elementwise and so take images in either layout.
#include "engine/models/layer_context.h"
#include "engine/ops/functional.h"

namespace halfscope {

namespace {

// In a graph, an activation in place is the same as one that is not.
constexpr ArgInfo kInplace{"inplace", ArgKind::Truth, "False", ArgShown::Changed};
constexpr ArgInfo kInplaceArgs[] = {kInplace};
constexpr ArgInfo kLeakyArgs[] = {
    {"negative_slope", ArgKind::Real, "0.01"},
    kInplace,
};
constexpr ArgInfo kPreluArgs[] = {
    {"num_parameters", ArgKind::Whole, "1", ArgShown::Named, 1, 1 << 20},
    {"init", ArgKind::Real, "0.25", ArgShown::Never},
};
constexpr ArgInfo kEluArgs[] = {{"alpha", ArgKind::Real, "1.0"}, kInplace};
constexpr ArgInfo kGeluArgs[] = {
    {"approximate", ArgKind::Word, "'none'", ArgShown::Named, 0, 0, "'none' or 'tanh'"},
};
constexpr ArgInfo kSoftplusArgs[] = {
    {"beta", ArgKind::Real, "1.0", ArgShown::Named, -1e9, 1e9, "1.0"},
    {"threshold", ArgKind::Real, "20.0", ArgShown::Named, -1e9, 1e9, "20.0"},
};
constexpr ArgInfo kHardtanhArgs[] = {
    {"min_val", ArgKind::Real, "-1.0"},
    {"max_val", ArgKind::Real, "1.0"},
    kInplace,
};

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
NodeId emitHardswish(LayerContext& c, const LayerSpec&, NodeId x) { return fn::hardswish(c.b, x); }

using Emit = NodeId (*)(LayerContext&, const LayerSpec&, NodeId);

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
    activation("Softplus", kSoftplusArgs, emitUnary<Op::Softplus>),
    activation("Hardtanh", kHardtanhArgs, emitHardtanh, completeHardtanh),
    activation("Hardswish", {}, emitHardswish),
    {.name = "Sine",
     .output = sameType,
     .emitNodes = emitUnary<Op::Sin>,
     .layout = anyLayout,
     .python = kSineClass},
};

} // namespace

std::span<const LayerInfo> activationLayers() { return kRows; }

} // namespace halfscope
