// The network of a preset on other data than the preset's own.
#pragma once

#include "engine/settings/run_config.h"

namespace halfscope {

/// Where an experiment has the network of its preset but other data, gives that network as many
/// outputs as these data have classes, colours or targets, and to one of indices its Embedding and
/// positions, too. Returns whether it changed anything: nothing where the data cannot be read, of
/// which others tell.
bool fitNetworkToData(RunConfig&, const RunConfig& preset);

} // namespace halfscope
