// Small files in place of those of a public data set, on a server of this machine.
#pragma once

#include "engine/core/sha256.h"
#include "engine/data/public_data.h"
#include "tests/support/http_server.h"

#include <string>

namespace halfscope {

/// Returns the data set of this name as if each of its files had this content and the server had
/// them.
inline PublicData standIn(std::string_view name, const std::string& content,
                          const HttpServer& server) {
    PublicData data = publicDataNamed(name);
    for (RemoteFile& file : data.files)
        file = {file.name, static_cast<int64_t>(content.size()), sha256(content)};
    data.addresses = {server.address()};
    return data;
}

/// Lets the server have all files of a stand-in.
inline void serve(HttpServer& server, const PublicData& data, const HttpServer::Answer& answer) {
    for (const RemoteFile& file : data.files)
        server.put(file.name, answer);
}

} // namespace halfscope
