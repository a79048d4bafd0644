// The numbers that a step leaves on its device, as a StepRecord.
#pragma once

#include "engine/runs/step_record.h"
#include "engine/settings/run_config.h"
#include "engine/step/metrics_slots.h"

#include <array>

namespace halfscope {

/// The values of the output "metrics", by MetricsSlot.
using MetricsRow = std::array<double, kMetricsSlots>;

/// Returns what the device's row holds; the caller adds step, lane and times.
StepRecord recordOf(const MetricsRow&, int64_t optimizers, OverflowAction);

} // namespace halfscope
