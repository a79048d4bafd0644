// The speed and the pace of a run, from the times of its steps.
#include "tests/support/shown_lanes.h"
#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"

#include <QTest>

#include <cmath>

namespace tst_run_speed {

using namespace halfscope;
using namespace halfscope::test;

class TestRunSpeed : public QObject {
    Q_OBJECT
private slots:
    void theSpeedOfARunThatIsOver();
    void thePaceOfTheLastSteps();
    void theTimeOfTheLastSteps();
};

/// What happened in its last seconds is not its speed.
void TestRunSpeed::theSpeedOfARunThatIsOver() {
    constexpr int64_t kSteps = 100'000; // more than the steps that are looked at
    RunModel model;
    const auto run = shownIn(model);
    RunBatch steps;
    double wall = 0;
    for (int64_t step = 1; step <= kSteps; ++step) {
        const bool disturbed = step > kSteps / 100 * 60;
        wall += 0.01;
        for (const int lane : {0, 1})
            steps.rows.push_back(rowAt(step, lane, 1)
                                     .set(metric::WallSeconds, wall)
                                     .set(metric::DeviceSeconds, disturbed   ? 0.5
                                                                 : lane == 0 ? 0.001
                                                                             : 0.008));
    }
    run->append(std::move(steps));
    model.refresh();
    QVERIFY2(std::abs(model.lane(0).stepsPerSecond - 2) < 1e-3,
             qPrintable(QString::number(model.lane(0).stepsPerSecond)));
    QVERIFY(!model.setOver(false) && model.setOver(true) && !model.setOver(true));
    QVERIFY2(std::abs(model.lane(0).stepsPerSecond - 1000) < 1,
             qPrintable(QString::number(model.lane(0).stepsPerSecond)));
    QVERIFY2(std::abs(model.speedRatio() - 0.125) < 1e-3,
             qPrintable(QString::number(model.speedRatio())));
    model.setRun(run); // another one that is over, too
    QVERIFY(std::abs(model.speedRatio() - 0.125) < 1e-3);
    QVERIFY(model.setOver(false)); // it goes on
    QVERIFY(std::abs(model.speedRatio() - 1) < 1e-3);
}

/// The pace may be lowered a moment before the end, and a validation alone holds no steps back.
void TestRunSpeed::thePaceOfTheLastSteps() {
    constexpr int64_t kSteps = 200;
    const auto paceWhen = [](double pace, int64_t slow, double usual, double atEnd) {
        RunConfig config = defaultConfig();
        config.pace = pace;
        Run run(cpuRunInfo(config), lanesOf(config));
        RunBatch batch;
        double seconds = 0;
        for (int64_t step = 1; step <= kSteps; ++step) {
            seconds += step > kSteps - slow ? atEnd : usual;
            for (const int lane : {0, 1})
                batch.rows.push_back(rowAt(step, lane, 1).set(metric::WallSeconds, seconds));
        }
        run.append(std::move(batch));
        return paceOf(run.now());
    };
    QCOMPARE(paceWhen(4, kSteps, 0.25, 0.25), 4.0);
    QCOMPARE(paceWhen(4, 0, 0.025, 0), 0.0);
    QCOMPARE(paceWhen(4, 20, 0.025, 0.25), 4.0);       // it was 40
    QCOMPARE(paceWhen(4, 1, 0.025, 2.25), 0.0);        // a validation after the last step
    QCOMPARE(paceWhen(600, kSteps, 0, 0.0011), 600.0); // most steps begin late
    QCOMPARE(paceWhen(600, kSteps, 0, 3e-5), 0.0);     // as on the command line
    // the extremes that were measured, see paceOf()
    QCOMPARE(paceWhen(600, kSteps, 0, 0.64 / 600), 600.0);
    QCOMPARE(paceWhen(600, kSteps, 0, 0.06 / 600), 0.0);
}

/// With validations, which no device's clock shows; the first step may take much longer.
void TestRunSpeed::theTimeOfTheLastSteps() {
    Run run(cpuRunInfo(defaultConfig()), lanesOf(defaultConfig()));
    const auto late = [&run](int64_t begin = 0) { return lateSecondsPerStep(run.now(), begin); };
    QVERIFY(std::isinf(late()));
    double seconds = 0;
    const auto train = [&](int64_t from, int64_t to, double each) {
        RunBatch batch;
        for (int64_t step = from; step <= to; ++step) {
            seconds += step == 1 ? 60 : each;
            for (const int lane : {0, 1})
                batch.rows.push_back(rowAt(step, lane, 1)
                                         .set(metric::WallSeconds, seconds)
                                         .set(metric::DeviceSeconds, 0.001));
        }
        run.append(std::move(batch));
    };
    train(1, 1, 1);
    QVERIFY(std::isinf(late()));
    train(2, 100, 0.5);
    QVERIFY2(std::abs(late() - 0.5) < 1e-6, qPrintable(QString::number(late())));
    QVERIFY(std::isinf(late(99))); // of another start
    train(101, 400, 0.25);
    QVERIFY2(std::abs(late() - 0.25) < 1e-6, qPrintable(QString::number(late())));
    QVERIFY(std::abs(late(300) - 0.25) < 1e-6);
}

} // namespace tst_run_speed

QTEST_GUILESS_MAIN(tst_run_speed::TestRunSpeed)
#include "tst_run_speed.moc"
