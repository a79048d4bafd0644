// Guesses which column of a table is the one to predict.
#pragma once

#include "engine/data/task_spec.h"

#include <string>

namespace halfscope {

/// Returns data.target for a table that nothing else is known of: the only column that the table of
/// data.test_path lacks, which is to be found out there; the only column with a name such
/// as "label" or, where the last column has one value in the first lines and the first has a few,
/// the first. In a table without names, it is also the first one, or the second behind an index,
/// where that has classes and the last has none. Empty for the last one. Throws InputError as
/// CsvFile and csvLayout() do.
std::string likelyTarget(const TaskConfig&);
/// Whether the first lines tell that the targets are numbers and no classes: one is no whole
/// number, or too many are different. False where it takes all lines to tell, and for files that
/// cannot be read.
bool beginsWithNumbers(const TaskConfig&);

} // namespace halfscope
