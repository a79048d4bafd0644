// The names of the files are suggested from those that are known.
#include "ui/window/predict_samples.h"

#include "engine/core/cancel.h"
#include "engine/io/atomic_file.h"
#include "engine/io/gzip.h"
#include "engine/train/predicted_samples.h"
#include "ui/dialogs/ask.h"

#include <QCoreApplication>
#include <QFileInfo>

namespace halfscope {

namespace {

/// What the dialogs ask for, by the kind of the training data.
struct Kinds {
    QString title, samples, predicted, ending; ///< filters of files
};

QString text(const char* words) { return QCoreApplication::translate("PredictSamples", words); }

Kinds kindsOf(TaskKind kind) {
    const QString file =
        text(QT_TRANSLATE_NOOP("PredictSamples", "Choose the file with the samples to predict"));
    const QString tables = text(QT_TRANSLATE_NOOP("PredictSamples", "Tables (*.csv *.tsv *.data)"));
    if (kind == TaskKind::Csv || kind == TaskKind::TextClasses)
        return {file,
                text(QT_TRANSLATE_NOOP("PredictSamples", "Tables (*.csv *.tsv *.data *.csv.gz "
                                                         "*.tsv.gz *.data.gz)")),
                tables,
                {}};
    if (predictsPictures(kind))
        return {text(QT_TRANSLATE_NOOP("PredictSamples", "Choose the picture to predict")),
                text(QT_TRANSLATE_NOOP("PredictSamples",
                                       "Pictures (*.png *.jpg *.jpeg *.PNG *.JPG *.JPEG)")),
                text(QT_TRANSLATE_NOOP("PredictSamples", "Tables (*.csv)")), QStringLiteral("csv")};
    return {file, text(QT_TRANSLATE_NOOP("PredictSamples", "Arrays (*.npy *.npz *.safetensors)")),
            text(QT_TRANSLATE_NOOP("PredictSamples", "NumPy arrays (*.npy)")),
            QStringLiteral("npy")};
}

} // namespace

QString askWhereToSave(TaskKind kind, const QString& samples, const QString& name,
                       QWidget& window) {
    const ReadPath read{
        text(QT_TRANSLATE_NOOP("PredictSamples", "the samples to predict")).toStdString(),
        samples.toStdString()};
    return chooseTarget(&window, text(QT_TRANSLATE_NOOP("PredictSamples", "Save the predictions")),
                        name, kindsOf(kind).predicted, std::span(&read, 1),
                        QFileInfo(samples).absolutePath());
}

LanePaths askWhatToPredict(TaskKind kind, SamplesIn in, const QString& lane, const QString& answers,
                           QWidget& window,
                           const std::function<bool(const QString& samples)>& fits) {
    const Kinds kinds = kindsOf(kind);
    const QString samples =
        in == SamplesIn::Folder
            ? chooseSourceFolder(
                  &window, FilesOf::Data,
                  text(QT_TRANSLATE_NOOP("PredictSamples",
                                         "Choose the folder with the pictures to predict")))
            : chooseSource(&window, FilesOf::Data, kinds.title, kinds.samples);
    if (samples.isEmpty() || !fits(samples)) return {};
    const std::string given = samples.toStdString(); // what is written is not packed
    const QFileInfo from(kinds.ending.isEmpty() ? QString::fromUtf8(unpackedName(given)) : samples);
    const QString name =
        QStringLiteral("%1_predicted%2.%3")
            .arg(in == SamplesIn::Folder ? from.fileName() : from.completeBaseName(),
                 lane.isEmpty() ? QString() : u'_' + lane,
                 kinds.ending.isEmpty() ? from.suffix() : kinds.ending);
    if (!answers.isEmpty()) return {samples, answers + u'/' + name};
    const QString to = askWhereToSave(kind, samples, name, window);
    return to.isEmpty() ? LanePaths() : LanePaths{samples, to};
}

Message writeLaneFile(const RunWeights& run, LaneFile file, const std::string& lane,
                      const LanePaths& paths, const std::string& program) {
    const auto made =
        laneFileBytes(run, file, lane, program, paths.samples.toStdString(), cancelToken());
    if (!made) throw Cancelled();
    writeFileAtomically(paths.to.toStdString(), made->bytes);
    return made->note;
}

} // namespace halfscope
