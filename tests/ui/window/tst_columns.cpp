// The window's three columns: settings, pictures with plots, and lanes with events. Two of them can
// be hidden, and the settings give way in a narrow window.
#include "tests/support/fed_run.h"
#include "tests/support/opened_window.h"
#include "tests/support/served_events.h"
#include "tests/support/shown_window.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/memory_bar.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"

#include <QDockWidget>
#include <QHeaderView>
#include <QScrollArea>
#include <QSplitter>
#include <QTableView>

namespace tst_columns {

using namespace halfscope;

class TestColumns : public QObject {
    Q_OBJECT
private slots:
    void roomForPicturesAndPlots();
    void settingsGiveWay();
    void settingsGiveWayToALesson();
    void aLessonMakesRoomForSettings();
    void hiddenColumnsLoseTheKeys();
    void runsBesideGradients();
    void eventsBesideGradientsInALowWindow();
    void runsAreComparedInALowWindow();
    void fewRunsLeaveRoomToEvents();
    void eventsLeaveRoomToTheMemory();
    void wordsOfEventsHaveRoom();
};

/// F7 leaves the whole width to pictures and plots. What is shown in the column that it hides
/// brings that column back, and so does F7 after the border was pushed to the edge.
void TestColumns::roomForPicturesAndPlots() {
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    window.resize(1280, 800);
    QVERIFY(reaches(window, SessionState::Ready));
    const auto* events = window.findChild<EventPanel*>();
    const int before = window.plots().width();
    QTest::keyClick(&window, Qt::Key_F7);
    QVERIFY(!events->isVisible());
    QTRY_VERIFY(window.plots().width() > before + 200);
    QTest::keyClick(&window, Qt::Key_F7);
    QVERIFY(events->isVisible());
    QTRY_COMPARE(window.plots().width(), before);
    for (const Qt::Key key : {Qt::Key_G, Qt::Key_F8}) {
        QTest::keyClick(&window, Qt::Key_F7);
        QVERIFY(!events->isVisible());
        QTest::keyClick(&window, key);
        QVERIFY(events->isVisible());
    }
    auto* columns = window.findChild<QSplitter*>();
    columns->setSizes({columns->sizes()[0], columns->sizes()[1] + columns->sizes()[2], 0});
    QTRY_COMPARE(columns->sizes().back(), 0);
    QTest::keyClick(&window, Qt::Key_F7);
    QTest::keyClick(&window, Qt::Key_F7);
    QTRY_VERIFY(columns->sizes().back() > 200);
}

/// Where three columns do not fit, the settings give way, but not to a column that is hidden.
void TestColumns::settingsGiveWay() {
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    window.resize(1280, 800);
    QVERIFY(reaches(window, SessionState::Ready));
    const int right = window.findChild<QSplitter*>()->widget(2)->minimumWidth();
    window.resize(window.setup().minimumWidth() + right + 290, 600); // 300 is left to the middle
    QTRY_VERIFY(!window.setup().isVisible());
    QTest::keyClick(&window, Qt::Key_F7);
    QVERIFY(window.setup().isVisible());
    QTest::keyClick(&window, Qt::Key_F7);
    QVERIFY(!window.setup().isVisible());
    window.resize(1280, 800);
    QTRY_VERIFY(window.setup().isVisible());
}

/// The reader of a lesson looks at pictures: in a small window the settings make room for it, and
/// come back when it is closed.
void TestColumns::settingsGiveWayToALesson() {
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    window.resize(1280, 800);
    QVERIFY(reaches(window, SessionState::Ready));
    const auto lesson = [&window] {
        for (QAction* action : window.findChildren<QAction*>())
            if (action->text() == QLatin1String("First &lesson")) action->trigger();
    };
    QVERIFY(window.setup().isVisible());
    lesson();
    QTRY_VERIFY(!window.setup().isVisible());
    QTest::keyClick(&window, Qt::Key_F9); // who wants both has both
    QVERIFY(window.setup().isVisible());
    lesson();
    test::serveEvents(100);
    lesson();
    QTRY_VERIFY(!window.setup().isVisible());
    lesson();
    QTRY_VERIFY(window.setup().isVisible());
    window.resize(1920, 1080);
    lesson();
    test::serveEvents(100);
    QVERIFY(window.setup().isVisible());
}

/// Who wants both in a small window still sees pictures and plots.
void TestColumns::aLessonMakesRoomForSettings() {
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    window.resize(1024, 600);
    QVERIFY(reaches(window, SessionState::Ready));
    for (QAction* action : window.findChildren<QAction*>())
        if (action->text() == QLatin1String("First &lesson")) action->trigger();
    const auto* lesson = window.findChild<QDockWidget*>();
    QTRY_VERIFY(lesson && lesson->isVisible() && !window.setup().isVisible());
    test::serveEvents(100);
    const int width = lesson->width();
    QTest::keyClick(&window, Qt::Key_F9);
    QVERIFY(window.setup().isVisible());
    QTRY_VERIFY2(window.plots().width() > 220, qPrintable(QString::number(window.plots().width())));
    QVERIFY(lesson->isVisible() && lesson->width() < width);
    QTest::keyClick(&window, Qt::Key_F9);
    QVERIFY(!window.setup().isVisible());
    QTRY_COMPARE(lesson->width(), width);
}

/// What is typed goes to nothing that cannot be seen, nor to a box that nobody has chosen.
void TestColumns::hiddenColumnsLoseTheKeys() {
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    window.resize(1280, 800);
    QVERIFY(reaches(window, SessionState::Ready));
    QVERIFY(test::isActive(&window));
    QWidget* page = window.findChild<QWidget*>(QStringLiteral("page"));
    const auto type = [&] {
        window.setup().editor("optimizer.lr")->control()->setFocus();
        QVERIFY(window.setup().isAncestorOf(window.focusWidget()));
    };
    type();
    QTest::keyClick(&window, Qt::Key_F9);
    QVERIFY(!window.setup().isVisible());
    QCOMPARE(window.focusWidget(), page);
    QTest::keyClick(&window, Qt::Key_F9);
    // F8 brings the right column back, for which the settings give way in a narrow window
    const int right = window.findChild<QSplitter*>()->widget(2)->minimumWidth();
    QTest::keyClick(&window, Qt::Key_F7);
    window.resize(window.setup().minimumWidth() + right + 290, 600);
    QVERIFY(window.setup().isVisible());
    type();
    QTest::keyClick(&window, Qt::Key_F8);
    QVERIFY(!window.setup().isVisible());
    QCOMPARE(window.focusWidget(), window.findChild<RunsPanel*>()->table());
    QTest::keyClick(&window, Qt::Key_F8);
    QCOMPARE(window.focusWidget(), page);
}

/// In a window of the usual size, the list shows some runs beside the gradients.
void TestColumns::runsBesideGradients() {
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    window.resize(1280, 800);
    for (int i = 0; i < 4; ++i) {
        window.restart();
        window.play();
        QVERIFY(reaches(window, SessionState::Finished));
        QTRY_COMPARE(window.runs().rowCount(), i + 1);
    }
    for (const Qt::Key key : {Qt::Key_G, Qt::Key_F8})
        QTest::keyClick(&window, key);
    const auto* table = window.findChild<RunsPanel*>()->findChild<QTableView*>();
    const auto seen = [&] {
        const QRect room = table->viewport()->rect();
        int rows = 0;
        for (int row = 0; row < window.runs().rowCount(); ++row)
            if (room.contains(table->visualRect(table->model()->index(row, 0)))) ++rows;
        return rows;
    };
    QTRY_VERIFY2(seen() >= 3, qPrintable(QString::number(seen())));
    const QTableView& events = *window.findChild<EventPanel*>()->table();
    const int row = events.verticalHeader()->defaultSectionSize();
    QTRY_VERIFY2(events.viewport()->height() >= 3 * row,
                 qPrintable(QString::number(events.viewport()->height())));
}

/// Three lanes leave room to read some events, and nothing is pushed out of sight by the runs.
void TestColumns::eventsBesideGradientsInALowWindow() {
    RunConfig config = presetNamed("overflow").config;
    config.lanes.push_back(config.lanes.back());
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.resize(1024, 600);
    window.shown().setPace(0);
    window.setStopStep(20);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_VERIFY(window.events().rowCount() > 3);
    const auto usual = [&window] { return window.gradients().sizeHint().height(); };
    QTest::keyClick(&window, Qt::Key_G);
    const QTableView& events = *window.findChild<EventPanel*>()->table();
    const int row = events.verticalHeader()->defaultSectionSize();
    QTRY_VERIFY(window.gradients().isVisible() && window.gradients().height() < usual());
    QTRY_VERIFY2(events.viewport()->height() >= 2 * row,
                 qPrintable(QString::number(events.viewport()->height())));
    QTest::keyClick(&window, Qt::Key_F8);
    test::serveEvents(100);
    const auto& area = *qobject_cast<QScrollArea*>(window.centralWidget());
    QCOMPARE(area.widget()->height(), area.viewport()->height());
    window.resize(1280, 900);
    QTRY_COMPARE(window.gradients().height(), usual());
}

/// 1920 x 1080 pixels at scale factor 2: a list of one run would not be a list. What gives way
/// comes back when the list is hidden.
void TestColumns::runsAreComparedInALowWindow() {
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    window.resize(960, 540);
    for (int i = 0; i < 5; ++i) {
        window.restart();
        window.play();
        QVERIFY(reaches(window, SessionState::Finished));
        QTRY_COMPARE(window.runs().rowCount(), i + 1);
    }
    auto* right = qobject_cast<QSplitter*>(window.findChild<QSplitter*>()->widget(2));
    QVERIFY(right);
    constexpr int kSettles = 100; // ms
    test::serveEvents(kSettles);
    const QList<int> before = right->sizes();
    QTest::keyClick(&window, Qt::Key_F8);
    QTableView& table = *window.findChild<RunsPanel*>()->table();
    const auto seen = [&table] {
        int rows = 0;
        for (int row = 0; row < table.model()->rowCount(); ++row)
            if (table.viewport()->rect().contains(table.visualRect(table.model()->index(row, 0))))
                ++rows;
        return rows;
    };
    test::serveEvents(kSettles); // it goes to the run of now, which may take more lines
    QTRY_VERIFY2((table.scrollToTop(), seen() >= 3), qPrintable(QString::number(seen())));
    const auto& area = *qobject_cast<QScrollArea*>(window.centralWidget());
    QCOMPARE(area.widget()->height(), area.viewport()->height());
    QTest::keyClick(&window, Qt::Key_F8);
    QTRY_COMPARE(right->sizes(), before);
}

/// The list of runs takes what its rows need, up to its share beside the events, which have the
/// rest. The border that the user moved stays where it is.
void TestColumns::fewRunsLeaveRoomToEvents() {
    Opened opened(tinyConfig(3));
    MainWindow& window = opened.window;
    window.resize(1280, 800);
    const auto* panel = window.findChild<RunsPanel*>();
    const auto* events = window.findChild<EventPanel*>();
    const QTableView& table = *panel->table();
    const auto unused = [&] { // of the height of the table, in pixels
        return table.viewport()->height() - table.verticalHeader()->length();
    };
    auto* right = qobject_cast<QSplitter*>(window.findChild<QSplitter*>()->widget(2));
    QVERIFY(right);
    QVERIFY(reaches(window, SessionState::Ready));
    QTest::keyClick(&window, Qt::Key_F8);
    QVERIFY(panel->isVisible());
    QList<int> byHand;
    for (int runs = 1; runs <= 9; ++runs) {
        window.restart();
        window.play();
        QVERIFY(reaches(window, SessionState::Finished));
        QTRY_COMPARE(window.runs().rowCount(), runs);
        if (runs == 1) {
            QTRY_COMPARE(unused(), 0);
            QVERIFY(events->height() > panel->height());
            QTest::mousePress(right->handle(1), Qt::LeftButton);
            QTest::mouseMove(right->handle(1), right->handle(1)->rect().center() + QPoint(0, 40));
            QTest::mouseRelease(right->handle(1), Qt::LeftButton);
            byHand = right->sizes();
        }
    }
    QTRY_VERIFY(unused() < 0); // the list is scrolled
    QTRY_VERIFY2(
        panel->height() > events->height(),
        qPrintable(QStringLiteral("%1 above %2").arg(panel->height()).arg(events->height())));
    QCOMPARE(right->sizes(), byHand);
    const auto last = [&] { return table.visualRect(table.model()->index(8, 0)); };
    QTRY_VERIFY2(table.viewport()->rect().contains(last()), // the run that is shown is in sight
                 qPrintable(QStringLiteral("%1 to %2 in %3")
                                .arg(last().top())
                                .arg(last().bottom())
                                .arg(table.viewport()->height())));
}

/// The cards leave out the memory only where events need the room: an empty list needs little.
void TestColumns::eventsLeaveRoomToTheMemory() {
    RunConfig config = tinyConfig(10);
    config.lanes.push_back(config.lanes.back());
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    constexpr int kHighest = 840, kLowest = 480, kStep = 8; // pixels
    constexpr int kSettles = 100;                           // ms
    window.resize(1280, kHighest);
    const auto tellsMemory = [&window] {
        const auto* memory = window.findChild<MemoryBar*>();
        return memory && memory->isVisible();
    };
    QTRY_VERIFY(tellsMemory());
    test::serveEvents(kSettles);
    const auto* events = window.findChild<EventPanel*>();
    int least = events->height();
    for (int height = kHighest; height > kLowest && tellsMemory(); height -= kStep) {
        least = events->height();
        window.resize(1280, height);
        test::serveEvents(kSettles);
    }
    QVERIFY(!tellsMemory()); // three cards are too many for the lowest window
    QVERIFY2(least >= events->usefulHeight() && least < events->usefulHeight() + 3 * kStep,
             qPrintable(QStringLiteral("%1, %2").arg(least).arg(events->usefulHeight())));
}

/// What an edit changed, and to what, is read in the list: its column has what steps and letters of
/// lanes leave.
void TestColumns::wordsOfEventsHaveRoom() {
    Event event;
    event.lane = 1;
    event.text = Message::data("From step 170: Growth interval set to 40 steps (before: 20).");
    std::vector<Event> events(40, event); // a scroll bar takes room as well
    for (size_t i = 0; i < events.size(); ++i)
        events[i].step = static_cast<int64_t>(100 + i);
    FedRun fed;
    fed.start({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {false, true});
    fed.append({}, events);
    EventModel model;
    EventPanel panel(model);
    constexpr int kUsual = 268; // in a window of 1280 pixels
    panel.resize(kUsual, 300);
    panel.show();
    model.setRun(fed.run);
    const QTableView& table = *panel.table();
    const QModelIndex words = model.index(0, EventModel::KindColumn);
    QCOMPARE(words.data().toString(), QStringLiteral("Growth interval: 40 steps"));
    QTRY_VERIFY2(table.columnWidth(words.column()) >= table.sizeHintForIndex(words).width(),
                 qPrintable(QString::number(table.columnWidth(words.column()))));
}

} // namespace tst_columns

QTEST_MAIN(tst_columns::TestColumns)
#include "tst_columns.moc"
