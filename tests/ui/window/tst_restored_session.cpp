// Where the runs of earlier windows lie once they are restored: in the latest file that was left,
// unless this window has one already.
#include "engine/io/database.h"
#include "engine/runs/left_session.h"
#include "engine/runs/session_file.h"
#include "engine/runs/session_store.h"
#include "tests/support/left_runs.h"
#include "tests/support/served_events.h"
#include "tests/support/session_run.h"

#include <QAbstractButton>
#include <QApplication>
#include <QTimer>

#include <memory>
#include <string>
#include <vector>

namespace tst_restored_session {

using namespace halfscope;

namespace {

/// Leaves a session with these runs.
void leaveRuns(const QTemporaryDir& sessions, const std::vector<std::string>& names) {
    SessionStore store({keeping(sessions).sessions.toStdString()});
    for (const std::string& each : names)
        store.watch(madeRun(6000), each);
    store.flush();
}

/// Lets a store wait before it goes on in the only session of a folder: another writer is there.
std::unique_ptr<Database> holds(const QTemporaryDir& sessions) {
    const std::string path =
        keeping(sessions).sessions.toStdString() + "/" + namesIn(sessions).at(0) + kSessionEnding;
    auto writer = std::make_unique<Database>(path, Database::Access::Create);
    writer->run("BEGIN IMMEDIATE");
    return writer;
}

/// Restores the only session while a store cannot go on in it.
bool restores(MainWindow& window, int runs) {
    return answers(window, QMessageBox::Open) &&
           QTest::qWaitFor([&] { return window.runs().rowCount() == runs; }, kPatience);
}

/// Closes a window with this answer; returns whether there was such a button.
bool closes(MainWindow& window, QMessageBox::StandardButton answer) {
    bool asked = false;
    QTimer::singleShot(0, &window, [&] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box) return;
        QAbstractButton* button = box->button(answer);
        asked = button != nullptr;
        button ? button->click() : box->reject();
    });
    window.close();
    test::serveEvents(50); // the timer must not outlive what it writes to
    return asked && QTest::qWaitFor([&] { return !window.isVisible(); }, kPatience);
}

std::vector<std::string> runsIn(const QTemporaryDir& sessions) {
    std::vector<std::string> names;
    for (const LeftSession& session : leftSessions(keeping(sessions).sessions.toStdString()))
        for (const LeftRun& run : session.runs())
            names.push_back(run.name);
    return names;
}

using Names = std::vector<std::string>;

} // namespace

class TestRestoredSession : public QObject {
    Q_OBJECT
private slots:
    void goesOnInItsFile();
    void movesToTheFileThatIsThere();
    void allMoveToTheLatestFile();
    void isKeptBeforeItGoesOn();
    void isDiscardedBeforeItGoesOn();
    void aRestartBringsItBackBeforeItGoesOn();
    void whatTrainsMeanwhileIsWrittenOnceItGoesOn();
};

/// Nothing is copied: the window goes on in the file, with what it trains, and deletes it at last.
void TestRestoredSession::goesOnInItsFile() {
    const QTemporaryDir sessions;
    QCOMPARE(leave(sessions, 40), int64_t{40});
    const std::vector<std::string> before = namesIn(sessions);
    QCOMPARE(before.size(), size_t{1});
    {
        Opened opened(tinyConfig(7), keeping(sessions));
        MainWindow& window = opened.window;
        QVERIFY(answers(window, QMessageBox::Open));
        QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 1, kPatience);
        QVERIFY(trainsTo(window, 7));
        QVERIFY(window.keepSession().empty());
        QVERIFY(namesIn(sessions) == before);
    } // as after a crash
    {
        const std::vector<LeftSession> left =
            leftSessions(keeping(sessions).sessions.toStdString());
        QCOMPARE(left.size(), size_t{1});
        QCOMPARE(left[0].runs().size(), size_t{2});
        QCOMPARE(left[0].runs()[0].steps, int64_t{40});
        QCOMPARE(left[0].runs()[1].steps, int64_t{7});
    }
    {
        Opened opened(tinyConfig(7), keeping(sessions));
        QVERIFY(answers(opened.window, QMessageBox::Open));
        QTRY_COMPARE_WITH_TIMEOUT(opened.window.runs().rowCount(), 2, kPatience);
        QVERIFY(opened.window.keepSession().empty());
        QVERIFY(namesIn(sessions) == before);
        QVERIFY(closes(opened.window, QMessageBox::Discard));
    }
    QTRY_VERIFY_WITH_TIMEOUT(namesIn(sessions).empty(), kPatience);
}

void TestRestoredSession::movesToTheFileThatIsThere() {
    const QTemporaryDir sessions;
    QCOMPARE(leave(sessions, 40), int64_t{40});
    const std::vector<std::string> before = namesIn(sessions);
    Opened opened(tinyConfig(7), keeping(sessions));
    MainWindow& window = opened.window;
    const QMessageBox* box = offer(window);
    QVERIFY(box);
    QVERIFY(trainsTo(window, 7));
    QTRY_COMPARE_WITH_TIMEOUT(namesIn(sessions).size(), size_t{2}, kPatience);
    QTest::mouseClick(box->button(QMessageBox::Open), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 2, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(namesIn(sessions).size(), size_t{1}, kPatience);
    QVERIFY(namesIn(sessions) != before);
}

/// The earlier one has more runs. Copies lie in later sessions, so that a window that is killed
/// before it removes what it has copied lets nothing be offered twice.
void TestRestoredSession::allMoveToTheLatestFile() {
    const QTemporaryDir sessions;
    leaveRuns(sessions, {"one", "two"});
    const std::string earlier = namesIn(sessions).at(0);
    leaveRuns(sessions, {"three"});
    const std::vector<std::string> both = namesIn(sessions);
    QCOMPARE(both.size(), size_t{2});
    QCOMPARE(both[0], earlier);
    Opened opened(tinyConfig(7), keeping(sessions));
    QVERIFY(restores(opened.window, 3));
    QTRY_COMPARE_WITH_TIMEOUT(namesIn(sessions), Names{both[1]}, kPatience);
    QVERIFY(opened.window.keepSession().empty());
}

/// The file is there, although no store is yet.
void TestRestoredSession::isKeptBeforeItGoesOn() {
    const QTemporaryDir sessions;
    leaveRuns(sessions, {"one", "two"});
    {
        const auto writer = holds(sessions);
        Opened opened(tinyConfig(7), keeping(sessions));
        QVERIFY(restores(opened.window, 2));
        QVERIFY(closes(opened.window, QMessageBox::SaveAll));
    }
    QTRY_COMPARE_WITH_TIMEOUT(runsIn(sessions), (Names{"one", "two"}), kPatience);
}

void TestRestoredSession::isDiscardedBeforeItGoesOn() {
    const QTemporaryDir sessions;
    leaveRuns(sessions, {"one", "two"});
    {
        const auto writer = holds(sessions);
        Opened opened(tinyConfig(7), keeping(sessions));
        QVERIFY(restores(opened.window, 2));
        QVERIFY(closes(opened.window, QMessageBox::Discard));
    }
    QVERIFY(namesIn(sessions).empty());
    test::serveEvents(1000); // the thread that was to go on there leaves nothing, either
    QVERIFY(namesIn(sessions).empty());
    QVERIFY(runsIn(sessions).empty());
}

/// Also where the file has a run that is not restored, such as a saved one, before it.
void TestRestoredSession::aRestartBringsItBackBeforeItGoesOn() {
    const QTemporaryDir sessions;
    {
        SessionStore store({keeping(sessions).sessions.toStdString()});
        const auto saved = madeRun(6000);
        store.watch(saved, "saved");
        store.watch(madeRun(6000), "one");
        store.setSaved({{saved, {6000, 6000}}});
        store.flush();
    }
    const std::string session = namesIn(sessions).at(0);
    const auto writer = holds(sessions);
    WindowOptions options = keeping(sessions);
    options.remember = true;
    Opened opened(tinyConfig(7), options);
    QVERIFY(restores(opened.window, 1));
    opened.window.shown().bringBack(opened.window.runs().idAt(0));
    QTRY_COMPARE_WITH_TIMEOUT(opened.window.shown().run()->step(), int64_t{6000}, kPatience);
    QVERIFY(choosesSize(opened.window));
    rememberZoom(100);
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.startsAgain().has_value(), kPatience);
    const QStringList& call = *opened.window.startsAgain();
    QVERIFY(call.size() >= 4);
    QCOMPARE(call[0], QStringLiteral("--restore"));
    QCOMPARE(call[1], QString::fromStdString(session));
    QCOMPARE(call[2], QStringLiteral("--bring-back"));
    QCOMPARE(call[3], QStringLiteral("1"));
}

void TestRestoredSession::whatTrainsMeanwhileIsWrittenOnceItGoesOn() {
    const QTemporaryDir sessions;
    leaveRuns(sessions, {"one"});
    {
        auto writer = holds(sessions);
        Opened opened(tinyConfig(7), keeping(sessions));
        QVERIFY(restores(opened.window, 1));
        QVERIFY(trainsTo(opened.window, 7));
        writer.reset();
        QVERIFY(opened.window.keepSession().empty());
    } // as after a crash
    QCOMPARE(runsIn(sessions).size(), size_t{2});
}

} // namespace tst_restored_session

QTEST_MAIN(tst_restored_session::TestRestoredSession)
#include "tst_restored_session.moc"
