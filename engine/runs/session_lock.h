// Which program uses a session: a locked file, whose lock the kernel drops with its holder.
#pragma once

#include "engine/io/open_folder.h"

#include <optional>
#include <string>
#include <vector>

namespace halfscope {

class SessionLock {
public:
    /// A new session in a folder, which is made where it is missing, for this user alone. RunError.
    explicit SessionLock(const std::string& folder);
    /// A session that nobody uses; nothing when somebody does.
    static std::optional<SessionLock> ofLeft(const std::string& folder, const std::string& name);
    ~SessionLock();
    SessionLock(SessionLock&&) noexcept = default;

    /// The path of a file of the session: pathOf(".session").
    std::string pathOf(const std::string& ending) const { return m_path + ending; }
    /// All its files but this one's lock, which goes with the object.
    void removeSession();

private:
    SessionLock() = default;

    std::string m_path; ///< without ending
    std::string m_lockPath;
    Descriptor m_lock;
    bool m_removed = false;
};

/// The names of sessions in a folder, whoever uses them, oldest first.
std::vector<std::string> sessionsIn(const std::string& folder);

} // namespace halfscope
