// The shares in a table of classes as text: a picture of 8 bits tells 17 of 18 as 95 %.
#pragma once

#include "engine/io/picture.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Returns the share of each cell, see classTable(), a line for each row of the table: "0.9444444
/// 0.055555582". Empty when the 8 bits of a file tell the same, and for what is no such table.
std::string sharesText(const Picture& table);

/// Returns the shares of so many cells from their text; nothing unless there is a number from 0 to
/// 1 for each of them.
std::optional<std::vector<float>> sharesOf(std::string_view text, size_t cells);

/// Gives a table that was read from a file the values that it had before. Returns false, and leaves
/// the table alone, when the text is damaged or is that of another table: the shares must be what
/// the cells tell in 8 bits.
bool takeShares(Picture& table, std::string_view text);

} // namespace halfscope
