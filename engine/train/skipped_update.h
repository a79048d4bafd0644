// Runs a skipped update again, to find which tensor overflowed first and which loss scale would
// have fitted. Leaves the wording to overflow.h and the search for a scale to fitting_scale.h.
#pragma once

#include "engine/train/fitting_scale.h"
#include "engine/train/lane_step.h"

#include <functional>
#include <optional>

namespace halfscope {

/// The lane must be in the state in which the skipped step left it, and is in that state again
/// afterwards, batches included. A skip leaves parameters and moments unchanged, and accumulated
/// gradients at zero.
class SkippedUpdate {
public:
    /// Returns the step for the batch with this number, after it has moved the lane's states there
    /// and loaded the batch.
    using Use = std::function<const LaneStep&(int64_t step)>;

    /// `step` is the last step; `batches` is how many batches' gradients it added up.
    SkippedUpdate(Use, int64_t step, int64_t batches);

    /// Searches the step's own batch, then the earlier ones. Returns nothing when it was stopped
    /// midway, and an unknown culprit when the device rounds differently while it shows values.
    std::optional<Culprit> culprit(float scale) const;
    /// Returns the scale that fits; each trial runs the whole update. Returns nothing when a trial
    /// was stopped midway, and an unknown scale for more than 16 batches.
    std::optional<FittingScale> fitting(float scale, const FittingScale& guess) const;

private:
    std::optional<bool> overflows(const StateValues& before, float scale) const;

    Use m_use;
    int64_t m_step, m_batches;
};

} // namespace halfscope
