// MNIST from its public mirrors.
#pragma once

#include "engine/io/download.h"

#include <span>
#include <string>

namespace halfscope {

/// The four files as they were published, and where they are served.
std::span<const RemoteFile> mnistFiles();
std::span<const std::string> mnistAddresses();
/// The size of all files together, for the question before the download.
int64_t mnistBytes();
/// $XDG_DATA_HOME/halfscope/mnist; where that is not set, ~/.local/share/halfscope/mnist. Empty
/// where the user has no home folder.
std::string usualMnistFolder();

/// Fetches what is missing into a folder, which is made where it is not there: then data.path can
/// name it. `have` counts the bytes of all `files`. Cancellable. RunError, see fetchFile().
void getMnist(const std::string& folder, std::span<const RemoteFile> files,
              std::span<const std::string> addresses,
              const std::function<void(int64_t have)>& progress);

} // namespace halfscope
