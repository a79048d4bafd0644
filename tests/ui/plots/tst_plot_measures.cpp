// Plots that only some experiments have: the learning rate of a schedule, and the norm of gradients
// that are clipped or penalised.
#include "engine/settings/fields.h"
#include "tests/support/opened_window.h"
#include "tests/support/plot_parts.h"
#include "tests/support/shown_window.h"
#include "ui/plots/measure.h"

#include <QMouseEvent>
#include <QTest>
#include <QToolTip>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tst_plot_measures {

using namespace halfscope;

namespace {

const QStringList kLanes{QStringLiteral("fp32"), QStringLiteral("amp-fp16")};

/// Returns the titles of the curves' plots, from top to bottom.
QStringList plotted(const PlotStack& stack) {
    QStringList titles;
    QCustomPlot& plot = plotOf(stack);
    for (int i = 0; i < plot.axisRectCount(); ++i)
        for (QCPGraph* graph : plot.axisRect(i)->graphs())
            if (const QLatin1String lane("/A fp32"); graph->name().endsWith(lane))
                titles << graph->name().chopped(lane.size());
    return titles;
}

/// Starts a run with a critic; shows it and, unless the generator's losses are lacking, has some.
void showJudged(PlotStack& stack, FedRun& fed, Adversary adversary, float first,
                bool lacking = false) {
    RunConfig config;
    config.model.adversary = adversary;
    fed.start(kLanes, {}, config);
    for (int step = 1; step <= 3; ++step)
        for (const int lane : {0, 1}) {
            StepRecord row = record(step, lane, 1.25f);
            if (!lacking) row.generatorLoss = first * static_cast<float>(step);
            fed.append({&row, 1}, {});
        }
    stack.setRun(fed.run);
    stack.resize(1200, 700);
    stack.show();
}

/// Returns the tool tip of the plot's header.
QString tipOf(PlotStack& stack, const QCPGraph& graph) {
    QCustomPlot& plot = plotOf(stack);
    const QPointF header = graph.keyAxis()->axisRect()->rect().topLeft() + QPoint(10, -8);
    QMouseEvent move(QEvent::MouseMove, header, plot.mapToGlobal(header), Qt::NoButton,
                     Qt::NoButton, Qt::NoModifier);
    QApplication::sendEvent(&plot, &move);
    return QToolTip::text();
}

} // namespace

class TestPlotMeasures : public QObject {
    Q_OBJECT
private slots:
    void standBetweenScaleAndThroughput();
    void withoutALossScale();
    void withoutALossScaleAnyMore();
    void showTheirValues();
    void comeAndGo();
    void littleRoomKeepsThem();
    void windowChooses_data();
    void windowChooses();
    void watchedWeightsHavePlotsFromTheStart();
    void ratesThatFallFarAreLogarithmic();
    void lossOfACriticNeedNotFall();
    void generatorStandsBesideItsCritic();
    void lossesBelowZeroAreSeen();
    void firstScaleIsOnTheAxis();
    void accuraciesOfNanAreNone();
};

void TestPlotMeasures::standBetweenScaleAndThroughput() {
    FedPlots stack;
    stack.setLanes(kLanes);
    const QStringList usual{QStringLiteral("Loss"), QStringLiteral("Loss scale"),
                            QStringLiteral("Throughput (steps/s)"),
                            QStringLiteral("Skipped steps")};
    QCOMPARE(plotted(stack), usual);
    stack.setLanes(kLanes, {}, {Measure::LearningRate, Measure::GradientNorm});
    QStringList all = usual;
    all.insert(2, QStringLiteral("Learning rate"));
    all.insert(3, QStringLiteral("Gradient norm"));
    QCOMPARE(plotted(stack), all);
    stack.setLanes(kLanes);
    QCOMPARE(plotted(stack), usual);
}

/// The later falls would lie on the edge of a linear axis. A cycle is known by its linear shape.
void TestPlotMeasures::ratesThatFallFarAreLogarithmic() {
    PlotStack stack;
    FedRun fed;
    const auto typeFor = [&](ScheduleKind kind, double gamma, const QStringList& more = {}) {
        RunConfig config;
        config.schedule.kind = kind;
        config.schedule.totalSteps = config.steps = 300;
        config.schedule.stepSize = 100;
        config.schedule.gamma = gamma;
        for (const QString& setting : more)
            applySetting(config, setting.toStdString());
        fed.start({QStringLiteral("fp32")}, {}, config);
        stack.setRun(fed.run);
        const QCPGraph* graph = graphNamed(stack, QStringLiteral("Learning rate/A fp32"));
        return graph ? int(graph->valueAxis()->scaleType()) : -1;
    };
    QCOMPARE(typeFor(ScheduleKind::Step, 0.5), int(QCPAxis::stLinear));
    QCOMPARE(typeFor(ScheduleKind::Step, 0.1), int(QCPAxis::stLogarithmic));
    QCOMPARE(typeFor(ScheduleKind::Exponential, 0.995), int(QCPAxis::stLinear)); // to 22 %
    QCOMPARE(typeFor(ScheduleKind::Exponential, 0.98), int(QCPAxis::stLogarithmic));
    QCOMPARE(typeFor(ScheduleKind::OneCycle, 0.1), int(QCPAxis::stLinear));
    // only rates that a step has count: there is one fall here, to a tenth
    const QString half = QStringLiteral("schedule.step_size=150");
    QCOMPARE(typeFor(ScheduleKind::Step, 0.1, {half}), int(QCPAxis::stLinear));
    QCOMPARE(typeFor(ScheduleKind::Step, 0.1, {half, "run.steps=301"}),
             int(QCPAxis::stLogarithmic));
    QCOMPARE(typeFor(ScheduleKind::Step, 0.1, {"run.steps=150"}), int(QCPAxis::stLinear));
    QCOMPARE(typeFor(ScheduleKind::Step, 0.1, {"gradients.accumulate=2"}), int(QCPAxis::stLinear));
    QCOMPARE(typeFor(ScheduleKind::Exponential, 0.98, {"schedule.warmup_steps=50", "run.steps=2"}),
             int(QCPAxis::stLinear)); // it ends as it rises
    // a run knows its steps without its files
    const QStringList gone{"data.kind=csv", "data.path=/nowhere/gone.csv", "run.epochs=20"};
    QCOMPARE(
        typeFor(ScheduleKind::Exponential, 0.98, gone + QStringList{"schedule.total_steps=2000"}),
        int(QCPAxis::stLogarithmic));
    QCOMPARE(typeFor(ScheduleKind::Exponential, 0.98, gone + QStringList{"schedule.total_steps=0"}),
             int(QCPAxis::stLogarithmic));
    // the last rates are zero in double precision
    QCOMPARE(
        typeFor(ScheduleKind::Exponential, 0.9, {"run.steps=10000", "schedule.total_steps=10000"}),
        int(QCPAxis::stLogarithmic));
}

void TestPlotMeasures::lossOfACriticNeedNotFall() {
    const auto explained = [](Adversary adversary) {
        RunConfig config;
        config.model.adversary = adversary;
        return explanationOf(metricIn(config, knownMetrics()[metric::Loss]));
    };
    QVERIFY(explained(Adversary::None).contains(QLatin1String("Training makes it smaller.")));
    for (const Adversary each : {Adversary::Gan, Adversary::WganGp}) {
        QVERIFY(!explained(each).contains(QLatin1String("Training makes it smaller.")));
        QVERIFY(explained(each).contains(QLatin1String("It need not fall")));
    }
    QVERIFY(explained(Adversary::Gan).startsWith(QLatin1String("The critic's loss")));
    QVERIFY(explained(Adversary::WganGp).startsWith(QLatin1String("Minus the critic's loss")));
    RunConfig config;
    config.model.adversary = Adversary::Gan;
    QCOMPARE(titleOf(metricIn(config, knownMetrics()[metric::Loss])),
             QStringLiteral("Critic's loss"));
    QCOMPARE(titleOf(metricIn(config, knownMetrics()[metric::Scale])),
             QStringLiteral("Loss scale"));
}

/// Its curves are dotted, in the colours of the lanes, on the same axis; header, tool tip and the
/// words for a screen reader tell what they are.
void TestPlotMeasures::generatorStandsBesideItsCritic() {
    PlotStack stack;
    FedRun fed;
    showJudged(stack, fed, Adversary::Gan, 0.5f);
    QVERIFY(test::isExposed(&stack));
    stack.refresh();
    const QCPGraph* critic = graphNamed(stack, QStringLiteral("Critic's loss/A fp32"));
    const QCPGraph* made = graphNamed(stack, QStringLiteral("Critic's loss/A fp32 (Generator)"));
    QVERIFY(critic && made);
    QCOMPARE(made->dataCount(), 3);
    QCOMPARE(made->dataMainValue(2), 1.5);
    QCOMPARE(made->valueAxis(), critic->valueAxis());
    QVERIFY(made->valueAxis()->range().contains(0.5) && made->valueAxis()->range().contains(1.5));
    QCOMPARE(made->pen().color(), critic->pen().color());
    QCOMPARE(critic->pen().style(), Qt::SolidLine);
    QCOMPARE(made->pen().dashPattern(), QVector<qreal>({1, 2}));
    QVERIFY(!plotted(stack).contains(QStringLiteral("Generator's loss"))); // no plot of its own
    QTRY_VERIFY2(tipOf(stack, *made)
                     .contains(QLatin1String("Dotted lines: The loss of the network "
                                             "that")),
                 qPrintable(tipOf(stack, *made)));
    stack.showStep(3);
    QTest::keyClick(&stack, Qt::Key_Left); // says where it is
    const QString spoken = stack.accessibleDescription();
    QVERIFY2(spoken.contains(QStringLiteral("Critic's loss, A fp32 1.25 (Generator, dotted: 1), "
                                            "B amp-fp16 1.25 (Generator, dotted: 1)")),
             qPrintable(spoken));
    stack.setOverlays({{fed.run, QStringLiteral("2"), 0, QStringLiteral("before")}});
    stack.refresh();
    const QCPGraph* other = graphNamed(stack, QStringLiteral("Critic's loss/2B (Generator)"));
    QVERIFY(other && other->dataCount() == 3);
    QCOMPARE(other->pen().dashPattern(), QVector<qreal>({1, 2}));
    FedRun older; // lacks the losses of generators
    showJudged(stack, older, Adversary::Gan, 0, true);
    stack.setOverlays({{older.run, QStringLiteral("2"), 0, QStringLiteral("before")}});
    stack.refresh();
    made = graphNamed(stack, QStringLiteral("Critic's loss/A fp32 (Generator)"));
    QVERIFY(made);
    QCOMPARE(made->dataCount(), 0);
    QVERIFY(!graphNamed(stack, QStringLiteral("Critic's loss/2B (Generator)")));
    const QCPGraph* alone = graphNamed(stack, QStringLiteral("Critic's loss/A fp32"));
    QTRY_VERIFY(tipOf(stack, *alone).contains(QLatin1String("The critic's loss")));
    QVERIFY2(!tipOf(stack, *alone).contains(QLatin1String("Dotted")),
             qPrintable(tipOf(stack, *alone)));
}

/// Scores of a Wasserstein critic may have any sign.
void TestPlotMeasures::lossesBelowZeroAreSeen() {
    PlotStack stack;
    FedRun fed;
    showJudged(stack, fed, Adversary::WganGp, -2);
    QVERIFY(test::isExposed(&stack));
    stack.refresh();
    const QCPGraph* made = graphNamed(stack, QStringLiteral("Critic's distance/B amp-fp16 "
                                                            "(Generator)"));
    QVERIFY(made && made->dataCount() == 3);
    QCOMPARE(made->valueAxis()->scaleType(), QCPAxis::stLinear);
    QVERIFY(made->valueAxis()->range().contains(-6) && made->valueAxis()->range().contains(1.25));
}

/// Before the first step, the scale with which it will be taken is known.
void TestPlotMeasures::firstScaleIsOnTheAxis() {
    PlotStack stack;
    const auto isOnAxis = [&](double scale) {
        RunInfo info;
        info.config.lanes.resize(1);
        info.config.lanes[0].precision = Precision::AmpFp16;
        info.config.lanes[0].scaler.initScale = scale;
        std::vector<LaneInfo> lanes(1);
        lanes[0].name = lanes[0].title = "amp-fp16";
        stack.setRun(std::make_shared<Run>(std::move(info), std::move(lanes)));
        const QCPGraph* graph = graphNamed(stack, QStringLiteral("Loss scale/A amp-fp16"));
        return graph && graph->valueAxis()->range().contains(scale) &&
               graph->valueAxis()->range().size() < 4 * scale;
    };
    QVERIFY(isOnAxis(16777216));
    QVERIFY(isOnAxis(1024));
}

/// An empty plot would take the room of others. A live edit may switch a scaler on.
void TestPlotMeasures::withoutALossScale() {
    FedPlots stack;
    stack.setLanes(kLanes, {false, false});
    QCOMPARE(plotted(stack),
             (QStringList{QStringLiteral("Loss"), QStringLiteral("Throughput (steps/s)")}));
    stack.setLanes(kLanes, {false, true});
    QCOMPARE(plotted(stack).size(), qsizetype{4});
}

/// A live edit that switches the scaler off must not hide what it did until then.
void TestPlotMeasures::withoutALossScaleAnyMore() {
    FedPlots stack;
    stack.setLanes(kLanes, {false, false});
    stack.append(1, record(1, 1, 0.5f, 1));
    stack.refresh();
    QCOMPARE(plotted(stack).size(), qsizetype{2}); // the loss scale is 1 because there is none
    stack.append(1, record(2, 1, 0.5f, 1024));
    stack.append(1, record(3, 1, 0.5f, 1));
    stack.refresh();
    QCOMPARE(plotted(stack).size(), qsizetype{4});
}

/// Rates are drawn from zero on a linear axis, norms on a logarithmic one; an overflow has no norm.
void TestPlotMeasures::showTheirValues() {
    FedPlots stack;
    stack.setLanes(kLanes, {}, {Measure::LearningRate, Measure::GradientNorm});
    stack.resize(700, 600);
    stack.show();
    QVERIFY(test::isExposed(&stack));
    for (int step = 1; step <= 4; ++step) {
        StepRecord row = record(step, 1, 1);
        row.learningRate = 0.01f / static_cast<float>(step);
        row.gradientNorm =
            step == 3 ? std::numeric_limits<float>::infinity() : 10 * static_cast<float>(step);
        stack.append(1, row);
    }
    stack.refresh();
    const QCPGraph* rate = graphNamed(stack, QStringLiteral("Learning rate/B amp-fp16"));
    const QCPGraph* norm = graphNamed(stack, QStringLiteral("Gradient norm/B amp-fp16"));
    QVERIFY(rate && norm);
    QCOMPARE(rate->dataCount(), 4);
    QCOMPARE(rate->dataMainValue(3), double{0.0025f});
    QCOMPARE(rate->valueAxis()->scaleType(), QCPAxis::stLinear);
    QCOMPARE(rate->valueAxis()->range().lower, 0.0);
    QVERIFY(rate->valueAxis()->range().upper > 0.01);
    QCOMPARE(norm->dataCount(), 3);
    QCOMPARE(norm->dataMainValue(2), 40.0);
    QCOMPARE(norm->valueAxis()->scaleType(), QCPAxis::stLogarithmic);
    QVERIFY(norm->valueAxis()->range().contains(10) && norm->valueAxis()->range().contains(40));
    stack.showStep(4);
    QTest::keyClick(&stack, Qt::Key_Left); // says where it is
    const QString spoken = stack.accessibleDescription();
    QVERIFY2(spoken.contains(QStringLiteral("Learning rate, B amp-fp16 0.003333")),
             qPrintable(spoken));
    QVERIFY2(spoken.contains(QStringLiteral("Gradient norm, B amp-fp16 infinite")),
             qPrintable(spoken));
}

/// When experiments change, nothing of a removed plot stays in the picture.
void TestPlotMeasures::comeAndGo() {
    FedPlots stack;
    stack.resize(700, 600);
    stack.show();
    QVERIFY(test::isExposed(&stack));
    stack.setSmoothing(0.5);
    stack.setLanes(kLanes);
    QCustomPlot& plot = plotOf(stack);
    const int rects = plot.axisRectCount(), graphs = plot.graphCount(), items = plot.itemCount();
    const std::vector<std::vector<Measure>> turns{
        {Measure::LearningRate}, {},
        {Measure::GradientNorm}, {Measure::LearningRate, Measure::GradientNorm},
        {Measure::LearningRate}, {}};
    for (const std::vector<Measure>& extra : turns) {
        stack.setLanes(kLanes, {}, extra);
        stack.append(0, record(1, 0, 2));
        stack.append(0, record(2, 0, 1));
        stack.refresh();
        stack.showStep(2);
        plot.replot(QCustomPlot::rpImmediateRefresh);
        const int more = static_cast<int>(extra.size());
        QCOMPARE(plot.axisRectCount(), rects + more);
        QCOMPARE(plot.plotLayout()->rowCount(), rects + more);
        const bool noisy = std::count(extra.begin(), extra.end(), Measure::GradientNorm) > 0;
        // of two lanes; noise has a line through its middle, too
        QCOMPARE(plot.graphCount(), graphs + 2 * (more + (noisy ? 1 : 0)));
        QCOMPARE(plot.itemCount(), items + 3 * more); // a header and the crosshair's two lines
        const QCPGraph* trend = graphNamed(stack, QStringLiteral("Loss/A fp32/trend"));
        QVERIFY(trend && trend->dataCount() == 2); // the smoothing is kept
        for (int i = 0; i + 1 < plot.axisRectCount(); ++i)
            QVERIFY(plot.axisRect(i)->rect().bottom() < plot.axisRect(i + 1)->rect().top());
    }
}

/// When plots are folded the throughput goes first, and the skipped steps go last, not the plots
/// that the experiment is about.
void TestPlotMeasures::littleRoomKeepsThem() {
    FedPlots stack;
    stack.setLanes(kLanes, {}, {Measure::LearningRate});
    stack.show();
    QVERIFY(test::isExposed(&stack));
    const auto shown = [&](const char* title) {
        const QString name = QString::fromLatin1(title) + QStringLiteral("/A fp32");
        return graphNamed(stack, name)->keyAxis()->axisRect()->visible();
    };
    int alone = 0; // heights with the rate and without the throughput
    int skips = 0; // heights with the skipped steps and without the rate
    for (int height = 600; height >= 150; height -= 10) {
        stack.resize(700, height);
        QTRY_COMPARE(stack.height(), height);
        QVERIFY(shown("Loss") && (shown("Loss scale") || !shown("Learning rate")));
        QVERIFY(shown("Learning rate") || !shown("Throughput (steps/s)"));
        QVERIFY(shown("Skipped steps") || !shown("Learning rate"));
        skips += shown("Skipped steps") && !shown("Learning rate");
        alone += shown("Learning rate") && !shown("Throughput (steps/s)");
    }
    QVERIFY(alone > 0 && skips > 0);
    QVERIFY(!shown("Learning rate")); // the sweep went low enough
}

void TestPlotMeasures::windowChooses_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QStringList>("extra");
    const QString rate = QStringLiteral("Learning rate"), norm = QStringLiteral("Gradient norm");
    QTest::newRow("neither") << QStringLiteral("regression") << QStringList();
    QTest::newRow("schedule") << QStringLiteral("recipe-schedule-step") << QStringList{rate};
    QTest::newRow("clip") << QStringLiteral("recipe-clip-value") << QStringList{norm};
    QTest::newRow("penalty") << QStringLiteral("recipe-penalty") << QStringList{norm};
}

void TestPlotMeasures::windowChooses() {
    QFETCH(QString, preset);
    QFETCH(QStringList, extra);
    MainWindow window;
    window.openPreset(preset);
    window.show();
    QVERIFY(reaches(window, SessionState::Ready));
    QStringList found;
    for (const QString& title : plotted(window.plots()))
        if (title == QStringLiteral("Learning rate") || title == QStringLiteral("Gradient norm"))
            found << title;
    QCOMPARE(found, extra);
    window.setStopStep(40);
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.plots().lastStep(), qint64(40), kPatience);
    window.plots().refresh();
    for (const QString& title : extra)
        QVERIFY(graphNamed(window.plots(), title + QStringLiteral("/B amp-fp16"))->dataCount() > 0);
}

/// Plots that came with the first watched step would push the others aside while someone looks.
void TestPlotMeasures::watchedWeightsHavePlotsFromTheStart() {
    MainWindow window;
    window.openPreset(QStringLiteral("master-weights"));
    window.show();
    QVERIFY(reaches(window, SessionState::Ready));
    const QStringList before = plotted(window.plots());
    for (const char* title : {"Unchanged weights", "Unchanged copies", "Weight distance"})
        QVERIFY2(before.contains(QLatin1String(title)), title);
    window.setStopStep(10); // weights are looked at every fifth step
    window.play();
    QVERIFY(reaches(window, SessionState::Finished));
    QTRY_COMPARE_WITH_TIMEOUT(window.plots().lastStep(), qint64(10), kPatience);
    window.plots().refresh();
    QCOMPARE(plotted(window.plots()), before);
}

/// "0" beside a picture and a card that say that the output is nan would be another result.
void TestPlotMeasures::accuraciesOfNanAreNone() {
    FedPlots stack;
    stack.setLanes(kLanes);
    stack.resize(1000, 700);
    stack.show();
    QVERIFY(test::isExposed(&stack));
    RunBatch batch;
    for (const int lane : {0, 1}) {
        StepRow row(1, lane);
        row.set(metric::Loss, lane == 0 ? 0.7 : double{NAN});
        row.set(metric::ValidationLoss, lane == 0 ? 0.8 : double{NAN});
        batch.rows.push_back(row.set(metric::Accuracy, lane == 0 ? 0.5 : 0.0));
    }
    stack.run()->append(std::move(batch));
    stack.refresh();
    stack.showStep(1);
    QTest::keyClick(&stack, Qt::Key_Left); // says where it is
    const QString spoken = stack.accessibleDescription();
    QVERIFY2(spoken.contains(QStringLiteral("Accuracy, A fp32 50.00 %, B amp-fp16 output is nan")),
             qPrintable(spoken));
    stack.setOverlays({{stack.run(), QStringLiteral("2"), 0, QStringLiteral("before")}});
    stack.refresh();
    QTest::keyClick(&stack, Qt::Key_Left);
    const QString compared = stack.accessibleDescription();
    QVERIFY2(compared.contains(QStringLiteral("amp-fp16 output is nan (2B: output is nan)")),
             qPrintable(compared));
    const Metric& accuracy = knownMetrics()[metric::Accuracy];
    QCOMPARE(shortValueText(accuracy, nanOutputText()), QStringLiteral("nan"));
}

} // namespace tst_plot_measures

QTEST_MAIN(tst_plot_measures::TestPlotMeasures)
#include "tst_plot_measures.moc"
