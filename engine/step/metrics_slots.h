// The layout of a step's output "metrics": the numbers that one step reports to the host.
#pragma once

#include "engine/scaler/scaler_rule.h"

#include <cstddef>

namespace halfscope {

enum MetricsSlot : int {
    kLossMetric,
    kScaleMetric,    ///< the scale that the step used
    kFoundInfMetric, ///< 1 when the first optimizer skipped, 2 the second, 3 both
    kLearningRateMetric,
    kGradientNormMetric,
    kNextScaleMetric, ///< first of the scaler's state after the step, by ScalerSlot
    /// The loss of a network that learns from a critic. Only then does the row have this slot.
    kGeneratorLossMetric = kNextScaleMetric + kScalerSlots,
    kMetricsSlots
};
constexpr size_t metricOf(ScalerSlot slot) {
    return static_cast<size_t>(kNextScaleMetric) + static_cast<size_t>(slot);
}

} // namespace halfscope
