// Builds the graph of a whole training step: of the settings' network and loss, or around any
// forward.
#pragma once

#include "engine/data/batch.h"
#include "engine/models/emit_model.h"
#include "engine/ops/builder.h"
#include "engine/settings/precision_plan.h"
#include "engine/settings/run_config.h"
#include "engine/step/metrics_slots.h"

#include <functional>

namespace halfscope {

/// A penalty on how a network's output depends on its input, see emitSlopePenalty().
struct SlopePenalty {
    NodeId at = kNoNode;     ///< the input (rows, values), F32; kNoNode: no penalty
    NodeId output = kNoNode; ///< one value a row
    size_t loss = 0;         ///< that it is added to
};

/// What a forward hands to the rest of the step.
struct Forward {
    NodeId prediction = kNoNode;
    /// F32, rank 0. Each is scaled and differentiated apart; gradients add up.
    std::vector<NodeId> losses;
    std::vector<ModelUpdate> updates{};
    /// Parameter states by the optimizer that steps them; each optimizer skips on its own. Empty:
    /// all belong to the first.
    std::vector<std::vector<NodeId>> parameters{};
    /// Loss i reaches the parameters of optimizer i alone; else every loss reaches all.
    bool ownLosses = false;
    NodeId shownLoss = kNoNode; ///< kNoNode: the sum of the losses
    SlopePenalty slopePenalty{};
};

/// Emits inputs, parameter states and nodes. The lane's autocast policy is on; `storage` is the
/// dtype in which the lane keeps parameters and input.
using ForwardFn = std::function<Forward(Builder&, DType storage)>;

/// forward -> penalty -> loss x scale -> gradients -> accumulation -> unscale and finite check ->
/// clip -> optimizer -> scaler -> metrics. Differentiates by all states of role Parameter. With a
/// gradient penalty there is an output "penalty": its value before the weight.
Graph buildStepWith(const RunConfig&, const LaneConfig&, const ForwardFn&);
/// The same by a plan that was made once: a policy file may change while a training goes on.
Graph buildStepWith(const RunConfig&, const LaneConfig&, const PrecisionPlan&, const ForwardFn&);
/// The graph of one lane's training step. Inputs: "x", "target". Outputs: "loss", "prediction",
/// "metrics" (F64, see MetricsSlot). States: parameters, moments, running statistics, "scaler"
/// (F64, ScalerSlot), "scaler.rules" (F64, RuleSlot), "optimizer.step", "schedule.tick",
/// "schedule.table"; where the settings want them "schedule.momentum_complement",
/// "schedule.table2", "optimizer2.step", "accumulation.count" and accumulated gradients.
Graph buildStep(const RunConfig&, const LaneConfig&, const BatchShape&);
/// The same by such a plan.
Graph buildStep(const RunConfig&, const LaneConfig&, const PrecisionPlan&, const BatchShape&);
/// The network alone: input "x", output "prediction", the same parameters by name.
Graph buildForward(const RunConfig&, const PrecisionPlan&, const BatchShape&,
                   ModelMode = ModelMode::Train);
/// The network and its loss as they are judged, with running statistics and without dropout: inputs
/// "x" and "target", outputs "prediction" and "loss" (the mean over the batch, F32).
Graph buildEvaluation(const RunConfig&, const PrecisionPlan&, const BatchShape&);

/// The label of 1 / scale, which is inf at a scale below 2^-128.
inline constexpr const char* kInverseLabel = "inverse loss scale";

} // namespace halfscope
