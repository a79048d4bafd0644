// A session of thousands of runs: how far the window has restored them, and what stays where it
// stops.
#include "engine/runs/left_session.h"
#include "engine/runs/session_store.h"
#include "tests/support/cpu_run.h"
#include "tests/support/left_runs.h"
#include "tests/support/under_sanitizer.h"
#include "ui/models/run_list_model.h"

#include <QAbstractButton>
#include <QLocale>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStatusBar>
#include <QToolButton>

#include <memory>
#include <set>
#include <string>

namespace tst_thousands_of_runs {

using namespace halfscope;

namespace {

constexpr int kRuns = test::kUnderSanitizer ? 400 : 2000;

/// A session of small runs, "Small 0", "Small 1" and so on, whose window was killed.
void leaveRuns(const std::string& folder) {
    SessionStore store({folder});
    for (int i = 0; i < kRuns; ++i) {
        const RunConfig config = defaultConfig();
        const auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config),
                                               Picture{2, 2, 1, {0, 1, 0.5f, 0.25f}});
        RunBatch batch;
        for (int64_t step = 1; step <= 3; ++step)
            for (int lane = 0; lane < run->now().laneCount(); ++lane)
                batch.rows.push_back(StepRow(step, lane).set(metric::Loss, float(i)));
        run->append(std::move(batch));
        store.watch(run, "Small " + std::to_string(i));
    }
    store.flush();
}

/// Returns the names of all runs that a window would offer, and how many there are.
std::multiset<std::string> offeredIn(const std::string& folder) {
    std::multiset<std::string> names;
    const std::vector<LeftSession> left = leftSessions(folder);
    for (const LeftSession& session : left)
        for (const LeftRun& run : session.runs())
            names.insert(run.name);
    return names;
}

/// Answers the question with Restore.
bool restores(MainWindow& window) {
    const QMessageBox* box = offer(window);
    if (box) box->button(QMessageBox::Open)->click();
    return box != nullptr;
}

QString text(int number) { return QLocale().toString(number); }

} // namespace

class TestThousandsOfRuns : public QObject {
    Q_OBJECT
private slots:
    void tellsHowManyAreRestored();
    void stopsInTheMiddle();
};

/// The list fills meanwhile.
void TestThousandsOfRuns::tellsHowManyAreRestored() {
    const QTemporaryDir sessions;
    leaveRuns(keeping(sessions).sessions.toStdString());
    std::set<int> rows;
    QStringList told;
    Opened opened(tinyConfig(7), keeping(sessions));
    MainWindow& window = opened.window;
    connect(window.statusBar(), &QStatusBar::messageChanged, this, [&](const QString& message) {
        told << message;
        rows.insert(window.runs().rowCount());
    });
    QVERIFY(restores(window));
    QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), kRuns, kPatience);
    QTRY_COMPARE(window.statusBar()->currentMessage(),
                 text(kRuns) + QStringLiteral(
                                   " runs were restored: View > Runs of this session lists them."));
    const QRegularExpression count(QStringLiteral("^Restoring runs… [1-9].* of %1$")
                                       .arg(QRegularExpression::escape(text(kRuns))));
    QVERIFY2(!told.filter(count).isEmpty(), qPrintable(told.join(u'\n')));
    QVERIFY(rows.size() > 2); // neither none nor all
    QVERIFY(!window.findChild<QToolButton*>(QStringLiteral("stopRestoring"))->isVisible());
}

/// What was restored belongs to this session alone; the rest is offered again.
void TestThousandsOfRuns::stopsInTheMiddle() {
    const QTemporaryDir sessions;
    const std::string folder = keeping(sessions).sessions.toStdString();
    leaveRuns(folder);
    std::set<std::string> restored;
    {
        Opened opened(tinyConfig(7), keeping(sessions));
        MainWindow& window = opened.window;
        auto* stop = window.findChild<QToolButton*>(QStringLiteral("stopRestoring"));
        QVERIFY(stop && !stop->isVisible());
        QVERIFY(restores(window));
        QVERIFY(QTest::qWaitFor([&] { return stop->isVisible(); }, kPatience));
        QTest::mouseClick(stop, Qt::LeftButton);
        QVERIFY(!stop->isVisible());
        const QRegularExpression end(
            QStringLiteral("^Restored .* of %1 runs\\. The next start offers the rest again\\.$")
                .arg(QRegularExpression::escape(text(kRuns))));
        QVERIFY(QTest::qWaitFor(
            [&] { return end.match(window.statusBar()->currentMessage()).hasMatch(); }, kPatience));
        const RunListModel& list = window.runs();
        for (int row = 0; row < list.rowCount(); ++row)
            restored.insert(list.index(row, RunListModel::NameColumn)
                                .data(Qt::EditRole)
                                .toString()
                                .toStdString());
        QVERIFY(!restored.empty() && restored.size() < size_t{kRuns});
        QVERIFY(window.statusBar()->currentMessage().contains(
            QStringLiteral(" %1 of ").arg(text(static_cast<int>(restored.size())))));
        const size_t rest = kRuns - restored.size();
        QTRY_COMPARE_WITH_TIMEOUT(offeredIn(folder).size(), rest, kPatience);
        for (const std::string& name : offeredIn(folder))
            QVERIFY2(!restored.contains(name), name.c_str());
        window.keepSession();
    } // as after a crash
    const std::multiset<std::string> offered = offeredIn(folder);
    QCOMPARE(offered.size(), size_t{kRuns}); // none is lost
    QCOMPARE(std::set<std::string>(offered.begin(), offered.end()).size(), size_t{kRuns});
}

} // namespace tst_thousands_of_runs

QTEST_MAIN(tst_thousands_of_runs::TestThousandsOfRuns)
#include "tst_thousands_of_runs.moc"
