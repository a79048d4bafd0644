// What is watched, what is offered, and what the user is told.
#include "ui/window/session_keeper.h"

#include "engine/core/error.h"
#include "ui/dialogs/ask.h"
#include "ui/dialogs/left_runs_box.h"
#include "ui/look/owned.h"
#include "ui/models/shown_numbers.h"
#include "ui/models/translated.h"
#include "ui/panels/banner.h"
#include "ui/session/experiment_controller.h"
#include "ui/session/user_settings.h"
#include "ui/window/guarded.h"
#include "ui/window/left_run_words.h"
#include "ui/window/next_start.h"
#include "ui/window/run_memory.h"
#include "ui/window/run_models.h"
#include "ui/window/shown_run.h"
#include "ui/window/unreadable_sessions.h"
#include "ui/window/window_parts.h"

#include <QLocale>
#include <QToolButton>

#include <algorithm>
#include <functional>
#include <new>
#include <set>
#include <utility>

namespace halfscope {
namespace {

constexpr int kBetweenRecoveryLooks = 250;           // ms
constexpr std::chrono::milliseconds kMadeAtOnce{50}; // how long the window waits for its store
constexpr std::chrono::seconds kBetweenTries{5};     // to make a store after a failure
/// So often no run may have anything to merge; in between, the store writes what was merged.
constexpr int kLooksBeforePause = 6;

/// Whether no folder has the run.
bool isOnlyHere(const RunStore::Entry& entry) { return entry.run->info().folder.empty(); }

} // namespace

SessionKeeper::SessionKeeper(QString folder, RunModels& models, ExperimentController& controller,
                             ShownRun& shown, const WindowParts& parts, QWidget& window)
    : m_folder(std::move(folder)), m_models(models), m_controller(controller), m_shown(shown),
      m_parts(parts), m_window(window) {
    m_noMemory = noMemory();
    connect(&m_timer, &QTimer::timeout, this, &SessionKeeper::look);
    connect(parts.stopRestoring, &QToolButton::clicked, this, &SessionKeeper::stopRestoring);
    m_timer.start(kBetweenRecoveryLooks);
}

void SessionKeeper::chooseBudget() {
    chooseRunBudget(m_window, *this, [this](size_t bytes) {
        if (m_store) m_store->setBudget(bytes);
    });
}

void SessionKeeper::look() {
    if (m_noMemory.empty()) m_noMemory = noMemory();
    std::erase_if(m_errands, [](const auto& each) { return each->isDone(); });
    takeRead();
    if (!m_unmade.empty() && !m_making && std::chrono::steady_clock::now() >= m_again) {
        m_tried = false;
        m_changes = kNoChanges;
    }
    watchRuns();
    tellSaved();
    tellProblems();
    removeRestored();
    if (m_timer.isActive()) // runs that wait for the store are watched soon after it is there
        m_timer.setInterval(m_making ? static_cast<int>(kMadeAtOnce.count())
                                     : kBetweenRecoveryLooks);
}

/// Removes what another session has of runs that are on disk in this one. A file with the only copy
/// of pictures or of a checkpoint stays.
void SessionKeeper::removeRestored() {
    std::erase_if(m_moving, [this](const Moving& each) {
        if (!m_store || !m_store->isWritten(each.write)) return false;
        const Message unread = m_store->unreadIn(each.from->name());
        if (unread.empty())
            remove(each.from, each.runs);
        else
            tellStays(each.from,
                      tr("Not everything could be restored (%1). The file of the session stays on "
                         "disk until you delete it at a later start."),
                      unread);
        return true;
    });
}

/// Says that the file of a session stays, and why.
void SessionKeeper::tellStays(std::shared_ptr<LeftSession> session, const QString& sentence,
                              const Message& why) {
    m_parts.banner->showText(sentence.arg(translated(why)));
    m_staying.push_back(std::move(session));
}

/// What cannot be removed is offered again at the next start.
void SessionKeeper::remove(std::shared_ptr<LeftSession> session, std::vector<LeftRun> runs) {
    aside([session = std::move(session), runs = std::move(runs)] {
        try {
            runs.empty() ? session->remove() : session->removeMoved(runs);
        } catch (const RunError&) {
        }
    });
}

void SessionKeeper::aside(std::function<void()> work) {
    try {
        m_errands.push_back(std::make_unique<FileJob>(work, FileJob::Leaving::Abandons));
    } catch (const RunError&) { // the system has no thread to give
        work();
    }
}

bool SessionKeeper::hasStore() {
    if (std::exchange(m_tried, true)) return takeStore();
    try {
        m_coming = std::make_shared<StorePtr>();
        m_making = std::make_unique<FileJob>(
            [to = m_coming, options = SessionOptions{m_folder.toStdString(), runBudget()},
             discards = m_discards, left = m_continues ? m_left.front() : nullptr,
             runs = m_continues ? m_taken : std::vector<RestoredRun>()] {
                try {
                    if (left) *to = std::make_shared<SessionStore>(options, *left, runs);
                } catch (const RunError&) { // it is damaged after all: its runs are copied
                }
                if (!*to && !*discards) *to = std::make_shared<SessionStore>(options);
                if (*to && *discards) (*to)->discard(); // the window has gone without it
            },
            FileJob::Leaving::Abandons);
        if (m_unmade.empty()) m_making->isDone(kMadeAtOnce);
        return takeStore();
    } catch (const RunError& error) {
        tellUnmade(error.message());
        return false;
    }
}

/// The user is told once, however often it is tried again: another program may leave the disk full
/// for a while.
void SessionKeeper::tellUnmade(const Message& why) {
    if (m_unmade.empty()) {
        m_parts.banner->showText(keptInMemory(translated(why)));
        m_unmade = why;
    }
    m_again = std::chrono::steady_clock::now() + kBetweenTries;
    m_continues = false;
}

void SessionKeeper::tellKeptAgain(const Message& before) {
    if (m_parts.banner->text() == keptInMemory(translated(before))) m_parts.banner->dismiss();
    emit told(tr("Runs are kept on disk again."));
}

bool SessionKeeper::takeStore() {
    if (!m_making || !m_making->isDone()) return m_store != nullptr;
    const std::unique_ptr<FileJob> made = std::exchange(m_making, nullptr);
    try {
        made->result();
        m_store = *std::exchange(m_coming, nullptr);
        const bool goesOn = m_continues && session().toStdString() == m_left.front()->name();
        for (const RestoredRun& each : m_taken)
            if (goesOn) m_watched[each.run.get()] = {each.run, each.left.name, each.left.named};
        m_store->setMark(m_mark);
        m_continues = false;
        if (!m_unmade.empty()) tellKeptAgain(std::exchange(m_unmade, {}));
    } catch (const RunError& error) {
        tellUnmade(error.message());
    }
    return m_store != nullptr;
}

/// Whether the list has runs, not from folders, besides those of the session that is being read.
bool SessionKeeper::trainsBeside() const {
    std::set<const Run*> read;
    for (const RestoredRun& each : m_taken)
        read.insert(each.run.get());
    return std::ranges::any_of(m_models.store.entries(), [&read](const RunStore::Entry& each) {
        return isOnlyHere(each) && !read.contains(each.run.get());
    });
}

/// Watches the runs of the list that were trained here, under their names in the list. Those from
/// folders are on disk already.
void SessionKeeper::watchRuns() {
    if (m_continues && m_making) takeStore();
    if (m_continues && !m_making) m_continues = !trainsBeside();
    if (m_continues || m_models.store.changes() == m_changes) return;
    const uint64_t changes = m_models.store.changes();
    std::map<const Run*, Watched> watched;
    const auto entries = m_models.store.entries();
    const bool stored = std::ranges::any_of(entries, isOnlyHere) && hasStore();
    for (const RunStore::Entry& entry : entries) {
        if (!isOnlyHere(entry) || !stored) continue;
        watched[entry.run.get()] = {entry.run, entry.name, entry.named};
        const auto known = m_watched.find(entry.run.get());
        if (known != m_watched.end() && known->second.name == entry.name &&
            known->second.named == entry.named)
            continue;
        if (known == m_watched.end())
            m_store->watch(entry.run, entry.name, SessionStore::Whole::Yes, namedBy(entry.named));
        else
            m_store->rename(entry.run.get(), entry.name, namedBy(entry.named));
        m_store->askToWrite(); // at once: what is shown a second before a crash must be there
    }
    const auto before = std::exchange(m_watched, std::move(watched));
    tellSaved(); // first: a run that goes may have had the steps of one that stays
    for (const auto& [run, each] : before)
        if (m_watched.count(run) == 0) m_store->forget(run);
    if (!m_making) m_changes = changes; // otherwise once the store is there
}

/// Tells the store which runs closing would not ask about, so that the next start offers the others
/// alone. A run whose steps another one has may go only once that one is stored.
void SessionKeeper::tellSaved() {
    if (!m_store) return;
    std::set<const Run*> unsaved;
    for (const RunPtr& run : m_shown.unsavedRuns()) {
        if (m_watched.count(run.get()) == 0 && run->info().folder.empty())
            return m_store->setSaved({});
        unsaved.insert(run.get());
    }
    SessionStore::SavedSteps saved;
    for (const auto& [run, each] : m_watched)
        if (const int64_t steps = each.run->now().lastStep(); unsaved.count(run) == 0)
            saved[each.run] = {steps, m_shown.isInFolder(*run) ? steps : 0};
    m_store->setSaved(std::move(saved));
}

void SessionKeeper::tellProblems() {
    if (!m_store) return;
    const Message problem = m_store->problem();
    if (!(problem == m_told)) {
        if (problem.empty())
            tellKeptAgain(m_told);
        else
            m_parts.banner->showText(keptInMemory(translated(problem)));
        m_told = problem;
    }
    if (!m_store->isFull() || !m_controller.running()) {
        m_full = 0;
        return;
    }
    if (mergeRuns()) m_full = 0;
    if (++m_full < kLooksBeforePause) return;
    m_full = 0;
    m_controller.pause();
    m_parts.banner->showText(
        tr("Paused: the runs of this session fill the memory for them (%1). Save results, delete "
           "runs from the list, or choose View > Memory for runs.")
            .arg(QLocale().formattedDataSize(static_cast<qint64>(runBudget()))));
}

/// Runs that are over merge no spans by themselves, because they take in nothing more. Returns
/// whether there is room now, or soon.
bool SessionKeeper::mergeRuns() {
    bool merged = false;
    for (const RunStore::Entry& entry : m_models.store.entries())
        if (m_models.store.writable(entry.id)->mergeSpans()) merged = true;
    return merged;
}

void SessionKeeper::offerLeft(const LeftRuns& asked) {
    m_asked = asked;
    const auto found = std::make_shared<Found>();
    guarded(*m_parts.banner, [&] {
        m_search = std::make_unique<FileJob>(
            [found, folder = m_folder.toStdString(), own = m_asked.session.toStdString()] {
                std::vector<LeftSession> left = leftSessions(folder, &found->others);
                for (LeftSession& each : left)
                    if (each.name() != own) each.leaveOutSaved();
                leaveOutCopied(left);
                for (LeftSession& each : left)
                    found->sessions.push_back(std::make_shared<LeftSession>(std::move(each)));
            },
            FileJob::Leaving::Abandons);
        connect(m_search.get(), &FileJob::done, this, [this, found] { conclude(found); });
    });
}

void SessionKeeper::conclude(const std::shared_ptr<Found>& found) {
    const std::unique_ptr<FileJob> search = std::move(m_search);
    LeftSessions left = std::move(found->sessions);
    try {
        search->result();
    } catch (const std::bad_alloc&) { // the sessions are there at the next start, too
        return;
    }
    const auto own = std::find_if(left.begin(), left.end(), [this](const auto& each) {
        return each->name() == m_asked.session.toStdString();
    });
    if (own != left.end()) {
        if (m_asked.shown) {
            const auto shown = (*own)->indexOf(static_cast<size_t>(*m_asked.shown));
            m_shows = shown ? std::optional(static_cast<int>(*shown)) : std::nullopt;
        }
        restore(*own);
        left.erase(own);
    }
    LeftSessions copied;
    std::erase_if(left, [this, &copied](const auto& session) {
        if (!session->runs().empty()) return false; // some are not saved
        if (session->stays().empty())
            remove(session); // as if its window had been closed
        else if (session->isLeftTo(m_asked.session.toStdString()))
            tellStays(session, onlyAPart(), session->stays()); // the copy needs no question
        else
            copied.push_back(session);
        return true;
    });
    tellUnreadable(found->others.unreadable, *m_parts.banner); // first: it would replace the offer
    if (!left.empty()) offer(left, copied);
}

void SessionKeeper::offer(const LeftSessions& left, const LeftSessions& copied) {
    // a banner about them would go with what is there before the file, and replace what is told
    const bool trains = m_controller.willTrain();
    if (m_shown.waitsForFile() || (trains && !m_parts.banner->isHidden()))
        return QTimer::singleShot(kBetweenRecoveryLooks, this,
                                  [this, left, copied] { offer(left, copied); });
    if (!trains) return ask(left, copied);
    if (m_parts.banner->showNotice(tr("There are runs of an earlier window that were not saved.")))
        m_parts.banner->offer(tr("Show them"), tr("Asks whether to restore or to delete them"),
                              [this, left, copied] { ask(left, copied); });
}

void SessionKeeper::ask(const LeftSessions& left, const LeftSessions& copied) {
    auto* box = make<LeftRunsBox>(leftRunLines(left), whyLeft(left), &m_window,
                                  left.size() == 1 ? beginningOf(*left.front()) : QString());
    connect(box, &QMessageBox::finished, this, [this, left, copied](int button) {
        m_offered = button == QMessageBox::Open;
        LeftSessions sessions = left; // oldest first, but for one in which the store can go on
        if (!m_tried && sessions.back()->canGoOn(runBudget()))
            std::ranges::rotate(sessions, sessions.end() - 1);
        for (const auto& session : sessions) {
            if (button == QMessageBox::Open) restore(session);
            if (button != QMessageBox::Discard) continue;
            // what was restored without a question keeps the damaged file that it comes from
            const bool stays = session->isLeftTo(m_asked.session.toStdString());
            remove(session, stays ? session->runs() : std::vector<LeftRun>());
        }
        for (const auto& session : copied) {
            if (button == QMessageBox::Open) tellStays(session, onlyAPart(), session->stays());
            if (button == QMessageBox::Discard) remove(session);
        }
    });
    box->open();
}

void SessionKeeper::restore(std::shared_ptr<LeftSession> session) {
    m_wanted += session->runs().size();
    m_left.push_back(std::move(session));
    if (!m_job) restoreNext();
}

/// Whether the window shows a preset of which nothing was trained or changed.
bool SessionKeeper::nothingToLose() const {
    return !m_shown.preset().isEmpty() && m_controller.untrained() && !m_controller.willTrain() &&
           !m_models.config.restartNeeded();
}

void SessionKeeper::restoreNext() {
    m_job.reset();
    if (m_left.empty()) return endRestoring();
    m_continues = !m_tried && m_left.front()->canGoOn(runBudget());
    const bool stored = !m_continues && hasStore();
    if (m_making)
        return QTimer::singleShot(kBetweenRecoveryLooks, this, [this] {
            if (!m_job) restoreNext();
        });
    m_job = std::make_unique<RestoreJob>(m_left.front(), stored ? m_store : nullptr);
    connect(m_job.get(), &RestoreJob::read, this,
            [this](const RunPtr& run, const LeftRun& left, bool watched) {
                // else it was on its way when the window gave up restoring
                if (m_job) m_read.push_back({run, left, watched});
            });
    connect(m_job.get(), &RestoreJob::finished, this, [this](const Message& reason) {
        if (m_job) endSession(reason);
    });
    m_place = 0;
    m_back = RunId::None;
    m_job->start();
    m_restoring = restoringText(m_restored, m_wanted);
    emit told(m_restoring);
}

/// Lists the runs that have been read since the last call. A few times a second is enough: the list
/// compares all runs whenever some are new.
void SessionKeeper::takeRead() {
    for (const ReadRun& each : std::exchange(m_read, {})) {
        if (each.watched) m_watched[each.run.get()] = {each.run, each.left.name, each.left.named};
        RunSnapshot read = each.run->snapshot();
        const RunId added = m_shown.adopt(each.run, QString::fromStdString(each.left.name));
        if (each.left.named) m_models.store.markNamed(added);
        if (m_shows == m_place++) m_back = added;
        if (m_left.front()->name() >= m_newestSession) {
            m_newest = added;
            m_newestSession = m_left.front()->name();
        }
        m_taken.push_back({each.run, std::move(read), each.left});
        ++m_restored;
    }
    if (!m_job) return;
    const bool more = static_cast<size_t>(m_restored) < m_wanted;
    const bool lasts = ++m_restoringLooks > 1; // a button that comes and goes at once is no use
    const bool back = !m_shows || m_back != RunId::None; // what a restart was to bring back
    if (more && lasts && back && !m_stops)
        m_parts.stopRestoring->show();
    else
        hideStop();
    tellRestoring(restoringText(m_restored, m_wanted));
}

/// Replaces what the status bar says of restoring, but no other sentence.
void SessionKeeper::tellRestoring(const QString& text) {
    retellBelow(m_window, std::exchange(m_restoring, text), text);
}

/// The runs that are not restored stay in their sessions.
void SessionKeeper::stopRestoring() {
    if (!m_job) return;
    m_stops = true;
    hideStop();
    m_job->stop();
}

/// The keyboard goes to the page: Qt would take the next control, which answers Space itself.
void SessionKeeper::hideStop() {
    if (m_parts.stopRestoring->hasFocus()) m_parts.page->setFocus(Qt::OtherFocusReason);
    m_parts.stopRestoring->hide();
}

/// A session has been read, or a part of it. If all of it was, and no run needed a store before,
/// the store goes on in the session's file.
void SessionKeeper::endSession(const Message& reason) {
    takeRead();
    m_models.list.refresh();
    watchRuns();
    const LeftSession& session = *m_left.front();
    const bool whole = !m_taken.empty() && m_taken.size() == session.runs().size();
    if (m_continues && !(whole && reason.empty() && session.canGoOn(runBudget()))) {
        m_continues = false;
        watchRuns();
    }
    if (m_continues) hasStore();
    settleSession(reason);
}

/// The store is there, unless there can be none: runs of another file move to its own.
void SessionKeeper::settleSession(const Message& reason) {
    watchRuns();
    if (m_making)
        return QTimer::singleShot(kMadeAtOnce, this, [this, reason] {
            if (m_job) settleSession(reason);
        });
    const std::shared_ptr<LeftSession> session = m_left.front();
    std::vector<LeftRun> taken;
    for (const RestoredRun& each : std::exchange(m_taken, {}))
        taken.push_back(each.left);
    const bool whole = taken.size() == session->runs().size();
    const bool moves = this->session().toStdString() != session->name();
    const Message& damage = session->damage().empty() ? session->stays() : session->damage();
    if (!reason.empty()) {
        m_parts.banner->showText(tr("Not all runs could be restored: %1").arg(translated(reason)));
    } else {
        if (m_shows) m_shown.bringBack(m_back);
        if (!damage.empty())
            tellStays(session, onlyAPart(), damage);
        else if (m_store && moves && !taken.empty())
            m_moving.push_back({m_store->askToWrite(), session,
                                whole ? std::vector<LeftRun>() : std::move(taken)});
    }
    if (std::exchange(m_shows, std::nullopt) && !m_asked.edits.isEmpty())
        guarded(*m_parts.banner, [this] { m_shown.editOnceBuilt(takeEdits(m_asked.edits)); });
    m_left.erase(m_left.begin());
    if (m_stops) m_left.clear();
    restoreNext();
}

void SessionKeeper::endRestoring() {
    hideStop();
    const int restored = std::exchange(m_restored, 0);
    const size_t wanted = std::exchange(m_wanted, 0);
    const bool stopped = std::exchange(m_stops, false);
    m_restoringLooks = 0;
    if (std::exchange(m_offered, false) && restored > 0 && nothingToLose())
        m_shown.bringBack(m_newest);
    const bool seen = m_models.store.current() == m_newest;
    untellBelow(m_window, m_restoring);
    if (stopped && static_cast<size_t>(restored) < wanted)
        emit told(tr("Restored %1 of %2 runs. The next start offers the rest again.")
                      .arg(countText(restored), countText(static_cast<int64_t>(wanted))));
    else if (restored > 1)
        emit told(tr("%1 runs were restored: View > Runs of this session lists them.")
                      .arg(countText(restored)));
    else if (restored == 1 && !seen)
        emit told(tr("One run was restored: View > Runs of this session lists it."));
}

} // namespace halfscope
