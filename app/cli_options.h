// Which experiment a command works on: a file or a preset, with changes from the command line.
#pragma once

#include "engine/train/fields.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace halfscope::cli {

struct ExperimentOptions {
    std::string file, preset, lanes, steps, seed, device, threads;
    std::vector<std::string> settings;

    void addTo(CLI::App& command);
    /// File or preset, then --lanes, then the named options, then --set from left to right; the
    /// whole is checked. InputError.
    RunConfig config() const;
};

} // namespace halfscope::cli
