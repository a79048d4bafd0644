// Fetches files over HTTP (libcurl): what has come is kept, so that a download that was cut goes on
// where it ended, and a file has its name only once its checksum fits.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace halfscope {

/// A file whose content is known beforehand.
struct RemoteFile {
    std::string name; ///< behind each address, and in the folder
    int64_t bytes = 0;
    std::string sha256; ///< 64 hexadecimal digits
};

/// Told now and then how many bytes of a file there are.
using FetchProgress = std::function<void(const RemoteFile&, int64_t have)>;

/// Fetches a file into a folder that is there, from the first of the addresses
/// ("https://host/dir/") that serves it. FOLDER/NAME.part holds what has come so far. Nothing is
/// fetched where a file of this content is there already. Cancellable. RunError in one sentence,
/// with the address or path: no connection, an answer that is none, a connection that was cut,
/// another content than expected, a full disk.
void fetchFile(const RemoteFile&, std::span<const std::string> addresses, const std::string& folder,
               const FetchProgress&);

} // namespace halfscope
