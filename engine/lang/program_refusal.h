// Says of a program which part of it is a model by itself.
#pragma once

#include "engine/lang/syntax.h"

#include <string_view>

namespace halfscope::lang {

/// Throws InputError at this place, for a text of which not all can be read as one model.
[[noreturn]] void refuseProgram(std::string_view text, Place);

} // namespace halfscope::lang
