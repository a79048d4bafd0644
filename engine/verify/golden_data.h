// The golden files as bytes inside the program: engine/CMakeLists.txt embeds those of tests/golden,
// so that an installed program needs no folder beside it.
#pragma once

#include <string_view>

namespace halfscope::recorded {

/// Returns the content of a file by its name, such as "op_values.json"; throws std::logic_error for
/// any other name.
std::string_view goldenData(std::string_view file);

} // namespace halfscope::recorded
