// Tells dates among the words of a table.
#pragma once

#include <string_view>

namespace halfscope {

/// Whether the text is a date, with or without a time behind it: "2024-03-05", "2024/3/5",
/// "05.03.2024", "3/5/24", "2024-03-05T17:30:00Z", "3/5/2024 5:30 PM".
bool isDate(std::string_view text);

} // namespace halfscope
