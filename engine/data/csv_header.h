// Tells whether a table's first line names its columns.
#pragma once

#include "engine/core/message.h"
#include "engine/data/task_spec.h"

#include <span>
#include <string>

namespace halfscope {

/// Tells which names CsvFile::readHeader() made for columns whose own names stood there before.
Message renamedNote(std::span<const std::string> renamed);

/// What users should know of a table without a header.
inline constexpr Phrase kNoHeader =
    phrase("Data", "The first line is taken for a sample, so the columns are called c1, c2 and so "
                   "on. If it names them, set data.header to true.");

/// Whether the first line of the table names the columns. False when it is a sample: a number that
/// is no whole one stands above numbers, all fields are numbers that do not rise from column to
/// column, as years in a header do, or words of it stand in their columns again. Looks at the first
/// lines. Returns true for files that cannot be read as a table.
bool namesColumns(const std::string& path);

} // namespace halfscope
