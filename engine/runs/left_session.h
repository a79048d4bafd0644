// A session that its program left behind because it crashed, was killed, or the power failed, or
// because its user wanted to keep it.
#pragma once

#include "engine/io/database.h"
#include "engine/runs/run.h"
#include "engine/runs/session_lock.h"
#include "engine/runs/session_mark.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace halfscope {

struct LeftRun {
    int64_t key = 0;
    std::string name;
    int64_t steps = 0;                    ///< of the lane with the most steps, as far as is known
    std::string origin{};                 ///< see RunInfo::origin
    size_t place = 0;                     ///< among the runs of its session that have steps
    std::optional<int64_t> goesOnAfter{}; ///< the step of its checkpoint; nothing without one
    bool named = false;                   ///< its user gave it the name
    bool saved = false;                   ///< all its steps lie in a folder or in another run, too
    UnreadParts unread{};                 ///< what it lacked before its session was written
};

/// Callbacks while a run is read; each may be empty.
struct RestoreWatch {
    /// Gets the run that grows from now on, so that a store can watch it and drop what is too much
    /// for the memory.
    std::function<void(const std::shared_ptr<Run>&)> begun;
    /// Gets the share that is read, 0 to 1; when it returns false, there is no result.
    std::function<bool(double)> goesOn;
};

/// A run that was restored, and what LeftSession::read() gave of it.
struct RestoredRun {
    std::shared_ptr<const Run> run;
    RunSnapshot read;
    LeftRun left;
};

/// A session that nobody else can take while this object lives, or a run that still reads pictures
/// or its checkpoint there. Only one thread may use it.
class LeftSession {
public:
    LeftSession(SessionLock, std::string name);

    /// For example "20261121-173455-1": when the session started, in UTC.
    const std::string& name() const { return m_name; }
    /// The runs that have steps, but for copies that leaveOutCopies() has left out.
    const std::vector<LeftRun>& runs() const { return m_runs; }
    /// Returns the index of the run at a place; nothing when it is none of runs().
    std::optional<size_t> indexOf(size_t place) const;
    /// Returns the name of a run among those of all sessions: "20261121-173455-1/2".
    std::string nameOf(const LeftRun& run) const { return m_name + "/" + std::to_string(run.key); }
    /// Leaves out the runs that `isCopy` tells are in an earlier session, too. A window that is
    /// killed while it restores a session leaves such copies in its own.
    void leaveOutCopies(const std::function<bool(const LeftRun&)>& isCopy);
    /// Leaves out the runs of which nothing would be lost with the session: they were saved, or
    /// another run of the session has their steps. Where something is damaged, that may be the
    /// other one, and none is left out. Reads the runs that stay, unless nothing would be left out.
    void leaveOutSaved();
    /// Leaves out a damaged run that a later session has a copy of, and with which the file must
    /// stay. `why` tells what is damaged.
    void leaveToCopy(const LeftRun&, const std::string& session, const Message& why);
    /// Whether it was called for a copy in this session.
    bool isLeftTo(const std::string& session) const { return m_leftTo.contains(session); }
    /// Why the file stays although nothing more of it is offered; empty unless leaveToCopy() was
    /// called.
    const Message& stays() const { return m_stays; }
    /// Reads a run; returns whether nothing is damaged of what its session had of it.
    bool isWhole(const LeftRun&) const;
    /// Likewise returns what is damaged; empty: nothing is.
    Message damageOf(const LeftRun&) const;
    /// Reads a run with everything that reached the disk; its events and curves end where its
    /// session last looked at it. Throws RunError, and InputError for a file that is damaged.
    std::shared_ptr<Run> read(const LeftRun&, const RestoreWatch& = {}) const;
    /// Says that no session of the folder has a later name.
    void setLatest() { m_latest = true; }
    /// A store reads the whole file before it goes on in it; this takes a disk a few seconds.
    static constexpr size_t kMostChecked = size_t{1} << 30;
    /// Whether a store may go on in its file, see SessionStore: no session of the folder is later,
    /// because copies lie in later sessions; this version made it, nothing of it is known to be
    /// damaged, and neither its values nor all of it take more than these bytes.
    bool canGoOn(size_t mostBytes, size_t mostChecked = kMostChecked) const;
    const std::shared_ptr<SessionLock>& lock() const { return m_lock; }
    /// Whether its folder cannot be written: it can be read, but not removed.
    bool isSealed() const { return !m_lock->obstacle().empty(); }
    /// Whether the user closed the window and chose to keep its runs, so that nothing went wrong.
    bool wasKept() const { return m_mark == SessionMark::Kept; }
    /// Whether its program ended because it was told to, as at a logout.
    bool wasToldToEnd() const { return m_mark == SessionMark::ToldToEnd; }
    /// Says that a part of the session cannot be read, and names its file; empty while nothing is
    /// known of it. read() may find more, and names the lanes.
    const Message& damage() const { return m_damage; }
    /// Removes the session; its lock goes with this object and the runs that held it. Throws
    /// RunError.
    void remove();
    /// Removes a run. If it was not saved, only what lies in a folder counts as saved any longer,
    /// because the removed run may have been the one with the steps of others. With the last run
    /// of the session, the file goes if nothing is damaged. It must not follow leaveOutSaved(): the
    /// runs left out would go with the file. Throws RunError.
    void remove(const LeftRun&);
    /// Removes runs that another session has now, or that nobody wants, from the file alone: runs()
    /// stays as it is, and another thread may read the session meanwhile. The file stays with the
    /// others, also with those that leaveOutSaved() has left out. Throws RunError.
    void removeMoved(const std::vector<LeftRun>&) const;

private:
    /// Which runs still count as saved once others are erased.
    enum class SavedMarks {
        Stay,
        OfFolders, ///< those in folders alone
    };
    void forget(const std::vector<LeftRun>&);
    void erase(const std::vector<LeftRun>&, SavedMarks) const;
    struct DamagedRun {
        int64_t key = 0;
        std::string name;
        std::vector<std::string> lanes{}; ///< known once the run has been read
        bool targetAlone = false;         ///< all else of it is whole
    };
    bool isDamaged(const LeftRun&) const;
    void setDamage() const;

    std::shared_ptr<SessionLock> m_lock; ///< shared with runs, see LeftFile
    std::string m_name;
    Database::Access m_access;
    std::vector<LeftRun> m_runs;
    SessionMark m_mark = SessionMark::None;
    bool m_current = false;  ///< this version made the file
    bool m_latest = false;   ///< see setLatest()
    size_t m_valueBytes = 0; ///< in full chunks
    size_t m_fileBytes = 0;
    Message m_stays;
    std::set<std::string> m_leftTo; ///< names of sessions with copies
    mutable std::vector<DamagedRun> m_damaged;
    mutable Message m_damage;
};

/// A session that stays although nobody can read it: it is damaged at its beginning, or another
/// version wrote it.
struct UnreadableSession {
    std::string name;
    Message reason; ///< names the file
};

/// The sessions of a folder that nobody can take now.
struct OtherSessions {
    std::vector<UnreadableSession> unreadable;
    size_t used = 0;
};

/// Returns the sessions of a folder, oldest first. Removes those without a step, and those with
/// nothing but copies of runs in the others, where the folder can be written; leaves alone those
/// that cannot be read and those that a program uses, and adds them to `others`.
std::vector<LeftSession> leftSessions(const std::string& folder, OtherSessions* others = nullptr);
/// Leaves out the damaged runs that later ones of these sessions have copies of, with all that
/// could be read: restored at every start, they would be copied each time.
void leaveOutCopied(std::vector<LeftSession>&);

} // namespace halfscope
