// Points of a column, and speeds from its times.
#include "ui/plots/curve.h"

#include "ui/models/run_facts.h"
#include "ui/models/run_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace halfscope {

namespace {

constexpr double kRateWindow = 0.1; // seconds
constexpr double kRateShare = 0.02; // of the time so far: short runs get about 50 points, too

} // namespace

bool RateCurve::update(const Column& deviceSeconds, const Column& wallSeconds) {
    constexpr size_t kBlock = 512, kMostBlocks = 1024; // some milliseconds
    std::array<Point, kBlock> device, wall;
    for (size_t block = 0; block < kMostBlocks; ++block) {
        const size_t count = deviceSeconds.read(m_step + 1, deviceSeconds.lastStep(), device);
        if (count == 0) return false;
        const size_t walls = wallSeconds.read(device.front().step, device[count - 1].step, wall);
        size_t at = 0;
        for (size_t i = 0; i < count; ++i) {
            while (at < walls && wall[at].step < device[i].step)
                ++at;
            const bool timed = at < walls && wall[at].step == device[i].step;
            add(device[i].step, device[i].value, timed ? wall[at].value : 0);
        }
        m_step = device[count - 1].step;
    }
    return m_step < deviceSeconds.lastStep();
}

void RateCurve::add(int64_t step, double deviceSeconds, double wallSeconds) {
    if (!(deviceSeconds > 0) || !std::isfinite(deviceSeconds)) return;
    m_rate.add(wallSeconds, deviceSeconds);
    m_total += deviceSeconds;
    m_window += deviceSeconds;
    if (m_window < std::min(kRateWindow, kRateShare * m_total)) return;
    m_window = 0;
    m_points.append(step, m_rate.perSecond());
}

std::optional<Point> RateCurve::rest() const {
    if (m_window == 0) return std::nullopt;
    return Point{m_step, m_rate.perSecond()};
}

Curve::Curve(std::shared_ptr<const Run> run, int lane, MetricId id)
    : m_run(std::move(run)), m_lane(lane), m_id(id) {
    const LaneInfo& info = m_run->lanes()[static_cast<size_t>(lane)];
    if (info.parent >= 0) m_begin = info.forkStep + 1;
}

bool Curve::isRate() const {
    return m_run->metrics()[static_cast<size_t>(m_id)].axis == PlotAxis::Rate;
}

bool Curve::update() {
    if (m_complete && std::exchange(m_seen, m_run->version()) == m_run->version()) return true;
    if (isRate()) m_complete = !m_rate.update(column(), m_run->column(m_lane, metric::WallSeconds));
    return m_complete;
}

void Curve::sample(double from, double to, int pixels, bool resting, QVector<double>& xs,
                   QVector<double>& ys) const {
    if (!isRate()) {
        halfscope::sample(column(), from, to, pixels, xs, ys);
        beginAtOwnScale(xs, ys);
        return;
    }
    halfscope::sample(m_rate.points(), from, to, pixels, xs, ys);
    const auto rest = m_rate.rest();
    if (resting && rest && static_cast<double>(rest->step) <= to &&
        (xs.isEmpty() || xs.back() < static_cast<double>(rest->step))) {
        xs.append(static_cast<double>(rest->step));
        ys.append(rest->value);
    }
}

void Curve::beginAtOwnScale(QVector<double>& xs, QVector<double>& ys) const {
    if (m_id != metric::Scale || xs.isEmpty()) return;
    const int64_t first = stepOf(xs.front());
    // other values than 1 are those of a scaler that was switched off later
    if (first >= m_begin || ys.front() != 1 || scalesAt(m_run->now(), m_lane, first)) return;
    xs.removeFirst();
    ys.removeFirst();
}

/// Reads the line where it is drawn, so that the header and the crosshair never contradict it.
std::optional<Point> Curve::rateAt(std::optional<int64_t> step, bool resting) const {
    const Column& points = m_rate.points();
    // the newest speed is the one that the strip above the plots has
    const auto rest = resting || !step ? m_rate.rest() : std::nullopt;
    if (rest && step.value_or(rest->step) >= rest->step) return rest;
    const auto before = points.upTo(step.value_or(points.lastStep()));
    if (!before || !step || before->step == *step) return before;
    std::array<Point, 1> next;
    const bool measured = points.read(*step + 1, points.lastStep(), next) == 1;
    if (!measured && !rest) return before;
    const Point after = measured ? next.front() : *rest;
    const double share =
        static_cast<double>(*step - before->step) / static_cast<double>(after.step - before->step);
    return Point{*step, std::lerp(before->value, after.value, share)};
}

std::optional<Curve::Reading> Curve::at(std::optional<int64_t> step, bool resting) const {
    const auto point =
        isRate() ? rateAt(step, resting) : column().upTo(step.value_or(column().lastStep()));
    if (!point) return std::nullopt;
    return Reading{point->step, point->value, !std::isfinite(point->value)};
}

bool Curve::isConstant(double value, int64_t from) const {
    const Column& all = column();
    const int64_t first = std::max(all.firstStep(), from);
    if (all.empty() || first > all.lastStep()) return true;
    const Extremes extremes = all.extremes(first, all.lastStep());
    return extremes.notFinite == 0 && extremes.lowest.value == value &&
           extremes.highest.value == value;
}

int64_t Curve::lastBefore(double value) {
    if (isConstant(value)) return m_begin - 1;
    const auto all = changes();
    int64_t last = column().lastStep();
    for (auto change = all.rbegin(); change != all.rend(); ++change) {
        if (*change > column().lastStep()) continue; // it is yet to come
        if (!isConstant(value, *change)) break;
        last = *change - 1;
    }
    return last;
}

std::span<const int64_t> Curve::changes() {
    const auto& events = m_run->events();
    for (; m_taken < events.size(); ++m_taken) {
        const Event& event = events[m_taken];
        if (event.kind != EventKind::Edit || movesTheStop(event) ||
            (event.lane >= 0 && event.lane != m_lane))
            continue;
        const auto place = std::upper_bound(m_changes.begin(), m_changes.end(), event.step);
        if (place == m_changes.begin() || *(place - 1) != event.step)
            m_changes.insert(place, event.step);
    }
    return m_changes;
}

} // namespace halfscope
