// The checkpoints that a run writes into its folder, what it says of them, and the one that a new
// run finds there.
#pragma once

#include "app/cli_run.h"
#include "app/cli_start.h"

#include "engine/core/message.h"
#include "engine/runs/run_writer.h"
#include "engine/train/experiment_state.h"

#include <cstdint>
#include <optional>
#include <string>

namespace halfscope::cli {

/// Writes them every so many steps and at the end, and knows which one is there.
class CheckpointFiles {
public:
    /// `files` are those of the run, in the folder of --out; they must outlive this object. A run
    /// that goes on keeps its interval, unless another one is given.
    CheckpointFiles(RunWriter& files, const RunOptions&, const Start&);

    /// Whether the checkpoint that the run goes on from has another interval.
    bool isChanged() const { return m_changed; }
    /// Whether one is due after a step on the way.
    bool isDue(int64_t step) const { return m_every > 0 && step % m_every == 0; }
    /// Whether the last step is to have one. A run that goes on in its own folder has one in any
    /// case: the one there would be behind the tables.
    bool endsWithOne() const { return !m_none || m_goesOnHere; }
    /// Whether this run has written one of this step.
    bool has(int64_t step) const { return step == m_saved; }
    /// Tells why the last one could not be written; empty if it was.
    const Message& unsaved() const { return m_unsaved; }

    /// Adds the run's id and interval to the state, and writes it. A checkpoint that cannot be
    /// written, on a full disk for example, does not end the training: the next one may be. Returns
    /// a line that tells the first of them at once, and when they can be written again; `ends` says
    /// that no further step follows. Throws as RunWriter::place() does.
    std::string write(ExperimentState, bool ends);

    /// Tells which checkpoint of this training is there instead of the last one, and why.
    std::string unsavedText() const;
    /// Tells which checkpoint this run goes on from when its files cannot be written further.
    std::string wholeText() const;
    /// Returns the command that goes on from the last one.
    std::string command() const;

private:
    RunWriter& m_files;
    const std::string m_out;
    int64_t m_every = 0;        ///< in steps; 0: none on the way
    bool m_none = false;        ///< nor at the end
    bool m_goesOnHere = false;  ///< in the folder of the checkpoint
    bool m_changed = false;     ///< see isChanged()
    bool m_newestWhole = false; ///< the newest one in the folder was written or read by this run
    int64_t m_saved = -1;       ///< the step of the last one; -1: none
    Message m_unsaved;
};

/// Returns the step of the newest checkpoint in a folder that has a header; nothing without one.
std::optional<int64_t> stepLeftIn(const std::string& folder);

/// Throws InputError when a run would remove the checkpoint of another one that had not come to its
/// end, in the folder of --out: one of the same experiment, however long, or the saved run that is
/// trained anew. A second call of the same command was hardly meant to remove it. Throws RunError
/// when another program is writing there. Does nothing with RunOptions::overwrite.
void keepCheckpoint(const RunOptions&, const RunConfig&);
/// Tells of the checkpoint in the folder of a saved run that is trained anew into another folder
/// although it had not come to its end; empty where there is none.
std::string leftCheckpoint(const RunOptions&);

} // namespace halfscope::cli
