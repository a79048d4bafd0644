// Plots hold no number of a run: those made in the middle of a run, or after it, draw what those
// draw that existed from the first step on.
#include "tests/support/plot_parts.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <map>
#include <memory>

namespace tst_rebuilt_plots {

using namespace halfscope;

namespace {

constexpr int kLanes = 2, kFrameSteps = 37;
constexpr int64_t kSteps = 5000;

/// Returns a row with noise, a staircase of scales, losses that are lost, and devices that are
/// delayed.
StepRecord rowAt(int64_t step, int lane) {
    const auto noise = static_cast<float>((step * 7919 + lane * 104729) % 1009) / 1009;
    StepRecord row = record(step, lane, 1 / (1 + 0.01f * static_cast<float>(step)) + noise,
                            std::ldexp(1.0f, 10 + static_cast<int>(step / 400 % 7)), step / 400);
    if (step % 611 == 0) row.loss = std::numeric_limits<float>::quiet_NaN();
    row.learningRate = noise;
    row.deviceSeconds = step % 97 == 0 ? 0.3 : 0.002 + 1e-3 * static_cast<double>(noise);
    row.wallSeconds = 0.005 * static_cast<double>(step);
    return row;
}

/// Returns every curve and mark by its name.
std::map<QString, std::vector<std::pair<double, double>>> drawnBy(PlotStack& plots) {
    plots.refresh();
    std::map<QString, std::vector<std::pair<double, double>>> drawn;
    QCustomPlot& plot = plotOf(plots);
    for (int i = 0; i < plot.graphCount(); ++i)
        for (const QCPGraphData& point : *plot.graph(i)->data())
            drawn[plot.graph(i)->name()].emplace_back(point.key, point.value);
    return drawn;
}

std::unique_ptr<PlotStack> plotsOf(const std::shared_ptr<const Run>& run) {
    auto plots = std::make_unique<PlotStack>();
    plots->resize(700, 600);
    plots->setSmoothing(0.9);
    plots->setRun(run);
    plots->show();
    return plots;
}

} // namespace

class TestRebuiltPlots : public QObject {
    Q_OBJECT
private slots:
    void drawTheSame();
};

void TestRebuiltPlots::drawTheSame() {
    FedRun fed;
    RunConfig config;
    config.schedule.kind = ScheduleKind::OneCycle;
    fed.start({QStringLiteral("fp32"), QStringLiteral("amp-fp16")}, {false, true}, config);
    const auto first = plotsOf(fed.run);
    std::unique_ptr<PlotStack> second;
    int compared = 0;
    for (int64_t step = 1; step <= kSteps; ++step) {
        for (int lane = 0; lane < kLanes; ++lane) {
            const StepRecord row = rowAt(step, lane);
            fed.append({&row, 1}, {});
        }
        if (step % 400 == 0) {
            const Event overflow = eventOf(EventKind::Overflow, step, 1);
            fed.append({}, {&overflow, 1});
        }
        if (step % kFrameSteps != 0 && step != kSteps) continue;
        first->setResting(step % (5 * kFrameSteps) == 0); // paused now and then
        first->refresh();
        if (step < kSteps / 2) continue;
        if (!second || step % (11 * kFrameSteps) == 0) second = plotsOf(fed.run);
        QCoreApplication::processEvents(); // sizes
        second->setResting(step % (5 * kFrameSteps) == 0);
        const auto before = drawnBy(*first), after = drawnBy(*second);
        QCOMPARE(after.size(), before.size());
        for (const auto& [name, points] : before)
            QVERIFY2(after.at(name) == points, qPrintable(name));
        ++compared;
    }
    QVERIFY(compared > 50);
    const auto drawn = drawnBy(*first);
    for (const char* name :
         {"Loss/A fp32", "Loss/B amp-fp16/trend", "Loss scale/B amp-fp16", "Learning rate/A fp32",
          "Throughput (steps/s)/B amp-fp16", "Skipped steps/A fp32", "overflow/B"})
        QVERIFY2(drawn.at(QString::fromLatin1(name)).size() > 5, name);
}

} // namespace tst_rebuilt_plots

QTEST_MAIN(tst_rebuilt_plots::TestRebuiltPlots)
#include "tst_rebuilt_plots.moc"
