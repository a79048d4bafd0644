// A learning rate that follows the validation: falls as PyTorch's ReduceLROnPlateau makes them,
// when they come in a run, and that forks, checkpoints and edits go on as they should.
#include "engine/core/error.h"
#include "engine/settings/fields.h"
#include "engine/step/plateau.h"
#include "engine/step/pytorch_script.h"
#include "engine/train/checkpoint.h"
#include "engine/train/experiment.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_plateau {

using namespace halfscope;

namespace {

using Numbers = QList<double>;

/// An epoch has 32 steps; every loss that is not at least halved makes the rate fall.
RunConfig digits(int64_t steps, const std::string& lanes = "fp32") {
    RunConfig config = presetNamed("mnist-mlp").config;
    config.lanes = parseLanes(lanes);
    config.device = "cpu";
    config.model.width = 16;
    config.epochs = 0;
    config.steps = steps;
    config.validation = {0, 10};
    config.optimizer.lr = 0.004;
    config.schedule.kind = ScheduleKind::Plateau;
    config.schedule.gamma = 0.5;
    config.schedule.patience = 0;
    config.schedule.threshold = 0.9;
    return config;
}

struct Trained {
    std::vector<StepRecord> records;
    std::vector<Event> events;
};

Trained train(Experiment& experiment, int64_t until = INT64_MAX) {
    Trained made;
    while (!experiment.finished() && experiment.step() < until)
        experiment.advance(made.records, made.events);
    return made;
}

/// Returns a lane's rates at the steps 1, 11, 21, ...
Numbers ratesOf(const std::vector<StepRecord>& records, int lane = 0) {
    Numbers rates;
    for (const StepRecord& each : records)
        if (each.lane == lane && each.step % 10 == 1)
            rates << static_cast<double>(each.learningRate);
    return rates;
}

/// As the device holds them.
Numbers inFloat(Numbers rates) {
    for (double& rate : rates)
        rate = static_cast<double>(static_cast<float>(rate));
    return rates;
}

} // namespace

class TestPlateau : public QObject {
    Q_OBJECT

private slots:
    void likePyTorch_data();
    void likePyTorch();
    void fallsAfterValidations();
    void tellsBothRatesInOneForm();
    void theEndAloneIsNone();
    void checkpointsAndForks();
    void editsSetAnotherRate();
    void eachLaneHasItsOwn();
    void refuses_data();
    void refuses();
    void inPython();
};

/// Rates recorded from torch.optim.lr_scheduler.ReduceLROnPlateau of PyTorch 2.15, from 0.01.
void TestPlateau::likePyTorch_data() {
    QTest::addColumn<Numbers>("losses");
    QTest::addColumn<Numbers>("rates");
    QTest::addColumn<double>("factor");
    QTest::addColumn<int>("patience");
    QTest::addColumn<int>("cooldown");
    QTest::addColumn<double>("threshold");
    QTest::addColumn<double>("least");
    const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    const Numbers ones(8, 1.0);
    QTest::newRow("at once") << Numbers{1, 1, 0.9, 0.95, 0.8, 0.9}
                             << Numbers{0.01, 0.005, 0.005, 0.0025, 0.0025, 0.00125} << 0.5 << 0
                             << 0 << 1e-4 << 0.0;
    QTest::newRow("patience") << Numbers{1, 2, 2, 2, 2, 2, 2, 0.5, 0.6, 0.6, 0.6}
                              << Numbers{0.01, 0.01, 0.01, 0.001, 0.001, 0.001,
                                         1e-4, 1e-4, 1e-4, 1e-4,  1e-5}
                              << 0.1 << 2 << 0 << 1e-4 << 0.0;
    QTest::newRow("cooldown") << Numbers(10, 1.0) << Numbers{0.01,  0.01,   0.005,  0.005,  0.005,
                                                             0.005, 0.0025, 0.0025, 0.0025, 0.0025}
                              << 0.5 << 1 << 2 << 1e-4 << 0.0;
    QTest::newRow("better in the cooldown")
        << Numbers{1, 1, 1, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6}
        << Numbers{0.01, 0.01, 0.005, 0.005, 0.005, 0.005, 0.0025, 0.0025, 0.0025} << 0.5 << 1 << 2
        << 1e-4 << 0.0;
    QTest::newRow("threshold") << Numbers{1, 0.95, 0.91, 0.89, 0.87, 0.7, 0.69}
                               << Numbers{0.01, 0.005, 0.0025, 0.0025, 0.00125, 0.00125, 0.000625}
                               << 0.5 << 0 << 0 << 0.1 << 0.0;
    QTest::newRow("no threshold") << Numbers{1, 1, 0.9999999, 1, 0.9}
                                  << Numbers{0.01, 0.005, 0.005, 0.0025, 0.0025} << 0.5 << 0 << 0
                                  << 0.0 << 0.0;
    QTest::newRow("lowest rate") << ones << Numbers{0.01, 0.001, 3e-4, 3e-4, 3e-4, 3e-4, 3e-4, 3e-4}
                                 << 0.1 << 0 << 0 << 1e-4 << 3e-4;
    QTest::newRow("too small a change") << ones
                                        << Numbers{0.01,
                                                   0.001,
                                                   1e-4,
                                                   1e-5,
                                                   1.0000000000000002e-06,
                                                   1.0000000000000002e-07,
                                                   1.0000000000000004e-08,
                                                   1.0000000000000004e-08}
                                        << 0.1 << 0 << 0 << 1e-4 << 0.0;
    QTest::newRow("nan") << Numbers{nan, nan, 1, nan, 1, 0.5}
                         << Numbers{0.005, 0.0025, 0.0025, 0.00125, 0.000625, 0.000625} << 0.5 << 0
                         << 0 << 1e-4 << 0.0;
    QTest::newRow("inf") << Numbers{inf, inf, 2, 1} << Numbers{0.005, 0.0025, 0.0025, 0.0025} << 0.5
                         << 0 << 0 << 1e-4 << 0.0;
}

void TestPlateau::likePyTorch() {
    QFETCH(const Numbers, losses);
    QFETCH(const Numbers, rates);
    QFETCH(const double, factor);
    QFETCH(const int, patience);
    QFETCH(const int, cooldown);
    QFETCH(const double, threshold);
    QFETCH(const double, least);
    ScheduleConfig config;
    config.kind = ScheduleKind::Plateau;
    config.gamma = factor;
    config.patience = patience;
    config.cooldown = cooldown;
    config.threshold = threshold;
    config.minLr = least;
    Plateau plateau;
    double rate = 0.01;
    for (qsizetype i = 0; i < losses.size(); ++i) {
        if (fallsAfter(config, losses[i], plateau)) rate = rateAfterFall(config, rate);
        QVERIFY2(rate == rates[i], qPrintable(QString::number(i)));
    }
}

void TestPlateau::fallsAfterValidations() {
    Experiment experiment(digits(45));
    const Trained made = train(experiment);
    // the first validation is always lower than none
    QCOMPARE(ratesOf(made.records), inFloat({0.004, 0.004, 0.002, 0.001, 0.0005}));
    QCOMPARE(made.events.size(), size_t{3});
    QCOMPARE(made.events[0].kind, EventKind::RateFall);
    QCOMPARE(made.events[0].step, int64_t{20});
    QCOMPARE(
        made.events[0].text.english(),
        std::string("Step 20: The validation loss has not improved, so the learning rate falls "
                    "from 0.004 to 0.002."));
    // the rule, applied to the losses that were recorded
    Plateau plateau;
    const ScheduleConfig rule = digits(45).schedule;
    for (const StepRecord& each : made.records)
        if (each.validation && each.step < 45)
            QCOMPARE(fallsAfter(rule, each.validation->loss, plateau), each.step > 10);
}

/// Both rates are written as people write them, where "9e-04" would be shorter.
void TestPlateau::tellsBothRatesInOneForm() {
    for (const int patience : {0, 1}) {
        RunConfig config = digits(35);
        config.optimizer.lr = 0.001;
        config.schedule.gamma = 0.9;
        config.schedule.patience = patience;
        Experiment experiment(config);
        const Trained made = train(experiment);
        QVERIFY(!made.events.empty());
        const std::string text = made.events[0].text.english();
        QVERIFY2(text.ends_with(" falls from 0.001 to 0.0009."), text.c_str());
    }
}

/// A run that ends and goes on is the same as one that was longer from the start.
void TestPlateau::theEndAloneIsNone() {
    Experiment whole(digits(60)), shorter(digits(35));
    const Trained expected = train(whole);
    Trained made = train(shorter);
    shorter.setLive(-1, "run.steps", FieldValue{int64_t{60}}, made.events);
    const Trained rest = train(shorter);
    made.records.insert(made.records.end(), rest.records.begin(), rest.records.end());
    QCOMPARE(ratesOf(made.records), ratesOf(expected.records));
    QCOMPARE(made.records.back().loss, expected.records.back().loss);
}

void TestPlateau::checkpointsAndForks() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("c.safetensors").toStdString();
    Experiment whole(digits(60));
    const Trained expected = train(whole);
    Experiment first(digits(60));
    train(first, 27);
    ExperimentState written = first.state();
    written.lanes[0].faultScale = 8; // kept, too, and without effect on this lane
    writeCheckpoint(path, written, "0");
    const ExperimentState state = readCheckpoint(path);
    QCOMPARE(state.lanes[0].faultScale, 8.0f);
    QVERIFY(state.lanes[0].plateau == first.state().lanes[0].plateau);
    QVERIFY(state.lanes[0].plateau.rate == 0.002);
    Experiment second(state.recorded);
    second.resume(state);
    const Trained rest = train(second);
    for (size_t i = 0; i < rest.records.size(); ++i) {
        QCOMPARE(rest.records[i].loss, expected.records[27 + i].loss);
        QCOMPARE(rest.records[i].learningRate, expected.records[27 + i].learningRate);
    }
    Experiment forked(digits(60));
    std::vector<Event> events;
    train(forked, 27);
    forked.fork(0, parseLanes("fp32")[0], events);
    const Trained both = train(forked);
    QCOMPARE(ratesOf(both.records, 1), ratesOf(both.records, 0));
    QCOMPARE(both.records.back().loss, expected.records.back().loss);
}

void TestPlateau::editsSetAnotherRate() {
    Experiment experiment(digits(50));
    Trained made = train(experiment, 25);              // fallen to 0.002
    QCOMPARE(experiment.config().optimizer.lr, 0.004); // the settings keep what was asked for
    experiment.setLive(-1, "optimizer.weight_decay", FieldValue{0.01}, made.events);
    std::vector<StepRecord> records;
    experiment.advance(records, made.events);
    QCOMPARE(records.back().learningRate, 0.002F); // another number of the optimizer
    experiment.setLive(-1, "optimizer.lr", FieldValue{0.01}, made.events);
    const Trained rest = train(experiment);
    QCOMPARE(rest.records.front().learningRate, 0.01F);
    QCOMPARE(ratesOf(rest.records), inFloat({0.005, 0.0025}));
}

/// One lane improves, the other does not.
void TestPlateau::eachLaneHasItsOwn() {
    RunConfig config = digits(30, "fp32,amp-fp16");
    config.schedule.threshold = 0;
    config.lanes[1].scaler.initScale = std::exp2(60); // all its steps are skipped
    config.lanes[1].scaler.rules.mode = ScalerMode::Static;
    Experiment experiment(config);
    const Trained made = train(experiment);
    QCOMPARE(ratesOf(made.records, 0), inFloat({0.004, 0.004, 0.004}));
    QCOMPARE(ratesOf(made.records, 1), inFloat({0.004, 0.004, 0.002}));
}

void TestPlateau::refuses_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QString>("message");
    QTest::newRow("no samples") << QStringList{"data.kind=checkerboard", "task.loss=mse"}
                                << "schedule.kind: plateau is not allowed where there are no "
                                   "samples to validate on";
    QTest::newRow("none held back")
        << QStringList{"data.kind=moons", "data.validation=0"}
        << "schedule.kind: plateau is not allowed where there are no samples to validate on";
    QTest::newRow("two networks") << QStringList{"model.networks=2"}
                                  << "schedule.kind: plateau is not allowed where two networks are "
                                     "trained";
    QTest::newRow("no fall") << QStringList{"schedule.gamma=1"}
                             << "schedule.gamma: 1 is not allowed with schedule.kind plateau: a "
                                "number above 0 and below 1";
    QTest::newRow("at the end") << QStringList{"validation.epochs=0", "validation.steps=0"}
                                << "schedule.kind: plateau is not allowed where validation.epochs "
                                   "and validation.steps are 0: lanes are then validated at the "
                                   "end alone";
}

void TestPlateau::refuses() {
    QFETCH(const QStringList, settings);
    QFETCH(const QString, message);
    RunConfig config = digits(10);
    try {
        for (const QString& each : settings)
            applySetting(config, each.toStdString());
        checkConfig(config);
        QFAIL("it was allowed");
    } catch (const InputError& error) {
        QCOMPARE(QString::fromStdString(error.message().english()), message);
    }
}

void TestPlateau::inPython() {
    RunConfig config = digits(10);
    config.validation = {2, 0};
    config.schedule.cooldown = 3;
    const QString text = QString::fromStdString(pytorchScript(config));
    for (const char* part :
         {"ReduceLROnPlateau(optimizer, factor=0.5, patience=0, threshold=0.9, cooldown=3)\n",
          "    epoch = int(feed[\"epoch\"]) if feed else -(-len(data[0]) // BATCH)\n",
          "        if validation and step > 0 and (step % (2 * epoch) == 0):\n"
          "            scheduler.step(mean_loss(lane, model, *validation))\n",
          "train(lane, data, steps, weights, validation, feed=feed)\n"})
        QVERIFY2(text.contains(QLatin1String(part)), part);
    QVERIFY(!text.contains("scheduler.step()"));
}

} // namespace tst_plateau

QTEST_GUILESS_MAIN(tst_plateau::TestPlateau)
#include "tst_plateau.moc"
