// What counts as the best validation of a lane, for everything that tells it, keeps its weights or
// waits for it.
#pragma once

#include "engine/runs/validation.h"

#include <cstdint>
#include <optional>

namespace halfscope {

/// A value of a validation, and the step after which it was measured; the first one of equals.
struct BestValue {
    double value = 0;
    int64_t step = 0;
    bool operator==(const BestValue&) const = default;
};

/// Whether neither loss of a lane, where known, is inf or nan. Where one is, the lane has diverged,
/// and its accuracy means nothing: it may count the class that outputs of nan stand for.
bool areFinite(std::optional<double> loss, std::optional<double> validationLoss);

/// Whether a validation found no class because the output of the network is nan: an accuracy of 0
/// then says nothing.
bool outputIsNan(std::optional<double> accuracy, std::optional<double> validationLoss);

/// Returns what is told of an accuracy: nan in such a case, else the accuracy.
double toldAccuracy(double accuracy, std::optional<double> validationLoss);

enum class JudgedBy : uint8_t {
    Accuracy, ///< more is better
    Loss,     ///< less is better
};

/// Whether a value is so much worse than another one that this is hardly chance: an accuracy by a
/// hundredth of the samples, a loss by a tenth of its size. One that is nan is.
bool isClearlyWorse(JudgedBy, double value, double than);

/// Puts a value in the place of the best so far if it is better, which one that is not finite never
/// is. Returns whether it did.
bool takeBetter(std::optional<BestValue>& best, JudgedBy, const BestValue&);
/// Does so with a whole validation: lanes are judged by accuracy where there is one, else by loss.
/// One whose loss is inf or nan is never better, though an accuracy can be told of it.
bool takeBetter(std::optional<BestValue>& best, const Validation&, int64_t step);

} // namespace halfscope
