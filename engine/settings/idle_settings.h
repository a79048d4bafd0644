// Finds settings that somebody gave although they do nothing beside the others.
#pragma once

#include "engine/settings/fields.h"

#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Returns the keys that were given and have no effect in this run: "data.gap",
/// "lanes.1.scaler.init_scale".
std::vector<std::string> idleSettings(const RunConfig&, std::span<const Assignment> given);
/// Does the same for settings from a file, which has all keys: looks at those whose values differ
/// from what they are by default.
std::vector<std::string> idleSettings(const RunConfig&);
/// Returns the settings with the usual values in place of those that have no effect.
RunConfig withoutIdle(const RunConfig&);

} // namespace halfscope
