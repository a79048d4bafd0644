// FP8 lanes, and layers of their own, against PyTorch: the program as which an experiment is copied
// rounds to PyTorch's own FP8 dtypes around PyTorch's layers, and its losses follow ours. ./dev
// clients runs this.
#include "engine/settings/fields.h"
#include "tests/support/pytorch_program.h"

#include <QTest>

#include <cmath>

namespace tst_pytorch_fp8 {

using namespace halfscope;
using namespace halfscope::test;

class TestPyTorchFp8 : public QObject {
    Q_OBJECT
private slots:
    void layersInFloat32();
    void follows_data();
    void follows();
};

void TestPyTorchFp8::follows_data() {
    QTest::addColumn<QStringList>("settings");
    const auto row = [](const char* name, const QStringList& settings) {
        QTest::newRow(name) << QStringList{"model.width=16", "task.side=16"} + settings;
    };
    row("scaled", {});
    row("layers of their own",
        {"lanes.0.precision.layers=layer 0=bfloat16, layer 2=float32, norm 1=float32"});
    row("not scaled", {"lanes.0.precision.fp8_scaling=none"});
    row("loss scale", {"lanes.0.precision.fp8_scaling=none", "lanes.0.scaler.mode=static",
                       "lanes.0.scaler.init_scale=2^12"});
    row("penalty", {"gradients.penalty=0.01", "gradients.penalty_eps=1e-3", "model.norm=none"});
    row("convolutions", {"model.layers=nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.ReLU(), "
                         "nn.Conv2d(8, 1, 1))"});
    row("transposed", {"model.layers=nn.Sequential(nn.Conv2d(2, 8, 4, 2, 1), nn.ReLU(), "
                       "nn.ConvTranspose2d(8, 1, 4, 2, 1))"});
}

/// The first losses come from the same weights and differ by roundings to bfloat16 alone. Later, a
/// sum in another order moves a value to the next number of 8 bits now and then, and the trainings
/// drift apart; a gradient that is not rounded, or a scale that is not there, would part them
/// sooner.
void TestPyTorchFp8::follows() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QStringList, settings);
    constexpr int64_t kSteps = 30;
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp8");
    config.steps = kSteps;
    for (const QString& setting : settings)
        applySetting(config, setting.toStdString());
    const QTemporaryDir folder;
    Experiment experiment(config);
    const QStringList lines =
        printedByProgram(folder, kDriver, config, experiment.lane(0), kSteps).split('\n');
    QVERIFY2(lines.size() == kSteps, qPrintable(lines.join('\n')));
    const auto ours = train(experiment);
    double worst = 0;
    for (int step = 0; step < kSteps; ++step) {
        const double own = double{ours[0][static_cast<size_t>(step)].loss};
        const double theirs = lines[step].section(' ', 0, 0).toDouble();
        const double off = std::abs(own - theirs) / theirs;
        const double bound = step == 0 ? 4 * 0x1p-8 : 5e-2;
        worst = std::max(worst, off);
        QVERIFY2(off <= bound,
                 qPrintable(
                     QStringLiteral("step %1: %2 against %3").arg(step + 1).arg(own).arg(theirs)));
    }
    qInfo("at most %.2g apart", worst);
}

/// A lane of PyTorch's whose layers all compute in float32 has the losses of a float32 lane,
/// whatever casts the others: the loss scale is a power of two.
void TestPyTorchFp8::layersInFloat32() {
    if (lacksPython()) QSKIP(lacksPython());
    constexpr int64_t kSteps = 10;
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32,amp-fp16,fp8");
    config.steps = kSteps;
    for (const char* setting : {"model.width=16", "model.depth=2", "task.side=16"})
        applySetting(config, setting);
    const auto losses = [&config] {
        const QTemporaryDir folder;
        Experiment experiment(config);
        const QString printed =
            printedByProgram(folder, kDriver, config, experiment.lane(0), kSteps);
        QStringList all;
        for (const QString& line : printed.split('\n'))
            all << line.section(' ', 0, 0);
        return all;
    };
    for (const bool own : {false, true}) {
        const char* all = "layer 0=float32,norm 0=float32,layer 1=float32,norm 1=float32,"
                          "layer 2=float32,norm 2=float32,output layer=float32";
        for (size_t lane = 1; lane < config.lanes.size(); ++lane)
            config.lanes[lane].layers = own ? all : "";
        const QStringList printed = losses();
        QVERIFY2(printed.size() == 3 * kSteps, qPrintable(printed.join('\n')));
        for (const int64_t lane : {1, 2})
            QCOMPARE(printed.mid(lane * kSteps, kSteps) == printed.first(kSteps), own);
    }
}

} // namespace tst_pytorch_fp8

QTEST_GUILESS_MAIN(tst_pytorch_fp8::TestPyTorchFp8)
#include "tst_pytorch_fp8.moc"
