// How the samples of a data set become steps: epochs, whole batches and a last batch that may be
// smaller.
#pragma once

#include <cstdint>

namespace halfscope {

/// What happens to the samples at the end of an epoch that do not fill a whole batch.
enum class LastBatch : uint8_t {
    Keep, ///< a smaller batch, as in PyTorch's loader
    Drop, ///< they are left out; each epoch shuffles again, so they differ each time
};
const char* nameOf(LastBatch); ///< "keep", "drop"

/// The steps of epochs. Steps and epochs count from 1; batches of an epoch and samples count from
/// 0.
struct EpochPlan {
    int64_t samples = 1; ///< in the train split
    int64_t batch = 1;   ///< samples in a step, at most all of them
    LastBatch last = LastBatch::Keep;

    int64_t stepsPerEpoch() const;
    /// Whether a step sees only a part of the samples; otherwise every step is a whole epoch.
    bool hasBatches() const { return stepsPerEpoch() > 1; }
    int64_t epochOf(int64_t step) const { return (step - 1) / stepsPerEpoch() + 1; }
    int64_t batchOf(int64_t step) const { return (step - 1) % stepsPerEpoch(); }
    /// Returns the first of the step's samples in the epoch's order.
    int64_t firstOf(int64_t step) const { return batchOf(step) * batch; }
    int64_t rowsOf(int64_t step) const;
    /// Returns the number of samples in the last batch of an epoch.
    int64_t lastRows() const { return rowsOf(stepsPerEpoch()); }
};

} // namespace halfscope
