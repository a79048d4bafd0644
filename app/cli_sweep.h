// halfscope-cli sweep: trains one lane with every combination of the values of one or two settings,
// and prints the map of what came of it.
#pragma once

#include "app/cli_options.h"

#include <string>
#include <vector>

namespace halfscope::cli {

struct SweepOptions {
    ExperimentOptions experiment;
    std::vector<std::string> sweeps; ///< "scaler.init_scale=2^10,2^16"; one or two
    std::string lane;                ///< name, or number from 0; empty: the only one that can be
    std::string csv;                 ///< file of the table; empty: none
    bool quiet = false;              ///< only errors

    void addTo(CLI::App&);
};

/// Returns the exit code: 0 when done, 1 when cells failed, 130 when interrupted. Throws the
/// engine's errors.
int sweep(const SweepOptions&);

} // namespace halfscope::cli
