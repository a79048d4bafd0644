// The one rule.
#include "engine/runs/best_value.h"

#include <cmath>

namespace halfscope {

bool areFinite(std::optional<double> loss, std::optional<double> validationLoss) {
    return std::isfinite(loss.value_or(0)) && std::isfinite(validationLoss.value_or(0));
}

bool outputIsNan(std::optional<double> accuracy, std::optional<double> validationLoss) {
    return accuracy == 0.0 && validationLoss && std::isnan(*validationLoss);
}

double toldAccuracy(double accuracy, std::optional<double> validationLoss) {
    return outputIsNan(accuracy, validationLoss) ? std::nan("") : accuracy;
}

bool isClearlyWorse(JudgedBy by, double value, double than) {
    constexpr double kOfSamples = 0.01, kOfLoss = 0.1;
    if (by == JudgedBy::Accuracy) return !(than - value < kOfSamples);
    return !(value - than <= kOfLoss * std::abs(than));
}

bool takeBetter(std::optional<BestValue>& best, JudgedBy by, const BestValue& value) {
    if (!std::isfinite(value.value)) return false;
    const bool better =
        !best || (by == JudgedBy::Accuracy ? value.value > best->value : value.value < best->value);
    if (better) best = value;
    return better;
}

bool takeBetter(std::optional<BestValue>& best, const Validation& validation, int64_t step) {
    if (!areFinite({}, validation.loss)) return false;
    return validation.accuracy ? takeBetter(best, JudgedBy::Accuracy, {*validation.accuracy, step})
                               : takeBetter(best, JudgedBy::Loss, {validation.loss, step});
}

} // namespace halfscope
