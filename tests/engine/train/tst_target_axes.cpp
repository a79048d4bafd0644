// Targets that are numbers with axes of their own, such as pictures: networks whose output has the
// same axes, and networks that make a row of as many numbers.
#include "engine/core/error.h"
#include "engine/data/losses.h"
#include "engine/io/npy.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "engine/step/model_shapes.h"
#include "engine/train/onnx_file.h"
#include "engine/train/predicted_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/pytorch_program.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace tst_target_axes {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int kSamples = 40;
constexpr const char* kConvolution = "nn.Conv2d(3, 2, 3, padding=1)";
constexpr const char* kFlat = "nn.Sequential(nn.Flatten(), nn.Linear(108, 72))";

/// Returns a number of a sample: waves, of which the second half of a target is 10 higher.
float inputAt(int sample, int64_t i) {
    return 0.5f * std::sin(0.37f * static_cast<float>(sample) + 0.7f * static_cast<float>(i)) +
           0.1f * static_cast<float>(i % 3);
}
float targetAt(int sample, int64_t i, int64_t each) {
    return std::sin(0.37f * static_cast<float>(sample) + 0.7f * static_cast<float>(i)) +
           (i >= each / 2 ? 10.0f : 0.0f);
}

std::string inputs(const std::string& axes, int64_t each) {
    std::string bytes;
    for (int sample = 0; sample < kSamples; ++sample)
        for (int64_t i = 0; i < each; ++i)
            bytes += bytesOfValues<float>({inputAt(sample, i)});
    return npy("<f4", "(40, " + axes + ")", bytes);
}
std::string targets(const std::string& axes, int64_t each) {
    std::string bytes;
    for (int sample = 0; sample < kSamples; ++sample)
        for (int64_t i = 0; i < each; ++i)
            bytes += bytesOfValues<float>({targetAt(sample, i, each)});
    return npy("<f4", "(40, " + axes + ")", bytes);
}

double meanLoss(std::span<const StepRecord> records) {
    double sum = 0;
    for (const StepRecord& each : records)
        sum += double{each.loss};
    return sum / static_cast<double>(records.size());
}

/// Returns the loss of one number, as torch.nn.functional defines it.
double lossOf(LossKind kind, double delta, double made, double target) {
    const double off = std::abs(made - target);
    const bool near = off < delta;
    switch (kind) {
    case LossKind::Mse: return off * off;
    case LossKind::L1: return off;
    case LossKind::Huber: return near ? 0.5 * off * off : delta * (off - 0.5 * delta);
    case LossKind::SmoothL1: return near ? 0.5 * off * off / delta : off - 0.5 * delta;
    case LossKind::BceWithLogits:
        return std::log1p(std::exp(-std::abs(made))) + std::max(made, 0.0) - made * target;
    case LossKind::CrossEntropy: break;
    }
    return NAN;
}

} // namespace

class TestTargetAxes : public QObject {
    Q_OBJECT

private slots:
    void areLearnt_data();
    void areLearnt();
    void lossesAreMeansOfAll_data();
    void lossesAreMeansOfAll();
    void ownAxesAndRowsAreTheSame();
    void channelsAreStandardised();
    void newSamplesHaveTheAxes();
    void otherNetworksAreRefused();
    void labelsOfPixelsAreRefused();
    void programs_data();
    void programs();
    void onnxModels();

private:
    std::string file(const char* name, const std::string& bytes) const {
        return writeBytes(m_folder.filePath(QLatin1String(name)).toStdString(), bytes);
    }
    /// Returns an experiment on 40 samples with these axes.
    RunConfig config(const std::string& xAxes, int64_t xEach, const std::string& yAxes,
                     int64_t yEach) const {
        // a name of its own: what was read of a file is kept, and its time changes every 4 ms only
        RunConfig made = *experimentOn(
            file((xAxes + " to " + yAxes + ".npz").c_str(),
                 zipBytes({{"x.npy", inputs(xAxes, xEach)}, {"y.npy", targets(yAxes, yEach)}})));
        made.lanes = parseLanes("fp32,amp-fp16");
        made.task.batch = 16;
        made.epochs = 0;
        made.steps = 4;
        made.device = "cpu";
        made.threads = 1;
        return made;
    }
    RunConfig pictures(const char* layers) const {
        RunConfig made = config("3, 6, 6", 108, "2, 6, 6", 72);
        made.model.layers = layers;
        return made;
    }
    QTemporaryDir m_folder;
};

void TestTargetAxes::areLearnt_data() {
    QTest::addColumn<QString>("x");
    QTest::addColumn<QString>("y");
    QTest::addColumn<QString>("layers");
    const auto row = [](const char* name, const char* x, const char* y, const char* layers) {
        QTest::newRow(name) << x << y << layers;
    };
    row("the usual network", "8", "2, 3", "");
    row("of pictures", "3, 6, 6", "2, 6, 6", "");
    row("one number", "8", "1, 1", "");
    row("a column", "12, 1", "12, 1", "");
    row("two planes", "8, 8", "8, 8", "");
    row("four axes", "8", "3, 1, 2, 2", "");
    row("a convolution", "3, 6, 6", "2, 6, 6", kConvolution);
    row("a row for each picture", "3, 6, 6", "2, 6, 6", kFlat);
    row("each line", "12, 5", "12, 2", "nn.Linear(5, 2)");
    row("made at the end", "8", "2, 3", "nn.Sequential(nn.Linear(8, 6), nn.Unflatten(1, (2, 3)))");
}

/// All losses, validation and pictures are there, and the predictions have the axes of the targets.
void TestTargetAxes::areLearnt() {
    QFETCH(QString, x);
    QFETCH(QString, y);
    QFETCH(QString, layers);
    const auto elements = [](const QString& axes) {
        int64_t all = 1;
        for (const QString& each : axes.split(", "))
            all *= each.toLongLong();
        return all;
    };
    RunConfig made = config(x.toStdString(), elements(x), y.toStdString(), elements(y));
    made.model.layers = layers.toStdString();
    made.steps = 40;
    made.optimizer.lr = 0.01;
    Experiment experiment(made);
    const auto lanes = train(experiment);
    for (const std::vector<StepRecord>& records : lanes) {
        const std::span<const StepRecord> all(records);
        QVERIFY(meanLoss(all.last(5)) < meanLoss(all.first(5)));
        QVERIFY(std::isfinite(records.back().validation.value().loss));
    }
    QCOMPARE(experiment.snapshot().outputs.size(), size_t{2});
    Predictions all;
    QVERIFY(experiment.lane(0).evaluate(std::atomic<bool>{false}, &all));
    const Array found = readNpy(file("made.npy", predictionsNpy(all)));
    QCOMPARE(QString::fromStdString(found.info.shapeText()),
             QStringLiteral("(%1, %2)").arg(all.samples).arg(y));
    checkOnnx(made);
}

void TestTargetAxes::lossesAreMeansOfAll_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("layers");
    for (const LossInfo& loss : losses()) {
        if (loss.ofLabels) continue;
        QTest::addRow("%s, own axes", loss.name) << static_cast<int>(loss.kind) << kConvolution;
        QTest::addRow("%s, rows", loss.name) << static_cast<int>(loss.kind) << kFlat;
    }
}

void TestTargetAxes::lossesAreMeansOfAll() {
    QFETCH(int, kind);
    QFETCH(QString, layers);
    RunConfig made = pictures(qPrintable(layers));
    made.task.standardiseTarget = false;
    made.task.loss.kind = static_cast<LossKind>(kind);
    made.task.loss.delta = 0.7;
    if (made.task.loss.kind == LossKind::BceWithLogits) {
        std::string y;
        for (int i = 0; i < kSamples * 72; ++i)
            y += bytesOfValues<float>({static_cast<float>(i % 7) / 6});
        made.task.y = file("shares.npy", npy("<f4", "(40, 2, 6, 6)", y));
    }
    Experiment experiment(made);
    Predictions all;
    const Validation found = *experiment.lane(0).evaluate(std::atomic<bool>{false}, &all);
    QCOMPARE(all.values.size(), static_cast<size_t>(all.samples * 72));
    double sum = 0;
    for (size_t i = 0; i < all.values.size(); ++i)
        sum += lossOf(made.task.loss.kind, 0.7, double{all.values[i]}, double{all.targets[i]});
    const double wanted = sum / static_cast<double>(all.values.size());
    QVERIFY2(std::abs(found.loss - wanted) <= 1e-5 * wanted,
             qPrintable(QString("%1 instead of %2").arg(found.loss).arg(wanted)));
}

/// An image comes in the order of its target: a pixel of a channel, not of another one.
void TestTargetAxes::ownAxesAndRowsAreTheSame() {
    const RunConfig image = pictures("nn.Conv2d(3, 2, 1)");
    RunConfig rows = image;
    rows.model.layers = "nn.Sequential(nn.Conv2d(3, 2, 1), nn.Flatten())";
    std::vector<std::vector<float>> made;
    std::vector<double> losses;
    for (const RunConfig& each : {image, rows}) {
        Experiment experiment(each);
        Weights weights = experiment.lane(0).weights();
        for (auto& [name, values] : weights)
            for (size_t i = 0; i < values.size(); ++i)
                values[i] = 0.1f * static_cast<float>(i) - 0.2f;
        experiment.lane(0).setWeights(weights);
        Predictions all;
        losses.push_back(experiment.lane(0).evaluate(std::atomic<bool>{false}, &all)->loss);
        made.push_back(all.values);
    }
    QCOMPARE(made[0].size(), made[1].size());
    for (size_t i = 0; i < made[0].size(); ++i)
        QVERIFY(std::abs(made[0][i] - made[1][i]) < 1e-5f);
    QVERIFY(std::abs(losses[0] - losses[1]) < 1e-5 * losses[1]);
}

/// Each channel has a mean and a deviation, and predictions come back in the units of the data.
void TestTargetAxes::channelsAreStandardised() {
    for (const char* layers : {kConvolution, kFlat}) {
        RunConfig made = pictures(layers);
        made.task.standardiseTarget = true;
        const DataFacts facts = factsOf(made.task);
        QCOMPARE(facts.targetScale.spreads().size(), size_t{2});
        QVERIFY(facts.targetScale.spreads()[1].mean > facts.targetScale.spreads()[0].mean + 5);
        Experiment experiment(made);
        Predictions all;
        const Validation found = *experiment.lane(0).evaluate(std::atomic<bool>{false}, &all);
        double sum = 0;
        for (size_t i = 0; i < all.values.size(); ++i) {
            const float target =
                targetAt(static_cast<int>(all.numbers[i / 72]), static_cast<int64_t>(i % 72), 72);
            QVERIFY(std::abs(all.targets[i] - target) < 1e-4f);
            sum += std::abs(double{all.values[i]} - double{all.targets[i]});
        }
        const double wanted = sum / static_cast<double>(all.values.size());
        QVERIFY(std::abs(found.error.value() - wanted) < 1e-4 * wanted);
    }
}

void TestTargetAxes::newSamplesHaveTheAxes() {
    Experiment experiment(pictures(kConvolution));
    const std::string more = file("more.npy", inputs("3, 6, 6", 108));
    const auto predicted = predictedSamples(experiment, 0, more);
    QCOMPARE(readNpy(file("out.npy", predicted->bytes)).info.shape,
             (std::vector<int64_t>{kSamples, 2, 6, 6}));
}

void TestTargetAxes::otherNetworksAreRefused() {
    const RunConfig made = pictures("nn.Conv2d(3, 2, 3)");
    QCOMPARE(thrownBy<InputError>([&] { Experiment experiment(made); }),
             "model.layers: the model turns (16, 3, 6, 6) into (16, 2, 4, 4), but this task needs "
             "(16, 2, 6, 6), the shape of its targets, or (16, 72)");
    QCOMPARE(modelShapes(pictures(kConvolution)).error.english(), "");
}

void TestTargetAxes::labelsOfPixelsAreRefused() {
    RunConfig made = pictures("");
    made.task.y = file("labels.npy", npy("|u1", "(40, 6, 6)", std::string(40 * 36, '\1')));
    made.task.loss.kind = LossKind::CrossEntropy;
    QCOMPARE(thrownBy<InputError>([&] { factsOf(made.task); }),
             "data.y: " + made.task.y +
                 ": uint8 of the shape (40, 6, 6) are not classes: one whole number for each "
                 "sample is allowed, not one for each pixel or position; as numbers, with a loss "
                 "such as mse, they are");
}

void TestTargetAxes::programs_data() {
    QTest::addColumn<QString>("layers");
    QTest::addColumn<bool>("standardises");
    for (const bool standardises : {false, true})
        for (const char* layers : {kConvolution, kFlat})
            QTest::addRow("%s, %d", layers, int{standardises}) << layers << standardises;
}

/// From the same weights, PyTorch has the same losses: a prediction and a target whose shapes
/// differ would be broadcast there.
void TestTargetAxes::programs() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(QString, layers);
    QFETCH(bool, standardises);
    RunConfig made = pictures(qPrintable(layers));
    made.lanes = parseLanes("fp32");
    made.task.standardiseTarget = standardises;
    made.task.validation = 0; // which samples are held back is chosen otherwise there
    made.data.shuffle = false;
    made.steps = 10;
    Experiment experiment(made);
    const QString printed =
        printedByProgram(m_folder, kDriver, made, experiment.lane(0), made.steps);
    const auto ours = train(experiment);
    const QStringList lines = printed.split('\n');
    QVERIFY2(lines.size() == made.steps, qPrintable(printed));
    for (qsizetype step = 0; step < lines.size(); ++step) {
        const double loss = lines[step].split(' ')[0].toDouble();
        const double own = ours[0][static_cast<size_t>(step)].loss;
        QVERIFY2(std::abs(own - loss) <= 1e-4 * loss, qPrintable(printed));
    }
}

void TestTargetAxes::onnxModels() {
    if (lacksPython()) QSKIP(lacksPython());
    for (const char* layers : {kConvolution, kFlat}) {
        RunConfig made = pictures(layers);
        made.task.standardiseTarget = true;
        Experiment experiment(made);
        Predictions all;
        QVERIFY(experiment.lane(0).evaluate(std::atomic<bool>{false}, &all));
        file("net.onnx", onnxBytes(experiment, 0, "1"));
        file("made.npy", predictionsNpy(all));
        QStringList rows;
        for (const int64_t number : all.numbers)
            rows << QString::number(number);
        QCOMPARE(python(R"(
import sys
import numpy as np, onnx, onnxruntime
base = sys.argv[1]
onnx.checker.check_model(onnx.load(base + "/net.onnx"), full_check=True)
x = np.load(base + "/3, 6, 6 to 2, 6, 6.npz")["x"][[int(row) for row in sys.argv[2].split(",")]]
found = onnxruntime.InferenceSession(base + "/net.onnx").run(None, {"x": x})[0]
made = np.load(base + "/made.npy")
assert made.shape == (len(x), 2, 6, 6), made.shape
assert np.abs(found.reshape(made.shape) - made).max() < 1e-4 * np.abs(made).max(), (found, made)
print("same")
)",
                        {m_folder.path(), rows.join(',')}),
                 QString("same"));
    }
}

} // namespace tst_target_axes

QTEST_GUILESS_MAIN(tst_target_axes::TestTargetAxes)
#include "tst_target_axes.moc"
