// The list of events: which rows are seen, what is explained below them, and where a click leads.
#include "engine/settings/fields.h"
#include "tests/support/cpu_run.h"
#include "tests/support/fed_run.h"
#include "tests/support/plot_parts.h"
#include "ui/look/text_fit.h"
#include "ui/panels/event_panel.h"

#include <QLabel>
#include <QLocale>
#include <QMouseEvent>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace tst_event_panel {

using namespace halfscope;

class TestEventPanel : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void eventsShowWholeRows();
    void explanationsScroll();
    void longSentencesLetThePanelShrink();
    void reasonsNameTheirEvent();
    void adviceFollowsTheCause();
    void eventsJump();
    void aPressedRowIsChosen();
    void keysLeadToTheEndsAndToHelp();
    void chosenEventStaysInSight();
    void scrolledEventsStay();
    void eventsGoBackToTheNewest();
    void anEmptyListSaysWhatComes();
};

void TestEventPanel::eventsShowWholeRows() {
    FedEvents model;
    EventPanel panel(model);
    std::vector<Event> events(100);
    for (size_t i = 0; i < events.size(); ++i) {
        events[i].step = static_cast<int64_t>(i + 1);
        events[i].text =
            Message::data("A sentence that is long enough to need several lines in a panel that is "
                          "no wider than a few words, which it is in this test.");
    }
    model.append(events);
    panel.show();
    for (int height = 170; height <= 500; height += 3) {
        panel.resize(280, height);
        QTRY_COMPARE(panel.height(), height);
        panel.choose(99);
        QCoreApplication::processEvents();
        const int row = panel.table()->rowHeight(0);
        QCOMPARE(panel.table()->viewport()->height() % row, 0);
        QVERIFY(panel.rect().contains(panel.table()->geometry()));
        QVERIFY2(panel.minimumSizeHint().height() <= height, // or it would grow without end
                 qPrintable(QString::number(panel.minimumSizeHint().height())));
    }
}

/// However long the explanation is, three events can be read beside it. It gets its room before
/// further rows, whether an event is chosen or not.
void TestEventPanel::explanationsScroll() {
    FedEvents model;
    EventPanel panel(model);
    std::vector<Event> events(9);
    std::string words;
    for (int i = 0; i < 60; ++i)
        words += "many words, ";
    for (Event& event : events)
        event.text = Message::data(words + "the end");
    constexpr int kLow = 200, kHigh = 900; // pixels
    panel.resize(280, 250);
    panel.show();
    const auto& scroll = *panel.findChild<QScrollArea*>();
    const auto& label = *qobject_cast<QLabel*>(scroll.widget());
    QVERIFY(!scroll.verticalScrollBar()->isVisible()); // nothing happened: the hints are whole
    panel.resize(280, kLow);
    model.append(events);
    QCoreApplication::processEvents();
    const QTableView& table = *panel.table();
    const int line = panel.fontMetrics().lineSpacing();
    const auto keeps = [&](int rows, int lines) { // in sight
        QCoreApplication::processEvents();
        return table.viewport()->height() >= rows * table.rowHeight(0) &&
               scroll.height() >= lines * line;
    };
    QVERIFY2(keeps(2, 4), qPrintable(QString::number(scroll.height())));
    panel.choose(3);
    QVERIFY2(keeps(2, 4), qPrintable(QString::number(scroll.height())));
    // lower and lower: the table gives up rows before the sentence does lines
    for (int height = kLow; height > 0 && keeps(2, 1); height -= line)
        panel.resize(280, height);
    QVERIFY2(!keeps(2, 1) && keeps(1, 4), qPrintable(QString::number(scroll.height())));
    panel.resize(280, kLow);
    QVERIFY2(keeps(2, 4), qPrintable(QString::number(scroll.height())));
    QVERIFY(label.text().endsWith(QStringLiteral("the end")));
    QCOMPARE(label.height(), heightOf(label.text(), label.font(), label.width()));
    QVERIFY(scroll.verticalScrollBar()->isVisible());
    QCOMPARE(label.height() - scroll.height(), scroll.verticalScrollBar()->maximum());
    QCOMPARE(scroll.focusPolicy(), Qt::TabFocus); // the arrow keys scroll, too
    scroll.verticalScrollBar()->setValue(10);
    events[3].text = Message::data("Another.");
    model.append(events);
    panel.choose(12);
    QCOMPARE(scroll.verticalScrollBar()->value(), 0);
    panel.resize(280, kHigh);
    QCoreApplication::processEvents();
    QVERIFY(!scroll.verticalScrollBar()->isVisible());
    QCOMPARE(scroll.focusPolicy(), Qt::NoFocus);
}

/// The heights follow from the text and the room alone, whatever was shown before: a high panel
/// gives a long sentence much room, and a low one takes it back.
void TestEventPanel::longSentencesLetThePanelShrink() {
    FedEvents model;
    EventPanel panel(model);
    std::string words;
    for (int i = 0; i < 60; ++i)
        words += "many words, ";
    constexpr int kHigh = 900, kLow = 180, kStep = 30; // pixels
    panel.resize(280, kHigh);
    panel.show();
    words += "the end";
    model.append(std::vector{eventOf(EventKind::Overflow, 7, 1, words.c_str())});
    QCoreApplication::processEvents();
    const auto& scroll = *panel.findChild<QScrollArea*>();
    const auto& label = *qobject_cast<QLabel*>(scroll.widget());
    QVERIFY(label.text().startsWith(QStringLiteral("many words"))); // it is the newest, too
    QVERIFY(scroll.height() >= heightOf(label.text(), label.font(), label.width()));
    std::vector<int> falling, rising;
    const auto heightIn = [&](int height) {
        panel.resize(280, height);
        QCoreApplication::processEvents();
        return panel.height() == height && panel.rect().contains(scroll.geometry())
                   ? scroll.height()
                   : -1;
    };
    for (int height = kHigh; height >= kLow; height -= kStep)
        falling.push_back(heightIn(height));
    for (int height = kLow; height <= kHigh; height += kStep)
        rising.insert(rising.begin(), heightIn(height));
    QCOMPARE(std::count(falling.begin(), falling.end(), -1), 0);
    QCOMPARE(falling, rising);
    QVERIFY(falling.back() < falling.front());
}

/// Without a chosen event the gravest one is explained, which need not be the newest.
void TestEventPanel::reasonsNameTheirEvent() {
    FedEvents model;
    EventPanel panel(model);
    panel.resize(480, 700);
    panel.show();
    const auto says = [&panel](const char* words) {
        for (const QLabel* label : panel.findChildren<QLabel*>())
            if (label->text().contains(QLatin1String(words))) return true;
        return false;
    };
    std::vector<Event> events{eventOf(EventKind::Overflow, 7, 1, "Step 7 skipped.")};
    model.append(events);
    QVERIFY(says("65504") && says("Step 7 skipped.") && !says("Last overflow"));
    events[0] = eventOf(EventKind::Growth, 8, 1, "Step 8 grew.");
    model.append(events);
    QVERIFY(says("65504") && says("Last overflow: Step 7 skipped.") && !says("Step 8 grew."));
}

/// Where a lane skips too many steps, what may help is told instead of what helps most lanes.
void TestEventPanel::adviceFollowsTheCause() {
    FedRun fed;
    fed.start({"fp32", "amp-fp16"}, {false, true});
    std::vector<StepRecord> records;
    std::vector<Event> events{eventOf(EventKind::Overflow, 2, 1, "Step 2 skipped.")};
    events[0].scaleBefore = 1024;
    events[0].scaleAfter = 512;
    for (int64_t step = 1; step <= 40; ++step) {
        StepRecord record;
        record.step = step;
        record.lane = 1;
        record.scale = 1024;
        record.growthTracker = 30; // the start is over
        record.flags = step % 2 == 0 ? kSkipped | kBackedOff : 0;
        records.push_back(record);
    }
    EventModel model;
    EventPanel panel(model);
    panel.resize(480, 700);
    panel.show();
    const auto says = [&](size_t steps, const char* words) {
        fed.start({"fp32", "amp-fp16"}, {false, true});
        fed.append(std::span(records).first(steps), events);
        model.setRun(fed.run);
        const auto labels = panel.findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(), [&](const QLabel* label) {
            return label->text().contains(QLatin1String(words));
        });
    };
    QVERIFY(says(3, "at the start: a smaller first scale"));
    QVERIFY(!says(40, "at the start: a smaller first scale"));
    QVERIFY(says(40, "B skips more steps than is normal: 20 of them did not follow a growth"));
}

void TestEventPanel::eventsJump() {
    FedEvents model;
    EventPanel panel(model);
    panel.resize(300, 300);
    panel.show();
    QSignalSpy chosen(&panel, &EventPanel::stepChosen);
    std::vector<Event> events(3);
    for (size_t i = 0; i < events.size(); ++i)
        events[i].step = static_cast<int64_t>(10 * (i + 1));
    model.append(events);
    const QRect rect = panel.table()->visualRect(model.index(0, 0));
    QTest::mouseClick(panel.table()->viewport(), Qt::LeftButton, {}, rect.center());
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(chosen.front().front().toLongLong(), 30);
    QTest::keyClick(panel.table(), Qt::Key_Down);
    QCOMPARE(chosen.count(), 2); // the plots follow the keys as well
    QCOMPARE(chosen.back().front().toLongLong(), 20);
    QTest::keyClick(panel.table(), Qt::Key_Return);
    QCOMPARE(chosen.count(), 3);
    panel.choose(0); // the first event is in the last row
    QCOMPARE(panel.table()->currentIndex().row(), 2);
    panel.choose(99);
    QCOMPARE(panel.table()->currentIndex().row(), 2);
}

/// The rows may move below a pressed button, because the new sentence needs another height. Plots
/// and sentence tell of the row that was pressed all the same.
void TestEventPanel::aPressedRowIsChosen() {
    FedEvents model;
    EventPanel panel(model);
    panel.resize(300, 300);
    panel.show();
    const QSignalSpy steps(&panel, &EventPanel::stepChosen);
    const QSignalSpy chosen(&panel, &EventPanel::eventChosen);
    std::vector<Event> events(3);
    for (size_t i = 0; i < events.size(); ++i)
        events[i].step = static_cast<int64_t>(10 * (i + 1));
    model.append(events);
    QWidget* rows = panel.table()->viewport();
    const QPoint first = panel.table()->visualRect(model.index(0, 0)).center();
    const QPoint second = panel.table()->visualRect(model.index(1, 0)).center();
    QTest::mousePress(rows, Qt::LeftButton, {}, first);
    QMouseEvent move(QEvent::MouseMove, second, rows->mapToGlobal(second), Qt::NoButton,
                     Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(rows, &move);
    QTest::mouseRelease(rows, Qt::LeftButton, {}, second);
    QCOMPARE(panel.table()->currentIndex().row(), 0);
    QCOMPARE(steps.size(), 1);
    QCOMPARE(steps.front().front().toLongLong(), 30);
    QCOMPARE(chosen.size(), 1);
    QCOMPARE(chosen.front().front().toInt(), 2);
}

void TestEventPanel::keysLeadToTheEndsAndToHelp() {
    FedEvents model;
    EventPanel panel(model);
    panel.resize(300, 300);
    panel.show();
    const QSignalSpy steps(&panel, &EventPanel::stepChosen);
    const QSignalSpy help(&panel, &EventPanel::pageAsked);
    std::vector<Event> events(30);
    for (size_t i = 0; i < events.size(); ++i)
        events[i].step = static_cast<int64_t>(i + 1);
    model.append(events);
    QTableView& table = *panel.table();
    table.setCurrentIndex(model.index(9, 0));
    const auto stepAfter = [&](Qt::Key key) {
        QTest::keyClick(&table, key);
        return steps.isEmpty() ? 0 : steps.back().front().toLongLong();
    };
    QCOMPARE(stepAfter(Qt::Key_End), 1); // the newest is the first row
    QCOMPARE(table.currentIndex().row(), 29);
    QCOMPARE(table.selectionModel()->selectedRows().size(), qsizetype(1));
    QCOMPARE(stepAfter(Qt::Key_Home), 30);
    QCOMPARE(table.currentIndex().row(), 0);
    QTest::keyClick(&table, Qt::Key_F1);
    QCOMPARE(help.size(), 1);
}

/// An event that is being read stays in sight while newer ones come above it. One that was scrolled
/// away stays away.
void TestEventPanel::chosenEventStaysInSight() {
    FedEvents model;
    EventPanel panel(model);
    panel.resize(300, 300);
    panel.show();
    int64_t step = 0;
    const auto append = [&](size_t count) {
        std::vector<Event> events(count);
        for (Event& event : events)
            event.step = ++step;
        model.append(events);
    };
    const auto inSight = [&] {
        QTableView& table = *panel.table();
        return table.viewport()->rect().intersects(table.visualRect(table.currentIndex()));
    };
    append(30);
    const QRect rect = panel.table()->visualRect(model.index(1, 0));
    QTest::mouseClick(panel.table()->viewport(), Qt::LeftButton, {}, rect.center());
    for (int i = 0; i < 20; ++i) {
        append(1);
        QVERIFY(inSight());
    }
    append(30);
    QCOMPARE(panel.table()->currentIndex().row(), 51);
    QVERIFY(inSight());
    panel.table()->scrollToTop();
    QVERIFY(!inSight());
    append(1);
    QVERIFY(!inSight());
    // an earlier step's event comes in below the chosen row, which stays as far out of sight as it
    // is
    const int chosen = panel.table()->currentIndex().row();
    panel.table()->scrollTo(model.index(chosen - 1, 0), QAbstractItemView::PositionAtBottom);
    QVERIFY(!inSight());
    Event early;
    early.step = 0;
    model.append(std::vector{early});
    QCOMPARE(panel.table()->currentIndex().row(), chosen);
    QVERIFY(!inSight());
}

/// New rows come above those that are seen; at the top of the list they are seen.
void TestEventPanel::scrolledEventsStay() {
    FedEvents model;
    EventPanel panel(model);
    panel.resize(300, 300);
    panel.show();
    const auto append = [&model](int64_t first, size_t count) {
        std::vector<Event> events(count);
        for (Event& event : events)
            event.step = first++;
        model.append(events);
    };
    const auto stepAt = [&panel](int y) {
        const QTableView& table = *panel.table();
        return table.indexAt({4, y}).data(EventModel::StepRole).toInt();
    };
    append(1, 30);
    QCOMPARE(stepAt(4), 30);
    append(31, 2);
    QCOMPARE(stepAt(4), 32); // nothing was scrolled
    panel.table()->verticalScrollBar()->setValue(10);
    QCOMPARE(stepAt(4), 22);
    append(33, 3);
    QCOMPARE(stepAt(4), 22);
    append(36, 20);
    QCOMPARE(stepAt(4), 22);
    append(0, 1); // an earlier step's, below
    QCOMPARE(stepAt(4), 22);
    panel.table()->scrollToBottom();
    const int last = stepAt(4);
    append(56, 5);
    QCOMPARE(stepAt(4), last);
    // a row that was chosen at the top stays where it was clicked
    panel.table()->scrollToTop();
    const QPoint third = panel.table()->visualRect(model.index(2, 0)).center();
    QTest::mouseClick(panel.table()->viewport(), Qt::LeftButton, {}, third);
    const int chosen = stepAt(third.y());
    append(61, 2);
    QCOMPARE(stepAt(third.y()), chosen);
}

void TestEventPanel::eventsGoBackToTheNewest() {
    FedEvents model;
    EventPanel panel(model);
    panel.resize(300, 300);
    panel.show();
    std::vector<Event> events(40);
    for (size_t i = 0; i < events.size(); ++i)
        events[i].step = static_cast<int64_t>(i + 1);
    model.append(events);
    const auto* bar = panel.table()->verticalScrollBar();
    const auto choose = [&] {
        panel.choose(0);
        panel.table()->scrollToBottom();
        return bar->value() > 0;
    };
    QVERIFY(choose());
    panel.letGoBut(1); // it is the one that the plots point at
    QVERIFY(bar->value() > 0);
    panel.trainingStarts(); // it is being read
    QVERIFY(bar->value() > 0);
    panel.letGoBut(20);
    QVERIFY(!panel.table()->currentIndex().isValid());
    QVERIFY(bar->value() > 0);
    panel.trainingStarts();
    QCOMPARE(bar->value(), 0);
    QVERIFY(choose());
    panel.letGoBut({});
    QVERIFY(!panel.table()->currentIndex().isValid());
    QCOMPARE(bar->value(), 0);
    panel.table()->scrollToBottom();
    panel.letGoBut({}); // without a selection, too
    QCOMPARE(bar->value(), 0);
}

/// Where no lane has a loss scale, none can be set.
void TestEventPanel::anEmptyListSaysWhatComes() {
    for (const bool scales : {true, false}) {
        RunConfig config = defaultConfig();
        if (!scales) config.lanes[1].scaler.rules.mode = ScalerMode::Off;
        EventModel model;
        const EventPanel panel(model);
        model.setRun(std::make_shared<Run>(cpuRunInfo(config), lanesOf(config)));
        QString text;
        for (const QLabel* label : panel.findChildren<QLabel*>())
            text += label->text() + u'\n';
        QVERIFY2(text.contains("Help > First lesson."), qPrintable(text));
        QCOMPARE(text.contains("Edit > Set the loss scale."), scales);
        QCOMPARE(text.contains("No lane of this experiment has a loss scale."), !scales);
    }
}

} // namespace tst_event_panel

QTEST_MAIN(tst_event_panel::TestEventPanel)
#include "tst_event_panel.moc"
