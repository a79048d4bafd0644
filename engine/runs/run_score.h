// How well a run did, as one number of each kind, so that a list can put the best of many runs
// first.
#pragma once

#include "engine/runs/run.h"
#include "engine/runs/run_figures.h"

#include <limits>
#include <optional>
#include <span>

namespace halfscope {

/// The last loss is shown with the median of so many steps, which a single spike does not change.
inline constexpr int kTrailingSteps = 25;
double trailingLoss(const RunSnapshot&, int lane);

/// Of several lanes, the values of the one that did best. A lane that has diverged, if only after
/// its last validation (see areFinite()), has no accuracy, and its validation loss counts as nan.
struct RunScore {
    std::optional<double> accuracy;       ///< the highest of the lanes' last validations
    std::optional<double> validationLoss; ///< the lowest of them
    /// The lowest of the lanes' trailingLoss(); nan when there is none.
    double loss = std::numeric_limits<double>::quiet_NaN();
};

RunScore scoreOf(std::span<const LaneFigures>);
RunScore scoreOf(const RunSnapshot&);

/// Whether the last validation of a run is better than that of another: by accuracy where there is
/// one, else by loss, as in LaneTotals::best(). Accuracies come before losses, which cannot be
/// compared with them, and runs without a validation come last, after those whose loss was lost.
bool validatesBetter(const RunScore&, const RunScore& other);
/// Whether the loss is lower; inf comes after all others, and nan after that.
bool losesLess(const RunScore&, const RunScore& other);

} // namespace halfscope
