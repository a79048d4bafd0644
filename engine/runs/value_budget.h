// How much memory the values of runs may take, and which are dropped first. They are then read from
// where a session has stored them.
#pragma once

#include "engine/runs/run.h"

#include <cstddef>
#include <span>
#include <vector>

namespace halfscope {

/// Returns a quarter of the memory that this program may use, but at most 4 GiB.
size_t usualBudget();

/// Drops values until they fit, the oldest of each run first. Returns the bytes that all of them
/// take then; adds to `unwritten` the spans that must be stored before they can be dropped.
size_t dropValues(std::span<const RunSnapshot>, size_t budget,
                  std::vector<ColumnSpanPtr>& unwritten);

} // namespace halfscope
