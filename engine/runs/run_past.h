// What the folder of a run holds of the steps before a checkpoint: a run that goes on from there
// writes these rows again and appends its own.
#pragma once

#include "engine/runs/run.h"

#include <functional>
#include <string>

namespace halfscope {

struct RunPast {
    std::string run;                 ///< the id of the run, see run_manifest.h
    std::string folder;              ///< the folder it was read from, with its checkpoints
    int64_t step = 0;                ///< the last step that is taken
    RunConfig recorded;              ///< the settings of the run that goes on
    std::shared_ptr<const Run> rows; ///< has that step; null when the rows are not there
    std::string gradients{};         ///< the lines of gradients.csv after the first one

    /// The step after which the rows begin.
    int64_t after() const { return rows ? rows->now().firstStep() - 1 : step; }
    /// Passes on rows and events step by step, as the training produced them.
    void forEach(const std::function<void(const RunBatch&)>& take) const;
    /// Returns the beginning of the run, which takes in the rest.
    std::shared_ptr<Run> begun() const;
};

/// Reads the past of a run. Throws InputError when the folder holds no run of this id, or not all
/// of its rows up to the step. What is damaged behind the step is dropped with all that is there.
RunPast readPast(const std::string& folder, const std::string& run, int64_t step,
                 const RunConfig& recorded);
/// Whether the folder holds rows up to the step, of this run or of one that cannot be told from it:
/// those are lost when the run goes on in this folder without them.
bool holdsPast(const std::string& folder, const std::string& run, int64_t step);

} // namespace halfscope
