// The trend of the loss over its curve, fine lines when there is time for them, and how much the
// marks of events remember.
#include "tests/support/shown_plots.h"
#include "ui/look/owned.h"
#include "ui/plots/curve_graph.h"
#include "ui/plots/smoothing.h"

#include <QSignalSpy>
#include <QSlider>
#include <QtTest>

#include <cmath>
#include <limits>

namespace tst_trend {

using namespace halfscope;

namespace {

/// Returns a loss with noise, the same at every call.
float noisy(int step) {
    return 1.0f / static_cast<float>(step) + 0.1f * static_cast<float>(step * 37 % 11);
}

/// TensorBoard's formula as in its source: last * w + (1 - w) * x, divided by 1 - w^n.
double trendAfter(int steps, double weight) {
    double last = 0;
    for (int step = 1; step <= steps; ++step)
        last = last * weight + (1 - weight) * static_cast<double>(noisy(step));
    return last / (1 - std::pow(weight, steps));
}

double valueAt(const QCPGraph& graph, double step) {
    return graph.data()->findBegin(step, false)->value;
}

/// The marks of one lane in a plot of their own.
struct LaneOfMarks {
    LaneOfMarks() {
        fed.start({QStringLiteral("fp32")}, {});
        lane.setRun(fed.run);
    }
    void add(const Event& event) { fed.append({}, {&event, 1}); }
    static QCPAxisRect& onlyRect(QCustomPlot& plot) {
        plot.plotLayout()->clear();
        auto* rect = make<QCPAxisRect>(&plot); // the layout owns it
        plot.plotLayout()->addElement(0, 0, rect);
        return *rect;
    }
    QCustomPlot plot;
    EventLane lane{plot, onlyRect(plot)};
    FedRun fed;
};

} // namespace

class TestTrend : public QObject, private ShownPlots {
    Q_OBJECT
private slots:
    void init() {
        makeStack();
        show();
    }
    void followsTheFormula();
    void curveStaysBehind();
    void lanesInDenseNoiseAreSeen();
    void lossesThatAreNotFinite();
    void growsAsTheCurveDoes();
    void weightHasLimits();
    void sliderAndValues();
    void fineLinesAtRest();
    void growingCurvesAreSeenFromAfar();
    void exportsAreFine();
    void sentencesStayInTheRun();
    void marksAtTheEdgesAreShown();
    void flagsAtTheEdgesAreWhole();

private:
    void append(int from, int to);
    CurveGraph* graph(const char* name) const;
};

void TestTrend::append(int from, int to) {
    for (int step = from; step <= to; ++step)
        m_stack->append(0, record(step, 0, noisy(step)));
}

CurveGraph* TestTrend::graph(const char* name) const {
    return qobject_cast<CurveGraph*>(graphNamed(*m_stack, QString::fromLatin1(name)));
}

void TestTrend::followsTheFormula() {
    append(1, 50);
    m_stack->setSmoothing(0.9);
    draw();
    const CurveGraph* trend = graph("Loss/A fp32/trend");
    QVERIFY(trend && trend->data()->size() >= 40);
    for (const int step : {1, 2, 50}) {
        // kept as float32
        const double wanted = trendAfter(step, 0.9);
        QVERIFY(std::abs(valueAt(*trend, step) - wanted) <= std::ldexp(wanted, -24) * 1.01);
    }
}

void TestTrend::curveStaysBehind() {
    append(1, 50);
    draw();
    CurveGraph* raw = graph("Loss/A fp32");
    const Colors colors = colorsFor(m_stack->palette());
    QCOMPARE(raw->pen().color(), colors.lane(0));
    QVERIFY(graph("Loss/A fp32/trend")->data()->isEmpty());
    QVERIFY(!graph("Loss scale/A fp32/trend")); // the scale is not noisy
    m_stack->setSmoothing(0.6);
    draw();
    QCOMPARE(raw->data()->size(), 50);
    QCOMPARE(valueAt(*raw, 7), static_cast<double>(noisy(7)));
    const double seen = contrast(raw->pen().color(), colors.background);
    QVERIFY(seen > 1.2 && seen < contrast(colors.lane(0), colors.background));
    QCOMPARE(graph("Loss/A fp32/trend")->pen().color(), colors.lane(0));
    m_stack->setSmoothing(0);
    draw();
    QCOMPARE(raw->pen().color(), colors.lane(0));
    QVERIFY(graph("Loss/A fp32/trend")->data()->isEmpty());
}

/// The band of the last lane would hide those of the others; a line through each band does not.
void TestTrend::lanesInDenseNoiseAreSeen() {
    constexpr int kSteps = 4000;
    const auto lossAt = [](int step, int lane) { // without a trend, from 1 to 2
        return 1 + static_cast<float>((step * 7919 + lane * 104729) % 1009) / 1009;
    };
    double mean = 0;
    for (int step = 1; step <= kSteps; ++step) {
        mean += static_cast<double>(lossAt(step, 0)) / kSteps;
        for (const int lane : {0, 1}) {
            StepRecord row = record(step, lane, lossAt(step, lane));
            m_stack->append(lane, row);
        }
    }
    draw();
    const Colors colors = colorsFor(m_stack->palette());
    const CurveGraph *band = graph("Loss/A fp32"), *line = graph("Loss/A fp32/trend");
    QCOMPARE(band->pen().color(), colors.faint(colors.lanePen(0)).color());
    QCOMPARE(line->pen().color(), colors.lane(0));
    QVERIFY(graph("Loss/B amp-fp16/trend")->pen().style() != Qt::SolidLine); // A shows through
    const int points = line->data()->size();
    QVERIFY2(points > 20 && points < band->data()->size() / 4, qPrintable(QString::number(points)));
    double sum = 0;
    for (const QCPGraphData& point : *line->data()) {
        QVERIFY(point.value > 1 && point.value < 2);
        sum += point.value;
    }
    // the mean of n values of deviation 1/sqrt(12): five standard errors
    const double bound = 5 / std::sqrt(12.0 * kSteps / 4);
    QVERIFY2(std::abs(sum / points - mean) < bound, qPrintable(QString::number(sum / points)));
    QVERIFY(line->data()->at(points - 1)->key > 0.97 * kSteps);
    for (const double weight : {0.1, 0.9}) { // the user's trend, which is noise itself
        m_stack->setSmoothing(weight);
        draw();
        QVERIFY(graph("Loss/B amp-fp16/trend")->pen().style() != Qt::SolidLine);
        const int means = line->data()->size();
        QVERIFY2(means > 20 && means < band->data()->size() / 4,
                 qPrintable(QString::number(means)));
        QCOMPARE(line->data()->at(means - 1)->key, double(kSteps)); // ends at the trend itself
    }
}

void TestTrend::lossesThatAreNotFinite() {
    m_stack->setSmoothing(0.9);
    append(1, 10);
    m_stack->append(0, record(11, 0, std::numeric_limits<float>::quiet_NaN()));
    m_stack->append(0, record(12, 0, std::numeric_limits<float>::infinity()));
    m_stack->append(0, record(13, 0, 0.5f));
    draw();
    const double after = valueAt(*graph("Loss/A fp32/trend"), 13);
    QVERIFY(std::isfinite(after) && after > 0);
}

void TestTrend::growsAsTheCurveDoes() {
    m_stack->setSmoothing(0.9);
    for (int step = 1; step <= 40; ++step) {
        append(step, step);
        draw();
    }
    const double grown = valueAt(*graph("Loss/A fp32/trend"), 40);
    m_stack->setSmoothing(0);
    m_stack->setSmoothing(0.9); // all points at once
    draw();
    QCOMPARE(valueAt(*graph("Loss/A fp32/trend"), 40), grown);
    m_stack->clear();
    append(1, 3);
    draw();
    QCOMPARE(graph("Loss/A fp32/trend")->data()->size(), 3);
    QCOMPARE(valueAt(*graph("Loss/A fp32/trend"), 1), static_cast<double>(noisy(1)));
}

void TestTrend::weightHasLimits() {
    QSignalSpy changed(m_stack.get(), &PlotStack::smoothingChanged);
    m_stack->setSmoothing(7);
    QCOMPARE(m_stack->smoothing(), Smoother::kMost);
    m_stack->setSmoothing(-1);
    QCOMPARE(m_stack->smoothing(), 0.0);
    m_stack->setSmoothing(std::numeric_limits<double>::quiet_NaN());
    QCOMPARE(m_stack->smoothing(), 0.0);
    QCOMPARE(changed.count(), 2);
}

void TestTrend::sliderAndValues() {
    append(1, 50);
    auto* slider = m_stack->findChild<QSlider*>();
    QVERIFY(slider->isVisible());
    slider->setValue(90);
    QCOMPARE(m_stack->smoothing(), 0.9);
    m_stack->setSmoothing(0.5);
    QCOMPARE(slider->value(), 50);
    draw();
    QTest::keyClick(m_stack.get(), Qt::Key_End); // tells screen readers at once
    const QString told = QStringLiteral("(trend %1)").arg(trendAfter(50, 0.5), 0, 'g', 4);
    QVERIFY2(m_stack->accessibleDescription().contains(told),
             qPrintable(m_stack->accessibleDescription()));
    m_stack->resize(300, 420); // the figures need the room
    QTRY_VERIFY(!slider->isVisible());
}

void TestTrend::fineLinesAtRest() {
    append(1, 50);
    draw();
    const CurveGraph* loss = graph("Loss/A fp32");
    QVERIFY(loss->pen().widthF() <= 1 && !loss->antialiased());
    m_stack->setResting(true);
    draw();
    QVERIFY(loss->pen().widthF() > 1 && loss->antialiased());
    append(51, 5000); // more points than pixels: thick lines would cost time and hide them
    draw();
    QVERIFY(loss->pen().widthF() <= 1 && !loss->antialiased());
}

/// A curve of one pixel cannot be seen from afar.
void TestTrend::growingCurvesAreSeenFromAfar() {
    const auto thickness = [this] {
        draw();
        const QCPGraph* loss = graph("Loss/A fp32");
        const QRect place = loss->keyAxis()->axisRect()->rect();
        const QImage image = plotOf(*m_stack).grab().toImage();
        int pixels = 0;
        for (int y = place.top(); y <= place.bottom(); ++y)
            pixels += image.pixel(place.center().x() + 3, y) == loss->pen().color().rgb();
        return pixels;
    };
    m_stack->append(0, record(1, 0, 0.25f));
    m_stack->append(0, record(50, 0, 0.5f));
    QCOMPARE(thickness(), 2);
}

void TestTrend::exportsAreFine() {
    append(1, 50);
    draw();
    QVERIFY(m_stack->svg().contains("stroke-width=\"1.6\""));
    draw();
    QVERIFY(graph("Loss/A fp32")->pen().widthF() <= 1); // the window's lines are unchanged
}

void TestTrend::sentencesStayInTheRun() {
    constexpr int kMany = 25000;
    LaneOfMarks marks;
    for (int i = 0; i < kMany; ++i)
        marks.add(eventOf(EventKind::Overflow, i + 1, 0, "the sentence"));
    marks.lane.update(0, kMany, 100);
    QCOMPARE(marks.lane.count(), kMany);
    QCOMPARE(marks.lane.text(0), QStringLiteral("the sentence"));
    QCOMPARE(marks.lane.text(kMany - 1), QStringLiteral("the sentence"));
    QCOMPARE(marks.lane.step(0), qint64(1));
}

/// A step at either end of the axis is drawn there, and so is its mark.
void TestTrend::marksAtTheEdgesAreShown() {
    LaneOfMarks marks;
    EventLane& lane = marks.lane;
    for (const int64_t step : {9, 10, 11, 20, 21})
        marks.add(eventOf(EventKind::Edit, step, 0));
    const auto shown = [&](double from, double to, int pixels) {
        lane.update(from, to, pixels);
        std::vector<double> steps;
        for (int i = 0; i < marks.plot.graphCount(); ++i)
            for (const QCPGraphData& mark : *marks.plot.graph(i)->data())
                steps.push_back(mark.key);
        return steps;
    };
    QCOMPARE(shown(10, 20, 1000), (std::vector<double>{10, 11, 20}));
    QCOMPARE(shown(10.5, 19.5, 1000), std::vector<double>{11});
    // at least two pixels apart: 11 would lie on 10's mark
    QCOMPARE(shown(10, 20, 15), (std::vector<double>{10, 20}));
    QCOMPARE(shown(10, 10, 0), std::vector<double>{10}); // a run of one step
}

/// A flag stands to the right of its step, wherever the view ends.
void TestTrend::flagsAtTheEdgesAreWhole() {
    const Colors colors = colorsFor(m_stack->palette());
    const auto inked = [&colors](int64_t step) {
        LaneOfMarks marks;
        marks.plot.resize(400, 100);
        marks.lane.rect().setMinimumMargins(QMargins(30, 0, 30, 0));
        marks.add(eventOf(EventKind::Edit, step, 0));
        marks.lane.setColors(colors);
        marks.lane.update(10, 20, 340);
        marks.lane.rect().axis(QCPAxis::atBottom)->setRange(10, 20);
        const QImage image = marks.plot.toPixmap().toImage();
        int pixels = 0;
        for (int y = 0; y < image.height(); ++y)
            for (int x = 0; x < image.width(); ++x)
                pixels += image.pixelColor(x, y).saturation() > 100;
        return pixels;
    };
    QVERIFY2(inked(15) > 15, qPrintable(QString::number(inked(15))));
    QVERIFY2(std::abs(inked(20) - inked(15)) <= 4, qPrintable(QString::number(inked(20))));
}

} // namespace tst_trend

QTEST_MAIN(tst_trend::TestTrend)
#include "tst_trend.moc"
