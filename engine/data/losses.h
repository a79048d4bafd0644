// The losses that a task can have, one row each. To add one, add a value to LossKind and a row to
// the table in losses.cpp.
#pragma once

#include "engine/core/message.h"
#include "engine/data/task_spec.h"
#include "engine/ops/builder.h"

#include <cstdint>
#include <span>

namespace halfscope {

struct LossInfo {
    LossKind kind = LossKind::Mse;
    const char* name = "";       ///< of task.loss: "mse"
    Phrase about;                ///< for tool tips and the manual, after the name
    const char* torchName = "";  ///< of torch.nn.functional
    bool ofLabels = false;       ///< the target is a class number, per sample or position
    bool ofShares = false;       ///< targets lie between 0 and 1, so they cannot be standardised
    bool hasDelta = false;       ///< LossSpec::delta acts
    const char* torchDelta = ""; ///< the name of delta in PyTorch
    bool hasSmoothing = false;   ///< LossSpec::labelSmoothing acts
    bool hasWeights = false;     ///< LossSpec::classWeights acts
    /// Adds the mean over all elements, or over all labels, of rank 0. The prediction's dtype and
    /// the builder's autocast policy decide the dtype of the computation. A loss that weighs the
    /// classes takes their weights from the state kClassWeightsState, which it adds if need be.
    NodeId (*emit)(Builder&, const LossSpec&, NodeId prediction, NodeId target) = nullptr;
};

std::span<const LossInfo> losses(); ///< in the order of the enum
const LossInfo& infoOf(LossKind);
/// Whether targets may be any numbers, so that they can be standardised.
bool takesAnyNumbers(const LossInfo&);

} // namespace halfscope
