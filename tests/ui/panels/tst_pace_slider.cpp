// The pace of a training that is watched: its slider, its keys, and its effect on the training.
#include "engine/settings/fields.h"
#include "tests/support/opened_window.h"
#include "tests/support/train_into.h"
#include "ui/panels/pace_slider.h"
#include "ui/plots/plot_stack.h"

#include <QElapsedTimer>
#include <QLabel>
#include <QLocale>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>

namespace tst_pace_slider {

using namespace halfscope;

class TestPaceSlider : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void placesAreLogarithmic();
    void keysAndSliderSetTheSetting();
    void stepsKeepThePace();
    void figuresKeepUpWithSlowSteps();
    void savedRunsKeepThePace();
    void presetsOpenAtTheirPace();
    void commandsDoNotWait();
};

void TestPaceSlider::placesAreLogarithmic() {
    PaceSlider slider;
    const QSignalSpy chosen(&slider, &PaceSlider::paceChosen);
    QCOMPARE(slider.slider()->value(), slider.slider()->maximum());
    QCOMPARE(slider.slider()->accessibleName(), QStringLiteral("Pace: as fast as possible"));
    slider.setPace(15);
    QCOMPARE(slider.slider()->accessibleName(), QStringLiteral("Pace: 15 steps a second at most"));
    const int place = slider.slider()->value();
    slider.setPace(14.2); // not one of its places, but kept
    QCOMPARE(slider.slider()->value(), place);
    QCOMPARE(slider.pace(), 14.2);
    QVERIFY(chosen.isEmpty()); // the user did nothing
    slider.moveBy(1);
    QCOMPARE(slider.pace(), 20.0);
    slider.moveBy(-100);
    QCOMPARE(slider.pace(), 1.0);
    slider.moveBy(100);
    QCOMPARE(slider.pace(), 0.0);
    QCOMPARE(chosen.size(), qsizetype(3));
    slider.setPace(5000);
    QCOMPARE(slider.slider()->value(), slider.slider()->maximum());
    QCOMPARE(slider.pace(), 5000.0);
}

void TestPaceSlider::keysAndSliderSetTheSetting() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    auto* slider = window.findChild<PaceSlider*>();
    QVERIFY(reaches(window, SessionState::Ready));
    QCOMPARE(window.config().config().pace, 0.0);
    QTest::keyClick(&window, Qt::Key_Minus);
    QCOMPARE(window.config().config().pace, 1000.0);
    QTest::keyClick(&window, Qt::Key_Minus);
    QCOMPARE(window.config().config().pace, 500.0);
    QTest::keyClick(&window, Qt::Key_Plus);
    QCOMPARE(window.config().config().pace, 1000.0);
    slider->slider()->setValue(0);
    QCOMPARE(window.config().config().pace, 1.0);
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("run.pace")), QStringLiteral("25")));
    QCOMPARE(slider->pace(), 25.0);
    QVERIFY(!model.restartNeeded());
    QCOMPARE(window.bannerText(), QString());
}

/// The training is never faster; how much slower a busy machine is cannot be predicted.
void TestPaceSlider::stepsKeepThePace() {
    constexpr int64_t kSteps = 4000; // at this pace more than the longest stall of a machine
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.shown().setPace(20);
    QElapsedTimer clock;
    clock.start();
    window.play();
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() >= 11, kPatience);
    QVERIFY2(clock.elapsed() >= 500, qPrintable(QString::number(clock.elapsed())));
    QVERIFY(window.controller().running());
    const auto heldBack = [&window] { // by the plots, too: the lanes wait
        return window.plots().accessibleDescription().contains(
            QStringLiteral("Throughput (steps/s): not comparable at this pace"));
    };
    QTRY_VERIFY_WITH_TIMEOUT(heldBack(), kPatience);
    window.shown().setPace(0); // while it runs
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), kSteps, kPatience);
    for (int row = 0; row < window.events().rowCount(); ++row) // no number depends on the pace
        QVERIFY2(window.events().eventAt(row).kind != EventKind::Edit,
                 window.events().eventAt(row).text.english().c_str());
}

/// Beside plots that already show the next step, they would be those of another one.
void TestPaceSlider::figuresKeepUpWithSlowSteps() {
    constexpr int64_t kSteps = 4000;
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.shown().setPace(15);
    window.play();
    const auto* counter = window.findChild<QLabel*>(QStringLiteral("counter"));
    QElapsedTimer clock;
    clock.start();
    constexpr int kShort = 5; // ms: each frame is looked at
    while (window.run().step() < 12 && clock.elapsed() < kPatience) {
        QTest::qWait(kShort);
        QCOMPARE(counter->text(), QStringLiteral("step %1").arg(window.run().step()));
    }
    QVERIFY(window.run().step() >= 12);
    QVERIFY(window.controller().running());
    window.shown().setPace(0);
    window.controller().pause();
}

/// The speeds of a run whose lanes waited mislead later, too, also when the slider was moved since;
/// the command line lets none wait.
void TestPaceSlider::savedRunsKeepThePace() {
    const auto heldBack = [](MainWindow& window) {
        const auto* speeds = window.findChild<QLabel*>(QStringLiteral("speeds"));
        return speeds->toolTip().contains(QStringLiteral("At this pace the lanes wait"));
    };
    constexpr int64_t kSteps = 12;
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.shown().setPace(20); // the file of the experiment has none
    QVERIFY(trainsTo(window, kSteps));
    QTRY_VERIFY_WITH_TIMEOUT(heldBack(window), kPatience);
    window.shown().setPace(0);          // for what comes next
    constexpr int kSeveralLooks = 1000; // ms
    QVERIFY(!QTest::qWaitFor([&] { return !heldBack(window); }, kSeveralLooks));
    const QString results = opened.folder.filePath(QStringLiteral("results"));
    window.saveResults(results);
    QCOMPARE(readConfig(results.toStdString() + "/experiment.json").pace, 20.0);
    window.openPreset(QStringLiteral("checkerboard"));
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_VERIFY_WITH_TIMEOUT(window.canBringBack(), kPatience);
    QTRY_VERIFY(!heldBack(window));
    window.shown().bringBack(); // from the list
    QTRY_VERIFY_WITH_TIMEOUT(window.showsSaved() && heldBack(window), kPatience);

    MainWindow other;
    other.show();
    other.openFile(results);
    QTRY_VERIFY_WITH_TIMEOUT(other.showsSaved() && heldBack(other), kPatience);

    RunConfig config = tinyConfig(kSteps);
    config.pace = 1; // faster than that on any machine
    const QString fast = opened.folder.filePath(QStringLiteral("fast"));
    trainInto(fast.toStdString(), config, 0);
    MainWindow third;
    third.show();
    third.openFile(fast);
    const auto comparesThem = [&third] {
        return third.findChild<QLabel*>(QStringLiteral("speeds"))
            ->toolTip()
            .contains(QStringLiteral("steps/s"));
    };
    QTRY_VERIFY_WITH_TIMEOUT(third.showsSaved() && comparesThem(), kPatience);
    QVERIFY(!heldBack(third));
}

void TestPaceSlider::presetsOpenAtTheirPace() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    auto* slider = window.findChild<PaceSlider*>();
    window.openPreset(QStringLiteral("overflow"));
    QCOMPARE(slider->pace(), 15.0);
    window.openPreset(QStringLiteral("checkerboard"));
    QCOMPARE(slider->pace(), 0.0);
}

/// A pause, a step and a reset take effect at once, however slow the pace is.
void TestPaceSlider::commandsDoNotWait() {
    RunConfig config = tinyConfig(30);
    config.pace = 0.001;
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QElapsedTimer clock;
    clock.start();
    window.play();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(1), kPatience);
    window.pause();
    QVERIFY(reaches(window, SessionState::Paused));
    window.stepOnce();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(2), kPatience);
    window.play();
    window.restart();
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(clock.elapsed() < 500000); // half the time of one step
}

} // namespace tst_pace_slider

QTEST_MAIN(tst_pace_slider::TestPaceSlider)
#include "tst_pace_slider.moc"
