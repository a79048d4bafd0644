// Errors of files that hold settings.
#pragma once

#include "engine/core/message.h"

namespace halfscope {

/// The form of an error in a file of settings: the file, and what is wrong in it, by the keys that
/// stand there.
inline constexpr Phrase kInSettingsFile = phrase("Settings", "%1: %2");

} // namespace halfscope
