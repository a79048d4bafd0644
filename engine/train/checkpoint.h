// Checkpoints: the state of an experiment as one safetensors file. Its arrays are the states of the
// lanes, "0/0.weight"; its metadata hold the experiment, the step, and checksums of everything.
#pragma once

#include "engine/io/safetensors.h"
#include "engine/runs/run_checkpoint.h"
#include "engine/train/experiment_state.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// The bytes of a checkpoint in pieces, which point into the state. InputError for settings that no
/// file may have.
class CheckpointText {
public:
    /// `program`: its version. The state must outlive it.
    CheckpointText(const ExperimentState&, const std::string& program);
    std::vector<std::string_view> parts() const { return safetensorsParts(m_header, m_arrays); }

private:
    std::vector<ArrayView> m_arrays;
    std::string m_header;
};

/// All of them in one piece. InputError likewise.
std::string checkpointBytes(const ExperimentState&, const std::string& program);
/// The file is there completely or not at all. RunError, InputError.
void writeCheckpoint(const std::string& path, const ExperimentState&, const std::string& program);

/// Whether a safetensors file says that it is one; false also for what cannot be read.
bool isCheckpoint(const std::string& path);
/// Of a folder, the checkpoint that a run has left there; else the path itself. InputError for a
/// folder that has none.
std::string checkpointAt(const std::string& path);
/// Every byte is checked; takes the memory of the file twice at most. Cancellable, see
/// core/cancel.h. InputError "PATH: ..." for a file that is no checkpoint, is of another
/// version, or has changed since it was written: where, and which earlier one is whole.
ExperimentState readCheckpoint(const std::string& path);

/// The checkpoint in a file, after so many steps, as its run keeps it: its bytes are read when they
/// are asked for; RunError where the file has another checkpoint by then. InputError.
std::shared_ptr<const RunCheckpoint> checkpointInFile(const std::string& path, int64_t step);
/// A checkpoint that is kept with its run, and not written yet.
std::shared_ptr<const RunCheckpoint> keptCheckpoint(ExperimentState, const std::string& program);
/// Of a run that is called `name`; checked and cancellable likewise. InputError, RunError.
ExperimentState readKept(const RunCheckpoint&, const std::string& name);

} // namespace halfscope
