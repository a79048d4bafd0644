// The names of the files are suggested from those that are known.
#include "ui/window/predict_samples.h"

#include "ui/dialogs/ask.h"
#include "ui/session/experiment_controller.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>

namespace halfscope {

void predictSamples(ExperimentController& controller, int lane, QWidget& window) {
    const auto text = [](const char* words) {
        return QCoreApplication::translate("PredictSamples", words);
    };
    const bool table = controller.info()->config.task.kind == TaskKind::Csv;
    const QString tables = text(QT_TRANSLATE_NOOP("PredictSamples", "Tables (*.csv *.tsv)"));
    const QString samples = QFileDialog::getOpenFileName(
        &window,
        text(QT_TRANSLATE_NOOP("PredictSamples", "Choose the file with the samples to predict")),
        {},
        table ? tables
              : text(QT_TRANSLATE_NOOP("PredictSamples", "Arrays (*.npy *.npz *.safetensors)")));
    if (samples.isEmpty()) return;
    const QFileInfo from(samples);
    const QString name =
        QStringLiteral("%1_predicted.%2")
            .arg(from.completeBaseName(), table ? from.suffix() : QStringLiteral("npy"));
    const QString path = chooseTarget(
        &window, text(QT_TRANSLATE_NOOP("PredictSamples", "Save the predictions")), name,
        table ? tables : text(QT_TRANSLATE_NOOP("PredictSamples", "NumPy arrays (*.npy)")));
    if (!path.isEmpty())
        controller.saveLane(LaneFile::Predicted, lane, path, QCoreApplication::applicationVersion(),
                            samples);
}

} // namespace halfscope
