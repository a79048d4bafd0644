// The runs of a session on disk while they train. A crash or a power cut costs at most the last
// quarter of a second. Runs may outgrow the memory they are given: the values of their older chunks
// are then read from here. left_session.h reads a session that was left behind.
//
// A file that is removed meanwhile is made anew.
//
// Each session is one SQLite file in a folder of sessions; `session_file.h` has its tables. A file
// beside it, "NAME.lock", is locked while a program uses the session.
#pragma once

#include "engine/runs/run.h"
#include "engine/runs/session_mark.h"
#include "engine/runs/value_budget.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace halfscope {

class LeftSession;
struct RestoredRun;

struct SessionOptions {
    std::string folder;              ///< made when it is missing
    size_t budgetBytes = 4ull << 30; ///< for values and events in memory, of all runs together
    std::chrono::milliseconds every{250};
};

/// A thread of its own takes a snapshot of each run and writes what is new. Any thread may call the
/// functions.
class SessionStore {
public:
    /// Throws RunError when the folder or the file cannot be made.
    explicit SessionStore(SessionOptions);
    /// Goes on in the file of a session, of which `restored` are all runs, so that nothing of them
    /// is copied; other runs of the file are erased. It must be one that LeftSession::canGoOn()
    /// tells of. Throws RunError, and changes nothing, when the file is damaged after all.
    SessionStore(SessionOptions, const LeftSession&, const std::vector<RestoredRun>& restored);
    /// The session stays on disk, as if the program had ended here, unless discard() was called.
    /// Runs whose values were dropped from memory stay readable.
    ~SessionStore();
    SessionStore(const SessionStore&) = delete;
    SessionStore& operator=(const SessionStore&) = delete;

    enum class Whole : bool { No, Yes };
    enum class NamedBy : bool { Program, User };
    /// Stores a run from now on. `preset`: see RunInfo. One that is not whole yet, because it is
    /// being read from somewhere else, is nothing to be left behind before it is completed.
    void watch(std::shared_ptr<const Run>, const std::string& name, Whole = Whole::Yes,
               NamedBy = NamedBy::Program);
    void complete(const Run*);
    void rename(const Run*, const std::string& name, NamedBy = NamedBy::User);
    void forget(const Run*);
    /// Waits until everything that is there now is on disk and returns true, also when there is a
    /// problem() and it is not. Returns false when the thread that writes has computed next to
    /// nothing for `patience`: the disk does not answer.
    bool flush(std::chrono::milliseconds patience = std::chrono::hours(24));
    /// The same without waiting: whether isWritten() of the result. What failed is not written.
    uint64_t askToWrite();
    bool isWritten(uint64_t asked) const;
    /// Returns why not all pictures and checkpoints of the runs that come from another session,
    /// such as "20261121-173455-1", could be read there: they are not written, although all else
    /// is. Empty when all could. Known of what isWritten().
    Message unreadIn(const std::string& session) const;
    /// Lets nothing of the session remain after the store is destroyed.
    void discard();
    /// Sets why the session stays, if nothing goes wrong: the next write records it.
    void setMark(SessionMark);
    /// The steps of a run up to this one lie elsewhere, too.
    struct StepsElsewhere {
        int64_t all = 0;      ///< in a folder, or in another run
        int64_t inFolder = 0; ///< in a folder
        bool operator==(const StepsElsewhere&) const = default;
    };
    using SavedSteps = std::map<std::shared_ptr<const Run>, StepsElsewhere>;
    /// Sets which of the runs that are watched nobody would miss, see LeftSession::leaveOutSaved().
    void setSaved(SavedSteps);
    void setBudget(size_t bytes);

    /// Returns why nothing is stored at present: "PATH: database or disk is full"; empty while all
    /// is well.
    Message problem() const;
    /// Returns the heap bytes of the columns and events of all runs, when the thread last looked.
    size_t residentBytes() const;
    /// Whether those bytes exceed the budget and nothing can be dropped; training should then
    /// pause.
    bool isFull() const;
    /// Returns the path of the session's file. It changes when somebody removes or replaces the
    /// file: the session then goes on in another, with all that it has.
    std::string path() const;

private:
    class Writer;
    std::unique_ptr<Writer> m_writer;
};

inline SessionStore::NamedBy namedBy(bool user) {
    return user ? SessionStore::NamedBy::User : SessionStore::NamedBy::Program;
}

} // namespace halfscope
