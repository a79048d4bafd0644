// MNIST from its public mirrors.
#pragma once

#include "engine/io/download.h"

#include <span>
#include <string>

namespace halfscope {

/// The four files as they were published, and where they are served.
std::span<const RemoteFile> mnistFiles();
std::span<const std::string> mnistAddresses();
/// Of all files, for the question that comes first.
int64_t mnistBytes();
/// Where programs of this user keep data: $XDG_DATA_HOME/halfscope/mnist, or what stands for it.
std::string usualMnistFolder();

/// Fetches what is missing into a folder, which is made where it is not there: then data.path can
/// name it. `have` counts the bytes of all `files`. Cancellable. RunError, see fetchFile().
void getMnist(const std::string& folder, std::span<const RemoteFile> files,
              std::span<const std::string> addresses,
              const std::function<void(int64_t have)>& progress);

} // namespace halfscope
