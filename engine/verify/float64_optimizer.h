// PyTorch's optimizers in plain double, one element after the other, with every result rounded as
// the caller says. Shares nothing with the graphs under test. Sources: the documentation of
// torch.optim.SGD, Adam, AdamW and RMSprop.
#pragma once

#include "engine/settings/run_config.h"
#include "engine/verify/conditioning.h"

#include <span>

namespace halfscope::recorded {

/// Rounds a result: returns it unchanged, or one of its neighbours in float32.
using Rounding = std::function<double(double)>;

/// Returns the parameters after each step. `gradients` is [step][element]; momentum does not cycle.
Trace optimizerTrace(const OptimizerConfig&, const std::vector<double>& start,
                     std::span<const std::vector<double>> gradients, const Rounding&);

} // namespace halfscope::recorded
