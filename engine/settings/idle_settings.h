// Finds settings that somebody gave although they do nothing beside the others.
#pragma once

#include "engine/settings/fields.h"

#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Returns the keys that were given and have no effect in this run: "data.gap",
/// "lanes.1.scaler.init_scale". A key is named once, and one of all lanes stands for those of
/// single ones.
std::vector<std::string> idleSettings(const RunConfig&, std::span<const Assignment> given);
/// Does the same for settings from a file, which has all keys: looks at those whose values differ
/// from what they are by default. Those that model.layers takes the place of are not told: presets
/// and data bring values of their own, and nobody need have given them. Nor are those of a lane
/// that have an effect in another one, with the same value.
std::vector<std::string> idleSettings(const RunConfig&);
/// Returns those that were given beside a file, and then those of the file.
std::vector<std::string> idleBesideFile(const RunConfig&, std::span<const Assignment> given);
/// Returns a sentence that says why keys of these, such as "lanes.1.scaler.mode", have no effect:
/// precisions have no loss scaler, and which ones have. Empty where that is not the reason.
Message withoutScaler(const RunConfig&, std::span<const std::string> keys);
/// Returns the settings with the usual values in place of those that have no effect.
RunConfig withoutIdle(const RunConfig&);

} // namespace halfscope
