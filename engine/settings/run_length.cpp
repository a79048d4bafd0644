// Lengths that follow from several settings.
#include "engine/settings/run_length.h"

#include "engine/core/error.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"

#include <algorithm>
#include <utility>

namespace halfscope {

EpochPlan epochPlanOf(const RunConfig& config) {
    const int64_t wanted = std::max<int64_t>(1, config.task.batch); // settings may be wrong
    const std::optional<DataFacts> facts = knownFactsOf(config);
    if (!facts) return {wanted, wanted, config.data.lastBatch};
    const bool whole = infoOf(config.task.kind).wholeSet;
    const int64_t samples = std::max<int64_t>(1, facts->train);
    return {samples, whole ? samples : std::min(samples, wanted), config.data.lastBatch};
}

void fitToJudge(RunConfig& config) {
    config.onlyJudges = true;
    config.data.lastBatch = LastBatch::Drop; // no network for a part of a batch
}

std::optional<DataFacts> knownFactsOf(const RunConfig& config) {
    try {
        return factsOf(taskOf(config));
    } catch (const InputError&) {
        return std::nullopt;
    }
}

bool hasSamplesToValidateOn(const RunConfig& config) {
    if (!canValidate(config.task)) return false;
    const std::optional<DataFacts> facts = knownFactsOf(config);
    return !facts || facts->validation > 0;
}

int64_t stepsOf(const RunConfig& config) {
    if (config.epochs == 0) return config.steps;
    return config.epochs * epochPlanOf(config).stepsPerEpoch();
}

int64_t nextValidation(const ValidationConfig& when, const EpochPlan& plan, int64_t step) {
    const auto nextOf = [step](int64_t every) { return (step / every + 1) * every; };
    const int64_t epoch = std::max<int64_t>(1, plan.stepsPerEpoch());
    const int64_t byEpochs = when.epochs > 0 ? nextOf(when.epochs * epoch) : 0;
    const int64_t bySteps = when.steps > 0 ? nextOf(when.steps) : 0;
    return byEpochs > 0 && bySteps > 0 ? std::min(byEpochs, bySteps) : byEpochs + bySteps;
}

ScheduleConfig scheduleOf(const RunConfig& config) {
    constexpr int64_t kLeast = 2; // one update has no end that differs from its start
    ScheduleConfig schedule = config.schedule;
    if (schedule.totalSteps == 0) {
        const int64_t least = warmsUp(schedule) ? schedule.warmupSteps + 1 : kLeast;
        schedule.totalSteps =
            std::max({kLeast, least, stepsOf(config) / config.gradients.accumulate});
    }
    return schedule;
}

bool movesEnd(const LiveEdit& edit) {
    const Field* const field = findField(edit.key);
    return field && (field->apply == FieldApply::Length || field->apply == FieldApply::Patience);
}

RunConfig withMovedEnd(RunConfig recorded) {
    RunConfig config = std::move(recorded);
    if (std::ranges::none_of(config.edits, movesEnd)) return config;
    if (config.schedule.kind != ScheduleKind::Constant) config.schedule = scheduleOf(config);
    for (const LiveEdit& edit : config.edits)
        if (movesEnd(edit)) setField(config, edit.lane, edit.key, edit.value);
    std::erase_if(config.edits, movesEnd);
    return config;
}

} // namespace halfscope
