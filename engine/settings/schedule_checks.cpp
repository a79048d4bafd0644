// Names the setting, its value and what is allowed.
#include "engine/settings/schedule_checks.h"

#include "engine/core/error.h"
#include "engine/data/dataset.h"
#include "engine/settings/field_parts.h"
#include "engine/settings/run_length.h"

namespace halfscope {

namespace {

bool validatesOnlyAtTheEnd(const RunConfig& config) {
    return config.validation.epochs == 0 && config.validation.steps == 0;
}

} // namespace

void checkLengths(const RunConfig& config) {
    constexpr int64_t kMostSteps = 1000000000;
    const int64_t perEpoch = epochPlanOf(config).stepsPerEpoch();
    if (config.epochs > kMostSteps / perEpoch)
        throw InputError(
            phrase("Settings",
                   "run.epochs: %1 is not allowed: at most %2, for an epoch has %3 steps"),
            config.epochs, kMostSteps / perEpoch, perEpoch);
    if (!hasCourse(config.schedule)) return;
    if (config.schedule.totalSteps == 1)
        throw InputError(phrase("Settings", "schedule.total_steps: 1 is not allowed: 0, for as "
                                            "many as the run has, or at least 2"));
    const int64_t length = scheduleOf(config).totalSteps;
    const auto longest = static_cast<int64_t>(kLongestSchedule);
    if (length > longest)
        throw InputError(phrase("Settings", "schedule.total_steps: 0 is not allowed for a run of "
                                            "%1 updates: a schedule has at most %2"),
                         length, longest);
    // A run that is too short for a warm-up ends in it.
    const int64_t own = config.schedule.totalSteps;
    if (own > 0 && warmsUp(config.schedule) && config.schedule.warmupSteps >= own)
        throw InputError(phrase("Settings", "schedule.warmup_steps: %1 is not allowed: at most "
                                            "%2, because schedule.total_steps is %3"),
                         config.schedule.warmupSteps, own - 1, own);
}

void checkFollowing(const RunConfig& config) {
    if (config.schedule.kind != ScheduleKind::Plateau) return;
    if (networksOf(config.model) > 1)
        throw InputError(phrase("Settings", "schedule.kind: plateau is not allowed where two "
                                            "networks are trained"));
    if (config.schedule.gamma == 1)
        throw InputError(phrase("Settings", "schedule.gamma: 1 is not allowed with schedule.kind "
                                            "plateau: a number above 0 and below 1"));
    if (!hasSamplesToValidateOn(config))
        throw InputError(phrase("Settings", "schedule.kind: plateau is not allowed where there are "
                                            "no samples to validate on"));
    if (validatesOnlyAtTheEnd(config))
        throw InputError(phrase("Settings", "schedule.kind: plateau is not allowed where "
                                            "validation.epochs and validation.steps are 0: lanes "
                                            "are then validated at the end alone"));
}

void checkPatience(const RunConfig& config) {
    // where data are never validated on, the setting is one of those without effect
    if (config.patience == 0 || !canValidate(config.task)) return;
    if (!hasSamplesToValidateOn(config))
        throw InputError(phrase("Settings", "run.patience: %1 is not allowed where there are no "
                                            "samples to validate on: only 0 is"),
                         config.patience);
    if (validatesOnlyAtTheEnd(config))
        throw InputError(phrase("Settings", "run.patience: %1 is not allowed where "
                                            "validation.epochs and validation.steps are 0, so that "
                                            "lanes are validated at the end alone: only 0 is"),
                         config.patience);
}

} // namespace halfscope
