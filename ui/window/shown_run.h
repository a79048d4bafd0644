// Which run the window shows: the one that is trained, one that was saved, or the one before; and
// what its lanes, settings and state look like in the window's parts.
#pragma once

#include "ui/panels/scaler_panel.h"
#include "ui/session/experiment_controller.h"
#include "ui/session/saved_run_job.h"
#include "ui/window/figures.h"
#include "ui/window/run_models.h"
#include "ui/window/window_parts.h"

#include <QElapsedTimer>
#include <QObject>

#include <memory>
#include <optional>
#include <vector>

namespace halfscope {

class ShownRun : public QObject {
    Q_OBJECT
public:
    ShownRun(RunModels&, ExperimentController&, Figures&, const WindowParts&);
    ~ShownRun() override;

    /// Another experiment; `about`: a sentence on a preset that needs one.
    void load(const RunConfig&, const QString& preset, const QString& title,
              const QString& about = {});
    /// The run in a folder, whose settings were loaded, once its networks are built.
    void readSaved(const QString& folder, const RunConfig&);
    void setStopStep(qint64 steps);
    void play();
    void playOrPause();
    void restart();
    void setScale(int lane, const QString& text);
    /// The run that a reset or another experiment took the place of.
    void bringBack();
    bool canBringBack() const { return m_before.has_value(); }

    /// What the frame has to show of a training; shows some of a saved run while there is more.
    SessionBatch nextBatch();
    /// A saved run is read or shown piece by piece.
    bool reads() const { return m_savedJob || m_saved; }
    bool showsSaved() const { return m_showsSaved; }
    /// A sentence on a run that is over; else empty.
    QString lead() const;
    /// Of the run whose rows are shown.
    const RunConfig& trainedConfig() const;
    /// What is shown of it, without rows and pictures.
    SavedResultsPtr results() const { return m_shownSaved ? m_shownSaved : shownResults(); }
    /// How long the run that is shown was trained, in seconds, pauses left out.
    double trainedSeconds() const;
    /// Whether rows are shown that are not on disk.
    bool hasUnsavedRows() const;
    void markSaved() { m_savedRows = m_models.steps.size(); }
    /// How long a run has to have trained to be missed, in seconds.
    void setWorth(double seconds) { m_worthSeconds = seconds; }

signals:
    /// Another run can be brought back, or none.
    void canBringBackChanged(bool can);
    void titleChanged(const QString& title);
    /// A sentence for the status bar; empty: the last one is over.
    void told(const QString& text);
    void stirred();

private:
    /// Which run it is, apart from what it left.
    struct Identity {
        RunConfig config;
        QString preset, title, about;
    };
    struct KeptRun {
        Identity identity;
        StepLog steps;
        SavedResultsPtr results; ///< without its rows
    };

    void connectSession();
    void startRun();
    void showBuilt();
    void invite();
    /// An empty run of lanes that are set as in the config.
    void showRun(const SessionInfo&, const RunConfig&);
    void showLanes(const SessionInfo&, const RunConfig&);
    void showState();
    QString stateText() const;
    void updateGrowthIntervals();
    /// A live edit may have switched a lane's scaler on or off.
    void updateScalers();
    void updateTitles();
    /// The device that trained what is shown, wherever the window names one.
    void showDevice();
    /// Of the run that is built, where it is known; the settings may be ahead of it.
    const RunConfig& builtConfig() const;
    SavedResultsPtr shownResults() const;

    // a saved run
    void forgetSaved();
    void beginSaved();
    void showSomeOfSaved();
    void endSaved();
    static QString savedText(const SavedRun&);

    /// Before the settings become those of another run than the one that is shown.
    void aboutToLeave();
    void keepRun();

    RunModels& m_models;
    ExperimentController& m_controller;
    Figures& m_figures;
    WindowParts m_parts;
    std::vector<LaneFacts> m_facts;       ///< by lane of the run
    QString m_preset, m_title;            ///< of the experiment
    QString m_about;                      ///< of a preset that needs words; else empty
    bool m_otherExperiment = true;        ///< than the run before; until it is built
    qint64 m_stopStride = 300;            ///< how many more steps Continue asks for
    std::optional<TrainedOn> m_trainedOn; ///< what is shown; nothing where no file tells
    size_t m_savedRows = 0;               ///< rows of the log that are on disk
    double m_worthSeconds = 60;
    std::unique_ptr<SavedRunJob> m_savedJob; ///< reads; null otherwise
    SavedResultsPtr m_saved;                 ///< read and not all shown yet; null otherwise
    /// The rows that are shown are of this run, which has them no more; null otherwise.
    SavedResultsPtr m_shownSaved;
    struct SavedShown {
        size_t pieces = 0, events = 0;
    } m_savedShown;
    bool m_showsSaved = false;
    QString m_savedText;        ///< which run is shown, in a sentence
    QElapsedTimer m_savedClock; ///< since reading began
    SessionBatch m_held;        ///< what came of the run that is built while a saved one is shown
    std::optional<Identity> m_leaving; ///< the run that is shown until the next one is built
    std::optional<KeptRun> m_before;
};

} // namespace halfscope
