// The plots: no line gets a value that is not finite, axes stay sane, labels of their values, marks
// of events, what screen readers hear, export and themes. Mouse and keys are in tst_plot_use, the
// layout in tst_plot_layout.
#include "tests/support/shown_plots.h"
#include "tests/support/shown_window.h"
#include "ui/look/text_fit.h"
#include "ui/plots/plot_picture.h"
#include "ui/plots/readout_item.h"

#include <QApplication>
#include <QFile>
#include <QMap>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QToolButton>
#include <QtTest>
#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tst_plots {

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

/// Returns the places of the labels beside a plot, in pixels from above to below.
std::vector<double> labelPlaces(const QCPAxisRect& rect) {
    const QCPAxis* axis = rect.axis(QCPAxis::atLeft);
    std::vector<double> places;
    for (const double tick : axis->tickVector())
        if (axis->range().contains(tick)) places.push_back(axis->coordToPixel(tick));
    std::sort(places.begin(), places.end());
    return places;
}
} // namespace

class TestPlots : public QObject, private ShownPlots {
    Q_OBJECT
private slots:
    void init() { makeStack(); }
    void tickLabelsNeverTouch();
    void lowPlotsHaveTwoLabels();
    void lossesThatAreNotFinite_data();
    void lossesThatAreNotFinite();
    void scaleRange_data();
    void scaleRange();
    void eventMarks();
    void thousandsOfEvents();
    void levelStretchKeepsItsEnds();
    void spokenDescription();
    void cheapWhenNothingChanged();
    void longRunsAreDrawnInParts();
    void recordsOfUnknownLanes();
    void clearing();
    void exports();
    void exportsSayWhichLaneIsWhich();
    void narrowPicturesHaveSamples();
    void legendsTellLanesByTheirDashes();
    void speedsThatCannotBeCompared();
    void axisTellsItsResolution();
    void everyMarkIsNamed_data();
    void everyMarkIsNamed();
    void themesRecolourEverything();
};

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
    // the range fits what can be drawn: 6 % of its span, or 0.02 decades, to each side
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

/// Where a pixel stands for several steps, the axis says how many, and that it shows extremes.
void TestPlots::axisTellsItsResolution() {
    constexpr int kSteps = 200000;
    for (int i = 1; i <= kSteps; ++i)
        m_stack->append(0, record(i, 0, 0.5f));
    show();
    const auto label = [this] {
        static const QRegularExpression kName(QStringLiteral(">(Step(?: \\([^<]*)?)<"));
        return kName.match(QString::fromUtf8(m_stack->svg())).captured(1);
    };
    const QString start = QStringLiteral("Step (a pixel shows the extremes of about ");
    QVERIFY2(label().startsWith(start), qPrintable(label()));
    const QString end = QStringLiteral(" steps)");
    QVERIFY2(label().endsWith(end), qPrintable(label()));
    const double pixels = kSteps / label().mid(start.size()).chopped(end.size()).toDouble();
    const int width = plotOf(*m_stack).axisRect(0)->width();
    QVERIFY2(pixels > 0.9 * width && pixels < 1.1 * width, qPrintable(label()));
    for (int press = 0; press < 30; ++press) // to few steps
        QTest::keyClick(m_stack.get(), Qt::Key_Plus);
    QTRY_COMPARE(label(), QStringLiteral("Step"));
}

void TestPlots::everyMarkIsNamed_data() {
    QTest::addColumn<double>("size");
    QTest::newRow("usual") << 1.0;
    QTest::newRow("for an audience") << 1.7;
}

/// At every width, the marks that there are have names, the axis has its own, no letters lie on
/// others, and the button that names folded plots covers none.
void TestPlots::everyMarkIsNamed() {
    QFETCH(const double, size);
    m_stack->setFont(scaledFont(m_stack->font(), size));
    m_stack->append(1, record(100000, 1, 0.5f)); // the axis tells how many steps a pixel has
    int step = 0;
    for (const EventKind kind :
         {EventKind::Overflow, EventKind::Growth, EventKind::Backoff, EventKind::LossNotFinite,
          EventKind::Edit, EventKind::Underflow, EventKind::RateFall})
        m_stack->addEvent(eventOf(kind, step += 10000, 1));
    const QStringList brief{QStringLiteral("overflow"), QStringLiteral("growth"),
                            QStringLiteral("fall"),     QStringLiteral("not finite"),
                            QStringLiteral("setting"),  QStringLiteral("underflow"),
                            QStringLiteral("rate")};
    static const QRegularExpression kText(
        QStringLiteral("<text [^>]* x=\"([-0-9.]+)\" y=\"([-0-9.]+)\"[^>]*>([^<]+)</text>"));
    const auto* button = m_stack->findChild<QToolButton*>(QStringLiteral("foldedPlots"));
    for (int width = 320; width <= 1600; width += 20) {
        show(width, 300);
        const QFontMetrics metrics(plotOf(*m_stack).font());
        const double top = plotOf(*m_stack).axisRects().back()->bottom() + metrics.height();
        QMap<int, QMap<double, double>> lines; // by height, then by beginning: the ends of words
        QStringList said;
        for (auto each = kText.globalMatch(QString::fromUtf8(m_stack->svg())); each.hasNext();) {
            const QRegularExpressionMatch found = each.next();
            const double left = found.captured(1).toDouble(), base = found.captured(2).toDouble();
            if (base < top + metrics.ascent()) continue; // the steps
            if (base >= 300) continue;                   // the lanes, below the plots
            said << found.captured(3);
            lines[int(base)][left] = left + metrics.horizontalAdvance(found.captured(3));
        }
        const QString at = QStringLiteral("width %1: %2").arg(width).arg(said.join(u'|'));
        QCOMPARE(said.size(), brief.size() + 1);
        QVERIFY2(said.filter(QRegularExpression(QStringLiteral("^Step"))).size() == 1,
                 qPrintable(at));
        if (lines.size() > 1)
            for (const QString& name : brief)
                QVERIFY2(said.contains(name), qPrintable(at));
        const int most = button->isVisible() ? button->geometry().left() : width;
        for (const auto& line : lines) {
            double end = 0;
            for (auto word = line.begin(); word != line.end(); ++word) {
                QVERIFY2(word.key() >= end, qPrintable(at));
                end = word.value();
            }
            QVERIFY2(end <= most, qPrintable(at));
        }
        QVERIFY2(width < 1500 || size > 1 || said.contains(QStringLiteral("loss scale grew")),
                 qPrintable(at));
    }
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
        m_stack->addEvent(eventOf(EventKind::Edit, 50, -1)); // in both lanes
        m_stack->addEvent(eventOf(EventKind::Underflow, 50, 1));
        m_stack->addEvent(eventOf(EventKind::Other, 60, 0)); // of a later version
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
        QCOMPARE(count(named(EventKind::Underflow, "B")), 1);
        QCOMPARE(count(named(EventKind::Other, "A")), 1);
        QCOMPARE(count(named(EventKind::Edit, "A")), 1);
        QCOMPARE(count(named(EventKind::Edit, "B")), 1);
    }
}

void TestPlots::thousandsOfEvents() {
    for (int i = 1; i <= 50000; ++i)
        m_stack->addEvent(eventOf(EventKind::Overflow, i, 1));
    show();
    const QCPGraph* graph =
        graphNamed(*m_stack, QLatin1String(nameOf(EventKind::Overflow)) + QStringLiteral("/B"));
    // one mark for two pixels is enough, and no gap opens between marks
    QVERIFY(graph->data()->size() <= 700 / 2 + 1);
    QVERIFY(graph->data()->size() >= 200);
    double last = 0;
    for (const auto& point : *graph->data()) {
        QVERIFY(point.key - last <= 50000.0 / 200);
        last = point.key;
    }
    QCOMPARE(plotOf(*m_stack).itemCount(),
             4 + 2 * 5 + 2 +
                 1); // headers, crosshair and pin, their tags, legend: no item per event
    m_stack->showStep(25000);
    for (int i = 0; i < 60; ++i)
        QTest::keyClick(m_stack.get(), Qt::Key_Plus);
    draw();
    QVERIFY(graph->data()->size() >= 4 && graph->data()->size() <= 6); // zoomed in: each one
}

/// Points in between are left out, and without its last level point the line would slope.
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

/// The speeds of a long run that is opened come over several frames, without a row that arrives.
void TestPlots::longRunsAreDrawnInParts() {
    constexpr int kSteps = 600'000;
    for (int step = 1; step <= kSteps; ++step)
        m_stack->append(0, record(step, 0, 0.5f));
    m_stack->resize(700, 600);
    m_stack->show();
    QVERIFY(test::isExposed(m_stack.get()));
    int frames = 0;
    while (m_stack->refresh() && frames < 10)
        ++frames;
    QVERIFY2(frames >= 1 && frames < 10, qPrintable(QString::number(frames)));
    const auto& speed = graphNamed(*m_stack, QStringLiteral("Throughput (steps/s)/A fp32"))->data();
    QVERIFY(!speed->isEmpty() && (speed->constEnd() - 1)->key > 0.99 * kSteps);
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
    QCOMPARE(plotOf(*m_stack).graphCount(), 6 * (5 + kEventKinds)); // metrics and kinds of events
}

void TestPlots::clearing() {
    for (int i = 1; i <= 100; ++i)
        m_stack->append(0, record(i, 0, 0.5f));
    m_stack->addEvent(eventOf(EventKind::Growth, 5, 0));
    show();
    m_stack->showStep(10);
    QTest::keyClick(m_stack.get(), Qt::Key_Plus);
    QVERIFY(!m_stack->following());
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
    const QByteArray content = m_stack->svg();
    QVERIFY(content.contains("<svg") && content.trimmed().endsWith("</svg>"));
    QVERIFY(content.count("<polyline") + content.count("<path") > 4);
    QVERIFY(content.contains("Loss scale"));
    const QSize size = 2 * plotOf(*m_stack).size();
    const QImage image = QImage::fromData(m_stack->file(PlotForm::Png), "PNG");
    QCOMPARE(image.size(), size); // each heading names the lanes: a legend would repeat it
    QCOMPARE(m_stack->picture().size(), image.size());
}

/// A narrow window shortens headings and names; a picture for a slide does not.
void TestPlots::exportsSayWhichLaneIsWhich() {
    for (const int lane : {0, 1})
        for (int i = 1; i <= 500; ++i)
            m_stack->append(lane, record(i, lane, 0.5f / static_cast<float>(i)));
    show();
    m_stack->resize(300, 420);
    draw();
    const QByteArray content = m_stack->svg();
    for (const char* text : {">A fp32<", ">B amp-fp16<", ">Loss scale<", ">Throughput"})
        QVERIFY2(content.contains(text), text);
    const QImage narrow = m_stack->picture();
    QVERIFY(narrow.height() > 2 * plotOf(*m_stack).height()); // the legend is below
}

/// In a saved picture, a long heading gives up its unit before it gives up the samples of lines.
void TestPlots::narrowPicturesHaveSamples() {
    for (const int lane : {0, 1})
        for (int i = 1; i <= 500; ++i)
            m_stack->append(lane, record(i, lane, 0.5f));
    show(320, 420);
    QVERIFY(m_stack->svg().contains(">Throughput<"));
    const QCustomPlot& plot = plotOf(*m_stack);
    const QImage image = m_stack->picture();
    const double ratio = double(image.width()) / plot.width();
    const QRgb color = colorsFor(m_stack->palette()).lane(1).rgb(); // its name's is darker
    for (const char* name : {"Loss/B amp-fp16", "Throughput (steps/s)/B amp-fp16"}) {
        const QRect rect =
            graphNamed(*m_stack, QString::fromLatin1(name))->keyAxis()->axisRect()->rect();
        const int y = int(ratio * (rect.top() - ReadoutItem::heightFor(plot.font()) / 2));
        int inked = 0;
        for (int x = int(ratio * rect.left()); x < image.width(); ++x)
            inked += image.pixelColor(x, y).rgb() == color;
        QVERIFY2(inked > 3, name);
    }
}

/// In black and white: the legend's samples have whole periods of dashes, at least two.
void TestPlots::legendsTellLanesByTheirDashes() {
    constexpr int kLanes = 6;
    show();
    QCustomPlot& plot = plotOf(*m_stack);
    const Colors colors = colorsFor(m_stack->palette());
    for (int lane = 0; lane < kLanes; ++lane) {
        FigureLegend legend =
            legendOf(colors, QStringList(lane + 1, QStringLiteral("amp")), {}, {});
        legend.entries.erase(legend.entries.begin(), legend.entries.end() - 1);
        legend.entries.front().color = legend.background; // its letters are not counted
        legend.needed = true;                             // so it is drawn
        const QImage image = plotImage(plot, legend);
        qsizetype most = 0;
        for (int y = 2 * plot.height(); y < image.height(); ++y) {
            qsizetype dashes = 0;
            bool before = false;
            for (int x = 0; x < image.width(); ++x) {
                const bool inked = image.pixelColor(x, y).rgb() == colors.lane(lane).rgb();
                dashes += inked && !before;
                before = inked;
            }
            most = std::max(most, dashes);
        }
        const qsizetype wanted = std::max<qsizetype>(laneDash(lane).size(), 1); // dashes and gaps
        QVERIFY2(lane == 0 ? most == 1 : most >= wanted, qPrintable(laneLetter(lane)));
    }
}

/// The pace makes lanes wait: their speeds are those of cold caches.
void TestPlots::speedsThatCannotBeCompared() {
    for (const int lane : {0, 1})
        for (int i = 1; i <= 500; ++i)
            m_stack->append(lane, record(i, lane, 0.5f));
    show();
    const auto header = [this]() -> const ReadoutItem* { // of the throughput
        for (int i = 0; i < plotOf(*m_stack).itemCount(); ++i)
            if (const auto* each = qobject_cast<ReadoutItem*>(plotOf(*m_stack).item(i));
                each && each->textsIn(2000).front().startsWith(QStringLiteral("Throughput")))
                return each;
        return nullptr;
    };
    const auto color = [this](const char* name) {
        return graphNamed(*m_stack, QString::fromLatin1(name))->pen().color();
    };
    const Colors colors = colorsFor(m_stack->palette());
    const QColor loss = color("Loss/B amp-fp16");
    for (const bool comparable : {true, false, true}) {
        m_stack->setSpeeds(comparable ? SpeedsShown::Present : SpeedsShown::NotComparable);
        draw();
        QVERIFY(header());
        const QStringList texts = header()->textsIn(2000);
        QCOMPARE(texts.front().contains(QStringLiteral("not comparable at this pace")),
                 !comparable);
        for (const ReadoutEntry& entry : header()->entries())
            QCOMPARE(entry.value.isEmpty(), !comparable);
        const QPen pen = colors.lanePen(1);
        QCOMPARE(color("Throughput (steps/s)/B amp-fp16"),
                 comparable ? pen.color() : colors.faint(pen).color());
        QCOMPARE(color("Loss/B amp-fp16"), loss);
        QCOMPARE(m_stack->svg().contains("not comparable"), !comparable);
    }
    m_stack->setSpeeds(SpeedsShown::NotComparable);
    m_stack->setLanes({QStringLiteral("fp32")}, {}, {Measure::LearningRate}); // plots made anew
    m_stack->append(0, record(1, 0, 0.5f));
    draw();
    QVERIFY(m_stack->svg().contains("not comparable"));
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

void TestPlots::tickLabelsNeverTouch() {
    for (int i = 1; i <= 400; ++i) {
        const float loss = 80 + 75 * std::abs(std::sin(static_cast<float>(i)));
        m_stack->append(0, record(i, 0, loss));
        m_stack->append(1, record(i, 1, loss, std::ldexp(1.0f, i % 30), i / 30));
    }
    for (const int height : {220, 260, 330, 420, 700, 1400}) {
        show(500, height);
        QCustomPlot& plot = plotOf(*m_stack);
        const int digits =
            QFontMetrics(plot.font()).tightBoundingRect(QStringLiteral("0123456789")).height();
        for (int i = 0; i < 4; ++i) {
            if (!plot.axisRect(i)->visible()) continue; // only its header is shown
            const std::vector<double> places = labelPlaces(*plot.axisRect(i));
            QVERIFY2(!places.empty(), qPrintable(QString::number(i)));
            for (size_t k = 1; k < places.size(); ++k)
                QVERIFY2(places[k] - places[k - 1] > digits + 1,
                         qPrintable(QStringLiteral("plot %1, height %2").arg(i).arg(height)));
        }
    }
}

/// One label would not say how far apart two values are.
void TestPlots::lowPlotsHaveTwoLabels() {
    for (int i = 1; i <= 400; ++i) {
        const float loss = 0.5f + 0.4f * std::abs(std::sin(static_cast<float>(i)));
        m_stack->append(0, record(i, 0, loss));
        m_stack->append(1, record(i, 1, loss, std::ldexp(1.0f, i % 30), i / 30));
    }
    const int line = QFontMetrics(plotOf(*m_stack).font()).height();
    int lowest = line * 9;
    double closest = lowest;
    for (int height = 200; height <= 420; height += 6) {
        show(500, height);
        const QCustomPlot& plot = plotOf(*m_stack);
        for (int i = 0; i < 4; ++i) {
            const QCPAxisRect& rect = *plot.axisRect(i);
            if (!rect.visible()) continue;
            lowest = std::min(lowest, rect.height());
            const std::vector<double> places = labelPlaces(rect);
            if (places.size() >= 2) closest = std::min(closest, places[1] - places[0]);
            QVERIFY2(places.size() >= 2,
                     qPrintable(QStringLiteral("plot %1: %2 pixels, %3 to %4")
                                    .arg(i)
                                    .arg(rect.height())
                                    .arg(rect.axis(QCPAxis::atLeft)->range().lower)
                                    .arg(rect.axis(QCPAxis::atLeft)->range().upper)));
        }
    }
    // not only in plots of two lines: labels may be as close as their digits allow
    QVERIFY2(lowest < 1.5 * line, qPrintable(QString::number(lowest)));
    QVERIFY2(closest < line - 1, qPrintable(QString::number(closest)));
}

} // namespace tst_plots

QTEST_MAIN(tst_plots::TestPlots)
#include "tst_plots.moc"
