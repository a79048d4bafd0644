// Names of files and folders that a command writes: what cannot take them is refused before
// anything is trained.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace halfscope::cli {

/// Why a command does not write a file of this name; empty where it does: in place of a regular
/// file, or as a new one. Devices, pipes and folders stay what they are.
std::string fileObstacle(const std::string& path);
/// The same of a folder, which is made where it is missing.
std::string folderObstacle(const std::string& path);

/// Refuses an option whose file or folder cannot be written.
void writesFile(CLI::Option&);
void writesFolder(CLI::Option&);

} // namespace halfscope::cli
