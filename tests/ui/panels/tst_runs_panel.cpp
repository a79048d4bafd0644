// The list of runs: what it says of each run, and what can be done with runs by keys, in the
// window.
#include "engine/settings/fields.h"
#include "tests/support/opened_window.h"
#include "tests/support/plot_parts.h"
#include "tests/support/served_events.h"
#include "tests/support/shown_window.h"
#include "ui/look/text_fit.h"
#include "ui/panels/runs_panel.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QHeaderView>
#include <QImage>
#include <QLabel>
#include <QLocale>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <set>

namespace tst_runs_panel {

using namespace halfscope;

namespace {

constexpr int64_t kTrained = 30;

RunConfig named(const char* title, double rate) {
    RunConfig config = tinyConfig(kTrained);
    config.title = title;
    config.optimizer.lr = rate;
    return config;
}

bool trains(MainWindow& window) {
    if (!reaches(window, SessionState::Ready)) return false;
    window.play();
    return reaches(window, SessionState::Finished) &&
           QTest::qWaitFor([&] { return window.run().step() == kTrained; }, kPatience);
}

QString textAt(const QAbstractItemModel& model, int row, int column) {
    return model.index(row, column).data().toString();
}

/// Returns the number of points of a curve; -1 when there is no such curve.
int pointsOf(MainWindow& window, const QString& name) {
    window.plots().refresh();
    const QCPGraph* graph = graphNamed(window.plots(), name);
    return graph ? graph->data()->size() : -1;
}

/// Two experiments, trained one after the other; the second one is shown.
struct TwoRuns : Opened {
    TwoRuns() : Opened(named("First", 0.001)) {
        trained = trains(window);
        window.openExperiment(
            write(folder, QStringLiteral("second.json"), configText(named("Second", 0.01))));
        trained = trained && trains(window) &&
                  QTest::qWaitFor([this] { return window.runs().rowCount() == 2; }, kPatience);
    }
    RunsPanel& panel() const { return *window.findChild<RunsPanel*>(); }
    QTableView& table() const { return *panel().table(); }
    void choose(int row) const {
        table().setFocus();
        table().setCurrentIndex(table().model()->index(row, 0));
    }
    bool trained = false;
};

/// Answers the next question.
void answer(QMessageBox::StandardButton button) {
    QTimer::singleShot(0, qApp, [button] {
        if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget()))
            box->button(button)->click();
    });
}

void answerWithEnter() {
    QTimer::singleShot(0, qApp, [] {
        if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget()))
            box->defaultButton()->click(); // as Enter does
    });
}

/// Adds sixty steps of one lane.
void addSixtySteps(RunStore& store, float (*lossAt)(int step)) {
    FedRun fed;
    fed.start({QStringLiteral("fp32")}, {false});
    store.add(fed.run, "Run");
    for (int step = 1; step <= 60; ++step) {
        const StepRecord row = record(step, 0, lossAt(step));
        fed.append({&row, 1}, {});
    }
}

} // namespace

class TestRunsPanel : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void changesAreToldOnce();
    void listKeepsTheRules();
    void aSpikeIsToldApart();
    void aLostLossIsToldOnce();
    void keyShowsIt();
    void keyLeavesSpaceToATraining();
    void saysWhatDiffers();
    void tickedRunsLieBehind();
    void bringsBackAndTakesTurns();
    void repeats();
    void renames();
    void deletesAfterAQuestion();
    void openedFoldersJoin();
    void severalRowsAreSeen();
    void editsAreCompared();
    void differencesTakeTwoLines();
    void linesAreDrawn();
    void littleRoom();
    void theChosenRunStays();
    void theShownRunIsChosen();
};

void TestRunsPanel::listKeepsTheRules() {
    RunStore store;
    RunListModel list(store);
    const QAbstractItemModelTester tester(&list,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    list.refresh();
    QCOMPARE(list.rowCount(), 0);
    FedRun a, b;
    a.start({QStringLiteral("fp32")}, {false});
    b.start({QStringLiteral("fp32")}, {false});
    const RunId first = store.add(a.run, "Run");
    list.refresh();
    const RunId second = store.add(b.run, "Run");
    list.refresh();
    QCOMPARE(textAt(list, 0, RunListModel::NameColumn), QStringLiteral("1  Run"));
    QCOMPARE(textAt(list, 1, RunListModel::NameColumn), QStringLiteral("2  Run (2)"));
    QCOMPARE(list.rowOf(second), 1);
    QVERIFY(list.setData(list.index(1, 0), QStringLiteral(" Other  name "), Qt::EditRole));
    QCOMPARE(store.find(second)->name, std::string("Other name"));
    QVERIFY(!list.setData(list.index(1, 0), QStringLiteral("  "), Qt::EditRole));
    QVERIFY(list.setData(list.index(0, 0), Qt::Unchecked, Qt::CheckStateRole));
    QVERIFY(!store.find(first)->visible);
    store.setCurrent(second);
    list.refresh();
    QVERIFY(!list.setData(list.index(1, 0), Qt::Unchecked, Qt::CheckStateRole)); // it is shown
    const QPersistentModelIndex kept = list.index(1, 0);
    store.move(second, 0);
    list.refresh();
    QCOMPARE(kept.row(), 0);
    QCOMPARE(list.idAt(1), first);
    store.remove(first);
    list.refresh();
    QCOMPARE(kept.row(), 0);
    QCOMPARE(list.rowCount(), 1);
    QCOMPARE(list.idAt(0), second);
    QCOMPARE(list.idAt(7), RunId::None);
}

/// One spike at the last step does not decide a comparison.
void TestRunsPanel::aSpikeIsToldApart() {
    RunStore store;
    RunListModel list(store);
    addSixtySteps(store, [](int step) { return step == 60 ? 8.0f : step <= 35 ? 1.0f : 0.5f; });
    list.refresh();
    QCOMPARE(textAt(list, 0, RunListModel::LossColumn), QStringLiteral("A 8 (0.5)"));
    QVERIFY(list.detailsOf(0).contains(QStringLiteral("Last loss (median of the last 25)")));
}

/// Saying it a second time would take the room of the run's name.
void TestRunsPanel::aLostLossIsToldOnce() {
    RunStore store;
    RunListModel list(store);
    addSixtySteps(store, [](int) { return std::nanf(""); });
    list.refresh();
    QCOMPARE(textAt(list, 0, RunListModel::LossColumn), QStringLiteral("A not a number"));
}

/// Whoever listens measures the table anew, so a list of hundreds of runs tells its changes once.
void TestRunsPanel::changesAreToldOnce() {
    RunStore store;
    RunListModel list(store);
    const QSignalSpy changes(&list, &QAbstractItemModel::dataChanged);
    for (int i = 0; i < 20; ++i)
        addSixtySteps(store, [](int) { return 3.0f; });
    list.refresh();
    QCOMPARE(changes.size(), 1);
    addSixtySteps(store, [](int) { return 0.5f; });
    list.refresh();
    QCOMPARE(changes.size(), 2);
    QCOMPARE(changes[1][0].toModelIndex().row(), 20); // only the new one
    QCOMPARE(textAt(list, 3, RunListModel::LossColumn), QStringLiteral("A 3 (3)"));
    QCOMPARE(textAt(list, 20, RunListModel::LossColumn), QStringLiteral("A 0.5 (0.5)"));
}

void TestRunsPanel::keyShowsIt() {
    Opened opened(named("First", 0.001));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    auto* panel = opened.window.findChild<RunsPanel*>();
    QVERIFY(!panel->isVisible());
    QTest::keyClick(&opened.window, Qt::Key_F8);
    QVERIFY(panel->isVisible());
    QCOMPARE(opened.window.focusWidget(), panel->table());
    QCOMPARE(opened.window.runs().rowCount(), 0); // nothing was trained
    QTest::keyClick(opened.window.focusWidget(), Qt::Key_Space);
    QVERIFY(!opened.window.controller().willTrain());
    for (const QPushButton* button : panel->findChildren<QPushButton*>())
        QVERIFY(!button->isEnabled());
    opened.window.stepOnce();
    QTRY_COMPARE_WITH_TIMEOUT(opened.window.runs().rowCount(), 1, kPatience);
    QTest::keyClick(&opened.window, Qt::Key_F8);
    QVERIFY(!panel->isVisible());
    // a click leaves Space to Play
    opened.window.setFocus();
    for (auto* button : opened.window.findChildren<QToolButton*>())
        if (button->defaultAction() && button->defaultAction()->shortcut() == Qt::Key_F8)
            QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(panel->isVisible());
    QVERIFY(opened.window.focusWidget() != panel->table());
}

/// Space pauses a training also after the list was shown; F6 leads to the list.
void TestRunsPanel::keyLeavesSpaceToATraining() {
    Opened opened(tinyConfig(1000000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(test::isActive(&window));
    QTest::keyClick(&window, Qt::Key_Space);
    QTRY_VERIFY_WITH_TIMEOUT(window.controller().running(), kPatience);
    const QWidget* before = window.focusWidget();
    QTest::keyClick(window.focusWidget(), Qt::Key_F8);
    const auto* panel = window.findChild<RunsPanel*>();
    QVERIFY(panel->isVisible());
    QCOMPARE(window.focusWidget(), before);
    QTest::keyClick(window.focusWidget(), Qt::Key_Space);
    QTRY_VERIFY_WITH_TIMEOUT(!window.controller().running(), kPatience);
    constexpr int kParts = 9;
    for (int i = 0; i < kParts && window.focusWidget() != panel->table(); ++i)
        QTest::keyClick(window.focusWidget(), Qt::Key_F6);
    QCOMPARE(window.focusWidget(), panel->table());
}

void TestRunsPanel::saysWhatDiffers() {
    TwoRuns runs;
    QVERIFY(runs.trained);
    const RunListModel& list = runs.window.runs();
    QCOMPARE(textAt(list, 0, RunListModel::NameColumn), QStringLiteral("1  First"));
    QCOMPARE(textAt(list, 1, RunListModel::NameColumn), QStringLiteral("2  Second"));
    QVERIFY2(textAt(list, 0, RunListModel::DiffersColumn).contains(QStringLiteral("0.001")),
             qPrintable(textAt(list, 0, RunListModel::DiffersColumn)));
    QVERIFY(textAt(list, 1, RunListModel::DiffersColumn).contains(QStringLiteral("0.01")));
    QVERIFY(textAt(list, 0, RunListModel::LossColumn).startsWith(QStringLiteral("A ")));
    QVERIFY(list.index(1, 0).data(RunListModel::CurrentRole).toBool());
    QCOMPARE(list.index(0, 0).data(Qt::AccessibleTextRole).toString(),
             QStringLiteral("Run 1, First, hidden"));
    QVERIFY(!runs.table().accessibleName().isEmpty());
}

/// All curves are drawn, not only the loss, each with its run's number.
void TestRunsPanel::tickedRunsLieBehind() {
    TwoRuns runs;
    QVERIFY(runs.trained);
    MainWindow& window = runs.window;
    const QStringList curves{
        QStringLiteral("Loss/1A"), QStringLiteral("Loss/1B"), QStringLiteral("Loss scale/1B"),
        QStringLiteral("Throughput (steps/s)/1A"), QStringLiteral("Skipped steps/1B")};
    for (const QString& name : curves)
        QCOMPARE(pointsOf(window, name), -1);
    QTest::keyClick(&window, Qt::Key_F8);
    runs.choose(0);
    QTest::keyClick(&runs.table(), Qt::Key_Space);
    QVERIFY(!window.controller().running()); // Space ticks here, and does not play
    const QByteArray picture = window.plots().svg();
    for (const char* words : {"run 1: First, Learning rate 0.001", "run 2: Second, Learning rate "
                                                                   "0.01"})
        QVERIFY2(picture.contains(words), words);
    for (const QString& name : curves)
        QVERIFY2(pointsOf(window, name) > 0, qPrintable(name));
    QVERIFY(graphNamed(window.plots(), QStringLiteral("Loss/1A"))->pen() !=
            graphNamed(window.plots(), QStringLiteral("Loss/A fp32"))->pen());
    QTest::keyClick(&runs.table(), Qt::Key_Space);
    QCOMPARE(pointsOf(window, curves.front()), -1);
}

void TestRunsPanel::bringsBackAndTakesTurns() {
    TwoRuns runs;
    QVERIFY(runs.trained);
    MainWindow& window = runs.window;
    QTest::keyClick(&window, Qt::Key_F8);
    for (const int row : {0, 1, 0}) {
        runs.choose(row);
        QTest::keyClick(&runs.table(), Qt::Key_Return);
        QCOMPARE(window.windowTitle(), row == 0 ? QStringLiteral("First – Halfscope")
                                                : QStringLiteral("Second – Halfscope"));
        QCOMPARE(window.run().step(), kTrained);
        QVERIFY(window.showsSaved());
        QVERIFY(window.runs().index(row, 0).data(RunListModel::CurrentRole).toBool());
        QCOMPARE(window.runs().rowCount(), 2);
        QCOMPARE(window.config().config().optimizer.lr, row == 0 ? 0.001 : 0.01);
    }
}

void TestRunsPanel::repeats() {
    TwoRuns runs;
    QVERIFY(runs.trained);
    MainWindow& window = runs.window;
    QTest::keyClick(&window, Qt::Key_F8);
    runs.choose(0);
    runs.panel().findChild<QPushButton*>(QStringLiteral("repeatRun"))->click();
    QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 3, kPatience);
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), kTrained, kPatience);
    QCOMPARE(textAt(window.runs(), 2, RunListModel::NameColumn), QStringLiteral("3  First (2)"));
    QTRY_COMPARE_WITH_TIMEOUT(textAt(window.runs(), 2, RunListModel::LossColumn),
                              textAt(window.runs(), 0, RunListModel::LossColumn), kPatience);
}

void TestRunsPanel::renames() {
    TwoRuns runs;
    QVERIFY(runs.trained);
    RunListModel& list = runs.window.runs();
    QVERIFY(list.setData(list.index(0, 0), Qt::Checked, Qt::CheckStateRole));
    QVERIFY(runs.window.plots().svg().contains("run 1: First"));
    QTest::keyClick(&runs.window, Qt::Key_F8);
    runs.choose(0);
    QTest::keyClick(&runs.table(), Qt::Key_F2);
    QTest::keyClicks(QApplication::focusWidget(), QStringLiteral("a b"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QTRY_COMPARE(textAt(runs.window.runs(), 0, RunListModel::NameColumn), QStringLiteral("1  a b"));
    QVERIFY(!runs.window.controller().running());              // Space was typed
    QVERIFY(runs.window.plots().svg().contains("run 1: a b")); // in the legend, too
}

void TestRunsPanel::deletesAfterAQuestion() {
    TwoRuns runs;
    QVERIFY(runs.trained);
    MainWindow& window = runs.window;
    QTest::keyClick(&window, Qt::Key_F8);
    runs.choose(1);
    QVERIFY(!runs.panel().findChild<QPushButton*>(QStringLiteral("deleteRun"))->isEnabled());
    QTest::keyClick(&runs.table(), Qt::Key_Delete); // it is shown: there is nothing to ask
    QCOMPARE(window.runs().rowCount(), 2);
    runs.choose(0);
    answerWithEnter(); // it cannot be undone
    QTest::keyClick(&runs.table(), Qt::Key_Delete);
    QCOMPARE(window.runs().rowCount(), 2);
    QVERIFY(window.canBringBack());
    window.activateWindow(); // as a window manager does behind a question
    QVERIFY(test::isActive(&window));
    runs.choose(0);
    answer(QMessageBox::Yes);
    QTest::keyClick(&runs.table(), Qt::Key_Delete);
    QCOMPARE(window.runs().rowCount(), 1);
    QVERIFY(!window.canBringBack());
}

void TestRunsPanel::openedFoldersJoin() {
    TwoRuns runs;
    QVERIFY(runs.trained);
    MainWindow& window = runs.window;
    const QString folder = runs.folder.filePath(QStringLiteral("results"));
    window.saveResults(folder);
    window.openFile(folder);
    QTRY_COMPARE_WITH_TIMEOUT(window.runs().rowCount(), 3, kPatience);
    QVERIFY(window.showsSaved());
    QCOMPARE(textAt(window.runs(), 2, RunListModel::LossColumn),
             textAt(window.runs(), 1, RunListModel::LossColumn));
}

/// Runs are compared with each other, also in the smallest usual window.
void TestRunsPanel::severalRowsAreSeen() {
    TwoRuns runs;
    QVERIFY(runs.trained);
    runs.window.resize(1280, 800);
    QTest::keyClick(&runs.window, Qt::Key_F8);
    const QTableView& table = runs.table();
    const auto end = [&] { return table.rowViewportPosition(1) + table.rowHeight(1); };
    QTRY_VERIFY2(end() <= table.viewport()->height(),
                 qPrintable(QStringLiteral("%1 in %2").arg(end()).arg(table.viewport()->height())));
    // and when there is less room all at once, everything still is in the window
    QVERIFY(!runs.window.tryFile(runs.folder.filePath(QStringLiteral("none"))));
    QTRY_VERIFY(!runs.window.bannerText().isEmpty());
    constexpr int kSettles = 100; // ms
    test::serveEvents(kSettles);
    const auto& area = *qobject_cast<QScrollArea*>(runs.window.centralWidget());
    QCOMPARE(area.widget()->height(), area.viewport()->height());
    QVERIFY2(end() <= table.viewport()->height(), qPrintable(QString::number(end())));
}

/// A run of a preset tells what other runs of it have otherwise, also after a live edit, and not
/// what every run of the preset has.
void TestRunsPanel::editsAreCompared() {
    RunStore store;
    RunId last = RunId::None;
    for (const char* preset : {"overflow", "gan", "overflow"}) {
        RunInfo info;
        info.config = info.recorded = presetNamed(preset).config;
        last = store.add(std::make_shared<Run>(info, lanesOf(info.config)), preset);
    }
    RunListModel list(store);
    list.refresh();
    for (int row = 0; row < 3; ++row)
        QCOMPARE(textAt(list, row, RunListModel::DiffersColumn), QString());
    RunBatch edit;
    edit.info = store.get(last)->info();
    edit.info->config.lanes[1].scaler.rules.growthInterval = 50;
    store.writable(last)->append(std::move(edit));
    list.refresh();
    const auto words = [&](int row) {
        return textAt(list, row, RunListModel::DiffersColumn)
            .replace(QChar(QChar::Nbsp), QChar(u' '));
    };
    QCOMPARE(words(0), QStringLiteral("B: Growth interval 20"));
    QCOMPARE(words(1), QString());
    QCOMPARE(words(2), QStringLiteral("B: Growth interval 50"));
    // which has all the width of the list
    RunsPanel panel(list);
    panel.resize(280, 400);
    panel.show();
    QCOMPARE(panel.table()->columnWidth(RunListModel::NameColumn),
             panel.table()->viewport()->width());
}

/// A row is as high as the lines into which its differences are broken.
void TestRunsPanel::differencesTakeTwoLines() {
    RunStore store;
    for (const bool other : {false, true}) {
        RunConfig config;
        if (other) config.seed = 7;
        if (other) config.optimizer.lr = 0.5;
        if (other) config.model.width = 16;
        if (other) config.model.depth = 9;
        FedRun fed;
        fed.start({QStringLiteral("fp32")}, {false}, config);
        store.add(fed.run, "Run");
    }
    RunListModel model(store);
    model.refresh();
    RunsPanel panel(model);
    panel.resize(280, 400);
    panel.show();
    const int line = QFontMetrics(panel.table()->font()).lineSpacing();
    QTRY_VERIFY2(panel.table()->rowHeight(1) >= 3 * line,
                 qPrintable(QString::number(panel.table()->rowHeight(1))));
}

/// Every line of a row is drawn below the one before, also those of the run that is shown, whose
/// name begins where the others do. There is no heading: a row has more than one column could name.
void TestRunsPanel::linesAreDrawn() {
    RunStore store;
    addSixtySteps(store, [](int) { return 1.0f; });
    addSixtySteps(store, [](int) { return 1.0f; });
    store.setCurrent(store.entries()[1].id);
    RunListModel model(store);
    model.refresh();
    RunsPanel panel(model);
    panel.resize(280, 400);
    panel.show();
    QTableView& table = *panel.table();
    QVERIFY(!table.horizontalHeader()->isVisible());
    const int line = QFontMetrics(table.font()).lineSpacing();
    QTRY_VERIFY(table.rowHeight(0) > 2 * line && table.rowHeight(0) < 3 * line);
    const QImage image = table.viewport()->grab().toImage();
    const int left = 60, margin = (table.rowHeight(0) - 2 * line) / 2; // left of it: the check box
    std::set<int> starts;
    for (int row = 0; row < 2; ++row)
        for (int at = 0; at < 2; ++at) {
            const int top = table.rowViewportPosition(row) + margin + at * line;
            int first = image.width();
            for (int y = top; y < top + line; ++y)
                for (int x = left - 24; x < image.width(); ++x)
                    if (image.pixelColor(x, y).lightness() < 100) first = std::min(first, x);
            QVERIFY2(first < image.width() / 2, qPrintable(QString::number(2 * row + at)));
            if (at == 1) starts.insert(first / 4); // an A, bold or not
        }
    QCOMPARE(starts.size(), size_t{1});
}

/// The details disappear before a row is cut, and are never cut themselves.
void TestRunsPanel::littleRoom() {
    RunStore store;
    addSixtySteps(store, [](int) { return 1.0f; });
    RunListModel model(store);
    model.refresh();
    QWidget window; // a window of its own would not let the panel become lower than its details
    RunsPanel panel(model, &window);
    window.resize(280, 400);
    window.show();
    const QLabel* details = nullptr;
    for (const QLabel* each : panel.findChildren<QLabel*>())
        if (each->wordWrap()) details = each;
    QVERIFY(details);
    QCOMPARE(details->text(),
             QStringLiteral("Tick a run to draw its curves behind those of the run that is shown. "
                            "In parentheses: the median of the last 25 losses."));
    std::set<bool> seen;
    for (int height = 100; height <= 400; height += 10) {
        panel.resize(280, std::max(height, panel.minimumSizeHint().height()));
        QCoreApplication::processEvents();
        seen.insert(details->isVisible());
        const QTableView& table = *panel.table();
        QVERIFY2(table.rowViewportPosition(0) + table.rowHeight(0) <= table.viewport()->height(),
                 qPrintable(QStringLiteral("%1: a row of %2 in %3 of %4")
                                .arg(height)
                                .arg(table.rowHeight(0))
                                .arg(table.viewport()->height())
                                .arg(table.height())));
        if (details->isVisible())
            QVERIFY2(details->height() >=
                         heightOf(details->text(), details->font(), details->width()),
                     qPrintable(QString::number(height)));
    }
    QCOMPARE(seen.size(), size_t{2});
}

/// Runs that come and go take neither the chosen run nor the place to which the list was scrolled.
void TestRunsPanel::theChosenRunStays() {
    RunStore store;
    for (int i = 0; i < 20; ++i)
        addSixtySteps(store, [](int) { return 1.0f; });
    store.setCurrent(store.entries()[9].id);
    RunListModel model(store);
    model.refresh();
    RunsPanel panel(model);
    panel.resize(280, 300);
    panel.show();
    constexpr int kSettles = 50; // ms, in which what is queued is done
    test::serveEvents(kSettles);
    QTableView& table = *panel.table();
    table.setCurrentIndex(table.model()->index(12, 0));
    const RunId chosen = panel.chosen();
    const int scrolled = table.verticalScrollBar()->value();
    QVERIFY(scrolled > 0);
    addSixtySteps(store, [](int) { return 1.0f; });
    model.refresh();
    test::serveEvents(kSettles);
    QCOMPARE(panel.chosen(), chosen);
    QCOMPARE(table.verticalScrollBar()->value(), scrolled);
    store.remove(store.entries()[16].id);
    model.refresh();
    test::serveEvents(kSettles);
    QCOMPARE(table.verticalScrollBar()->value(), scrolled);
    store.remove(store.entries()[0].id);
    model.refresh();
    QCOMPARE(panel.chosen(), chosen);
    QCOMPARE(table.currentIndex().row(), 11); // the same run, not the same place
    QCOMPARE(table.selectionModel()->selectedRows().size(), qsizetype(1));
}

/// When another run is shown, the details and the buttons are about it, unless the user is busy
/// with one of the list.
void TestRunsPanel::theShownRunIsChosen() {
    RunStore store;
    RunListModel model(store);
    QWidget window;
    QPushButton elsewhere(&window);
    RunsPanel panel(model, &window);
    panel.resize(280, 400);
    window.show();
    elsewhere.setFocus();
    for (int i = 0; i < 3; ++i)
        addSixtySteps(store, [](int) { return 1.0f; });
    QTableView& table = *panel.table();
    const auto chosenWhenShown = [&](size_t run) {
        store.setCurrent(store.entries()[run].id);
        model.refresh();
        test::serveEvents(50); // ms, in which what is queued is done
        return table.currentIndex().row();
    };
    QCOMPARE(chosenWhenShown(0), 0);
    table.setCurrentIndex(table.model()->index(2, 0));
    QCOMPARE(chosenWhenShown(1), 1);
    QVERIFY(!panel.findChild<QPushButton*>(QStringLiteral("deleteRun"))->isEnabled());
    table.setFocus();
    QCOMPARE(chosenWhenShown(0), 0);
    QTest::keyClick(&table, Qt::Key_End);
    QCOMPARE(chosenWhenShown(1), 2);
    table.setCurrentIndex(table.model()->index(1, 0));
    QTest::keyClick(&table, Qt::Key_F2);
    QCOMPARE(chosenWhenShown(0), 1);
    QVERIFY(table.viewport()->isAncestorOf(window.focusWidget())); // the name is still edited
}

} // namespace tst_runs_panel

QTEST_MAIN(tst_runs_panel::TestRunsPanel)
#include "tst_runs_panel.moc"
