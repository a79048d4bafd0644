// Finds the first tensor that overflowed in a step: in a skipped one by running it again, in one
// that was taken by its weights. Writes the events of a step in words. Leaves the step itself to
// the trainer.
#pragma once

#include "engine/data/batch.h"
#include "engine/data/task_spec.h"
#include "engine/exec/executor.h"
#include "engine/runs/step_record.h"
#include "engine/scaler/grad_scaler.h"
#include "engine/train/fitting_scale.h"
#include "engine/train/lane_state.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfscope {

/// What the optimizer of a parameter did in a step that at least one optimizer skipped.
enum class Turn : uint8_t { Skipped, SatOut, Stepped };
/// Empty when all optimizers skipped it.
using TurnOf = std::function<Turn(const std::string& parameter)>;

class OverflowFinder {
public:
    /// `graph` is a program's graph of a training step.
    explicit OverflowFinder(const Graph& graph);

    /// Runs the last step again, stepwise, with the scale that it used, and names the first stored
    /// value that is not finite, apart from the -inf of attention masks. Only for a skipped step:
    /// an optimizer that skipped it left its parameters and moments alone. Where another one did
    /// not skip it, only values that reach a gradient of the first one count. The caller puts back
    /// the states that a step changes: a GPU shows the values of a step that is not fused, whose
    /// roundings may keep below inf what overflowed by a last bit, and takes that step. Returns
    /// nothing when the run is stopped midway.
    /// The culprit is not known when this run rounds differently and stays finite, when the value
    /// comes from parameters that have changed, because their optimizer stepped, and when the
    /// device cannot show values.
    std::optional<Culprit> find(Executor&, const Graph&, float scaleBefore,
                                const TurnOf& = {}) const;

    /// Names the gradient that overflowed in a step that was taken all the same. That step cannot
    /// be run again, because its weights are gone, but it leaves inf or nan in each weight whose
    /// gradient had them, unless gradients are clipped. Of these weights, takes the one whose
    /// gradient the backward pass made first. The culprit is not known where all are finite,
    /// because their optimizer sat the step out.
    Culprit inWeights(Executor&, const Graph&) const;

    /// Names the input where the step takes it in fp16, a batch of these steps has values that are
    /// inf there, and a setting of the task would help; else returns an unknown culprit.
    Culprit inInput(const BatchSource&, int64_t firstStep, int64_t lastStep,
                    const TaskConfig&) const;

private:
    /// What a value tells that is not finite.
    enum class Tells : uint8_t { Nothing, Culprit, Unknown };
    std::vector<Tells> tellingNodes(const Graph&, const TurnOf&) const;
    Message nameOfNode(const Graph&, NodeId) const;

    std::vector<std::pair<NodeId, std::string>> m_checks; ///< of gradients, with their parameters
    bool m_takesInputInHalf;    ///< whether the input, as it is, is stored in fp16
    std::vector<bool> m_masked; ///< by node: true when it holds a mask's -inf
    std::map<NodeId, Message>
        m_gradients; ///< nodes that are a parameter's gradient, with its name and layer
    std::map<NodeId, std::string> m_made; ///< those that make it, in their order, with its name
};

/// Whether a tensor that OverflowFinder names is the gradient of what the network gives to the
/// loss.
bool isGradientOfPredictions(std::string_view tensor);

/// Returns the input or target of a sample in the batches of these steps that has inf or nan; an
/// unknown culprit when all values are finite.
Culprit culpritIn(const BatchSource&, int64_t firstStep, int64_t lastStep);

/// Why a step was skipped or lost the loss, and what would have helped.
struct SkipReason {
    Culprit culprit;
    FittingScale fitting{};
    bool scalesLoss = true; ///< whether the lane scales its loss
    bool hasCritic = false; ///< whether the second optimizer is that of a critic
};

/// Whether gradients were not finite and the step was taken all the same. Not so where the loss is
/// not finite either: that is reported by itself.
bool steppedOnOverflow(const StepRecord&);

/// What the step before one has left, where that explains what happens in it.
struct StepBefore {
    bool lossWasBad = false;   ///< its loss was not finite
    bool tookOverflow = false; ///< see steppedOnOverflow()
};
StepBefore leftBy(const StepRecord&);

/// Appends the events of a step: overflow, backoff, growth, and a loss that was finite before and
/// is not any more.
void describeStep(const StepRecord&, float scaleAfter, const SkipReason&, const StepBefore&,
                  std::vector<Event>&);

} // namespace halfscope
