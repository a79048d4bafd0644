// Keeps what a command reads, and files that no run has written, from being replaced by what the
// command writes.
#pragma once

#include "engine/settings/run_config.h"

#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// A file or folder that is read.
struct ReadPath {
    std::string name; ///< of the setting or option that names it: "data.path"
    std::string path;
    /// Whether the path is the folder of a saved run, of which only the run's own files are kept.
    bool isRun = false;
};

/// Returns the files and folders that the settings name, of those that mean something beside the
/// others.
std::vector<ReadPath> readPathsOf(const RunConfig&);

/// Throws InputError when a file of one of these names, written into the folder, would take the
/// place of one that is read, whatever path or link leads there.
void keepRead(std::span<const ReadPath>, const std::string& folder,
              std::span<const std::string> names);
/// Does the same for a single file; also for one of a folder of data, unless it ends in .onnx or
/// .csv, as data in folders do not.
void keepRead(std::span<const ReadPath>, const std::string& file);

/// Whether a run has written into a folder, be it one of an earlier version, or one that trains
/// there now or was killed.
bool holdsRun(const std::string& folder);
/// Whether a folder has a training that was recorded in PyTorch, see TaskKind::Recorded.
bool isRecorded(const std::string& folder);
/// Throws InputError where it has.
void keepRecorded(const std::string& folder);

/// Throws InputError when a folder has files with the names of a run's, but no run has written
/// there: not even one of an earlier version, or one that was killed. Links do not count, because
/// what they lead to stays. Files called as one of `but` are left out.
void keepForeign(const std::string& folder, std::span<const std::string> but = {});

} // namespace halfscope
