// How a run begins: anew, or from a checkpoint, with the settings that were given beside it.
#pragma once

#include "app/cli_run.h"

#include "engine/runs/run_past.h"
#include "engine/train/experiment.h"
#include "engine/train/experiment_state.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halfscope::cli {

/// What a run begins with.
struct Start {
    std::optional<RunConfig> config;      ///< of a new run
    std::optional<ExperimentState> state; ///< of a run that continues
    std::string checkpoint;               ///< its path
    std::vector<Assignment> edits;        ///< given beside it
    bool moved = false;                   ///< others were, see changesOnResume()
    std::string note;                     ///< a sentence about the given options
    std::optional<RunPast> past;          ///< the rows that the run has so far

    /// Whether the run goes on in the folder of its checkpoint.
    bool goesOnIn(const std::string& out) const;
};

/// Reads the checkpoint, if the run continues one. Throws InputError for options that do not fit
/// together and files that cannot be read, and as keepCheckpoint() does.
Start startOf(const RunOptions&);

/// Builds the networks. Throws InputError that names the checkpoint where they do not fit it.
std::unique_ptr<Experiment> experimentOf(const Start&);

/// Applies the settings that change something, as edits of the next step, and returns what they
/// tell. Throws InputError for a lane that is not there.
std::vector<Event> edit(Experiment&, const std::vector<Assignment>&);

/// Tells what is about to be trained, where, and on which data.
std::string startText(const Experiment&);

} // namespace halfscope::cli
