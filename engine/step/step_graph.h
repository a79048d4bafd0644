// Builds the graph of a whole training step: for the settings' network and loss, or around any
// forward pass.
#pragma once

#include "engine/data/batch.h"
#include "engine/models/emit_model.h"
#include "engine/ops/builder.h"
#include "engine/settings/precision_plan.h"
#include "engine/settings/run_config.h"
#include "engine/step/metrics_slots.h"

#include <functional>
#include <string_view>

namespace halfscope {

/// A penalty on how a network's output depends on its input, see emitSlopePenalty().
struct SlopePenalty {
    NodeId at = kNoNode;     ///< the input (rows, values), F32; kNoNode when there is no penalty
    NodeId output = kNoNode; ///< one value for each row
    size_t loss = 0;         ///< index of the loss that the penalty is added to
};

/// What a forward pass hands to the rest of the step.
struct Forward {
    NodeId prediction = kNoNode;
    /// F32, rank 0. Each loss is scaled and differentiated separately; gradients add up.
    std::vector<NodeId> losses;
    std::vector<ModelUpdate> updates{};
    /// The parameter states of each optimizer; each optimizer skips on its own. When it is empty,
    /// all parameters belong to the first.
    std::vector<std::vector<NodeId>> parameters{};
    /// True when loss i reaches only the parameters of optimizer i; otherwise every loss reaches
    /// all.
    bool ownLosses = false;
    NodeId shownLoss = kNoNode; ///< kNoNode for the sum of the losses
    /// Of a network that learns from a critic, whose loss is the shown one; else kNoNode.
    NodeId generatorLoss = kNoNode;
    SlopePenalty slopePenalty{};
};

/// Emits inputs, parameter states and nodes. The lane's autocast policy is on; `storage` is the
/// dtype in which the lane keeps parameters and input.
using ForwardFn = std::function<Forward(Builder&, DType storage)>;

/// Builds forward -> penalty -> loss x scale -> gradients -> accumulation -> unscale and finite
/// check -> clip -> optimizer -> scaler -> metrics. Differentiates with respect to all states of
/// role Parameter. With a gradient penalty there is an output "penalty": its value before it is
/// weighted.
Graph buildStepWith(const RunConfig&, const LaneConfig&, const ForwardFn&);
/// Does the same with a plan that was made once, because a policy file may change during a
/// training.
Graph buildStepWith(const RunConfig&, const LaneConfig&, const PrecisionPlan&, const ForwardFn&);
/// Builds the forward and backward pass alone, as buildGradients() does for the settings' network.
Graph buildGradientsWith(const RunConfig&, const LaneConfig&, const PrecisionPlan&,
                         const ForwardFn&);
/// Builds the graph of one lane's training step. Inputs: "x", "target". Outputs: "loss",
/// "prediction", "metrics" (F64, see MetricsSlot). States: parameters, moments, running statistics,
/// "scaler" (F64, ScalerSlot), "scaler.rules" (F64, RuleSlot), "optimizer.step", "schedule.tick",
/// "schedule.table"; when the settings need them "schedule.momentum_complement", "schedule.table2",
/// "optimizer2.step", "accumulation.count" and accumulated gradients.
Graph buildStep(const RunConfig&, const LaneConfig&, const BatchShape&);
/// Does the same with a plan that was made once.
Graph buildStep(const RunConfig&, const LaneConfig&, const PrecisionPlan&, const BatchShape&);
inline constexpr std::string_view kGradientOutput = "gradient."; ///< goes before a parameter's name
/// Builds the forward and backward pass of a lane alone, with the scaling of its loss: inputs "x"
/// and "target", outputs "gradient.<parameter>", F32 and unscaled; states as in buildStep(), as far
/// as gradients depend on them.
Graph buildGradients(const RunConfig&, const LaneConfig&, const PrecisionPlan&, const BatchShape&);
/// Builds the network alone: input "x", output "prediction", the same parameters by name.
Graph buildForward(const RunConfig&, const PrecisionPlan&, const BatchShape&,
                   ModelMode = ModelMode::Train);
/// Builds the network and its loss alone: inputs "x" and "target", outputs "prediction" and "loss"
/// (the mean over the batch, F32). With ModelMode::Evaluate in the form in which they are judged:
/// with running statistics and without dropout.
Graph buildLoss(const RunConfig&, const PrecisionPlan&, const BatchShape&, ModelMode);

/// Returns whether two lanes that differ only in their scaler have different steps. The scaler's
/// rules are data and do not change the step.
bool hasOtherStep(const LaneConfig&, const LaneConfig&);

/// The label of 1 / scale, which is inf at a scale below 2^-128.
inline constexpr const char* kInverseLabel = "inverse loss scale";
/// The rule of the casts that precisions with PrecisionPlan::outputF32 put after the network.
inline constexpr const char* kOutputsInF32 = "outputs of the network in float32";

} // namespace halfscope
