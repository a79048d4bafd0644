// Files of sessions: names, locks, removal.
#include "engine/runs/session_lock.h"

#include "engine/core/error.h"
#include "engine/runs/session_file.h"

#include <fcntl.h>
#include <sys/file.h>
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

/// "20261121-173455": names in the order of their start.
std::string startText() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts);
    return text.data();
}

} // namespace

SessionLock::SessionLock(const std::string& folder) {
    std::error_code error;
    const bool made = fs::create_directories(folder, error);
    if (made) fs::permissions(folder, fs::perms::owner_all, error);
    const std::string start = folder + "/" + startText();
    constexpr int kTries = 1000; // windows that start in one second
    for (int i = 1; m_lock < 0 && i <= kTries; ++i) {
        m_path = start + "-" + std::to_string(i);
        m_lock = open((m_path + kLockEnding).c_str(),
                      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (m_lock < 0 && errno != EEXIST) break;
    }
    if (m_lock < 0 || flock(m_lock, LOCK_EX | LOCK_NB) != 0)
        throw RunError(phrase("Files", "%1%2: cannot be locked: %3"), m_path, kLockEnding,
                       std::strerror(errno));
}

std::optional<SessionLock> SessionLock::ofLeft(const std::string& folder, const std::string& name) {
    std::string path = folder + "/" + name;
    const int lock = open((path + kLockEnding).c_str(),
                          O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (lock < 0) return std::nullopt;
    SessionLock left(std::move(path), lock);
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) return left;
    return std::nullopt;
}

SessionLock::~SessionLock() {
    if (m_lock < 0) return;
    if (m_removed) unlink(pathOf(kLockEnding).c_str());
    close(m_lock);
}

SessionLock::SessionLock(SessionLock&& other) noexcept
    : m_path(std::move(other.m_path)), m_lock(std::exchange(other.m_lock, -1)),
      m_removed(other.m_removed) {}

SessionLock& SessionLock::operator=(SessionLock&& other) noexcept {
    std::swap(m_path, other.m_path);
    std::swap(m_lock, other.m_lock);
    std::swap(m_removed, other.m_removed);
    return *this;
}

void SessionLock::removeSession() {
    for (const char* more : {"", "-wal", "-shm"}) {
        std::error_code ignored;
        fs::remove(pathOf(std::string(kSessionEnding) + more), ignored);
    }
    m_removed = true;
}

std::vector<std::string> sessionsIn(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error))
        if (each->path().extension() == kSessionEnding && each->is_regular_file(error))
            names.push_back(each->path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace halfscope
