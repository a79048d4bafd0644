// manifest.json: which run a folder holds, and whether all of it is there. It is the last file that
// a run writes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace halfscope {

struct RunManifest {
    std::string run;                      ///< the run's unique id: 32 hexadecimal digits
    bool whole = false;                   ///< the run has ended, and everything was written
    std::map<std::string, int64_t> files; ///< for a whole run: names, and their sizes in bytes
    int64_t after = 0;                    ///< its rows begin after this step
};

/// Every manifest is smaller than this.
inline constexpr size_t kMostManifestBytes = size_t{1} << 16;

/// Returns a new id at each call.
std::string newRunId();

std::string manifestText(const RunManifest&);
/// Reads a manifest. Throws InputError "KEY: VALUE is not allowed: ..." for whatever manifestText()
/// does not write.
RunManifest manifestOf(std::string_view text);
/// Reads the manifest in a file. Throws InputError "PATH: ...", also for a file that cannot be
/// read.
RunManifest readManifest(const std::string& path);

} // namespace halfscope
