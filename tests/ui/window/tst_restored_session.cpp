// Where the runs of an earlier window lie once they are restored: in the file that it left, unless
// this window has one already.
#include "engine/runs/left_session.h"
#include "tests/support/left_runs.h"

#include <string>
#include <vector>

namespace tst_restored_session {

using namespace halfscope;

class TestRestoredSession : public QObject {
    Q_OBJECT
private slots:
    void goesOnInItsFile();
    void movesToTheFileThatIsThere();
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
        QVERIFY(opened.window.close());
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

} // namespace tst_restored_session

QTEST_MAIN(tst_restored_session::TestRestoredSession)
#include "tst_restored_session.moc"
