// Writes the settings' loss as a function in Python.
#pragma once

#include "engine/data/batch.h"
#include "engine/settings/run_config.h"

#include <string>

namespace halfscope {

/// Whether the weights of classes are counted among the samples to train on.
bool balancesClasses(const LossSpec&);
/// Returns loss_of(prediction, target), and what it needs, or losses_of(real, made) of a critic's
/// scores. A prediction is brought to float32 first where lanes have `casts` of the whole network.
std::string pythonLoss(const RunConfig&, const BatchShape&, bool casts);
/// Returns the lines with which train(), whose data are `data`, balances the classes; empty unless
/// the settings ask for that.
std::string pythonBalancing(const RunConfig&);

} // namespace halfscope
