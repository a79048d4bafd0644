// Opens experiments, saved runs and pictures; saves experiments, results and pictures of the plots.
// Asks for file names, and reports what went wrong.
#pragma once

#include "engine/runs/run_saving.h"
#include "ui/session/file_job.h"
#include "ui/session/live_board.h"
#include "ui/window/data_offer.h"
#include "ui/window/file_errand.h"
#include "ui/window/file_offers.h"
#include "ui/window/lane_files.h"
#include "ui/window/opened_weights.h"
#include "ui/window/program_copier.h"
#include "ui/window/reading_sign.h"
#include "ui/window/results_question.h"
#include "ui/window/run_models.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QStringList>
#include <QTimer>

#include <functional>
#include <memory>

class QWidget;

namespace halfscope {

class ExperimentController;
class ShownRun;
struct OpenedFile;

class WindowFiles : public QObject {
    Q_OBJECT
public:
    WindowFiles(RunModels&, ExperimentController&, ShownRun&, const WindowParts&, QWidget& window);
    ~WindowFiles() override;

    /// Throws InputError for an unknown name.
    void openPreset(const QString& name);
    /// Opens an experiment file; an experiment.json in the folder of a saved run shows that run,
    /// too. Throws InputError.
    void openExperiment(const QString& path);
    /// Makes a PNG or JPEG file the picture that the networks paint.
    void openPicture(const QString& path);
    /// Opens an experiment or a picture, by the name's ending. For a folder or its steps.csv it
    /// opens the run saved there, and for a folder of such folders all their runs; from a
    /// checkpoint it continues; from weights it starts; of a Python program it takes the network.
    void open(const QString& path);
    /// Does the same, but shows an error's sentence in the banner: then nothing is opened and it
    /// returns false. A file that takes long to read is read on another thread, and opened or
    /// refused later; opening another file cancels that.
    bool tryOpen(const QString& path) { return tryOpenAll({path}); }
    /// Does the same for one file or folder, or for folders of saved runs, which it lists all.
    bool tryOpenAll(const QStringList& paths);
    /// Whether a file is being read; ended() or stopped() will follow.
    bool opens() const { return m_job != nullptr; }
    /// Gives up what is being read, if anything is.
    void stopReading();
    /// Saves the settings as they are. Throws InputError when the file could not be opened again,
    /// and RunError.
    void saveExperiment(const QString& path);
    /// See MainWindow::saveResults().
    QStringList saveResults(const QString& folder);

    void choose();
    /// Asks for a folder: a saved run, several of them, or data.
    void chooseFolder();
    void chooseExperiment();
    void chooseCheckpoint();
    /// Returns the window's names, by lane, of the lanes whose networks are there to be saved. A
    /// run that was opened from a folder may have its weights there, which is seen when they are
    /// needed.
    QStringList networks() const { return m_lanes.networks(); }
    bool hasCritics() const { return m_lanes.hasCritics(); } ///< critics are networks of their own
    void chooseLaneFile(LaneFile file, int lane) { m_lanes.chooseLaneFile(file, lane); }
    /// Asks what a lane, or kEveryLane, is to predict and where to save it.
    void predict(int lane, SamplesIn in) { m_lanes.predict(lane, in); }
    void chooseTensorBoard();
    /// With true, asks for a folder and writes this training and later ones for TensorBoard from
    /// now on; with false, stops writing.
    void chooseLiveBoard(bool writes);
    void startLiveBoard(const QString& folder);
    void stopLiveBoard();
    bool chooseResultsFolder(); ///< whether all of the run was saved
    void choosePlots();
    /// Saves the plots as SVG, PNG or PDF, as the ending of the name says. Throws RunError.
    void savePlots(const QString& path);
    /// Asks where to save what the plot of the metric with this column shows.
    void chooseValues(const QString& column);
    /// Saves it as a csv table. Throws RunError.
    void saveValues(const QString& column, const QString& path);
    /// Asks where to save a map of settings, which is this csv table, and saves it. Returns an
    /// empty path if the user has chosen none. Throws RunError.
    QString chooseMap(QWidget* parent, const std::string& csv);
    void choosePictures();
    /// Saves the pictures as one PNG, as they are shown. Throws RunError.
    void savePictures(const QString& path);
    /// Returns those of the results' files that are in the folder already. Throws RunError when the
    /// folder does not answer.
    QStringList resultsIn(const QString& folder) { return heldIn(folder).files; }
    /// To the clipboard, for slides.
    void copyPlots();
    void copyPictures();
    /// Copies the settings to the clipboard as a Python program for PyTorch.
    void copyAsPyTorch() { m_copier.copy(); }
    /// Asks where to save that program.
    void chooseProgram();
    /// Saves it. Throws RunError, and InputError for data that cannot be read.
    void saveProgram(const QString& path);

signals:
    /// Tells whether trainings are written for TensorBoard.
    void writesLiveChanged(bool writes);
    /// A sentence for the status bar.
    void told(const QString& text);
    /// Tells of an experiment, a run or data that were opened or saved: of a run its folder.
    void used(const QString& path);
    /// Emitted when a file was opened or could not be opened.
    void ended(bool opened);
    /// Emitted when the user no longer wants it to be opened.
    void stopped();

private:
    void show(const OpenedFile&);
    void showRuns(const OpenedFile&);
    void showPicture(const OpenedFile&);
    void tellChosen(const OpenedFile& data);
    void lookAtLiveBoard();
    /// Starts from weights: from the part that fits, only when that was chosen. Throws InputError.
    void startFrom(const OpenedFile& weights, WeightsTaken);
    /// Trains the network of a program in place of the present one. A run that has steps stays
    /// until the user starts another one, as after an edit in Layers.
    void takeNetwork(const OpenedFile& program);
    /// Trains the user's network on data that were opened, where it fits them.
    void keepNetwork(const OpenedFile& data);
    /// Whether the run that is shown has steps.
    bool hasSteps() const;
    /// Whether steps or edits stand in the window, or steps are coming: weights were meant for
    /// them, and a preset is only offered.
    bool isInUse() const;
    /// Opens the preset whose network weights fit. Throws InputError.
    void openPresetOf(const OpenedFile& weights);
    /// Offers it in the banner.
    void offerPresetOf(const OpenedFile& weights);
    /// Tells which weights the networks that were built have not taken by name.
    void tellOfWeights();
    void keepNews(const QString& text);
    /// Shows what the job has read; returns false when it failed.
    bool conclude(const std::shared_ptr<OpenedFile>&);
    QStringList resultNames() const;
    HeldResults heldIn(const QString& folder);
    SavedFiles write(const RunSnapshot&, const QString& folder);
    void writeBytes(const FileErrand&, std::function<std::string()> make);

    RunModels& m_models;
    ExperimentController& m_controller;
    ShownRun& m_shown;
    WindowParts m_parts;
    QWidget& m_window;
    bool m_saves = false;
    ResultsQuestion m_question;
    int64_t m_savedStep = 0; ///< the last one of which the last results have all rows
    QString m_leftOut; ///< why the last results lack settings, checkpoint or pictures; or empty
    std::unique_ptr<LiveBoard> m_board; ///< null when trainings are not written for TensorBoard
    QTimer m_boardTimer;
    /// What the banner says of what was opened last, until a training starts: why it was refused,
    /// or how many runs it held; else empty.
    QString m_news;
    QString m_toldOfWeights;        ///< what was last told of the weights that a training begins
                                    ///< with: a reset is no reason to tell it again
    std::unique_ptr<FileJob> m_job; ///< reads a file; null otherwise
    ProgramCopier m_copier;
    LaneFiles m_lanes;
    DataOffer m_data;
    FileOffers m_offers;
    ReadingSign m_reading;
};

} // namespace halfscope
