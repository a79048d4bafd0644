// Keeps the window's runs on disk while they train, restores those of a window that ended without
// being closed or whose user kept them, and stops a training that memory has no room for.
#pragma once

#include "engine/runs/run_store.h"
#include "engine/runs/session_store.h"
#include "ui/session/file_job.h"
#include "ui/session/restore_job.h"

#include <QObject>
#include <QTimer>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

class QWidget;

namespace halfscope {

class ExperimentController;
class ShownRun;
struct RunModels;
struct WindowParts;

/// The runs of an earlier window that are restored without a question, because that window was to
/// start again. The user is asked about others.
struct LeftRuns {
    QString session{};          ///< SessionKeeper::session() of that window; empty: there are none
    std::optional<int> shown{}; ///< the place of the one that is shown; nothing: none is
    QString edits{};            ///< the file of the settings that were edited; see takeEdits()
};

class SessionKeeper : public QObject {
    Q_OBJECT
public:
    /// `folder` is where sessions are kept.
    SessionKeeper(QString folder, RunModels&, ExperimentController&, ShownRun&, const WindowParts&,
                  QWidget& window);
    /// Waits a moment until the disk has what it should have; a disk that does not answer is left
    /// alone.
    ~SessionKeeper() override;

    /// Looks for runs that earlier windows left or whose users kept them, on a thread of its own,
    /// because a folder may hold many or lie on a slow disk. Asks what to do with them when they
    /// are found, but for those that are restored without a question; names sessions that cannot be
    /// read once.
    void offerLeft(const LeftRuns&);
    /// Writes what the window has to disk before it returns, for the next start. Returns why it
    /// could not; empty when it could.
    Message keep();
    /// Returns the name of the session that has this window's runs: its own, or the left one in
    /// whose file the store is to go on. Empty while nothing is kept on disk.
    QString session() const;
    /// Returns the place of a run among those of session(), see LeftRun::place.
    int placeOf(const Run*) const;
    /// Called when the program was told to end, before keep(): the next start says so.
    void toldToEnd();
    /// Called when the user closes the window: nothing that it has will be offered at the next
    /// start.
    void discard();
    /// Whether keepForNextTime() may be called: the disk takes what is trained.
    bool canKeep();
    /// Called when the user closes the window and wants to go on another time. Does what keep()
    /// does, and the next start offers the runs that are not saved as those that the user kept.
    Message keepForNextTime();
    /// Asks the user for another runBudget().
    void chooseBudget();

signals:
    /// A sentence for the status bar.
    void told(const QString& text);

private:
    using LeftSessions = std::vector<std::shared_ptr<LeftSession>>;
    struct Found {
        LeftSessions sessions;
        OtherSessions others;
    };
    void conclude(const std::shared_ptr<Found>&);
    /// `copied`: sessions that stay although nothing of them is offered.
    /// A training is not covered by the question: a banner leads to it.
    void offer(const LeftSessions&, const LeftSessions& copied);
    void ask(const LeftSessions&, const LeftSessions& copied);
    void tellStays(std::shared_ptr<LeftSession>, const QString& sentence, const Message& why);
    void look();
    bool trainsBeside() const;
    void watchRuns();
    void tellSaved();
    /// Makes the store on another thread, at the first call and a while after a failure. Returns
    /// false while that lasts, and when there can be no store.
    bool hasStore();
    bool takeStore(); ///< from the thread that makes it; whether there is a store
    void tellUnmade(const Message& why);
    /// `before`: the problem that the banner told.
    void tellKeptAgain(const Message& before);
    void awaitStore();
    /// Whether there is no store yet, and nothing to write: all runs of the window lie in the file
    /// of m_left.front(), in which the store is to go on.
    bool isKeptWhereLeft() const;
    void setMark(SessionMark);
    void close();
    void discardLeft(std::chrono::milliseconds patience);
    static Message noMemory();
    /// Removes the whole session, or some of its runs.
    void remove(std::shared_ptr<LeftSession>, std::vector<LeftRun> = {});
    /// Runs work that may take the disk long, on a thread of its own.
    void aside(std::function<void()> work);
    void tellProblems();
    bool mergeRuns();
    void removeRestored();
    void restore(std::shared_ptr<LeftSession>);
    void restoreNext();
    void stopRestoring();
    void hideStop();
    void takeRead();
    void endSession(const Message& reason);
    void settleSession(const Message& reason);
    void endRestoring();
    void tellRestoring(const QString& text);
    bool nothingToLose() const;

    QString m_folder;
    RunModels& m_models;
    ExperimentController& m_controller;
    ShownRun& m_shown;
    const WindowParts& m_parts;
    QWidget& m_window;
    QTimer m_timer;
    using StorePtr = std::shared_ptr<SessionStore>;
    StorePtr m_store;                       ///< from the first run on; null when it cannot be made
    std::shared_ptr<StorePtr> m_coming;     ///< where the thread of m_making puts the store
    std::unique_ptr<FileJob> m_making;      ///< makes the store; null otherwise
    SessionMark m_mark = SessionMark::None; ///< of the store, also one that is still being made
    /// Whether closing the window discards the store; shared with the thread that makes it.
    std::shared_ptr<std::atomic<bool>> m_discards = std::make_shared<std::atomic<bool>>(false);
    bool m_tried = false; ///< whether making the store was tried
    Message m_unmade;     ///< why it could not be made, as the banner told it
    std::chrono::steady_clock::time_point m_again; ///< when to try it once more
    bool m_late = false; ///< whether the disk did not answer keep() in time
    Message m_noMemory;  ///< made in advance, while there is memory
    std::vector<std::unique_ptr<FileJob>> m_errands;
    int m_full = 0; ///< looks at which the store was full and there was nothing to merge
    Message m_told; ///< the problem that the banner told
    struct Watched {
        std::shared_ptr<const Run> run;
        std::string name; ///< as the store was told
        bool named;       ///< by the user, likewise
    };
    std::map<const Run*, Watched> m_watched;
    static constexpr uint64_t kNoChanges = ~uint64_t{0};
    uint64_t m_changes = kNoChanges;   ///< the list's counter at the last look
    std::unique_ptr<FileJob> m_search; ///< looks for left sessions; null otherwise
    LeftSessions m_left;               ///< sessions that wait to be restored
    LeftRuns m_asked;
    /// The place of the run of m_left.front() that is shown; nothing: none is.
    std::optional<int> m_shows;
    int m_place = 0;            ///< of the next run of m_left.front()
    RunId m_back = RunId::None; ///< that run, once it is restored
    struct ReadRun {
        RunPtr run;
        LeftRun left;
        bool watched; ///< the store holds it already
    };
    std::vector<ReadRun> m_read;      ///< those that are not in the list yet
    std::vector<RestoredRun> m_taken; ///< those of m_left.front() that are
    /// The store, which does not exist yet, is to go on in the file of m_left.front().
    bool m_continues = false;
    bool m_stops = false;     ///< the user wants no more of them
    QString m_restoring;      ///< what the status bar says of it
    int m_restoringLooks = 0; ///< at what was read, since restoring began
    int m_restored = 0;
    size_t m_wanted = 0;          ///< the runs of all sessions that are to be restored
    RunId m_newest = RunId::None; ///< the last run of the newest session that was restored
    std::string m_newestSession;  ///< its name
    bool m_offered = false;       ///< whether the user asked for those that are being restored
    /// What was read into this session from another one. It is removed there once this session's
    /// store has done a write, unless pictures are missing in it.
    struct Moving {
        uint64_t write; ///< its number
        std::shared_ptr<LeftSession> from;
        std::vector<LeftRun> runs; ///< some of its runs; empty: all
    };
    std::vector<Moving> m_moving;
    LeftSessions m_staying; ///< held, so that no other window makes more copies of their runs
    std::unique_ptr<RestoreJob> m_job; ///< reads the first of m_left; null otherwise
};

} // namespace halfscope
