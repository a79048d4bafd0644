// halfscope-cli runs: the runs of sessions that ended without saving them, and the saved runs in a
// folder.
#pragma once

#include <string>
#include <vector>

namespace halfscope::cli {

struct RunsOptions {
    std::string action; ///< list, show, export or delete, or a folder with saved runs; empty: list
    std::vector<std::string> runs; ///< "20261121-173455-1/2"; for delete also a whole session
    std::string folder;            ///< where sessions are kept; empty: the window's folder
    std::string out;   ///< the folder to export to; of several runs, the one around theirs
    std::string order; ///< of the saved runs in a folder, see listSavedRuns()
};

/// Returns the exit code. Throws the engine's errors.
int runs(const RunsOptions&);

} // namespace halfscope::cli
