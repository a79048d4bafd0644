// Builds the graph of a whole training step around any forward. engine/train/trainer.h declares
// buildStep, the one that trainings use; this is for those that bring a forward of their own.
#pragma once

#include "engine/graph/builder.h"
#include "engine/train/dataset.h"
#include "engine/train/models.h"
#include "engine/train/run_config.h"

#include <functional>

namespace halfscope {

/// What a forward hands to the rest of the step.
struct Forward {
    NodeId prediction = kNoNode;
    NodeId loss = kNoNode; ///< F32, rank 0
    std::vector<RunningStatistic> running;
};
/// Emits inputs, parameter states and nodes. The lane's autocast policy is on; `storage` is the
/// dtype in which the lane keeps parameters and input.
using ForwardFn = std::function<Forward(Builder&, DType storage)>;

/// forward -> loss x scale -> gradients -> unscale and finite check -> optimizer -> scaler ->
/// metrics. Differentiates by all states of role Parameter.
Graph buildStepWith(const RunConfig&, const LaneConfig&, const ForwardFn&);

/// The network alone: input "x", output "prediction", the same parameters by name.
Graph buildForward(const RunConfig&, const LaneConfig&, const BatchShape&);

/// F16 for the pure fp16 lane, else F32.
DType storageOf(Precision);
/// Whether the lane scales its loss: an AMP lane whose scaler is not off.
bool scalesLoss(const LaneConfig&);

} // namespace halfscope
