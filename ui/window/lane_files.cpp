// Networks are saved by the training, those of a saved run from its folder.
#include "ui/window/lane_files.h"

#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/train/predicted_samples.h"
#include "ui/dialogs/answer_box.h"
#include "ui/dialogs/ask.h"
#include "ui/look/owned.h"
#include "ui/models/run_facts.h"
#include "ui/models/safe_text.h"
#include "ui/models/translated.h"
#include "ui/panels/banner.h"
#include "ui/session/experiment_controller.h"
#include "ui/session/left_threads.h"
#include "ui/window/file_errand.h"
#include "ui/window/guarded.h"
#include "ui/window/shown_run.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLocale>

#include <memory>
#include <optional>

namespace halfscope {

namespace {

/// Predictions are a table where the name that was chosen for them ends like one.
LaneFile fileCalled(const QString& path, LaneFile asked) {
    const bool table = path.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive);
    return table && asked == LaneFile::Predictions ? LaneFile::Samples : asked;
}

} // namespace

LaneFiles::LaneFiles(ExperimentController& controller, ShownRun& shown, const WindowParts& parts,
                     QWidget& window)
    : m_controller(controller), m_shown(shown), m_parts(parts), m_window(window) {
    connect(&m_controller, &ExperimentController::laneSaved, this,
            [this](const QString& path, qint64 step, const Message& note) {
                if (isAnswer(path)) return showAnswer(path, note);
                emit told(tr("Saved as %2 after step %1")
                              .arg(QLocale().toString(step), safeText(path.toStdString())));
                tellOf(m_asked.take(path), path, note);
            });
}

/// A saved run with a checkpoint has networks: they are built from it.
bool LaneFiles::networksAreGone() const {
    return m_shown.showsSaved() && !m_controller.info()->goesOnAfter;
}

QStringList LaneFiles::networks() const {
    if (!m_controller.info() || !m_shown.run()) return {};
    const QStringList titles = laneTitlesOf(m_shown.run()->now());
    if (networksAreGone()) return m_shown.run()->info().folder.empty() ? QStringList() : titles;
    // lanes that were forked after the checkpoint have none
    const auto built = static_cast<qsizetype>(m_controller.info()->laneNames.size());
    return m_shown.showsSaved() ? titles.mid(0, built) : titles;
}

bool LaneFiles::hasCritics() const {
    return !networks().isEmpty() && isAdversarial(m_controller.info()->config.model);
}

void LaneFiles::chooseLaneFile(LaneFile file, int lane) {
    const auto lanes = m_shown.run()->lanes();
    if (networks().size() <= lane || lanes.size() <= static_cast<size_t>(lane)) return;
    const QString name =
        QString::fromStdString(nameOf(file, lanes[static_cast<size_t>(lane)].name));
    const bool onnx = file == LaneFile::Onnx || file == LaneFile::CriticOnnx;
    const QString title = file == LaneFile::StateDict ? tr("Save weights")
                          : onnx                      ? tr("Save as ONNX")
                                                      : tr("Save predictions");
    const QString predictions = QStringList{tr("NumPy arrays (*.npy)"), // the first one is proposed
                                            tr("Table of samples (*.csv)")}
                                    .join(QStringLiteral(";;"));
    const QString filter = file == LaneFile::StateDict ? tr("Weights (*.safetensors)")
                           : onnx                      ? tr("ONNX models (*.onnx)")
                                                       : predictions;
    saveLane(file, lane, title, [&](const TaskConfig&) {
        return LanePaths{.to = chooseTarget(&m_window, title, name, filter)};
    });
}

void LaneFiles::predict(int lane, SamplesIn in) {
    if (networks().size() <= lane || networks().isEmpty()) return;
    const auto lanes = m_shown.run()->lanes();
    const bool one = lane != kEveryLane && networks().size() > 1;
    const QString name =
        one ? QString::fromStdString(lanes[static_cast<size_t>(lane)].name) : QString();
    saveLane(LaneFile::Predicted, lane, tr("Predict new samples"), [&](const TaskConfig& task) {
        const auto fits = [&](const QString& samples) { return canPredict(task, samples); };
        const bool shown = in == SamplesIn::File && predictsPictures(task.kind);
        LanePaths paths = askWhatToPredict(task.kind, in, name, shown ? answersFolder() : QString(),
                                           m_window, fits);
        if (isAnswer(paths.to)) m_pictures[paths.to] = {task.kind, paths.samples, name};
        return paths;
    });
}

/// Empty where there is no room for temporary files: then the user is asked where to write.
/// Each answer has a folder of its own: another lane's, for a picture of the same name, may wait,
/// too.
QString LaneFiles::answersFolder() {
    if (!m_answers) m_answers.emplace();
    if (!m_answers->isValid()) return {};
    const QString own = m_answers->filePath(QString::number(++m_lastAnswer));
    return QDir().mkpath(own) ? own : QString();
}

bool LaneFiles::isAnswer(const QString& path) const {
    return m_answers && m_answers->isValid() && path.startsWith(m_answers->path() + u'/');
}

void LaneFiles::showAnswer(const QString& path, const Message& note) {
    m_asked.remove(path);
    const Asked picture = m_pictures.take(path);
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return m_parts.banner->showText(tr("The prediction could not be read."));
    const QByteArray table = file.readAll();
    file.remove();
    offerAnswer({picture, table, QFileInfo(path).fileName(), translated(note)});
}

/// Shows what was predicted for one picture. The box closes with each click, so it comes again
/// until the table is saved or not wanted.
void LaneFiles::offerAnswer(const Answer& answer) {
    auto* box = make<AnswerBox>(answer.table, answer.picture.lane, answer.note, &m_window);
    const QString name = QFileInfo(answer.picture.samples).fileName();
    box->setWindowTitle(safeText(name.toStdString()));
    connect(
        box, &AnswerBox::saveAsked, this,
        [this, answer] {
            if (!saveAnswer(answer)) offerAnswer(answer);
        },
        Qt::QueuedConnection); // when the box has gone
    box->open();
}

/// Returns false where the user chose no file, or it could not be written.
bool LaneFiles::saveAnswer(const Answer& answer) {
    const Asked& picture = answer.picture;
    const QString to = askWhereToSave(picture.kind, picture.samples, answer.name, m_window);
    if (to.isEmpty()) return false;
    const bool written = guarded(*m_parts.banner, [&] {
        writeFileAtomically(to.toStdString(), answer.table.toStdString());
    });
    if (written) tellOf(LaneFile::Predicted, to, {});
    return written;
}

/// Whether a table has the columns of the one that was trained on; tells what is missing.
bool LaneFiles::canPredict(TaskConfig task, const QString& samples) {
    task.predictFile = samples.toStdString();
    return guarded(*m_parts.banner, [&] {
        FileErrand{tr("Predict new samples"),
                   tr("Reading %1…"),
                   samples,
                   phrase("Files", "%1: did not answer in time"),
                   phrase("Files", "%1: nothing was predicted"),
                   kForReading}
            .run(m_window, [task] { checkColumnsToPredict(task); });
    });
}

void LaneFiles::saveLane(LaneFile file, int lane, const QString& title, const AskPaths& ask) {
    emit told({}); // the sentence in the status bar may be about an earlier file
    if (networksAreGone()) {
        guarded(*m_parts.banner, [&] { saveFromFolder(file, lane, title, ask); });
        return;
    }
    const TaskConfig task = m_controller.info()->config.task; // a reset may come meanwhile
    const LanePaths paths = ask(task);
    if (paths.to.isEmpty()) return;
    file = fileCalled(paths.to, file);
    m_asked[paths.to] = file;
    m_controller.saveLane(file, lane, paths.to, QCoreApplication::applicationVersion(),
                          paths.samples);
}

/// Looks for the weights before it asks for files.
void LaneFiles::saveFromFolder(LaneFile file, int lane, const QString& title, const AskPaths& ask) {
    const RunPtr run = m_shown.run();
    const std::string folder = run->info().folder;
    const auto weights = std::make_shared<std::optional<RunWeights>>();
    FileErrand{title,
               tr("Reading the weights in %1…"),
               QString::fromStdString(folder),
               phrase("Files", "%1: did not answer in time"),
               phrase("Files", "%1: nothing was saved"),
               kForReading}
        .run(m_window, [weights, folder, recorded = run->info().recorded] {
            weights->emplace(folder, recorded);
        });
    const LanePaths paths = ask((*weights)->settings().task);
    if (paths.to.isEmpty()) return;
    const auto note = std::make_shared<Message>();
    FileErrand{title, tr("Saving %1…"), paths.to}.run(
        m_window, [weights, note, paths, file = fileCalled(paths.to, file),
                   name = lane == kEveryLane ? "" : run->lanes()[static_cast<size_t>(lane)].name,
                   program = QCoreApplication::applicationVersion().toStdString()] {
            *note = writeLaneFile(**weights, file, name, paths, program);
        });
    if (isAnswer(paths.to)) return showAnswer(paths.to, *note);
    emit told(tr("Saved as %1").arg(safeText(paths.to.toStdString())));
    tellOf(file, paths.to, *note);
}

/// Shows where predictions are, and what to know about a file, until it was read.
void LaneFiles::tellOf(LaneFile file, const QString& path, const Message& note) {
    const QString to = safeText(path.toStdString()), more = translated(note);
    if (file != LaneFile::Predicted && note.empty()) return;
    const bool predicted =
        file == LaneFile::Predicted || file == LaneFile::Predictions || file == LaneFile::Samples;
    m_parts.banner->showNotice(!predicted     ? tr("Saved as %1. %2").arg(to, more)
                               : note.empty() ? tr("The predictions are in %1.").arg(to)
                                              : tr("The predictions are in %1. %2").arg(to, more));
}

} // namespace halfscope
