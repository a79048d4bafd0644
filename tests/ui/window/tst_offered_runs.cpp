// The runs of windows that crashed, as the next one names them: in which order, and since when; and
// what it says where they cannot be read.
#include "tests/support/left_runs.h"

#include <QAbstractButton>
#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStatusBar>

#include <string>
#include <vector>

namespace tst_offered_runs {

using namespace halfscope;

namespace {

/// A window that trains to its end and disappears without being closed.
bool trainsAndCrashes(const QTemporaryDir& sessions, int64_t steps) {
    Opened opened(tinyConfig(steps), keeping(sessions));
    return trainsTo(opened.window, steps) &&
           QTest::qWaitFor([&] { return opened.window.run().step() == steps; }, kPatience) &&
           opened.window.keepSession().empty();
}

} // namespace

class TestOfferedRuns : public QObject {
    Q_OBJECT
private slots:
    void theNewestSessionComesFirst();
    void saysNoLongerThatItRestores();
};

/// A run that was restored is older than the session that has it now: its time is not told.
void TestOfferedRuns::theNewestSessionComesFirst() {
    const QTemporaryDir sessions;
    QVERIFY(trainsAndCrashes(sessions, 25));
    {
        const std::vector<std::string> before = namesIn(sessions);
        Opened opened(tinyConfig(7), keeping(sessions));
        QMessageBox* box = offer(opened.window);
        QVERIFY(box);
        box->button(QMessageBox::Open)->click();
        QVERIFY(QTest::qWaitFor(
            [&] { return namesIn(sessions).size() == 1 && namesIn(sessions) != before; },
            kPatience));
        QVERIFY(opened.window.keepSession().empty());
    }
    QTest::qWait(1001); // a session is called after its second, and the first name is free again
    QVERIFY(trainsAndCrashes(sessions, 30));
    Opened opened(tinyConfig(7), keeping(sessions));
    const QMessageBox* box = offer(opened.window);
    QVERIFY(box);
    static const QRegularExpression lines(
        QStringLiteral("^[^\n]*, 30 steps, from the session begun (today at|on) [^;\n]*; its "
                       "networks of step 30 were kept\n[^\n]*, 25 steps; its networks of step 25 "
                       "were kept$"));
    QVERIFY2(lines.match(box->informativeText()).hasMatch(), qPrintable(box->informativeText()));
}

/// Also where nothing comes of it.
void TestOfferedRuns::saysNoLongerThatItRestores() {
    const QTemporaryDir sessions;
    QVERIFY(trainsAndCrashes(sessions, 25));
    Opened opened(tinyConfig(7), keeping(sessions));
    MainWindow& window = opened.window;
    QMessageBox* box = offer(window);
    QVERIFY(box);
    for (const QFileInfo& file : QDir(keeping(sessions).sessions).entryInfoList(QDir::Files)) {
        if (file.suffix() == QLatin1String("lock")) continue;
        QFile damaged(file.filePath());
        QVERIFY(damaged.open(QIODevice::WriteOnly)); // meanwhile
        damaged.write(QByteArray(100'000, 'x'));
    }
    const QSignalSpy told(window.statusBar(), &QStatusBar::messageChanged);
    box->button(QMessageBox::Open)->click();
    QVERIFY(QTest::qWaitFor(
        [&] {
            return window.bannerText().startsWith(QStringLiteral("Not all runs could be restored"));
        },
        kPatience));
    QVERIFY(told.contains({QStringLiteral("Restoring runs…")}));
    QCOMPARE(window.statusBar()->currentMessage(), QString());
}

} // namespace tst_offered_runs

QTEST_MAIN(tst_offered_runs::TestOfferedRuns)
#include "tst_offered_runs.moc"
