// Reads all curves, then merges them by step.
#include "ui/plots/plot_values.h"

#include "engine/core/cancel.h"
#include "engine/core/text.h"
#include "engine/runs/run_tables.h"
#include "ui/plots/curve.h"
#include "ui/plots/smoothing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halfscope {
namespace {

constexpr size_t kCheckEvery = 4096; ///< values or lines between two looks for a cancellation
constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

/// The cells of one column, in order of step.
struct Cells {
    std::vector<Point> points;
    ValueKind kind = ValueKind::Float32;
    size_t next = 0;

    int64_t step() const { return next < points.size() ? points[next].step : kEnd; }
};

Cells cellsOf(const PlottedCurve& curve, const PlotValues& view) {
    Cells cells;
    const Column& column = curve.run.column(curve.lane, curve.id);
    const Metric& metric = curve.run.metrics()[static_cast<size_t>(curve.id)];
    const auto take = [&cells](int64_t step, double value) {
        if (cells.points.size() % kCheckEvery == 0) checkCancelled();
        cells.points.push_back({step, value});
    };
    const auto first = std::max(stepOf(std::ceil(view.from)), curve.first),
               last = std::min(stepOf(std::floor(view.to)), curve.last);
    if (first > last) return cells;
    if (curve.weight > 0) {
        Trend(curve.weight).values(column, first, last, take);
    } else if (metric.axis == PlotAxis::Rate) {
        RateCurve rate;
        while (rate.update(column, curve.run.column(curve.lane, metric::WallSeconds)))
            checkCancelled();
        rate.points().values(first, last, take);
        const auto rest = rate.rest(); // the plot of a run that rests ends with it
        if (rest && rest->step <= last &&
            (cells.points.empty() || cells.points.back().step < rest->step))
            cells.points.push_back(*rest);
    } else {
        cells.kind = metric.kind;
        column.values(first, last, take);
    }
    return cells;
}

} // namespace

std::string csvText(const PlotValues& values) {
    std::vector<Cells> columns;
    std::string text = "step";
    for (const PlottedCurve& curve : values.curves) {
        checkCancelled();
        text += ',' + csvField(curve.name);
        columns.push_back(cellsOf(curve, values));
    }
    text += '\n';
    for (size_t line = 0;; ++line) {
        if (line % kCheckEvery == 0) checkCancelled();
        int64_t step = kEnd;
        for (const Cells& cells : columns)
            step = std::min(step, cells.step());
        if (step == kEnd) return text;
        text += numberText(step);
        for (Cells& cells : columns) {
            text += ',';
            if (cells.step() == step)
                text += metricText(cells.kind, cells.points[cells.next++].value);
        }
        text += '\n';
    }
}

} // namespace halfscope
