// Files of the window: experiments and pictures to open, experiments and plots to save.
#include "engine/io/atomic_file.h"
#include "ui/main_window.h"
#include "ui/plots/plot_stack.h"

#include <QFileDialog>
#include <QFileInfo>

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

bool namesPicture(const QString& path) {
    static const QStringList endings{QStringLiteral("png"), QStringLiteral("jpg"),
                                     QStringLiteral("jpeg")};
    return endings.contains(QFileInfo(path).suffix(), Qt::CaseInsensitive);
}

} // namespace

void MainWindow::openPreset(const QString& name) {
    const Preset& preset = presetNamed(name.toStdString());
    // the first one needs no more words than how to start
    const bool first = preset.name == presets()[0].name;
    load(preset.config, name, QString::fromStdString(preset.title),
         first ? QString() : QString::fromStdString(preset.about));
}

void MainWindow::openExperiment(const QString& path) {
    const RunConfig config = readConfig(path.toStdString());
    const QString title = config.title.empty() ? QFileInfo(path).completeBaseName()
                                               : QString::fromStdString(config.title);
    load(config, {}, title);
}

void MainWindow::openPicture(const QString& path) {
    readPicture(path.toStdString()); // the error is better said now than when the run is built
    RunConfig config = m_config.config();
    config.task.kind = TaskKind::Image;
    config.task.image = QFileInfo(path).absoluteFilePath().toStdString();
    config.title = QFileInfo(path).completeBaseName().toStdString();
    load(config, {}, QString::fromStdString(config.title));
}

void MainWindow::openFile(const QString& path) {
    namesPicture(path) ? openPicture(path) : openExperiment(path);
}

void MainWindow::chooseFile() {
    const QString path = QFileDialog::getOpenFileName(
        this, tr("Open an experiment, or a picture to paint"), {},
        tr("Experiments and pictures (*.json *.png *.jpg *.jpeg);;All files (*)"));
    if (!path.isEmpty()) guarded([&] { openFile(path); });
}

void MainWindow::saveExperiment() {
    const QString path = chooseTarget(
        this, tr("Save experiment"), QStringLiteral("experiment.json"), tr("Experiments (*.json)"));
    if (!path.isEmpty())
        guarded([&] { writeFileAtomically(path.toStdString(), configText(m_config.config())); });
}

void MainWindow::savePlots() {
    const QString path = chooseTarget(this, tr("Save picture of the plots"),
                                      QStringLiteral("plots.svg"), tr("SVG (*.svg);;PNG (*.png)"));
    if (path.isEmpty()) return;
    QString error;
    const bool png = path.endsWith(QLatin1String(".png"), Qt::CaseInsensitive);
    const bool saved = png ? m_plots->exportPng(path, &error) : m_plots->exportSvg(path, &error);
    if (!saved) showError(error);
}

} // namespace halfscope
