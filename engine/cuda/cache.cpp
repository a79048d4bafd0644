// Cache files: one per key, named by its hash, with a header that tells a whole file from any
// other. They are only used when nobody else can write to their folder.
#include "engine/cuda/cache.h"

#include "engine/core/sha256.h"
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/io/open_folder.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <system_error>
#include <vector>

#include <sys/stat.h>

namespace halfscope::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".hscache";

/// Returns the first line; the value follows it.
std::string headerOf(std::string_view key, std::string_view value) {
    return "halfscope cache 2 " + sha256(key) + ' ' + std::to_string(key.size()) + ' ' +
           std::to_string(value.size()) + ' ' + sha256(value) + '\n';
}

/// Makes the folder, if it is missing, for its owner alone. A folder that was made for a group is
/// changed to that, too: files that others could have written are not used in any case.
void makeFolder(const fs::path& folder) {
    fs::create_directories(folder.parent_path());
    if (::mkdir(folder.c_str(), S_IRWXU) != 0) ::chmod(folder.c_str(), S_IRWXU);
}

/// Whether nobody else can have written there: what is in the folder is run as code.
bool isMine(const std::string& folder) {
    struct stat status {};
    return ::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && isPrivate(status);
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

} // namespace

std::string FileCache::defaultFolder() {
    if (const std::string cache = environment("XDG_CACHE_HOME"); cache.starts_with('/'))
        return cache + "/halfscope";
    if (const std::string home = environment("HOME"); home.starts_with('/'))
        return home + "/.cache/halfscope";
    return {};
}

FileCache::FileCache(std::string folder, size_t mostBytes)
    : m_folder(std::move(folder)), m_mostBytes(mostBytes) {}

std::string FileCache::fileOf(std::string_view key) const {
    return (fs::path(m_folder) / (sha256(key) + kExtension)).string();
}

std::optional<std::string> FileCache::get(std::string_view key) const {
    if (m_folder.empty()) return std::nullopt;
    try {
        if (!isMine(m_folder)) return std::nullopt;
        const std::optional<std::string> file = readPrivateFile(fileOf(key));
        if (!file) return std::nullopt;
        const std::string& content = *file;
        const size_t line = content.find('\n');
        if (line == std::string::npos) return std::nullopt;
        const std::string_view value = std::string_view(content).substr(line + 1);
        if (content.compare(0, line + 1, headerOf(key, value)) != 0) return std::nullopt;
        return std::string(value);
    } catch (const std::exception&) {
        return std::nullopt; // as if it were not there
    }
}

void FileCache::put(std::string_view key, std::string_view value) const {
    if (m_folder.empty()) return;
    try {
        makeFolder(m_folder);
        if (!isMine(m_folder)) return;
        writeFileAtomically(fileOf(key), headerOf(key, value) + std::string(value));
        // whatever the usual mode of this user's files is
        fs::permissions(fileOf(key), fs::perms::owner_read | fs::perms::owner_write);
        shrink();
    } catch (const std::exception&) {
        return; // a full or read-only disk: the next start takes as long as this one
    }
}

void FileCache::shrink() const {
    struct Entry {
        fs::file_time_type time;
        fs::path path;
        size_t bytes;
    };
    std::vector<Entry> entries;
    size_t total = 0;
    for (const std::string& name : namesIn(m_folder, Entries::Files)) {
        const fs::path path = fs::path(m_folder) / name;
        if (path.extension() != kExtension) continue;
        std::error_code error; // another process may have removed it
        const fs::file_time_type time = fs::last_write_time(path, error);
        const size_t bytes = error ? 0 : fs::file_size(path, error);
        if (error) continue;
        entries.push_back({time, path, bytes});
        total += bytes;
    }
    if (total <= m_mostBytes) return;
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.time < b.time; });
    for (const Entry& entry : entries) {
        // leaves some room, so that not every put() has to make some
        if (total <= m_mostBytes / 4 * 3) break;
        fs::remove(entry.path);
        total -= entry.bytes;
    }
}

} // namespace halfscope::cuda
