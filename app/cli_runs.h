// halfscope-cli runs: the runs of sessions that ended without saving them.
#pragma once

#include <string>

namespace halfscope::cli {

struct RunsOptions {
    std::string action; ///< list, show, export or delete; empty: list
    std::string run;    ///< "20261121-173455-1/2"; for delete also a whole session
    std::string folder; ///< where sessions are kept; empty: the window's folder
    std::string out;    ///< the folder to export to
};

/// Returns the exit code. Throws the engine's errors.
int runs(const RunsOptions&);

} // namespace halfscope::cli
