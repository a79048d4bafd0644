// The fully connected network of all tasks. On pictures each pixel is a row, so that a 1x1
// convolution is a linear layer; defaults of the norms are PyTorch's.
#include "engine/train/models.h"

#include "engine/core/error.h"
#include "engine/ops/functional.h"

namespace halfscope {

namespace {

constexpr double kNormEps = 1e-5;
constexpr double kRunningMomentum = 0.1;

NodeId parameter(Builder& b, const std::string& name, const Shape& shape, DType storage) {
    return b.state(name, shape, storage, StateRole::Parameter);
}

NodeId emitNorm(Builder& b, Norm kind, NodeId x, int index, DType storage,
                std::vector<RunningStatistic>& running) {
    if (kind == Norm::None) return x;
    const std::string number = std::to_string(index);
    const std::string name = "norms." + number;
    LabelScope label(b, "norm " + number);
    const Shape features{b.shapeOf(x).back()};
    // The affine part of a norm is computed in F32 whatever its storage.
    const NodeId weight = b.cast(parameter(b, name + ".weight", features, storage), DType::F32);
    const NodeId bias = b.cast(parameter(b, name + ".bias", features, storage), DType::F32);
    if (kind == Norm::LayerNorm) {
        const NodeId y = fn::layerNorm(b, x, weight, bias, kNormEps);
        // Without autocast a layer keeps its dtype; under it PyTorch's layer_norm returns F32.
        return b.policy() ? y : b.cast(y, b.dtypeOf(x));
    }
    const fn::BatchNormResult r = fn::batchNorm(b, x, weight, bias, 1, kNormEps);
    const auto statistic = [&](const char* part, NodeId batch) {
        const NodeId state =
            b.state(name + part, features, DType::F32, StateRole::RunningStatistic);
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

NodeId emitLinear(Builder& b, NodeId x, const std::string& name, int64_t outputs, DType storage) {
    const Shape weightShape{outputs, b.shapeOf(x).back()};
    const NodeId weight = parameter(b, name + ".weight", weightShape, storage);
    const NodeId bias = parameter(b, name + ".bias", {outputs}, storage);
    return fn::linear(b, x, weight, bias);
}

Network emitNetwork(Builder& b, const ModelConfig& model, NodeId x, int64_t outputs,
                    DType storage) {
    Network network;
    const int layers = static_cast<int>(model.depth) + 1;
    for (int i = 0; i < layers; ++i) {
        const std::string number = std::to_string(i);
        {
            LabelScope label(b, "layer " + number);
            x = emitLinear(b, x, "layers." + number, model.width, storage);
        }
        x = emitNorm(b, model.norm, x, i, storage, network.running);
        LabelScope label(b, "activation " + number);
        x = fn::unary(b, opOf(model.activation), x);
    }
    LabelScope label(b, "output layer");
    network.output = emitLinear(b, x, "layers." + std::to_string(layers), outputs, storage);
    return network;
}

void emitRunningStatistics(Builder& b, const std::vector<RunningStatistic>& statistics) {
    PhaseScope phase(b, Phase::Forward);
    AutocastScope off(b, nullptr);
    for (const RunningStatistic& r : statistics) {
        LabelScope label(b, r.label);
        const NodeId kept = b.scale(r.state, 1 - kRunningMomentum);
        b.graph().setNext(r.state, b.add(kept, b.scale(r.batch, kRunningMomentum)));
    }
}

} // namespace halfscope
