// The activations in ONNX. What opset 17 lacks (GELU, SiLU, Mish) is composed as PyTorch's own
// exporter does it.
#include "engine/models/onnx_rows.h"

#include <numbers>

namespace halfscope {

namespace {

/// Writes operators of one input named like the layer; a few names differ.
std::string emitNamed(const OnnxLayer& layer, const std::string& x) {
    const std::string_view name = layer.spec.info->name;
    if (name == "ReLU") return layer.node("Relu", {x});
    if (name == "Hardswish") return layer.node("HardSwish", {x});
    if (name == "SELU") return layer.node("Selu", {x});
    if (name == "Sine") return layer.node("Sin", {x});
    return layer.node(name, {x}); // Tanh, Sigmoid, Softsign
}

std::string emitLeakyRelu(const OnnxLayer& layer, const std::string& x) {
    const auto slope = static_cast<float>(layer.spec.real("negative_slope"));
    return layer.node("LeakyRelu", {x}, {{"alpha", slope}});
}

std::string emitRrelu(const OnnxLayer& layer, const std::string& x) {
    const double slope = (layer.spec.real("lower") + layer.spec.real("upper")) / 2;
    return layer.node("LeakyRelu", {x}, {{"alpha", static_cast<float>(slope)}});
}

/// Emits a PRelu with slopes of shape (channels, 1, 1), because ONNX aligns shapes at their last
/// axes.
std::string emitPrelu(const OnnxLayer& layer, const std::string& x) {
    const int64_t slopes = layer.spec.whole("num_parameters");
    std::vector<int64_t> shape{slopes};
    for (int axis = 2; axis < layer.in.shape.rank() && slopes > 1; ++axis)
        shape.push_back(1);
    const std::string weight = layer.parameter("weight");
    if (shape.size() == 1) return layer.node("PRelu", {x, weight});
    const std::string along = layer.node("Reshape", {weight, layer.graph.integers(shape)});
    return layer.node("PRelu", {x, along});
}

std::string emitElu(const OnnxLayer& layer, const std::string& x) {
    return layer.node("Elu", {x}, {{"alpha", static_cast<float>(layer.spec.real("alpha"))}});
}

/// Writes x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
std::string emitGeluTanh(const OnnxLayer& layer, const std::string& x) {
    OnnxGraph& graph = layer.graph;
    const std::string cube = layer.node("Mul", {layer.node("Mul", {x, x}), x});
    const std::string part = layer.node("Mul", {cube, graph.scalar(0.044715)});
    const double factor = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    const std::string inner =
        layer.node("Mul", {layer.node("Add", {x, part}), graph.scalar(factor)});
    const std::string sum = layer.node("Add", {layer.node("Tanh", {inner}), graph.scalar(1)});
    return layer.node("Mul", {layer.node("Mul", {x, sum}), graph.scalar(0.5)});
}

std::string emitGeluLayer(const OnnxLayer& layer, const std::string& x) {
    const bool tanh = layer.spec.value("approximate").word == "tanh";
    return tanh ? emitGeluTanh(layer, x) : onnxGelu(layer, x);
}

std::string emitSilu(const OnnxLayer& layer, const std::string& x) {
    return layer.node("Mul", {x, layer.node("Sigmoid", {x})});
}

std::string emitCelu(const OnnxLayer& layer, const std::string& x) {
    return layer.node("Celu", {x}, {{"alpha", static_cast<float>(layer.spec.real("alpha"))}});
}

/// Writes PyTorch's default as ONNX has it, which bends everywhere: in float32 this is the same
/// above 20.
std::string emitSoftplus(const OnnxLayer& layer, const std::string& x) {
    OnnxGraph& graph = layer.graph;
    const double beta = layer.spec.real("beta"), threshold = layer.spec.real("threshold");
    if (beta == 1 && threshold == 20) return layer.node("Softplus", {x});
    const std::string steep = layer.node("Mul", {x, graph.scalar(beta)});
    const std::string bent =
        layer.node("Div", {layer.node("Softplus", {steep}), graph.scalar(beta)});
    const std::string straight = layer.node("Greater", {steep, graph.scalar(threshold)});
    return layer.node("Where", {straight, x, bent});
}

/// Writes x tanh(softplus(x)).
std::string emitMish(const OnnxLayer& layer, const std::string& x) {
    return layer.node("Mul", {x, layer.node("Tanh", {layer.node("Softplus", {x})})});
}

/// Writes -softplus(-x).
std::string emitLogSigmoid(const OnnxLayer& layer, const std::string& x) {
    return layer.node("Neg", {layer.node("Softplus", {layer.node("Neg", {x})})});
}

std::string emitHardsigmoid(const OnnxLayer& layer, const std::string& x) {
    return layer.node("HardSigmoid", {x}, {{"alpha", 1.0f / 6}, {"beta", 0.5f}});
}

/// Writes Hardshrink and Softshrink, which moves its results towards 0.
std::string emitShrink(const OnnxLayer& layer, const std::string& x) {
    const auto bound = static_cast<float>(layer.spec.real("lambd"));
    const bool moves = layer.spec.info->name == "Softshrink";
    return layer.node("Shrink", {x}, {{"lambd", bound}, {"bias", moves ? bound : 0.0f}});
}

std::string emitTanhshrink(const OnnxLayer& layer, const std::string& x) {
    return layer.node("Sub", {x, layer.node("Tanh", {x})});
}

std::string emitThreshold(const OnnxLayer& layer, const std::string& x) {
    OnnxGraph& graph = layer.graph;
    const std::string below =
        layer.node("LessOrEqual", {x, graph.scalar(layer.spec.real("threshold"))});
    return layer.node("Where", {below, graph.scalar(layer.spec.real("value")), x});
}

std::string emitGlu(const OnnxLayer& layer, const std::string& x) {
    const int axis = axisOf(layer.spec, "dim", layer.in.shape);
    const int64_t half = layer.out.shape[axis];
    const std::string gate = onnxSlice(layer, x, axis, half, 2 * half);
    return layer.node("Mul", {onnxSlice(layer, x, axis, 0, half), layer.node("Sigmoid", {gate})});
}

OnnxAttribute softmaxAxisOf(const OnnxLayer& layer) {
    return {"axis", int64_t{softmaxAxis(layer.spec, layer.in.shape)}};
}
/// Writes Softmax and LogSoftmax.
std::string emitSoftmax(const OnnxLayer& layer, const std::string& x) {
    return layer.node(layer.spec.info->name, {x}, {softmaxAxisOf(layer)});
}
std::string emitSoftmin(const OnnxLayer& layer, const std::string& x) {
    return layer.node("Softmax", {layer.node("Neg", {x})}, {softmaxAxisOf(layer)});
}
std::string emitSoftmax2d(const OnnxLayer& layer, const std::string& x) {
    return layer.node("Softmax", {x}, {{"axis", int64_t{1}}});
}

std::string emitRelu6(const OnnxLayer& layer, const std::string& x) {
    return layer.node("Clip", {x, layer.graph.scalar(0), layer.graph.scalar(6)});
}
std::string emitHardtanh(const OnnxLayer& layer, const std::string& x) {
    return layer.node("Clip", {x, layer.graph.scalar(layer.spec.real("min_val")),
                               layer.graph.scalar(layer.spec.real("max_val"))});
}

constexpr OnnxRow kRows[] = {
    {"ReLU", emitNamed},
    {"LeakyReLU", emitLeakyRelu},
    {"RReLU", emitRrelu},
    {"PReLU", emitPrelu},
    {"ELU", emitElu},
    {"GELU", emitGeluLayer},
    {"SiLU", emitSilu},
    {"Tanh", emitNamed},
    {"Sigmoid", emitNamed},
    {"Softplus", emitSoftplus},
    {"Hardtanh", emitHardtanh},
    {"Hardswish", emitNamed},
    {"ReLU6", emitRelu6},
    {"SELU", emitNamed},
    {"CELU", emitCelu},
    {"Mish", emitMish},
    {"LogSigmoid", emitLogSigmoid},
    {"Hardsigmoid", emitHardsigmoid},
    {"Hardshrink", emitShrink},
    {"Softshrink", emitShrink},
    {"Tanhshrink", emitTanhshrink},
    {"Softsign", emitNamed},
    {"Threshold", emitThreshold},
    {"GLU", emitGlu},
    {"Softmax", emitSoftmax},
    {"LogSoftmax", emitSoftmax},
    {"Softmin", emitSoftmin},
    {"Softmax2d", emitSoftmax2d},
    {"Sine", emitNamed},
};

} // namespace

std::span<const OnnxRow> onnxActivations() { return kRows; }

std::string onnxGelu(const OnnxLayer& layer, const std::string& x) {
    OnnxGraph& graph = layer.graph;
    const std::string scaled = layer.node("Div", {x, graph.scalar(std::numbers::sqrt2)});
    const std::string sum = layer.node("Add", {layer.node("Erf", {scaled}), graph.scalar(1)});
    return layer.node("Mul", {layer.node("Mul", {x, sum}), graph.scalar(0.5)});
}

} // namespace halfscope
