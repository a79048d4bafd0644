// The window as an audience sees it: large, without what only the operator needs, and afterwards as
// it was before.
#include "tests/support/opened_window.h"
#include "tests/support/plot_parts.h"
#include "tests/support/presented_window.h"
#include "tests/support/served_events.h"
#include "tests/support/shown_window.h"
#include "ui/images/compare_view.h"
#include "ui/images/image_view.h"
#include "ui/look/theme.h"
#include "ui/models/event_model.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/figure_strip.h"
#include "ui/panels/scaler_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"

#include <QDockWidget>
#include <QLabel>
#include <QMenuBar>
#include <QRegularExpression>
#include <QScreen>
#include <QSettings>
#include <QSlider>
#include <QSplitter>
#include <QStatusBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <algorithm>

namespace tst_presentation {

using namespace halfscope;

namespace {

/// Returns what can be seen of the window, and where.
QStringList seenIn(const QWidget& window) {
    QStringList seen{QString::number(window.windowState())};
    for (const QWidget* each : window.findChildren<QWidget*>()) {
        if (!each->isVisible() || each->window() != &window) continue;
        const QRect at(each->mapTo(&window, QPoint()), each->size());
        seen << QStringLiteral("%1 %2 %3,%4 %5x%6 %7")
                    .arg(QString::fromLatin1(each->metaObject()->className()), each->objectName())
                    .arg(at.x())
                    .arg(at.y())
                    .arg(at.width())
                    .arg(at.height())
                    .arg(each->font().toString());
    }
    return seen;
}

/// Returns the size of the largest letters in a picture of the plots.
double lettersIn(const QByteArray& svg) {
    static const QRegularExpression kSize(QStringLiteral("font-size=\"([0-9.]+)\""));
    double largest = 0;
    for (auto each = kSize.globalMatch(QString::fromUtf8(svg)); each.hasNext();)
        largest = std::max(largest, each.next().captured(1).toDouble());
    return largest;
}

} // namespace

class TestPresentation : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QLocale::setDefault(QLocale::c());
    }
    void showsWhatAnAudienceReads_data();
    void showsWhatAnAudienceReads();
    void picturesUseTheRoom_data();
    void picturesUseTheRoom();
    void lanesKeepTheirNames_data();
    void lanesKeepTheirNames();
    void noCornerIsEmpty();
    void stepsOfTheScaleAreSeen();
    void eachViewHasItsBorder();
    void followsTheTheme();
    void endsAsItBegan_data();
    void endsAsItBegan();
    void hidesTheLesson();
    void trainsMeanwhile();
    void tellsStateAndPace();
    void showsGradients();
    void isNotRemembered();
    void eventsAreToldWhereOneLooks();
    void theListTellsOfTheSameEvent();
    void saysThatThereAreNoEvents();
    void saysThatThereAreNoMoreEvents();
};

void TestPresentation::showsWhatAnAudienceReads_data() {
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("lanes");
    for (const int lanes : {1, 2, 6}) {
        QTest::addRow("projector at scale 2, %d lanes", lanes) << QSize(960, 540) << lanes;
        QTest::addRow("1280 x 800, %d lanes", lanes) << QSize(1280, 800) << lanes;
        QTest::addRow("1920 x 1080, %d lanes", lanes) << QSize(1920, 1080) << lanes;
    }
}

void TestPresentation::showsWhatAnAudienceReads() {
    QFETCH(QSize, size);
    QFETCH(int, lanes);
    RunConfig config = overflowing(lanes);
    if (lanes == 1) config.lanes.erase(config.lanes.begin());
    Opened opened(config);
    MainWindow& window = opened.window;
    window.resize(size);
    trainTo(window, 40);
    const int before = QFontMetrics(window.plots().font()).height();
    const double lettersBefore = lettersIn(window.plots().svg());
    present(window);
    QVERIFY(window.isFullScreen());
    window.resize(size); // the screen of the tests is smaller
    const int line = QFontMetrics(window.plots().font()).height();
    QVERIFY2(line > 1.15 * before && line * 36 > size.height(), qPrintable(QString::number(line)));
    QCOMPARE(window.menuBar()->height(), 0);
    QCOMPARE(window.statusBar()->height(), 0);
    for (const QWidget* hidden : std::initializer_list<const QWidget*>{
             window.findChild<TransportBar*>(), &window.setup(), window.findChild<ScalerPanel*>(),
             window.findChild<EventPanel*>(), window.plots().findChild<QSlider*>()})
        QVERIFY2(!hidden->isVisible(), hidden->metaObject()->className());
    // nothing is cut off: neither the page nor the figures
    const auto* page = window.findChild<QWidget*>(QStringLiteral("page"));
    QTRY_COMPARE(page->size(), size);
    const auto* pictures = window.findChild<CompareView*>();
    QTRY_VERIFY(pictures->isVisible() && pictures->height() > size.height() / 6);
    QVERIFY(window.plots().height() > size.height() / 3);
    QTRY_VERIFY2(pictures->readout().contains(QStringLiteral("step 40")),
                 qPrintable(pictures->readout()));
    const auto* figures = window.findChild<QLabel*>(QStringLiteral("largeFigures"));
    QTRY_VERIFY2(figuresOf(window).startsWith(QStringLiteral("Step 40")),
                 qPrintable(figuresOf(window)));
    QVERIFY2(figuresOf(window).contains(QStringLiteral("2^11")), qPrintable(figuresOf(window)));
    QVERIFY(figures->sizeHint().width() <= figures->width());
    const double larger = lanes < 6 ? 1.2 : 0.95; // rather than fewer lanes
    QVERIFY(QFontMetrics(figures->font()).height() > larger * line);
    // a picture for slides has large letters, too
    QVERIFY2(lettersIn(window.plots().svg()) > 1.15 * lettersBefore,
             qPrintable(QString::number(lettersBefore)));
    // lines as thick as letters are large
    window.plots().refresh();
    const QString lane = QStringLiteral("Loss/A ") + window.run().lane(0).title;
    const double width = graphNamed(window.plots(), lane)->pen().widthF();
    QVERIFY2(width >= 2 && width > line / 14.0, qPrintable(QString::number(width)));
}

void TestPresentation::picturesUseTheRoom_data() {
    QTest::addColumn<QSize>("size");
    QTest::addColumn<int>("lanes");
    QTest::addColumn<bool>("alone");
    QTest::addColumn<double>("side"); // at least, as a share of the height
    for (const QSize size : {QSize(1280, 800), QSize(1920, 1080)}) {
        const auto row = [size](const char* name, int lanes, bool alone, double side) {
            QTest::addRow("%s at %d", name, size.width()) << size << lanes << alone << side;
        };
        row("1 lane", 1, false, 0.335);
        row("2 lanes", 2, false, 0.35);
        row("3 lanes", 3, false, 0.35);
        row("6 lanes", 6, false, 0);
        row("one picture", 2, true, 0.7);
    }
}

/// A few pictures lie beside the plots, where they are larger; many fill the width above them.
void TestPresentation::picturesUseTheRoom() {
    QFETCH(const QSize, size);
    QFETCH(const int, lanes);
    QFETCH(const bool, alone);
    QFETCH(const double, side);
    RunConfig config = overflowing(lanes);
    if (lanes == 1) config.lanes.erase(config.lanes.begin());
    Opened opened(config);
    MainWindow& window = opened.window;
    trainTo(window, 5);
    present(window);
    window.resize(size);
    auto* pictures = window.findChild<CompareView*>();
    pictures->setAlone(alone);
    const auto sideNow = [&] { return pictures->view(lanes).pictureRect().width(); };
    if (side > 0) {
        QTRY_VERIFY2(sideNow() > side * size.height(), qPrintable(QString::number(sideNow())));
        QVERIFY(window.plots().height() > 0.7 * size.height());
        QVERIFY(window.plots().width() > 0.45 * size.width());
    } else {
        QTRY_VERIFY2((lanes + 1) * sideNow() > 0.85 * size.width(),
                     qPrintable(QString::number(sideNow())));
        QVERIFY(window.plots().width() > 0.95 * size.width());
        QVERIFY(window.plots().height() > 0.4 * size.height());
    }
}

void TestPresentation::lanesKeepTheirNames_data() {
    QTest::addColumn<QSize>("size");
    QTest::newRow("1280 x 800") << QSize(1280, 800);
    QTest::newRow("1920 x 1080") << QSize(1920, 1080);
}

/// Beside the gradients, too, where a picture has little room.
void TestPresentation::lanesKeepTheirNames() {
    QFETCH(const QSize, size);
    RunConfig config = tinyConfig(5);
    config.lanes.clear();
    for (const Precision precision :
         {Precision::Fp32, Precision::AmpFp16, Precision::AmpBf16, Precision::TorchCpuFp16})
        config.lanes.push_back(defaultLane(precision));
    Opened opened(config);
    MainWindow& window = opened.window;
    trainTo(window, 5);
    present(window);
    window.resize(size);
    QTest::keyClick(&window, Qt::Key_G);
    const auto* pictures = window.findChild<CompareView*>();
    QTRY_VERIFY(window.findChild<GradientView*>()->isVisible());
    QTRY_COMPARE(pictures->view(1).shownTitle(), QStringLiteral("B amp-fp16"));
    QCOMPARE(pictures->view(2).shownTitle(), QStringLiteral("C amp-bf16"));
    QCOMPARE(pictures->view(3).shownTitle(), QStringLiteral("D torch-cpu"));
    QVERIFY(pictures->view(3).toolTip().contains(QStringLiteral("torch-cpu-fp16")));
}

/// With three pictures in two rows, the last one stands in the middle of its row.
void TestPresentation::noCornerIsEmpty() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 5);
    present(window);
    window.resize(1280, 800);
    auto* pictures = window.findChild<CompareView*>();
    const auto at = [pictures](int pane) { return pictures->view(pane).geometry(); };
    QTRY_VERIFY(at(0).top() == at(1).top() && at(2).top() > at(1).bottom());
    QCOMPARE(at(2).width(), at(0).width());
    QVERIFY2(std::abs(at(2).height() - at(0).height()) <= 1, // of two rows
             qPrintable(QString::number(at(2).height())));
    const int middle = (at(0).left() + at(1).right()) / 2;
    QVERIFY2(std::abs(at(2).center().x() - middle) <= 2,
             qPrintable(QStringLiteral("%1 %2").arg(at(2).center().x()).arg(middle)));
}

/// Thick lines have thick dashes: they stay shorter than the treads of a falling loss scale.
void TestPresentation::stepsOfTheScaleAreSeen() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 40);
    const QString lane = QStringLiteral("Loss scale/B ") + window.run().lane(1).title;
    const auto pen = [&] {
        window.plots().refresh();
        return graphNamed(window.plots(), lane)->pen();
    };
    const QVector<qreal> usual = pen().dashPattern();
    present(window);
    window.resize(1280, 800);
    QTRY_VERIFY(pen().widthF() >= 2);
    const QVector<qreal> large = pen().dashPattern();
    QCOMPARE(large.size(), usual.size());
    for (int i = 0; i < large.size(); ++i)
        QVERIFY2(large[i] >= 1 && large[i] < 0.7 * usual[i], qPrintable(QString::number(large[i])));
}

void TestPresentation::eachViewHasItsBorder() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    QVERIFY(test::isActive(&window));
    window.resize(1280, 800);
    trainTo(window, 5);
    auto* centre = qobject_cast<QSplitter*>(window.plots().parentWidget());
    const auto moveBorder = [centre](const QPoint& by) {
        QSplitterHandle* handle = centre->handle(1);
        const QPoint from = handle->rect().center();
        QTest::mousePress(handle, Qt::LeftButton, Qt::NoModifier, from);
        QTest::mouseMove(handle, from + by);
        QTest::mouseRelease(handle, Qt::LeftButton, Qt::NoModifier, from + by);
    };
    const int first = centre->sizes()[0];
    moveBorder({0, -60});
    const int byHand = centre->sizes()[0];
    QVERIFY2(byHand <= first - 40, qPrintable(QString::number(byHand)));
    for (int i = 0; i < 2; ++i) { // each presentation places its border anew
        QTest::keyClick(&window, Qt::Key_F5);
        const auto isWide = [&] {
            window.resize(1280, 800); // the screen of the tests is narrower, and comes late
            return centre->orientation() == Qt::Horizontal && centre->sizes()[0] > 550;
        };
        QTRY_VERIFY2(isWide(), qPrintable(QString::number(centre->sizes()[0])));
        if (i > 0) moveBorder({-150, 0});
        QTRY_VERIFY2((centre->sizes()[0] < 500) == (i > 0),
                     qPrintable(QString::number(centre->sizes()[0])));
        QTest::keyClick(&window, Qt::Key_F5);
        window.resize(1280, 800);
        QCOMPARE(centre->orientation(), Qt::Vertical);
        QTRY_COMPARE(centre->sizes()[0], byHand);
    }
}

void TestPresentation::endsAsItBegan_data() {
    QTest::addColumn<QList<int>>("keys");
    QTest::addColumn<int>("leave");
    QTest::newRow("Esc") << QList<int>{} << int{Qt::Key_Escape};
    QTest::newRow("the same key") << QList<int>{} << int{Qt::Key_F5};
    QTest::newRow("without settings") << QList<int>{Qt::Key_F9} << int{Qt::Key_F5};
    QTest::newRow("without both columns")
        << QList<int>{Qt::Key_F7, Qt::Key_F9} << int{Qt::Key_Escape};
    QTest::newRow("with runs") << QList<int>{Qt::Key_F8} << int{Qt::Key_Escape};
    QTest::newRow("full screen") << QList<int>{Qt::Key_F11} << int{Qt::Key_F5};
}

/// Also when nothing trains.
void TestPresentation::followsTheTheme() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 20);
    present(window);
    const auto* figures = window.findChild<QLabel*>(QStringLiteral("largeFigures"));
    for (const Theme theme : {Theme::Dark, Theme::Light}) {
        window.chooseTheme(theme);
        const QString color = colorsFor(QGuiApplication::palette()).laneText(1).name();
        QTRY_VERIFY2(figures->text().contains(color), qPrintable(figures->text() + color));
    }
    QVERIFY2(figuresOf(window).startsWith(QStringLiteral("Step 20")),
             qPrintable(figuresOf(window)));
}

void TestPresentation::endsAsItBegan() {
    QFETCH(QList<int>, keys);
    QFETCH(int, leave);
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    QVERIFY(test::isActive(&window));
    trainTo(window, 20);
    for (const int key : keys)
        QTest::keyClick(&window, static_cast<Qt::Key>(key));
    QSplitter* columns = window.findChild<QSplitter*>();
    QStringList before; // once what the last frames bring is there, however late they are
    for (; before != seenIn(window); test::serveEvents(300))
        before = seenIn(window);
    const QList<int> widths = columns->sizes();
    present(window);
    test::serveEvents(100);
    QVERIFY(seenIn(window) != before);
    QTest::keyClick(&window, static_cast<Qt::Key>(leave));
    QVERIFY(!window.findChild<FigureStrip*>()->isVisible());
    const auto difference = [&] {
        QStringList lines;
        const QStringList now = seenIn(window);
        for (const QString& line : now)
            if (!before.contains(line)) lines << line;
        for (const QString& line : before)
            if (!now.contains(line)) lines << QStringLiteral("was: ") + line;
        return lines.join(u'\n');
    };
    QTRY_VERIFY2(seenIn(window) == before, qPrintable(difference()));
    QCOMPARE(columns->sizes(), widths);
}

/// The lesson is the operator's.
void TestPresentation::hidesTheLesson() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    QVERIFY(test::isActive(&window));
    for (QAction* action : window.findChildren<QAction*>())
        if (action->text() == QLatin1String("First &lesson")) action->trigger();
    const auto* lesson = window.findChild<QDockWidget*>();
    QVERIFY(lesson && lesson->isVisible());
    const int width = lesson->width();
    present(window);
    QVERIFY(!lesson->isVisible());
    QTest::keyClick(&window, Qt::Key_F5);
    QTRY_VERIFY(lesson->isVisible());
    QTRY_COMPARE(lesson->width(), width);
}

/// A presentation disturbs neither the training nor the keys that steer it.
void TestPresentation::trainsMeanwhile() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    QVERIFY(test::isActive(&window));
    QVERIFY(reaches(window, SessionState::Ready));
    window.setStopStep(100000);
    present(window);
    QTest::keyClick(&window, Qt::Key_Space);
    QVERIFY(reaches(window, SessionState::Running));
    QTRY_VERIFY_WITH_TIMEOUT(window.run().step() > 20, kPatience);
    QTRY_VERIFY(figuresOf(window).contains(QStringLiteral("skipped)")));
    QTest::keyClick(&window, Qt::Key_Space);
    QVERIFY(reaches(window, SessionState::Paused));
    int64_t step = 0; // the last rows come with the next frame, however late that is
    for (; step != window.run().step(); test::serveEvents(300))
        step = window.run().step();
    QTest::keyClick(&window, Qt::Key_Period);
    QTRY_COMPARE_WITH_TIMEOUT(window.run().step(), step + 1, kPatience);
    // another lane is set up with the settings, which are hidden now
    QTest::keyClick(&window, Qt::Key_L, Qt::ControlModifier);
    QTRY_VERIFY(window.setup().isVisible());
    QVERIFY(!window.findChild<FigureStrip*>()->isVisible());
    QVERIFY(!window.isFullScreen());
}

/// Playing looks different from pausing, and another pace shows at once.
void TestPresentation::tellsStateAndPace() {
    RunConfig config = overflowing(2);
    config.pace = 5;
    Opened opened(config);
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    window.setStopStep(1000000);
    present(window);
    const auto* state = window.findChild<QLabel*>(QStringLiteral("trainingState"));
    QTRY_COMPARE(state->text(), QStringLiteral("ready, 5 steps/s"));
    QTest::keyClick(&window, Qt::Key_Space);
    QTRY_COMPARE_WITH_TIMEOUT(state->text(), QStringLiteral("5 steps/s"), kPatience);
    QTest::keyClick(&window, Qt::Key_Minus);
    QTRY_COMPARE_WITH_TIMEOUT(state->text(), QStringLiteral("3 steps/s"), kPatience);
    QVERIFY2(!figuresOf(window).contains(u'×'), qPrintable(figuresOf(window)));
    QTest::keyClick(&window, Qt::Key_Space);
    QTRY_COMPARE_WITH_TIMEOUT(state->text(), QStringLiteral("paused, 3 steps/s"), kPatience);
    window.shown().setPace(0);
    QTRY_COMPARE(state->text(), QStringLiteral("paused"));
    QTest::keyClick(&window, Qt::Key_Space);
    QTRY_COMPARE_WITH_TIMEOUT(state->text(), QStringLiteral("full speed"), kPatience);
    QTRY_VERIFY(window.findChild<TransportBar*>()->speedRatio().startsWith(
        QStringLiteral("throughput B/A ×")));
    window.setStopStep(window.run().step() + 1);
    QTRY_COMPARE_WITH_TIMEOUT(state->text(), QStringLiteral("finished"), kPatience);
}

void TestPresentation::showsGradients() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    QVERIFY(test::isActive(&window));
    trainTo(window, 20);
    QTest::keyClick(&window, Qt::Key_F7);
    present(window);
    window.resize(1280, 800);
    QTest::keyClick(&window, Qt::Key_G);
    const GradientView& gradients = window.gradients();
    QTRY_VERIFY(gradients.isVisible() && gradients.width() > 400);
    QVERIFY(!window.findChild<EventPanel*>()->isVisible());
    QVERIFY(gradients.fontMetrics().height() > 1.5 * window.fontMetrics().height());
    QTRY_VERIFY2(gradients.height() > 600, qPrintable(QString::number(gradients.height())));
    window.resize(960, 540); // where no line of the legend may wrap, because the last is cut off
    QTRY_VERIFY(gradients.width() < 420);
    for (const QString& line : gradients.legend().split(u'\n'))
        QVERIFY2(QFontMetrics(gradients.legendFont()).horizontalAdvance(line) <
                     gradients.width() - 16,
                 qPrintable(line));
    window.resize(1280, 800);
    QTest::keyClick(&window, Qt::Key_G);
    QVERIFY(!gradients.isVisible());
    QTRY_VERIFY(window.plots().parentWidget()->width() > 1200);
    // by mouse, on a wall that one can touch
    window.findChild<QToolButton*>(QStringLiteral("leavePresentation"))->click();
    QVERIFY(window.findChild<TransportBar*>()->isVisible());
}

/// The next window starts as one to work in, whatever the last one showed when it was closed.
void TestPresentation::isNotRemembered() {
    QTemporaryDir folder;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder.path());
    WindowOptions options;
    options.remember = true;
    {
        Opened opened(tinyConfig(10), options);
        QVERIFY(reaches(opened.window, SessionState::Ready));
        QVERIFY(test::isActive(&opened.window));
        QTest::keyClick(&opened.window, Qt::Key_F5);
        QVERIFY(opened.window.findChild<FigureStrip*>()->isVisible());
        QVERIFY(opened.window.close()); // before it fills the screen, which is smaller here
    }
    Opened opened(tinyConfig(10), options);
    QVERIFY(!opened.window.isFullScreen());
    opened.window.resize(1280, 800); // newer versions of Qt keep it within the screen, too narrow
                                     // for the settings
    QTRY_VERIFY(opened.window.setup().isVisible());
    QVERIFY(opened.window.findChild<EventPanel*>()->isVisible());
    QVERIFY(opened.window.menuBar()->height() > 0);
}

/// The sentence and the figures are about the step that the plots point at.
void TestPresentation::eventsAreToldWhereOneLooks() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    QVERIFY(test::isActive(&window));
    trainTo(window, 40);
    const auto* headline = window.findChild<QLabel*>(QStringLiteral("headline"));
    QTRY_VERIFY(headline->toolTip().startsWith(QStringLiteral("Finished.")));
    QTableView* table = window.findChild<EventPanel*>()->table();
    const auto& events = *qobject_cast<const EventModel*>(table->model());
    QModelIndex first;
    for (int row = 0; row < events.rowCount(); ++row)
        if (events.eventAt(row).step == 1 && events.eventAt(row).kind == EventKind::Overflow)
            first = events.index(row, EventModel::StepColumn);
    QVERIFY(first.isValid());
    table->scrollTo(first);
    QTest::mouseClick(table->viewport(), Qt::LeftButton, Qt::NoModifier,
                      table->visualRect(first).center());
    QTRY_VERIFY2(headline->toolTip().contains(QStringLiteral("Step 1 skipped")),
                 qPrintable(headline->toolTip()));
    present(window);
    QVERIFY(headline->toolTip().contains(QStringLiteral("Step 1 skipped")));
    QTRY_VERIFY2(figuresOf(window).startsWith(QStringLiteral("Step 1 ")) &&
                     figuresOf(window).contains(QStringLiteral("2^24")),
                 qPrintable(figuresOf(window)));
    // likewise where keys have moved the crosshair, without choosing an event
    QTest::keyClick(&window.plots(), Qt::Key_Right);
    QTRY_VERIFY2(headline->toolTip().contains(QStringLiteral("Step 2 skipped")),
                 qPrintable(headline->toolTip()));
    QTest::keyClick(&window, Qt::Key_E);
    QTRY_VERIFY2(headline->toolTip().contains(QStringLiteral("Step 3 skipped")),
                 qPrintable(headline->toolTip()));
    QTRY_VERIFY(figuresOf(window).startsWith(QStringLiteral("Step 3 ")));
    QTest::keyClick(&window, Qt::Key_E, Qt::ShiftModifier);
    QTRY_VERIFY2(headline->toolTip().contains(QStringLiteral("Step 2 skipped")),
                 qPrintable(headline->toolTip()));
    QTest::keyClick(&window, Qt::Key_F); // to the newest step again
    QTRY_VERIFY(headline->toolTip().startsWith(QStringLiteral("Finished.")));
    QTRY_VERIFY(figuresOf(window).startsWith(QStringLiteral("Step 40")));
}

/// Also where a step was pinned rather than a mark clicked.
void TestPresentation::theListTellsOfTheSameEvent() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 40);
    present(window);
    const QTableView* table = window.findChild<EventPanel*>()->table();
    for (const qint64 step : {1, 2}) {
        window.plots().pinCrosshair(step);
        const QModelIndex chosen = table->currentIndex();
        QVERIFY(chosen.isValid());
        QCOMPARE(chosen.data(EventModel::StepRole).toLongLong(), step);
        QVERIFY(table->selectionModel()->isRowSelected(chosen.row()));
    }
    QTest::keyClick(&window, Qt::Key_F5);
    QTRY_VERIFY(table->isVisible());
    QCOMPARE(table->currentIndex().data(EventModel::StepRole).toLongLong(), qint64{2});
}

void TestPresentation::saysThatThereAreNoEvents() {
    Opened opened(tinyConfig(10));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    present(window);
    QTest::keyClick(&window, Qt::Key_E);
    QTRY_COMPARE(window.statusBar()->currentMessage(), QStringLiteral("No events so far"));
    QVERIFY(window.findChild<QLabel*>(QStringLiteral("presentationMessage"))->isVisible());
}

void TestPresentation::saysThatThereAreNoMoreEvents() {
    Opened opened(overflowing(2));
    MainWindow& window = opened.window;
    trainTo(window, 5);
    present(window);
    window.statusBar()->clearMessage();
    QTest::keyClick(&window, Qt::Key_E, Qt::ShiftModifier); // to the last one
    QTRY_VERIFY(window.plots().eventPointedAt().has_value());
    QCOMPARE(window.statusBar()->currentMessage(), QString());
    QTest::keyClick(&window, Qt::Key_E);
    QTRY_COMPARE(window.statusBar()->currentMessage(),
                 QStringLiteral("No more events in this direction"));
}

} // namespace tst_presentation

QTEST_MAIN(tst_presentation::TestPresentation)
#include "tst_presentation.moc"
