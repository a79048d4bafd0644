// A file that takes long to read: the window says so, Play waits for it, and it can be given up.
#include "tests/support/large_table.h"
#include "tests/support/opened_window.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QStatusBar>
#include <QToolButton>

namespace tst_reading_sign {

using namespace halfscope;

namespace {

constexpr int kLines = 1'000'000;

QString headlineOf(const MainWindow& window) {
    return window.findChild<QLabel*>(QStringLiteral("headline"))->toolTip();
}

QString stateOf(const MainWindow& window) {
    return window.findChild<QLabel*>(QStringLiteral("state"))->text();
}

} // namespace

class TestReadingSign : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void playWaits();
    void aSecondPressTakesItBack();
    void canBeGivenUp();
    void aPresetIsNewer();
    void playIsNotAboutAnotherFile();
    void trainingGoesOn();
    void oneTextInTheStatusBar();

private:
    QTemporaryDir m_folder;
    QString m_table = m_folder.filePath(QStringLiteral("big.csv"));
};

void TestReadingSign::initTestCase() {
    QLocale::setDefault(QLocale::c());
    QVERIFY(test::writeTable(m_table, kLines));
}

/// What is read is trained, never what is shown meanwhile.
void TestReadingSign::playWaits() {
    Opened opened(tinyConfig(100'000'000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(window.tryFile(m_table));
    QVERIFY(window.opens());
    const auto* play = window.findChild<QPushButton*>(QStringLiteral("play"));
    const auto* step = window.findChild<QPushButton*>(QStringLiteral("step"));
    QCOMPARE(headlineOf(window),
             QStringLiteral("Reading big.csv… Press Play to train as soon as it is read."));
    QCOMPARE(stateOf(window), headlineOf(window));
    QCOMPARE(play->text(), QStringLiteral("Play"));
    QVERIFY(play->isEnabled() && !step->isEnabled());
    window.stepOnce();
    window.shown().playOrPause();
    QCOMPARE(headlineOf(window),
             QStringLiteral("Reading big.csv… Training starts when it is read."));
    QCOMPARE(play->text(), QStringLiteral("Pause"));
    QVERIFY(!window.controller().willTrain());
    QVERIFY(QTest::qWaitFor([&] { return !window.opens(); }, kPatience));
    QCOMPARE(window.config().config().task.path, m_table.toStdString());
    QVERIFY(window.controller().willTrain());
    QVERIFY2(!headlineOf(window).contains(QStringLiteral("Reading")),
             qPrintable(headlineOf(window)));
    QVERIFY(QTest::qWaitFor([&] { return window.run().step() > 0; }, kPatience));
    QCOMPARE(window.shown().run()->info().config.task.kind, TaskKind::Csv);
    QCOMPARE(window.runs().rowCount(), 1); // the other one has not taken a step
}

void TestReadingSign::aSecondPressTakesItBack() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(window.tryFile(m_table));
    window.shown().playOrPause();
    window.shown().playOrPause();
    QVERIFY(window.opens());
    QVERIFY(QTest::qWaitFor([&] { return !window.opens(); }, kPatience));
    QVERIFY(!window.controller().willTrain());
    QVERIFY(reaches(window, SessionState::Ready));
}

/// Reading takes several times as long here as the sign waits before it offers to stop.
void TestReadingSign::canBeGivenUp() {
    const QString table = m_folder.filePath(QStringLiteral("bigger.csv"));
    QVERIFY(test::writeTable(table, 5 * kLines));
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.show();
    const QString before = headlineOf(window), state = stateOf(window);
    auto* stop = window.findChild<QToolButton*>(QStringLiteral("stopReading"));
    QVERIFY(!stop->isVisible());
    const QSignalSpy stopped(&window, &MainWindow::fileStopped);
    QVERIFY(window.tryFile(table));
    window.shown().playOrPause();
    QVERIFY(QTest::qWaitFor([&] { return stop->isVisible() || !window.opens(); }, kPatience));
    QVERIFY(window.opens());
    stop->click();
    QVERIFY(!window.opens() && !stop->isVisible());
    QCOMPARE(stopped.size(), 1);
    QCOMPARE(headlineOf(window), before);
    QCOMPARE(stateOf(window), state);
    QVERIFY(!window.controller().willTrain()); // Play was about the file
    QVERIFY(trainsTo(window, 5));
}

/// The table must not take the place of what the user has chosen since.
void TestReadingSign::aPresetIsNewer() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(window.tryFile(m_table));
    QVERIFY(window.opens());
    window.openPreset(QStringLiteral("regression"));
    QVERIFY(!window.opens());
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY2(!headlineOf(window).contains(QStringLiteral("Reading")),
             qPrintable(headlineOf(window)));
}

/// Play was pressed for the table, not for the small one that is read at once.
void TestReadingSign::playIsNotAboutAnotherFile() {
    const QString small = m_folder.filePath(QStringLiteral("small.csv"));
    QVERIFY(test::writeTable(small, 1000));
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(window.tryFile(m_table));
    window.shown().playOrPause();
    const auto* play = window.findChild<QPushButton*>(QStringLiteral("play"));
    QCOMPARE(play->toolTip(),
             QStringLiteral("Do not start training when the file is read (Space)"));
    window.tryFile(small);
    QVERIFY(QTest::qWaitFor([&] { return !window.opens(); }, kPatience));
    QCOMPARE(window.config().config().task.path, small.toStdString());
    QVERIFY(!window.controller().willTrain());
}

/// A training that runs goes on until the file is there, and can be paused.
void TestReadingSign::trainingGoesOn() {
    RunConfig config = tinyConfig(100'000'000);
    config.pace = 100;
    Opened opened(config);
    MainWindow& window = opened.window;
    window.play();
    // its first step may be seen before the notice that it trains
    QVERIFY(QTest::qWaitFor([&] { return window.run().step() > 0; }, kPatience));
    QVERIFY(reaches(window, SessionState::Running));
    QVERIFY(window.tryFile(m_table));
    QCOMPARE(headlineOf(window), QStringLiteral("Reading big.csv…"));
    QTRY_VERIFY2(stateOf(window).startsWith(QStringLiteral("Training.")),
                 qPrintable(stateOf(window)));
    window.shown().playOrPause();
    QVERIFY(!window.controller().willTrain());
    window.findChild<QToolButton*>(QStringLiteral("stopReading"))->click();
    QVERIFY(reaches(window, SessionState::Paused));
    QTRY_COMPARE(stateOf(window), QStringLiteral("Paused. Press Space to continue."));
}

/// A message that comes before the window is shown does not stand on the state.
void TestReadingSign::oneTextInTheStatusBar() {
    Opened opened(tinyConfig(5));
    MainWindow& window = opened.window;
    window.hide();
    const auto* state = window.findChild<QLabel*>(QStringLiteral("state"));
    window.statusBar()->showMessage(QStringLiteral("News"));
    window.show();
    QVERIFY(!state->isVisible());
    window.statusBar()->clearMessage();
    QVERIFY(state->isVisible());
}

} // namespace tst_reading_sign

QTEST_MAIN(tst_reading_sign::TestReadingSign)
#include "tst_reading_sign.moc"
