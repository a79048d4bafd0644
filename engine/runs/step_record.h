// One step of one lane as a struct of fields; StepRow, by metric, takes its place.
#pragma once

#include "engine/runs/events.h"
#include "engine/runs/step_row.h"

namespace halfscope {

struct StepRecord {
    int64_t step = 0; ///< 1 for the first
    int32_t lane = 0;
    uint32_t flags = 0;
    float loss = 0;            ///< unscaled
    float scale = 1;           ///< the loss scale that this step used
    int32_t growthTracker = 0; ///< after the step
    float learningRate = 0;
    float gradientNorm = 0;   ///< L2 of all unscaled gradients; not finite on an overflow
    double deviceSeconds = 0; ///< time of this lane's step on its device
    double wallSeconds = 0;   ///< since the experiment started, pauses left out
    int64_t skippedSoFar = 0;
};

inline StepRow rowOf(const StepRecord& record) {
    return StepRow(record.step, record.lane)
        .set(metric::Loss, record.loss)
        .set(metric::Scale, record.scale)
        .set(metric::GrowthTracker, int64_t{record.growthTracker})
        .set(metric::LearningRate, record.learningRate)
        .set(metric::GradientNorm, record.gradientNorm)
        .setFlags(record.flags)
        .set(metric::SkippedSoFar, record.skippedSoFar)
        .set(metric::DeviceSeconds, record.deviceSeconds)
        .set(metric::WallSeconds, record.wallSeconds);
}

} // namespace halfscope
