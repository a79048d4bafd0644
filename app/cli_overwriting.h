// What a command must not overwrite: the files that it reads, those of a run in whose folder it
// writes, and those that no run has written.
#pragma once

#include "app/cli_options.h"

#include "engine/runs/overwriting.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace halfscope::cli {

struct RunOptions;

/// The files that a command reads, and the folders of the runs that it reads or writes.
class CommandFiles {
public:
    /// Those of the experiment: its file, and what its settings name.
    CommandFiles(const ExperimentOptions&, const RunConfig&);
    /// Adds a file or folder that an option names.
    void addRead(const std::string& option, const std::string& path);
    /// Adds the folder of a run.
    void addRun(const std::string& folder);

    /// Throws InputError when files of these names in the folder of --out would take the place of
    /// one that is read.
    void checkFolder(const std::string& out, std::span<const std::string> names) const;
    /// Does the same for a single file, which must not be called as a file of one of the runs
    /// either, in its folder, nor as one of whatever run is there.
    void checkFile(const std::string& option, const std::string& file) const;

private:
    std::vector<ReadPath> m_reads;
    std::string m_experiment; ///< its file; empty: it comes from a preset or a folder
    std::vector<std::string> m_runs;
};

/// Returns the whole path of a folder or file, which need not be there, in one form; a link is the
/// path that it leads to.
std::filesystem::path wholePath(const std::filesystem::path& folder);

/// Returns the files of a run with these settings; `checkpoint` is the one that it goes on from, or
/// empty. Throws InputError when the run cannot write into its folder without overwriting one of
/// them, or a file that no run has written, or a training that was recorded in PyTorch. A run that
/// goes on in its folder replaces what is there, and one of a saved experiment the experiment.json.
CommandFiles filesOfRun(const RunOptions&, const RunConfig&, const std::string& checkpoint);
/// Names the run in a folder that a run of another experiment is about to replace, if it is whole
/// or has a checkpoint; empty where there is none.
std::string replacedNote(const std::string& folder, const RunConfig&);
/// Names what an earlier evaluation has left in the folder in which a run has trained; empty
/// without any. The run began there, or `goesOn` there from its checkpoint.
std::string evaluationNote(const std::string& folder, bool goesOn);
/// Does what filesOfRun() does for a run that is exported into a folder.
void checkExport(const std::string& out, const RunConfig&, std::span<const std::string> names);

} // namespace halfscope::cli
