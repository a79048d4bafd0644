// Says in words what lies at a path. Whether the disk has room shows only when the file is written.
#include "app/cli_targets.h"

#include "engine/core/text.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

namespace halfscope::cli {

namespace {

namespace fs = std::filesystem;

/// Returns the type of what lies at `path`, following links. A path that cannot be examined counts
/// as missing: the attempt to open it says why.
fs::file_type typeAt(const std::string& path) {
    std::error_code ignored;
    return fs::status(path, ignored).type();
}

bool isMissing(fs::file_type type) {
    return type == fs::file_type::not_found || type == fs::file_type::none ||
           type == fs::file_type::unknown;
}

const char* nameOf(fs::file_type type) {
    switch (type) {
    case fs::file_type::directory: return "a folder";
    case fs::file_type::fifo: return "a pipe";
    case fs::file_type::socket: return "a socket";
    case fs::file_type::block:
    case fs::file_type::character: return "a device";
    default: return "a file";
    }
}

/// Refuses names that no disk takes, which would show only when the file is made.
std::string lengthObstacle(const fs::path& path) {
    constexpr size_t kMost = NAME_MAX; // bytes
    for (const fs::path& part : path)
        if (const size_t length = part.native().size(); length > kMost)
            return "a name has " + std::to_string(length) + " bytes, and at most " +
                   std::to_string(kMost) + " are allowed";
    return {};
}

/// Returns why nothing can be written into a folder that is there.
std::string writeObstacle(const std::string& folder) {
    if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
    return "no file can be written into " + quotedText(folder) + ": " + std::strerror(errno);
}

CLI::Validator refusing(std::string (*obstacle)(const std::string&)) {
    const auto check = [obstacle](const std::string& path) {
        const std::string reason = path.empty() ? std::string() : obstacle(path);
        return reason.empty() ? reason : quotedText(path) + " is not allowed: " + reason;
    };
    return {check, {}};
}

} // namespace

std::string fileObstacle(const std::string& path) {
    if (std::string reason = lengthObstacle(path); !reason.empty()) return reason;
    const fs::file_type type = typeAt(path);
    if (type == fs::file_type::regular) return {};
    if (isMissing(type) && !fs::path(path).filename().empty()) return {};
    return std::string("it is ") + (isMissing(type) ? "a folder" : nameOf(type)) +
           ", and only a new or a regular file is written";
}

std::string folderObstacle(const std::string& path) {
    if (std::string reason = lengthObstacle(path); !reason.empty()) return reason;
    const fs::file_type type = typeAt(path);
    if (type == fs::file_type::directory) return writeObstacle(path);
    if (!isMissing(type)) return std::string("it is ") + nameOf(type) + ", not a folder";
    for (fs::path above = fs::path(path).parent_path();; above = above.parent_path()) {
        const std::string folder = above.empty() ? "." : above.string();
        const fs::file_type there = typeAt(folder);
        if (there == fs::file_type::directory) return writeObstacle(folder);
        if (!isMissing(there))
            return quotedText(folder) + " is " + nameOf(there) + ", not a folder";
        if (!above.has_relative_path()) return {}; // the attempt to make it says why
    }
}

std::string homeObstacle(const std::string& folder) {
    const fs::file_type type = typeAt(folder);
    if (type == fs::file_type::directory || type == fs::file_type::none) return {};
    return type == fs::file_type::not_found
               ? "there is no folder " + quotedText(folder)
               : quotedText(folder) + " is " + nameOf(type) + ", not a folder";
}

std::string newFileObstacle(const std::string& folder) {
    if (std::string reason = homeObstacle(folder); !reason.empty()) return reason;
    return writeObstacle(folder);
}

void writesFile(CLI::Option& option) { option.check(refusing(fileObstacle)); }

void writesFolder(CLI::Option& option) { option.check(refusing(folderObstacle)); }

} // namespace halfscope::cli
