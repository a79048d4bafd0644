// The fully connected network of all tasks. On pictures each pixel is a row, so that a 1x1
// convolution is a linear layer; defaults of the norms are PyTorch's.
#include "engine/models/network.h"

#include "engine/core/error.h"
#include "engine/ops/functional.h"

namespace halfscope {

namespace {

constexpr double kNormEps = 1e-5;
constexpr double kRunningMomentum = 0.1;

NodeId parameter(Builder& b, const std::string& name, const Shape& shape, DType storage) {
    return b.state(name, shape, storage, StateRole::Parameter);
}

/// "second." as words before a label: "second ".
std::string wordsOf(std::string prefix) {
    if (!prefix.empty()) prefix.back() = ' ';
    return prefix;
}

/// An affine parameter of a norm as it is computed with: F32 whatever its storage, after a rounding
/// where the norm is part of a network that is cast as a whole.
NodeId affine(Builder& b, const std::string& name, const Shape& shape,
              const ParameterStorage& storage) {
    NodeId value = parameter(b, name, shape, storage.norms);
    if (storage.normsSeen) {
        b.setRule("network cast to " + std::string(nameOf(*storage.normsSeen)));
        value = b.cast(value, *storage.normsSeen);
        b.setRule({});
    }
    return b.cast(value, DType::F32);
}

NodeId emitNorm(Builder& b, Norm kind, NodeId x, int index, const ParameterStorage& storage,
                const std::string& prefix, std::vector<RunningStatistic>& running) {
    if (kind == Norm::None) return x;
    const std::string number = std::to_string(index);
    const std::string name = prefix + "norms." + number;
    LabelScope label(b, wordsOf(prefix) + "norm " + number);
    const Shape features{b.shapeOf(x).back()};
    const NodeId weight = affine(b, name + ".weight", features, storage);
    const NodeId bias = affine(b, name + ".bias", features, storage);
    if (kind == Norm::LayerNorm) {
        const NodeId y = fn::layerNorm(b, x, weight, bias, kNormEps);
        // Without autocast a layer keeps its dtype; under it PyTorch's layer_norm returns F32.
        return b.policy() ? y : b.cast(y, b.dtypeOf(x));
    }
    const fn::BatchNormResult r = fn::batchNorm(b, x, weight, bias, 1, kNormEps);
    const auto statistic = [&](const char* part, NodeId batch) {
        const NodeId state =
            b.state(name + part, features, storage.normsSeen.value_or(storage.norms),
                    StateRole::RunningStatistic);
        running.push_back({state, batch, b.label()});
    };
    statistic(".running_mean", r.mean);
    statistic(".running_var", r.unbiasedVariance);
    return r.y;
}

} // namespace

Op opOf(Activation activation) {
    switch (activation) {
    case Activation::Relu: return Op::Relu;
    case Activation::Tanh: return Op::Tanh;
    case Activation::Sigmoid: return Op::Sigmoid;
    case Activation::Gelu: return Op::Gelu;
    case Activation::Silu: return Op::Silu;
    case Activation::Softplus: return Op::Softplus;
    case Activation::Sin: return Op::Sin;
    }
    failInvariant("unknown activation");
}

std::string outputLabel(const std::string& prefix) { return wordsOf(prefix) + "output layer"; }

NodeId emitLinear(Builder& b, NodeId x, const std::string& name, int64_t outputs, DType storage) {
    const Shape weightShape{outputs, b.shapeOf(x).back()};
    const NodeId weight = parameter(b, name + ".weight", weightShape, storage);
    const NodeId bias = parameter(b, name + ".bias", {outputs}, storage);
    return fn::linear(b, x, weight, bias);
}

Network emitNetwork(Builder& b, const ModelConfig& model, NodeId x, int64_t outputs,
                    const ParameterStorage& storage, const std::string& prefix) {
    Network network;
    const std::string words = wordsOf(prefix);
    const std::string layer = prefix + "layers.";
    const int layers = static_cast<int>(model.depth) + 1;
    for (int i = 0; i < layers; ++i) {
        const std::string number = std::to_string(i);
        {
            LabelScope label(b, words + "layer " + number);
            x = emitLinear(b, x, layer + number, model.width, storage.weights);
        }
        x = emitNorm(b, model.norm, x, i, storage, prefix, network.running);
        LabelScope label(b, words + "activation " + number);
        x = fn::unary(b, opOf(model.activation), x);
    }
    LabelScope label(b, outputLabel(prefix));
    network.output = emitLinear(b, x, layer + std::to_string(layers), outputs, storage.weights);
    return network;
}

void emitRunningStatistics(Builder& b, const std::vector<RunningStatistic>& statistics) {
    PhaseScope phase(b, Phase::Forward);
    AutocastScope off(b, nullptr);
    for (const RunningStatistic& r : statistics) {
        LabelScope label(b, r.label);
        const NodeId kept = b.scale(b.cast(r.state, b.dtypeOf(r.batch)), 1 - kRunningMomentum);
        const NodeId next = b.add(kept, b.scale(r.batch, kRunningMomentum));
        b.graph().setNext(r.state, b.cast(next, b.dtypeOf(r.state)));
    }
}

} // namespace halfscope
