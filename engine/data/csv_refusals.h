// Refuses fields and columns of a csv table, and says what helps.
#pragma once

#include "engine/core/error.h"
#include "engine/data/csv_columns.h"

#include <optional>
#include <string>
#include <vector>

namespace halfscope {

/// Returns the error for a field of the current line that is an unread number, see
/// isUnreadNumber(). `name` is that of the column.
InputError unreadNumber(const CsvFile&, size_t column, const std::string& name);

/// Throws InputError: the columns of inputs called `many` have too many different words. `drop` is
/// data.drop with them, if the setting can name them. Where no other input is left, none is
/// advised, and numbers that are not read are told first, those of the columns called `formatted`.
[[noreturn]] void refuseManyWords(const TaskConfig&, const CsvLayout&,
                                  const std::vector<std::string>& many,
                                  const std::vector<std::string>& formatted,
                                  const std::optional<std::string>& drop);

} // namespace halfscope
