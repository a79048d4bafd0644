// A preset by the name that was typed, for both programs: a name that is like one is corrected, for
// any other the presets are listed.
#pragma once

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/train/fields.h"

#include <string>
#include <string_view>

namespace halfscope {

inline const Preset& choosePreset(std::string_view name) {
    std::string list;
    bool near = false;
    for (const Preset& preset : presets()) {
        near = near || editDistance(name, preset.name) <= 1 + name.size() / 4;
        list += (list.empty() ? "" : ", ") + preset.name;
    }
    if (!near) throw InputError(quotedText(name) + " is not a preset; there are: " + list);
    return presetNamed(name); // whose message names the nearest one
}

} // namespace halfscope
