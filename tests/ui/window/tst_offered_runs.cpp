// The runs of windows that crashed, as the next one names them: in which order, and since when; and
// what it says where they cannot be read; and that deleting one of them offers no saved one.
#include "engine/runs/left_session.h"
#include "tests/support/left_runs.h"
#include "ui/panels/banner.h"

#include <QAbstractButton>
#include <QDir>
#include <QFileInfo>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStatusBar>

#include <algorithm>
#include <cstdint>
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
    void deletingBringsNoSavedRunBack();
    void aTrainingIsNotCovered();
    void anErrorStaysUntilItIsDismissed();
};

/// The store goes on in the file of the session that was restored.
void TestOfferedRuns::theNewestSessionComesFirst() {
    const QTemporaryDir sessions;
    QVERIFY(trainsAndCrashes(sessions, 25));
    {
        const std::vector<std::string> before = namesIn(sessions);
        Opened opened(tinyConfig(7), keeping(sessions));
        QMessageBox* box = offer(opened.window);
        QVERIFY(box);
        box->button(QMessageBox::Open)->click();
        QTRY_COMPARE_WITH_TIMEOUT(opened.window.runs().rowCount(), 1, kPatience);
        QVERIFY(opened.window.keepSession().empty());
        QVERIFY(namesIn(sessions) == before);
    }
    QTest::qWait(1001); // a session is called after its second, and the first name is free again
    QVERIFY(trainsAndCrashes(sessions, 30));
    Opened opened(tinyConfig(7), keeping(sessions));
    const QMessageBox* box = offer(opened.window);
    QVERIFY(box);
    static const QRegularExpression lines(
        QStringLiteral("^[^\n]*, 30 steps, from the session begun (today at|on) [^;\n]*; its "
                       "networks of step 30 were kept\n[^\n]*, 25 steps, from the session begun "
                       "(today at|on) [^;\n]*; its networks of step 25 were kept$"));
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

/// The saved one of two runs is not offered once the other one is deleted.
void TestOfferedRuns::deletingBringsNoSavedRunBack() {
    constexpr int64_t kSaved = 25, kUnsaved = 20; // steps
    const QTemporaryDir sessions, saved;
    {
        Opened opened(tinyConfig(kSaved), keeping(sessions));
        MainWindow& window = opened.window;
        const auto stands = [&window](int64_t step) {
            return QTest::qWaitFor([&] { return window.run().step() == step; }, kPatience);
        };
        QVERIFY(trainsTo(window, kSaved) && stands(kSaved));
        window.saveResults(saved.filePath(QStringLiteral("saved")));
        window.restart();
        QVERIFY(reaches(window, SessionState::Ready) && stands(0));
        window.setStopStep(kUnsaved);
        QVERIFY(trainsTo(window, kUnsaved) && stands(kUnsaved));
        QVERIFY(window.keepSession().empty());
    } // as after a crash
    const std::string folder = keeping(sessions).sessions.toStdString();
    const auto offered = [&folder] {
        std::vector<int64_t> steps;
        std::vector<LeftSession> left = leftSessions(folder);
        for (LeftSession& each : left) {
            each.leaveOutSaved();
            for (const LeftRun& run : each.runs())
                steps.push_back(run.steps);
        }
        return steps;
    };
    QCOMPARE(offered(), std::vector<int64_t>{kUnsaved});
    {
        std::vector<LeftSession> left = leftSessions(folder);
        const std::vector<LeftRun>& runs = left.at(0).runs();
        QCOMPARE(runs.size(), size_t{2});
        const auto unsaved = std::ranges::find(runs, kUnsaved, &LeftRun::steps);
        QVERIFY(unsaved != runs.end());
        left[0].remove(LeftRun(*unsaved));
    }
    QCOMPARE(offered(), std::vector<int64_t>());
}

/// A question over a training that the user has asked for would hide it.
void TestOfferedRuns::aTrainingIsNotCovered() {
    const QTemporaryDir sessions;
    QVERIFY(trainsAndCrashes(sessions, 25));
    RunConfig endless = tinyConfig(100'000'000);
    endless.pace = 100;
    Opened opened(endless, keeping(sessions));
    MainWindow& window = opened.window;
    window.play();
    const auto tells = [&window] {
        return window.bannerText() ==
               QStringLiteral("There are runs of an earlier window that were not saved.");
    };
    QVERIFY2(QTest::qWaitFor(tells, kPatience), qPrintable(window.bannerText()));
    QVERIFY(!window.findChild<QMessageBox*>(QStringLiteral("leftRuns")));
    QVERIFY(QTest::qWaitFor([&window] { return window.run().step() > 0; }, kPatience));
    QVERIFY(tells()); // the training has not dismissed it
    for (auto* button : window.findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("Show them")) button->click();
    QMessageBox* box = offer(window);
    QVERIFY(box);
    QVERIFY2(box->informativeText().contains(QStringLiteral(", 25 steps")),
             qPrintable(box->informativeText()));
    box->button(QMessageBox::Cancel)->click();
}

/// While a training runs, the offer waits for the place of what went wrong.
void TestOfferedRuns::anErrorStaysUntilItIsDismissed() {
    const QTemporaryDir sessions;
    QVERIFY(trainsAndCrashes(sessions, 25));
    RunConfig endless = tinyConfig(100'000'000);
    endless.pace = 100;
    Opened opened(endless, keeping(sessions));
    MainWindow& window = opened.window;
    window.play();
    auto* banner = window.findChild<Banner*>();
    const QString error = QStringLiteral("The file cannot be read.");
    banner->showText(error);
    constexpr int kLooks = 1000; // ms: several
    QTest::qWait(kLooks);
    QCOMPARE(window.bannerText(), error);
    banner->dismiss();
    const auto tells = [&window] {
        return window.bannerText() ==
               QStringLiteral("There are runs of an earlier window that were not saved.");
    };
    QVERIFY2(QTest::qWaitFor(tells, kPatience), qPrintable(window.bannerText()));
}

} // namespace tst_offered_runs

QTEST_MAIN(tst_offered_runs::TestOfferedRuns)
#include "tst_offered_runs.moc"
