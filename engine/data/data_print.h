// Tells whether training data are still what they were when a network was trained on them.
#pragma once

#include "engine/data/dataset.h"

#include <string>

namespace halfscope {

/// Returns a checksum of what a prediction takes from the training data: of tables and arrays, of
/// the files' contents, and of others, of their classes and of the means and deviations of
/// pictures. `data` was made from the settings. Empty when nothing is taken from files, or when a
/// file is gone. Of a file beyond 16 MiB, it sees the size and 64 pieces. Can be cancelled.
std::string dataPrint(const TaskConfig&, const Dataset& data);

} // namespace halfscope
