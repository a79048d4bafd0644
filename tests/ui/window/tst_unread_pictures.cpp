// Runs whose pictures cannot be read any more: saving keeps the rest and says so, and no file that
// may have the only copy of them is deleted.
#include "engine/io/database.h"
#include "engine/runs/session_store.h"
#include "tests/support/cpu_run.h"
#include "tests/support/event_files.h"
#include "tests/support/file_menu.h"
#include "tests/support/left_runs.h"
#include "ui/models/run_list_model.h"

#include <QPushButton>
#include <QStatusBar>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tst_unread_pictures {

using namespace halfscope;

namespace {

constexpr int64_t kSteps = 20;
const QString kTold = QStringLiteral("Saved without pictures: the file is gone");

/// Trains a run to its end. Then its pictures cannot be read any more, which the window tells.
bool losesPictures(MainWindow& window) {
    if (!trainsTo(window, kSteps)) return false;
    const RunPtr run = window.shown().run();
    const auto isPainted = [&run] { return run->now().sharedPictures()->step() == kSteps; };
    if (!QTest::qWaitFor(isPainted, kPatience) || !window.keepSession().empty()) return false;
    LanePictures about;
    about.step = kSteps;
    RunBatch batch;
    batch.storedPictures =
        std::make_shared<const RunPictures>(std::move(about), []() -> PackedPictures {
            throw RunError(Message::data("the file is gone"));
        });
    run->append(std::move(batch));
    return QTest::qWaitFor(
        [&] { return window.bannerText().endsWith(QStringLiteral("the file is gone")); },
        kPatience);
}

/// Leaves a session with a run of one step, as after a crash, and returns the path of its file.
std::string leave(const QTemporaryDir& sessions, const char* name) {
    const RunConfig config = tinyConfig(1);
    const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config));
    RunBatch batch;
    LanePictures pictures;
    pictures.step = 1;
    for (int lane = 0; lane < run->now().laneCount(); ++lane) {
        batch.rows.push_back(StepRow(1, lane).set(metric::Loss, 1.0f));
        pictures.outputs.push_back({2, 1, 1, {0.5f, 1}});
    }
    batch.pictures = std::move(pictures);
    run->append(std::move(batch));
    SessionStore store({keeping(sessions).sessions.toStdString()});
    store.watch(run, name);
    store.flush();
    return store.path();
}

} // namespace

class TestUnreadPictures : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void closingStaysOpen();
    void aRunWithoutItsCheckpointStaysUnsaved();
    void theFolderIsKnownAgain();
    void aBoardHasTheRest();
    void theirSessionStays();
    void laterStartsCopyNothingMore();
};

/// Its session may be the only place that still has them.
void TestUnreadPictures::closingStaysOpen() {
    const QTemporaryDir sessions;
    WindowOptions options = keeping(sessions);
    options.askAfterSeconds = 0;
    Opened opened(tinyConfig(kSteps), std::move(options));
    MainWindow& window = opened.window;
    QVERIFY(losesPictures(window));
    const std::vector<RunPtr> unsaved{window.shown().run()};
    const QDir first(opened.folder.filePath(QStringLiteral("first")));
    window.saveResults(first.path());
    QVERIFY(first.exists(QStringLiteral("steps.csv")));
    QVERIFY(window.shown().unsavedRuns() == unsaved);
    const QDir second(opened.folder.filePath(QStringLiteral("second")));
    QStringList asked;
    QString about;
    QTimer answers;
    connect(&answers, &QTimer::timeout, &window, [&] {
        QWidget* modal = QApplication::activeModalWidget();
        if (auto* dialog = qobject_cast<QFileDialog*>(modal)) {
            dialog->findChild<QLineEdit*>()->setText(second.path());
            QMetaObject::invokeMethod(dialog, "accept");
        } else if (auto* box = qobject_cast<QMessageBox*>(modal)) {
            asked << box->text();
            about = box->informativeText();
            box->button(asked.size() == 1 ? QMessageBox::Save : QMessageBox::Cancel)->click();
        }
    });
    answers.start(10);
    window.close();
    answers.stop();
    QCOMPARE(asked.size(), qsizetype{1});
    QVERIFY2(asked[0].endsWith(QStringLiteral(" and was saved without some pictures.")),
             qPrintable(asked[0]));
    QVERIFY2(about.contains(QStringLiteral("what could not be saved will be lost")) &&
                 about.contains(QStringLiteral("Its tables and plots are in the folder.")),
             qPrintable(about));
    QVERIFY(second.exists(QStringLiteral("steps.csv")));
    QVERIFY(window.isVisible());
    QCOMPARE(window.bannerText(), kTold);
    QVERIFY(window.shown().unsavedRuns() == unsaved);
    QVERIFY(window.keepSession().empty());
    QCOMPARE(namesIn(sessions).size(), size_t{1});
}

/// Its session may be the only place that still has it.
void TestUnreadPictures::aRunWithoutItsCheckpointStaysUnsaved() {
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    QVERIFY(trainsTo(window, kSteps));
    const RunPtr run = window.shown().run();
    const auto isKept = [&run] {
        const auto& checkpoint = run->now().checkpoint();
        return checkpoint && checkpoint->step() == kSteps;
    };
    QTRY_VERIFY_WITH_TIMEOUT(isKept(), kPatience); // nothing comes after it
    RunBatch batch;
    batch.checkpoint = std::make_shared<const RunCheckpoint>(
        kSteps, []() -> std::string { throw RunError(Message::data("it is gone")); });
    run->append(std::move(batch));
    window.saveResults(opened.folder.filePath(QStringLiteral("without")));
    QVERIFY(window.shown().unsavedRuns() == std::vector<RunPtr>{run});
    QVERIFY(window.shown().leftOut(*run).checkpoint && !window.shown().leftOut(*run).pictures);
}

/// What is saved there is the run's, although pictures are missing.
void TestUnreadPictures::theFolderIsKnownAgain() {
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    QVERIFY(losesPictures(window));
    const QString folder = opened.folder.filePath(QStringLiteral("results"));
    window.saveResults(folder);
    QString asked;
    QTimer answers;
    connect(&answers, &QTimer::timeout, &window, [&] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box) return;
        asked = box->text();
        box->defaultButton()->click();
    });
    QAction* save = fileAction(window, QStringLiteral("Save &results…"));
    QVERIFY(save);
    answers.start(10);
    answerWith(folder);
    save->trigger();
    answers.stop();
    QCOMPARE(asked, folder + QStringLiteral(" already holds results of this run. Replace them?"));
    QCOMPARE(window.bannerText(), kTold);
}

void TestUnreadPictures::aBoardHasTheRest() {
    const QTemporaryDir board;
    Opened opened(tinyConfig(kSteps));
    MainWindow& window = opened.window;
    QVERIFY(losesPictures(window));
    QAction* save = fileAction(window, QStringLiteral("Save for &TensorBoard…"));
    QVERIFY(save);
    answerWith(board.path());
    save->trigger();
    QVERIFY2(window.statusBar()->currentMessage().startsWith(QStringLiteral("Saved. ")),
             qPrintable(window.statusBar()->currentMessage()));
    QCOMPARE(window.bannerText(), kTold);
    QVERIFY(recordsOf(eventsOf(board.path(), QStringLiteral("fp32"))).size() > kSteps);
}

/// Another session, all of which could be read, goes as usual.
void TestUnreadPictures::theirSessionStays() {
    const QTemporaryDir sessions;
    // the store would go on in the file of the latest session if that were whole
    const std::string healthy = leave(sessions, "healthy"), damaged = leave(sessions, "damaged");
    Database(damaged, Database::Access::Create)
        .run("ALTER TABLE pictures RENAME COLUMN data TO lost");
    Opened opened(tinyConfig(7), keeping(sessions));
    MainWindow& window = opened.window;
    QMessageBox* box = offer(window);
    QVERIFY(box);
    QTest::mouseClick(box->button(QMessageBox::Open), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 2, kPatience);
    const QString told = QStringLiteral("Not everything could be restored (%1: ")
                             .arg(QString::fromStdString(damaged));
    QTRY_VERIFY2_WITH_TIMEOUT(window.bannerText().startsWith(told), qPrintable(window.bannerText()),
                              kPatience);
    const auto isThere = [](const std::string& path) {
        return QFile::exists(QString::fromStdString(path));
    };
    QTRY_VERIFY_WITH_TIMEOUT(!isThere(healthy), kPatience);
    QVERIFY(isThere(damaged));
}

/// Each window ends without being closed. The next one offers the copy that the last one made,
/// tells that the damaged file stays, and can delete both.
void TestUnreadPictures::laterStartsCopyNothingMore() {
    const QTemporaryDir sessions;
    const std::string damaged = leave(sessions, "damaged");
    Database(damaged, Database::Access::Create)
        .run("ALTER TABLE pictures RENAME COLUMN data TO lost");
    const QString told = QStringLiteral(" be restored (%1: ").arg(QString::fromStdString(damaged));
    for (int start = 1; start <= 3; ++start) {
        Opened opened(tinyConfig(7), keeping(sessions));
        MainWindow& window = opened.window;
        QMessageBox* box = offer(window);
        QVERIFY(box);
        QCOMPARE(box->informativeText().count(QStringLiteral("damaged")), qsizetype{1});
        QTest::mouseClick(box->button(QMessageBox::Open), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 1, kPatience);
        QTRY_VERIFY2_WITH_TIMEOUT(window.bannerText().contains(told),
                                  qPrintable(window.bannerText()), kPatience);
        QVERIFY(window.keepSession().empty());
        QTRY_COMPARE_WITH_TIMEOUT(namesIn(sessions).size(), size_t{2}, kPatience);
        QVERIFY(QFile::exists(QString::fromStdString(damaged)));
    }
    Opened opened(tinyConfig(7), keeping(sessions));
    QMessageBox* box = offer(opened.window);
    QVERIFY(box);
    QTest::mouseClick(box->button(QMessageBox::Discard), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(namesIn(sessions).empty(), kPatience);
}

} // namespace tst_unread_pictures

QTEST_MAIN(tst_unread_pictures::TestUnreadPictures)
#include "tst_unread_pictures.moc"
