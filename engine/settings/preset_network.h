// A network on other data than those that it was made for, such as that of a preset.
#pragma once

#include "engine/settings/run_config.h"

#include <optional>
#include <string>

namespace halfscope {

/// Where an experiment has the network of its preset but other data, gives that network as many
/// outputs as these data have classes, colours or targets, and to one of indices its Embedding and
/// positions, too. Returns whether it changed anything: nothing where the data cannot be read, of
/// which others tell.
bool fitNetworkToData(RunConfig&, const RunConfig& preset);

/// A network whose last layer was changed.
struct ChangedEnd {
    std::string layers;
    std::string last; ///< the layer: "Linear(64, 5)"
};
/// Returns these layers with as many outputs as the data of the settings need, whether or not the
/// rest fits them; nothing where no last layer tells how many it makes. Reads the data. Throws
/// InputError when they or the layers cannot be read, and when the last layer refuses so many, as a
/// convolution with groups does.
std::optional<ChangedEnd> withOutputsFor(const RunConfig&, const std::string& layers);

} // namespace halfscope
