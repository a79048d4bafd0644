// Decides which run the window shows: the one in training, a saved one, or an earlier one. Runs own
// their data; the parts of the window view the run that is chosen here.
#pragma once

#include "engine/runs/run.h"
#include "ui/models/run_facts.h"
#include "ui/panels/transport_bar.h"
#include "ui/session/experiment_controller.h"
#include "ui/session/run_feed.h"
#include "ui/session/saved_run_job.h"
#include "ui/window/figures.h"
#include "ui/window/held_changes.h"
#include "ui/window/raised_stop.h"
#include "ui/window/recent_end.h"
#include "ui/window/reset_news.h"
#include "ui/window/run_models.h"
#include "ui/window/run_words.h"
#include "ui/window/start_check.h"
#include "ui/window/training_clock.h"
#include "ui/window/window_parts.h"

#include <QElapsedTimer>
#include <QObject>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace halfscope {

class ShownRun : public QObject {
    Q_OBJECT
public:
    ShownRun(RunModels&, ExperimentController&, Figures&, const WindowParts&);
    ~ShownRun() override;

    /// Loads another experiment. `about` is a sentence for a preset that needs one. Throws what
    /// checkConfig() throws, and leaves the present experiment then.
    void load(const RunConfig&, const QString& preset, const QString& title,
              const QString& about = {});
    /// Loads an experiment and continues from its checkpoint. `begun` is a run with the rows up to
    /// there, or null.
    void resume(std::shared_ptr<const ExperimentState>, const RunPtr& begun, const QString& title,
                const QString& preset = {}, const QString& about = {});
    /// Reads the run in a folder whose settings were loaded. The checkpoint is the one that lies
    /// there, or null.
    void readSaved(const QString& folder, const RunConfig&,
                   const std::shared_ptr<const RunCheckpoint>&);
    void setStopStep(qint64 steps);
    /// Experiments that are opened from now on begin with this step as their stop; nothing: with
    /// their own. It is no edit, unlike setStopStep().
    void openWithStop(std::optional<qint64> steps) { m_stop = steps; }
    /// Limits the steps a second; 0 means as fast as possible.
    void setPace(double stepsPerSecond);
    void play();
    void playOrPause() {
        if (m_controller.running() || m_controller.playWaits()) return m_controller.pause();
        m_playsWhenRead ? playWhenRead(false) : play();
    }
    /// Sets the name of a file that is being read to take the place of the experiment, for which
    /// Play waits; empty: none is any more. Returns whether Play has waited for the one before.
    bool setReading(const QString& name) {
        if (name.isEmpty() && m_reading.isEmpty()) return false;
        const bool played = std::exchange(m_playsWhenRead, false);
        m_reading = name;
        showState();
        return played;
    }
    /// What the key Space does: as the button does, but not just after the training has ended, when
    /// the key was meant to pause it.
    void pressSpace() {
        if (!m_recentEnd.isRecent()) playOrPause();
    }
    void stepOnce();
    /// Whether the settings are of a training that may be possible here, unlike a recorded one.
    bool canStart() const { return start() != TransportBar::Start::Never; }
    /// Whether setReading() has named a file.
    bool waitsForFile() const { return !m_reading.isEmpty(); }
    /// Builds the networks of the settings again. Returns false where they cannot be used.
    bool restart();
    /// Does what restart() does, and tells the way back to the run that is shown, once there is
    /// one.
    bool reset();
    void resetIfPossible() {
        if (canStart()) reset();
    }
    /// Leaves the training paused. Waits a moment for the networks of the step in progress, which
    /// are kept with their run, and takes the steps since the last frame.
    void takeLastSteps();
    /// Tells of a restart what its maker knows, after what it has changed itself.
    void tellWithNews(const QString& text) { emit told((m_news + u' ' + text).trimmed()); }
    /// Lets a lane that is in the settings but does not run yet continue from a lane of the run.
    void fork(int lane, int parent);
    /// Sets the loss scale of a lane of the run that is trained; it can be undone.
    void setScale(int lane, const QString& text);
    /// Lets a lane's scale grow also at more clean steps than the growth interval.
    void growAtLeast(int lane);
    void watchGradients(bool);
    /// Shows the run that a reset or another experiment replaced.
    void bringBack() { bringBack(m_before); }
    bool canBringBack() const { return m_before != RunId::None; }
    /// Adds a run of another session, or one that has so many rows on disk, to the list. It is seen
    /// there from the next frame on.
    RunId adopt(const RunPtr&, const QString& title, int64_t savedRows = 0);
    /// Edits the settings like the user of an earlier window, as soon as the networks that are
    /// being built are there: their run has its settings first.
    void editOnceBuilt(KeptEdits);
    /// Shows a run of the list; does nothing when it is gone.
    void bringBack(RunId);
    /// Trains from the start with that run's settings.
    void repeat(RunId);
    /// Takes a run out of the list, unless it is shown or being trained.
    void remove(RunId);
    /// Draws the curves of the other runs that are chosen in the list.
    void updateOverlays();
    /// Sets whether the curves of the replaced run are drawn behind the present ones, if both runs
    /// belong to one experiment.
    void showBefore(bool shows) {
        m_showsBefore = shows;
        updateOverlays();
    }
    bool showsBefore() const { return m_showsBefore; }
    /// Says why the user sees no curves of a replaced run, where there are none.
    void explainBefore();

    /// Hands what arrived from the training to its run, and lets the window's parts look at the run
    /// that is shown. Returns whether anything arrived.
    bool frame();
    /// Null before there is one.
    const RunPtr& run() const { return m_shown.run; }
    /// The run whose rows, all of them, run() begins with; often null.
    std::shared_ptr<const Run> before() const { return m_shown.before.lock(); }
    const QString& title() const { return m_shown.title; } ///< of run()
    /// Returns the name that the user has given run(); empty while it is called after its
    /// experiment.
    QString givenName() const;
    const QString& preset() const { return m_shown.preset; } ///< of run(); may be empty
    const QString& experiment() const { return m_title; }    ///< the title of the settings
    /// The run of the networks that were built last; null before the first.
    const RunPtr& trained() const { return m_current; }
    /// The run whose next step is known: the networks that were built for a saved run tell what it
    /// does not. Without networks, and for all other runs, the run that is shown.
    const RunPtr& stepped() const {
        return showsSaved() && m_controller.info() ? m_current : m_shown.run;
    }
    /// Whether the networks of stepped() are not those of the run that is shown, but new ones with
    /// its settings.
    bool stepsAnew() const {
        const SessionInfoPtr& built = m_controller.info();
        return showsSaved() && built && !built->goesOnAfter;
    }
    /// Says why no loss scale can be set, see RunWords.
    QString scaleObstacle() const {
        return RunWords::scaleObstacle(stateNow(), showsSaved(), m_models.run.knowsScales());
    }
    /// Says why there are no gradients by layer (`none`), or why those of stepped() are not newer;
    /// empty where they are the newest.
    QString layersNote(bool none) const;
    bool reads() const { return m_savedJob != nullptr; }
    /// Whether the saved run that was opened last could not be read, which the banner tells.
    bool refusedRun() const { return m_refusedRun; }
    /// Whether the run that is shown does not belong to the networks that are built, which have not
    /// been trained yet.
    bool showsSaved() const { return m_shown.run && (m_shown.back || m_shown.run != m_current); }
    /// Returns a sentence about a run that is over; otherwise empty.
    QString lead() const {
        return showsSaved() ? RunWords::savedRun(*m_shown.run, m_shown.back && !m_shown.listed)
                            : RunWords::over(stateNow());
    }
    /// Returns what to know before Play or Continue is pressed for the saved run that is shown; may
    /// be empty. That a recorded run cannot be trained is said in the status bar: the headline has
    /// its results.
    QString warning() const {
        if (showsSaved() && cannotStart())
            return isRecorded() ? QString() : RunWords::failedStart(false);
        return m_stays ? RunWords::changedData(stateNow()) : QString();
    }
    /// Returns how long the run that is shown was trained, in seconds, without pauses.
    double trainedSeconds() const {
        return m_shown.run ? halfscope::trainedSeconds(m_shown.run->now()) : 0;
    }
    /// Whether trained() can continue from its last step later: its networks are kept with it.
    bool isKept() const {
        const bool trained = m_current && m_current->step() > 0;
        if (!trained || !m_controller.hasNetworks()) return true;
        const auto& checkpoint = m_current->now().checkpoint();
        return checkpoint && checkpoint->step() == m_current->step();
    }
    /// Whether rows are shown that are not on disk.
    bool hasUnsavedRows() const { return m_shown.isUnsaved(); }
    /// Returns all runs of the session that have rows that are not on disk: the one that is shown
    /// and those of the list, but for those that another one went on from, as it has their rows.
    std::vector<RunPtr> unsavedRuns() const {
        std::vector<const Shown*> all{&m_shown};
        for (const auto& [id, other] : m_others)
            all.push_back(&other);
        std::set<std::shared_ptr<const Run>> begun; // by others, with all their rows
        for (const Shown* each : all)
            if (each->run) begun.insert(each->before.lock());
        std::vector<RunPtr> unsaved;
        for (const Shown* each : all)
            if (each->isUnsaved() && begun.count(each->run) == 0) unsaved.push_back(each->run);
        return unsaved;
    }
    /// Whether a run, shown or of the list, has all its rows in a folder.
    bool isInFolder(const Run& run) const {
        const auto has = [&run](const Shown& each) {
            return each.run.get() == &run && each.savedRows >= rowsOf(run.now());
        };
        return has(m_shown) || std::ranges::any_of(m_others, [&has](const auto& other) {
                   return has(other.second);
               });
    }
    /// Whether a run, or an earlier one that it goes on from, comes from a session that was left
    /// behind.
    bool isRestored(const Run&) const;
    /// What of a run could not be saved, although its rows were.
    struct LeftOut {
        bool pictures = false, checkpoint = false;
        bool any() const { return pictures || checkpoint; }
    };
    /// Records what a run contained when it was saved. It stays unsaved when something was left
    /// out.
    void markSaved(const RunPtr& run, const RunSnapshot& saved, LeftOut leftOut) {
        const auto mark = [&](Shown& each) {
            if (each.run != run) return;
            each.leftOut = leftOut;
            (leftOut.any() ? each.rowsInFolder : each.savedRows) = rowsOf(saved);
        };
        mark(m_shown);
        for (auto& [id, other] : m_others) // another one may be shown by now
            mark(other);
    }
    /// Returns what an unsaved run lacks in the folder that has all its rows; nothing of one whose
    /// rows are in none.
    LeftOut leftOut(const Run& run) const {
        const auto of = [&run](const Shown& each) {
            const bool inFolder = each.run.get() == &run && each.rowsInFolder > 0 &&
                                  each.rowsInFolder >= rowsOf(run.now());
            return inFolder ? each.leftOut : LeftOut();
        };
        for (const auto& [id, other] : m_others)
            if (other.run.get() == &run) return of(other);
        return of(m_shown);
    }
    /// Sets how long a run must have trained to be worth mentioning when it is replaced, in
    /// seconds.
    void setWorth(double seconds) { m_worthSeconds = seconds; }

signals:
    /// Emitted when another run can be brought back, or none can any more.
    void canBringBackChanged(bool can);
    void titleChanged(const QString& title);
    /// A sentence for the status bar; empty when the last one no longer holds.
    void told(const QString& text);
    void stirred();

private:
    struct Shown {
        RunPtr run;
        RunId id = RunId::None;       ///< in the list, from its first step on
        QString preset, title, about; ///< of its experiment
        int64_t savedRows = 0;        ///< how many of them are on disk
        int experiment = 0;           ///< the number of the experiment as m_experiment counts them
        bool back = false;            ///< it was brought back
        bool listed = false; ///< it was opened with others of its folder: it is saved, not restored
        std::weak_ptr<const Run> before{}; ///< whose rows, all of them, it begins with; often null
        int64_t rowsInFolder = 0;          ///< how many rows lie in a folder that lacks something
        LeftOut leftOut{};                 ///< that

        bool isUnsaved() const { return run && run->step() > 0 && savedRows < rowsOf(run->now()); }
    };

    void connectSession();
    void prepare(const RunConfig&, const QString& preset, const QString& title,
                 const QString& about);
    void set(std::string_view key, const QString& text);
    void callAfterData(const TaskConfig&);
    /// There is a current run.
    ResetNews newsOfReset() const;
    void showBuilt();
    void applyEdits();
    /// Builds networks again after a failure, and lets a run that has not begun begin with the
    /// present settings. Returns whether they can be used.
    bool takeUpEdits() {
        if (!m_startCheck.passes() || !canStart()) return false;
        if (m_controller.state() == SessionState::Failed || movesOn()) return tryAgain();
        return !m_controller.untrained() || !m_models.config.restartNeeded() || restart();
    }
    /// Whether building networks has failed: there are none.
    bool isUnbuilt() const {
        return m_controller.state() == SessionState::Failed && !m_controller.info();
    }
    /// Whether Play would train steps again that the run that is shown has already.
    bool repeats() const {
        const auto& built = m_controller.info();
        return built && built->goesOnAfter && m_shown.run &&
               m_shown.run->step() > *built->goesOnAfter;
    }
    /// Whether the settings are those of a training of PyTorch, which nobody can build here.
    bool isRecorded() const { return RunWords::isRecorded(m_models.config.config()); }
    /// Whether it has failed with the settings as they are; no change of the others makes a
    /// recorded training one of this program.
    bool cannotStart() const {
        return isUnbuilt() && keptStep() == 0 &&
               (!m_blamed || isRecorded() || m_models.config.isStill(*m_blamed));
    }
    /// Whether an edit since the end of the run lets it train further.
    bool goesOn() const {
        return m_models.config.goesOn(trainedSteps(), m_controller.outOfPatience());
    }
    TransportBar::Start start() const {
        using Start = TransportBar::Start;
        if (isUnbuilt() && isRecorded()) return Start::Never;
        if (cannotStart()) return Start::Failed;
        if (goesOn()) return Start::Further;
        if (keptStep() > 0) return Start::Kept;
        return startsOver() ? Start::Over : Start::Possible;
    }
    /// Returns what Play does, which trains what is in a file that it waits for.
    TransportBar::Start toldStart() const {
        return fileFirst() ? TransportBar::Start::Possible : start();
    }
    /// Whether the run that was trained last is still shown, but has lost its networks to a start
    /// that has failed.
    bool startsOver() const {
        return isUnbuilt() && keptStep() == 0 && !showsSaved() && m_models.run.step() > 0;
    }
    /// Returns the step after which a run that an error has ended can go on; 0 where it cannot.
    int64_t keptStep() const;
    /// Returns the last step of the run that was trained last, which there is, if it goes on with
    /// the length on the left: its other settings stay its own.
    int64_t plannedSteps() const;
    /// Whether the run is built from a checkpoint, but now with other places of its files, say.
    bool movesOn() const;
    /// Whether the settings on the left are those of the run that was trained or built last, with
    /// all its lanes.
    bool hasItsLanes() const;
    /// Whether a run whose networks could not be built from a checkpoint has only other places of
    /// its files since.
    bool isMoved() const;
    bool tryAgain();
    /// Lets the next build be the one that failed, with the places of isMoved().
    void planWhereMoved();
    /// Lets the next build go on from what is kept of the run that was trained last.
    void planToGoOn();
    void blameSettings(const Message& reason);
    void refuseSettings(const Message& reason);
    void invite();
    /// Returns what the preset says of itself, as long as the settings are those that it may tell
    /// of: length, seed, device and pace are the user's. Empty otherwise.
    QString presetWords() const;
    /// Builds the networks of a run of the list: from its checkpoint, which is read on the training
    /// thread, or else untrained.
    void buildAgain(const Shown&);
    /// Describes `run` as a run of the experiment that is loaded.
    Shown ofExperiment(const RunPtr& run, int64_t savedRows) const {
        Shown made{run, RunId::None, m_preset, m_title, m_about, savedRows, m_experiment, false};
        if (run == m_current) made.before = m_goesOnFrom;
        return made;
    }
    /// Whether a run is the replaced one, and of the experiment that is shown.
    bool comparesWith(RunId) const;
    void show(Shown);
    void keep();
    /// Puts a run into the list, from its first step on.
    void enlist();
    void showState();
    void playWhenRead(bool plays) {
        m_playsWhenRead = plays;
        showState();
    }
    /// Adds what is known of the time that the training takes. Its steps are those of the run that
    /// is shown, or it has none yet.
    void addTimes(RunWords::State& now) const {
        constexpr double kLong = 2; // seconds
        if (!m_controller.running() || !m_current || !m_controller.info()) return;
        const int64_t begin = m_controller.info()->goesOnAfter.value_or(0);
        const int64_t step = m_current->step(), trained = step - begin;
        now.onCpu = m_controller.info()->device.kind == "cpu";
        now.firstStepLasts = trained == 0 && m_clock.seconds() > kLong;
        if (trained < 2 || showsSaved()) return;
        const double pace = m_models.config.config().pace;
        const double each =
            std::max(lateSecondsPerStep(m_current->now(), begin), pace > 0 ? 1 / pace : 0);
        now.secondsLeft = each * static_cast<double>(m_current->info().config.steps - step);
    }
    /// Returns stateNow() as the user should see it while a file is read: Play waits for that as it
    /// does for networks that are being built. A training goes on.
    RunWords::State toldState() const {
        RunWords::State now = stateNow();
        now.reading = m_reading;
        addTimes(now);
        if (!fileFirst()) return now;
        now.session = SessionState::Building;
        now.playWaits = m_playsWhenRead;
        return now;
    }
    RunWords::State stateNow() const;
    /// Whether the next training waits for a file that is read.
    bool fileFirst() const { return waitsForFile() && !m_controller.willTrain(); }
    /// Returns how many steps the networks have trained. The last rows may not have arrived yet, or
    /// there are none: then the rows of a saved run are shown.
    int64_t trainedSteps() const {
        const auto& built = m_controller.info();
        const int64_t before = built ? built->goesOnAfter.value_or(0) : 0;
        return std::max(before, m_current ? m_current->step() : int64_t{0});
    }
    /// Returns the step to which Continue trains.
    int64_t nextStop() const {
        return m_models.config.nextStop(trainedSteps(), m_controller.outOfPatience() > 0);
    }
    /// Stores the present settings and outcome of the run that is being trained.
    void updateCurrent();
    void updateCards();
    /// Edits the run that is trained, once it goes on if it is at its end.
    void edit(int lane, const std::string& key, const FieldValue&);
    /// Says which loss scales wait until the run goes on; empty when none does.
    QString heldWords() const {
        return m_models.config.holds() && !showsSaved() ? m_held.words() : QString();
    }
    /// Lets the run go on with what was edited since its end.
    void release();
    /// Shows in the cards what waits.
    void showHeld();
    void follow(const RunConfig& now);
    void updateGradients();
    void explainGradients();
    QString gradientsNote(bool none) const;
    /// Whether the gradients of the next step cannot be counted, so that earlier ones may be shown.
    bool cannotCount() const {
        return m_controller.state() != SessionState::Failed &&
               !m_controller.whyNoGradients().empty();
    }
    void updateTarget();
    /// Names the device that trained the shown run, wherever the window names one.
    void showDevice();
    bool drain();

    RunModels& m_models;
    ExperimentController& m_controller;
    RecentEnd m_recentEnd{m_controller};
    TrainingClock m_clock{m_controller, [this] { showState(); }};
    RaisedStop m_raisedStop;
    Figures& m_figures;
    WindowParts m_parts;
    StartCheck m_startCheck{m_models, m_parts};
    QString m_preset, m_title; ///< of the experiment
    QString m_about;           ///< of a preset that needs words; else empty
    std::string m_data;        ///< what its data are called
    int m_experiment = 0;      ///< counts load()
    double m_worthSeconds = 60;
    std::optional<qint64> m_stop; ///< of experiments that are opened
    /// What a build uses besides the settings.
    struct Plan {
        std::optional<RunConfig> recorded{}; ///< whose forks and edits are repeated
        BeginningReader from{};              ///< what it continues from; null: nothing
        /// The run whose last step that is; often null. It may be the same run that goes on.
        std::weak_ptr<const Run> before{};
        /// Whether it is planToGoOn(): the settings on the left are the run's already.
        bool goesOn() const { return from && !recorded; }
    };
    /// What a checkpoint that was opened without a run is read from.
    struct Opened {
        int64_t step = 0;
        BeginningReader from{}; ///< null: nothing
    };
    Plan m_next;                       ///< of the next build
    Plan m_tried;                      ///< of the present one, until it has succeeded
    std::optional<RunConfig> m_blamed; ///< the settings when a build failed; nothing after others
    HeldChanges m_held{m_models};
    std::optional<KeptEdits> m_edits; ///< wait for the networks that are being built
    RunWords::Begins m_begins = RunWords::Begins::Anew; ///< of the last or present build
    int m_builds = 0;                      ///< the experiment of the last or present build
    Opened m_opened;                       ///< what m_current goes on from, until it keeps its own
    RunPtr m_current;                      ///< of the networks that were built last; null before
    std::weak_ptr<const Run> m_goesOnFrom; ///< Shown::before of m_current
    std::optional<RunFeed> m_feed;         ///< feeds m_current
    Shown m_shown;
    bool m_stays = false;            ///< the shown run stays until a training takes a step
    bool m_replaces = false;         ///< it has, and the next frame shows it
    std::map<RunId, Shown> m_others; ///< runs of the list that are not shown
    RunId m_before = RunId::None;    ///< the run that was replaced last and can be brought back
    bool m_showsBefore = false;
    bool m_watched = false; ///< gradients are counted
    bool m_refusedRun = false;
    QString m_reading; ///< see setReading()
    bool m_playsWhenRead = false;
    bool m_resets = false; ///< the networks that are being built are those of reset()
    QString m_news;        ///< see ResetNews; until the reset has built its networks
    std::unique_ptr<SavedRunJob> m_savedJob; ///< reads a saved run; null otherwise
    QElapsedTimer m_savedClock;              ///< time since reading began
};

} // namespace halfscope
