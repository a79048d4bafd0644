// The verify command: the engine against recorded and float64 values, as a table or as JSON.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace halfscope::cli {

struct VerifyCommandOptions {
    std::string golden; ///< a folder; empty: the files inside the program
    std::string device = "auto";
    std::vector<std::string> only;
    bool json = false;
    bool markdown = false; ///< the page of the manual instead of a table

    void addTo(CLI::App& command);
};

/// 0 when all cases passed, else 1. InputError and EngineError as verify() has them.
int verifyCommand(const VerifyCommandOptions&);

} // namespace halfscope::cli
