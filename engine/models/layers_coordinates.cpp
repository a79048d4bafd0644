// Layers of networks that paint a picture from its coordinates: SIREN's sine layers and Fourier
// features. torch.nn has neither; their names and arguments are those of the authors' programs.
#include "engine/models/layer_context.h"
#include "engine/ops/functional.h"

#include <array>
#include <cmath>
#include <numbers>

namespace halfscope {

namespace {

constexpr double kMostUnits = 1 << 20;

constexpr ArgInfo kSineArgs[] = {
    {"in_features", ArgKind::Whole, "", ArgShown::Named, 1, kMostUnits},
    {"out_features", ArgKind::Whole, "", ArgShown::Named, 1, kMostUnits},
    {"bias", ArgKind::Truth, "True"},
    {"is_first", ArgKind::Truth, "False"},
    {"omega_0", ArgKind::Real, "30", ArgShown::Named, 1e-3, 1e6},
    {"is_last", ArgKind::Truth, "False", ArgShown::Changed},
};

/// Initial values of Sitzmann et al., "Implicit Neural Representations with Periodic Activation
/// Functions" (2020), section 3.2, as in their SineLayer: weights within 1 / in for the first
/// layer, whose inputs are coordinates, and within sqrt(6 / in) / omega_0 for the others, so that
/// every layer's sines see values with a standard deviation of 1; biases as in nn.Linear.
std::vector<ParameterInfo> sineParameters(const LayerSpec& layer) {
    const int64_t outputs = layer.whole("out_features"), inputs = layer.whole("in_features");
    const auto fanIn = static_cast<double>(inputs);
    const double bound =
        layer.truth("is_first") ? 1 / fanIn : std::sqrt(6 / fanIn) / layer.real("omega_0");
    std::vector<ParameterInfo> all{{"linear.weight",
                                    {outputs, inputs},
                                    ParameterRole::Weight,
                                    {InitialValue::Kind::Uniform, bound}}};
    if (layer.truth("bias"))
        all.push_back({"linear.bias", {outputs}, ParameterRole::Bias, linearStart(fanIn)});
    return all;
}

NodeType sineOutput(const LayerSpec& layer, const NodeType& in) {
    return lastAxisOutput(layer, in, layer.whole("out_features"));
}

NodeId emitSine(LayerContext& c, const LayerSpec& layer, NodeId x) {
    const NodeId weight = c.parameter("linear.weight"), bias = c.parameter("linear.bias");
    const NodeId y = fn::linear(c.b, x, weight, bias);
    if (layer.truth("is_last")) return y;
    return fn::unary(c.b, Op::Sin, c.b.scale(y, layer.real("omega_0")));
}

constexpr std::string_view kSineClass = R"(
class SineLayer(nn.Module):
    """sin(omega_0 * linear(x)): Sitzmann et al., Implicit Neural Representations (SIREN), 2020."""

    def __init__(self, in_features, out_features, bias=True, is_first=False, omega_0=30, is_last=False):
        super().__init__()
        self.omega_0, self.is_last = omega_0, is_last
        self.linear = nn.Linear(in_features, out_features, bias=bias)
        bound = 1 / in_features if is_first else (6 / in_features) ** 0.5 / omega_0
        nn.init.uniform_(self.linear.weight, -bound, bound)

    def forward(self, x):
        y = self.linear(x)
        return y if self.is_last else torch.sin(self.omega_0 * y)
)";

constexpr ArgInfo kFourierArgs[] = {
    {"in_features", ArgKind::Whole, "", ArgShown::Named, 1, kMostUnits},
    {"mapping_size", ArgKind::Whole, "", ArgShown::Named, 1, kMostUnits / 2},
    {"scale", ArgKind::Real, "10.0", ArgShown::Named, 0, 1e6},
};

/// Initial values of Tancik et al., "Fourier Features Let Networks Learn High Frequency Functions
/// in Low Dimensional Domains" (2020), section 6.1: frequencies from a normal distribution, which
/// are not trained.
std::vector<ParameterInfo> fourierParameters(const LayerSpec& layer) {
    return {{"B",
             {layer.whole("mapping_size"), layer.whole("in_features")},
             ParameterRole::Buffer,
             {InitialValue::Kind::Normal, layer.real("scale")}}};
}

NodeType fourierOutput(const LayerSpec& layer, const NodeType& in) {
    return lastAxisOutput(layer, in, 2 * layer.whole("mapping_size"));
}

NodeId emitFourier(LayerContext& c, const LayerSpec&, NodeId x) {
    const NodeId angles =
        fn::linear(c.b, c.b.scale(x, 2 * std::numbers::pi), c.parameter("B"), kNoNode);
    const std::array parts{fn::unary(c.b, Op::Sin, angles), fn::unary(c.b, Op::Cos, angles)};
    return fn::cat(c.b, parts, -1);
}

constexpr std::string_view kFourierClass = R"(
class FourierFeatures(nn.Module):
    """Sines and cosines at random frequencies: Tancik et al., Fourier Features, 2020."""

    def __init__(self, in_features, mapping_size, scale=10.0):
        super().__init__()
        self.register_buffer("B", scale * torch.randn(mapping_size, in_features))

    def forward(self, x):
        angles = F.linear(2 * torch.pi * x, self.B)
        return torch.cat([torch.sin(angles), torch.cos(angles)], -1)
)";

constexpr LayerInfo kRows[] = {
    {.name = "SineLayer",
     .wants = Wants::Features,
     .args = kSineArgs,
     .output = sineOutput,
     .emitNodes = emitSine,
     .parameters = sineParameters,
     .python = kSineClass},
    {.name = "FourierFeatures",
     .wants = Wants::Features,
     .args = kFourierArgs,
     .output = fourierOutput,
     .emitNodes = emitFourier,
     .parameters = fourierParameters,
     .python = kFourierClass},
};

} // namespace

std::span<const LayerInfo> coordinateLayers() { return kRows; }

} // namespace halfscope
