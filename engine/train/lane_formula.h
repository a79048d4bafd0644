// What a lane of a curve has learnt, in words: the coefficients of the terms.
#pragma once

#include "engine/data/task.h"
#include "engine/settings/run_config.h"
#include "engine/train/initial_weights.h"

#include <string>

namespace halfscope {

/// Returns whether the network is one Linear layer on the terms of a curve, so that its weights are
/// their coefficients.
bool hasFormula(const RunConfig&, const Task&);

/// Returns the curve that the weights of such a network are, see formulaOf() of the view.
std::string laneFormula(const TaskView&, const Weights&);

} // namespace halfscope
