// What the loss is that a run shows: the task's or, where a critic takes its place, the critic's.
#pragma once

#include "engine/runs/metrics.h"
#include "engine/settings/run_config.h"

namespace halfscope {

/// Returns the row of the table of metrics for the loss of such a run, with the name and the
/// explanation that it has there.
Metric shownLoss(const RunConfig&);
/// Returns that name within a sentence: "the loss".
Message shownLossInWords(const RunConfig&);

} // namespace halfscope
