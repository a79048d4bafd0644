// Reads flags from the numbers of a step.
#include "engine/train/metrics_row.h"

#include <cmath>
#include <span>

namespace halfscope {

namespace {

/// Returns the flags of the optimizers that stepped although the step was skipped.
uint32_t steppedFlags(double foundInf, int64_t optimizers) {
    if (optimizers < 2 || foundInf == 0) return 0;
    if (foundInf == 1) return kSecondStepped;
    return foundInf == 2 ? uint32_t{kFirstStepped} : 0;
}

uint32_t overflowFlags(double foundInf, int64_t optimizers, OverflowAction action) {
    if (foundInf == 0) return 0;
    if (action == OverflowAction::Step) return kSteppedOnOverflow;
    return kSkipped | steppedFlags(foundInf, optimizers);
}

} // namespace

MetricsRow readMetrics(Executor& executor, const Graph& step) {
    const NodeId metrics = step.output("metrics");
    MetricsRow row{};
    executor.download(metrics, std::as_writable_bytes(std::span(row)).first(step[metrics].bytes()));
    return row;
}

StepRecord recordOf(const MetricsRow& row, const ModelConfig& model, OverflowAction action) {
    StepRecord record;
    record.loss = static_cast<float>(row[kLossMetric]);
    if (isAdversarial(model)) record.generatorLoss = static_cast<float>(row[kGeneratorLossMetric]);
    record.scale = static_cast<float>(row[kScaleMetric]);
    record.growthTracker = static_cast<int32_t>(row[metricOf(kTrackerSlot)]);
    record.learningRate = static_cast<float>(row[kLearningRateMetric]);
    record.gradientNorm = static_cast<float>(row[kGradientNormMetric]);
    record.flags |= overflowFlags(row[kFoundInfMetric], networksOf(model), action);
    if (row[kNextScaleMetric] > row[kScaleMetric]) record.flags |= kGrew;
    if (row[kNextScaleMetric] < row[kScaleMetric]) record.flags |= kBackedOff;
    if (!std::isfinite(record.loss)) record.flags |= kLossNotFinite;
    const bool stops = row[metricOf(kStopSlot)] != 0;
    if (stops && (record.flags & kSkipped)) record.flags |= kAtFloor;
    return record;
}

} // namespace halfscope
