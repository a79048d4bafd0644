// The table of losses. Their definitions are PyTorch's, with the reduction "mean".
#include "engine/data/losses.h"

#include "engine/data/class_weights.h"
#include "engine/data/targets.h"
#include "engine/ops/functional.h"

#include <array>

namespace halfscope {

namespace {

NodeId mse(Builder& b, const LossSpec&, NodeId y, NodeId target) {
    return fn::mseLoss(b, y, target);
}

NodeId l1(Builder& b, const LossSpec&, NodeId y, NodeId target) { return fn::l1Loss(b, y, target); }

NodeId huber(Builder& b, const LossSpec& spec, NodeId y, NodeId target) {
    return fn::huberLoss(b, y, target, spec.delta);
}

NodeId smoothL1(Builder& b, const LossSpec& spec, NodeId y, NodeId target) {
    return fn::smoothL1Loss(b, y, target, spec.delta);
}

/// Returns the state with the weights of the classes, which all losses of a step share.
NodeId classWeights(Builder& b, int64_t classes) {
    for (const StateInfo& state : b.graph().states())
        if (state.name == kClassWeightsState) return state.node;
    return b.state(std::string(kClassWeightsState), {classes}, DType::F32, StateRole::Setting);
}

/// Returns the loss of logits (rows, positions, classes), which are taken with their labels as one
/// batch of all positions.
NodeId crossEntropy(Builder& b, const LossSpec& spec, NodeId logits, NodeId labels) {
    const Shape shape = b.shapeOf(logits);
    if (shape.rank() == 3) {
        const int64_t all = shape[0] * shape[1];
        logits = b.reshape(logits, {all, shape[2]});
        labels = b.reshape(labels, {all});
    }
    const NodeId weights = weighsClasses(spec) ? classWeights(b, b.shapeOf(logits)[1]) : kNoNode;
    return fn::crossEntropy(b, logits, labels, spec.labelSmoothing, weights);
}

NodeId bceWithLogits(Builder& b, const LossSpec&, NodeId y, NodeId target) {
    return fn::bceWithLogits(b, y, target);
}

constexpr std::array kLosses{
    LossInfo{.kind = LossKind::Mse,
             .name = "mse",
             .about = phrase("Settings", "mean of squared errors"),
             .torchName = "mse_loss",
             .emit = mse},
    LossInfo{.kind = LossKind::L1,
             .name = "l1",
             .about = phrase("Settings", "mean of absolute errors"),
             .torchName = "l1_loss",
             .emit = l1},
    LossInfo{.kind = LossKind::Huber,
             .name = "huber",
             .about = phrase("Settings", "half the squared error below the delta, delta times the "
                                         "absolute one beyond it"),
             .torchName = "huber_loss",
             .hasDelta = true,
             .torchDelta = "delta",
             .emit = huber},
    LossInfo{.kind = LossKind::SmoothL1,
             .name = "smooth-l1",
             .about = phrase("Settings", "Huber's loss divided by its delta"),
             .torchName = "smooth_l1_loss",
             .hasDelta = true,
             .torchDelta = "beta",
             .emit = smoothL1},
    LossInfo{.kind = LossKind::CrossEntropy,
             .name = "cross-entropy",
             .about = phrase("Settings", "for classes, minus the logarithm of the probability that "
                                         "the right one is given"),
             .torchName = "cross_entropy",
             .ofLabels = true,
             .hasSmoothing = true,
             .hasWeights = true,
             .emit = crossEntropy},
    LossInfo{.kind = LossKind::BceWithLogits,
             .name = "bce-with-logits",
             .about = phrase("Settings", "for targets between 0 and 1, their binary cross entropy "
                                         "with the sigmoid of the output"),
             .torchName = "binary_cross_entropy_with_logits",
             .ofShares = true,
             .emit = bceWithLogits},
};

} // namespace

std::span<const LossInfo> losses() { return kLosses; }

const LossInfo& infoOf(LossKind kind) { return kLosses[static_cast<size_t>(kind)]; }

bool targetsAreClasses(const TaskConfig& task) { return infoOf(task.loss.kind).ofLabels; }

bool takesAnyNumbers(const LossInfo& loss) { return !loss.ofLabels && !loss.ofShares; }

const char* nameOf(LossKind kind) {
    const auto at = static_cast<size_t>(kind);
    return at < kLosses.size() ? kLosses[at].name : "";
}

} // namespace halfscope
