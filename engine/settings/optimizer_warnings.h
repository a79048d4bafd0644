// Tells of optimizers that were chosen without the settings that they need: the usual ones are
// those of Adam. Leaves settings that have no effect to idle_settings.h.
#pragma once

#include "engine/core/message.h"
#include "engine/settings/run_config.h"

#include <vector>

namespace halfscope {

/// Returns a sentence for each Adagrad or Adadelta that has Adam's learning rate or epsilon where
/// PyTorch's is larger, and one where Adadelta's epsilon is zero in the type of a lane's weights.
std::vector<Message> optimizerWarnings(const RunConfig&);

} // namespace halfscope
