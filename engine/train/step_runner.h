// One compiled step on an executor, with its starting values, to be run again and again: for
// benches, and for callers that have a forward pass of their own. Trainings with data sets, records
// and events go through Trainer.
#pragma once

#include "engine/exec/executor.h"
#include "engine/settings/run_config.h"
#include "engine/step/metrics_slots.h"
#include "engine/train/trainer.h"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace halfscope {

/// The values of the output "metrics", by MetricsSlot.
using MetricsRow = std::array<double, kMetricsSlots>;

/// Floats to storage form with one rounding and back. As many values as elements.
void uploadFloats(Executor&, const Graph&, NodeId, std::span<const float> values);
/// A batch's tensor in the input's storage form, with one rounding where that is another.
void uploadTensor(Executor&, const Graph&, NodeId, const TypedBytes&);
void stageTensor(Executor&, const Graph&, NodeId, const TypedBytes&);
std::vector<float> downloadFloats(Executor&, const Graph&, NodeId);
/// The rules by which the lane's step updates its scaler: Off where it does not scale.
ScalerRules actingRules(const LaneConfig&);
/// The scaler's state as the lane begins to scale; a scale of 1 where it does not.
ScalerSlots firstScaler(const LaneConfig&);
/// The lane's scaler and rules and the run's schedule, as a training starts.
void uploadSettings(Executor&, const Graph&, const RunConfig&, const LaneConfig&);

class StepRunner {
public:
    /// `step` as buildStep or buildStepWith made it. Parameters start from the run's seed; inputs
    /// are zero. Compiled as the executor wants it unless told.
    StepRunner(const RunConfig&, const LaneConfig&, const Graph& step, std::unique_ptr<Executor>,
               const std::optional<CompileOptions>& = {});

    const Program& program() const { return *m_program; }
    const Graph& graph() const { return m_program->graph; }
    Executor& executor() { return *m_executor; }

    void set(NodeId, std::span<const float> values);
    void set(NodeId, std::span<const int32_t> values);
    std::vector<float> get(NodeId);

    /// Runs `steps` steps in a row, captured, and waits for the last one. Seconds by the clock of
    /// the caller: on a GPU steps are enqueued without waiting in between.
    double run(int64_t steps);
    MetricsRow metrics();

private:
    std::unique_ptr<Executor> m_executor;
    std::shared_ptr<const Program> m_program;
};

} // namespace halfscope
