// A session that its program left behind: it crashed, was killed, or the power failed.
#pragma once

#include "engine/runs/run.h"
#include "engine/runs/session_lock.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace halfscope {

struct LeftRun {
    int64_t key = 0;
    std::string name;
    int64_t steps = 0; ///< of the lane that has most
};

/// Whoever reads a run may be told; each may be empty.
struct RestoreWatch {
    /// The run that grows from now on: a store that watches it drops from memory what is too much.
    std::function<void(const std::shared_ptr<Run>&)> begun;
    /// How much is read, 0 to 1; when it says no, there is no result.
    std::function<bool(double)> goesOn;
};

/// Nobody else can take the session while this object lives. One thread uses it.
class LeftSession {
public:
    LeftSession(SessionLock, std::string name);

    /// "20261121-173455-1": when it started, in UTC.
    const std::string& name() const { return m_name; }
    /// Those with steps.
    const std::vector<LeftRun>& runs() const { return m_runs; }
    /// With everything that reached the disk; its events and curves end at the last look of its
    /// session. RunError, InputError for a file that is damaged.
    std::shared_ptr<Run> read(const LeftRun&, const RestoreWatch& = {}) const;
    /// The file goes with the object.
    void remove() { m_lock.removeSession(); }
    /// One of runs(); the file with the last one. RunError.
    void remove(const LeftRun&);

private:
    SessionLock m_lock;
    std::string m_name;
    std::vector<LeftRun> m_runs;
};

/// Of a folder, oldest first, but those that a program uses. Those without a step are removed;
/// those that cannot be read, or that another version wrote, are left alone.
std::vector<LeftSession> leftSessions(const std::string& folder);

} // namespace halfscope
