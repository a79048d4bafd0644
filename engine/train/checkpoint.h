// Checkpoints: the state of an experiment as one safetensors file. The arrays are the states of the
// lanes, "0/0.weight"; the metadata hold the experiment, the step, and checksums of everything.
#pragma once

#include "engine/core/error.h"
#include "engine/io/safetensors.h"
#include "engine/runs/run_checkpoint.h"
#include "engine/train/experiment_state.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halfscope {

/// The bytes of a checkpoint in pieces, which point into the state.
class CheckpointText {
public:
    /// `program` is the program's version. The state must outlive this object. Throws InputError
    /// for settings that no file may have.
    CheckpointText(const ExperimentState&, const std::string& program);
    std::vector<std::string_view> parts() const { return safetensorsParts(m_header, m_arrays); }

private:
    std::vector<ArrayView> m_arrays;
    std::string m_header;
};

/// Returns the bytes in one piece. Throws InputError as CheckpointText does.
std::string checkpointBytes(const ExperimentState&, const std::string& program);
/// Writes the file completely or not at all. Throws RunError or InputError.
void writeCheckpoint(const std::string& path, const ExperimentState&, const std::string& program);

/// Where a whole checkpoint lies, and after which step it was written.
struct WholeCheckpoint {
    std::string path;
    int64_t step = 0;
};

/// A run's newest checkpoint cannot be read, but the one before it is whole.
class DamagedCheckpoint : public InputError {
public:
    DamagedCheckpoint(const Message& what, WholeCheckpoint earlier)
        : InputError(what), m_earlier(std::make_shared<const WholeCheckpoint>(std::move(earlier))) {
    }
    const WholeCheckpoint& earlier() const { return *m_earlier; }

private:
    std::shared_ptr<const WholeCheckpoint> m_earlier; // shared: see ReportedError
};

/// Returns whether a safetensors file says that it is a checkpoint; false also for a file that
/// cannot be read.
bool isCheckpoint(const std::string& path);
/// Returns the path of the checkpoint that a run has left when `path` is a folder, and `path`
/// itself otherwise; where the newest one of a folder is missing, that is the one before it. Throws
/// InputError for a folder without a checkpoint.
std::string checkpointAt(const std::string& path);
/// Returns the step that a checkpoint says it was written after; only its header is read. Throws
/// InputError.
int64_t checkpointStep(const std::string& path);
/// Reads a checkpoint and checks every byte. Takes at most twice the memory of the file. Can be
/// cancelled, see core/cancel.h. Throws InputError "PATH: ..." for a file that is not a checkpoint,
/// is of another version, or has changed since it was written: the message says where. That is a
/// DamagedCheckpoint where the one before it is whole.
ExperimentState readCheckpoint(const std::string& path);

/// Returns the checkpoint in a file, taken after `step` steps, as its run keeps it. Its bytes are
/// read when they are asked for, which throws RunError if the file has another checkpoint by then.
/// Throws InputError.
std::shared_ptr<const RunCheckpoint> checkpointInFile(const std::string& path, int64_t step);
/// Returns a checkpoint that is kept with its run and is not written yet.
std::shared_ptr<const RunCheckpoint> keptCheckpoint(ExperimentState, const std::string& program);
/// Reads the checkpoint of a run that is called `name`; checked and cancellable as readCheckpoint()
/// is. Throws InputError or RunError.
ExperimentState readKept(const RunCheckpoint&, const std::string& name);

} // namespace halfscope
