// Windows that end without being closed, and what the next one offers.
#include "tests/support/opened_window.h"
#include "ui/models/run_list_model.h"
#include "ui/panels/banner.h"

#include <QAbstractButton>
#include <QFileInfo>
#include <QMessageBox>
#include <QSettings>

using namespace halfscope;

namespace {

WindowOptions keeping(const QTemporaryDir& sessions) {
    WindowOptions options;
    options.sessions = sessions.filePath(QStringLiteral("sessions"));
    return options;
}

/// A window that trains to its end and is gone without being closed, as after a crash.
int64_t leave(const QTemporaryDir& sessions, int64_t steps) {
    Opened opened(tinyConfig(steps), keeping(sessions));
    opened.window.play();
    if (!reaches(opened.window, SessionState::Finished)) return 0;
    const bool listed =
        QTest::qWaitFor([&] { return opened.window.shown().run()->step() == steps; }, kPatience) &&
        opened.window.runs().rowCount() == 1;
    opened.window.keepSession();
    return listed ? opened.window.shown().run()->step() : 0;
}

QMessageBox* offer(MainWindow& window, int wait) {
    QMessageBox* box = nullptr;
    (void)QTest::qWaitFor(
        [&] {
            box = window.findChild<QMessageBox*>(QStringLiteral("leftRuns"));
            return box && box->isVisible();
        },
        wait);
    return box;
}

} // namespace

class TestSessionKeeper : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("HalfscopeTest"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_session_keeper"));
        QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_settings.path());
    }
    void restores();
    void deletes();
    void asksAgain();
    void aClosedWindowLeavesNothing();
    void aFolderThatCannotBeMade();
    void pausesWhenMemoryIsFull();

private:
    QTemporaryDir m_settings;
};

void TestSessionKeeper::restores() {
    const QTemporaryDir sessions;
    QCOMPARE(leave(sessions, 40), int64_t{40});
    Opened opened(tinyConfig(7), keeping(sessions));
    QMessageBox* box = offer(opened.window, kPatience);
    QVERIFY(box);
    QVERIFY2(box->informativeText().contains(QStringLiteral("40 steps")),
             qPrintable(box->informativeText()));
    QTest::mouseClick(box->button(QMessageBox::Open), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return opened.window.runs().rowCount() == 1; }, kPatience));
    QVERIFY(opened.window.canBringBack());
    opened.window.bringBack();
    QCOMPARE(opened.window.shown().run()->step(), int64_t{40});
    QVERIFY(opened.window.showsSaved());
    // it belongs to this session now
    QVERIFY(QTest::qWaitFor(
        [&] { return sessionsIn(keeping(sessions).sessions.toStdString()).size() == 1; },
        kPatience));
    opened.window.close();
}

void TestSessionKeeper::deletes() {
    const QTemporaryDir sessions;
    QCOMPARE(leave(sessions, 12), int64_t{12});
    Opened opened(tinyConfig(7), keeping(sessions));
    QMessageBox* box = offer(opened.window, kPatience);
    QVERIFY(box);
    QTest::mouseClick(box->button(QMessageBox::Discard), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor(
        [&] { return sessionsIn(keeping(sessions).sessions.toStdString()).empty(); }, kPatience));
    QCOMPARE(opened.window.runs().rowCount(), 0);
}

void TestSessionKeeper::asksAgain() {
    const QTemporaryDir sessions;
    QCOMPARE(leave(sessions, 12), int64_t{12});
    for (int start = 0; start < 2; ++start) {
        Opened opened(tinyConfig(7), keeping(sessions));
        QMessageBox* box = offer(opened.window, kPatience);
        QVERIFY(box);
        QTest::keyClick(box, Qt::Key_Escape);
        QVERIFY(QTest::qWaitFor([&] { return !offer(opened.window, 0); }, kPatience));
        opened.window.close();
    }
}

void TestSessionKeeper::aClosedWindowLeavesNothing() {
    const QTemporaryDir sessions;
    {
        Opened opened(tinyConfig(9), keeping(sessions));
        opened.window.play();
        QVERIFY(reaches(opened.window, SessionState::Finished));
        QVERIFY(QTest::qWaitFor(
            [&] { return sessionsIn(keeping(sessions).sessions.toStdString()).size() == 1; },
            kPatience));
        QVERIFY(opened.window.close());
    }
    QVERIFY(sessionsIn(keeping(sessions).sessions.toStdString()).empty());
    Opened next(tinyConfig(9), keeping(sessions));
    QVERIFY(!offer(next.window, 300));
}

void TestSessionKeeper::aFolderThatCannotBeMade() {
    WindowOptions options;
    options.sessions = QStringLiteral("/proc/no/such");
    Opened opened(tinyConfig(9), options);
    opened.window.play();
    QVERIFY(reaches(opened.window, SessionState::Finished));
    QVERIFY(QTest::qWaitFor(
        [&] { return opened.window.bannerText().contains(QStringLiteral("memory alone")); },
        kPatience));
    QVERIFY(opened.window.bannerText().contains(QStringLiteral("/proc/no/such")));
}

/// One MiB, and values that nothing can be dropped of yet.
void TestSessionKeeper::pausesWhenMemoryIsFull() {
    const QTemporaryDir sessions;
    QSettings().setValue(QStringLiteral("memory/budgetMiB"), 1);
    RunConfig config = tinyConfig(100'000'000);
    config.lanes.resize(6, config.lanes[0]);
    Opened opened(config, keeping(sessions));
    opened.window.play();
    const bool paused = reaches(opened.window, SessionState::Paused);
    QSettings().remove(QStringLiteral("memory/budgetMiB"));
    QVERIFY(paused);
    QVERIFY2(opened.window.bannerText().contains(QStringLiteral("1.00 MiB")),
             qPrintable(opened.window.bannerText()));
    QVERIFY(opened.window.shown().run()->step() > 100);
}

QTEST_MAIN(TestSessionKeeper)
#include "tst_session_keeper.moc"
