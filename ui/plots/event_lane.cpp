// Marks are drawn as scatter graphs by kind and lane: thousands of them cost little, unlike items.
#include "ui/plots/event_lane.h"

#include "ui/look/owned.h"
#include "ui/models/event_model.h"
#include "ui/plots/axis_colors.h"
#include "ui/plots/event_legend.h"
#include "ui/plots/tickers.h"

#include <QPainterPath>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

namespace halfscope {

namespace {

constexpr int kRowHeight = 17, kLowRowHeight = 13;
constexpr double kPathSize = 6; // QCustomPlot scales paths by size / 6
constexpr double kDiamondSize = 11;
constexpr double kRingSize = 8;     // a zero
constexpr double kSquareSize = 7;   // of a kind that only another version knows
constexpr double kPickDistance = 9; // pixels
constexpr double kThinning = 2;     // pixels per drawn mark
constexpr EventKind kAllKinds[] = {
    EventKind::Growth,        EventKind::Backoff,   EventKind::Overflow,
    EventKind::LossNotFinite, EventKind::Other,     EventKind::Damaged,
    EventKind::Edit,          EventKind::Underflow, EventKind::RateFall};

/// Returns the kinds from the lowest mark to the highest: worse events lie over better ones. Only a
/// loss that is not finite lies below the skip of its step, whose mark it would hide.
std::array<EventKind, std::size(kAllKinds)> drawnKinds() {
    std::array<EventKind, std::size(kAllKinds)> kinds{};
    std::copy(std::begin(kAllKinds), std::end(kAllKinds), kinds.begin());
    std::iter_swap(std::find(kinds.begin(), kinds.end(), EventKind::Overflow),
                   std::find(kinds.begin(), kinds.end(), EventKind::LossNotFinite));
    return kinds;
}

/// Draws the marks of all steps in view as a whole, beyond the plot's edge as well.
class MarkGraph : public QCPGraph {
public:
    using QCPGraph::QCPGraph;

protected:
    QRect clipRect() const override {
        constexpr int kMark = 7; // pixels
        const int mark = static_cast<int>(std::ceil(kMark * scatterStyle().size() / kPathSize));
        return QCPGraph::clipRect().adjusted(-mark, 0, mark, 0);
    }
};

size_t slot(EventKind kind) { return static_cast<size_t>(kind); }

/// A flag on its pole, 10 pixels high; the pole's foot is at the step.
QPainterPath flagPath() {
    QPainterPath path;
    path.addRect(-0.75, -5, 1.5, 10);
    path.moveTo(0.75, -5);
    path.lineTo(6, -2.5);
    path.lineTo(0.75, 0);
    path.closeSubpath();
    return path;
}

/// A filled triangle: QCustomPlot's own one is an outline of half the width.
QPainterPath trianglePath(bool up) {
    const double tip = up ? -4.5 : 4.5;
    QPainterPath path;
    path.moveTo(-5, -tip);
    path.lineTo(5, -tip);
    path.lineTo(0, tip);
    path.closeSubpath();
    return path;
}

QCPScatterStyle styleOf(EventKind kind, const Colors& colors, double size) {
    const auto filled = [size](const QPainterPath& path, const QColor& color) {
        return QCPScatterStyle(path, QPen(color, 0), QBrush(color), kPathSize * size);
    };
    switch (kind) {
    case EventKind::Overflow: return filled(trianglePath(false), colors.error);
    case EventKind::Growth: return filled(trianglePath(true), colors.good);
    case EventKind::Backoff: {
        QPainterPath bar;
        bar.addRect(-4, -2, 8, 4);
        return filled(bar, colors.warning);
    }
    case EventKind::LossNotFinite:
        return QCPScatterStyle(QCPScatterStyle::ssDiamond, QPen(colors.text, 0),
                               QBrush(colors.text), kDiamondSize * size);
    case EventKind::Damaged:
        return QCPScatterStyle(QCPScatterStyle::ssCross, QPen(colors.warning, 2 * size),
                               Qt::NoBrush, kDiamondSize * size);
    case EventKind::Underflow:
        return QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(colors.error, 2 * size), Qt::NoBrush,
                               kRingSize * size);
    case EventKind::RateFall:
        return QCPScatterStyle(QCPScatterStyle::ssTriangleInverted, QPen(colors.text, 2 * size),
                               Qt::NoBrush, kDiamondSize * size);
    case EventKind::Other:
        return QCPScatterStyle(QCPScatterStyle::ssSquare, QPen(colors.text, 2 * size), Qt::NoBrush,
                               kSquareSize * size);
    case EventKind::Edit: break;
    }
    return filled(flagPath(), colors.accent);
}

/// `skipped` tells that all marks of overflows are of skipped steps.
EventLegend::Entry entryOf(EventKind kind, QCPScatterStyle mark, bool skipped) {
    const auto entry = [&mark](const char* name, const char* brief) {
        const auto tr = [](const char* text) {
            return QCoreApplication::translate("EventLane", text);
        };
        return EventLegend::Entry{mark, tr(name), tr(brief)};
    };
    switch (kind) {
    case EventKind::Overflow: {
        const char* brief = QT_TRANSLATE_NOOP("EventLane", "overflow");
        return entry(skipped ? QT_TRANSLATE_NOOP("EventLane", "overflow: step skipped") : brief,
                     brief);
    }
    case EventKind::Growth:
        return entry(QT_TRANSLATE_NOOP("EventLane", "loss scale grew"),
                     QT_TRANSLATE_NOOP("EventLane", "growth"));
    case EventKind::Backoff:
        return entry(QT_TRANSLATE_NOOP("EventLane", "loss scale fell"),
                     QT_TRANSLATE_NOOP("EventLane", "fall"));
    case EventKind::LossNotFinite:
        return entry(QT_TRANSLATE_NOOP("EventLane", "loss not finite"),
                     QT_TRANSLATE_NOOP("EventLane", "not finite"));
    case EventKind::Damaged:
        return entry(QT_TRANSLATE_NOOP("EventLane", "damaged sample"),
                     QT_TRANSLATE_NOOP("EventLane", "damaged"));
    case EventKind::Underflow:
        return entry(QT_TRANSLATE_NOOP("EventLane", "underflow: all gradients zero"),
                     QT_TRANSLATE_NOOP("EventLane", "underflow"));
    case EventKind::RateFall:
        return entry(QT_TRANSLATE_NOOP("EventLane", "learning rate fell"),
                     QT_TRANSLATE_NOOP("EventLane", "rate"));
    case EventKind::Other:
        return entry(QT_TRANSLATE_NOOP("EventLane", "event of another version"),
                     QT_TRANSLATE_NOOP("EventLane", "other"));
    case EventKind::Edit: break;
    }
    return entry(QT_TRANSLATE_NOOP("EventLane", "setting changed"),
                 QT_TRANSLATE_NOOP("EventLane", "setting"));
}

} // namespace

EventLane::EventLane(QCustomPlot& plot, QCPAxisRect& rect)
    : m_plot(plot), m_rect(rect), m_legend(make<EventLegend>(plot, rect)) {
    QCPAxis* step = rect.axis(QCPAxis::atBottom);
    step->setTicker(QSharedPointer<StepTicker>::create());
    step->setTickLengthIn(0);
    step->setTickLengthOut(4);
    step->setSubTicks(false);
    step->setLabelPadding(1);
    nameAxis(1);
    QCPAxis* rows = rect.axis(QCPAxis::atLeft);
    rows->setTickLength(0, 0);
    rows->setSubTicks(false);
    rows->setRangeReversed(true);
    for (QCPAxis* axis : {step, rows})
        axis->grid()->setZeroLinePen(Qt::NoPen);
}

/// Says what a pixel of the plots stands for, where that is more than a step.
void EventLane::nameAxis(double stepsPerPixel) {
    const double steps = std::round(stepsPerPixel);
    const QString brief = QCoreApplication::translate("EventLane", "Step");
    m_legend->setAxisName(
        steps < 2 ? brief
                  : QCoreApplication::translate(
                        "EventLane", "Step (a pixel shows the extremes of about %1 steps)")
                        .arg(withPrefix(steps)),
        brief);
}

double EventLane::placeOf(size_t lane, EventKind kind) const {
    constexpr double kApart = 0.2; // of a row's height, up and down
    const double row = m_arranged == EventRows::Shared ? 0 : static_cast<double>(rowsOf(lane));
    switch (kind) {
    case EventKind::Growth:
    case EventKind::LossNotFinite: return row - kApart;
    case EventKind::Overflow: return row + kApart;
    default: return row;
    }
}

int EventLane::lines() const { return m_legend->lines(); }

bool EventLane::hasRow(const Row& row) const {
    return !(isMagnified() || m_printed) ||
           std::any_of(row.marks.begin(), row.marks.end(),
                       [](const auto& marks) { return !marks.empty(); });
}

size_t EventLane::rowsOf(size_t lanes) const {
    const auto end = m_rows.begin() + static_cast<std::ptrdiff_t>(lanes);
    return static_cast<size_t>(
        std::count_if(m_rows.begin(), end, [this](const Row& row) { return hasRow(row); }));
}

int EventLane::height() const {
    const bool low = m_rows.size() > 3 || m_arranged == EventRows::Low || isMagnified();
    const bool shared = m_arranged == EventRows::Shared;
    const double row = m_magnified * (low ? kLowRowHeight : kRowHeight);
    if (m_printed && rowsOf(m_rows.size()) == 0) return 1; // the axis alone
    return static_cast<int>(shared ? 1 : std::max<size_t>(1, rowsOf(m_rows.size()))) *
           static_cast<int>(row);
}

void EventLane::magnify(double factor) {
    m_magnified = factor;
    nameRows();
}

void EventLane::setPrinted(bool printed) {
    m_printed = printed;
    nameRows();
}

void EventLane::arrange(EventRows rows) {
    if (std::exchange(m_arranged, rows) != rows) nameRows();
}

void EventLane::nameRows() {
    auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    const bool shared = m_arranged == EventRows::Shared;
    const size_t rows = shared ? 1 : std::max<size_t>(1, rowsOf(m_rows.size()));
    for (size_t i = 0; i < m_rows.size() && !shared; ++i)
        if (hasRow(m_rows[i]))
            ticker->addTick(static_cast<double>(rowsOf(i)), laneLetter(static_cast<int>(i)));
    m_rect.axis(QCPAxis::atLeft)->setTicker(ticker);
    m_rect.axis(QCPAxis::atLeft)->setRange(-0.5, static_cast<double>(rows) - 0.5);
}

void EventLane::setRun(std::shared_ptr<const Run> run) {
    m_run = std::move(run);
    setLanes(m_run ? m_run->now().laneCount() : 0);
}

void EventLane::setLanes(int lanes) {
    for (Row& row : m_rows)
        for (QCPGraph* graph : row.graphs)
            m_plot.removeGraph(graph);
    m_rows.clear();
    m_taken = 0;
    m_count = 0;
    m_tookSteps = false;
    fillLegend();
    for (int i = 0; i < lanes; ++i) {
        Row row;
        for (const EventKind kind : drawnKinds()) {
            QCPGraph* graph = make<MarkGraph>(m_rect.axis(QCPAxis::atBottom),
                                              m_rect.axis(QCPAxis::atLeft)); // the plot owns it
            graph->setName(QStringLiteral("%1/%2").arg(QLatin1String(nameOf(kind)), laneLetter(i)));
            graph->setLineStyle(QCPGraph::lsNone);
            graph->setAdaptiveSampling(false);
            graph->setSelectable(QCP::stNone);
            row.graphs[slot(kind)] = graph;
        }
        m_rows.push_back(std::move(row));
    }
    nameRows();
}

/// Whether the lane is there at a step: a fork begins behind what its parent has done.
bool EventLane::hasStep(int lane, int64_t step) const {
    const LaneInfo& info = m_run->lanes()[static_cast<size_t>(lane)];
    return info.parent < 0 || step > info.forkStep;
}

bool EventLane::takeEvents() {
    if (!m_run) return false;
    const auto& events = m_run->events();
    const size_t rows = rowsOf(m_rows.size());
    for (; m_taken < events.size(); ++m_taken) {
        const Event& event = events[m_taken];
        m_count += isEcho(events, m_taken) ? 0 : 1;
        for (int lane = 0; lane < static_cast<int>(m_rows.size()); ++lane)
            if (event.lane == lane || (event.lane < 0 && hasStep(lane, event.step)))
                addMark(m_rows[static_cast<size_t>(lane)], event, static_cast<int>(m_taken));
    }
    if (m_listed == m_taken) return false;
    const int before = lines();
    fillLegend();
    if (rows == rowsOf(m_rows.size())) return lines() != before;
    nameRows();
    return true;
}

QString EventLane::text(int index) const {
    return EventModel::sentenceOf(m_run->events()[static_cast<size_t>(index)]);
}

qint64 EventLane::step(int index) const { return m_run->events()[static_cast<size_t>(index)].step; }

void EventLane::addMark(Row& row, const Event& event, int index) {
    auto& overflows = row.marks[slot(EventKind::Overflow)];
    auto& backoffs = row.marks[slot(EventKind::Backoff)];
    // An overflow and the backoff that it causes are one incident; they may come in either order.
    if (event.kind == EventKind::Backoff && !overflows.empty() &&
        overflows.back().step == event.step)
        return;
    if (event.kind == EventKind::Overflow && !backoffs.empty() &&
        backoffs.back().step == event.step)
        backoffs.pop_back();
    m_tookSteps = m_tookSteps || isOfTakenStep(event);
    auto& marks = row.marks[slot(event.kind)];
    const auto place = std::upper_bound(marks.begin(), marks.end(), event.step,
                                        [](int64_t step, const Mark& m) { return step < m.step; });
    marks.insert(place, {event.step, index});
}

int EventLane::marks(EventKind kind, int lane) const {
    return static_cast<int>(m_rows[static_cast<size_t>(lane)].marks[slot(kind)].size());
}

/// Explains the marks that there are, those drawn last first.
void EventLane::fillLegend() {
    m_listed = m_taken;
    std::vector<EventLegend::Entry> entries;
    for (auto kind = std::rbegin(kAllKinds); kind != std::rend(kAllKinds); ++kind)
        if (std::any_of(m_rows.begin(), m_rows.end(),
                        [&](const Row& row) { return !row.marks[slot(*kind)].empty(); }))
            entries.push_back(entryOf(*kind, styleOf(*kind, m_colors, m_magnified), !m_tookSteps));
    m_legend->setEntries(std::move(entries));
}

void EventLane::update(double from, double to, int pixels) {
    takeEvents();
    nameAxis((to - from) / std::max(1, pixels));
    const double spacing = std::max(kThinning * (to - from) / std::max(1, pixels), 0.0);
    for (size_t lane = 0; lane < m_rows.size(); ++lane) {
        Row& row = m_rows[lane];
        for (const EventKind kind : kAllKinds) {
            const auto& marks = row.marks[slot(kind)];
            QVector<QCPGraphData> data;
            // skips marks that would lie on the same pixels: the cost depends on the width alone
            for (double next = from; next <= to;) {
                const auto mark =
                    std::lower_bound(marks.begin(), marks.end(), next, [](const Mark& m, double s) {
                        return static_cast<double>(m.step) < s;
                    });
                if (mark == marks.end() || static_cast<double>(mark->step) > to) break;
                const auto step = static_cast<double>(mark->step);
                data.append(QCPGraphData(step, placeOf(lane, kind)));
                next = std::max(step + spacing, std::nextafter(step, to + 1));
            }
            row.graphs[slot(kind)]->data()->set(data, true);
        }
    }
}

void EventLane::keepFree(int width) { m_legend->keepFree(width); }

void EventLane::setColors(const Colors& colors) {
    m_colors = colors;
    m_legend->setColor(colors.text);
    fillLegend();
    setColorsOf(m_rect, colors, m_plot.font());
    for (Row& row : m_rows)
        for (const EventKind kind : kAllKinds)
            row.graphs[slot(kind)]->setScatterStyle(styleOf(kind, colors, m_magnified));
}

std::optional<int> EventLane::eventOf(qint64 step) const {
    std::optional<int> found;
    for (const EventKind kind : kAllKinds) // the last of them is drawn over the others
        for (auto row = m_rows.rbegin(); row != m_rows.rend(); ++row) {
            const auto& marks = row->marks[slot(kind)];
            const auto mark =
                std::lower_bound(marks.begin(), marks.end(), step,
                                 [](const Mark& m, qint64 wanted) { return m.step < wanted; });
            if (mark != marks.end() && mark->step == step) found = mark->index;
        }
    return found;
}

std::optional<int> EventLane::eventBeside(std::optional<qint64> step, bool forward) const {
    constexpr auto kMost = std::numeric_limits<qint64>::max();
    const qint64 from = step.value_or(forward ? -1 : kMost);
    std::optional<qint64> nearest;
    for (const Row& row : m_rows)
        for (const auto& marks : row.marks) {
            const auto after =
                std::upper_bound(marks.begin(), marks.end(), forward ? from : from - 1,
                                 [](qint64 wanted, const Mark& m) { return wanted < m.step; });
            if (after == (forward ? marks.end() : marks.begin())) continue;
            const qint64 found = (forward ? after : after - 1)->step;
            const qint64 before = nearest.value_or(found);
            nearest = forward ? std::min(before, found) : std::max(before, found);
        }
    return nearest ? eventOf(*nearest) : std::nullopt;
}

std::optional<int> EventLane::eventAt(const QPointF& position) const {
    const QCPAxis* stepAxis = m_rect.axis(QCPAxis::atBottom);
    const QCPAxis* rowAxis = m_rect.axis(QCPAxis::atLeft);
    if (!m_rect.rect().contains(position.toPoint())) return std::nullopt;
    const double step = stepAxis->pixelToCoord(position.x());
    std::optional<int> best;
    double bestDistance = kPickDistance * m_magnified;
    for (size_t lane = 0; lane < m_rows.size(); ++lane) {
        for (const EventKind kind : kAllKinds) {
            const auto& marks = m_rows[lane].marks[slot(kind)];
            const double dy = position.y() - rowAxis->coordToPixel(placeOf(lane, kind));
            const auto after =
                std::lower_bound(marks.begin(), marks.end(), step, [](const Mark& m, double s) {
                    return static_cast<double>(m.step) < s;
                });
            for (auto mark = after == marks.begin() ? after : after - 1;
                 mark != marks.end() && mark <= after; ++mark) {
                const double dx =
                    position.x() - stepAxis->coordToPixel(static_cast<double>(mark->step));
                if (const double distance = std::hypot(dx, dy); distance < bestDistance) {
                    bestDistance = distance;
                    best = mark->index;
                }
            }
        }
    }
    return best;
}

QString EventLane::explanationAt(const QPoint& position) const {
    const QRect marks = m_rect.rect();
    if (!QRect(0, marks.top(), marks.left(), marks.height()).contains(position)) return {};
    return QCoreApplication::translate(
        "EventLane",
        "What happened in each lane: \u25bc overflow, \u25b2 the loss scale grew, \u25ac the "
        "loss scale fell, \u25cb underflow, \u25c6 the loss is not finite, \u2691 a setting "
        "was changed");
}

} // namespace halfscope
