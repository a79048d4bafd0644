// What a run prints of its gradients.
#pragma once

#include "engine/train/experiment.h"

#include <span>
#include <string>

namespace halfscope::cli {

/// Returns two tables: in which dtype each lane's gradients were last, and which shares of them are
/// lost in it; then the same layer by layer. Empty when nothing was counted.
std::string gradientTables(const Experiment&, std::span<const GradientRange>);

} // namespace halfscope::cli
