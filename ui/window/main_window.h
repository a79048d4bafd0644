// The window: lays out the panels and plots, connects them with the models and the controller, and
// draws one frame about 30 times a second. Numbers live in the models, training in the session.
#pragma once

#include "engine/core/error.h"
#include "ui/look/theme.h"
#include "ui/models/config_model.h"
#include "ui/models/event_model.h"
#include "ui/models/run_model.h"
#include "ui/models/step_log.h"
#include "ui/panels/scaler_panel.h"
#include "ui/session/edit_history.h"
#include "ui/session/experiment_controller.h"
#include "ui/session/saved_run_job.h"

#include <QElapsedTimer>
#include <QMainWindow>
#include <QTimer>

class QLabel;
class QMenu;
class QSplitter;

namespace halfscope {

class Banner;
class CompareView;
class EventPanel;
class GradientView;
class HelpDialog;
class PlotStack;
class SetupPanel;
class TransportBar;

struct WindowOptions {
    /// Geometry, splitters and theme are read from and written to the user's settings.
    bool remember = false;
    Theme theme = Theme::Auto;
    RunFactory factory = makeExperimentRun;
    /// Closing asks before it loses a run that trained as long, in seconds, and was not saved.
    double askAfterSeconds = 60;
};

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(WindowOptions = {});
    ~MainWindow() override;

    /// InputError for an unknown name.
    void openPreset(const QString& name);
    /// An experiment file; experiment.json beside the rows of a saved run shows that run, too.
    /// InputError.
    void openExperiment(const QString& path);
    /// Lets the networks paint a PNG or JPEG file.
    void openPicture(const QString& path);
    /// Either of them, by the name's ending; of a folder or its steps.csv, the run saved there.
    void openFile(const QString& path);
    /// The same, with the sentence of an error as banner: then nothing is opened and it gives
    /// false.
    bool tryFile(const QString& path);
    /// The settings as they are. InputError when the file could not be opened again; RunError.
    void saveExperiment(const QString& path);
    /// What `halfscope-cli run --out` writes, as far as the window has it, and the plots; without
    /// experiment.json where that could not be opened again. Of a saved run the files that were
    /// read. Gives the names of the files, of which earlier ones are replaced, or go where this run
    /// has none. RunError, also while a saved run is not shown yet.
    QStringList saveResults(const QString& folder);
    void setStopStep(qint64 steps);
    void play();
    void pause();
    void stepOnce();
    void restart();
    /// The run that a reset or another experiment took the place of: its settings, curves, events
    /// and pictures, as those of a saved run. The one that it takes the place of is then kept.
    void bringBack();
    bool canBringBack() const { return m_before.has_value(); }
    void chooseTheme(Theme);

    ExperimentController& controller() { return *m_controller; }
    ConfigModel& config() { return m_config; }
    RunModel& run() { return m_run; }
    EventModel& events() { return m_events; }
    SetupPanel& setup() { return *m_setup; }
    PlotStack& plots() { return *m_plots; }
    GradientView& gradients() { return *m_gradients; }
    QString bannerText() const;
    /// What is seen is a saved run: nothing is trained yet.
    bool showsSaved() const { return m_showsSaved; }

signals:
    /// Nothing has arrived and nothing was drawn for some frames, and nothing is running.
    void settled();

protected:
    void changeEvent(QEvent*) override;
    void closeEvent(QCloseEvent*) override;
    void dragEnterEvent(QDragEnterEvent*) override;
    void dropEvent(QDropEvent*) override;
    bool eventFilter(QObject*, QEvent*) override;

private:
    static constexpr int kSetupWidth = 334, kRightWidth = 280; ///< of the outer columns, at first

    // layout (main_window.cpp)
    void buildCentre();
    void buildStatusBar();
    /// Whether a key goes to the widget itself, or past it to the shortcuts.
    enum class KeyGoes { AsUsual, ToWidget, Past };
    static KeyGoes whereGoes(const QKeyEvent&, const QObject& watched);
    void connectPanels();
    void restoreLayout();
    void saveLayout() const;
    /// Between pictures and plots: no more for the pictures than they fill, unless the user has
    /// moved the border.
    void divideCentre();
    /// Between counters and events: what the counters need, unless the user has moved the border.
    void divideRight();

    // menus (main_window_menus.cpp)
    void buildMenus();
    void fillViewMenu(QMenu&);
    void fillSmoothingMenu(QMenu&);
    void addGradientsAction(QMenu&);
    void fillZoomMenu(QMenu&);
    void addShortcut(const QKeySequence&, void (MainWindow::*)());
    void showHelp();
    void showHelpPart(const QString& anchor);
    void showVerification();
    void showAbout();

    // the run (main_window_run.cpp)
    void connectSession();
    void load(const RunConfig&, const QString& preset, const QString& title,
              const QString& about = {});
    void startRun();
    void showBuilt();
    void invite();
    /// An empty run of lanes that are set as in the config.
    void showRun(const SessionInfo&, const RunConfig&);
    void showLanes(const SessionInfo&, const RunConfig&);
    void showState();
    void playOrPause();
    void followNewest();
    void showError(const QString&);
    void updateGrowthIntervals();
    /// A live edit may have switched a lane's scaler on or off.
    void updateScalers();
    void updateTitles();
    void setScale(int lane, const QString& text);
    /// Runs the action and shows the sentence of an error as banner.
    template <class Action>
    bool guarded(Action action) {
        try {
            action();
            return true;
        } catch (const InputError& error) {
            showError(QString::fromUtf8(error.what()));
        } catch (const RunError& error) {
            showError(QString::fromUtf8(error.what()));
        }
        return false;
    }

    // one frame (main_window_frame.cpp)
    void startFrames();
    void frame();
    void showFigures();
    void pace();
    void setHeadline(const QString& text, double size);
    void updateFrameRate();

    // saved runs (main_window_saved.cpp)
    void readSaved(const QString& folder, const RunConfig&);
    void forgetSaved();
    void beginSaved();
    void endSaved();
    /// What the frame has to show of a training; shows some of a saved run while there is more.
    SessionBatch nextBatch();
    void showSomeOfSaved();
    static QString savedText(const SavedRun&);
    /// The device that trained what is shown, wherever the window names one.
    void showDevice();

    // the run before (main_window_kept.cpp)
    void addBringBack(QMenu&);
    /// Before the settings become those of another run than the one that is shown.
    void aboutToLeave();
    void keepRun();
    /// What is shown of a training, without rows and pictures.
    SavedResultsPtr shownResults() const;
    /// How long the run that is shown was trained, in seconds, pauses left out.
    double trainedSeconds() const;
    /// Whether a run would be lost that nobody wants to train twice.
    bool unsaved() const;
    /// Asks where a run would be lost; false: stay.
    bool mayClose();

    // files (main_window_files.cpp)
    void chooseFile();
    void chooseExperimentFile();
    void savePlots();
    bool chooseResultsFolder(); ///< whether they were saved
    QStringList resultNames() const;
    /// Of the run that is built, where it is known; the settings may be ahead of it.
    const RunConfig& builtConfig() const;
    /// Of the run whose rows are shown.
    const RunConfig& trainedConfig() const;

    WindowOptions m_options;
    ConfigModel m_config;
    RunModel m_run;
    EventModel m_events;
    StepLog m_steps;
    EditHistory m_history{m_config};
    std::unique_ptr<ExperimentController> m_controller;
    QTimer m_frameTimer;
    QElapsedTimer m_clock;
    std::vector<qint64> m_frameTimes;         ///< ms, of the last second
    double m_usedBefore = 0, m_frameCost = 0; ///< processor time of this thread, ms
    bool m_newFigures = false;                ///< not shown yet
    std::optional<qint64> m_figuresShown;     ///< ms of m_clock; nothing yet of this run
    QString m_news;                           ///< the last event in words
    int m_quietFrames = 0;
    bool m_dividedByHand = false, m_rightByHand = false;
    std::vector<LaneFacts> m_facts;          ///< by lane of the run
    double m_headlineSize = 1;               ///< of the window's font
    QString m_about;                         ///< of a preset that needs words; else empty
    bool m_otherExperiment = true;           ///< than the run before; until it is built
    qint64 m_stopStride = 300;               ///< how many more steps Continue asks for
    std::unique_ptr<SavedRunJob> m_savedJob; ///< reads; null otherwise
    SavedResultsPtr m_saved;                 ///< read and not all shown yet; null otherwise
    /// The rows that are shown are of this run, which has them no more; null otherwise.
    SavedResultsPtr m_shownSaved;
    std::optional<TrainedOn> m_trainedOn; ///< what is shown; nothing where no file tells
    struct SavedShown {
        size_t pieces = 0, events = 0;
    } m_savedShown;
    bool m_showsSaved = false;
    QString m_savedText;        ///< which run is shown, in a sentence
    QElapsedTimer m_savedClock; ///< since reading began
    SessionBatch m_held;        ///< what came of the run that is built while a saved one is shown
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
    QString m_preset, m_title;         ///< of the experiment
    std::optional<Identity> m_leaving; ///< the run that is shown until the next one is built
    std::optional<KeptRun> m_before;
    size_t m_savedRows = 0; ///< rows of m_steps that are on disk

    TransportBar* m_transport = nullptr; ///< child, as all below
    Banner* m_banner = nullptr;
    SetupPanel* m_setup = nullptr;
    QLabel* m_headline = nullptr;
    CompareView* m_pictures = nullptr;
    PlotStack* m_plots = nullptr;
    ScalerPanel* m_scaler = nullptr;
    GradientView* m_gradients = nullptr;
    EventPanel* m_eventPanel = nullptr;
    QSplitter* m_columns = nullptr;
    QSplitter* m_centre = nullptr;
    QSplitter* m_right = nullptr;
    QLabel* m_stateLabel = nullptr;
    QLabel* m_rateLabel = nullptr;
    QLabel* m_deviceLabel = nullptr;
    QAction* m_followAction = nullptr;
    QAction* m_fullScreenAction = nullptr;
    QAction* m_settingsAction = nullptr;
    QAction* m_gradientsAction = nullptr;
    QAction* m_previousAction = nullptr;
    QAction* m_bringBackAction = nullptr;
    HelpDialog* m_help = nullptr;
};

} // namespace halfscope
