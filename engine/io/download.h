// Downloads files over HTTP (libcurl). What was received is kept, so that an interrupted download
// resumes; a file gets its name only once its checksum is right.
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
/// with the address or path: no connection, an error from the server, an interrupted transfer,
/// unexpected content, another program that downloads the same file, a full disk.
void fetchFile(const RemoteFile&, std::span<const std::string> addresses, const std::string& folder,
               const FetchProgress&);

} // namespace halfscope
