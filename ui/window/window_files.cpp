// Names of files, dialogs that ask for them, and what is written.
#include "ui/window/window_files.h"

#include "engine/io/atomic_file.h"
#include "engine/runs/gradient_file.h"
#include "engine/runs/run_files.h"
#include "engine/runs/saved_run.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/guarded.h"
#include "ui/window/shown_run.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QMessageBox>

namespace halfscope {
namespace {

/// A name typed without an ending gets that of `name`, before the dialog asks about overwriting.
QString chooseTarget(QWidget* parent, const QString& title, const QString& name,
                     const QString& filter) {
    QFileDialog dialog(parent, title, {}, filter);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.setDefaultSuffix(QFileInfo(name).suffix());
    dialog.selectFile(name);
    return dialog.exec() == QDialog::Accepted ? dialog.selectedFiles().value(0) : QString();
}

void writeEvents(std::span<const Event> events, std::span<const std::string> lanes,
                 const std::string& path) {
    GrowingFile file(path);
    file.append(kEventHeader);
    for (const Event& event : events)
        file.append(eventLine(event, lanes));
    file.finish();
}

constexpr const char* kExperimentFile = "experiment.json";
constexpr const char* kStepsFile = "steps.csv";
constexpr const char* kEventsFile = "events.csv";
constexpr const char* kTimesFile = "timing.csv";
constexpr const char* kGradientsFile = "gradients.csv";
/// The command line writes it, the window does not, but for that of a saved run.
constexpr const char* kSummaryFile = "summary.json";
constexpr const char* kPlotsFile = "plots.svg";
constexpr const char* kTargetFile = "target.png";

/// A file may be called anything; a title is one short line.
QString titleOf(const QString& path) {
    constexpr qsizetype kLongest = 60; // 180 bytes of UTF-8 at most: an experiment's may have 200
    QString title = QFileInfo(path).completeBaseName();
    title.removeIf([](QChar c) { return !c.isPrint() && !c.isSpace() && !c.isSurrogate(); });
    title = title.simplified().left(kLongest);
    return title.isEmpty() ? WindowFiles::tr("Picture") : title;
}

bool namesPicture(const QString& path) {
    static const QStringList endings{QStringLiteral("png"), QStringLiteral("jpg"),
                                     QStringLiteral("jpeg")};
    return endings.contains(QFileInfo(path).suffix(), Qt::CaseInsensitive);
}

} // namespace

WindowFiles::WindowFiles(RunModels& models, ExperimentController& controller, ShownRun& shown,
                         const WindowParts& parts, QWidget& window)
    : m_models(models), m_controller(controller), m_shown(shown), m_parts(parts), m_window(window) {
}

void WindowFiles::openPreset(const QString& name) {
    const Preset& preset = presetNamed(name.toStdString());
    // the first one needs no more words than how to start
    const bool first = preset.name == presets()[0].name;
    m_shown.load(preset.config, name, QString::fromStdString(preset.title),
                 first ? QString() : QString::fromStdString(preset.about));
}

void WindowFiles::openExperiment(const QString& path) {
    const RunConfig config = readConfig(path.toStdString());
    const QString title = config.title.empty() ? QFileInfo(path).completeBaseName()
                                               : QString::fromStdString(config.title);
    m_shown.load(config, {}, title);
    const QFileInfo file(path);
    if (file.fileName() == QLatin1String(kExperimentFile) &&
        holdsSavedRun(file.path().toStdString()))
        m_shown.readSaved(file.path(), config);
}

void WindowFiles::openPicture(const QString& path) {
    readPicture(path.toStdString()); // the error is better said now than when the run is built
    RunConfig config = m_models.config.config();
    config.task.kind = TaskKind::Image;
    config.task.image = QFileInfo(path).absoluteFilePath().toStdString();
    config.title = titleOf(path).toStdString();
    m_shown.load(config, {}, QString::fromStdString(config.title));
}

void WindowFiles::open(const QString& path) {
    const QFileInfo file(path);
    if (file.isDir())
        openExperiment(QDir(path).filePath(kExperimentFile));
    else if (file.fileName() == QLatin1String(kStepsFile))
        openExperiment(file.dir().filePath(kExperimentFile));
    else
        namesPicture(path) ? openPicture(path) : openExperiment(path);
}

bool WindowFiles::tryOpen(const QString& path) {
    return guarded(*m_parts.banner, [&] { open(path); });
}

void WindowFiles::choose() {
    const QString path = QFileDialog::getOpenFileName(
        &m_window, tr("Open an experiment, a saved run's experiment.json, or a picture to paint"),
        {}, tr("Experiments and pictures (*.json *.png *.jpg *.jpeg);;All files (*)"));
    if (!path.isEmpty()) tryOpen(path);
}

void WindowFiles::saveExperiment(const QString& path) {
    checkConfig(m_models.config.config());
    writeFileAtomically(path.toStdString(), configText(m_models.config.config()));
}

void WindowFiles::chooseExperiment() {
    const QString path =
        chooseTarget(&m_window, tr("Save experiment"), QStringLiteral("experiment.json"),
                     tr("Experiments (*.json)"));
    if (!path.isEmpty()) guarded(*m_parts.banner, [&] { saveExperiment(path); });
}

/// The lanes' pictures come last, in order.
QStringList WindowFiles::resultNames() const {
    QStringList names{kExperimentFile, kStepsFile,   kEventsFile, kTimesFile,
                      kGradientsFile,  kSummaryFile, kPlotsFile,  kTargetFile};
    for (int lane = 0; lane < m_models.run.lanes(); ++lane)
        names << QStringLiteral("output_%1.png").arg(m_models.run.lane(lane).name);
    return names;
}

QStringList WindowFiles::saveResults(const QString& folder) {
    const auto pathOf = [&folder](const QString& name) {
        return QDir(folder).filePath(name).toStdString();
    };
    if (m_shown.reads() && m_controller.info()) // in part, or another run before it
        throw RunError(
            tr("The saved run is not shown yet: save its results when it is").toStdString());
    makeOutputFolder(folder.toStdString());
    const SavedResultsPtr results = m_shown.results();
    const SavedRun& run = results->run;
    QStringList written;
    try {
        checkConfig(m_shown.trainedConfig());
        writeFileAtomically(pathOf(kExperimentFile), configText(m_shown.trainedConfig()));
        written << kExperimentFile;
    } catch (const InputError&) { // said by who asked for the files
    }
    m_models.steps.write(pathOf(kStepsFile));
    written << kStepsFile;
    // an earlier run's file would pass for this one's
    const auto told = [&](const char* name, bool there) {
        if (there)
            written << name;
        else
            QFile::remove(QDir(folder).filePath(name));
        return there;
    };
    if (told(kEventsFile, !run.lacks(kEventsFile)))
        writeEvents(run.events, results->lanes, pathOf(kEventsFile));
    if (told(kTimesFile, !run.lacks(kTimesFile))) m_models.steps.writeTimes(pathOf(kTimesFile));
    told(kGradientsFile,
         writeGradients(m_parts.plots->gradients(), results->lanes, pathOf(kGradientsFile)));
    if (told(kSummaryFile, !run.summary.empty()))
        writeFileAtomically(pathOf(kSummaryFile), run.summary);
    QString error;
    if (!m_parts.plots->exportSvg(QDir(folder).filePath(kPlotsFile), &error))
        throw RunError(error.toStdString());
    written << kPlotsFile;
    const QStringList pictures = resultNames().sliced(resultNames().indexOf(kTargetFile));
    for (int i = 0; i < pictures.size(); ++i) {
        const Picture& picture =
            i == 0 ? m_parts.pictures->target() : m_parts.pictures->view(i - 1).picture();
        if (picture.width < 1) continue; // not painted yet
        writePng(picture, pathOf(pictures[i]));
        written << pictures[i];
    }
    m_shown.markSaved();
    return written;
}

bool WindowFiles::chooseResultsFolder() {
    const QString folder =
        QFileDialog::getExistingDirectory(&m_window, tr("Folder for the results"));
    if (folder.isEmpty()) return false;
    QStringList there = resultNames();
    there.removeIf(
        [&](const QString& name) { return !QFileInfo::exists(QDir(folder).filePath(name)); });
    const auto ask = tr("%1 holds results already. Replace %2?");
    if (!there.isEmpty() &&
        QMessageBox::question(&m_window, tr("Save results"),
                              ask.arg(folder, there.join(QStringLiteral(", ")))) !=
            QMessageBox::Yes)
        return false;
    bool saved = false;
    QGuiApplication::setOverrideCursor(Qt::WaitCursor); // long runs have long tables
    guarded(*m_parts.banner, [&] {
        const QString names = saveResults(folder).join(QStringLiteral(", "));
        saved = true;
        emit told(tr("Saved in %1: %2").arg(folder, names));
        m_parts.banner->hide();
        checkConfig(m_shown.trainedConfig()); // why experiment.json may be missing
    });
    QGuiApplication::restoreOverrideCursor();
    return saved;
}

void WindowFiles::savePlots() {
    const QString path = chooseTarget(&m_window, tr("Save picture of the plots"),
                                      QStringLiteral("plots.svg"), tr("SVG (*.svg);;PNG (*.png)"));
    if (path.isEmpty()) return;
    QString error;
    const bool png = path.endsWith(QLatin1String(".png"), Qt::CaseInsensitive);
    const bool saved =
        png ? m_parts.plots->exportPng(path, &error) : m_parts.plots->exportSvg(path, &error);
    if (!saved) m_parts.banner->showText(error);
}

} // namespace halfscope
