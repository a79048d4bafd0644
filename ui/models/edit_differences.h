// What was edited in the middle of runs, where it tells them apart: runs with the same settings at
// their ends may have had other ones before.
#pragma once

#include "engine/runs/run.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halfscope {

struct EditedRun {
    const RunInfo* info;
    int64_t step; ///< the last one that it has trained
};

/// Returns how many of a run's recorded edits have been made: a run that repeats another one has
/// some that are still to come.
size_t editsMade(const EditedRun&);

/// Returns, by run, "B: Growth interval set to 100 at step 50" for each edit made that changed how
/// the run trained, unless all runs have it.
std::vector<QStringList> editDifferences(std::span<const EditedRun>);

} // namespace halfscope
