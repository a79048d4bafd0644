// Runs whose classes have weights, as PyTorch's programs: from our weights, losses in training and
// in validation follow ours. ./dev clients runs this.
#include "engine/settings/fields.h"
#include "tests/support/pytorch_program.h"

#include <QTest>

#include <cmath>

namespace tst_pytorch_weights {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int64_t kSteps = 40;

/// Prints the losses of the first lane, and what is said of the validation samples after that.
const QString kJudgingDriver = kImport + R"(
_, held = program.samples()
lane = next(iter(program.LANES.values()))
model, rows = program.train(lane, data, int(sys.argv[3]), weights)
print(*(repr(loss) for loss, _, _ in rows))
print(program.evaluate(lane, model, *held))
)";

} // namespace

class TestPyTorchWeights : public QObject {
    Q_OBJECT
private slots:
    void follows_data();
    void follows();

private:
    QString table() const; ///< of 90 lines with three classes, one of which is frequent
    QString text() const;

    QTemporaryDir m_folder;
};

QString TestPyTorchWeights::table() const {
    std::string text = "a,b,kind\n";
    for (int i = 0; i < 90; ++i)
        text += std::to_string(std::sin(0.7 * i)) + "," + std::to_string(i % 7) + "," +
                (i % 9 == 0   ? "few"
                 : i % 4 == 1 ? "some"
                              : "many") +
                "\n";
    const QString path = m_folder.filePath("table.csv");
    writeFileAtomically(path.toStdString(), text);
    return path;
}

QString TestPyTorchWeights::text() const {
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += i % 3 == 0 ? "a bird sang, " : i % 3 == 1 ? "green\n" : "the lamp ";
    const QString path = m_folder.filePath("text.txt");
    writeFileAtomically(path.toStdString(), text);
    return path;
}

void TestPyTorchWeights::follows_data() {
    QTest::addColumn<QStringList>("settings");
    // an epoch has three batches of 20 and one of 3
    const QStringList lines{
        "data.kind=csv", "data.path=" + table(), "data.validation=0.3",    "data.held_back=last",
        "task.batch=20", "data.last_batch=keep", "task.loss=cross-entropy"};
    QTest::newRow("balanced table") << lines + QStringList{"task.class_weights=balanced"};
    QTest::newRow("numbers, smoothed")
        << lines + QStringList{"task.class_weights=7, 0.5, 3", "task.label_smoothing=0.2"};
    QTest::newRow("balanced characters") << QStringList{
        "data.kind=text",
        "data.path=" + text(),
        "data.context=8",
        "task.batch=16",
        "data.validation=0.2",
        "data.predict=every",
        "optimizer.lr=3e-4",
        "task.class_weights=balanced",
        "model.layers=nn.Sequential(nn.Embedding(30, 16), PositionalEmbedding(8, 16), "
        "CausalTransformerEncoderLayer(16, 2, 24, 0.0, batch_first=True, norm_first=True), "
        "nn.Linear(16, 17))"};
}

/// Losses agree to 1e-4 in float32, where sums have another order; the program writes six digits of
/// that of the validation.
void TestPyTorchWeights::follows() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QStringList, settings);
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32");
    config.steps = kSteps;
    for (const QString& setting :
         QStringList{"data.shuffle=false", "model.width=16", "model.norm=none"} + settings)
        applySetting(config, setting.toStdString());
    Experiment experiment(config);
    const QString printed =
        printedByProgram(m_folder, kJudgingDriver, config, experiment.lane(0), kSteps);
    const std::vector<StepRecord> ours = train(experiment).front();
    const QStringList lines = printed.split('\n'), losses = lines[0].split(' ');
    QVERIFY2(lines.size() >= 2 && losses.size() == kSteps, qPrintable(printed));
    const auto follows = [](double found, double wanted) {
        return std::abs(found - wanted) <= 1e-4 * std::max(wanted, 1.0);
    };
    for (int step = 0; step < kSteps; ++step)
        QVERIFY2(follows(ours[static_cast<size_t>(step)].loss, losses[step].toDouble()),
                 qPrintable(QString("step %1: %2").arg(step + 1).arg(losses[step])));
    const double judged = lines[1].split(' ')[2].chopped(1).toDouble();
    QVERIFY2(follows(ours.back().validation.value().loss, judged), qPrintable(lines[1]));
}

} // namespace tst_pytorch_weights

QTEST_GUILESS_MAIN(tst_pytorch_weights::TestPyTorchWeights)
#include "tst_pytorch_weights.moc"
