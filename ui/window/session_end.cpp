// What becomes of the runs on disk when the window closes or starts again.
#include "ui/window/session_keeper.h"

#include "engine/core/error.h"
#include "ui/panels/banner.h"
#include "ui/window/run_models.h"
#include "ui/window/shown_run.h"

#include <QFileInfo>

#include <algorithm>
#include <exception>
#include <new>
#include <thread>
#include <utility>

namespace halfscope {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kClosing{500}; // how long closing waits for the disk
/// How long keep() waits for a disk that does not answer before it says that not all is kept. What
/// the system has taken is not lost then, because only its confirmation is missing.
constexpr std::chrono::milliseconds kKeeping{700};
/// How long it waits for a left session's file that is being read before the store goes on there:
/// the disk answers, and what was trained meanwhile is in memory alone.
constexpr std::chrono::milliseconds kChecking{3000};

} // namespace

SessionKeeper::~SessionKeeper() {
    m_search.reset();
    m_job.reset();
    try {
        close();
    } catch (const std::exception&) { // no memory or thread for it: the store was closed here
    }
}

/// Closes the store aside. The runs go with it: what they have on its disk is closed with them.
void SessionKeeper::close() {
    const std::chrono::milliseconds patience = m_late ? 0ms : kClosing;
    if (m_making && m_making->isDone(patience)) takeStore();
    if (*m_discards && m_continues) discardLeft(patience);
    if (!m_store) return;
    if (*m_discards) m_store->discard();
    const FileJob job(
        [store = std::exchange(m_store, nullptr), runs = std::exchange(m_watched, {})]() mutable {
            while (store.use_count() > 1) // a job that restores a run still uses it
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            store.reset();
            runs.clear();
        },
        FileJob::Leaving::Abandons);
    job.isDone(patience);
}

/// Deletes what was restored from a session in whose file the store was to go on. Runs that were
/// not read yet stay there: nobody was asked about them.
void SessionKeeper::discardLeft(std::chrono::milliseconds patience) {
    std::vector<LeftRun> gone;
    for (const RestoredRun& each : m_taken)
        gone.push_back(each.left);
    if (gone.empty()) return;
    const FileJob job(
        [session = m_left.front(), gone, used = m_making != nullptr] {
            try {
                if (gone.size() < session->runs().size())
                    session->removeMoved(gone);
                else if (used) // by a thread that makes a store there
                    session->lock()->removeFiles();
                else
                    session->remove();
            } catch (const RunError&) { // the next start offers them again
            }
        },
        FileJob::Leaving::Abandons);
    job.isDone(patience);
}

bool SessionKeeper::isKeptWhereLeft() const { return !m_store && m_continues && !trainsBeside(); }

QString SessionKeeper::session() const {
    if (!m_store)
        return isKeptWhereLeft() ? QString::fromStdString(m_left.front()->name()) : QString();
    return QFileInfo(QString::fromStdString(m_store->path())).completeBaseName();
}

int SessionKeeper::placeOf(const Run* run) const {
    if (!m_store) // the file has others, too, such as saved ones
        for (const RestoredRun& each : m_taken)
            if (each.run.get() == run) return static_cast<int>(each.left.place);
    int place = 0;
    for (const RunStore::Entry& entry : m_models.store.entries()) {
        if (entry.run.get() == run) return place;
        if (entry.run->info().folder.empty()) ++place;
    }
    return place;
}

Message SessionKeeper::noMemory() { return phrase("Files", "out of memory"); }

/// Waits a moment for a store that is being made.
void SessionKeeper::awaitStore() {
    if (m_making && !isKeptWhereLeft() && m_making->isDone(m_continues ? kChecking : kKeeping))
        look();
}

Message SessionKeeper::keep() {
    bool lacks = false;
    try {
        look();
    } catch (const std::bad_alloc&) { // what is watched already is kept
        lacks = true;
    }
    try {
        awaitStore();
        m_late = m_store ? !m_store->flush(kKeeping) : m_making && !isKeptWhereLeft();
        if (m_late)
            return Message(phrase("Files", "%1: did not answer in time"), m_folder.toStdString());
        const Message problem = m_store ? m_store->problem() : m_unmade;
        if (!problem.empty()) return problem;
    } catch (const std::bad_alloc&) {
        lacks = true;
    }
    return lacks ? (m_noMemory.empty() ? noMemory() : std::exchange(m_noMemory, Message()))
                 : Message();
}

/// The store may still be made.
void SessionKeeper::setMark(SessionMark mark) {
    m_mark = mark;
    if (m_store) m_store->setMark(mark);
}

void SessionKeeper::toldToEnd() { setMark(SessionMark::ToldToEnd); }

void SessionKeeper::discard() {
    m_timer.stop();
    m_search.reset();
    m_job.reset();
    m_read.clear();
    *m_discards = true;
}

bool SessionKeeper::canKeep() {
    try {
        look();
        awaitStore();
        return isKeptWhereLeft() || (m_store && m_store->problem().empty());
    } catch (const std::bad_alloc&) {
        return false;
    }
}

Message SessionKeeper::keepForNextTime() {
    const std::vector<RunPtr> unsaved = m_shown.unsavedRuns();
    setMark(SessionMark::Kept);
    if (const Message problem = keep(); !problem.empty()) {
        setMark(SessionMark::None); // the window goes on, and its banner tells why
        if (m_store) m_told = m_store->problem();
        return problem;
    }
    removeRestored();
    m_timer.stop();
    m_search.reset();
    m_job.reset();
    m_read.clear();          // they stay in their session
    if (!m_store) return {}; // and so do all others
    // saved ones lie in their folders: offered, they would look like runs that nobody has saved
    for (const auto& [run, each] : m_watched)
        if (std::find(unsaved.begin(), unsaved.end(), each.run) == unsaved.end())
            m_store->forget(run);
    return {};
}

} // namespace halfscope
