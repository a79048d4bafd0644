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

enum class JudgedBy : uint8_t {
    Accuracy, ///< more is better
    Loss,     ///< less is better
};

/// Puts a value in the place of the best so far if it is better, which one that is not finite never
/// is. Returns whether it did.
bool takeBetter(std::optional<BestValue>& best, JudgedBy, const BestValue&);
/// Does so with a whole validation: lanes are judged by accuracy where there is one, else by loss.
/// Predictions of nan are never better, though an accuracy can be told of them.
bool takeBetter(std::optional<BestValue>& best, const Validation&, int64_t step);

} // namespace halfscope
