// The parts of a program for PyTorch in which the learning rate follows the validation.
#pragma once

#include "engine/settings/run_config.h"

#include <string>

namespace halfscope {

/// Returns the function mean_loss(lane, model, x, target). `predict` is the function that it calls
/// with model and x, `moved` is x on the device, `with` the line that begins autocast.
std::string pythonMeanLoss(const std::string& predict, const std::string& moved,
                           const std::string& with);
/// Returns the line before train()'s steps that counts those of an epoch; empty where the
/// validations are not counted by it.
std::string pythonEpoch(const RunConfig&);
/// Returns the lines that begin a step of train(): after those that are validated, the scheduler
/// takes the loss. The end of a run alone is no such step.
std::string pythonFollow(const RunConfig&);

} // namespace halfscope
