// The verify command: compares the engine with recorded and float64 values, as a table or as JSON.
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
    bool markdown = false; ///< prints the manual's page instead of a table

    void addTo(CLI::App& command);
};

/// Returns 0 when all cases passed, else 1. Throws InputError and EngineError as verify() does.
int verifyCommand(const VerifyCommandOptions&);

} // namespace halfscope::cli
