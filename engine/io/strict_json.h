// JSON as the program's files want it: an error says line and column, a key that stands twice, a
// nesting that is too deep or too many keys are refused. Leaves what the keys mean to the readers.
#pragma once

#include "engine/core/message.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace halfscope {

using Json = nlohmann::ordered_json;

/// InputError in one line: "line 3, column 5: not valid JSON: ...".
Json parseStrictJson(std::string_view text);

/// A value inside a message: quoted text, "an object", "a list", or the number.
Message shown(const Json& value);

} // namespace halfscope
