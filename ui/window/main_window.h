// The main window. It lays out its parts and connects them with the objects that do the work:
// menus, keys, files, closing, what is shown, and the frames. The numbers are in the models, the
// training is in the session.
#pragma once

#include "ui/look/theme.h"
#include "ui/session/experiment_controller.h"
#include "ui/session/facts_reader.h"
#include "ui/session/recent_files.h"
#include "ui/window/close_guard.h"
#include "ui/window/figures.h"
#include "ui/window/frame_loop.h"
#include "ui/window/key_router.h"
#include "ui/window/run_models.h"
#include "ui/window/session_keeper.h"
#include "ui/window/shown_run.h"
#include "ui/window/window_files.h"
#include "ui/window/window_menus.h"
#include "ui/window/window_parts.h"

#include <QMainWindow>
#include <QStringList>

#include <cstdint>
#include <memory>
#include <optional>

namespace halfscope {

struct WindowOptions {
    /// Whether geometry, splitters and theme are read from and written to the user's settings.
    bool remember = false;
    Theme theme = Theme::Auto;
    RunFactory factory = makeExperimentRun;
    /// Closing asks before it loses unsaved runs that have trained for at least so many seconds in
    /// all; of others, see CloseGuard.
    double askAfterSeconds = 60;
    /// The folder where runs are kept on disk while they train; empty: they are not kept.
    QString sessions{};
    LeftRuns left{};
};

class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(WindowOptions = {});
    ~MainWindow() override;

    // See WindowFiles.
    void openPreset(const QString& name) { m_files->openPreset(name); }
    void openExperiment(const QString& path) { m_files->openExperiment(path); }
    void openPicture(const QString& path) { m_files->openPicture(path); }
    void openFile(const QString& path) { m_files->open(path); }
    bool tryFile(const QString& path) { return m_files->tryOpen(path); }
    bool opens() const { return m_files->opens(); }
    QStringList networks() const { return m_files->networks(); }
    void saveExperiment(const QString& path) { m_files->saveExperiment(path); }
    /// Writes what `halfscope-cli run --out` writes, as far as the window has it, and the plots.
    /// Leaves out experiment.json when it could not be opened again. For a saved run it writes the
    /// files that were read. Returns the names of the files; earlier files of these names are
    /// replaced, or removed where this run has none. Throws RunError, also while a saved run is not
    /// shown yet.
    QStringList saveResults(const QString& folder) { return m_files->saveResults(folder); }

    void savePlots(const QString& path) { m_files->savePlots(path); }
    QStringList resultsIn(const QString& folder) { return m_files->resultsIn(folder); }

    // See ShownRun.
    void setStopStep(qint64 steps) { m_shown->setStopStep(steps); }
    void openWithStop(std::optional<qint64> steps) { m_shown->openWithStop(steps); }
    void play() { m_shown->play(); }
    void pause() { m_controller->pause(); }
    void stepOnce() { m_shown->stepOnce(); }
    void restart() { m_shown->restart(); }
    void bringBack() { m_shown->bringBack(); }
    bool canBringBack() const { return m_shown->canBringBack(); }
    bool showsSaved() const { return m_shown->showsSaved(); }
    void chooseTheme(Theme);

    ExperimentController& controller() { return *m_controller; }
    ConfigModel& config() { return m_models.config; }
    ShownRun& shown() { return *m_shown; }
    RunModel& run() { return m_models.run; }
    RunListModel& runs() { return m_models.list; }
    EventModel& events() { return m_models.events; }
    SetupPanel& setup() { return *m_parts.setup; }
    PlotStack& plots() { return *m_parts.plots; }
    GradientView& gradients() { return *m_parts.gradients; }
    QString bannerText() const;
    /// Writes the runs to disk up to now, for the next start in case this window is not closed
    /// properly. Returns why it could not; empty when it could.
    Message keepSession() { return m_keeper ? m_keeper->keep() : Message(); }
    /// Does the same, including the last steps and the networks; a training pauses for a moment.
    Message keepAndGoOn();
    /// Closes without questions, because the program was told to end. The runs are offered at the
    /// next start. Returns what keepSession() returns.
    Message endSession();
    /// Edits the settings as the window that was to start again had them. Call it after the file
    /// that they belong to was opened; those of a run that is restored follow it by themselves.
    void editAsBefore();
    /// The arguments with which the program is to start again once the window is closed; nothing
    /// when it is not to.
    const std::optional<QStringList>& startsAgain() const { return m_startsAgain; }

signals:
    /// Emitted when nothing has arrived and nothing was drawn for some frames, and nothing is
    /// running.
    void settled();
    /// Emitted when a file was opened or could not be opened.
    void fileEnded(bool opened);
    /// Emitted when the user no longer wants it to be opened.
    void fileStopped();

protected:
    void showEvent(QShowEvent*) override;
    void hideEvent(QHideEvent*) override;
    void closeEvent(QCloseEvent*) override;
    void dragEnterEvent(QDragEnterEvent*) override;
    void dropEvent(QDropEvent*) override;

private:
    void buildCentre();
    void buildMiddle();
    void buildRight();
    void buildStatusBar();
    void connectParts();
    void connectEvents();
    void tell(const QString& text);
    void keepData();
    FrameLoop::Done frame();
    void tellFailure();
    FrameLoop::Done draw();
    double trainedPace(const RunPtr&);
    void followName();
    bool competes() const;
    void restoreLayout();
    void saveLayout() const;
    void startAgain();
    void keepAndClose();
    Message keepLastSteps();

    WindowOptions m_options;
    bool m_ends = false;  ///< closing asks nothing any more
    bool m_keeps = false; ///< the window closes once the training rests and its runs are kept
    std::optional<QStringList> m_startsAgain;
    RunModels m_models;
    FactsReader m_facts; ///< of the data that the settings name
    RecentFiles m_recent;
    WindowParts m_parts; ///< the parts are children of the window
    std::unique_ptr<ExperimentController> m_controller;
    std::optional<Figures> m_figures; ///< this and everything below are built after the parts
    std::unique_ptr<ShownRun> m_shown;
    std::unique_ptr<WindowFiles> m_files;
    std::unique_ptr<WindowMenus> m_menus;
    std::unique_ptr<FrameLoop> m_frames;
    std::unique_ptr<CloseGuard> m_closing;
    std::unique_ptr<SessionKeeper> m_keeper; ///< null when nothing is kept
    std::unique_ptr<KeyRouter> m_keys;
    std::weak_ptr<Run> m_paced;        ///< whose pace this is, see trainedPace()
    uint64_t m_pacedVersion = 0;       ///< Run::version() then
    double m_pace = 0;                 ///< in steps a second
    QString m_title;                   ///< the window's, before the run has a name of its own
    QString m_named;                   ///< the title after that name
    QString m_outOfMemory;             ///< the sentence, made while there is memory
    std::unique_ptr<char[]> m_reserve; ///< given back before an error is reported
};

} // namespace halfscope
