// manifest.json: which run a folder holds, and whether all of it is there. The last file that a run
// writes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace halfscope {

struct RunManifest {
    std::string run;                      ///< its id, which no other run has: 32 hexadecimal digits
    bool whole = false;                   ///< it has ended, and everything was written
    std::map<std::string, int64_t> files; ///< of a whole run: names, and their sizes in bytes
    int64_t after = 0;                    ///< its rows begin behind this step
};

/// No manifest is as large.
inline constexpr size_t kMostManifestBytes = size_t{1} << 16;

/// A new one at each call.
std::string newRunId();

std::string manifestText(const RunManifest&);
/// InputError "KEY: VALUE is not allowed: ..." for whatever manifestText() does not write.
RunManifest manifestOf(std::string_view text);

} // namespace halfscope
