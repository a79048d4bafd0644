// A skipped update, run again: which tensor overflowed first, and which loss scale would have
// fitted. Leaves the words to overflow.h and the search among scales to fitting_scale.h.
#pragma once

#include "engine/train/fitting_scale.h"
#include "engine/train/lane_step.h"

#include <functional>
#include <optional>

namespace halfscope {

/// The lane must be where the skipped step left it, and is there again afterwards: batches, states
/// and all. A skip leaves parameters and moments alone, and accumulated gradients at zero.
class SkippedUpdate {
public:
    /// Moves the lane's states to the step for the batch of that number, and that batch with them.
    using Use = std::function<const LaneStep&(int64_t step)>;

    /// `step`: the last one. `batches`: whose gradients it added up.
    SkippedUpdate(Use, int64_t step, int64_t batches);

    /// Looks into the step's own batch, then into the earlier ones. Nothing when it was stopped
    /// midway; not known where the device rounds otherwise while it shows values.
    std::optional<Culprit> culprit(float scale) const;
    /// Each trial is the whole update. Nothing when one was stopped midway; not known of more than
    /// 16 batches.
    std::optional<FittingScale> fitting(float scale, const FittingScale& guess) const;

private:
    std::optional<bool> overflows(const StateValues& before, float scale) const;

    Use m_use;
    int64_t m_step, m_batches;
};

} // namespace halfscope
