// What live edits and forks do to the curves: they jump where a setting changes, begin where a fork
// does, and end where a loss scale does.
#include "tests/support/shown_plots.h"
#include "ui/plots/curve.h"
#include "ui/plots/readout_item.h"

#include <QtTest>

#include <algorithm>

namespace tst_plot_changes {

using namespace halfscope;

namespace {

/// Returns the graph of a lane, whatever its title is.
const QCPGraph& graphOf(const PlotStack& stack, const QString& plot, char lane) {
    const QString begin = plot + u'/' + QLatin1Char(lane) + u' ';
    QCustomPlot& all = plotOf(stack);
    for (int i = 0; i < all.graphCount(); ++i) {
        const QString name = all.graph(i)->name();
        if (name.startsWith(begin) && !name.endsWith(QStringLiteral("/trend")))
            return *all.graph(i);
    }
    qFatal("no such curve");
}

} // namespace

class TestPlotChanges : public QObject, private ShownPlots {
    Q_OBJECT
private slots:
    void init() { makeStack(); }
    void meansJumpAtTheFlag();
    void smoothPartsAreDrawnExactly();
    void scaleAxesNameTheirEnds();
    void aLaterEndIsNoJump();
    void forksBeginAtTheirFork();
    void forksOfAnUnscaledLaneHaveNoScaleYet();
    void scalesOfForksBeginWithTheirOwn();
    void denseForksAreLinesToo();
    void gradientsAreThoseOfTheLastFork();
    void scalesEndWhereTheyAreSwitchedOff();
    void valuesWaitForOtherFigures();

private:
    /// Makes a third lane that continues another one, by default the second.
    void fork(int64_t step, int parent = 1) {
        RunBatch batch;
        LaneInfo lane;
        lane.name = lane.title = "fp32-2";
        lane.parent = parent;
        lane.forkStep = step;
        batch.lanes.push_back(lane);
        m_stack->run()->append(std::move(batch));
    }
};

/// The line through the middle of noise does not rise before the setting is changed that lets it.
void TestPlotChanges::meansJumpAtTheFlag() {
    constexpr int64_t kSteps = 4000, kChange = 3011;
    for (int64_t step = 1; step <= kSteps; ++step) {
        const float noise = 0.01f * static_cast<float>(step % 2);
        m_stack->append(1, record(step, 1, (step < kChange ? 0.1f : 10.0f) + noise));
    }
    m_stack->addEvent(eventOf(EventKind::Edit, kChange, 1));
    for (const double size : {1.0, 2.2}) { // thick lines have few points
        m_stack->magnify(size);
        show();
        const QCPGraph* line = graphNamed(*m_stack, QStringLiteral("Loss/B amp-fp16/trend"));
        QVERIFY(line && line->data()->size() > 3); // the middle of level stretches is left out
        double last = 0, next = 0;                 // the points on both sides
        for (const QCPGraphData& point : *line->data()) {
            QCOMPARE(point.value > 1, point.key >= kChange);
            if (point.key < kChange) last = point.key;
            if (point.key >= kChange && next == 0) next = point.key;
        }
        QCOMPARE(last, double(kChange - 1));
        QCOMPARE(next, double(kChange));
    }
}

/// A mean of the first steps of a fall and of those before would begin to fall too early.
void TestPlotChanges::smoothPartsAreDrawnExactly() {
    constexpr int kLevel = 25, kNoise = 60;
    const auto lossAt = [](int step) {
        if (step <= kLevel) return 0.9f;
        if (step <= kNoise) return 0.9f * std::exp(-0.05f * static_cast<float>(step - kLevel));
        return (step % 2 == 0 ? 0.14f : 0.17f) + 1e-5f * static_cast<float>(step);
    };
    for (int step = 1; step <= 300; ++step)
        m_stack->append(1, record(step, 1, lossAt(step)));
    m_stack->magnify(2.2);
    show();
    const QCPGraph* line = graphNamed(*m_stack, QStringLiteral("Loss/B amp-fp16/trend"));
    QVERIFY(line && !line->data()->isEmpty());
    QCOMPARE(line->data()->constBegin()->key, 1.0);
    int means = 0;
    for (const QCPGraphData& point : *line->data()) {
        const int step = static_cast<int>(point.key);
        if (step < kNoise - 30) QCOMPARE(static_cast<float>(point.value), lossAt(step));
        if (step <= kNoise + 30) continue;
        QVERIFY(point.value > 0.145 && point.value < 0.165);
        ++means;
    }
    QVERIFY(means > 1 && means < 100);
}

/// The first and the last loss scale are what a reader looks for.
void TestPlotChanges::scaleAxesNameTheirEnds() {
    for (int step = 1; step <= 300; ++step)
        m_stack->append(1, record(step, 1, 0.1f, std::ldexp(1.0f, std::max(15, 41 - step))));
    for (const int height : {320, 420, 700}) {
        show(500, height);
        const QCPAxis& axis =
            *graphNamed(*m_stack, QStringLiteral("Loss scale/B amp-fp16"))->valueAxis();
        QVector<double> ticks;
        QVector<QString> labels;
        axis.ticker()->generate(axis.range(), QLocale::c(), u'g', 6, ticks, nullptr, &labels);
        QVERIFY2(labels.contains(QStringLiteral("2^40")) && labels.contains(QStringLiteral("2^15")),
                 qPrintable(QStringList(labels.begin(), labels.end()).join(u' ')));
        QVERIFY(std::is_sorted(ticks.begin(), ticks.end()));
    }
}

/// Continue moves the run's end, and leaves the lanes as they are.
void TestPlotChanges::aLaterEndIsNoJump() {
    Curve curve(m_stack->run(), 1, metric::Loss);
    int64_t step = 500;
    for (const char* key : {"run.steps", "run.epochs", "run.patience"}) {
        Event event = eventOf(EventKind::Edit, step++, -1);
        event.tensor = key;
        m_stack->addEvent(event);
        QVERIFY2(curve.changes().empty(), key);
    }
    Event event = eventOf(EventKind::Edit, step, -1);
    event.tensor = "optimizer.lr";
    m_stack->addEvent(event);
    QCOMPARE(curve.changes().size(), size_t{1});
    QCOMPARE(curve.changes().front(), step);
}

/// Before, its curve would hide that of its parent. A fork without a loss scale has none, although
/// its parent's is in its past.
void TestPlotChanges::forksBeginAtTheirFork() {
    constexpr int64_t kFork = 40, kSteps = 60;
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {false, true, false});
    for (int64_t step = 1; step <= kSteps; ++step) {
        if (step == kFork + 1) fork(kFork);
        for (int lane = 0; lane < (step > kFork ? 3 : 2); ++lane)
            m_stack->append(
                lane, record(step, lane, 0.5f + static_cast<float>(lane), lane == 1 ? 65536 : 1));
    }
    for (const int64_t step : {kFork, kFork + 1})
        m_stack->addEvent(eventOf(EventKind::Edit, step, -1)); // of all lanes
    show();
    QCOMPARE(m_stack->lanes(), 3);
    const QString edit = QString::fromLatin1(nameOf(EventKind::Edit)) + u'/';
    QCOMPARE(graphNamed(*m_stack, edit + u'B')->data()->size(), 2);
    QCOMPARE(graphNamed(*m_stack, edit + u'C')->data()->size(), 1);
    const auto& parent = *graphOf(*m_stack, QStringLiteral("Loss"), 'B').data();
    QCOMPARE(parent.at(0)->key, 1.0);
    QCOMPARE((parent.constEnd() - 1)->key, double{kSteps});
    const auto& own = *graphOf(*m_stack, QStringLiteral("Loss"), 'C').data();
    QCOMPARE(own.at(0)->key, double{kFork}); // joined to its parent's
    QCOMPARE(own.at(0)->value, 1.5);
    QCOMPARE((own.constEnd() - 1)->key, double{kSteps});
    QCOMPARE((own.constEnd() - 1)->value, 2.5);
    QCOMPARE(graphOf(*m_stack, QStringLiteral("Loss scale"), 'C').data()->size(), 0);
    QVERIFY(graphOf(*m_stack, QStringLiteral("Loss scale"), 'B').data()->size() > 1);
    for (const PlottedCurve& curve : m_stack->values(QStringLiteral("scale")).curves)
        QCOMPARE(curve.lane, 1);
    const std::string saved = csvText(m_stack->values(QStringLiteral("loss")));
    QVERIFY2(saved.find("\n40,0.5,1.5,\n41,0.5,1.5,2.5\n") != saved.npos, saved.c_str());
    const auto* header = qobject_cast<ReadoutItem*>(plotOf(*m_stack).item(0));
    for (int i = 0; !header; ++i)
        header = qobject_cast<ReadoutItem*>(plotOf(*m_stack).item(i));
    m_stack->pinCrosshair(kFork); // nothing is read where there is no curve
    QCOMPARE(header->entries().size(), 2);
    QCOMPARE(header->entries()[1].value, QStringLiteral("1.5"));
    m_stack->pinCrosshair(kFork + 1);
    QCOMPARE(header->entries()[2].value, QStringLiteral("2.5"));
    m_stack->resize(1600, 800);
    draw();
    const int whole = 2 * plotOf(*m_stack).height();
    QCOMPARE(m_stack->picture().height(), whole); // the headings name all lanes
    m_stack->pinCrosshair(kFork);
    QVERIFY(m_stack->picture().height() > whole); // they lack the fork, which a legend names
}

/// Unless the user has chosen a lane.
void TestPlotChanges::gradientsAreThoseOfTheLastFork() {
    for (const bool chosen : {false, true}) {
        m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")},
                          {false, true, true});
        for (const int lane : {0, 1})
            m_stack->append(lane, record(1, lane, 0.5f, 1));
        show();
        QCOMPARE(m_stack->gradientLane(), 1); // the first with a loss scale
        if (chosen) m_stack->chooseGradientLane(0);
        fork(1);
        draw();
        QCOMPARE(m_stack->lanes(), 3);
        QCOMPARE(m_stack->gradientLane(), chosen ? 0 : 2);
    }
}

/// The ones that its parent's column has without a scale are none of the fork's either.
void TestPlotChanges::forksOfAnUnscaledLaneHaveNoScaleYet() {
    constexpr int64_t kFork = 5;
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {false, true, true});
    const auto train = [this](int64_t step, int lanes) {
        for (int lane = 0; lane < lanes; ++lane)
            m_stack->append(lane, record(step, lane, 0.5f, lane == 0 ? 1 : 65536));
    };
    for (int64_t step = 1; step <= kFork; ++step)
        train(step, 2);
    fork(kFork, 0);
    show();
    const auto scaleOf = [this](int lane) {
        QCustomPlot& plot = plotOf(*m_stack);
        QVector<ReadoutItem*> headers;
        for (int i = 0; i < plot.itemCount(); ++i)
            if (auto* item = qobject_cast<ReadoutItem*>(plot.item(i))) headers << item;
        return headers.value(1)->entries().value(lane).value; // the loss comes first
    };
    QCOMPARE(scaleOf(0), QStringLiteral("none"));
    QCOMPARE(scaleOf(1), QLocale().toString(65536) + QStringLiteral(" = 2^16"));
    QCOMPARE(scaleOf(2), QStringLiteral("none"));
    train(kFork + 1, 3);
    draw();
    QCOMPARE(scaleOf(2), QLocale().toString(65536) + QStringLiteral(" = 2^16"));
    m_stack->pinCrosshair(kFork); // where it is not there yet
    QCOMPARE(scaleOf(2), QString());
}

/// A fork's scale is joined to that of its parent. From a parent without one, the curve would rise
/// from 1 to a scale that was never reached that way.
void TestPlotChanges::scalesOfForksBeginWithTheirOwn() {
    constexpr int64_t kFork = 5, kSteps = 12;
    for (const int parent : {0, 1}) {
        m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")},
                          {false, true, true});
        for (int64_t step = 1; step <= kSteps; ++step) {
            if (step == kFork + 1) fork(kFork, parent);
            for (int lane = 0; lane < (step > kFork ? 3 : 2); ++lane)
                m_stack->append(lane, record(step, lane, 0.5f, lane == 0 ? 1 : 65536));
        }
        const auto run = m_stack->run();
        show();
        const QString title = QStringLiteral("Loss scale");
        const QCPGraph& scale = graphOf(*m_stack, title, 'C');
        const auto begin = [&] { return scale.data()->constBegin(); };
        QVERIFY(!scale.data()->isEmpty());
        QCOMPARE(begin()->key, double(parent == 0 ? kFork + 1 : kFork));
        QCOMPARE(begin()->value, 65536.0);
        QVERIFY(!scale.valueAxis()->range().contains(1)); // nothing is there
        QCOMPARE(graphOf(*m_stack, QStringLiteral("Loss"), 'C').data()->constBegin()->key,
                 double{kFork}); // a loss is one, whatever its lane scales
        // of a run behind, too
        m_stack->setOverlays({{run, QStringLiteral("1"), 0}});
        draw();
        const QCPGraph* behind = graphNamed(*m_stack, title + QStringLiteral("/1C"));
        QVERIFY(behind && !behind->data()->isEmpty());
        QCOMPARE(behind->data()->constBegin()->key, begin()->key);
        m_stack->setOverlays({});
    }
}

/// A fork that has a part of the width alone is as dense there as other lanes are.
void TestPlotChanges::denseForksAreLinesToo() {
    constexpr int64_t kFork = 6000, kSteps = 8000;
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {false, true, false});
    for (int64_t step = 1; step <= kSteps; ++step) {
        if (step == kFork + 1) fork(kFork);
        for (int lane = 0; lane < (step > kFork ? 3 : 2); ++lane)
            m_stack->append(
                lane, record(step, lane,
                             static_cast<float>(step % 2) + 1e-3F * static_cast<float>(step)));
    }
    show();
    const auto lineOf = [this](char lane) {
        const QString name = graphOf(*m_stack, QStringLiteral("Loss"), lane).name();
        return graphNamed(*m_stack, name + QStringLiteral("/trend"));
    };
    QVERIFY(lineOf('B') && lineOf('B')->data()->size() > 10);
    QVERIFY(lineOf('C') && lineOf('C')->data()->size() > 4);
    QVERIFY(lineOf('C')->data()->constBegin()->key > kFork);
    QVERIFY(lineOf('C')->data()->size() < lineOf('B')->data()->size() / 2);
}

void TestPlotChanges::scalesEndWhereTheyAreSwitchedOff() {
    constexpr int64_t kOff = 51, kSteps = 100;
    m_stack->setLanes({QStringLiteral("fp32"), QStringLiteral("fp32")}, {false, false});
    for (int64_t step = 1; step <= kSteps; ++step)
        m_stack->append(1, record(step, 1, 0.5f, step < kOff ? 65536 : 1));
    m_stack->addEvent(eventOf(EventKind::Edit, kOff, 1));
    m_stack->addEvent(eventOf(EventKind::Edit, 80, 1)); // of another setting
    m_stack->addEvent(eventOf(EventKind::Edit, kSteps + 1, 1));
    show();
    const auto& scale = *graphOf(*m_stack, QStringLiteral("Loss scale"), 'B').data();
    QVERIFY(scale.size() > 0);
    QCOMPARE((scale.constEnd() - 1)->key, double{kOff - 1});
    QVERIFY(std::all_of(scale.constBegin(), scale.constEnd(),
                        [](const QCPGraphData& point) { return point.value == 65536; }));
    const std::string saved = csvText(m_stack->values(QStringLiteral("scale")));
    QVERIFY2(saved.ends_with("\n50,65536\n"), saved.c_str());
}

/// The headers show newer values when the other figures do, or where the user points; the curves do
/// not wait.
void TestPlotChanges::valuesWaitForOtherFigures() {
    m_stack->append(1, record(1, 1, 0.5f));
    m_stack->append(1, record(2, 1, 0.25f));
    show();
    const ReadoutItem* loss = nullptr;
    for (int i = 0; i < plotOf(*m_stack).itemCount() && !loss; ++i)
        loss = qobject_cast<ReadoutItem*>(plotOf(*m_stack).item(i));
    QVERIFY(loss);
    const auto said = [&] { return loss->entries()[1].value; };
    QCOMPARE(said(), QStringLiteral("0.25"));
    m_stack->holdValues(true);
    m_stack->append(1, record(3, 1, 0.125f));
    QVERIFY(m_stack->refresh());
    QCOMPARE(said(), QStringLiteral("0.25"));
    QCOMPARE(graphOf(*m_stack, QStringLiteral("Loss"), 'B').dataCount(), 3);
    m_stack->pinCrosshair(1);
    QCOMPARE(said(), QStringLiteral("0.5"));
    m_stack->append(1, record(4, 1, 0.0625f));
    m_stack->refresh();
    QCOMPARE(said(), QStringLiteral("0.5"));
    m_stack->setFollow(true);
    m_stack->append(1, record(5, 1, 0.1f));
    m_stack->refresh();
    m_stack->holdValues(false); // nothing is newer than what was drawn, but for the headers
    QVERIFY(m_stack->refresh());
    QCOMPARE(said(), QStringLiteral("0.1"));
    QVERIFY(!m_stack->refresh());
}

} // namespace tst_plot_changes

QTEST_MAIN(tst_plot_changes::TestPlotChanges)
#include "tst_plot_changes.moc"
