// What a list tells of a run: its lanes, its length, how it ended and how well it did. A saved run
// that is whole has these figures in its summary, so that a list of thousands need not read tables.
#pragma once

#include "engine/runs/run.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halfscope {

struct LaneFigures {
    std::string name;
    std::optional<double> loss;     ///< see trailingLoss(); nothing, like the last one, when the
    std::optional<double> lastLoss; ///< run has no losses
    std::optional<double> validationLoss, accuracy; ///< of the last validation
};

struct RunFigures {
    int64_t steps = 0;
    std::vector<LaneFigures> lanes;
    std::optional<RunOutcome> outcome; ///< nothing when it is not known
    bool ended = true;                 ///< false: the run still trains, was killed, or failed
};

RunFigures figuresOf(const RunSnapshot&);

/// Returns the figures of a saved run from its settings and its summary alone: the same that
/// figuresOf() tells of the run that readRun() reads there. Returns nothing when only the whole run
/// can tell them: it is not whole, a file is gone or was changed after the run had ended, or the
/// summary lacks a figure, as those of earlier versions do. Never throws InputError.
std::optional<RunFigures> figuresIn(const std::string& folder);

} // namespace halfscope
