// What the user does with the plots: following and panning, zoom, clicks on events, the crosshair
// by keys and by mouse, and the menu.
#include "tests/support/shown_plots.h"
#include "ui/plots/readout_item.h"
#include "ui/plots/smoothing_box.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QSet>
#include <QSignalSpy>
#include <QToolButton>
#include <QWheelEvent>
#include <QtTest>
#include <qcustomplot.h>

#include <cmath>
#include <set>
#include <utility>

namespace tst_plot_use {

using namespace halfscope;

namespace {

/// Moves the mouse without a shown window and its cursor, which QTest::mouseMove needs.
void moveMouse(QWidget& widget, const QPointF& place, Qt::MouseButtons buttons = Qt::NoButton) {
    QMouseEvent move(QEvent::MouseMove, place, widget.mapToGlobal(place), Qt::NoButton, buttons,
                     Qt::NoModifier);
    QApplication::sendEvent(&widget, &move);
}

} // namespace

class TestPlotUse : public QObject, private ShownPlots {
    Q_OBJECT
private slots:
    void init() { makeStack(); }
    void followsUntilTheUserMoves();
    void dragPansAllPlots();
    void resetZoom();
    void headersTellTheLastStepInView();
    void zoomHasLimits();
    void missingStepsTakeNoRoom();
    void eventClick();
    void nearestEventIsClicked();
    void growthIsSeenBesideItsOverflow();
    void lostLossIsSeenBesideItsSkip();
    void pinsHaveAWayBack();
    void trainingShowsTheNewestStep();
    void eventsAreReachedByKeys();
    void crosshairByKeys();
    void crosshairByMouse();
    void pinStaysInSight();
    void onlyStepsThatExist();
    void contextMenu();
    void menuOutlivesItsKey();
};

void TestPlotUse::followsUntilTheUserMoves() {
    for (int i = 1; i <= 1000; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    QVERIFY(m_stack->following());
    QVERIFY(m_stack->firstVisibleStep() <= 1 && m_stack->lastVisibleStep() >= 1000);
    QSignalSpy changed(m_stack.get(), &PlotStack::followChanged);
    auto* live = m_stack->findChild<QToolButton*>(QStringLiteral("toNewestStep"));
    QVERIFY(!live->isVisible());

    QCustomPlot& plot = plotOf(*m_stack);
    const QPoint place = at(500, QStringLiteral("Loss/A fp32"));
    QWheelEvent wheel(place, plot.mapToGlobal(place), {}, {0, 120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&plot, &wheel);
    QVERIFY(!m_stack->following());
    QCOMPARE(changed.count(), 1);
    QVERIFY(live->isVisible());
    // in the header: it covers neither curves nor the slider
    const QCPAxisRect* rect =
        graphNamed(*m_stack, QStringLiteral("Loss/A fp32"))->keyAxis()->axisRect();
    QVERIFY2(live->geometry().bottom() <= plot.y() + rect->top(),
             qPrintable(QString::number(live->geometry().bottom())));
    const auto* slider = m_stack->findChild<SmoothingBox*>();
    QVERIFY(slider->isHidden() || !live->geometry().intersects(slider->geometry()));
    // the step under the pointer stays there, within the pixel that it was rounded to
    const double width = m_stack->lastVisibleStep() - m_stack->firstVisibleStep();
    QVERIFY(width < 1000);
    draw();
    QVERIFY(std::abs(at(500, QStringLiteral("Loss/A fp32")).x() - place.x()) <= 1);

    const double last = m_stack->lastVisibleStep();
    for (int i = 1001; i <= 2000; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    draw();
    QCOMPARE(m_stack->lastVisibleStep(), last); // it does not move
    live->click();
    draw();
    QVERIFY(m_stack->following() && !live->isVisible());
    QVERIFY(m_stack->lastVisibleStep() >= 2000);
}

void TestPlotUse::dragPansAllPlots() {
    for (int i = 1; i <= 1000; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    m_stack->showStep(500);
    for (int i = 0; i < 6; ++i)
        QTest::keyClick(m_stack.get(), Qt::Key_Plus);
    draw();
    const double before = m_stack->firstVisibleStep();
    QCustomPlot& plot = plotOf(*m_stack);
    const QPoint start = at(500, QStringLiteral("Loss/A fp32"));
    const auto pinned = m_stack->crosshair();
    QTest::mousePress(&plot, Qt::LeftButton, {}, start);
    moveMouse(plot, start + QPoint(60, 0), Qt::LeftButton);
    QTest::mouseRelease(&plot, Qt::LeftButton, {}, start + QPoint(60, 0));
    QVERIFY(m_stack->firstVisibleStep() < before);
    QCOMPARE(m_stack->crosshair(), pinned); // a drag is no click
    draw();
    for (int i = 0; i < plot.axisRectCount(); ++i)
        QCOMPARE(plot.axisRect(i)->axis(QCPAxis::atBottom)->range(),
                 QCPRange(m_stack->firstVisibleStep(), m_stack->lastVisibleStep()));
    QTest::mouseClick(&plot, Qt::LeftButton, {}, start);
    QVERIFY(m_stack->crosshair() != pinned);
}

/// What is drawn and what is written belong together, in the window and in a picture of it.
void TestPlotUse::headersTellTheLastStepInView() {
    for (int i = 1; i <= 1000; ++i)
        m_stack->append(0, record(i, 0, static_cast<float>(i)));
    show();
    const auto loss = [this] {
        for (int i = 0; i < plotOf(*m_stack).itemCount(); ++i)
            if (auto* readout = dynamic_cast<ReadoutItem*>(plotOf(*m_stack).item(i)))
                return readout->entries().value(0).value;
        return QString();
    };
    QCOMPARE(m_stack->readStep(), std::nullopt);
    QVERIFY2(loss().startsWith(QStringLiteral("1,000")), qPrintable(loss()));
    m_stack->showStep(500);
    for (int i = 0; i < 6; ++i)
        QTest::keyClick(m_stack.get(), Qt::Key_Plus);
    QCOMPARE(m_stack->readStep(), std::optional<qint64>(500)); // the crosshair's
    m_stack->pinCrosshair(std::nullopt);
    draw();
    const auto last = static_cast<qint64>(m_stack->lastVisibleStep());
    QVERIFY(last > 500 && last < 900);
    QCOMPARE(m_stack->readStep(), std::optional(last));
    QVERIFY2(loss().startsWith(QString::number(last)), qPrintable(loss()));
    m_stack->setFollow(true);
    draw();
    QVERIFY2(loss().startsWith(QStringLiteral("1,000")), qPrintable(loss()));
}

void TestPlotUse::resetZoom() {
    for (int i = 1; i <= 1000; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    m_stack->showStep(100);
    QVERIFY(m_stack->following()); // all steps are in view
    QTest::keyClick(m_stack.get(), Qt::Key_Plus);
    QVERIFY(!m_stack->following());
    draw();
    QTest::mouseDClick(&plotOf(*m_stack), Qt::LeftButton, {},
                       at(100, QStringLiteral("Loss/A fp32")));
    QVERIFY(m_stack->following());
    QVERIFY(m_stack->lastVisibleStep() >= 1000);
}

void TestPlotUse::zoomHasLimits() {
    for (int i = 1; i <= 100; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    for (int i = 0; i < 200; ++i)
        QTest::keyClick(m_stack.get(), Qt::Key_Plus);
    QVERIFY(m_stack->lastVisibleStep() - m_stack->firstVisibleStep() >= 1);
    for (int i = 0; i < 200; ++i)
        QTest::keyClick(m_stack.get(), Qt::Key_Minus);
    QVERIFY(m_stack->lastVisibleStep() - m_stack->firstVisibleStep() <= 110);
    draw();
}

/// A run that goes on from a checkpoint without the rows before it.
void TestPlotUse::missingStepsTakeNoRoom() {
    for (int i = 5001; i <= 5100; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    const auto width = [this] { return m_stack->lastVisibleStep() - m_stack->firstVisibleStep(); };
    QVERIFY(m_stack->firstVisibleStep() < 5001 && m_stack->lastVisibleStep() > 5100);
    QVERIFY2(width() < 1.2 * 100, qPrintable(QString::number(width())));
    for (int i = 0; i < 20; ++i)
        QTest::keyClick(m_stack.get(), Qt::Key_Minus);
    QVERIFY2(width() < 1.3 * 100, qPrintable(QString::number(width())));
    m_stack->addEvent(eventOf(EventKind::Growth, 4990, 0)); // is seen, too
    m_stack->setFollow(true);
    draw();
    QVERIFY(m_stack->firstVisibleStep() < 4990 && m_stack->lastVisibleStep() > 5100);
}

void TestPlotUse::eventClick() {
    m_stack->append(1, record(1000, 1, 0.1f));
    m_stack->addEvent(eventOf(EventKind::Growth, 200, 1));
    m_stack->addEvent(eventOf(EventKind::Overflow, 700, 1, "Step 700 skipped"));
    show();
    const QString name = QLatin1String(nameOf(EventKind::Overflow)) + QStringLiteral("/B");
    const QCPGraph* graph = graphNamed(*m_stack, name);
    const QPoint mark(at(700, name).x(), static_cast<int>(graph->valueAxis()->coordToPixel(
                                             graph->data()->at(0)->value)));
    QSignalSpy events(m_stack.get(), &PlotStack::eventClicked);
    QTest::mouseClick(&plotOf(*m_stack), Qt::LeftButton, {}, mark + QPoint(2, 2));
    QCOMPARE(events.count(), 1);
    QCOMPARE(events[0][0].toInt(), 1);
    QCOMPARE(m_stack->crosshair().value_or(-1), 700);
    QTest::mouseClick(&plotOf(*m_stack), Qt::LeftButton, {}, mark + QPoint(40, 0));
    QCOMPARE(events.count(), 1);
    QVERIFY(m_stack->crosshair().value_or(0) > 700);
}

/// Of several marks within reach, the nearest is clicked.
void TestPlotUse::nearestEventIsClicked() {
    m_stack->append(1, record(1000, 1, 0.1f));
    const std::pair<EventKind, int> marks[] = {
        {EventKind::Growth, 694}, {EventKind::Overflow, 700}, {EventKind::Edit, 706}};
    for (const auto& [kind, step] : marks)
        m_stack->addEvent(eventOf(kind, step, 1));
    show();
    QSignalSpy events(m_stack.get(), &PlotStack::eventClicked);
    for (int i = 0; i < 3; ++i) {
        const QString name = QLatin1String(nameOf(marks[i].first)) + QStringLiteral("/B");
        const QCPGraph* graph = graphNamed(*m_stack, name);
        const QPoint mark(
            at(marks[i].second, name).x(),
            static_cast<int>(graph->valueAxis()->coordToPixel(graph->data()->at(0)->value)));
        QTest::mouseClick(&plotOf(*m_stack), Qt::LeftButton, {}, mark);
        QCOMPARE(events.count(), i + 1);
        QCOMPARE(events.back()[0].toInt(), i);
    }
}

/// The overflow comes a step after the growth that caused it, less than a pixel to the right.
void TestPlotUse::growthIsSeenBesideItsOverflow() {
    for (int i = 1; i <= 2000; ++i)
        m_stack->append(1, record(i, 1, 0.1f));
    m_stack->addEvent(eventOf(EventKind::Growth, 1000, 1));
    m_stack->addEvent(eventOf(EventKind::Overflow, 1001, 1));
    show();
    const QCPAxisRect* rows =
        graphNamed(*m_stack, QLatin1String(nameOf(EventKind::Growth)) + QStringLiteral("/B"))
            ->keyAxis()
            ->axisRect();
    const QImage image = plotOf(*m_stack).toPixmap().toImage();
    const Colors colors = colorsFor(m_stack->palette());
    const auto height = [&](const QColor& color) { // of its pixels' middle, downwards
        double sum = 0;
        int count = 0;
        for (int y = rows->top(); y <= rows->bottom(); ++y)
            for (int x = rows->left(); x <= rows->right(); ++x)
                if (image.pixel(x, y) == color.rgb()) {
                    sum += y;
                    ++count;
                }
        return count < 10 ? std::nan("") : sum / count; // a triangle has about 45
    };
    // at the same place, only the lower corners of the green one would be seen
    QVERIFY2(
        height(colors.error) - height(colors.good) >= 3,
        qPrintable(QStringLiteral("%1 %2").arg(height(colors.good)).arg(height(colors.error))));
}

/// A batch with nan loses the loss and is skipped in the same step: the diamond leaves much of the
/// triangle in sight, and a key passes both at once.
void TestPlotUse::lostLossIsSeenBesideItsSkip() {
    for (int i = 1; i <= 2000; ++i)
        m_stack->append(1, record(i, 1, 0.1f));
    m_stack->addEvent(eventOf(EventKind::Overflow, 500, 1));
    for (const EventKind kind : {EventKind::Overflow, EventKind::Backoff, EventKind::LossNotFinite})
        m_stack->addEvent(eventOf(kind, 1500, 1));
    m_stack->addEvent(eventOf(EventKind::Edit, 1800, 1));
    show();
    const QCPAxisRect* rows =
        graphNamed(*m_stack, QLatin1String(nameOf(EventKind::Overflow)) + QStringLiteral("/B"))
            ->keyAxis()
            ->axisRect();
    const QImage image = plotOf(*m_stack).toPixmap().toImage();
    const Colors colors = colorsFor(m_stack->palette());
    int alone = 0, beside = 0, lost = 0; // pixels of the two triangles, and of the diamond
    for (int y = rows->top(); y <= rows->bottom(); ++y)
        for (int x = rows->left(); x <= rows->right(); ++x) {
            const bool right = x > rows->center().x();
            if (image.pixel(x, y) == colors.error.rgb()) ++(right ? beside : alone);
            if (right && image.pixel(x, y) == colors.text.rgb()) ++lost;
        }
    QVERIFY2(alone > 20 && beside > 0.9 * alone && lost > 10,
             qPrintable(QStringLiteral("%1 %2 %3").arg(alone).arg(beside).arg(lost)));
    for (const qint64 step : {500, 1500, 1800}) {
        m_stack->goToEvent(true);
        QCOMPARE(m_stack->pinnedStep(), std::optional<qint64>(step));
    }
}

/// Whatever pinned the crosshair, the headers stay at its step until a button leads back.
void TestPlotUse::pinsHaveAWayBack() {
    m_stack->append(1, record(1000, 1, 0.1f));
    m_stack->addEvent(eventOf(EventKind::Overflow, 700, 1));
    show();
    auto* live = m_stack->findChild<QToolButton*>();
    QVERIFY(m_stack->following() && !live->isVisible());
    m_stack->goToEvent(true);
    QVERIFY(m_stack->following() && live->isVisible());
    live->click();
    QVERIFY(!live->isVisible() && !m_stack->crosshair() && m_stack->following());
    const QString name = QLatin1String(nameOf(EventKind::Overflow)) + QStringLiteral("/B");
    const QCPGraph* graph = graphNamed(*m_stack, name);
    QTest::mouseClick(&plotOf(*m_stack), Qt::LeftButton, {},
                      QPoint(at(700, name).x(), static_cast<int>(graph->valueAxis()->coordToPixel(
                                                    graph->data()->at(0)->value))));
    QVERIFY(m_stack->pinnedStep() && live->isVisible());
    m_stack->pinCrosshair(std::nullopt);
    QVERIFY(!live->isVisible());
}

void TestPlotUse::trainingShowsTheNewestStep() {
    for (int i = 1; i <= 1000; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    m_stack->pinCrosshair(700);
    m_stack->trainingStarts();
    QVERIFY(!m_stack->crosshair() && !m_stack->pinnedStep());
    m_stack->showStep(700); // the list of events leads there as the mark does
    QCOMPARE(m_stack->pinnedStep(), std::optional<qint64>(700));
    m_stack->trainingStarts();
    QVERIFY(!m_stack->crosshair() && m_stack->following());
    m_stack->showStep(700);
    QTest::keyClick(m_stack.get(), Qt::Key_Plus); // a part of the run, which the user looks at
    m_stack->trainingStarts();
    QCOMPARE(m_stack->pinnedStep(), std::optional<qint64>(700));
}

/// From one step with events to the next, whatever lane they are of and in view or not; of several
/// at a step, the one whose mark is seen is told.
void TestPlotUse::eventsAreReachedByKeys() {
    m_stack->goToEvent(true); // nothing there yet
    QVERIFY(!m_stack->crosshair());
    m_stack->append(1, record(1000, 1, 0.1f));
    m_stack->addEvent(eventOf(EventKind::Growth, 200, 0));
    m_stack->addEvent(eventOf(EventKind::Growth, 700, 0));
    m_stack->addEvent(eventOf(EventKind::Overflow, 700, 1));
    m_stack->addEvent(eventOf(EventKind::Edit, 900, 1));
    show();
    QSignalSpy events(m_stack.get(), &PlotStack::eventClicked);
    const auto goes = [&](bool forward) {
        m_stack->goToEvent(forward);
        return std::pair(m_stack->pinnedStep().value_or(-1),
                         m_stack->eventPointedAt().value_or(-1));
    };
    using At = std::pair<qint64, int>;
    QCOMPARE(goes(true), At(200, 0));
    QCOMPARE(goes(true), At(700, 2));
    QCOMPARE(goes(true), At(900, 3));
    QCOMPARE(goes(true), At(900, 3)); // the last one
    QCOMPARE(events.count(), 3);
    QCOMPARE(events[1][0].toInt(), 2);
    m_stack->showStep(950);
    QVERIFY(!m_stack->eventPointedAt());
    for (int i = 0; i < 8; ++i)
        QTest::keyClick(m_stack.get(), Qt::Key_Plus);
    QVERIFY(m_stack->firstVisibleStep() > 700);
    QCOMPARE(goes(false), At(900, 3));
    QCOMPARE(goes(false), At(700, 2));
    QVERIFY(m_stack->firstVisibleStep() < 700 && m_stack->lastVisibleStep() > 700);
    m_stack->setFollow(true);
    QCOMPARE(goes(false), At(900, 3)); // without a crosshair, the last one
}

void TestPlotUse::crosshairByKeys() {
    QTest::keyClick(m_stack.get(), Qt::Key_Left); // nothing there yet: no crash, no crosshair
    QVERIFY(!m_stack->crosshair());
    for (int i = 1; i <= 300; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    const auto press = [this](Qt::Key key, Qt::KeyboardModifiers modifiers = {}) {
        QTest::keyClick(m_stack.get(), key, modifiers);
        return m_stack->crosshair().value_or(-1);
    };
    QCOMPARE(press(Qt::Key_Left), 299);
    QCOMPARE(press(Qt::Key_Right), 300);
    QCOMPARE(press(Qt::Key_Right), 300); // not beyond the newest
    QCOMPARE(press(Qt::Key_Left, Qt::ShiftModifier), 297);
    QCOMPARE(press(Qt::Key_Home), 1);
    QCOMPARE(press(Qt::Key_Left), 1);
    QCOMPARE(press(Qt::Key_End), 300);
    QCOMPARE(press(Qt::Key_Return), 300);
    leave();
    QCOMPARE(m_stack->crosshair().value_or(-1), qint64(300)); // pinned
    QCOMPARE(press(Qt::Key_Escape), -1);
}

void TestPlotUse::crosshairByMouse() {
    for (int i = 1; i <= 300; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    QCustomPlot& plot = plotOf(*m_stack);
    const QString rate = QStringLiteral("Throughput (steps/s)/A fp32");
    const auto near = [this](qint64 step) {
        return std::abs(m_stack->crosshair().value_or(-10) - step) <= 1;
    };
    moveMouse(plot, at(150, rate));
    QVERIFY(near(150));
    leave();
    QVERIFY(!m_stack->crosshair());
    QTest::mouseClick(&plot, Qt::LeftButton, {}, at(200, rate)); // pins it
    QVERIFY(near(200));
    moveMouse(plot, at(50, rate));
    QVERIFY(near(50));
    leave();
    QVERIFY(near(200));
    QTest::mouseClick(&plot, Qt::LeftButton, {}, at(200, rate)); // a second click removes the pin
    QVERIFY(!m_stack->crosshair());
    m_stack->showStep(100);
    leave();
    QVERIFY(near(100));
    m_stack->setFollow(true);
    QVERIFY(!m_stack->crosshair());
}

/// While the pointer reads another step, the pinned one keeps a line, told apart by dashes.
void TestPlotUse::pinStaysInSight() {
    for (int i = 1; i <= 300; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    QCustomPlot& plot = plotOf(*m_stack);
    const QString rate = QStringLiteral("Throughput (steps/s)/A fp32");
    const auto lines = [&plot](Qt::PenStyle style) { // the steps where they stand
        std::set<qint64> steps;
        for (int i = 0; i < plot.itemCount(); ++i)
            if (const auto* line = qobject_cast<QCPItemStraightLine*>(plot.item(i));
                line && line->visible() && line->pen().style() == style)
                steps.insert(std::llround(line->point1->coords().x()));
        return steps;
    };
    const auto tags = [&plot] {
        QSet<QString> texts;
        for (int i = 0; i < plot.itemCount(); ++i)
            if (const auto* tag = qobject_cast<QCPItemText*>(plot.item(i)); tag && tag->visible())
                texts << tag->text();
        return texts;
    };
    using Steps = std::set<qint64>;
    m_stack->pinCrosshair(200);
    QCOMPARE(lines(Qt::SolidLine), Steps{200});
    QCOMPARE(lines(Qt::CustomDashLine), Steps{});
    moveMouse(plot, at(50, rate));
    const qint64 read = m_stack->crosshair().value_or(0);
    QVERIFY(std::abs(read - 50) <= 1);
    QCOMPARE(lines(Qt::SolidLine), Steps{200});
    QCOMPARE(lines(Qt::CustomDashLine), Steps{read});
    QVERIFY(tags().contains(QStringLiteral("200")) && tags().contains(QString::number(read)));
    leave(); // the figures are those of the pinned step again
    QCOMPARE(m_stack->readStep(), std::optional<qint64>(200));
    QCOMPARE(lines(Qt::SolidLine), Steps{200});
    QCOMPARE(lines(Qt::CustomDashLine), Steps{});
    m_stack->pinCrosshair(std::nullopt);
    moveMouse(plot, at(80, rate));
    QCOMPARE(lines(Qt::CustomDashLine), Steps{}); // without a pin, the line is as ever
    QCOMPARE(lines(Qt::SolidLine).size(), size_t{1});
}

/// Neither a drag nor the wheel shows more of the empty space before and behind the run than
/// following does.
void TestPlotUse::onlyStepsThatExist() {
    for (int i = 1; i <= 160; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    QCustomPlot& plot = plotOf(*m_stack);
    const double first = m_stack->firstVisibleStep(), last = m_stack->lastVisibleStep();
    QVERIFY(first > -10 && last < 170);
    const QPoint start = at(80, QStringLiteral("Loss/A fp32"));
    const auto drag = [&](int pixels) {
        QTest::mousePress(&plot, Qt::LeftButton, {}, start);
        moveMouse(plot, start + QPoint(pixels, 0), Qt::LeftButton);
        QTest::mouseRelease(&plot, Qt::LeftButton, {}, start + QPoint(pixels, 0));
    };
    const auto stays = [&] {
        return m_stack->firstVisibleStep() >= first - 1e-6 &&
               m_stack->lastVisibleStep() <= last + 1e-6;
    };
    for (const int pixels : {250, -250}) {
        drag(pixels);
        QVERIFY2(stays(), qPrintable(QString::number(m_stack->firstVisibleStep())));
    }
    QWheelEvent wheel(start, plot.mapToGlobal(start), {}, {0, -480}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&plot, &wheel);
    QVERIFY2(stays(), qPrintable(QString::number(m_stack->lastVisibleStep())));
    m_stack->showStep(150); // a part of the run, from which the end can be reached
    for (int i = 0; i < 10; ++i)
        QTest::keyClick(m_stack.get(), Qt::Key_Plus);
    QVERIFY(m_stack->lastVisibleStep() < 160);
    drag(-250);
    drag(-250);
    QVERIFY(m_stack->lastVisibleStep() > 160 && stays());
    const double width = m_stack->lastVisibleStep() - m_stack->firstVisibleStep();
    QVERIFY2(m_stack->lastVisibleStep() - 160 < 0.05 * width, "about the room of a mark");
}

void TestPlotUse::contextMenu() {
    show();
    QSignalSpy saves(m_stack.get(), &PlotStack::saveRequested);
    QCustomPlot& plot = plotOf(*m_stack);
    for (QWidget* asked : {static_cast<QWidget*>(&plot), static_cast<QWidget*>(m_stack.get())}) {
        const QPoint place = asked->rect().center(); // by the mouse, by the menu key
        QContextMenuEvent event(QContextMenuEvent::Mouse, place, asked->mapToGlobal(place));
        QApplication::sendEvent(asked, &event);
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu);
        for (QAction* action : menu->actions())
            if (action->text() == QStringLiteral("Save picture of the plots…")) action->trigger();
        menu->close();
    }
    QTRY_COMPARE(saves.count(), 2);
}

/// What an entry asks for may open a dialog or write a file, and the closed menu is deleted
/// meanwhile: the key that chose the entry must have been dealt with by then.
void TestPlotUse::menuOutlivesItsKey() {
    show();
    QSignalSpy saves(m_stack.get(), &PlotStack::saveRequested);
    const QPoint place = m_stack->rect().center();
    QContextMenuEvent event(QContextMenuEvent::Keyboard, place, m_stack->mapToGlobal(place));
    QApplication::sendEvent(m_stack.get(), &event);
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    QVERIFY(menu);
    for (QAction* action : menu->actions())
        if (action->text() == QStringLiteral("Save picture of the plots…"))
            menu->setActiveAction(action);
    QTest::keyPress(menu, Qt::Key_Return);
    QCOMPARE(saves.count(), 0);
    QTRY_COMPARE(saves.count(), 1);
}

} // namespace tst_plot_use

QTEST_MAIN(tst_plot_use::TestPlotUse)
#include "tst_plot_use.moc"
