// Lengths that follow from several settings.
#include "engine/settings/run_length.h"

#include "engine/data/dataset.h"

#include <algorithm>

namespace halfscope {

EpochPlan epochPlanOf(const RunConfig& config) {
    const DataSetInfo& info = infoOf(config.task.kind);
    const int64_t samples = info.samples(config.task);
    const int64_t batch = info.wholeSet ? samples : config.task.batch;
    return {samples, std::max<int64_t>(1, batch), config.data.lastBatch}; // settings may be wrong
}

int64_t stepsOf(const RunConfig& config) {
    if (config.epochs == 0) return config.steps;
    return config.epochs * epochPlanOf(config).stepsPerEpoch();
}

ScheduleConfig scheduleOf(const RunConfig& config) {
    constexpr int64_t kLeast = 2; // with one there is no end that differs from the start
    ScheduleConfig schedule = config.schedule;
    if (schedule.totalSteps == 0)
        schedule.totalSteps = std::max(kLeast, stepsOf(config) / config.gradients.accumulate);
    return schedule;
}

} // namespace halfscope
