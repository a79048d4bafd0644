// Downloads files over HTTP (libcurl). What was received is kept, so that an interrupted download
// resumes; a file gets its name only when its checksum is right.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace halfscope {

/// A file whose content is known in advance.
struct RemoteFile {
    std::string name; ///< follows each address, and names the file in the folder
    int64_t bytes = 0;
    std::string sha256; ///< 64 hexadecimal digits
};

/// Is called now and then with the number of bytes of a file that are there.
using FetchProgress = std::function<void(const RemoteFile&, int64_t have)>;

/// Downloads a file into an existing folder from the first of the addresses ("https://host/dir/")
/// that serves it. FOLDER/NAME.part holds what has come so far. Nothing is downloaded when a file
/// of this content is already there. Can be cancelled. Throws RunError in one sentence with the
/// address or path: no connection, an error from the server, an interrupted transfer, unexpected
/// content, another program that downloads the same file, a full disk.
void fetchFile(const RemoteFile&, std::span<const std::string> addresses, const std::string& folder,
               const FetchProgress&);

} // namespace halfscope
