// Names inf and nan in the samples to validate on and in those of the test: no step sees them, so
// no event tells of them.
#pragma once

#include "engine/data/dataset.h"

#include <atomic>

namespace halfscope {

/// Looks for the first sample to validate on that holds inf or nan, and remembers the answer. Reads
/// samples only where the notes of the data set tell of such values. Remembers nothing, and returns
/// false, when `stop` came in between.
bool findHeldFault(const TaskConfig&, const Dataset&, const std::atomic<bool>& stop);
/// Remembers a sentence about that sample; an empty one where there is none.
void setHeldFault(const TaskConfig&, const Message&);

/// Returns that sentence and what it means, for a run whose validation loss is not finite; empty
/// where this process has found no such sample. Never opens a file.
Message knownHeldFault(const TaskConfig&);

/// Do the same for the samples of the test, which are what `test` validates on; the sentence also
/// names their file, where they have one of their own.
bool findTestFault(const TaskConfig&, const Dataset& test, const std::atomic<bool>& stop);
Message knownTestFault(const TaskConfig&);

} // namespace halfscope
