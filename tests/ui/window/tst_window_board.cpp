// Trainings that the window writes for TensorBoard while they run: what the menu starts and ends.
#include "tests/support/event_files.h"
#include "tests/support/file_menu.h"
#include "tests/support/opened_window.h"

#include <QStatusBar>

#include <algorithm>

namespace tst_window_board {

using namespace halfscope;

namespace {

/// Returns the number of a lane's steps in its file, which has pictures, too.
qsizetype stepsOf(const QString& folder, const QString& lane) {
    const QList<QByteArray> records = recordsOf(eventsOf(folder, lane));
    return std::count_if(records.begin(), records.end(),
                         [](const QByteArray& each) { return each.contains("learning_rate"); });
}

/// Returns the number of steps in both lanes' files; -1 when they differ.
qsizetype stepsIn(const QString& folder) {
    const qsizetype steps = stepsOf(folder, "fp32");
    return stepsOf(folder, "amp-fp16") == steps ? steps : -1;
}

QAction* liveAction(MainWindow& window) {
    return fileAction(window, QStringLiteral("Write for TensorBoard whi&le training…"));
}

/// Trains the settings anew.
bool trains(MainWindow& window, int64_t steps) {
    window.restart();
    if (!reaches(window, SessionState::Ready)) return false;
    window.setStopStep(steps);
    window.play();
    return reaches(window, SessionState::Finished) &&
           QTest::qWaitFor([&] { return window.run().step() == steps && !window.showsSaved(); },
                           kPatience);
}

} // namespace

class TestWindowBoard : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void followsTrainings();
    void noFolder();
    void aRestoredRunReplacesNothing();
    void aFolderThatCannotBeWritten();
};

void TestWindowBoard::followsTrainings() {
    const QTemporaryDir folder;
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    QAction* live = liveAction(window);
    QVERIFY(live && live->isCheckable() && !live->isChecked());
    answerWith(folder.path());
    live->trigger();
    QVERIFY(live->isChecked());
    QVERIFY2(window.statusBar()->currentMessage().contains("tensorboard --logdir"),
             qPrintable(window.statusBar()->currentMessage()));
    QVERIFY(trains(window, 30));
    QTRY_COMPARE_WITH_TIMEOUT(stepsIn(folder.path()), qsizetype{30}, kPatience);
    QVERIFY(trains(window, 12)); // replaces it
    QTRY_COMPARE_WITH_TIMEOUT(stepsIn(folder.path()), qsizetype{12}, kPatience);
    QVERIFY(live->isChecked());
    live->trigger();
    QVERIFY(!live->isChecked());
    QVERIFY(trains(window, 20));
    QTest::qWait(600); // two looks
    QCOMPARE(stepsIn(folder.path()), qsizetype{12});
}

void TestWindowBoard::noFolder() {
    Opened opened(tinyConfig(5));
    QAction* live = liveAction(opened.window);
    QTimer::singleShot(0, qApp, [] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        QVERIFY(dialog);
        dialog->reject();
    });
    live->trigger();
    QVERIFY(!live->isChecked());
    QVERIFY(trains(opened.window, 5));
}

/// A restored run replaces nothing before it continues.
void TestWindowBoard::aRestoredRunReplacesNothing() {
    const QTemporaryDir folder;
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    QVERIFY(trains(window, 30));
    answerWith(folder.path());
    liveAction(window)->trigger();
    QVERIFY(trains(window, 12));
    QTRY_COMPARE_WITH_TIMEOUT(stepsIn(folder.path()), qsizetype{12}, kPatience);
    window.bringBack();
    QVERIFY(reaches(window, SessionState::Finished));
    QCOMPARE(window.run().step(), int64_t{30});
    QTest::qWait(600); // two looks
    QCOMPARE(stepsIn(folder.path()), qsizetype{12});
    window.play(); // as many steps again
    QTRY_COMPARE_WITH_TIMEOUT(stepsIn(folder.path()), qsizetype{60}, kPatience);
}

/// The banner says so, and the training continues.
void TestWindowBoard::aFolderThatCannotBeWritten() {
    const QTemporaryDir folder;
    QVERIFY(QFile(folder.filePath("fp32")).open(QIODevice::WriteOnly)); // its lane needs a folder
    Opened opened(tinyConfig(30));
    QAction* live = liveAction(opened.window);
    answerWith(folder.path());
    live->trigger();
    QVERIFY(live->isChecked());
    QVERIFY(trains(opened.window, 30));
    QTRY_VERIFY_WITH_TIMEOUT(!live->isChecked(), kPatience);
    const QString told = opened.window.bannerText();
    QVERIFY2(told.contains("TensorBoard") && told.contains(folder.path()), qPrintable(told));
}

} // namespace tst_window_board

QTEST_MAIN(tst_window_board::TestWindowBoard)
#include "tst_window_board.moc"
