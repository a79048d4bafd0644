// halfscope-cli runs: the runs of sessions that ended without saving them.
#pragma once

#include <string>

namespace halfscope::cli {

struct RunsOptions {
    std::string action; ///< list, show, export or delete; empty: list
    std::string run;    ///< "20261121-173455-1/2"; of delete also a whole session
    std::string folder; ///< of sessions; empty: the window's
    std::string out;    ///< of export
};

/// The exit code. Throws the engine's errors.
int runs(const RunsOptions&);

} // namespace halfscope::cli
