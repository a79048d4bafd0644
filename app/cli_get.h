// halfscope-cli get: fetches a data set from its public mirrors.
#pragma once

#include <string>

namespace halfscope::cli {

struct GetOptions {
    std::string name;   ///< the data set's name, such as "mnist"
    std::string folder; ///< empty: the usual one
    std::string from;   ///< address of a folder that serves the files; empty: the public mirrors
    bool yes = false;   ///< does not ask first
};

/// Returns the names of the data sets: "mnist or fashion-mnist".
std::string dataNames();
/// Returns the exit code. Throws the engine's errors.
int get(const GetOptions&);

} // namespace halfscope::cli
