// Learning rates that follow the validation, in PyTorch's programs: from our weights, the losses
// follow ours through several falls. ./dev clients runs this.
#include "engine/settings/fields.h"
#include "tests/support/pytorch_program.h"

#include <QTest>

#include <cmath>

namespace tst_pytorch_plateau {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int64_t kSteps = 40;

/// Prints the losses of the first lane.
const QString kFollowingDriver = kImport + R"(
_, held = program.samples()
lane = next(iter(program.LANES.values()))
for loss, _, _ in program.train(lane, data, int(sys.argv[3]), weights, held)[1]:
    print(repr(loss))
)";

} // namespace

class TestPyTorchPlateau : public QObject {
    Q_OBJECT
private slots:
    void follows_data();
    void follows();

private:
    QTemporaryDir m_folder;
};

void TestPyTorchPlateau::follows_data() {
    QTest::addColumn<QStringList>("settings");
    const QStringList steps{"validation.epochs=0", "validation.steps=4", "schedule.threshold=0.5"};
    QTest::newRow("by steps") << steps;
    QTest::newRow("by epochs, normed") // an epoch has three batches of 20 and one of 3
        << QStringList{"validation.epochs=2", "model.norm=batch", "schedule.threshold=0.6"};
    QTest::newRow("both, a cooldown")
        << steps + QStringList{"validation.epochs=1", "schedule.cooldown=1"};
    QTest::newRow("accumulated") << steps + QStringList{"gradients.accumulate=2"};
}

/// Losses agree to 1e-4 in float32, where sums have another order.
void TestPyTorchPlateau::follows() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QStringList, settings);
    std::string text = "a,b,c\n";
    for (int i = 0; i < 90; ++i)
        text += std::to_string(std::sin(0.7 * i)) + "," + std::to_string(i % 7) + "," +
                std::to_string(std::cos(0.3 * i)) + "\n";
    const std::string path = m_folder.filePath("table.csv").toStdString();
    writeFileAtomically(path, text);
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32");
    config.steps = kSteps;
    for (const QString& setting :
         QStringList{"data.kind=csv", "data.path=" + QString::fromStdString(path),
                     "data.validation=0.3", "data.held_back=last", "data.shuffle=false",
                     "task.batch=20", "task.loss=mse", "model.width=16", "model.norm=none",
                     "optimizer.lr=3e-3", "schedule.kind=plateau", "schedule.gamma=0.2",
                     "schedule.patience=0"} +
             settings)
        applySetting(config, setting.toStdString());
    Experiment experiment(config);
    const QStringList losses =
        printedByProgram(m_folder, kFollowingDriver, config, experiment.lane(0), kSteps)
            .split('\n', Qt::SkipEmptyParts);
    QCOMPARE(losses.size(), qsizetype{kSteps});
    const std::vector<StepRecord> ours = train(experiment).front();
    RunConfig constant = config;
    constant.schedule.kind = ScheduleKind::Constant;
    Experiment other(constant);
    const std::vector<StepRecord> without = train(other).front();
    const auto follows = [](double found, double wanted) {
        return std::abs(found - wanted) <= 1e-4 * std::max(wanted, 1.0);
    };
    bool tells = false; // the falls make a difference
    for (size_t step = 0; step < ours.size(); ++step) {
        const double wanted = losses[static_cast<qsizetype>(step)].toDouble();
        QVERIFY2(follows(ours[step].loss, wanted),
                 qPrintable(QString("step %1: %2").arg(step + 1).arg(wanted)));
        tells |= !follows(without[step].loss, wanted);
    }
    QVERIFY(tells);
    QVERIFY(ours.back().learningRate < 0.2F * ours.front().learningRate); // at least two falls
}

} // namespace tst_pytorch_plateau

QTEST_GUILESS_MAIN(tst_pytorch_plateau::TestPyTorchPlateau)
#include "tst_pytorch_plateau.moc"
