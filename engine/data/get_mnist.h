// Downloads MNIST from its public mirrors.
#pragma once

#include "engine/io/download.h"

#include <span>
#include <string>

namespace halfscope {

/// The four files as they were published, and the addresses that serve them.
std::span<const RemoteFile> mnistFiles();
std::span<const std::string> mnistAddresses();
/// Returns the size of all files together, in bytes, for the question before the download.
int64_t mnistBytes();
/// Returns $XDG_DATA_HOME/halfscope/mnist, or ~/.local/share/halfscope/mnist when that is not set.
/// Empty when the user has no home folder.
std::string usualMnistFolder();

/// Downloads what is missing into a folder, which is made when it does not exist; data.path can
/// then name it. `have` counts the bytes of all `files`. Can be cancelled. Throws RunError, see
/// fetchFile().
void getMnist(const std::string& folder, std::span<const RemoteFile> files,
              std::span<const std::string> addresses,
              const std::function<void(int64_t have)>& progress);

} // namespace halfscope
