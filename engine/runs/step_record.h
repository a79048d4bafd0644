// One step of one lane as a struct of fields. rowOf() turns it into a StepRow, by metric.
#pragma once

#include "engine/runs/events.h"
#include "engine/runs/step_row.h"
#include "engine/runs/validation.h"

#include <optional>

namespace halfscope {

/// What a step did to the weights; all values are measured where the step is watched.
struct WeightChange {
    double unchanged = 0; ///< the share of the weights whose stored bits the step left as they were
    /// The same of the copies in 16 or 8 bits with which layers compute, where weights are stored
    /// in f32.
    std::optional<double> unchangedCopies{};
};

struct StepRecord {
    int64_t step = 0; ///< 1 for the first
    int32_t lane = 0;
    uint32_t flags = 0;
    float loss = 0; ///< unscaled
    /// Of a network that learns from a critic, whose loss is `loss`; nothing without one.
    std::optional<float> generatorLoss{};
    float scale = 1;           ///< the loss scale that this step used
    int32_t growthTracker = 0; ///< after the step
    float learningRate = 0;
    float gradientNorm = 0;   ///< L2 of all unscaled gradients; not finite on an overflow
    int32_t epoch = 0;        ///< 1 for the first; 0 where every step sees all samples
    int32_t batch = 0;        ///< of the epoch, 1 for the first; 0 likewise
    double deviceSeconds = 0; ///< time of this lane's step on its device
    double wallSeconds = 0;   ///< since the experiment started, pauses left out
    int64_t skippedSoFar = 0;
    std::optional<Validation> validation{};     ///< where the lane was validated after the step
    std::optional<Validation> test{};           ///< where it was tested, on samples that neither
                                                ///< the training nor a validation saw
    std::optional<double> trainingAccuracy{};   ///< of the epoch so far, where it is measured
    std::optional<WeightChange> weightChange{}; ///< where it is watched; not of a skipped step
    std::optional<double> weightDistance{};     ///< from the first lane, likewise watched
    std::optional<double> gradientError{};      ///< where it is measured, see GradientError; not of
                                                ///< a skipped step
};

inline StepRow rowOf(const StepRecord& record) {
    StepRow row(record.step, record.lane);
    row.set(metric::Loss, record.loss)
        .set(metric::Scale, record.scale)
        .set(metric::GrowthTracker, int64_t{record.growthTracker})
        .set(metric::LearningRate, record.learningRate)
        .set(metric::GradientNorm, record.gradientNorm)
        .setFlags(record.flags)
        .set(metric::SkippedSoFar, record.skippedSoFar)
        .set(metric::DeviceSeconds, record.deviceSeconds)
        .set(metric::WallSeconds, record.wallSeconds);
    if (record.epoch > 0)
        row.set(metric::Epoch, int64_t{record.epoch}).set(metric::Batch, int64_t{record.batch});
    const auto set = [&row](MetricId id, const std::optional<double>& value) {
        if (value) row.set(id, *value);
    };
    if (const auto& validation = record.validation) {
        row.set(metric::ValidationLoss, validation->loss);
        set(metric::Accuracy, validation->accuracy);
        set(metric::Perplexity, validation->perplexity);
        set(metric::ValidationError, validation->error);
    }
    if (const auto& test = record.test) {
        row.set(metric::TestLoss, test->loss);
        set(metric::TestAccuracy, test->accuracy);
        set(metric::TestPerplexity, test->perplexity);
        set(metric::TestError, test->error);
    }
    if (record.weightChange) {
        row.set(metric::UnchangedWeights, record.weightChange->unchanged);
        set(metric::UnchangedCopies, record.weightChange->unchangedCopies);
    }
    set(metric::GeneratorLoss, record.generatorLoss);
    set(metric::WeightDistance, record.weightDistance);
    set(metric::GradientError, record.gradientError);
    set(metric::TrainingAccuracy, record.trainingAccuracy);
    return row;
}

} // namespace halfscope
