// How runs come, go, and come back.
#include "engine/runs/watched_runs.h"

#include <algorithm>

namespace halfscope {

namespace {

/// Whether a run is the one that was forgotten. It is not locked: that could make this thread the
/// last holder of another run.
bool isSameRun(const ForgottenRun& forgotten, const std::shared_ptr<const Run>& run) {
    return !forgotten.run.owner_before(run) && !run.owner_before(forgotten.run);
}

/// Lets everything that tells of a run be written again; its values and pictures stay.
void tellAgain(WatchedRun& watched) {
    watched.info.reset();
    watched.version = ~uint64_t{0};
}

} // namespace

void WatchedRuns::watch(std::shared_ptr<const Run> run, RunName name, SessionStore::Whole whole) {
    const std::lock_guard lock(m_mutex);
    m_coming.push_back({std::move(run), std::move(name), whole});
}

void WatchedRuns::change(const Run* run, std::optional<RunName> name) {
    const std::lock_guard lock(m_mutex);
    m_changed.emplace_back(run, std::move(name));
}

void WatchedRuns::forget(const Run* run) {
    const std::lock_guard lock(m_mutex);
    // A run that the thread has not taken yet is forgotten here. Its address must not stay in
    // m_going, because the next run may be allocated there, or this one may be watched again.
    const auto same = [run](const WatchedRun& each) { return each.run.get() == run; };
    std::erase_if(m_changed, [run](const auto& each) { return each.first == run; });
    if (std::erase_if(m_coming, same) == 0) m_going.push_back(run);
}

void WatchedRuns::setSaved(SessionStore::SavedSteps saved) {
    const std::lock_guard lock(m_mutex);
    m_saved.swap(saved); // the last holder of a run may let go of it without the lock
}

void WatchedRuns::take() {
    std::vector<std::shared_ptr<const Run>> gone; // released without the lock, too
    const std::lock_guard lock(m_mutex);
    gone.reserve(m_going.size());
    m_runs.reserve(m_runs.size() + m_coming.size());
    m_forgotten.reserve(m_forgotten.size() + m_going.size());
    takeGoing(gone); // first: one that goes may be among those that come
    takeComing();
    takeChanges();
    for (WatchedRun& each : m_runs) {
        const auto found = m_saved.find(each.run);
        each.saved = found == m_saved.end() ? SessionStore::StepsElsewhere{} : found->second;
    }
}

WatchedRuns::Runs::iterator WatchedRuns::find(const Run* run) {
    return std::ranges::find_if(m_runs, [run](const auto& each) { return each.run.get() == run; });
}

void WatchedRuns::takeGoing(std::vector<std::shared_ptr<const Run>>& gone) {
    for (const Run* run : m_going) {
        const auto found = find(run);
        if (found == m_runs.end()) continue;
        gone.push_back(std::exchange(found->run, nullptr));
        m_forgotten.push_back({std::move(*found), gone.back()});
        m_runs.erase(found);
    }
    m_going.clear();
}

/// A run that was forgotten goes on where the file still has it: it must not stand there twice.
void WatchedRuns::takeComing() {
    for (WatchedRun& each : m_coming) {
        const auto found = std::ranges::find_if(
            m_forgotten, [&each](const auto& known) { return isSameRun(known, each.run); });
        if (found != m_forgotten.end()) {
            WatchedRun before = std::exchange(found->was, {});
            before.run = std::move(each.run);
            before.name = std::move(each.name);
            before.whole = each.whole;
            tellAgain(before);
            each = std::move(before);
            m_forgotten.erase(found);
        }
        m_runs.push_back(std::move(each));
    }
    m_coming.clear();
}

void WatchedRuns::takeChanges() {
    for (const auto& [run, name] : m_changed) {
        const auto found = find(run);
        if (found == m_runs.end()) continue;
        if (name)
            found->name = *name;
        else
            found->whole = SessionStore::Whole::Yes;
        tellAgain(*found);
    }
    m_changed.clear();
}

} // namespace halfscope
