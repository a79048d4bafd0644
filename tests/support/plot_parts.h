// Rows and events to plot, and access to the plots of a PlotStack, for the tests of the plots.
#pragma once

#include "tests/support/fed_run.h"
#include "ui/plots/plot_stack.h"

#include <qcustomplot.h>

namespace halfscope {

inline StepRecord record(int64_t step, int lane, float loss, float scale = 65536,
                         int64_t skipped = 0) {
    StepRecord r;
    r.step = step;
    r.lane = lane;
    r.loss = loss;
    r.scale = scale;
    r.deviceSeconds = 0.001;
    r.skippedSoFar = skipped;
    return r;
}

inline Event eventOf(EventKind kind, int64_t step, int lane, const char* text = "") {
    Event e;
    e.kind = kind;
    e.step = step;
    e.lane = lane;
    e.text = Message::data(text);
    return e;
}

/// The metrics that only some experiments plot.
enum class Measure { LearningRate, GradientNorm };

/// The plots of a run that the test feeds.
class FedPlots : public PlotStack {
public:
    FedPlots() { setLanes({}); }

    /// Starts a new run; see FedRun::start().
    void setLanes(const QStringList& names, const std::vector<bool>& scales = {},
                  const std::vector<Measure>& extra = {}) {
        m_names = names;
        m_scales = scales;
        m_extra = extra;
        RunConfig config;
        for (const Measure each : extra) {
            if (each == Measure::LearningRate) config.schedule.kind = ScheduleKind::OneCycle;
            if (each == Measure::GradientNorm) config.gradients.clip = ClipKind::Norm2;
        }
        m_fed.start(names, scales, config);
        setRun(m_fed.run);
        showBehind();
    }
    void clear() { setLanes(m_names, m_scales, m_extra); }
    void append(int lane, StepRecord record) {
        record.lane = lane;
        m_fed.append({&record, 1}, {});
    }
    void addEvent(const Event& event) { m_fed.append({}, {&event, 1}); }
    void addGradients(const std::vector<GradientRange>& ranges) {
        if (showsGradients()) m_fed.appendGradients(ranges);
    }
    void showGradients(bool shows) {
        PlotStack::showGradients(shows);
        RunBatch end;
        end.gradientsEnd = !shows;
        m_fed.run->append(std::move(end));
    }
    const GradientHistory& gradients(int lane) const { return m_fed.run->now().gradients(lane); }
    qint64 lastStep() const { return m_fed.run->now().lastStep(); }
    const std::shared_ptr<Run>& run() const { return m_fed.run; }

    /// Puts what was fed so far behind the next run.
    void keepLosses() {
        if (m_fed.run->now().lastStep() > 0) m_before = m_fed.run;
    }
    void forgetLosses() { m_before.reset(); }
    void showPrevious(bool shows) {
        m_shows = shows;
        showBehind();
    }

private:
    void showBehind() {
        std::vector<Overlay> overlays;
        if (m_shows && m_before) overlays.push_back({m_before, QStringLiteral("before "), 0});
        setOverlays(overlays);
    }

    FedRun m_fed;
    QStringList m_names;
    std::vector<bool> m_scales;
    std::vector<Measure> m_extra;
    std::shared_ptr<Run> m_before;
    bool m_shows = false;
};

inline QCustomPlot& plotOf(const PlotStack& stack) { return *stack.findChild<QCustomPlot*>(); }

inline QCPGraph* graphNamed(const PlotStack& stack, const QString& name) {
    QCustomPlot& plot = plotOf(stack);
    for (int i = 0; i < plot.graphCount(); ++i)
        if (plot.graph(i)->name() == name) return plot.graph(i);
    return nullptr;
}

} // namespace halfscope
