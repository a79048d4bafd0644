// The optimizers in PyTorch's programs: from our weights, the losses follow ours.
// ./dev clients runs this.
#include "engine/settings/fields.h"
#include "tests/support/pytorch_program.h"

#include <QTest>

#include <cmath>

namespace tst_pytorch_optimizers {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int64_t kSteps = 8; // over many, sums in another order part the losses

/// Prints the losses of the first lane.
const QString kLossesDriver = kImport + R"(
lane = next(iter(program.LANES.values()))
for loss, _, _ in program.train(lane, data, int(sys.argv[3]), weights)[1]:
    print(repr(loss))
)";

RunConfig configOf(const QStringList& settings) {
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32");
    config.steps = kSteps;
    for (const QString& setting : QStringList{"task.side=16", "model.width=16"} + settings)
        applySetting(config, setting.toStdString());
    return config;
}

} // namespace

class TestPyTorchOptimizers : public QObject {
    Q_OBJECT
private slots:
    void follows_data();
    void follows();

private:
    QTemporaryDir m_folder;
};

void TestPyTorchOptimizers::follows_data() {
    QTest::addColumn<QStringList>("settings");
    for (const OptimizerInfo& info : kOptimizers) {
        // eps as large as this keeps differences of sums in another order from being magnified
        const QStringList settings{QStringLiteral("optimizer.kind=") + info.name,
                                   "optimizer.lr=2e-3", "optimizer.eps=1e-4"};
        QTest::newRow(info.name) << settings;
        QTest::addRow("%s, its own settings", info.name)
            << settings + QStringList{"optimizer.weight_decay=0.1", "optimizer.alpha=0.8",
                                      "optimizer.beta1=0.8", "optimizer.beta2=0.95",
                                      "optimizer.momentum=0.5"};
    }
}

/// Losses agree to 1e-4 in float32, where sums have another order; those of another optimizer do
/// not.
void TestPyTorchOptimizers::follows() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QStringList, settings);
    const RunConfig config = configOf(settings);
    Experiment experiment(config);
    const QStringList losses =
        printedByProgram(m_folder, kLossesDriver, config, experiment.lane(0), kSteps)
            .split('\n', Qt::SkipEmptyParts);
    QCOMPARE(losses.size(), qsizetype{kSteps});
    const std::vector<StepRecord> ours = train(experiment).front();
    const bool isSgd = config.optimizer.kind == OptimizerKind::Sgd;
    Experiment other(
        configOf({isSgd ? "optimizer.kind=adam" : "optimizer.kind=sgd", "optimizer.lr=2e-3"}));
    const std::vector<StepRecord> others = train(other).front();
    const auto follows = [](double found, double wanted) {
        return std::abs(found - wanted) <= 1e-4 * std::max(wanted, 1.0);
    };
    bool tells = false;
    for (size_t step = 0; step < ours.size(); ++step) {
        const double wanted = losses[static_cast<qsizetype>(step)].toDouble();
        QVERIFY2(
            follows(ours[step].loss, wanted),
            qPrintable(
                QString("step %1: %2, not %3").arg(step + 1).arg(ours[step].loss).arg(wanted)));
        tells |= !follows(others[step].loss, wanted);
    }
    QVERIFY(tells);
}

} // namespace tst_pytorch_optimizers

QTEST_GUILESS_MAIN(tst_pytorch_optimizers::TestPyTorchOptimizers)
#include "tst_pytorch_optimizers.moc"
