// Rows and events to plot, and ways into the plots of a PlotStack, for the tests of the plots.
#pragma once

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
    e.text = text;
    return e;
}

inline QCustomPlot& plotOf(const PlotStack& stack) { return *stack.findChild<QCustomPlot*>(); }

inline QCPGraph* graphNamed(const PlotStack& stack, const QString& name) {
    QCustomPlot& plot = plotOf(stack);
    for (int i = 0; i < plot.graphCount(); ++i)
        if (plot.graph(i)->name() == name) return plot.graph(i);
    return nullptr;
}

} // namespace halfscope
