// The names, locks and removal of session files.
#include "engine/runs/session_lock.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/runs/session_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

namespace halfscope {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLockEnding = ".lock";

/// Returns a name such as "20261121-173455"; names sort in the order of their start.
std::string startText() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts);
    return text.data();
}

/// Whether a session may have this name. Other programs have files with the same endings, and a
/// user may name any folder.
bool isName(const std::string& name) {
    const std::string start = "dddddddd-dddddd-d"; // d: a digit
    bool fits = name.size() >= start.size();
    for (size_t i = 0; fits && i < name.size(); ++i) {
        const bool digit = name[i] >= '0' && name[i] <= '9';
        fits = i < start.size() && start[i] != 'd' ? name[i] == start[i] : digit;
    }
    return fits;
}

std::string folderOf(const std::string& path) { return fs::path(path).parent_path().string(); }

Message cannotWrite(const std::string& folder, int error) {
    return {phrase("Files", "%1: cannot write to this folder: %2"), pathText(folder),
            std::strerror(error)};
}

RunError cannotLock(const std::string& path, int error) {
    return RunError(phrase("Files", "%1: cannot be locked: %2"), path, std::strerror(error));
}

/// A lock is an empty file.
bool isLock(const std::string& folder, const fs::path& name) {
    std::error_code none;
    return name.extension() == kLockEnding && fs::file_size(fs::path(folder) / name, none) == 0;
}

} // namespace

SessionLock::SessionLock(const std::string& folder) {
    std::error_code error;
    const bool made = fs::create_directories(folder, error);
    if (error)
        throw RunError(phrase("Files", "%1: cannot create the folder: %2"), pathText(folder),
                       error.message());
    if (made) fs::permissions(folder, fs::perms::owner_all, error);
    const std::string start = folder + "/" + startText();
    constexpr int kTries = 1000; // for windows that start in the same second
    for (int i = 1; i <= kTries; ++i) {
        m_path = start + "-" + std::to_string(i);
        m_lockPath = m_path + kLockEnding;
        m_lock = Descriptor(
            open(m_lockPath.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
        if (m_lock.isOpen() && takes()) return;
        const bool another = m_lock.isOpen() ? errno == EWOULDBLOCK : errno == EEXIST;
        if (!another) break;
    }
    if (!m_lock.isOpen() && errno != EEXIST) throw RunError(cannotWrite(folder, errno));
    throw cannotLock(m_lockPath, errno);
}

bool SessionLock::takes() const {
    if (flock(m_lock.number(), LOCK_EX | LOCK_NB) != 0) return false;
    struct stat held = {};
    struct stat named = {};
    const bool same = fstat(m_lock.number(), &held) == 0 &&
                      lstat(m_lockPath.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
                      held.st_ino == named.st_ino;
    if (!same) errno = EWOULDBLOCK;
    return same;
}

std::optional<SessionLock> SessionLock::ofLeft(const std::string& folder, const std::string& name) {
    SessionLock left;
    left.m_path = folder + "/" + name;
    left.m_lockPath = left.m_path + kLockEnding;
    const bool writable = faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
    if (!writable) left.m_obstacle = errno;
    const int access = writable ? O_RDWR | O_CREAT : O_RDONLY;
    left.m_lock = Descriptor(
        open(left.m_lockPath.c_str(), access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (left.m_lock.isOpen() && left.takes()) return left;
    const int error = errno;
    if (left.m_lock.isOpen() && error == EWOULDBLOCK) return std::nullopt;
    if (left.m_obstacle == EROFS) return left;
    throw writable ? cannotLock(left.m_lockPath, error) : RunError(left.obstacle());
}

Message SessionLock::obstacle() const {
    return m_obstacle == 0 ? Message() : cannotWrite(folderOf(m_path), m_obstacle);
}

SessionLock::~SessionLock() {
    if (m_removed && m_lock.isOpen()) unlink(m_lockPath.c_str()); // while it is still locked
}

int SessionLock::removeSession() {
    const int error = removeFiles();
    m_removed = error == 0;
    return error;
}

int SessionLock::removeFiles() const {
    if (m_obstacle != 0) return m_obstacle;
    int error = 0;
    for (const char* more : {"", "-wal", "-shm"})
        if (unlink(pathOf(std::string(kSessionEnding) + more).c_str()) != 0 && errno != ENOENT)
            error = errno;
    return error;
}

void SessionLock::removeRest() {
    for (const char* more : {"-wal", "-shm"})
        unlink(pathOf(std::string(kSessionEnding) + more).c_str());
    m_removed = true;
}

SessionLock SessionLock::another() const {
    const std::string folder = folderOf(m_path);
    SessionLock first(folder);
    if (first.m_path != m_path) return first;
    SessionLock second(folder); // while the first name is taken
    first.removeRest();
    return second;
}

std::vector<std::string> sessionsIn(const std::string& folder, SessionNames which) {
    std::vector<std::string> names;
    for (const std::string& each : namesIn(folder, Entries::Files)) {
        const fs::path name = each;
        const bool locked = which == SessionNames::Locked && isLock(folder, name);
        if (isName(name.stem().string()) && (locked || name.extension() == kSessionEnding))
            names.push_back(name.stem().string());
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

} // namespace halfscope
