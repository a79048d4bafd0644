// Reads the folder of a run into a Run: tables, events, gradients, summary and pictures. No file
// holds the weights, so a saved run can be looked at but not continued.
#pragma once

#include "engine/runs/run.h"

#include <functional>
#include <memory>
#include <string>

namespace halfscope {

/// Whether the folder holds a saved run's rows (a file steps.csv).
bool holdsSavedRun(const std::string& folder);

/// Reads a saved run; values come back unchanged. A column that this version does not know becomes
/// a metric of the run. What a kill, a full disk or a power cut leaves is read as far as it goes;
/// RunInfo::missing names the files that are not there, the columns that a file lacks, and where a
/// table ends too early ("timing.csv after step 12").
/// `goesOn` is called now and then with the share that is read, 0 to 1; when it returns false,
/// there is no result. Throws InputError "PATH, line 4, loss: "abc" is not allowed: ..." for
/// whatever no run writes: a value out of range, another lane, steps that do not follow each other,
/// a summary of another run; also for settings that cannot be read. Once the run has a whole step,
/// such a row of a table ends that table instead, and RunInfo::missing has the sentence.
std::shared_ptr<Run> readRun(const std::string& folder,
                             const std::function<bool(double)>& goesOn = {});
/// Does the same with settings that were read already.
std::shared_ptr<Run> readRun(const std::string& folder, const RunConfig&,
                             const std::function<bool(double)>& goesOn = {});

} // namespace halfscope
