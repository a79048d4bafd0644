// The numbers that a step leaves on its device, as a StepRecord.
#pragma once

#include "engine/exec/executor.h"
#include "engine/runs/step_record.h"
#include "engine/settings/run_config.h"
#include "engine/step/metrics_slots.h"

#include <array>

namespace halfscope {

/// The values of the output "metrics", by MetricsSlot; 0 in a slot that the step does not have.
using MetricsRow = std::array<double, kMetricsSlots>;

/// Reads the row of the last step. The step is the one that the executor has loaded.
MetricsRow readMetrics(Executor&, const Graph& step);

/// Returns what the device's row holds; the caller adds step, lane and times.
StepRecord recordOf(const MetricsRow&, const ModelConfig&, OverflowAction);

} // namespace halfscope
