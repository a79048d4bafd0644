// Opens experiments, saved runs and pictures; saves experiments, results and pictures of the plots.
// Asks for their names, and reports what went wrong.
#pragma once

#include "engine/runs/run_saving.h"
#include "engine/train/experiment_state.h"
#include "engine/train/lane_file.h"
#include "ui/session/file_job.h"
#include "ui/session/left_threads.h"
#include "ui/session/live_board.h"
#include "ui/window/run_models.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QStringList>
#include <QTimer>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

class QWidget;

namespace halfscope {

class ExperimentController;
class ShownRun;

/// A file that was read and can be shown.
struct OpenedFile {
    QString path;
    bool picture = false;              ///< to be painted
    std::optional<RunConfig> config{}; ///< of an experiment
    bool savedRun = false;             ///< lies beside it
    bool weights = false;              ///< of a network, to start from
    /// Of a checkpoint, with the rows before it where they lie beside it.
    std::shared_ptr<const ExperimentState> from{};
    std::shared_ptr<Run> begun{};
    Message problem{}; ///< of a checkpoint that lies beside an experiment and cannot be read
};

class WindowFiles : public QObject {
    Q_OBJECT
public:
    WindowFiles(RunModels&, ExperimentController&, ShownRun&, const WindowParts&, QWidget& window);
    ~WindowFiles() override;

    /// InputError for an unknown name.
    void openPreset(const QString& name);
    /// An experiment file; an experiment.json in the folder of a saved run shows that run, too.
    /// InputError.
    void openExperiment(const QString& path);
    /// Lets the networks paint a PNG or JPEG file.
    void openPicture(const QString& path);
    /// Either of them, by the name's ending; of a folder or its steps.csv, the run saved there; a
    /// checkpoint, to go on from it; weights, to start from them.
    void open(const QString& path);
    /// The same, with the sentence of an error as banner: then nothing is opened and it gives
    /// false. What takes long to read is read aside, and opened or refused later; another file ends
    /// that.
    bool tryOpen(const QString& path);
    /// Whether a file is being read; ended() comes then.
    bool opens() const { return m_job != nullptr; }
    /// The settings as they are. InputError when the file could not be opened again; RunError.
    void saveExperiment(const QString& path);
    /// See MainWindow::saveResults().
    QStringList saveResults(const QString& folder);

    void choose();
    void chooseExperiment();
    void chooseCheckpoint();
    /// By lane, what the window calls those whose networks are there to be saved.
    QStringList networks() const;
    bool hasCritics() const; ///< beside them, as networks of their own
    void chooseLaneFile(LaneFile, int lane);
    void chooseTensorBoard();
    /// Writes the training for TensorBoard from now on, and those to come: asks for a folder first;
    /// false: stops.
    void chooseLiveBoard(bool writes);
    void startLiveBoard(const QString& folder);
    void stopLiveBoard();
    bool chooseResultsFolder(); ///< whether they were saved
    void choosePlots();
    /// An SVG, or a PNG by the ending of the name. RunError.
    void savePlots(const QString& path);
    /// Those of the results' files that are in a folder already. RunError where it does not answer.
    QStringList resultsIn(const QString& folder);
    /// To the clipboard, for slides.
    void copyPlots();
    void copyPictures();
    /// The settings as a Python program for PyTorch, to the clipboard.
    void copyAsPyTorch();

signals:
    /// Whether trainings are written for TensorBoard.
    void writesLiveChanged(bool writes);
    /// A sentence for the status bar.
    void told(const QString& text);
    /// A file was opened, or could not be.
    void ended(bool opened);

private:
    void show(const OpenedFile&);
    void showPicture(const QString& path);
    void lookAtLiveBoard();
    void startFrom(const QString& weights);
    void copyScript(const std::string& program);
    /// Shows what the job has read; false where it failed.
    bool conclude(const std::shared_ptr<OpenedFile>&);
    /// Whether there are none of the run that is shown.
    bool networksAreGone() const;
    QStringList resultNames() const;
    SavedFiles write(const RunSnapshot&, const QString& folder);
    /// On a thread of its own, as long tables take their time: the window is drawn meanwhile. The
    /// work owns all that it uses, for a dead network is not waited for when the window has closed
    /// or the user has enough: RunError "PATH: ...".
    struct Errand {
        QString title, text, path;
        /// Of a path that did not answer.
        Phrase late = phrase("Files", "%1: did not answer in time; what was being saved there may "
                                      "be incomplete");
        std::chrono::milliseconds afterClosing = kForFiles; ///< it is waited for so long
    };
    void aside(const Errand&, const std::function<void()>& work);

    RunModels& m_models;
    ExperimentController& m_controller;
    ShownRun& m_shown;
    WindowParts m_parts;
    QWidget& m_window;
    bool m_saves = false;
    QString m_leftOut; ///< why the last results lack experiment.json or the checkpoint; or empty
    std::unique_ptr<LiveBoard> m_board; ///< null: trainings are not written for TensorBoard
    QTimer m_boardTimer;
    std::shared_ptr<OpenedFile> m_opened; ///< what the job reads into
    std::unique_ptr<FileJob> m_job;       ///< reads a file; null otherwise
    std::unique_ptr<FileJob> m_script;    ///< writes the program for PyTorch; null otherwise
};

} // namespace halfscope
