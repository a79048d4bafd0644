// Decides which run the window shows: the one in training, a saved one, or an earlier one. Runs own
// their numbers; the parts of the window look at the run that is chosen here.
#pragma once

#include "engine/runs/run.h"
#include "ui/session/experiment_controller.h"
#include "ui/session/run_feed.h"
#include "ui/session/saved_run_job.h"
#include "ui/window/figures.h"
#include "ui/window/run_models.h"
#include "ui/window/run_words.h"
#include "ui/window/window_parts.h"

#include <QElapsedTimer>
#include <QObject>

#include <map>
#include <memory>

namespace halfscope {

class ShownRun : public QObject {
    Q_OBJECT
public:
    ShownRun(RunModels&, ExperimentController&, Figures&, const WindowParts&);
    ~ShownRun() override;

    /// Another experiment; `about`: a sentence on a preset that needs one.
    void load(const RunConfig&, const QString& preset, const QString& title,
              const QString& about = {});
    /// The same, to go on from a checkpoint of it. `begun`: a run with the rows up to there, or
    /// null.
    void resume(std::shared_ptr<const ExperimentState>, const RunPtr& begun, const QString& title,
                const QString& preset = {}, const QString& about = {});
    /// The run in a folder, whose settings were loaded, and the checkpoint that lies there, or
    /// null.
    void readSaved(const QString& folder, const RunConfig&,
                   const std::shared_ptr<const RunCheckpoint>&);
    void setStopStep(qint64 steps);
    /// Steps a second at most; 0: as fast as possible.
    void setPace(double stepsPerSecond);
    void play();
    void playOrPause();
    /// Builds the networks of the settings again.
    void restart();
    /// A lane of the settings that does not run yet goes on from one of the run's.
    void fork(int lane, int parent);
    void setScale(int lane, const QString& text);
    /// Lets a lane's scale grow at more clean steps than the interval, too.
    void growAtLeast(int lane);
    void watchGradients(bool);
    /// Shows the run again that a reset or another experiment replaced.
    void bringBack();
    bool canBringBack() const { return m_before != RunId::None; }
    /// A run of another session: into the list.
    void adopt(const RunPtr&, const QString& title);
    /// Any run of the list; those that are gone do nothing.
    void bringBack(RunId);
    /// Trains with its settings from the start.
    void repeat(RunId);
    /// Takes a run out of the list, unless it is shown or trains.
    void remove(RunId);
    /// The curves of other runs that are asked for.
    void updateOverlays();
    /// Whether the curves of that run are drawn behind the present ones, if both have one
    /// experiment.
    void showBefore(bool);
    bool showsBefore() const { return m_showsBefore; }

    /// Hands what arrived from the training to its run, and lets the window's parts look at the run
    /// that is shown. Whether anything arrived.
    bool frame();
    /// Null before there is one.
    const RunPtr& run() const { return m_shown.run; }
    const QString& title() const { return m_shown.title; } ///< of that run
    /// That of the networks that were built last; null before.
    const RunPtr& trained() const { return m_current; }
    bool reads() const { return m_savedJob != nullptr; }
    /// Whether the run that is shown does not belong to the networks that are built, which have not
    /// been trained yet.
    bool showsSaved() const { return m_shown.run && (m_shown.back || m_shown.run != m_current); }
    /// A sentence about a run that is over; otherwise empty.
    QString lead() const;
    /// How long the run that is shown was trained, in seconds, pauses left out.
    double trainedSeconds() const;
    /// Whether rows are shown that are not on disk.
    bool hasUnsavedRows() const;
    /// What the run that is shown had when it was saved.
    void markSaved(const RunSnapshot&);
    /// How long a run must have trained to be worth keeping, in seconds.
    void setWorth(double seconds) { m_worthSeconds = seconds; }

signals:
    /// Another run can be brought back, or none.
    void canBringBackChanged(bool can);
    void titleChanged(const QString& title);
    /// A sentence for the status bar; empty: the last one is over.
    void told(const QString& text);
    void stirred();

private:
    struct Shown {
        RunPtr run;
        RunId id = RunId::None;       ///< in the list, from its first step on
        QString preset, title, about; ///< of its experiment
        int64_t savedRows = 0;        ///< that are on disk
        int experiment = 0;           ///< that was loaded; another number is another one
        bool back = false;            ///< was brought back
    };

    void connectSession();
    void prepare(const RunConfig&, const QString& preset, const QString& title,
                 const QString& about);
    void showBuilt();
    void blameSettings(const Message& reason);
    void refuseSettings(const Message& reason);
    void invite();
    /// Builds the networks of a run of the list: as its checkpoint has them, which is read on the
    /// training thread, else untrained ones.
    void buildAgain(const Shown&);
    /// A run of the experiment that is loaded.
    Shown ofExperiment(const RunPtr&, int64_t savedRows) const;
    void show(Shown);
    void keep();
    /// From its first step on a run is in the list.
    void enlist();
    void showState();
    RunWords::State stateNow() const;
    /// Where Continue trains to. The last rows may not have arrived yet, or none: then those of a
    /// saved run are shown.
    int64_t nextStop() const;
    /// The present settings and outcome of the run that is being trained.
    void updateCurrent();
    void updateCards();
    void follow(const RunConfig& now);
    void updateGradients();
    void explainGradients();
    void updateTarget();
    /// The device that trained what is shown, wherever the window names one.
    void showDevice();
    QString shownText() const; ///< a sentence on a run of the past
    bool drain();

    RunModels& m_models;
    ExperimentController& m_controller;
    Figures& m_figures;
    WindowParts m_parts;
    QString m_preset, m_title; ///< of the experiment
    QString m_about;           ///< of a preset that needs words; else empty
    int m_experiment = 0;      ///< counts load()
    double m_worthSeconds = 60;
    std::optional<RunConfig> m_planned; ///< whose forks and edits come with the next build
    BeginningReader m_from;             ///< what the next build goes on from; null
    RunWords::Begins m_begins = RunWords::Begins::Anew; ///< what was built last, or is being built
    RunPtr m_current;              ///< of the networks that were built last; null before
    std::optional<RunFeed> m_feed; ///< into m_current
    Shown m_shown;
    bool m_stays = false;            ///< what is shown until a training takes a step
    std::map<RunId, Shown> m_others; ///< runs of the list that are not shown
    RunId m_before = RunId::None;    ///< was replaced last, and can be brought back
    bool m_showsBefore = false;
    bool m_watched = false;                  ///< gradients are counted
    std::unique_ptr<SavedRunJob> m_savedJob; ///< reads; null otherwise
    QElapsedTimer m_savedClock;              ///< since reading began
};

} // namespace halfscope
