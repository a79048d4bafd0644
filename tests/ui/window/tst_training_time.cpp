// What the status bar says of the time that a training takes: that a first step lasts, and how long
// the rest takes.
#include "tests/support/opened_window.h"
#include "ui/models/duration_text.h"
#include "ui/window/run_words.h"

#include <QLabel>

#include <limits>

namespace tst_training_time {

using namespace halfscope;

namespace {

QString stateOf(const MainWindow& window) {
    return window.findChild<QLabel*>(QStringLiteral("state"))->text();
}

} // namespace

class TestTrainingTime : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void aLongFirstStepIsTold_data();
    void aLongFirstStepIsTold();
    void theRestIsTold();
    void onlyWhatIsWorthTelling();
};

void TestTrainingTime::aLongFirstStepIsTold_data() {
    QTest::addColumn<bool>("onGpu");
    QTest::addColumn<QString>("told");
    QTest::newRow("CPU") << false
                         << QStringLiteral("Training. The first step is still running: a step of "
                                           "this network takes long on a CPU.");
    QTest::newRow("GPU") << true << QStringLiteral("Training. The first step is still running.");
}

void TestTrainingTime::aLongFirstStepIsTold() {
    QFETCH(const bool, onGpu);
    QFETCH(const QString, told);
    FakeScript script;
    script.endless = true;
    script.onGpu = onGpu;
    RunConfig config = tinyConfig(100'000'000);
    config.pace = 100;
    Opened opened(config, played(script));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.play();
    QVERIFY(reaches(window, SessionState::Running));
    QCOMPARE(stateOf(window), QStringLiteral("Training.")); // most first steps are short
    QVERIFY2(QTest::qWaitFor([&] { return stateOf(window) == told; }, kPatience),
             qPrintable(stateOf(window)));
    script.endless = false;
    QVERIFY2(
        QTest::qWaitFor([&] { return !stateOf(window).contains(QStringLiteral("first step")); },
                        kPatience),
        qPrintable(stateOf(window)));
}

void TestTrainingTime::theRestIsTold() {
    RunConfig config = tinyConfig(100'000);
    config.pace = 20; // so that it takes 83 minutes
    Opened opened(config);
    MainWindow& window = opened.window;
    window.play();
    const auto tells = [&window] {
        return stateOf(window).startsWith(QStringLiteral("Training. About ")) &&
               stateOf(window).endsWith(QStringLiteral(" minutes left."));
    };
    QVERIFY2(QTest::qWaitFor(tells, kPatience), qPrintable(stateOf(window)));
    window.pause();
    QVERIFY(reaches(window, SessionState::Paused));
    QCOMPARE(stateOf(window), QStringLiteral("Paused. Press Space to continue."));
}

void TestTrainingTime::onlyWhatIsWorthTelling() {
    RunWords::State state{SessionState::Running};
    const auto says = [&state](double left) {
        state.secondsLeft = left;
        return RunWords::state(state, {});
    };
    const QString plain = QStringLiteral("Training.");
    for (const double left : {-1.0, 0.0, 19.0, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()})
        QCOMPARE(says(left), plain);
    for (const double left : {30.0, 600.0, 86400.0})
        QCOMPARE(says(left), QStringLiteral("Training. About %1 left.").arg(durationText(left)));
}

} // namespace tst_training_time

QTEST_MAIN(tst_training_time::TestTrainingTime)
#include "tst_training_time.moc"
