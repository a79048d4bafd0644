// Which points of a curve are drawn, for anything that can be asked as a Column can. Knows no
// widgets.
#pragma once

#include "engine/runs/points.h"

#include <QVector>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace halfscope {

/// Converts to an integer; steps too large for it are clamped far beyond all real ones.
inline int64_t stepOf(double step) {
    constexpr double kFar = 4e18;
    return static_cast<int64_t>(std::clamp(step, -kFar, kFar));
}

/// The finite points that are drawn, in order of step.
struct DrawnPoints {
    QVector<double>& xs;
    QVector<double>& ys;
    void put(const Point& point) {
        if (!std::isfinite(point.value)) return;
        const auto step = static_cast<double>(point.step);
        if (!xs.isEmpty() && xs.back() >= step) return;
        xs.append(step);
        ys.append(point.value);
    }
};

/// Selects the points to draw for steps in [from, to] on `pixels` pixels, in order of step: all
/// finite ones when there are few, else the lowest and highest of each bucket (at most one bucket a
/// pixel), and the newest. Every point is a real one. One neighbour outside each end is added so
/// that lines reach the edges.
template <class Source>
void sample(Source& source, double from, double to, int pixels, QVector<double>& xs,
            QVector<double>& ys) {
    xs.clear();
    ys.clear();
    if (source.empty() || !(from <= to) || pixels < 1) return;
    DrawnPoints points{xs, ys};
    const int64_t first = std::max(stepOf(std::ceil(from)), source.firstStep());
    const int64_t last = std::min(stepOf(std::floor(to)), source.lastStep());
    if (const auto before = source.upTo(first - 1)) points.put(*before);
    std::vector<Extremes> buckets;
    if (last - first < 2 * int64_t{pixels}) {
        source.values(first, last, [&points](int64_t step, double value) {
            points.put({step, value});
        });
    } else {
        source.extremes(first, last, static_cast<size_t>(pixels), buckets);
        for (const Extremes& bucket : buckets) {
            if (bucket.finite == 0) continue;
            const bool falls = bucket.highest.step < bucket.lowest.step;
            points.put(falls ? bucket.highest : bucket.lowest);
            points.put(falls ? bucket.lowest : bucket.highest);
        }
        if (!buckets.empty() && buckets.back().finite > 0) points.put(buckets.back().last);
    }
    std::array<Point, 1> after;
    if (last < source.lastStep() &&
        source.read(std::max(last, first - 1) + 1, source.lastStep(), after) == 1)
        points.put(after.front());
}

} // namespace halfscope
