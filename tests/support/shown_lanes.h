// Rows, counts and runs of which models show what is known of their lanes.
#pragma once

#include "engine/settings/fields.h"
#include "tests/support/cpu_run.h"
#include "ui/models/run_model.h"

#include <memory>

namespace halfscope::test {

inline StepRow rowAt(int64_t step, int lane, float scale) {
    return StepRow(step, lane).set(metric::Loss, 0.25f).set(metric::Scale, scale);
}

inline GradientRange rangeOf(DType type, int64_t zeros, int64_t notFinite) {
    GradientRange range;
    range.step = 8;
    range.type = type;
    range.outputs.zeros = zeros;
    range.outputs.notFinite = notFinite;
    range.outputs.buckets[20] = 100 - zeros - notFinite;
    return range;
}

/// Returns a run without steps that the model shows.
inline std::shared_ptr<Run> shownIn(RunModel& model, const RunConfig& config = defaultConfig()) {
    const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config));
    model.setRun(run);
    return run;
}

} // namespace halfscope::test
