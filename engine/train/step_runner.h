// One compiled step on an executor, with its starting values, to be run again and again: for
// benches, and for callers that have a forward pass of their own. Trainings with data sets, records
// and events go through Trainer.
#pragma once

#include "engine/exec/executor.h"
#include "engine/settings/run_config.h"
#include "engine/train/metrics_row.h"
#include "engine/train/trainer.h"

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace halfscope {

/// Uploads floats in the node's storage form, with one rounding. There are as many values as
/// elements.
void uploadFloats(Executor&, const Graph&, NodeId, std::span<const float> values);
/// Uploads a batch's tensor in the input's storage form, with one rounding if that is another form.
/// lendTensor() lends it, if it has that form already; stageTensor() stages it, and returns
/// whether there was room.
void uploadTensor(Executor&, const Graph&, NodeId, const TypedBytes&);
void lendTensor(Executor&, const Graph&, NodeId, const std::shared_ptr<const Batch>&,
                size_t tensor);
bool stageTensor(Executor&, const Graph&, NodeId, const TypedBytes&);
/// Uploads those of the weights that the step has. Throws InputError for one that is missing or has
/// another size, and RunError when `stop` asks for it.
void uploadWeights(Executor&, const Graph&, const Weights&, const std::stop_token& stop);
/// Throws InputError for a name among the weights that the step does not have.
void requireWeights(const Graph&, const Weights&);
/// Uploads how many batches have been seen to those layers that count them.
void uploadBatchCounts(Executor&, const Graph&, const BatchCounts& seen);
/// Copies those of the weights that `to` has, one after the other: the host never holds all of
/// them. Throws RunError when `stop` asks for it.
void copyWeights(Executor& from, const Graph& fromGraph, Executor& to, const Graph&,
                 const std::stop_token& stop = {});
std::vector<float> downloadFloats(Executor&, const Graph&, NodeId);
/// Returns the rules by which the lane's step updates its scaler: Off when it does not scale.
ScalerRules actingRules(const LaneConfig&);
/// Returns the scaler's state when the lane begins to scale, or a scale of 1 when it does not
/// scale.
ScalerSlots firstScaler(const LaneConfig&);
/// Uploads the weights of the classes to a graph whose loss has them.
void uploadClassWeights(Executor&, const Graph&, const LossSpec&);
/// Uploads the lane's scaler and rules, and the run's schedule and class weights as they are at the
/// start of a training.
void uploadSettings(Executor&, const Graph&, const RunConfig&, const LaneConfig&);

class StepRunner {
public:
    /// `step` comes from buildStep or buildStepWith. Parameters start from the run's seed; inputs
    /// are zero. Compiles with the executor's options unless others are given.
    StepRunner(const RunConfig&, const LaneConfig&, const Graph& step, std::unique_ptr<Executor>,
               const std::optional<CompileOptions>& = {});

    const Program& program() const { return *m_program; }
    const Graph& graph() const { return m_program->graph; }
    Executor& executor() { return *m_executor; }

    void set(NodeId, std::span<const float> values);
    void set(NodeId, std::span<const int32_t> values);
    std::vector<float> get(NodeId);

    /// Runs `steps` steps in a row, captured, and waits for the last one. Returns the seconds on
    /// the host's clock: on a GPU, steps are enqueued without waiting in between.
    double run(int64_t steps);
    MetricsRow metrics();

private:
    std::unique_ptr<Executor> m_executor;
    std::shared_ptr<const Program> m_program;
};

} // namespace halfscope
