// The plots: nothing that is not finite reaches a line, axes stay sane, following and panning,
// events, crosshair, keys, export and themes. How they are laid out: tst_plot_layout.
#include "tests/support/plot_parts.h"

#include <QAccessible>
#include <QApplication>
#include <QContextMenuEvent>
#include <QFile>
#include <QMenu>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>
#include <QWheelEvent>
#include <QtTest>
#include <qcustomplot.h>

#include <cmath>
#include <limits>

using namespace halfscope;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

QCPRange yRange(const PlotStack& stack, const QString& graph) {
    return graphNamed(stack, graph)->valueAxis()->range();
}

bool hasPixel(const QImage& image, const QRect& area, QRgb color) {
    const QRect within = area & image.rect();
    for (int y = within.top(); y <= within.bottom(); ++y)
        for (int x = within.left(); x <= within.right(); ++x)
            if (image.pixel(x, y) == color) return true;
    return false;
}

/// QTest::mouseMove needs a shown window and its cursor; this does not.
void moveMouse(QWidget& widget, const QPointF& place, Qt::MouseButtons buttons = Qt::NoButton) {
    QMouseEvent move(QEvent::MouseMove, place, widget.mapToGlobal(place), Qt::NoButton, buttons,
                     Qt::NoModifier);
    QApplication::sendEvent(&widget, &move);
}

} // namespace

class TestPlots : public QObject {
    Q_OBJECT
private slots:
    void init();
    void lossesThatAreNotFinite_data();
    void lossesThatAreNotFinite();
    void scaleRange_data();
    void scaleRange();
    void followsUntilTheUserMoves();
    void dragPansAllPlots();
    void resetZoom();
    void zoomHasLimits();
    void eventMarks();
    void thousandsOfEvents();
    void eventClick();
    void nearestEventIsClicked();
    void levelStretchKeepsItsEnds();
    void crosshairByKeys();
    void crosshairByMouse();
    void spokenDescription();
    void cheapWhenNothingChanged();
    void recordsOfUnknownLanes();
    void contextMenu();
    void clearing();
    void exports();
    void themesRecolourEverything();

private:
    /// Shown, with layout done.
    void show(int width = 700, int height = 420);
    void draw();
    QPoint at(double step, const QString& graph) const;
    /// The pointer leaves the plots.
    void leave();
    std::unique_ptr<PlotStack> m_stack;
};

void TestPlots::init() {
    m_stack = std::make_unique<PlotStack>();
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")});
}

void TestPlots::show(int width, int height) {
    m_stack->resize(width, height);
    m_stack->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_stack.get()));
    draw();
}

void TestPlots::draw() {
    m_stack->refresh();
    plotOf(*m_stack).replot(QCustomPlot::rpImmediateRefresh);
}

/// The place of a step in the QCustomPlot, in the middle of a graph's plot.
QPoint TestPlots::at(double step, const QString& graph) const {
    const QCPGraph* g = graphNamed(*m_stack, graph);
    return {static_cast<int>(std::lround(g->keyAxis()->coordToPixel(step))),
            g->keyAxis()->axisRect()->center().y()};
}

void TestPlots::leave() {
    QEvent event(QEvent::Leave);
    QApplication::sendEvent(&plotOf(*m_stack), &event);
}

void TestPlots::lossesThatAreNotFinite_data() {
    QTest::addColumn<QVector<float>>("losses");
    QTest::newRow("nan first of every pixel") << QVector<float>{kNan, 0.5f, 0.4f, 0.3f};
    QTest::newRow("inf") << QVector<float>{0.5f, kInf, 0.25f, -kInf};
    QTest::newRow("zero and below") << QVector<float>{0.5f, 0.0f, -1.0f, 0.25f};
    QTest::newRow("only nan") << QVector<float>{kNan, kNan};
    QTest::newRow("only zero") << QVector<float>{0.0f};
    QTest::newRow("constant") << QVector<float>{0.25f};
    QTest::newRow("smallest subnormal to largest") << QVector<float>{
        std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()};
}

void TestPlots::lossesThatAreNotFinite() {
    QFETCH(QVector<float>, losses);
    for (int i = 0; i < 5000; ++i)
        m_stack->append(1, record(i + 1, 1, losses[i % losses.size()]));
    show();
    const QCPGraph* graph = graphNamed(*m_stack, QStringLiteral("Loss/B amp-fp16"));
    QVERIFY(graph);
    const QCPRange range = graph->valueAxis()->range();
    QVERIFY2(std::isfinite(range.lower) && range.lower > 0,
             qPrintable(QString::number(range.lower)));
    QVERIFY2(std::isfinite(range.upper) && range.upper > range.lower,
             qPrintable(QString::number(range.upper)));
    // the range hugs what can be drawn: 6 % of its span, or 0.02 decades, to each side
    double low = 0, high = 0;
    for (const float loss : losses)
        if (std::isfinite(loss) && loss > 0) {
            low = low > 0 ? std::min(low, double(loss)) : double(loss);
            high = std::max(high, double(loss));
        }
    if (low > 0) {
        const double pad = std::max(0.06 * std::log10(high / low), 0.02) + 1e-9;
        QVERIFY(std::log10(low) - std::log10(range.lower) <= pad);
        QVERIFY(std::log10(range.upper) - std::log10(high) <= pad);
    }
    int drawn = 0;
    for (const auto& point : *graph->data()) {
        QVERIFY(std::isfinite(point.key) && std::isfinite(point.value) && point.value > 0);
        QVERIFY(point.value >= range.lower && point.value <= range.upper);
        ++drawn;
    }
    const auto finite =
        std::count_if(losses.begin(), losses.end(), [](float v) { return std::isfinite(v); });
    QCOMPARE(drawn > 0, finite > 0);
}

void TestPlots::scaleRange_data() {
    QTest::addColumn<QVector<float>>("scales");
    QTest::addColumn<double>("inside");
    QTest::addColumn<double>("outside");
    QTest::newRow("staircase") << QVector<float>{65536, 131072, 65536} << 131072.0 << 1.0;
    QTest::newRow("constant") << QVector<float>{1024} << 1024.0 << 16.0;
    QTest::newRow("off") << QVector<float>{1} << 1.0 << 16.0;
    QTest::newRow("below one") << QVector<float>{1, 0.5f, 0.0625f} << 0.0625 << 64.0;
    QTest::newRow("zero") << QVector<float>{4, 0} << 4.0 << 1024.0;
}

void TestPlots::scaleRange() {
    QFETCH(QVector<float>, scales);
    QFETCH(double, inside);
    QFETCH(double, outside);
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {false, true});
    for (int i = 0; i < 300; ++i) {
        m_stack->append(0, record(i + 1, 0, 0.1f, 1)); // FP32 has no scale
        m_stack->append(1, record(i + 1, 1, 0.1f, scales[i % scales.size()]));
    }
    show();
    const QCPRange range = yRange(*m_stack, QStringLiteral("Loss scale/B amp-fp16"));
    QVERIFY(range.lower > 0 && std::isfinite(range.upper));
    QVERIFY(range.contains(inside));
    QVERIFY(!range.contains(outside));
    QVERIFY(range.upper / range.lower >= 4 * (1 - 1e-12)); // two octaves
}

void TestPlots::followsUntilTheUserMoves() {
    for (int i = 1; i <= 1000; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    QVERIFY(m_stack->following());
    QVERIFY(m_stack->firstVisibleStep() <= 1 && m_stack->lastVisibleStep() >= 1000);
    QSignalSpy changed(m_stack.get(), &PlotStack::followChanged);
    auto* live = m_stack->findChild<QToolButton*>();
    QVERIFY(!live->isVisible());

    QCustomPlot& plot = plotOf(*m_stack);
    const QPoint place = at(500, QStringLiteral("Loss/A fp32"));
    QWheelEvent wheel(place, plot.mapToGlobal(place), {}, {0, 120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&plot, &wheel);
    QVERIFY(!m_stack->following());
    QCOMPARE(changed.count(), 1);
    QVERIFY(live->isVisible());
    // the step under the pointer stays there, within the pixel that it was rounded to
    const double width = m_stack->lastVisibleStep() - m_stack->firstVisibleStep();
    QVERIFY(width < 1000);
    draw();
    QVERIFY(std::abs(at(500, QStringLiteral("Loss/A fp32")).x() - place.x()) <= 1);

    const double last = m_stack->lastVisibleStep();
    for (int i = 1001; i <= 2000; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    draw();
    QCOMPARE(m_stack->lastVisibleStep(), last); // stays put
    live->click();
    draw();
    QVERIFY(m_stack->following() && !live->isVisible());
    QVERIFY(m_stack->lastVisibleStep() >= 2000);
}

void TestPlots::dragPansAllPlots() {
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

void TestPlots::resetZoom() {
    for (int i = 1; i <= 1000; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    m_stack->showStep(100);
    QVERIFY(!m_stack->following());
    QTest::mouseDClick(&plotOf(*m_stack), Qt::LeftButton, {},
                       at(100, QStringLiteral("Loss/A fp32")));
    QVERIFY(m_stack->following());
    QVERIFY(m_stack->lastVisibleStep() >= 1000);
}

void TestPlots::zoomHasLimits() {
    for (int i = 1; i <= 100; ++i)
        m_stack->append(0, record(i, 0, 0.1f));
    show();
    for (int i = 0; i < 200; ++i)
        QTest::keyClick(m_stack.get(), Qt::Key_Plus);
    QVERIFY(m_stack->lastVisibleStep() - m_stack->firstVisibleStep() >= 1);
    for (int i = 0; i < 200; ++i)
        QTest::keyClick(m_stack.get(), Qt::Key_Minus);
    QVERIFY(m_stack->lastVisibleStep() - m_stack->firstVisibleStep() <= 200);
    draw();
}

void TestPlots::eventMarks() {
    show();
    for (const bool backoffFirst : {false, true}) {
        m_stack->clear();
        m_stack->append(1, record(100, 1, 0.1f));
        m_stack->addEvent(eventOf(backoffFirst ? EventKind::Backoff : EventKind::Overflow, 10, 1));
        m_stack->addEvent(eventOf(backoffFirst ? EventKind::Overflow : EventKind::Backoff, 10, 1));
        m_stack->addEvent(eventOf(EventKind::Backoff, 20, 1)); // a backoff alone is drawn
        m_stack->addEvent(eventOf(EventKind::Growth, 30, 1));
        m_stack->addEvent(eventOf(EventKind::LossNotFinite, 40, 0));
        m_stack->addEvent(eventOf(EventKind::Edit, 50, -1)); // both lanes
        draw();
        const auto count = [this](const char* name) {
            const QCPGraph* graph = graphNamed(*m_stack, QString::fromLatin1(name));
            return graph ? graph->data()->size() : -1;
        };
        const auto named = [](EventKind kind, const char* lane) {
            return QByteArray(nameOf(kind)) + '/' + lane;
        };
        QCOMPARE(count(named(EventKind::Overflow, "B")), 1);
        QCOMPARE(count(named(EventKind::Overflow, "A")), 0);
        QCOMPARE(count(named(EventKind::Backoff, "B")), 1);
        QCOMPARE(graphNamed(*m_stack, named(EventKind::Backoff, "B"))->data()->constBegin()->key,
                 20.0);
        QCOMPARE(count(named(EventKind::Growth, "B")), 1);
        QCOMPARE(count(named(EventKind::LossNotFinite, "A")), 1);
        QCOMPARE(count(named(EventKind::Edit, "A")), 1);
        QCOMPARE(count(named(EventKind::Edit, "B")), 1);
    }
}

void TestPlots::thousandsOfEvents() {
    for (int i = 1; i <= 50000; ++i)
        m_stack->addEvent(eventOf(EventKind::Overflow, i, 1));
    show();
    const QCPGraph* graph =
        graphNamed(*m_stack, QLatin1String(nameOf(EventKind::Overflow)) + u"/B"_qs);
    // one per two pixels is enough, and no gap opens between them
    QVERIFY(graph->data()->size() <= 700 / 2 + 1);
    QVERIFY(graph->data()->size() >= 200);
    double last = 0;
    for (const auto& point : *graph->data()) {
        QVERIFY(point.key - last <= 50000.0 / 200);
        last = point.key;
    }
    QCOMPARE(plotOf(*m_stack).itemCount(),
             4 + 5 + 1); // headers, crosshair, step tag: no item per event
    m_stack->showStep(25000);
    for (int i = 0; i < 60; ++i)
        QTest::keyClick(m_stack.get(), Qt::Key_Plus);
    draw();
    QVERIFY(graph->data()->size() >= 4 && graph->data()->size() <= 6); // zoomed in: each one
}

void TestPlots::eventClick() {
    m_stack->append(1, record(1000, 1, 0.1f));
    m_stack->addEvent(eventOf(EventKind::Growth, 200, 1));
    m_stack->addEvent(eventOf(EventKind::Overflow, 700, 1, "Step 700 skipped"));
    show();
    const QString name = QLatin1String(nameOf(EventKind::Overflow)) + u"/B"_qs;
    const QCPGraph* graph = graphNamed(*m_stack, name);
    const QPoint mark(at(700, name).x(), static_cast<int>(graph->valueAxis()->coordToPixel(1)));
    QSignalSpy events(m_stack.get(), &PlotStack::eventClicked);
    QTest::mouseClick(&plotOf(*m_stack), Qt::LeftButton, {}, mark + QPoint(2, 2));
    QCOMPARE(events.count(), 1);
    QCOMPARE(events[0][0].toInt(), 1);
    QVERIFY(!m_stack->crosshair());
    QTest::mouseClick(&plotOf(*m_stack), Qt::LeftButton, {}, mark + QPoint(40, 0));
    QCOMPARE(events.count(), 1);
    QVERIFY(m_stack->crosshair().value_or(0) > 700);
}

/// Of several marks within reach.
void TestPlots::nearestEventIsClicked() {
    m_stack->append(1, record(1000, 1, 0.1f));
    const std::pair<EventKind, int> marks[] = {
        {EventKind::Growth, 694}, {EventKind::Overflow, 700}, {EventKind::Edit, 706}};
    for (const auto& [kind, step] : marks)
        m_stack->addEvent(eventOf(kind, step, 1));
    show();
    QSignalSpy events(m_stack.get(), &PlotStack::eventClicked);
    for (int i = 0; i < 3; ++i) {
        const QString name = QLatin1String(nameOf(marks[i].first)) + u"/B"_qs;
        const QCPGraph* graph = graphNamed(*m_stack, name);
        const QPoint mark(at(marks[i].second, name).x(),
                          static_cast<int>(graph->valueAxis()->coordToPixel(1)));
        QTest::mouseClick(&plotOf(*m_stack), Qt::LeftButton, {}, mark);
        QCOMPARE(events.count(), i + 1);
        QCOMPARE(events.back()[0].toInt(), i);
    }
}

/// Points between are left out, and a line without its last level point would slope.
void TestPlots::levelStretchKeepsItsEnds() {
    const float losses[] = {0.5f, 0.5f, 0.5f, 0.5f, 0.25f, 0.25f};
    for (int i = 0; i < 6; ++i)
        m_stack->append(0, record(i + 1, 0, losses[i]));
    show();
    QVector<double> steps;
    for (const QCPGraphData& point : *graphNamed(*m_stack, QStringLiteral("Loss/A fp32"))->data())
        steps.append(point.key);
    QCOMPARE(steps, QVector<double>({1, 4, 5, 6}));
}

void TestPlots::crosshairByKeys() {
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

void TestPlots::crosshairByMouse() {
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
    QTest::mouseClick(&plot, Qt::LeftButton, {}, at(200, rate)); // once more: the pin goes
    QVERIFY(!m_stack->crosshair());
    m_stack->showStep(100);
    leave();
    QVERIFY(near(100));
    m_stack->setFollow(true);
    QVERIFY(!m_stack->crosshair());
}

void TestPlots::spokenDescription() {
    QVERIFY(!m_stack->accessibleName().isEmpty());
    m_stack->append(1, record(345, 1, 0.0123f, 65536, 7));
    show();
    QTest::keyClick(m_stack.get(), Qt::Key_End);
    const QString text = m_stack->accessibleDescription();
    for (const auto* part :
         {"345", "Loss, B amp-fp16 0.0123", "2^16", "Skipped steps, B amp-fp16 7"})
        QVERIFY2(text.contains(QLatin1String(part)), qPrintable(text));
}

void TestPlots::cheapWhenNothingChanged() {
    show();
    QSignalSpy replots(&plotOf(*m_stack), &QCustomPlot::afterReplot);
    m_stack->append(0, record(1, 0, 0.5f));
    QVERIFY(m_stack->refresh());
    for (int i = 0; i < 10; ++i)
        QVERIFY(!m_stack->refresh());
    QCoreApplication::processEvents();
    QCOMPARE(replots.count(), 1);
}

void TestPlots::recordsOfUnknownLanes() {
    m_stack->append(-1, record(5, -1, 0.5f));
    m_stack->append(2, record(5, 2, 0.5f));
    m_stack->addEvent(eventOf(EventKind::Growth, 5, 7));
    show();
    m_stack->setLanes({});
    draw();
    m_stack->setLanes(QStringList(6, QStringLiteral("fp16")));
    for (int lane = 0; lane < 6; ++lane)
        m_stack->append(lane, record(1, lane, 0.5f));
    draw();
    QVERIFY(graphNamed(*m_stack, QStringLiteral("Loss/F fp16"))->data()->size() == 1);
    QCOMPARE(plotOf(*m_stack).graphCount(), 6 * (5 + 5));
}

void TestPlots::contextMenu() {
    show();
    QSignalSpy saves(m_stack.get(), &PlotStack::saveRequested);
    QCustomPlot& plot = plotOf(*m_stack);
    for (QWidget* asked : {static_cast<QWidget*>(&plot), static_cast<QWidget*>(m_stack.get())}) {
        const QPoint place = asked->rect().center(); // by the mouse, by the menu key
        QContextMenuEvent event(QContextMenuEvent::Mouse, place, asked->mapToGlobal(place));
        QApplication::sendEvent(asked, &event);
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        QVERIFY(menu);
        menu->actions().last()->trigger();
        menu->close();
    }
    QCOMPARE(saves.count(), 2);
}

void TestPlots::clearing() {
    for (int i = 1; i <= 100; ++i)
        m_stack->append(0, record(i, 0, 0.5f));
    m_stack->addEvent(eventOf(EventKind::Growth, 5, 0));
    show();
    m_stack->showStep(10);
    m_stack->clear();
    draw();
    QVERIFY(m_stack->following());
    QCOMPARE(m_stack->lastStep(), 0);
    for (int i = 0; i < plotOf(*m_stack).graphCount(); ++i)
        QCOMPARE(plotOf(*m_stack).graph(i)->data()->size(), 0);
    m_stack->append(0, record(1, 0, 0.5f)); // a new run starts at step 1 again
    draw();
    QCOMPARE(graphNamed(*m_stack, QStringLiteral("Loss/A fp32"))->data()->size(), 1);
}

void TestPlots::exports() {
    for (int i = 1; i <= 500; ++i)
        m_stack->append(0, record(i, 0, 0.5f / static_cast<float>(i)));
    show();
    QTemporaryDir folder;
    const QString svg = folder.filePath(QStringLiteral("a.svg"));
    const QString png = folder.filePath(QStringLiteral("a.png"));
    QVERIFY(m_stack->exportSvg(svg));
    QFile file(svg);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray content = file.readAll();
    QVERIFY(content.contains("<svg") && content.trimmed().endsWith("</svg>"));
    QVERIFY(content.count("<polyline") + content.count("<path") > 4);
    QVERIFY(content.contains("Loss scale"));
    QVERIFY(m_stack->exportPng(png));
    QCOMPARE(QImage(png).size(), 2 * plotOf(*m_stack).size());
    QString error;
    for (const bool asSvg : {true, false}) {
        const QString nowhere = folder.filePath(QStringLiteral("no/folder/a"));
        error.clear();
        QVERIFY(
            !(asSvg ? m_stack->exportSvg(nowhere, &error) : m_stack->exportPng(nowhere, &error)));
        QVERIFY(error.contains(nowhere));
    }
}

void TestPlots::themesRecolourEverything() {
    for (int i = 1; i <= 100; ++i)
        m_stack->append(0, record(i, 0, 0.5f));
    show();
    for (const Theme theme : {Theme::Dark, Theme::Light}) {
        applyTheme(*qApp, theme);
        QCoreApplication::processEvents();
        draw();
        const Colors colors = colorsFor(m_stack->palette());
        QCOMPARE(colors.dark, theme == Theme::Dark);
        QCOMPARE(graphNamed(*m_stack, QStringLiteral("Loss/A fp32"))->pen().color(),
                 colors.lane(0));
        QCustomPlot& plot = plotOf(*m_stack);
        const QImage image = plot.toPixmap().toImage().convertToFormat(QImage::Format_RGB32);
        QCOMPARE(image.pixel(1, 1), colors.background.rgb());
        QVERIFY(hasPixel(image, plot.axisRect(0)->rect(), colors.lane(0).rgb()));
    }
}

QTEST_MAIN(TestPlots)
#include "tst_plots.moc"
