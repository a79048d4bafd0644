// halfscope-bench-ui: what the window costs. Milliseconds of a frame of the plots with six lanes of
// 100,000 steps, and training speed with the window open, and with its gradients shown, against the
// same training without one.
#include "engine/train/experiment.h"
#include "tests/support/plot_parts.h"
#include "ui/window/main_window.h"

#include <QAction>
#include <QApplication>
#include <QElapsedTimer>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <vector>

namespace {

using namespace halfscope;

/// A curve with noise, spikes and a staircase of scales: what real runs look like.
StepRecord record(int lane, int64_t step) {
    StepRecord r;
    r.step = step;
    r.lane = lane;
    const double t = static_cast<double>(step);
    r.loss = static_cast<float>(std::exp(-t / 2e4) * (1.1 + std::sin(t * (12.9898 + lane))));
    r.scale = std::ldexp(1.0f, 16 + static_cast<int>(step / 2000 % 8));
    r.skippedSoFar = step / 2000;
    r.flags = step % 2000 == 0 ? kSkipped | kBackedOff : 0u;
    r.deviceSeconds = 1e-3;
    r.wallSeconds = t * 1e-3;
    return r;
}

/// Of all threads; unlike the clock it does not count what other programs take.
double processorSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void benchFrames() {
    constexpr int kLanes = 6, kFrames = 100, kStepsInFrame = 30;
    constexpr int64_t kSteps = 100'000;
    FedPlots plots;
    plots.setLanes({"fp32", "amp-fp16", "amp-bf16", "fp16", "amp-fp16-2", "amp-bf16-2"});
    plots.resize(1280, 800);
    plots.show();
    for (int64_t step = 1; step <= kSteps; ++step)
        for (int lane = 0; lane < kLanes; ++lane)
            plots.append(lane, record(lane, step));
    Event overflow;
    overflow.kind = EventKind::Overflow;
    overflow.lane = 1;
    for (overflow.step = 2000; overflow.step <= kSteps; overflow.step += 2000)
        plots.addEvent(overflow);
    plots.refresh();
    QCoreApplication::processEvents();

    std::vector<double> ms;
    int64_t step = kSteps;
    const double before = processorSeconds();
    for (int frame = 0; frame < kFrames; ++frame) {
        QElapsedTimer timer;
        timer.start();
        for (int i = 0; i < kStepsInFrame; ++i) {
            ++step;
            for (int lane = 0; lane < kLanes; ++lane)
                plots.append(lane, record(lane, step));
        }
        plots.refresh();
        QCoreApplication::processEvents();
        ms.push_back(static_cast<double>(timer.nsecsElapsed()) / 1e6);
    }
    const double processor = (processorSeconds() - before) * 1000 / kFrames;
    std::sort(ms.begin(), ms.end());
    std::printf("plots, 6 lanes x %lld steps, 1280 x 800: frame %.2f ms median, %.2f ms at 95 %%, "
                "%.2f ms longest, %.2f ms of processor time (a frame has 33 ms)\n",
                static_cast<long long>(step), ms[ms.size() / 2], ms[ms.size() * 95 / 100],
                ms.back(), processor);
}

RunConfig configOf(const char* preset, int64_t steps) {
    RunConfig config = presetNamed(preset).config;
    config.device = "cpu";
    config.steps = steps;
    return config;
}

/// Steps per second of all lanes together, without a window.
double speedAlone(const char* preset, int64_t steps) {
    Experiment experiment(configOf(preset, steps));
    std::vector<StepRecord> records;
    std::vector<Event> events;
    QElapsedTimer timer;
    timer.start();
    while (!experiment.finished())
        experiment.advance(records, events);
    return static_cast<double>(steps) * 1e9 / static_cast<double>(timer.nsecsElapsed());
}

enum class Shows { Plots, Gradients };

double speedInWindow(const char* preset, int64_t steps, Shows shows) {
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    window.openPreset(QString::fromLatin1(preset));
    while (window.controller().state() == SessionState::Building)
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    window.setStopStep(steps);
    for (QAction* action : window.findChildren<QAction*>())
        if (action->shortcut() == QKeySequence(Qt::Key_G))
            action->setChecked(shows == Shows::Gradients);
    QElapsedTimer timer;
    timer.start();
    window.play();
    const auto over = [&window] {
        const SessionState state = window.controller().state();
        return state == SessionState::Finished || state == SessionState::Failed;
    };
    while (!over())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    if (window.controller().state() == SessionState::Failed)
        throw std::runtime_error(window.bannerText().toStdString());
    return static_cast<double>(steps) * 1e9 / static_cast<double>(timer.nsecsElapsed());
}

/// In turns, so that a slow minute of the machine hits all of them; the medians count.
void benchTraining(const char* preset, int64_t steps) {
    constexpr size_t kRounds = 3;
    std::array<double, kRounds> alone{}, plots{}, gradients{};
    for (size_t round = 0; round < kRounds; ++round) {
        alone[round] = speedAlone(preset, steps);
        plots[round] = speedInWindow(preset, steps, Shows::Plots);
        gradients[round] = speedInWindow(preset, steps, Shows::Gradients);
    }
    for (auto* speeds : {&alone, &plots, &gradients})
        std::sort(speeds->begin(), speeds->end());
    constexpr size_t kMiddle = kRounds / 2;
    std::printf("%s, %lld steps: %.1f steps/s without a window, %.1f with it (%.1f %%), %.1f with "
                "gradients shown (%.1f %%)\n",
                preset, static_cast<long long>(steps), alone[kMiddle], plots[kMiddle],
                100 * plots[kMiddle] / alone[kMiddle], gradients[kMiddle],
                100 * gradients[kMiddle] / alone[kMiddle]);
}

} // namespace

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ); // a line at a time in a pipe too
    const QString only = app.arguments().value(1);
    if (app.arguments().size() > 2 || (!only.isEmpty() && only != QLatin1String("--frames"))) {
        std::fprintf(stderr, "Usage: halfscope-bench-ui [--frames]\n");
        return 2;
    }
    try {
        benchFrames();
        if (!only.isEmpty()) return 0;
        benchTraining("checkerboard", 300);
        benchTraining("regression", 30'000);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "halfscope-bench-ui: %s\n", error.what());
        return 1;
    }
    return 0;
}
