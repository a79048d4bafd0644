// Which program uses a session: a locked file. The kernel drops the lock when its holder ends.
#pragma once

#include "engine/io/open_folder.h"

#include <optional>
#include <string>
#include <vector>

namespace halfscope {

class SessionLock {
public:
    /// Starts a new session in a folder, which is made when it is missing, for this user alone.
    /// Throws RunError.
    explicit SessionLock(const std::string& folder);
    /// Takes a session that nobody uses; returns nothing when somebody uses it. Where the folder
    /// cannot be written, it can be taken for reading, see obstacle(); on a file system that is
    /// read-only even without a lock, because nobody can use it there. Throws RunError when nobody
    /// knows whether somebody uses it.
    static std::optional<SessionLock> ofLeft(const std::string& folder, const std::string& name);
    ~SessionLock();
    SessionLock(SessionLock&&) noexcept = default;
    /// Only for an object that has been moved from.
    SessionLock& operator=(SessionLock&&) noexcept = default;

    /// Returns the path of a file of the session: pathOf(".session").
    std::string pathOf(const std::string& ending) const { return m_path + ending; }
    /// Says why nothing in the folder can be changed; empty where it can be.
    Message obstacle() const;
    /// Removes all files of the session except this one's lock, which goes with the object.
    /// Returns 0, or the errno of a file that stays.
    int removeSession();
    /// Removes the same files, also while another thread uses the session; a lock without them is
    /// removed by the next search for left sessions. Returns what removeSession() does.
    int removeFiles() const;
    /// Does the same where the session's own file is gone: what somebody else has put in its place
    /// stays, but must not be read with this one's log.
    void removeRest();
    /// Starts another session in the same folder, which is made when it is missing, under another
    /// name, although somebody may have removed this one's files. Throws RunError.
    SessionLock another() const;

private:
    SessionLock() = default;
    /// Locks the open file. Returns false, and sets errno, when it cannot, and when another program
    /// removed the file before it was locked: such a lock would keep nobody out.
    bool takes() const;

    std::string m_path; ///< without the ending
    std::string m_lockPath;
    Descriptor m_lock;
    int m_obstacle = 0; ///< the errno of writing to the folder
    bool m_removed = false;
};

enum class SessionNames {
    Written, ///< those that have a file
    Locked,  ///< those that have a lock alone, too: their program was killed before it wrote
};

/// Returns the names of the sessions in a folder, used or not, oldest first.
std::vector<std::string> sessionsIn(const std::string& folder,
                                    SessionNames = SessionNames::Written);

} // namespace halfscope
