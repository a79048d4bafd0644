// The losses of the earlier run, drawn faintly behind the present ones: whose they are, what is
// said of them, and when the window keeps them.
#include "tests/support/opened_window.h"
#include "tests/support/shown_plots.h"
#include "ui/plots/readout_item.h"
#include "ui/plots/run_legend.h"

#include <QAction>
#include <QLabel>

#include <algorithm>
#include <cmath>

namespace tst_previous_run {

using namespace halfscope;

namespace {

const QString kBeforeA = QStringLiteral("Loss/before A"),
              kBeforeB = QStringLiteral("Loss/before B");

ReadoutItem* lossHeader(const PlotStack& stack) {
    for (int i = 0; i < plotOf(stack).itemCount(); ++i)
        if (auto* item = qobject_cast<ReadoutItem*>(plotOf(stack).item(i))) return item;
    return nullptr;
}

int pointsOf(const PlotStack& stack, const QString& name) {
    const QCPGraph* graph = graphNamed(stack, name);
    return graph ? graph->data()->size() : -1;
}

/// Whether the curve's colour is in the picture, at its second point and beside it.
bool isDrawn(const QCPGraph& graph) {
    QCustomPlot& plot = *graph.parentPlot();
    const QImage image = plot.toPixmap().toImage();
    const QCPGraphData& last = *(graph.data()->constEnd() - 1);
    const int y = qRound(graph.valueAxis()->coordToPixel(last.value));
    const int right = qRound(graph.keyAxis()->coordToPixel(last.key));
    for (int x = right - 40; x < right; ++x)
        for (int dy = -1; dy <= 1; ++dy)
            if (image.pixelColor(x, y + dy).rgb() == graph.pen().color().rgb()) return true;
    return false;
}

/// Returns the names at the curves of a plot.
QList<const QCPItemText*> tagsIn(QCustomPlot& plot, const QCPAxisRect* rect) {
    QList<const QCPItemText*> tags;
    for (int i = 0; i < plot.itemCount(); ++i)
        if (const auto* tag = qobject_cast<QCPItemText*>(plot.item(i));
            tag && tag->visible() && tag->clipAxisRect() == rect)
            tags << tag;
    return tags;
}

} // namespace

class TestPreviousRun : public QObject, private ShownPlots {
    Q_OBJECT
private slots:
    void init() { makeStack(); }
    void comesBehindTheNewCurves();
    void audiencesReadItsName();
    void namesKeepBothEnds();
    void legendsSayWhatDiffers();
    void picturesNameAllRuns();
    void legendsHaveLines();
    void namesInPicturesCoverNoCurve();
    void headingsHaveAllRunsOrSaySo();
    void headingsKeepTheRunBefore();
    void noiseHasADashedLine();
    void tagsStandWhereCurvesDiffer();
    void valuesAreOfTheSameStep();
    void runsWithoutStepsChangeNothing();
    void lanesAreMatched();
    void plotsMayChange();
    void tagsKeepApart();
    void curvesTogetherHaveOneTag();
    void tagsStayWhereTheyFit();
    void tagsStandByTheirCurves();
    void theWindowKeepsIt();

private:
    void train(int steps, float loss) {
        for (int i = 1; i <= steps; ++i)
            for (int lane = 0; lane < m_stack->lanes(); ++lane)
                m_stack->append(lane, record(i, lane, loss * static_cast<float>(lane + 1)));
    }
    void startAgain(const QStringList& names = {QStringLiteral("fp32"), QStringLiteral("amp-fp16")},
                    const std::vector<Measure>& extra = {}) {
        m_stack->keepLosses();
        m_stack->setLanes(names, {}, extra);
    }
};

void TestPreviousRun::comesBehindTheNewCurves() {
    train(20, 0.5f);
    startAgain();
    train(20, 0.25f);
    show();
    QCOMPARE(pointsOf(*m_stack, kBeforeA), -1); // not asked for
    m_stack->showPrevious(true);
    draw();
    QCOMPARE(pointsOf(*m_stack, kBeforeB), 2); // a level curve
    const QCPGraph* before = graphNamed(*m_stack, kBeforeB);
    const QCPGraph* now = graphNamed(*m_stack, QStringLiteral("Loss/B amp-fp16"));
    QCOMPARE(before->data()->constBegin()->value, 1.0);
    QVERIFY(before->layer()->index() < now->layer()->index());
    QVERIFY(before->pen() != now->pen());
    QVERIFY(before->pen().color() != graphNamed(*m_stack, kBeforeA)->pen().color());
    QVERIFY(isDrawn(*before));
    // the axis has room for both
    QVERIFY(before->valueAxis()->range().contains(1.0));
    m_stack->showPrevious(false);
    draw();
    QCOMPARE(pointsOf(*m_stack, kBeforeA), -1);
    QVERIFY(!now->valueAxis()->range().contains(1.0));
}

/// An audience does not see the list of runs, which names them.
void TestPreviousRun::audiencesReadItsName() {
    train(20, 0.5f);
    show(900, 700);
    m_stack->setOverlays({{m_stack->run(), QStringLiteral("1"), 0, QStringLiteral("a <b>")}});
    draw();
    const auto* legend = m_stack->findChild<QLabel*>(QStringLiteral("runLegend"));
    QVERIFY(legend && legend->isHidden()); // the list is there
    const int alone = plotOf(*m_stack).height();
    m_stack->magnify(1.7);
    QVERIFY(!legend->isHidden());
    QVERIFY2(legend->text().contains(QStringLiteral("run 1: a &lt;b&gt;")),
             qPrintable(legend->text()));
    QTRY_VERIFY(plotOf(*m_stack).height() < alone); // it covers none of them
    QCOMPARE(legend->textFormat(), Qt::RichText);   // an audience reads no markup
    QVERIFY(legend->geometry().top() > plotOf(*m_stack).geometry().bottom());
    QVERIFY(m_stack->svg().contains("run 1: a &lt;b&gt;"));
    show(900, 150); // no room
    QVERIFY(legend->isHidden());
    show(900, 700);
    QVERIFY(!legend->isHidden());
    m_stack->setOverlays({});
    QVERIFY(legend->isHidden());
}

/// Saved runs of one experiment differ at the ends of their names.
void TestPreviousRun::namesKeepBothEnds() {
    train(20, 0.5f);
    show(640, 700);
    m_stack->magnify(1.7);
    const auto overlay = [this](const char* tag, const char* name) {
        return Overlay{m_stack->run(), QLatin1String(tag), 0, QLatin1String(name)};
    };
    m_stack->setOverlays({overlay("1", "Checkerboard with eight squares a side (run1-default)"),
                          overlay("2", "Checkerboard with eight squares a side (run2-2pow40)"),
                          overlay("3", "C")});
    const QString text = m_stack->findChild<QLabel*>(QStringLiteral("runLegend"))->text();
    for (const char* part : {"run 1: C", "default)<", "run 2: C", "2pow40)<", "…", "run 3: C<"})
        QVERIFY2(text.contains(QString::fromUtf8(part)), qPrintable(text));
}

/// The name tells less than the settings that differ, so it is cut first.
void TestPreviousRun::legendsSayWhatDiffers() {
    const Overlay run{m_stack->run(), QStringLiteral("1"), 0, QStringLiteral("Digits of a hand"),
                      QStringLiteral("Learning rate 0.001, Seed 2")};
    const QFontMetrics metrics(m_stack->font());
    const QString whole = QStringLiteral("run 1: Digits of a hand, Learning rate 0.001, Seed 2");
    QCOMPARE(legendTextOf(run), whole);
    const int width = metrics.horizontalAdvance(whole);
    QCOMPARE(legendTextIn(run, metrics, width), whole);
    const QString cut = legendTextIn(run, metrics, width - 1);
    QVERIFY2(cut.startsWith(QStringLiteral("run 1: D")) && cut.contains(QChar(0x2026)) &&
                 cut.endsWith(QStringLiteral(", Learning rate 0.001, Seed 2")),
             qPrintable(cut));
    const QString unnamed = QStringLiteral("run 1: Learning rate 0.001, Seed 2");
    const int narrow = metrics.horizontalAdvance(unnamed);
    QCOMPARE(legendTextIn(run, metrics, narrow), unnamed);
    const QString least = legendTextIn(run, metrics, narrow - 1);
    QVERIFY2(least.startsWith(QStringLiteral("run 1: Learning rate")) &&
                 least.endsWith(QChar(0x2026)) && metrics.horizontalAdvance(least) < narrow,
             qPrintable(least));
    // other runs have the setting, too: its value tells them apart
    const int one = metrics.horizontalAdvance(QStringLiteral("run 1: Learning rate 0.001"));
    const QString value = legendTextIn(run, metrics, one - 1);
    QVERIFY2(value.startsWith(QStringLiteral("run 1: Learn")) &&
                 value.endsWith(QStringLiteral("… 0.001")) &&
                 metrics.horizontalAdvance(value) < one,
             qPrintable(value));
}

/// Nobody can ask a list of runs there: the run that is shown has its name, too, and so do the
/// lanes of each.
void TestPreviousRun::picturesNameAllRuns() {
    train(20, 0.5f);
    show(900, 700);
    const Overlay shown{m_stack->run(), QStringLiteral("2"), 1, QStringLiteral("New"),
                        QStringLiteral("Learning rate 0.01")};
    const Overlay other{m_stack->run(), QStringLiteral("1"), 0, QStringLiteral("Old"),
                        QStringLiteral("Learning rate 0.001")};
    const auto lacks = [this](const char* text) {
        return !m_stack->file(PlotForm::Svg).contains(text);
    };
    m_stack->setOverlays({}, shown);
    draw();
    QVERIFY(lacks("run 2")); // it is alone
    Overlay named = shown;
    named.data = QStringLiteral("Two moons"); // which its name does not tell
    m_stack->setOverlays({}, named);
    draw();
    QVERIFY(!lacks(">run 2: New, Two moons, Learning rate 0.01<"));
    m_stack->setOverlays({other}, shown);
    draw();
    for (const char* text : {">run 2: New, Learning rate 0.01<", ">A fp32<", ">B amp-fp16<",
                             ">run 1: Old, Learning rate 0.001<", ">1A fp32<", ">1B amp-fp16<"})
        QVERIFY2(!lacks(text), text);
    m_stack->magnify(1.7);
    const QString legend = m_stack->findChild<QLabel*>(QStringLiteral("runLegend"))->text();
    QVERIFY2(legend.contains(QStringLiteral("run 2:")) && legend.contains(QStringLiteral("run 1:")),
             qPrintable(legend));
}

/// The legend points at curves by their lines, not by the colour of its words.
void TestPreviousRun::legendsHaveLines() {
    train(20, 0.5f);
    const Overlay shown{nullptr, QStringLiteral("2"), 1}; // told apart, as by the window
    const Overlay other{m_stack->run(), QStringLiteral("1"), 0};
    m_stack->setOverlays({other}, shown);
    m_stack->magnify(1.7);
    auto* legend = m_stack->findChild<QLabel*>(QStringLiteral("runLegend"));
    const auto linesIn = [legend] { return legend->text().count(QStringLiteral("<img ")); };
    show(1200, 700);
    QVERIFY(!legend->isHidden());
    QCOMPARE(linesIn(), 4); // two lanes each
    const QImage drawn = legend->grab().toImage();
    const Colors colors = colorsFor(m_stack->palette());
    for (int lane = 0; lane < 2; ++lane)
        for (const QColor& color : {colors.lane(lane), colors.runPen(0, lane).color()}) {
            bool found = false;
            for (int y = 0; y < drawn.height() && !found; ++y)
                for (int x = 0; x < drawn.width() && !found; ++x)
                    found = drawn.pixelColor(x, y).rgb() == color.rgb();
            QVERIFY2(found, qPrintable(color.name()));
        }
    int width = 1200;
    while (linesIn() > 0 && !legend->isHidden() && width > 200)
        show(width -= 20, 700);
    QVERIFY(!legend->isHidden()); // the words need their room first
    QVERIFY2(legend->text().contains(QStringLiteral("run 1")), qPrintable(legend->text()));
}

/// The legend names the run: a name that would lie on a curve is left out there.
void TestPreviousRun::namesInPicturesCoverNoCurve() {
    for (int i = 1; i <= 200; ++i) // from the top to the bottom of the plot, in few pixels
        m_stack->append(0, record(i, 0, i % 2 ? 0.001f : 1000.0f));
    show(700, 420);
    m_stack->setOverlays({{m_stack->run(), QStringLiteral("1"), 0}});
    draw();
    QCustomPlot& plot = plotOf(*m_stack);
    const QCPAxisRect* loss = plot.axisRect(0);
    QVERIFY(!tagsIn(plot, loss).empty()); // the window has no legend
    QVERIFY(!m_stack->picture().isNull());
    QVERIFY(tagsIn(plot, loss).empty()); // as it was drawn there
    draw();
    QVERIFY(!tagsIn(plot, loss).empty());
}

/// Where there is room, the values of all runs; else "…" for those that are left out.
void TestPreviousRun::headingsHaveAllRunsOrSaySo() {
    train(20, 0.5f);
    show();
    std::vector<Overlay> runs;
    for (const char* tag : {"1", "2", "3"})
        runs.push_back({m_stack->run(), QLatin1String(tag), 0});
    m_stack->setOverlays(runs);
    draw();
    const ReadoutItem* header = lossHeader(*m_stack);
    const QString all = QStringLiteral("A fp32: 0.5 (1A: 0.5, 2A: 0.5, 3A: 0.5)");
    QCOMPARE(header->textsIn(3000).value(1), all);
    int width = 3000;
    // where there is little room, too, runs have their lane's letter, as on their curves
    QVERIFY(header->entries()[0].comparedValue.startsWith(QStringLiteral("0.5 (1A: 0.5, ")));
    while (header->textsIn(width).value(1) == all)
        --width;
    QCOMPARE(header->textsIn(width).value(1), QStringLiteral("A fp32: 0.5 (1A: 0.5, 2A: 0.5, …)"));
}

/// In the room that a window of 1280 pixels leaves the loss beside the slider, with the digits of a
/// real training.
void TestPreviousRun::headingsKeepTheRunBefore() {
    constexpr int kRoom = 430;
    train(20, 0.1094f);
    startAgain();
    m_stack->showPrevious(true);
    train(20, 0.1129f);
    show(664);
    const ReadoutItem* header = lossHeader(*m_stack);
    QCOMPARE(header->textsIn(kRoom).mid(1),
             (QStringList{QStringLiteral("A  0.113 (before: 0.109)"),
                          QStringLiteral("B  0.226 (before: 0.219)")}));
    int width = kRoom; // where there is less, the lane's own value is the last to go
    while (width > 0 && header->textsIn(width).value(1).contains(QStringLiteral("before")))
        --width;
    QCOMPARE(header->textsIn(width).mid(1),
             (QStringList{QStringLiteral("A  0.113"), QStringLiteral("B  0.226")}));
    // a letter that is not the lane's own is told
    m_stack->setLanes({QStringLiteral("bf16"), QStringLiteral("amp-fp16"), QStringLiteral("fp32")});
    train(20, 0.1129f);
    draw();
    QVERIFY2(header->entries()[2].comparedValue.endsWith(QStringLiteral("(before A: 0.109)")),
             qPrintable(header->entries()[2].comparedValue));
}

/// Dashes would drown in noise: in print, they alone tell the lanes of a run apart.
void TestPreviousRun::noiseHasADashedLine() {
    const auto trainNoise = [this] {
        for (int i = 1; i <= 4000; ++i)
            for (int lane = 0; lane < 2; ++lane)
                m_stack->append(lane, record(i, lane, i % 2 == 0 ? 0.1f : 0.2f));
    };
    m_stack->showPrevious(true);
    trainNoise();
    startAgain();
    train(20, 0.25f);
    for (const double size : {1.0, 1.7}) {
        m_stack->magnify(size);
        show();
        const QCPGraph* noise = graphNamed(*m_stack, kBeforeB);
        const QCPGraph* line = graphNamed(*m_stack, kBeforeB + QStringLiteral("/trend"));
        QVERIFY(noise && line && line->dataCount() > 1);
        QVERIFY(noise->pen().style() == Qt::SolidLine && line->pen().style() != Qt::SolidLine);
        QVERIFY(noise->pen().color() != line->pen().color());
        for (const QCPGraphData& each : *line->data())
            QVERIFY(each.value > 0.12 && each.value < 0.18);
        QVERIFY(line->layer()->index() <
                graphNamed(*m_stack, QStringLiteral("Loss/B amp-fp16"))->layer()->index());
    }
}

/// Where curves coincide, a name tells nothing.
void TestPreviousRun::tagsStandWhereCurvesDiffer() {
    constexpr int kApart = 100; // steps
    m_stack->showPrevious(true);
    const auto feed = [this](float first) {
        for (int i = 1; i <= 200; ++i) {
            m_stack->append(0, record(i, 0, i <= kApart ? first : 0.1f));
            m_stack->append(1, record(i, 1, 0.01f));
        }
    };
    feed(0.9f);
    startAgain();
    feed(0.1f);
    show(700, 700);
    const QCPAxisRect* rect = plotOf(*m_stack).axisRect(0);
    int tags = 0;
    for (const QCPItemText* tag : tagsIn(plotOf(*m_stack), rect)) {
        if (!tag->text().endsWith(u'A')) continue;
        ++tags;
        const double apart = rect->axis(QCPAxis::atBottom)->coordToPixel(kApart);
        QVERIFY(tag->bottomRight->pixelPosition().x() < apart + 1);
        QVERIFY(tag->bottomRight->pixelPosition().x() > apart - 20); // as far right as it may
    }
    QCOMPARE(tags, 1);
}

void TestPreviousRun::valuesAreOfTheSameStep() {
    for (int i = 1; i <= 20; ++i)
        m_stack->append(0, record(i, 0, 1.0f / static_cast<float>(i)));
    startAgain();
    m_stack->showPrevious(true);
    for (int i = 1; i <= 30; ++i) {
        m_stack->append(0, record(i, 0, 2.0f / static_cast<float>(i)));
        if (i != 10) continue;
        show();
        QCOMPARE(lossHeader(*m_stack)->entries()[0].value, QStringLiteral("0.2 (before A: 0.1)"));
        QCOMPARE(lossHeader(*m_stack)->entries()[0].shortValue, QStringLiteral("0.2"));
        QCOMPARE(lossHeader(*m_stack)->entries()[1].value, QString());
    }
    draw(); // beyond the end of the earlier run there is nothing to compare with
    QCOMPARE(lossHeader(*m_stack)->entries()[0].value, QStringLiteral("0.06667"));
    m_stack->pinCrosshair(5);
    QCOMPARE(lossHeader(*m_stack)->entries()[0].value, QStringLiteral("0.4 (before A: 0.2)"));
    QTest::qWait(1100); // screen readers hear of it once a second
    m_stack->pinCrosshair(4);
    QVERIFY2(
        m_stack->accessibleDescription().contains(QStringLiteral("A fp32 0.5 (before A: 0.25)")),
        qPrintable(m_stack->accessibleDescription()));
}

void TestPreviousRun::runsWithoutStepsChangeNothing() {
    m_stack->showPrevious(true);
    train(5, 0.5f);
    startAgain();
    startAgain(); // nothing was trained in between
    train(3, 0.25f);
    show();
    QCOMPARE(pointsOf(*m_stack, kBeforeA), 2);
    m_stack->forgetLosses();
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")});
    draw();
    QCOMPARE(pointsOf(*m_stack, kBeforeA), -1);
}

/// With equally many lanes, lanes correspond by number, whatever they were changed to; otherwise by
/// name. Curves of lanes without a counterpart are drawn nevertheless.
void TestPreviousRun::lanesAreMatched() {
    m_stack->showPrevious(true);
    train(5, 0.5f); // B has twice that
    startAgain({QStringLiteral("fp32"), QStringLiteral("amp-bf16")});
    train(1, 4);
    show();
    const auto said = [this](int lane) { return lossHeader(*m_stack)->entries()[lane].value; };
    QCOMPARE(graphNamed(*m_stack, kBeforeB)->data()->constBegin()->value, 1.0);
    QCOMPARE(said(1), QStringLiteral("8 (before B: 1)"));
    m_stack->forgetLosses();
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")});
    train(5, 0.5f);
    startAgain({QStringLiteral("tf32"), QStringLiteral("amp-fp16"), QStringLiteral("fp32")});
    train(1, 4);
    draw();
    QCOMPARE(said(0), QStringLiteral("4"));
    QCOMPARE(said(1), QStringLiteral("8 (before B: 1)"));
    QCOMPARE(said(2), QStringLiteral("12 (before A: 0.5)"));
    startAgain({QStringLiteral("bf16")});
    draw();
    QCOMPARE(pointsOf(*m_stack, kBeforeA), 1);
    QCOMPARE(pointsOf(*m_stack, kBeforeB), 1);
}

/// Curves that end at the same height, at the upper edge, each have a name that can be read.
void TestPreviousRun::tagsKeepApart() {
    m_stack->showPrevious(true);
    for (int i = 1; i <= 20; ++i)
        for (int lane = 0; lane < 2; ++lane) // B comes up to A at the end
            m_stack->append(
                lane,
                record(i, lane, lane == 1 && i < 15 ? 0.5f : 0.5f + 0.1f * static_cast<float>(i)));
    startAgain();
    train(1, 0.5f);
    show();
    std::vector<QRectF> tags;
    const QCPAxisRect* rect = plotOf(*m_stack).axisRect(0);
    for (const QCPItemText* tag : tagsIn(plotOf(*m_stack), rect)) {
        tags.emplace_back(tag->topLeft->pixelPosition(), tag->bottomRight->pixelPosition());
        QVERIFY(tags.back().top() >= rect->top() - 1);
    }
    QCOMPARE(tags.size(), size_t{2});
    QVERIFY(!tags[0].intersects(tags[1]));
}

/// Beside two curves that coincide, one name would pass for that of either.
void TestPreviousRun::curvesTogetherHaveOneTag() {
    m_stack->showPrevious(true);
    for (int i = 1; i <= 200; ++i)
        for (int lane = 0; lane < 2; ++lane)
            m_stack->append(lane, record(i, lane, lane == 1 && i < 4 ? 0.21f : 0.2f));
    startAgain();
    train(1, 0.5f);
    show(700, 700);
    const auto names = [this] {
        QStringList texts;
        for (const QCPItemText* tag : tagsIn(plotOf(*m_stack), plotOf(*m_stack).axisRect(0)))
            texts << tag->text();
        return texts;
    };
    QCOMPARE(names(), QStringList{QStringLiteral("before A, before B")});
    startAgain();
    for (int i = 1; i <= 200; ++i)
        for (int lane = 0; lane < 2; ++lane)
            m_stack->append(lane, record(i, lane, lane == 1 && i < 100 ? 0.4f : 0.2f));
    startAgain();
    train(1, 0.5f);
    draw();
    QCOMPARE(names(), (QStringList{QStringLiteral("before A"), QStringLiteral("before B")}));
}

/// While training goes on, nobody can read a name that jumps to ever better places.
void TestPreviousRun::tagsStayWhereTheyFit() {
    constexpr int kNear = 100; // steps
    m_stack->showPrevious(true);
    for (int i = 1; i <= 200; ++i) {
        m_stack->append(0, record(i, 0, 0.1f));
        m_stack->append(1, record(i, 1, i == 1 ? 1.0f : 0.01f)); // so that A has room above
    }
    startAgain();
    m_stack->append(0, record(1, 0, 0.02f));
    show(700, 700);
    QCustomPlot& plot = plotOf(*m_stack);
    const auto place = [&plot] {
        for (const QCPItemText* tag : tagsIn(plot, plot.axisRect(0)))
            if (tag->text().endsWith(u'A')) return tag->bottomRight->pixelPosition();
        return QPointF();
    };
    const QPointF before = place();
    const QCPAxis& axis = *graphNamed(*m_stack, kBeforeA)->valueAxis();
    const auto nearIt = static_cast<float>(
        axis.pixelToCoord(axis.coordToPixel(0.1) + 0.75 * QFontMetrics(plot.font()).height()));
    for (int i = 2; i <= 200; ++i) // later steps come near the curve, but not over its name
        m_stack->append(0, record(i, 0, i < kNear ? 0.02f : nearIt));
    draw();
    QVERIFY(before.x() > graphNamed(*m_stack, kBeforeA)->keyAxis()->coordToPixel(kNear));
    QVERIFY2((place() - before).manhattanLength() < 3, qPrintable(QString::number(place().x())));
}

/// Each name lies right above or below its own curve, and covers no other one.
void TestPreviousRun::tagsStandByTheirCurves() {
    m_stack->showPrevious(true);
    const auto feed = [this](float a, float b) {
        for (int i = 1; i <= 200; ++i) {
            const float falls = std::exp(-0.02f * static_cast<float>(i));
            m_stack->append(0, record(i, 0, a * falls + 0.01f));
            m_stack->append(1, record(i, 1, b * falls + 0.01f));
        }
    };
    feed(1.0f, 0.5f);
    startAgain();
    feed(0.98f, 0.6f);
    show(700, 700);
    const QCPAxisRect* rect = plotOf(*m_stack).axisRect(0);
    int tags = 0;
    for (const QCPItemText* tag : tagsIn(plotOf(*m_stack), rect)) {
        ++tags;
        const QRectF place(tag->topLeft->pixelPosition(), tag->bottomRight->pixelPosition());
        QVERIFY2(rect->rect().adjusted(-1, -1, 1, 1).contains(place.toRect()),
                 qPrintable(tag->text()));
        for (const char* name :
             {"Loss/before A", "Loss/before B", "Loss/A fp32", "Loss/B amp-fp16"}) {
            const QCPGraph* graph = graphNamed(*m_stack, QLatin1String(name));
            double nearest = 1e9;
            for (const QCPGraphData& each : *graph->data()) {
                const double x = graph->keyAxis()->coordToPixel(each.key);
                const double y = graph->valueAxis()->coordToPixel(each.value);
                if (x < place.left() || x > place.right()) continue;
                QVERIFY2(y < place.top() || y > place.bottom(),
                         qPrintable(tag->text() + QLatin1String(" on ") + QLatin1String(name)));
                nearest = std::min(nearest, std::max(place.top() - y, y - place.bottom()));
            }
            if (graph->name().endsWith(tag->text()))
                QVERIFY2(nearest < 6, qPrintable(QString::number(nearest)));
        }
    }
    QCOMPARE(tags, 2);
}

/// Plots that appear or disappear are built anew.
void TestPreviousRun::plotsMayChange() {
    m_stack->showPrevious(true);
    train(5, 0.5f);
    startAgain({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {Measure::LearningRate});
    show();
    QCOMPARE(pointsOf(*m_stack, kBeforeB), 2);
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")});
    draw();
    QCOMPARE(pointsOf(*m_stack, kBeforeB), 2);
}

void TestPreviousRun::theWindowKeepsIt() {
    Opened opened(tinyConfig(20));
    MainWindow& window = opened.window;
    QVERIFY(reaches(window, SessionState::Ready));
    QTest::keyClick(&window, Qt::Key_B);
    QVERIFY(window.shown().showsBefore());
    const auto train = [&window] {
        if (!reaches(window, SessionState::Ready)) return false;
        window.play();
        return reaches(window, SessionState::Finished) &&
               QTest::qWaitFor([&] { return window.run().step() == 20; }, kPatience);
    };
    QVERIFY(train());
    const int before = pointsOf(window.plots(), QStringLiteral("Loss/A fp32"));
    window.restart();
    QVERIFY(train());
    QTRY_COMPARE_WITH_TIMEOUT(pointsOf(window.plots(), kBeforeA), before, kPatience);
    // another experiment's losses cannot be compared with these
    window.openExperiment(opened.folder.filePath(QStringLiteral("small.json")));
    QVERIFY(train());
    QTRY_VERIFY_WITH_TIMEOUT(pointsOf(window.plots(), QStringLiteral("Loss/A fp32")) > 0,
                             kPatience);
    QVERIFY(!graphNamed(window.plots(), kBeforeA));
}

} // namespace tst_previous_run

QTEST_MAIN(tst_previous_run::TestPreviousRun)
#include "tst_previous_run.moc"
