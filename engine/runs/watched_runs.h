// The runs that a session's store writes: those that it watches, and forgotten ones that its file
// still has.
#pragma once

#include "engine/runs/watched_run.h"

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace halfscope {

/// What any thread tells is taken by the one that writes.
class WatchedRuns {
public:
    // Any thread may call these.
    void watch(std::shared_ptr<const Run>, RunName, SessionStore::Whole);
    /// Gives a run a name; without one, it is whole now.
    void change(const Run*, std::optional<RunName>);
    void forget(const Run*);
    void setSaved(SessionStore::SavedSteps);

    // Only the thread that writes may call these.
    /// Takes what was told since the last call: all of it, or nothing when memory is short.
    void take();
    std::vector<WatchedRun>& all() { return m_runs; }
    std::vector<ForgottenRun>& forgotten() { return m_forgotten; } ///< those that the file has

private:
    using Runs = std::vector<WatchedRun>;
    Runs::iterator find(const Run*);
    void takeGoing(std::vector<std::shared_ptr<const Run>>& gone);
    void takeComing();
    void takeChanges();

    std::mutex m_mutex; ///< guards what is told: the next four
    Runs m_coming;
    std::vector<const Run*> m_going;
    std::vector<std::pair<const Run*, std::optional<RunName>>> m_changed; ///< see change()
    SessionStore::SavedSteps m_saved;

    Runs m_runs; ///< this and the next one belong to the thread that writes
    std::vector<ForgottenRun> m_forgotten;
};

} // namespace halfscope
