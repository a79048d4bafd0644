// Whether a lane in float32 diverged with another one, which clears the other one's precision.
#pragma once

#include "engine/runs/skips.h"

#include <span>

namespace halfscope {

struct RunConfig;
class RunSnapshot;

/// Returns the first lane in float32 whose training diverged where that of `lane` failed; -1 where
/// there is none. `tallies` are those of all lanes. Beside a critic a loss may rise by itself.
int divergedBeside(const RunConfig&, std::span<const SkipTally* const> tallies, int lane);
int divergedBeside(const RunSnapshot&, int lane);

} // namespace halfscope
