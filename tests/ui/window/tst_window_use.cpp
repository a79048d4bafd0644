// The window as used by people who see little, work by keys, type what they like, or have small
// screens or steps that take seconds.
#include "tests/support/fed_run.h"
#include "tests/support/opened_window.h"
#include "tests/support/served_events.h"
#include "tests/support/shown_window.h"
#include "ui/images/compare_view.h"
#include "ui/look/text_fit.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/field_editor.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/zoom.h"

#include <QAccessible>
#include <QAction>
#include <QHeaderView>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QSplitter>
#include <QStatusBar>
#include <QTableView>
#include <QTextDocument>
#include <QToolButton>
#include <QToolTip>

namespace tst_window_use {

using namespace halfscope;

namespace {

QString spokenName(QWidget& widget) {
    QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(&widget);
    return interface ? interface->text(QAccessible::Name) : QString();
}

/// Returns texts on the screen that a screen reader does not read.
QStringList silentIn(const QWidget& root) {
    QStringList found;
    for (QLabel* label : root.findChildren<QLabel*>()) {
        QTextDocument document;
        document.setHtml(label->text());
        const QString seen = document.toPlainText().simplified();
        const QString told = spokenName(*label).simplified();
        const bool help = label->accessibleName() == label->toolTip(); // the same, longer
        if (label->isVisible() && !seen.isEmpty() && !told.contains(seen) && !help)
            found << seen + QStringLiteral(" -> ") + told;
    }
    return found;
}

/// Returns which part of the window a widget belongs to, from top to bottom and from left to right.
int partOf(const MainWindow& window, const QWidget* widget) {
    const QWidget* parts[] = {window.findChild<QWidget*>(QStringLiteral("play"))->parentWidget(),
                              window.findChild<SetupPanel*>(),
                              window.findChild<CompareView*>(),
                              window.findChild<PlotStack*>(),
                              window.findChild<ScalerPanel*>(),
                              window.findChild<EventPanel*>()};
    for (int i = 0; i < static_cast<int>(std::size(parts)); ++i)
        if (parts[i] == widget || parts[i]->isAncestorOf(widget)) return i;
    return -1;
}

} // namespace

class TestWindowUse : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }
    void aSlowPaceIsSmooth();
    void everythingSeenIsTold();
    void smallScreen();
    void tabGoesFromLeftToRight();
    void wrongValueIsTold();
    void typedScales_data();
    void typedScales();
    void powersInFields();
    void newLaneComesIntoView();
    void fullScreenByOthers();
    void eventsSayWhy();
    void sentencesInLittleRoom();
    void rowsBeforeAdvice();
    void longTipsAreWrapped();
    void rateOfAScheduleWaits();
    void everythingLarger();
    void startsWithinTheScreen();
    void fontsInPixels();
    void saysWhatIsBeingBuilt();
    void playWaitsForTheBuild();
    void firstStepOfSeconds();
    void eachLetterOpensOneEntry();
};

namespace {

/// Returns "File: W" for each letter that two entries of a menu share.
QStringList sharedLetters(const QList<QAction*>& entries, const QString& menu) {
    QStringList shared;
    QString letters;
    for (const QAction* entry : entries) {
        const QString text = entry->text().remove(QStringLiteral("&&"));
        const qsizetype at = text.indexOf(u'&') + 1;
        const QChar letter = at > 0 && at < text.size() ? text[at].toUpper() : QChar();
        if (!letter.isNull() && letters.contains(letter)) shared << menu + letter;
        letters += letter;
        if (entry->menu())
            shared += sharedLetters(entry->menu()->actions(), menu + entry->text() + ": ");
    }
    return shared;
}

} // namespace

/// Alt+F, W: if two entries had the same letter, neither would open.
void TestWindowUse::eachLetterOpensOneEntry() {
    Opened opened(tinyConfig(5));
    QCOMPARE(sharedLetters(opened.window.menuBar()->actions(), {}), QStringList());
}

/// What a small screen has no room for can be scrolled to, and nothing overlaps.
void TestWindowUse::smallScreen() {
    Opened opened(tinyConfig(5));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    opened.window.play();
    QVERIFY(reaches(opened.window, SessionState::Finished));
    auto* area = qobject_cast<QScrollArea*>(opened.window.centralWidget());
    QVERIFY(area);
    // the settings are hidden, and come back
    QVERIFY(opened.window.setup().isVisible());
    opened.window.resize(640, 480);
    QTRY_VERIFY(!opened.window.setup().isVisible());
    QTRY_VERIFY(area->widget()->minimumSizeHint().width() <= area->viewport()->width());
    QTRY_VERIFY(!area->horizontalScrollBar()->isVisible());
    // 1280 x 720 at scale factor 1.5, less what a window manager adds
    opened.window.resize(853, 445);
    QTRY_VERIFY2(opened.window.height() == 445 && !area->verticalScrollBar()->isVisible(),
                 QByteArray::number(area->widget()->minimumSizeHint().height()));
    opened.window.resize(1280, 800);
    QTRY_VERIFY(opened.window.setup().isVisible());
    // unless they are asked for
    opened.window.resize(640, 480);
    QTRY_VERIFY(!opened.window.setup().isVisible());
    QTest::keyClick(&opened.window, Qt::Key_F9);
    QVERIFY(opened.window.setup().isVisible());
    test::serveEvents(100);
    QCOMPARE(opened.window.size(), QSize(640, 480));
    const auto* columns = opened.window.findChild<QSplitter*>();
    for (int i = 0; i < columns->count(); ++i) {
        QWidget* column = columns->widget(i);
        QVERIFY2(column->width() >= column->minimumSizeHint().width(),
                 QByteArray::number(column->width()));
        if (i > 0) QVERIFY(columns->widget(i - 1)->geometry().right() < column->geometry().left());
        area->ensureWidgetVisible(column, 0, 0);
        const QRect seen(column->mapTo(area, QPoint()), column->size());
        QVERIFY(seen.left() >= 0 && seen.right() < area->width());
    }
    opened.window.resize(1280, 800);
    QTRY_VERIFY(!area->horizontalScrollBar()->isVisible());
    QTRY_VERIFY(!area->verticalScrollBar()->isVisible());
}

void TestWindowUse::everythingSeenIsTold() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(30), kPatience);
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QTRY_VERIFY2_WITH_TIMEOUT(
        headline->toolTip().startsWith(QStringLiteral("Finished. In step 30 the loss is: A ")),
        qPrintable(headline->toolTip()), kPatience);
    QVERIFY2(silentIn(window).isEmpty(), qPrintable(silentIn(window).join(u'\n')));
    QLabel silent(QStringLiteral("31.75"), &window); // what the search must find
    silent.setAccessibleName(QStringLiteral("Loss"));
    silent.show();
    QCOMPARE(silentIn(window).size(), qsizetype(1));
}

void TestWindowUse::tabGoesFromLeftToRight() {
    Opened opened(tinyConfig(30));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_VERIFY_WITH_TIMEOUT(window.run().lanes() == 2, kPatience); // with their counters
    QVERIFY(window.config().addLane());                             // the settings are made anew
    QCoreApplication::processEvents();
    auto* first = window.findChild<QWidget*>(QStringLiteral("presets"));
    QVERIFY(first);
    QList<int> parts;
    QWidget* at = first;
    do {
        const bool reached = (at->focusPolicy() & Qt::TabFocus) && at->isVisible();
        if (const int part = partOf(window, at); reached && part >= 0) parts << part;
        at = at->nextInFocusChain();
    } while (at != first);
    QVERIFY(parts.contains(1) && parts.contains(5));
    QVERIFY2(std::is_sorted(parts.begin(), parts.end()), qPrintable([&parts] {
                 QString text;
                 for (const int part : parts)
                     text += QString::number(part) + u' ';
                 return text;
             }()));
}

void TestWindowUse::wrongValueIsTold() {
    Opened opened(tinyConfig(30));
    FieldEditor* editor = opened.window.setup().editor("optimizer.lr");
    auto* line = qobject_cast<QLineEdit*>(editor->control());
    QVERIFY(
        line->accessibleDescription().contains(QStringLiteral("Takes effect at the next step")));
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, QStringLiteral("fast"));
    QTest::keyClick(line, Qt::Key_Return);
    QVERIFY(!editor->errorText().isEmpty());
    QVERIFY2(line->accessibleDescription().contains(editor->errorText()),
             qPrintable(line->accessibleDescription()));
    QTest::keyClick(line, Qt::Key_Escape);
    QVERIFY(!line->accessibleDescription().contains(QStringLiteral("Not accepted")));
}

void TestWindowUse::typedScales_data() {
    QTest::addColumn<QString>("typed");
    QTest::addColumn<double>("scale"); // 0: refused
    QTest::newRow("number") << QStringLiteral("1024") << 1024.0;
    QTest::newRow("power") << QStringLiteral(" 2^10 ") << 1024.0;
    QTest::newRow("small power") << QStringLiteral("2^-3") << 0.125;
    QTest::newRow("too large") << QStringLiteral("2^400") << 0.0;
    QTest::newRow("no exponent") << QStringLiteral("2^99999999999") << 0.0;
    QTest::newRow("below zero") << QStringLiteral("-1") << 0.0;
    QTest::newRow("word") << QStringLiteral("much") << 0.0;
    QTest::newRow("nothing") << QString() << 0.0;
}

void TestWindowUse::typedScales() {
    QFETCH(QString, typed);
    QFETCH(double, scale);
    Opened opened(tinyConfig(1000000));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    emit window.findChild<ScalerPanel*>()->scaleChosen(1, typed);
    window.stepOnce();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(1), kPatience);
    QCOMPARE(window.bannerText().isEmpty(), scale > 0);
    const double first = tinyConfig(1).lanes[1].scaler.initScale;
    QCOMPARE(static_cast<double>(window.run().lane(1).last.scale()), scale > 0 ? scale : first);
}

void TestWindowUse::powersInFields() {
    ConfigModel model;
    model.load(tinyConfig(10));
    const auto typed = [&model](std::string_view key, int lane, const char* text) {
        const int row = model.rowOf(key, lane);
        const bool taken = model.setData(model.index(row), QString::fromLatin1(text));
        return taken ? model.text(row) : QString();
    };
    QCOMPARE(typed("scaler.init_scale", 1, "2^20"), QStringLiteral("2^20"));
    QCOMPARE(typed("scaler.init_scale", 1, "1048576"), QStringLiteral("2^20"));
    QCOMPARE(typed("scaler.init_scale", 1, "1000"), QStringLiteral("1000"));
    QCOMPARE(typed("scaler.init_scale", 1, " 2 ^ -1 "), QStringLiteral("0.5"));
    QCOMPARE(typed("scaler.init_scale", 1, "2^9999"), QString());
    QCOMPARE(typed("model.width", -1, "2^4"), QStringLiteral("16"));
    QCOMPARE(typed("model.width", -1, "2^-1"), QString()); // not a whole number
    QCOMPARE(typed("precision.layers", 1, "2^4"), QString());
}

void TestWindowUse::newLaneComesIntoView() {
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QToolButton* add = nullptr;
    for (QToolButton* button : window.setup().findChildren<QToolButton*>())
        if (button->text() == QLatin1String("Add a lane")) add = button;
    QVERIFY(add);
    add->click();
    const auto seen = [&window] {
        const FieldEditor* editor = window.setup().editor("precision", 2);
        return editor && !editor->visibleRegion().isEmpty();
    };
    QTRY_VERIFY(seen());
}

void TestWindowUse::fullScreenByOthers() {
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    QAction* action = nullptr;
    for (QAction* each : window.findChildren<QAction*>())
        if (each->shortcut() == QKeySequence(Qt::Key_F11)) action = each;
    QVERIFY(action && !action->isChecked());
    window.setWindowState(window.windowState() | Qt::WindowFullScreen); // the window manager
    QTRY_VERIFY(action->isChecked());
    action->trigger();
    QTRY_VERIFY(!window.isFullScreen());
    QVERIFY(!action->isChecked());
}

void TestWindowUse::eventsSayWhy() {
    MainWindow window;
    window.resize(1280, 800);
    window.openPreset(QStringLiteral("overflow"));
    window.shown().setPace(0); // it opens at a pace that can be watched
    window.show();
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(300), kPatience);
    auto* panel = window.findChild<EventPanel*>();
    const auto says = [panel](const char* words) {
        for (const QLabel* label : panel->findChildren<QLabel*>())
            if (label->text().contains(QLatin1String(words))) return true;
        return false;
    };
    QTRY_VERIFY_WITH_TIMEOUT(says("65504"), kPatience); // an overflow is the gravest event so far
    for (int row = 0; row < window.events().rowCount(); ++row) {
        if (window.events().eventAt(row).kind != EventKind::Growth) continue;
        panel->table()->selectRow(row);
        break;
    }
    QVERIFY(says("rounding to zero"));
    QVERIFY(!says("65504"));
    // the explanation is about what the plots point at
    const QModelIndex chosen = panel->table()->currentIndex();
    emit panel->table()->pressed(chosen);
    auto* plots = window.findChild<PlotStack*>();
    const qint64 step = chosen.data(EventModel::StepRole).toLongLong();
    QCOMPARE(plots->crosshair().value_or(-1), step);
    QVERIFY(says("rounding to zero"));
    QTest::keyClick(plots, Qt::Key_Right);
    QTest::keyClick(plots, Qt::Key_Return);
    QCOMPARE(plots->crosshair().value_or(-1), step + 1);
    const QModelIndex there = panel->table()->currentIndex(); // if that step has an event, too
    QVERIFY(!there.isValid() || there.data(EventModel::StepRole).toLongLong() == step + 1);
    QVERIFY(!says("rounding to zero"));
    panel->table()->setCurrentIndex(chosen);
    emit panel->table()->clicked(chosen);
    QTest::keyClick(plots, Qt::Key_F); // follows the newest step: it points at none
    QVERIFY(!panel->table()->currentIndex().isValid());
}

void TestWindowUse::sentencesInLittleRoom() {
    FedEvents model;
    EventPanel panel(model);
    std::vector<Event> events(30);
    for (Event& event : events) {
        event.kind = EventKind::Overflow;
        event.scaleBefore = 2;
        event.text = Message::data(
            "Step 1 skipped: gradient of layers.2.weight reached inf at loss scale 2.");
    }
    model.append(events);
    panel.show();
    const auto* sentence = panel.findChildren<QLabel*>().last();
    const QHeaderView* header = panel.table()->horizontalHeader();
    for (const int height : {180, 240, 600}) {
        panel.resize(230, height);
        panel.choose(29);
        QTRY_COMPARE(panel.height(), height);
        QCoreApplication::processEvents();
        QVERIFY(heightOf(sentence->text(), sentence->font(), sentence->width()) <=
                sentence->height());
        QVERIFY(sentence->text().endsWith(QStringLiteral(": a longer growth interval.")));
        // a column that is cut off would hide that there is more
        QCOMPARE(header->length(), panel.table()->viewport()->width());
    }
}

/// Three rows come before the advice about a chosen event, which scrolls, and the chosen row stays
/// in sight.
void TestWindowUse::rowsBeforeAdvice() {
    FedEvents model;
    EventPanel panel(model);
    std::vector<Event> events(30);
    for (Event& event : events) {
        event.kind = EventKind::Overflow;
        event.scaleBefore = 2;
        event.text =
            Message::data("Step 48 skipped: gradient of the loss reached inf at loss scale "
                          "2^24; the scale falls to 2^23. It would have fitted at 2^11.");
    }
    model.append(events);
    panel.resize(270, 600);
    panel.show();
    panel.choose(26); // the fourth row, as the newest comes first
    QCoreApplication::processEvents();
    const auto* sentence = panel.findChildren<QLabel*>().last();
    const QString whole = sentence->text();
    const int text = heightOf(whole, sentence->font(), sentence->width());
    const int others = panel.height() - sentence->height() - panel.table()->viewport()->height();
    const int height = others + text + 2 * panel.table()->rowHeight(0);
    panel.resize(270, height);
    QTRY_COMPARE(panel.height(), height);
    QCoreApplication::processEvents();
    QCOMPARE(sentence->text(), whole);
    const QModelIndex chosen = panel.table()->currentIndex();
    QCOMPARE(chosen.row(), 3);
    QVERIFY(panel.table()->viewport()->rect().contains(panel.table()->visualRect(chosen)));
    QVERIFY(panel.table()->viewport()->height() >= 3 * panel.table()->rowHeight(0));
}

void TestWindowUse::longTipsAreWrapped() {
    Opened opened(tinyConfig(10));
    QVERIFY(reaches(opened.window, SessionState::Ready));
    const auto tipOf = [](QWidget& widget) {
        const QPoint place = widget.rect().center();
        QHelpEvent event(QEvent::ToolTip, place, widget.mapToGlobal(place));
        QApplication::sendEvent(&widget, &event);
        return QToolTip::text();
    };
    QWidget* rate = opened.window.setup().editor("optimizer.lr")->control();
    QVERIFY(rate->toolTip().size() > 80);
    QVERIFY(Qt::mightBeRichText(tipOf(*rate))); // it has several lines
    auto* play = opened.window.findChild<QWidget*>(QStringLiteral("play"));
    QCOMPARE(tipOf(*play), play->toolTip());
}

void TestWindowUse::rateOfAScheduleWaits() {
    RunConfig config = tinyConfig(1000000);
    config.schedule.kind = ScheduleKind::OneCycle;
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    ConfigModel& model = window.config();
    QVERIFY(model.setData(model.index(model.rowOf("schedule.kind")), QStringLiteral("constant")));
    // shown from now on, but the present run follows its schedule
    QSignalSpy sent(&model, &ConfigModel::liveEdited);
    QVERIFY(model.setData(model.index(model.rowOf("optimizer.lr")), QStringLiteral("0.5")));
    QCOMPARE(sent.count(), 0);
    QVERIFY(window.setup().restartShown());
    window.stepOnce();
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), int64_t(1), kPatience);
    QVERIFY2(window.bannerText().isEmpty(), qPrintable(window.bannerText()));
}

void TestWindowUse::everythingLarger() {
    QCoreApplication::setOrganizationName(QStringLiteral("HalfscopeTest"));
    QCoreApplication::setApplicationName(QStringLiteral("tst_window_use"));
    const QTemporaryDir folder;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder.path());
    QSettings().remove(QStringLiteral("zoom"));
    const QStringList plain{QStringLiteral("--play")};
    QCOMPARE(startFactor(plain), 1.0);
    const auto choose = [](bool remember) {
        WindowOptions options;
        options.remember = remember;
        Opened opened(tinyConfig(10), options);
        for (QAction* action : opened.window.findChildren<QAction*>())
            if (action->text() == QStringLiteral("150 %")) action->trigger();
        return opened.window.statusBar()->currentMessage();
    };
    QVERIFY(choose(false).contains(QStringLiteral("at 150 % the next time Halfscope starts")));
    QCOMPARE(rememberedZoom(), 100); // not of a window that remembers nothing
    choose(true);
    QCOMPARE(rememberedZoom(), 150);
    QCOMPARE(startFactor(plain), 1.5);
    for (const char* screenshot : {"--screenshot", "--screenshot=a.png", "-screenshot"})
        QCOMPARE(startFactor(plain + QStringList{QString::fromLatin1(screenshot)}), 1.0);
    rememberZoom(100000); // a settings file may contain anything
    QCOMPARE(startFactor(plain), 1.0);
    QSettings().remove(QStringLiteral("zoom"));
}

/// A training that waits for its pace leaves the processors to the window, so that each of its
/// steps is seen.
void TestWindowUse::aSlowPaceIsSmooth() {
    RunConfig config = tinyConfig(1'000'000);
    config.pace = 15;
    Opened opened(config);
    opened.window.resize(1280, 800);
    QVERIFY(reaches(opened.window, SessionState::Ready));
    opened.window.play();
    constexpr int64_t kFewSeconds = 40; // steps: the rate is that of the last second
    QTRY_VERIFY_WITH_TIMEOUT(opened.window.run().step() >= kFewSeconds, kPatience);
    const auto rate = [&] {
        for (const QLabel* each : opened.window.statusBar()->findChildren<QLabel*>())
            if (each->text().endsWith(QLatin1String(" frames/s")))
                return each->text().section(u' ', 0, 0).toInt();
        return 0;
    };
    QTRY_VERIFY_WITH_TIMEOUT(rate() > config.pace, kPatience);
}

/// The window starts within the screen, its frame included, even when 125 % leave a common screen
/// of 1366 x 768 little room.
void TestWindowUse::startsWithinTheScreen() {
    const QSize usual(1280, 800);
    QCOMPARE(startSize(usual, {1920, 1080}), usual);
    for (const QSize& screen : {QSize(1366, 768), QSize(1093, 614), QSize(1024, 2000)}) {
        const QSize size = startSize(usual, screen);
        QVERIFY(size.width() < screen.width() && size.height() < screen.height());
        QVERIFY(size.width() == usual.width() || screen.width() - size.width() < 50);
        QVERIFY(size.height() == usual.height() || screen.height() - size.height() < 50);
    }
}

/// A desktop or a style sheet may give sizes in pixels, and such a font has no size in points.
void TestWindowUse::fontsInPixels() {
    const QFont usual = QApplication::font();
    QFont pixels = usual;
    pixels.setPixelSize(20);
    QApplication::setFont(pixels);
    const auto restore = qScopeGuard([&] { QApplication::setFont(usual); });
    QTest::failOnWarning(QRegularExpression(QStringLiteral("QFont")));
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QTest::keyClick(&window, Qt::Key_G);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    window.grab();
    QCOMPARE(window.findChild<QWidget*>(QStringLiteral("play"))->font().pixelSize(), 23);
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QVERIFY(headline->font().pixelSize() >= 20);
}

void TestWindowUse::saysWhatIsBeingBuilt() {
    FakeScript script;
    script.slowBuild = true;
    Opened opened(tinyConfig(20), played(script));
    MainWindow& window = opened.window;
    QTRY_VERIFY_WITH_TIMEOUT(script.building, kPatience);
    QCOMPARE(window.controller().state(), SessionState::Building);
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QTRY_VERIFY2(headline->text().contains(QStringLiteral("Press Play")),
                 qPrintable(headline->text()));
}

/// Play is pressed by Space and by the button; pressing it a second time cancels it, and both say
/// so.
void TestWindowUse::playWaitsForTheBuild() {
    FakeScript script;
    script.slowBuild = true;
    Opened opened(tinyConfig(20), played(script));
    MainWindow& window = opened.window;
    QTRY_VERIFY_WITH_TIMEOUT(script.building, kPatience);
    QVERIFY(test::isActive(&window));
    auto* button = window.findChild<QPushButton*>(QStringLiteral("play"));
    const auto* state = window.findChild<QLabel*>(QStringLiteral("state"));
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    const QString waits = QStringLiteral(
        "Building the networks… Training starts when they are ready, unless you press Space.");
    for (int i = 0; i < 2; ++i) {
        QCOMPARE(button->text(), QStringLiteral("Play"));
        QCOMPARE(state->text(), QStringLiteral("Building the networks…"));
        QVERIFY(headline->toolTip().endsWith(QStringLiteral("Press Play.")));
        QTest::keyClick(&window, Qt::Key_Space);
        QCOMPARE(button->text(), QStringLiteral("Pause"));
        QCOMPARE(state->text(), waits);
        QVERIFY(!headline->toolTip().endsWith(QStringLiteral("Press Play.")));
        QTest::mouseClick(button, Qt::LeftButton);
    }
    script.slowBuild = false;
    QVERIFY(reaches(window, SessionState::Ready));
    test::serveEvents(100);
    QCOMPARE(script.steps, int64_t{0});
    QCOMPARE(window.controller().state(), SessionState::Ready);
    // the third time it is not cancelled
    script.slowBuild = true;
    script.building = false;
    window.restart();
    QTRY_VERIFY_WITH_TIMEOUT(script.building, kPatience);
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(state->text(), waits);
    script.slowBuild = false;
    QVERIFY(reaches(window, SessionState::Finished));
    QCOMPARE(script.steps, int64_t{20});
}

/// Nobody is asked to press what was already pressed.
void TestWindowUse::firstStepOfSeconds() {
    FakeScript script;
    script.endless = true;
    Opened opened(tinyConfig(20), played(script));
    MainWindow& window = opened.window;
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QVERIFY(reaches(window, SessionState::Ready));
    QTRY_VERIFY(headline->text().endsWith(QStringLiteral("side by side. Press Play.")));
    window.play();
    QVERIFY(reaches(window, SessionState::Running));
    QTRY_VERIFY2(headline->text().endsWith(QStringLiteral("side by side.")),
                 qPrintable(headline->text()));
    window.pause();
    QVERIFY(reaches(window, SessionState::Paused));
    QTRY_VERIFY(headline->text().endsWith(QStringLiteral("Press Play.")));
}

} // namespace tst_window_use

QTEST_MAIN(tst_window_use::TestWindowUse)
#include "tst_window_use.moc"
