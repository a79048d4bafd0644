// Curves, y range and values of one plot.
#include "ui/plots/plot_panel.h"

#include "ui/look/owned.h"
#include "ui/plots/axis_colors.h"
#include "ui/plots/curve_graph.h"
#include "ui/plots/readout_item.h"
#include "ui/plots/tickers.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfscope {

namespace {

constexpr double kFineWidth = 1.6; // pixels

QString tr(const char* text) { return QCoreApplication::translate("PlotPanel", text); }

} // namespace

PlotPanel::PlotPanel(QCustomPlot& plot, QCPAxisRect& rect, QCPLayer& overlay, Measure measure)
    : StackedPlot(rect), m_plot(plot), m_readout(make<ReadoutItem>(plot, rect)),
      m_measure(measure) {
    m_readout->setLayer(&overlay);
    setUpAxis();
}

PlotPanel::~PlotPanel() {
    setLanes({});
    setPrevious({});
    m_plot.removeItem(m_readout);
}

void PlotPanel::setUpAxis() {
    setUpAxes();
    QCPAxis* value = m_rect.axis(QCPAxis::atLeft);
    m_ticker = tickerOf(m_measure);
    value->setTicker(m_ticker);
    value->setScaleType(isLogarithmic(m_measure) ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    fitRange(1, 0);
}

CurveGraph* PlotPanel::newGraph(const QString& name) {
    auto* graph = make<CurveGraph>(m_rect.axis(QCPAxis::atBottom), m_rect.axis(QCPAxis::atLeft));
    graph->setName(name);
    if (m_measure == Measure::LossScale || m_measure == Measure::Skipped)
        graph->setLineStyle(QCPGraph::lsStepLeft);
    return graph;
}

void PlotPanel::setLanes(const QStringList& labels) {
    for (const Lane& lane : m_lanes) {
        m_plot.removeGraph(lane.graph);
        if (lane.trendGraph) m_plot.removeGraph(lane.trendGraph);
    }
    m_lanes.clear();
    for (const QString& label : labels) {
        Lane lane;
        lane.label = label;
        lane.graph = newGraph(title() + u'/' + label);
        m_lanes.push_back(std::move(lane));
    }
    if (m_measure == Measure::Loss) // last: trends lie over all curves
        for (Lane& lane : m_lanes)
            lane.trendGraph = newGraph(title() + u'/' + lane.label + QStringLiteral("/trend"));
    setSmoothing(m_smoothing);
    fitRange(1, 0);
    setColors(m_colors);
    showValues(std::nullopt);
}

void PlotPanel::renameLanes(const QStringList& labels) {
    for (size_t i = 0; i < m_lanes.size(); ++i) {
        m_lanes[i].label = labels.value(static_cast<qsizetype>(i));
        m_lanes[i].graph->setName(title() + u'/' + m_lanes[i].label);
    }
}

void PlotPanel::clear() {
    for (Lane& lane : m_lanes) {
        lane.series.clear();
        lane.trend.clear();
        lane.graph->data()->clear();
        if (lane.trendGraph) lane.trendGraph->data()->clear();
    }
    fitRange(1, 0);
    showValues(std::nullopt);
}

void PlotPanel::setSmoothing(double weight) {
    m_smoothing = weight;
    for (Lane& lane : m_lanes)
        if (lane.trendGraph) lane.trend.setWeight(weight);
}

void PlotPanel::keepFree(int width) { m_readout->keepFree(width); }

void PlotPanel::setAbsent(int lane, bool absent) {
    m_lanes[static_cast<size_t>(lane)].absent = absent;
    showValues(std::nullopt);
}

std::vector<Series> PlotPanel::takeSeries() {
    std::vector<Series> all;
    for (Lane& lane : m_lanes)
        all.push_back(std::exchange(lane.series, Series()));
    clear();
    return all;
}

void PlotPanel::setPrevious(const std::vector<const Series*>& all) {
    for (const Previous& previous : m_previous)
        if (previous.graph) m_plot.removeGraph(previous.graph);
    m_previous.clear();
    for (const Series* series : all) {
        m_previous.push_back({series, nullptr, {}});
        if (!series) continue;
        CurveGraph* graph = newGraph(title() + QStringLiteral("/before/%1").arg(m_previous.size()));
        graph->setLayer(QStringLiteral("grid")); // behind the curves of now
        m_previous.back().graph = graph;
    }
    showValues(std::nullopt);
}

void PlotPanel::append(int lane, qint64 step, double value) {
    if (lane < 0 || lane >= static_cast<int>(m_lanes.size())) return;
    Lane& to = m_lanes[static_cast<size_t>(lane)];
    if (!to.absent) to.series.append(step, value);
}

void PlotPanel::update(double from, double to, int pixels) {
    if (folded()) return;
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    const auto take = [&](const Series& series, Points& points) {
        series.sample(from, to, pixels, points.xs, points.ys);
        for (const double y : points.ys) {
            if (isLogarithmic(m_measure) && y <= 0) continue;
            lowest = std::min(lowest, y);
            highest = std::max(highest, y);
        }
    };
    for (Lane& lane : m_lanes)
        take(lane.series, lane.points);
    for (Previous& previous : m_previous)
        if (previous.series) take(*previous.series, previous.points);
    fitRange(lowest, highest);
    // as many labels as fit without touching
    const int line = QFontMetrics(m_plot.font()).height();
    m_ticker->setTickCount(std::clamp(m_rect.height() * 2 / (3 * line), 1, 5));
    m_ticker->setLabelShare(static_cast<double>(line) / std::max(1, m_rect.height()));
    for (size_t i = 0; i < m_lanes.size(); ++i) {
        Lane& lane = m_lanes[i];
        const QPen pen = m_colors.lanePen(static_cast<int>(i));
        const bool trend = lane.trend.weight() > 0;
        fillGraph(*lane.graph, lane.points, trend ? m_colors.faint(pen) : pen, pixels);
        if (lane.trendGraph) fillTrend(lane, from, to, pen, pixels);
    }
    for (size_t i = 0; i < m_previous.size(); ++i) {
        QPen pen = m_colors.faint(m_colors.lanePen(static_cast<int>(i)));
        pen.setStyle(Qt::DotLine);
        if (m_previous[i].graph) fillGraph(*m_previous[i].graph, m_previous[i].points, pen, pixels);
    }
}

void PlotPanel::fillTrend(Lane& lane, double from, double to, const QPen& pen, int pixels) {
    lane.trend.update(lane.series);
    lane.trend.series().sample(from, to, pixels, lane.points.xs, lane.points.ys);
    fillGraph(*lane.trendGraph, lane.points, pen, pixels);
}

void PlotPanel::fillGraph(CurveGraph& graph, const Points& points, QPen pen, int pixels) {
    const double floor = m_rect.axis(QCPAxis::atLeft)->range().lower;
    // zero and below have no place on a logarithmic axis: they lie on its lower edge
    const auto heightOf = [&](double y) { return isLogarithmic(m_measure) && y <= 0 ? floor : y; };
    QVector<QCPGraphData> data;
    data.reserve(points.xs.size());
    qsizetype turns = 0;
    double before = 0;
    for (qsizetype i = 0; i < points.xs.size(); ++i) {
        const double y = heightOf(points.ys[i]);
        const qsizetype n = data.size();
        if (n > 0 && i + 1 < points.xs.size()) {
            const bool level = y == data[n - 1].value;
            // the middle of a level stretch adds nothing but work
            if (level && heightOf(points.ys[i + 1]) == y) continue;
            const double rise = y - data[n - 1].value;
            turns += rise * before < 0;
            if (!level) before = rise;
        }
        data.append(QCPGraphData(points.xs[i], y));
    }
    // In dense noise dashes cannot be seen, and they cost as much as all the rest.
    if (data.size() > pixels && 2 * turns > data.size()) pen.setStyle(Qt::SolidLine);
    const bool fine = m_fine && data.size() <= pixels;
    if (fine) pen.setWidthF(kFineWidth);
    graph.setAntialiased(fine);
    if (graph.pen() != pen) graph.setPen(pen);
    // one point makes no line
    const auto style =
        data.size() == 1 ? QCPScatterStyle(QCPScatterStyle::ssDisc, 5) : QCPScatterStyle();
    graph.setScatterStyle(style);
    graph.data()->set(data, true);
}

/// lowest > highest: nothing to show.
void PlotPanel::fitRange(double lowest, double highest) {
    m_rect.axis(QCPAxis::atLeft)->setRange(rangeOf(m_measure, lowest, highest));
}

void PlotPanel::setColors(const Colors& colors) {
    m_colors = colors;
    setColorsOf(m_rect, colors, m_plot.font());
    for (size_t i = 0; i < m_lanes.size(); ++i)
        m_lanes[i].graph->setPen(colors.lanePen(static_cast<int>(i)));
    m_readout->setTitle(title(), shortTitleOf(m_measure), colors.text);
}

QString PlotPanel::trendAt(const Lane& lane, std::optional<qint64> step) const {
    const Series& trend = lane.trend.series();
    const qsizetype i = step ? trend.indexAt(static_cast<double>(*step)) : trend.size() - 1;
    return i < 0 ? QString() : tr(" (trend %1)").arg(valueText(m_measure, trend.value(i)));
}

QString PlotPanel::previousAt(size_t lane, std::optional<qint64> step) const {
    if (lane >= m_previous.size() || !m_previous[lane].series) return {};
    const Series& now = m_lanes[lane].series;
    const Series& before = *m_previous[lane].series;
    // the newest value is compared with the one after as many steps
    if (!step && now.isEmpty()) return {};
    const qint64 at = step ? *step : now.step(now.size() - 1);
    const qsizetype i = before.indexAt(static_cast<double>(at));
    if (i < 0 || at > before.step(before.size() - 1)) return {};
    return tr(" (before %1)").arg(valueText(m_measure, before.value(i)));
}

QString PlotPanel::textAt(const Lane& lane, std::optional<qint64> step) const {
    if (lane.absent) return tr("none");
    const auto& bad = lane.series.nonFiniteSteps();
    const qsizetype last = lane.series.size() - 1;
    const qsizetype i = step ? lane.series.indexAt(static_cast<double>(*step)) : last;
    const bool lost = step ? lane.series.isNonFinite(*step)
                           : !bad.empty() && (last < 0 || bad.back() >= lane.series.step(last));
    if (lost) return tr("not finite");
    return i < 0 ? QString() : valueText(m_measure, lane.series.value(i));
}

void PlotPanel::showValues(std::optional<qint64> step) {
    QVector<ReadoutEntry> entries;
    for (int i = 0; i < static_cast<int>(m_lanes.size()); ++i) {
        const Lane& lane = m_lanes[static_cast<size_t>(i)];
        const QString text = textAt(lane, step);
        const QString brief =
            text == tr("not finite") ? tr("inf/nan") : shortValueText(m_measure, text);
        entries.append({m_colors.lanePen(i), m_colors.laneText(i), lane.label,
                        text + trendAt(lane, step) + previousAt(static_cast<size_t>(i), step),
                        brief});
    }
    m_readout->setEntries(std::move(entries));
}

QString PlotPanel::spoken(std::optional<qint64> step) const {
    QStringList parts;
    for (size_t i = 0; i < m_lanes.size(); ++i)
        if (const QString value = textAt(m_lanes[i], step); !value.isEmpty())
            parts << m_lanes[i].label + u' ' + value + trendAt(m_lanes[i], step) +
                         previousAt(i, step);
    return parts.isEmpty() ? QString()
                           : title() + QStringLiteral(", ") + parts.join(QStringLiteral(", "));
}

} // namespace halfscope
