// Runs an update again, to find which tensor overflowed first, which loss scale would have fitted,
// and which one would have kept the gradients from rounding to zero. Leaves the wording to
// overflow.h and underflow.h, and the search for a scale to fitting_scale.h.
#pragma once

#include "engine/step/step_parts.h"
#include "engine/train/fitting_scale.h"
#include "engine/train/lane_step.h"
#include "engine/train/metrics_row.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace halfscope {

/// The lane must be in the state in which the step left it, and is in that state again afterwards,
/// batches included. A skip leaves parameters and moments unchanged, and accumulated gradients at
/// zero. An optimizer that sat the update out sits out its repetitions, too.
class RepeatedUpdate {
public:
    /// An update that was skipped, by one of two optimizers or by all.
    struct Skip {
        float scale = 0;          ///< at which it overflowed
        uint32_t flags = 0;       ///< of its last step
        bool firstSatOut = false; ///< the first optimizer neither skipped it nor stepped
    };

    /// Returns the step for the batch with this number, after it has moved the lane's states there
    /// and loaded the batch.
    using Use = std::function<const LaneStep&(int64_t step)>;

    /// `step` is the last step of the update, which has `batches` of them.
    RepeatedUpdate(Use, int64_t step, int64_t batches, std::vector<OptimizerPart>);

    /// Searches the batch of a skipped step, then the earlier ones. Returns nothing when it was
    /// stopped midway, and an unknown culprit as OverflowFinder::find() does.
    std::optional<Culprit> culprit(float scale, const TurnOf&) const;
    /// Returns the scale at which a skipped update fits; each trial runs the whole update. Where
    /// one of two optimizers has stepped, the trials have its new weights, and what the other one
    /// finds in them counts alone. Returns nothing when a trial was stopped midway, and an unknown
    /// scale for more than 16 batches, and where none fits those new weights.
    std::optional<FittingScale> fitting(const Skip&, const FittingScale& guess) const;
    /// Returns the largest power of two up to 2^24 at which the update fits if at least one of its
    /// gradients is not zero there, otherwise 0. The weights are those after the update. Returns
    /// nothing when a trial was stopped midway.
    std::optional<float> scaleWithGradients() const;

private:
    /// Whether a trial with this row overflowed.
    using Overflows = std::function<bool(const MetricsRow&)>;
    std::optional<FittingScale> search(float scale, const FittingScale& guess,
                                       const Overflows& overflows) const;
    std::optional<MetricsRow> rowAt(const StateValues& before, float scale) const;

    StateValues before(const LaneStep&, const StateValues& after) const;

    Use m_use;
    int64_t m_step, m_batches;
    std::vector<OptimizerPart> m_optimizers;
};

} // namespace halfscope
