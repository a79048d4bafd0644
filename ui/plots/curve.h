// One curve of a plot: a metric of one lane of a run, as it is drawn and read. Draws from the run's
// own column; keeps points of its own only where a plot shows something else than the column's
// values, such as the speed that follows from times. Knows no widgets.
#pragma once

#include "engine/runs/run.h"
#include "ui/models/step_rate.h"
#include "ui/plots/sampling.h"

#include <QVector>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

/// Steps per second over the steps: a point at the first step, and later about ten a second,
/// because the noise of single steps would hide the trend. Its points follow from the columns
/// alone, however often they are looked at.
class RateCurve {
public:
    /// Takes the steps that came since the last call, but at most so many that a frame has time for
    /// them; returns whether there are more.
    bool update(const Column& deviceSeconds, const Column& wallSeconds);
    const Column& points() const { return m_points.column(); }
    /// Returns the speed over the steps since the last point, if there are any: the newest point of
    /// a training that rests.
    std::optional<Point> rest() const;

private:
    void add(int64_t step, double deviceSeconds, double wallSeconds);

    StepRate m_rate;
    ColumnWriter m_points;
    double m_total = 0, m_window = 0; ///< device seconds
    int64_t m_step = 0;               ///< the last step that was taken
};

class Curve {
public:
    /// Makes the curve of a lane of the run. The run is not null.
    Curve(std::shared_ptr<const Run>, int lane, MetricId);

    const Run& run() const { return *m_run; }
    int lane() const { return m_lane; }
    MetricId id() const { return m_id; }
    const Column& column() const { return m_run->column(m_lane, m_id); }
    /// Takes what came since the last call. Cheap when nothing came. Returns whether the curve is
    /// complete; else another call goes on.
    bool update();
    /// See the function sample(). `resting` means that nothing is trained, so that the speed of the
    /// last steps is drawn, too. Leaves out the value from which a fork's curve would come, where
    /// it is none: a parent without a loss scale has ones in its column.
    void sample(double from, double to, int pixels, bool resting, QVector<double>& xs,
                QVector<double>& ys) const;

    /// A value as it is read at a step.
    struct Reading {
        int64_t step = 0;
        double value = 0; ///< finite, unless `lost`
        bool lost = false;
    };
    /// Returns the value at or before a step, or the newest one, which a speed has already before
    /// its line has it. A speed is measured at few steps:
    /// between two of them it is what the line shows. For `resting`, see sample().
    std::optional<Reading> at(std::optional<int64_t> step, bool resting) const;
    /// Returns the first step of the lane's own: for a fork, whose past is its parent's, the step
    /// after it; else 0.
    int64_t begin() const { return m_begin; }
    /// Returns the steps from which on the lane follows other settings than before, in order; not
    /// those at which only the run's end was moved.
    std::span<const int64_t> changes();
    /// Whether all values of the lane's own equal `value`.
    bool isConstant(double value) const { return isConstant(value, m_begin); }
    /// Returns the last step of the lane's own before a change of settings left it with nothing but
    /// this value; before begin() when it never had another one.
    int64_t lastBefore(double value);

private:
    bool isRate() const;
    std::optional<Point> rateAt(std::optional<int64_t> step, bool resting) const;
    bool isConstant(double value, int64_t from) const;
    void beginAtOwnScale(QVector<double>& xs, QVector<double>& ys) const;

    std::shared_ptr<const Run> m_run;
    int m_lane;
    MetricId m_id;
    RateCurve m_rate; ///< empty for other metrics
    int64_t m_begin = 0;
    std::vector<int64_t> m_changes;
    size_t m_taken = 0; ///< how many of the run's events m_changes knows
    uint64_t m_seen = 0;
    bool m_complete = true;
};

} // namespace halfscope
