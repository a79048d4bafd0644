// Looks through a table to find out what its columns hold.
#pragma once

#include "engine/data/csv_columns.h"

#include <vector>

namespace halfscope {

/// Returns what the columns of inputs and of the target hold, in all lines of task.path that are
/// not dropped; nothing of the others. The last answer is kept while the file stays as it is:
/// facts, columns to drop and samples ask for the same. Cancellable. Throws InputError as CsvFile
/// does.
std::vector<SeenFields> lookThrough(const TaskConfig&, const CsvLayout&);

} // namespace halfscope
