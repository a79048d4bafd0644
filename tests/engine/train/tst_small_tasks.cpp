// The presets that people try first: what they learn, how that is told and drawn, and that each
// runs in every precision.
#include "engine/data/dataset.h"
#include "engine/settings/fields.h"
#include "engine/step/schedule.h"
#include "engine/train/experiment.h"

#include <QTest>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <thread>

namespace tst_small_tasks {

using namespace halfscope;

namespace {

RunConfig presetOnCpu(const char* name) {
    RunConfig config = presetNamed(name).config;
    config.device = "cpu";
    config.threads = 1;
    return config;
}

std::vector<StepRecord> train(Experiment& experiment, int64_t steps = 1 << 30) {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished() && experiment.step() < steps)
        experiment.advance(records, events);
    return records;
}

/// Returns the biases that follow the weights in a state dict.
std::vector<float> coefficientsOf(Trainer& lane) {
    std::vector<float> all, bias;
    for (const auto& [name, values] : lane.weights()) {
        auto& to = name.ends_with("bias") ? bias : all;
        to.insert(to.end(), values.begin(), values.end());
    }
    all.insert(all.end(), bias.begin(), bias.end());
    return all;
}

} // namespace

class TestSmallTasks : public QObject {
    Q_OBJECT

private slots:
    void coefficients_data();
    void coefficients();
    void otherNetworksHaveNoFormula();
    void coordinatesPaintFineLines_data();
    void coordinatesPaintFineLines();
    void probeByHand();
    void lookingChangesNothing();
    void probesStop();
    void mapsShowWhatIsLearnt_data();
    void mapsShowWhatIsLearnt();
    void languagesAreTold();
    void oneCycleSpansTheEpochs();
    void everyPrecision_data();
    void everyPrecision();
};

void TestSmallTasks::coefficients_data() {
    QTest::addColumn<QVector<float>>("wanted");
    QTest::addColumn<double>("bound");
    // a parabola without noise, to the roundoff of float16 times its largest value, 23, in two
    // lanes
    QTest::newRow("curve-fit") << QVector<float>{5, 0, 3} << 23 * 0x1p-10;
    // five standard errors of a slope from 100 points from 0 to 1, and of a constant (half of it)
    QTest::newRow("line-fit") << QVector<float>{5, 3} << 5 * 0.1 / 2.9;
}

void TestSmallTasks::coefficients() {
    QFETCH(const QVector<float>, wanted);
    QFETCH(const double, bound);
    Experiment experiment(presetOnCpu(QTest::currentDataTag()));
    QCOMPARE(experiment.view().kind, ViewKind::Curve);
    const std::string untrained = experiment.snapshot().outputs[0].caption;
    train(experiment);
    const Snapshot now = experiment.snapshot();
    QVERIFY(now.outputs[0].caption != untrained);
    for (int i = 0; i < 2; ++i) {
        const std::vector<float> found = coefficientsOf(experiment.lane(i));
        QCOMPARE(found.size(), static_cast<size_t>(wanted.size()));
        for (size_t at = 0; at < found.size(); ++at)
            QVERIFY2(std::abs(found[at] - wanted[static_cast<qsizetype>(at)]) <= bound,
                     qPrintable(QString::number(double{found[at]})));
        const size_t terms = experiment.view().terms.size();
        QCOMPARE(now.outputs[static_cast<size_t>(i)].caption,
                 formulaOf(experiment.view(), std::span(found).first(terms),
                           std::span(found).subspan(terms)));
    }
    QVERIFY(!experiment.target().caption.empty());
    // by now the curve lies on the true one, pixel for pixel except its soft edges
    const Picture target = experiment.target();
    size_t others = 0;
    for (size_t i = 0; i < target.values.size(); ++i)
        others += std::abs(target.values[i] - now.outputs[0].values[i]) > 0.6f;
    QVERIFY2(others < target.values.size() / 50, qPrintable(QString::number(others)));
}

void TestSmallTasks::otherNetworksHaveNoFormula() {
    RunConfig config = presetOnCpu("line-fit");
    for (const char* layers : {"nn.Sequential(nn.Linear(1, 4), nn.ReLU(), nn.Linear(4, 1))",
                               "nn.Sequential(nn.Linear(1, 1), nn.Tanh())", "nn.LayerNorm(1)"}) {
        config.model.layers = layers;
        Experiment experiment(config);
        train(experiment, 2);
        QCOMPARE(experiment.snapshot().outputs[0].caption, std::string());
    }
    config.model.layers = "nn.Sequential(nn.Linear(1, 1, bias=False))";
    Experiment experiment(config);
    QVERIFY(!experiment.snapshot().outputs[0].caption.empty());
    config.model.networks = 2;
    QCOMPARE(Experiment(config).snapshot().outputs[0].caption, std::string());
}

/// The probe uses running statistics and no dropout, at places that no step sees.
void TestSmallTasks::probeByHand() {
    RunConfig config = presetOnCpu("moons");
    config.lanes = parseLanes("fp32");
    config.model.layers = "nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.ReLU(), "
                          "nn.Dropout(0.8), nn.Linear(4, 2))";
    Experiment experiment(config);
    for (const int64_t steps : {20, 40}) { // the second time with the weights of that step
        train(experiment, steps);
        const Weights weights = experiment.lane(0).weights();
        const auto at = [&](const char* name, size_t i) { return double{weights.at(name).at(i)}; };
        const Batch& probe = *experiment.view().probe;
        const std::vector<float> found = experiment.lane(0).probe(probe).value();
        const std::span<const float> x = probe.floats(kX);
        QCOMPARE(found.size(), x.size()); // two of each
        for (size_t row = 0; row < found.size() / 2; ++row) {
            std::array<double, 2> wanted{at("4.bias", 0), at("4.bias", 1)};
            for (size_t unit = 0; unit < 4; ++unit) {
                const double sum = at("0.weight", 2 * unit) * double{x[2 * row]} +
                                   at("0.weight", 2 * unit + 1) * double{x[2 * row + 1]} +
                                   at("0.bias", unit);
                const double normed = (sum - at("1.running_mean", unit)) /
                                          std::sqrt(at("1.running_var", unit) + 1e-5) *
                                          at("1.weight", unit) +
                                      at("1.bias", unit);
                for (size_t out = 0; out < 2; ++out)
                    wanted[out] += std::max(normed, 0.0) * at("4.weight", 4 * out + unit);
            }
            for (size_t out = 0; out < 2; ++out) // a dozen roundings of values near 10
                QVERIFY(std::abs(double{found[2 * row + out]} - wanted[out]) <= 12 * 10 * 0x1p-24);
        }
    }
}

/// Looking changes no bit, even with dropout, whose mask depends on the step.
void TestSmallTasks::lookingChangesNothing() {
    RunConfig config = presetOnCpu("spirals");
    config.model.layers =
        "nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Dropout(0.2), nn.Linear(16, 2))";
    config.epochs = 4;
    Experiment plain(config), watched(config);
    const std::vector<StepRecord> wanted = train(plain);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!watched.finished()) {
        watched.advance(records, events);
        const Snapshot shot = watched.snapshot();
        QCOMPARE(shot.step, watched.step());
        QCOMPARE(shot.outputs.size(), size_t{2});
    }
    QCOMPARE(records.size(), wanted.size());
    for (size_t i = 0; i < records.size(); ++i)
        QCOMPARE(std::bit_cast<uint32_t>(records[i].loss), std::bit_cast<uint32_t>(wanted[i].loss));
}

/// A map of a large network takes many times as long as a step: whoever waits for the training is
/// answered. How soon a network gives up is tested with the executor.
void TestSmallTasks::probesStop() {
    RunConfig config = presetOnCpu("moons");
    config.lanes = parseLanes("fp32");
    config.model.width = 1024;
    config.model.depth = 8;
    Experiment experiment(config);
    experiment.requestStop(); // made before, it belongs to the next step
    experiment.clearStop();
    QCOMPARE(experiment.snapshot().outputs.size(), size_t{1}); // the first one compiles
    bool stopped = false; // a busy machine may let the other thread ask only afterwards
    for (int tries = 0; tries < 10 && !stopped; ++tries) {
        std::atomic<bool> over{false};
        std::thread other([&] {
            while (!over) { // a request before the network runs is not meant for it
                experiment.requestStop();
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
        });
        stopped = experiment.snapshot().outputs.empty();
        over = true;
        other.join();
        experiment.clearStop();
    }
    QVERIFY(stopped);
    experiment.snapshot(); // uses up a request that came just as the network gave up
    QCOMPARE(experiment.snapshot().outputs.size(), size_t{1}); // and again
}

void TestSmallTasks::mapsShowWhatIsLearnt_data() {
    QTest::addColumn<double>("accuracy"); // on samples that are not trained on
    QTest::newRow("moons") << 0.97;
    QTest::newRow("spirals") << 0.95;
}

void TestSmallTasks::mapsShowWhatIsLearnt() {
    QFETCH(const double, accuracy);
    Experiment experiment(presetOnCpu(QTest::currentDataTag()));
    const TaskView& view = experiment.view();
    QCOMPARE(view.kind, ViewKind::Plane);
    const std::vector<StepRecord> records = train(experiment);
    for (size_t lane = 0; lane < 2; ++lane) {
        const auto& judged = records[records.size() - 2 + lane].validation;
        QVERIFY2(judged->accuracy.value() >= accuracy,
                 qPrintable(QString::number(*judged->accuracy)));
        // near almost every mark the map has the colour of its class
        const Picture map = experiment.snapshot().outputs[lane];
        size_t right = 0;
        for (const PlaneMark& mark : view.marks) {
            const auto place = [&map](const AxisRange& range, float value, int beside) {
                const double share = (double{value} - range.low) / (range.high - range.low);
                return std::clamp(static_cast<int>(share * map.width) + beside, 0, map.width - 1);
            };
            const int row = map.height - 1 - place(view.up, mark.y, 0);
            const auto at =
                static_cast<size_t>((row * map.width + place(view.across, mark.x, 8)) * 3);
            right += (map.values[at] > map.values[at + 2]) == (mark.label == 1);
        }
        QVERIFY2(static_cast<double>(right) > 0.75 * static_cast<double>(view.marks.size()),
                 qPrintable(QString::number(right)));
    }
}

/// Both lanes get two in three of the new words right, as the preset says, within three standard
/// errors of that share.
void TestSmallTasks::languagesAreTold() {
    Experiment experiment(presetOnCpu("languages"));
    const auto words = static_cast<double>(experiment.lane(0).judgedSamples());
    const double wanted = 2.0 / 3, error = std::sqrt(wanted * (1 - wanted) / words);
    const std::vector<StepRecord> records = train(experiment);
    for (size_t lane = 0; lane < 2; ++lane) {
        const double right = records.at(records.size() - 2 + lane).validation->accuracy.value();
        QVERIFY2(std::abs(right - wanted) < 3 * error, qPrintable(QString::number(right)));
    }
}

/// OneCycleLR(max_lr=0.01, epochs=10, steps_per_epoch=157, cycle_momentum=False).
void TestSmallTasks::oneCycleSpansTheEpochs() {
    RunConfig config = presetOnCpu("one-cycle");
    config.lanes = parseLanes("fp32");
    Experiment experiment(config);
    QCOMPARE(experiment.stepsPerEpoch(), int64_t{157});
    QCOMPARE(experiment.config().steps, int64_t{1570});
    const std::vector<StepRecord> records = train(experiment);
    const auto rate = [&](size_t step) { return double{records.at(step).learningRate}; };
    // values of torch 2.x: 0.01 / 25 at first, the peak at 0.3 * 1570 - 1, 0.01 / 25 / 1e4 at the
    // end
    const auto isNear = [](double value, double wanted) {
        return std::abs(value - wanted) <= 1e-5 * wanted;
    };
    QVERIFY(isNear(rate(0), 4e-4));
    QVERIFY(isNear(rate(470), 1e-2));
    QVERIFY(rate(469) < rate(470) && rate(471) < rate(470));
    QVERIFY(isNear(rate(1569), 4e-8));
    QVERIFY(!cyclesMomentum(config.schedule));
}

void TestSmallTasks::coordinatesPaintFineLines_data() {
    QTest::addColumn<int>("steps");
    QTest::newRow("siren") << 80;
    QTest::newRow("fourier") << 250;
}

/// Both lanes reach a peak signal-to-noise ratio of 40 dB. The network of the preset picture, with
/// about as many weights, is near 28 dB after the first of these steps.
void TestSmallTasks::coordinatesPaintFineLines() {
    QFETCH(const int, steps);
    RunConfig config = presetOnCpu(QTest::currentDataTag());
    config.task.side = 32;
    config.steps = steps;
    Experiment experiment(config);
    const std::vector<StepRecord> records = train(experiment);
    for (size_t lane = 0; lane < 2; ++lane) {
        const float loss = records.at(records.size() - 2 + lane).loss;
        QVERIFY2(loss < 1e-4f, qPrintable(QString::number(double{loss})));
    }
}

void TestSmallTasks::everyPrecision_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<int>("precision");
    for (const char* preset :
         {"checkerboard", "checkerboard-seed", "regression", "one-cycle", "curve-fit", "line-fit",
          "moons", "spirals", "mnist-mlp", "mnist-cnn", "fashion-cnn", "resnet-small",
          "transformer-tiny", "transformer-lm", "languages", "siren", "fourier", "gan", "wgan-gp"})
        for (int i = 0; i < kPrecisionCount; ++i)
            if (Precision(i) != Precision::User) // it needs a file
                QTest::addRow("%s %s", preset, nameOf(Precision(i))) << QString(preset) << i;
}

/// Two steps and the picture after them. Losses of the same weights are similar, and the first
/// update leaves weights that are numbers.
void TestSmallTasks::everyPrecision() {
    QFETCH(const QString, preset);
    QFETCH(const int, precision);
    RunConfig config = presetOnCpu(preset.toLatin1());
    config.task.batch = std::min<int64_t>(config.task.batch, 8);
    if (config.task.kind == TaskKind::Checkerboard) { // every step sees all of its pixels
        config.task.side = 16;
        config.model.width = 16;
    }
    config.lanes = {defaultLane(Precision::Fp32), defaultLane(Precision(precision))};
    Experiment experiment(config);
    const std::vector<StepRecord> records = train(experiment, 2);
    QCOMPARE(records.size(), size_t{4});
    const float loss = records[0].loss, other = records[1].loss; // of the same weights
    // a loss in bfloat16 has 8 bits, and the sums before it lose a few of them
    QVERIFY2(std::abs(other / loss - 1) < 0x1p-5f, qPrintable(QString::number(double{other})));
    // Adam's epsilon rounds to zero where its states are fp16, and zero gradients divide by it
    const bool mayBeLost =
        Precision(precision) == Precision::Fp16 || Precision(precision) == Precision::ApexO3;
    QVERIFY(std::isfinite(records[2].loss) && (mayBeLost || std::isfinite(records[3].loss)));
    const Snapshot shot = experiment.snapshot();
    QCOMPARE(shot.outputs.size(), size_t{2});
    QVERIFY(shot.outputs[1].values.size() == shot.outputs[0].values.size());
}

} // namespace tst_small_tasks

QTEST_GUILESS_MAIN(tst_small_tasks::TestSmallTasks)
#include "tst_small_tasks.moc"
