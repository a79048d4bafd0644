// The first lesson as a column of the window: its reader sees the page and what it talks about.
#include "tests/support/opened_window.h"
#include "tests/support/served_events.h"
#include "tests/support/shown_window.h"
#include "ui/dialogs/help_dialog.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/lesson_panel.h"
#include "ui/panels/runs_panel.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/plot_stack.h"

#include <QAction>
#include <QApplication>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QStyle>
#include <QTableView>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextCursor>
#include <QTextList>

#include <cstdlib>
#include <memory>

namespace tst_lesson_panel {

using namespace halfscope;

constexpr int kLine = 100; // letters, no fewer than a line of the column has

class TestLessonPanel : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void init();
    void cleanup() { m_opened.reset(); }
    void standsBesideWhatItTalksAbout();
    void opensExperimentsAndSpacePlays();
    void otherPagesOpenInTheManual();
    void turnsToTheOtherLesson();
    void escapeAndTheMenuCloseIt();
    void escapeClosesItFromAnywhere();
    void beginsAtItsBeginning();
    void keepsTheReadersPlace();
    void keepsThePlaceInAnotherWidth();
    void keepsThePlaceUntilTheNextStart();
    void listsTakeLittleOfItsWidth();
    void aNarrowWindowHidesTheSettings();
    void aSmallWindowKeepsTheCards();

private:
    MainWindow& window() { return m_opened->window; }
    QAction* action(const char* text = "First &lesson");
    LessonPanel* panel() { return window().findChild<LessonPanel*>(); }
    QTextBrowser* text() { return panel()->findChild<QTextBrowser*>(); }
    /// Scrolls to a whole line.
    void scrollTo(int value) {
        QScrollBar& bar = *text()->verticalScrollBar();
        bar.setValue(value);
        bar.setValue(value + text()->cursorRect(text()->cursorForPosition({0, 0})).top());
    }
    /// Returns what stands at the top, from there on.
    QString topLine() {
        const QTextCursor cursor = text()->cursorForPosition({0, 0});
        return cursor.block().text().mid(cursor.positionInBlock(), kLine);
    }
    std::unique_ptr<Opened> m_opened;
};

void TestLessonPanel::init() {
    m_opened = std::make_unique<Opened>(tinyConfig(100));
    window().resize(1280, 800);
    QVERIFY(reaches(window(), SessionState::Ready));
    QApplication::setActiveWindow(&window());
    QVERIFY(test::isActive(&window()));
    action()->trigger();
    QVERIFY(panel());
    QTRY_VERIFY(panel()->isVisible());
}

QAction* TestLessonPanel::action(const char* text) {
    for (QAction* each : window().findChildren<QAction*>())
        if (each->text() == QLatin1String(text)) return each;
    return nullptr;
}

/// A window of its own would cover Play, the pictures and the cards on a small screen.
void TestLessonPanel::standsBesideWhatItTalksAbout() {
    QVERIFY(window().findChildren<QDialog*>().isEmpty());
    QCOMPARE(panel()->window(), static_cast<QWidget*>(&window()));
    const QRect lesson(panel()->mapToGlobal(QPoint()), panel()->size());
    for (QWidget* each : {static_cast<QWidget*>(window().findChild<QPushButton*>("play")),
                          static_cast<QWidget*>(window().findChild<SetupPanel*>())}) {
        QTRY_VERIFY(each->isVisible());
        QVERIFY(!lesson.intersects(QRect(each->mapToGlobal(QPoint()), each->size())));
    }
    QCOMPARE(text()->document()->begin().text(), QStringLiteral("First lesson"));
    QVERIFY(text()->horizontalScrollBar()->maximum() == 0);
    QCOMPARE(text()->accessibleName(), QStringLiteral("First lesson"));
}

void TestLessonPanel::opensExperimentsAndSpacePlays() {
    emit text()->anchorClicked(QUrl(QStringLiteral("preset:overflow")));
    QVERIFY(window().windowTitle().startsWith(QStringLiteral("Overflow")));
    QVERIFY(panel()->isVisible());
    QVERIFY(reaches(window(), SessionState::Ready));
    QVERIFY(text()->hasFocus());
    QTest::keyClick(text(), Qt::Key_Space);
    QVERIFY(QTest::qWaitFor([&] { return window().run().step() > 0; }, kPatience));
}

void TestLessonPanel::otherPagesOpenInTheManual() {
    emit text()->anchorClicked(QUrl(QStringLiteral("questions.md")));
    auto* help = window().findChild<HelpDialog*>();
    QVERIFY(help && help->isVisible());
    QCOMPARE(help->findChild<QTextBrowser*>()->document()->begin().text(),
             QStringLiteral("Questions about AMP"));
    QVERIFY(panel()->isVisible());
}

/// By its link as by the menu, which marks the one that is open.
void TestLessonPanel::turnsToTheOtherLesson() {
    QAction *first = action(), *second = action("&Second lesson");
    const auto shows = [&](const char* title) {
        return text()->document()->begin().text() == QLatin1String(title) &&
               panel()->windowTitle() == QLatin1String(title) && panel()->isVisible();
    };
    QVERIFY(first->isChecked() && !second->isChecked());
    emit text()->anchorClicked(QUrl(QStringLiteral("lesson-weights.md")));
    QVERIFY(shows("Second lesson"));
    QVERIFY(!window().findChild<HelpDialog*>());
    QVERIFY(!first->isChecked() && second->isChecked());
    first->trigger();
    QVERIFY(shows("First lesson"));
    second->trigger();
    QVERIFY(shows("Second lesson"));
    second->trigger();
    QVERIFY(!panel()->isVisible());
    QVERIFY(!first->isChecked() && !second->isChecked());
}

void TestLessonPanel::escapeAndTheMenuCloseIt() {
    QVERIFY(action()->isChecked());
    QTest::keyClick(text(), Qt::Key_Escape);
    QVERIFY(!panel()->isVisible());
    QVERIFY(!action()->isChecked());
    action()->trigger();
    QVERIFY(panel()->isVisible());
    QVERIFY(text()->hasFocus());
    action()->trigger();
    QVERIFY(!panel()->isVisible());
}

/// Where Esc has another use, that comes first.
void TestLessonPanel::escapeClosesItFromAnywhere() {
    QVERIFY(stepsTo(window(), 2));
    const auto closes = [this](QWidget* from) {
        if (!panel()->isVisible()) action()->trigger();
        QTest::keyClick(from, Qt::Key_Escape);
        return !panel()->isVisible();
    };
    QVERIFY(closes(window().findChild<QWidget*>(QStringLiteral("page"))));
    QVERIFY(closes(window().findChild<QPushButton*>(QStringLiteral("play"))));
    QVERIFY(closes(window().findChild<EventPanel*>()->table()));
    QTest::keyClick(&window(), Qt::Key_F8);
    QVERIFY(closes(window().findChild<RunsPanel*>()->table()));
    PlotStack& plots = window().plots();
    QTest::keyClick(&plots, Qt::Key_End);
    QVERIFY(plots.crosshair());
    QVERIFY(!closes(&plots));
    QVERIFY(!plots.crosshair());
    QVERIFY(closes(&plots));
}

/// Also when it is not the first lesson that is opened first.
void TestLessonPanel::beginsAtItsBeginning() {
    for (const char* lesson : {"&Second lesson", "&Third lesson"}) {
        m_opened = std::make_unique<Opened>(tinyConfig(100));
        window().resize(1280, 800);
        QVERIFY(reaches(window(), SessionState::Ready));
        QVERIFY(!panel());
        action(lesson)->trigger();
        QTRY_VERIFY(panel()->isVisible() && text()->verticalScrollBar()->maximum() > 0);
        QCOMPARE(text()->verticalScrollBar()->value(), 0);
    }
}

/// In each lesson.
void TestLessonPanel::keepsTheReadersPlace() {
    test::serveEvents(50);
    QVERIFY(text()->verticalScrollBar()->maximum() > 400);
    scrollTo(300);
    const QString first = topLine();
    emit text()->anchorClicked(QUrl(QStringLiteral("lesson-weights.md")));
    QCOMPARE(panel()->windowTitle(), QStringLiteral("Second lesson"));
    test::serveEvents(50);
    QCOMPARE(text()->verticalScrollBar()->value(), 0);
    scrollTo(200);
    const QString second = topLine();
    QVERIFY(first != second);
    action()->trigger();
    test::serveEvents(50);
    QCOMPARE(topLine(), first);
    action("&Second lesson")->trigger();
    test::serveEvents(50);
    QCOMPARE(topLine(), second);
}

/// Text of another width has other lines; the reader's stays at the top.
void TestLessonPanel::keepsThePlaceInAnotherWidth() {
    test::serveEvents(50);
    QVERIFY(text()->verticalScrollBar()->maximum() > 400);
    scrollTo(text()->verticalScrollBar()->maximum() / 2);
    const int place = text()->cursorForPosition({0, 0}).position();
    const int width = text()->width(), height = text()->document()->size().toSize().height();
    window().resizeDocks({panel()}, {width + 200}, Qt::Horizontal);
    test::serveEvents(100);
    QVERIFY(text()->document()->size().height() < height - 50);
    const int now = text()->cursorForPosition({0, 0}).position();
    QVERIFY2(std::abs(now - place) < kLine,
             qPrintable(QStringLiteral("%1 %2").arg(now).arg(place)));
}

void TestLessonPanel::keepsThePlaceUntilTheNextStart() {
    QCoreApplication::setOrganizationName(QStringLiteral("HalfscopeTest"));
    QCoreApplication::setApplicationName(QStringLiteral("tst_lesson_panel"));
    const QTemporaryDir folder;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder.path());
    WindowOptions options;
    options.remember = true;
    QString line;
    for (const bool first : {true, false}) {
        m_opened = std::make_unique<Opened>(tinyConfig(100), options);
        window().resize(1280, 800);
        QVERIFY(reaches(window(), SessionState::Ready));
        action("&Second lesson")->trigger();
        QTRY_VERIFY(panel()->isVisible() && text()->verticalScrollBar()->maximum() > 400);
        test::serveEvents(50);
        if (first) {
            QCOMPARE(text()->verticalScrollBar()->value(), 0);
            scrollTo(300);
            line = topLine();
            QVERIFY(!line.isEmpty());
        }
        test::serveEvents(50);
        QCOMPARE(topLine(), line);
        QVERIFY(window().close());
    }
}

void TestLessonPanel::listsTakeLittleOfItsWidth() {
    int items = 0;
    for (QTextBlock block = text()->document()->begin(); block.isValid(); block = block.next()) {
        const QTextList* list = block.textList();
        if (!list) continue;
        ++items;
        QVERIFY(list->format().style() != QTextListFormat::ListCircle);
    }
    QVERIFY(items > 0);
    QVERIFY2(text()->document()->indentWidth() <= 20,
             qPrintable(QString::number(text()->document()->indentWidth())));
}

void TestLessonPanel::aNarrowWindowHidesTheSettings() {
    auto* setup = window().findChild<SetupPanel*>();
    QTRY_VERIFY(setup->isVisible());
    window().resize(1000, 700); // wide enough for three columns, but not for four
    QTRY_VERIFY(!setup->isVisible());
    action()->trigger();
    QTRY_VERIFY(setup->isVisible());
}

/// 1280 x 800 pixels at scale factor 2: the page takes what the pictures and the cards leave.
void TestLessonPanel::aSmallWindowKeepsTheCards() {
    action()->trigger();
    QTRY_VERIFY(!panel()->isVisible());
    window().resize(640, 400);
    action()->trigger();
    QTRY_VERIFY(panel()->isVisible());
    const QWidget* seen = qobject_cast<QScrollArea*>(window().centralWidget())->viewport();
    const auto* cards = window().findChild<ScalerPanel*>();
    const auto end = [&] { return cards->mapTo(seen, QPoint(cards->width(), 0)).x(); };
    QTRY_VERIFY2(end() <= seen->width(),
                 qPrintable(QStringLiteral("%1 of %2").arg(end()).arg(seen->width())));
    for (const auto* card : cards->findChildren<LaneCard*>()) // beside a scroll bar, too
        QVERIFY(card->minimumSizeHint().width() +
                    window().style()->pixelMetric(QStyle::PM_ScrollBarExtent) <=
                cards->width());
    const auto* play = window().findChild<QPushButton*>(QStringLiteral("play"));
    QVERIFY(play->mapTo(seen, QPoint(play->width(), 0)).x() <= seen->width());
}

} // namespace tst_lesson_panel

QTEST_MAIN(tst_lesson_panel::TestLessonPanel)
#include "tst_lesson_panel.moc"
