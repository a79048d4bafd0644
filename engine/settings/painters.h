// The examples whose networks paint: a picture from its coordinates, as published networks do, and
// digits from random numbers.
#pragma once

#include "engine/settings/fields.h"

namespace halfscope {

/// The group of the presets that show what can be trained.
inline constexpr Phrase kExamples = phrase("Presets", "Examples");

/// Returns a preset with the usual settings and these lanes, such as "fp32,amp-fp16".
Preset preset(const char* name, Phrase group, Phrase title, Phrase about, std::string_view lanes);

Preset siren();
Preset fourier();
Preset gan();
Preset wganGp();

} // namespace halfscope
