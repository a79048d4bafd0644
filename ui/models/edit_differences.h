// What was edited in the middle of runs, where it tells them apart: runs with the same settings at
// their ends may have had other ones before.
#pragma once

#include "engine/runs/run.h"

#include <QString>
#include <QStringList>

#include <span>
#include <vector>

namespace halfscope {

/// Returns, by run, "B: Growth interval set to 100 at step 50" for each edit that changed how the
/// run trained, unless all runs have it.
std::vector<QStringList> editDifferences(std::span<const RunInfo* const>);

} // namespace halfscope
