// Sentences about steps that were skipped, or taken although they lost the loss: which lanes did
// so, and why. Each begins with a space.
#pragma once

#include "ui/models/run_model.h"

#include <QString>

namespace halfscope {

/// How much is said of the reason: all of it, what a few words can say, or nothing.
enum class ReasonLength { Whole, Brief, None };

/// Tells of lanes that skipped more steps than they should.
QString skippedStepsText(const RunModel&, ReasonLength);
/// Tells of steps that were taken although they lost the loss: where none was skipped, nothing else
/// tells of them.
QString takenStepsText(const RunModel&);
/// Returns the letter of the lane that diverged with this one, see divergedBeside(); empty where
/// there is none.
Message divergedLane(const RunSnapshot&, int lane);

} // namespace halfscope
