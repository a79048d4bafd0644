// Checks the names of files and folders that a command writes: those that cannot be written are
// refused before anything is trained.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace halfscope::cli {

/// Returns why a command does not write a file of this name; empty when it does, as a new file or
/// in place of a regular one. Devices, pipes and folders are never replaced.
std::string fileObstacle(const std::string& path);
/// Returns the same for a folder, which is made when it is missing, with those that it lies in.
std::string folderObstacle(const std::string& path);

/// Returns why there is no such folder, for commands that do not make it; empty when there is one.
std::string homeObstacle(const std::string& folder);
/// Returns why no new file can be written there: the same, or what the folder permits.
std::string newFileObstacle(const std::string& folder);

/// Makes the option refuse a file or a folder that cannot be written.
void writesFile(CLI::Option&);
void writesFolder(CLI::Option&);

} // namespace halfscope::cli
