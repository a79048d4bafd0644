// What a map over seeds tells of chance: the mean and the spread of each row.
#pragma once

#include "engine/train/setting_grid.h"

#include <string>

namespace halfscope::cli {

/// Returns a table with a row for each value of the setting beside the seed, or a single row
/// without one: the mean over the seeds and the standard deviation of what finished trainings came
/// to. Empty where the map has no seeds.
std::string seedsTable(const SettingGrid&, const GridCells&);

} // namespace halfscope::cli
