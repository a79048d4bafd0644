// Curves, y range and values of one plot.
#include "ui/plots/plot_panel.h"

#include "ui/look/owned.h"
#include "ui/models/run_facts.h"
#include "ui/models/shown_numbers.h"
#include "ui/models/translated.h"
#include "ui/plots/axis_colors.h"
#include "ui/plots/curve_graph.h"
#include "ui/plots/means.h"
#include "ui/plots/readout_item.h"
#include "ui/plots/tag_places.h"
#include "ui/plots/tickers.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfscope {

namespace {

constexpr double kFineWidth = 1.6; // pixels

/// Returns a pattern that no lane has, see laneDash().
QVector<qreal> dots() { return {1, 2}; }

} // namespace

PlotPanel::PlotPanel(QCustomPlot& plot, QCPAxisRect& rect, QCPLayer& overlay, MetricId id,
                     Metric metric)
    : StackedPlot(rect), m_plot(plot), m_readout(make<ReadoutItem>(plot, rect)), m_id(id),
      m_metric(std::move(metric)) {
    m_readout->setLayer(&overlay);
    setUpAxis();
}

PlotPanel::~PlotPanel() {
    removeOverlays();
    removeLanes();
    m_plot.removeItem(m_readout);
}

double PlotPanel::stretch() const {
    constexpr double kWanted = 3; // as much as the loss
    return wanted() ? std::max(kWanted, stretchOf(m_metric)) : stretchOf(m_metric);
}

QString PlotPanel::explanation() const {
    QString text = explanationOf(m_metric);
    const auto isDotted = [](const Lane& lane) { return lane.dotted && !lane.isMissing(); };
    if (std::ranges::any_of(m_lanes, isDotted))
        text = QCoreApplication::translate("PlotPanel", "%1 Dotted lines: %2")
                   .arg(text, translated(m_dotted->about));
    return holdsBack()
               ? QCoreApplication::translate(
                     "PlotPanel", "%1 At this pace the lanes wait between steps. Each step then "
                                  "finds cold caches, so the speeds of lanes cannot be "
                                  "compared.")
                     .arg(text)
               : text;
}

void PlotPanel::setSpeeds(SpeedsShown speeds) {
    m_speeds = speeds;
    writeTitle();
}

/// At a step that is pointed at, the speed is that of the step.
PlotTitles PlotPanel::titlesAt(bool pointed) const {
    const bool present = pointed && m_speeds == SpeedsShown::AtTheEnd;
    return titlesOf(m_metric, present ? SpeedsShown::Present : m_speeds);
}

void PlotPanel::writeTitle() {
    const auto [whole, plain, brief] = titlesAt(m_pointed);
    m_readout->setTitle(whole, plain, brief, m_colors.text);
}

void PlotPanel::setHidden(bool hidden) {
    StackedPlot::setHidden(hidden);
    m_readout->setVisible(!hidden);
    for (Behind& behind : m_behind)
        behind.tag->setVisible(false); // update() shows it again
}

void PlotPanel::setUpAxis() {
    setUpAxes();
    setUpValues();
}

/// Takes the value axis that the metric has in this run.
void PlotPanel::setUpValues() {
    QCPAxis* value = m_rect.axis(QCPAxis::atLeft);
    m_ticker = tickerOf(m_metric);
    value->setTicker(m_ticker);
    value->setScaleType(isLogarithmic(m_metric) ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    fitRange(1, 0);
}

CurveGraph* PlotPanel::newGraph(const QString& name) {
    auto* graph = make<CurveGraph>(m_rect.axis(QCPAxis::atBottom), m_rect.axis(QCPAxis::atLeft));
    graph->setName(name);
    if (isStepped(m_metric)) graph->setLineStyle(QCPGraph::lsStepLeft);
    return graph;
}

void PlotPanel::removeLanes() {
    for (const Lane& lane : m_lanes) {
        m_plot.removeGraph(lane.graph);
        if (lane.trendGraph) m_plot.removeGraph(lane.trendGraph);
    }
    m_lanes.clear();
    m_dotted.reset();
}

void PlotPanel::setRun(const std::shared_ptr<const Run>& run, const QStringList& labels) {
    removeLanes();
    const auto metricOf = [&](MetricId id) { return run->metrics()[static_cast<size_t>(id)]; };
    if (run) m_metric = metricIn(run->info().config, metricOf(m_id));
    m_first = run ? firstValueOf(m_metric, run->info().config) : 0;
    setUpValues();
    addLanes(run, labels, m_id, Line::Usual);
    if (const auto id = run ? dottedMetric(run->info().config, m_id) : std::nullopt) {
        m_dotted = metricOf(*id);
        addLanes(run, labels, *id, Line::Dotted);
    }
    if (hasMiddle()) // last: they lie over all curves
        for (Lane& lane : m_lanes)
            lane.trendGraph = newGraph(title() + u'/' + lane.label + QStringLiteral("/trend"));
    setSmoothing(m_smoothing);
    setOverlays(std::exchange(m_overlays, {})); // their lanes are compared with other lanes now
    setColors(m_colors);
    showValues(std::nullopt);
}

void PlotPanel::addLanes(const std::shared_ptr<const Run>& run, const QStringList& labels,
                         MetricId id, Line line) {
    for (int i = 0; i < static_cast<int>(labels.size()); ++i) {
        const QString label = labelOf(labels[i], line);
        m_lanes.push_back({.label = label,
                           .curve = Curve(run, i, id),
                           .dotted = line == Line::Dotted,
                           .absent = false,
                           .trend = Trend(m_smoothing),
                           .graph = newGraph(title() + u'/' + label),
                           .trendGraph = nullptr,
                           .points = {}});
    }
}

/// Returns "A fp32", or "A fp32 (Generator)" for its dotted curve.
QString PlotPanel::labelOf(const QString& lane, Line line) const {
    if (line == Line::Usual) return lane;
    return QStringLiteral("%1 (%2)").arg(lane, titlesOf(*m_dotted, SpeedsShown::Present).brief);
}

void PlotPanel::renameLanes(const QStringList& labels) {
    for (Lane& lane : m_lanes) {
        lane.label =
            labelOf(labels.value(lane.curve.lane()), lane.dotted ? Line::Dotted : Line::Usual);
        lane.graph->setName(title() + u'/' + lane.label);
    }
}

void PlotPanel::setSmoothing(double weight) {
    m_smoothing = weight;
    for (Lane& lane : m_lanes)
        if (lane.trendGraph) {
            lane.trend = Trend(weight);
            lane.trendGraph->data()->clear();
        }
}

void PlotPanel::keepFree(int width) { m_readout->keepFree(width); }

bool PlotPanel::hasSamples(int covered) const { return m_readout->hasSamples(covered); }

bool PlotPanel::holdsAll(int covered) const { return m_readout->holdsAll(covered); }

void PlotPanel::setAbsent(int lane, bool absent) {
    m_lanes[static_cast<size_t>(lane)].absent = absent;
}

void PlotPanel::removeOverlays() {
    for (const Behind& each : m_behind) {
        m_plot.removeGraph(each.graph);
        if (each.middle) m_plot.removeGraph(each.middle);
        m_plot.removeItem(each.tag);
    }
    m_behind.clear();
}

void PlotPanel::setOverlays(const std::vector<Overlay>& overlays) {
    removeOverlays();
    m_overlays = overlays;
    for (int i = 0; i < static_cast<int>(overlays.size()); ++i) {
        const RunSnapshot& run = overlays[static_cast<size_t>(i)].run->now();
        for (int lane = 0; lane < run.laneCount(); ++lane) {
            addBehind(overlays[static_cast<size_t>(i)], i, lane, Line::Usual);
            if (m_dotted) addBehind(overlays[static_cast<size_t>(i)], i, lane, Line::Dotted);
        }
    }
    if (hasMiddle()) // last: they lie over the noise of all runs
        for (Behind& behind : m_behind) {
            behind.middle = newGraph(behind.graph->name() + QStringLiteral("/trend"));
            behind.middle->setLayer(behind.graph->layer());
        }
    showValues(std::nullopt);
}

void PlotPanel::addBehind(const Overlay& overlay, int index, int lane, Line line) {
    const RunSnapshot& run = overlay.run->now();
    const bool dotted = line == Line::Dotted;
    const MetricId id = run.metricNamed((dotted ? *m_dotted : m_metric).column);
    if (id < 0 || (id == metric::Scale && !laneScales(run.info().config, lane))) return;
    if (dotted && !run.has(id)) return;
    const QString label = labelOf(overlay.tag + laneLetter(lane), line);
    Behind behind{.curve = Curve(overlay.run, lane, id),
                  .run = index,
                  .dotted = dotted,
                  .lane = -1,
                  .label = label,
                  // a word says enough; a number alone would look like another sort of name
                  .brief = overlay.tag.endsWith(u' ') ? overlay.tag.trimmed() : label,
                  .graph = newGraph(title() + u'/' + label),
                  .middle = nullptr,
                  .tag = make<QCPItemText>(&m_plot),
                  .points = {}};
    if (!m_lanes.empty()) behind.lane = laneLike(run, lane, m_lanes.front().curve.run().now());
    behind.graph->setLayer(QStringLiteral("grid")); // behind the present curves
    QCPItemText& tag = *behind.tag;
    tag.setText(label);
    tag.setClipAxisRect(&m_rect);
    tag.position->setAxisRect(&m_rect);
    tag.position->setAxes(m_rect.axis(QCPAxis::atBottom), m_rect.axis(QCPAxis::atLeft));
    tag.setPositionAlignment(Qt::AlignBottom | Qt::AlignRight);
    tag.setVisible(false);
    m_behind.push_back(std::move(behind));
}

bool PlotPanel::update(double from, double to, int pixels) {
    bool complete = true;
    if (folded()) { // screen readers hear the values nevertheless
        for (Lane& lane : m_lanes)
            complete = lane.curve.update() && complete;
        return complete;
    }
    // thick lines cost more by the point, and hide what is closer together than they are thick
    pixels = std::max(1, pixels / thickness());
    double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
    const View whole{from, to, pixels};
    const auto fit = [&](const CurvePoints& points) {
        for (const double y : points.ys) {
            if (isLogarithmic(m_metric) && y <= 0) continue;
            lowest = std::min(lowest, y);
            highest = std::max(highest, y);
        }
    };
    for (Lane& lane : m_lanes) {
        const View own = viewOf(lane.curve, whole);
        complete = lane.curve.update() && complete;
        lane.curve.sample(own.from, own.to, own.pixels, m_resting, lane.points.xs, lane.points.ys);
        keepPresent(lane);
        fit(lane.points);
    }
    for (Behind& behind : m_behind) {
        complete = behind.curve.update() && complete;
        const View own = viewOf(behind.curve, whole);
        behind.curve.sample(own.from, own.to, own.pixels, true, behind.points.xs, behind.points.ys);
        fit(behind.points);
    }
    fitRange(lowest, highest);
    m_ticker->fitIn(m_rect.height(), m_plot.font());
    drawLanes(whole);
    drawOverlays(whole);
    return complete;
}

/// A scaler that was switched off leaves its earlier values; without one, the column has ones.
void PlotPanel::keepPresent(Lane& lane) {
    if (!lane.absent) return;
    const auto last = static_cast<double>(lane.curve.lastBefore(1));
    CurvePoints& points = lane.points;
    const auto end = std::upper_bound(points.xs.begin(), points.xs.end(), last);
    points.xs.resize(end - points.xs.begin());
    points.ys.resize(points.xs.size());
    if (lane.curve.isConstant(1)) points = {}; // not even the last one of its parent
}

PlotPanel::View PlotPanel::viewOf(const Curve& curve, const View& whole) {
    const auto begin = static_cast<double>(curve.begin());
    if (begin < 1 || begin <= whole.from) return whole; // all steps are its own
    if (begin >= whole.to) return {begin, whole.to, 1};
    const double share = (whole.to - begin) / (whole.to - whole.from);
    return {begin, whole.to, static_cast<int>(std::ceil(share * whole.pixels))};
}

void PlotPanel::drawLanes(const View& whole) {
    for (size_t i = 0; i < m_lanes.size(); ++i) {
        Lane& lane = m_lanes[i];
        const View own = viewOf(lane.curve, whole);
        const auto [from, to, pixels] = own;
        const QPen pen = penOf(lane);
        const bool trend = lane.trend.weight() > 0;
        const DrawnLine drawn = drawnOf(lane.points, pixels);
        const bool pale = trend || (drawn.noise && lane.trendGraph) || holdsBack();
        fillGraph(*lane.graph, drawn, pale ? m_colors.faint(pen) : pen, pixels);
        if (!lane.trendGraph) continue;
        if (!trend && pale) {
            drawMiddle(*lane.trendGraph, lane.curve, lane.points, pen, own);
            continue;
        }
        lane.trend.sample(lane.curve.column(), from, to, pixels, lane.points.xs, lane.points.ys);
        DrawnLine line = drawnOf(lane.points, pixels);
        if (line.noise) { // it would hide other lanes, too
            averageDense(lane.points.xs);
            averageDense(lane.points.ys);
            line = drawnOf(lane.points, pixels);
        }
        fillGraph(*lane.trendGraph, line, pen, pixels);
    }
}

/// Draws a line through the middle of the noise that `points` are, in which the pen's dashes can be
/// seen. Where the curve is no noise, the line is the curve.
void PlotPanel::drawMiddle(CurveGraph& graph, Curve& curve, const CurvePoints& points,
                           const QPen& pen, const View& view) {
    // as many means as the plot has room for: under thick lines, too, a fall begins at its step
    const auto most = static_cast<int>(points.xs.size()) - 2; // without those beside the view
    const int pixels = std::max(view.pixels, std::min(view.pixels * thickness(), most));
    CurvePoints middle;
    sampleMeans(curve.column(), view.from, view.to, pixels, curve.changes(), middle.xs, middle.ys);
    followWhereSmooth(points.xs, points.ys, middle.xs, middle.ys);
    DrawnLine line = drawnOf(middle, view.pixels);
    line.noise = false;
    fillGraph(graph, line, pen, view.pixels);
}

void PlotPanel::drawOverlays(const View& whole) {
    constexpr int kVeil = 180; // alpha, of 255: a curve below a name is still seen
    QColor ground = m_colors.background;
    ground.setAlpha(kVeil);
    for (Behind& behind : m_behind) {
        const Overlay& overlay = m_overlays[static_cast<size_t>(behind.run)];
        const View own = viewOf(behind.curve, whole);
        QPen pen = m_colors.runPen(overlay.color, behind.curve.lane());
        pen.setWidthF(m_magnified);
        if (behind.dotted) pen.setDashPattern(dots());
        const DrawnLine drawn = drawnOf(behind.points, own.pixels);
        const bool pale = drawn.noise && behind.middle;
        fillGraph(*behind.graph, drawn, pale ? m_colors.faint(pen) : pen, own.pixels);
        if (pale)
            drawMiddle(*behind.middle, behind.curve, behind.points, pen, own);
        else if (behind.middle)
            behind.middle->data()->clear();
        behind.tag->setFont(m_plot.font());
        behind.tag->setColor(m_colors.asText(pen.color()));
        behind.tag->setBrush(ground); // where no place is clear of curves
    }
    placeTags();
}

int PlotPanel::thickness() const {
    return m_magnified > 1 ? std::max(1, static_cast<int>(lanePen(0).widthF())) : 1;
}

QPen PlotPanel::lanePen(size_t lane) const {
    constexpr double kForAudience = 1.5; // beyond the letters: a line far away seems thinner
    QPen pen = m_colors.lanePen(static_cast<int>(lane));
    if (m_magnified <= 1) return pen;
    pen.setWidthF(std::max(2.0, std::round(kForAudience * m_magnified)));
    // dashes count in widths: long ones would hide the steps of a loss scale
    QVector<qreal> dashes = pen.style() == Qt::SolidLine ? QVector<qreal>() : pen.dashPattern();
    for (qreal& each : dashes)
        each = std::max(1.0, each / kForAudience);
    if (!dashes.isEmpty()) pen.setDashPattern(dashes);
    return pen;
}

QPen PlotPanel::penOf(const Lane& lane) const {
    QPen pen = lanePen(static_cast<size_t>(lane.curve.lane()));
    if (lane.dotted) pen.setDashPattern(dots());
    return pen;
}

/// Puts each tag beside its own curve. One tag names the curves that nobody can tell apart.
void PlotPanel::placeTags() {
    for (const Behind& behind : m_behind)
        behind.tag->setVisible(false);
    if (m_behind.empty() || m_rect.width() <= 0 || m_rect.height() <= 0) return;
    constexpr int kAround = 3; // pixels
    const QCPAxis& step = *m_rect.axis(QCPAxis::atBottom);
    const QCPAxis& value = *m_rect.axis(QCPAxis::atLeft);
    const QFontMetrics metrics(m_plot.font());
    const auto sizeOf = [&metrics](const QString& name) {
        return QSizeF(metrics.horizontalAdvance(name) + kAround, metrics.height());
    };
    TagPlaces places(m_rect.rect());
    std::vector<QSizeF> sizes;
    for (const Behind& behind : m_behind) {
        places.add(*behind.graph);
        sizes.push_back(sizeOf(behind.label));
    }
    for (const Lane& lane : m_lanes)
        places.add(*lane.graph);
    for (const std::vector<size_t>& group : places.groups(sizes)) {
        Behind& behind = m_behind[group.front()];
        const QString name = nameOf(group);
        std::optional<TagPlaces::Place> before;
        if (behind.tagged) // at its step: the axis may have other steps now
            before = {QRectF(QPointF(step.coordToPixel(behind.tagged->step), 0), QSizeF()),
                      behind.tagged->above};
        const auto [rect, above, clear] = places.placeBy(group, sizeOf(name), before);
        behind.tagged = {step.pixelToCoord(rect.right()), above};
        behind.tag->setText(name);
        if (group.size() > 1) behind.tag->setColor(m_colors.text); // none of their colours
        behind.tag->setVisible(clear || !m_named);
        behind.tag->position->setCoords(behind.tagged->step, value.pixelToCoord(rect.bottom()));
    }
}

/// Returns "2A, 2B".
QString PlotPanel::nameOf(std::vector<size_t> group) const {
    std::sort(group.begin(), group.end());
    QStringList names;
    for (const size_t each : group)
        names << m_behind[each].label;
    return names.join(QStringLiteral(", "));
}

/// Returns the pen as the lane's line is drawn: without dashes where they would drown.
QPen PlotPanel::shownPen(size_t lane) const {
    const Lane& shown = m_lanes[lane];
    const bool over = shown.trendGraph && !shown.trendGraph->data()->isEmpty();
    QPen pen = lanePen(lane);
    if ((over ? shown.trendGraph : shown.graph)->pen().style() == Qt::SolidLine)
        pen.setStyle(Qt::SolidLine);
    return pen;
}

DrawnLine PlotPanel::drawnOf(const CurvePoints& points, int pixels) const {
    const double floor = m_rect.axis(QCPAxis::atLeft)->range().lower;
    return drawnLine(points, pixels, isLogarithmic(m_metric) ? std::optional(floor) : std::nullopt);
}

void PlotPanel::fillGraph(CurveGraph& graph, const DrawnLine& drawn, QPen pen, int pixels) {
    const QVector<QCPGraphData>& data = drawn.data;
    // dashes cannot be seen there, and they cost as much as everything else
    if (drawn.noise) pen.setStyle(Qt::SolidLine);
    const bool fine = m_resting && data.size() <= pixels;
    if (fine) pen.setWidthF(std::max(kFineWidth, pen.widthF()));
    graph.setAntialiased(fine);
    if (graph.pen() != pen) graph.setPen(pen);
    // one point makes no line
    const auto style = data.size() == 1 ? QCPScatterStyle(QCPScatterStyle::ssDisc, 5 * m_magnified)
                                        : QCPScatterStyle();
    graph.setScatterStyle(style);
    graph.data()->set(data, true);
}

/// Fits the y range; lowest > highest means that there is nothing to show.
void PlotPanel::fitRange(double lowest, double highest) {
    if (lowest > highest && m_first > 0) lowest = highest = m_first;
    m_rect.axis(QCPAxis::atLeft)->setRange(rangeOf(m_metric, lowest, highest));
    if (m_metric.axis != PlotAxis::Log2) return;
    if (const auto ticker = m_ticker.dynamicCast<PowerTicker>()) ticker->setEnds(lowest, highest);
}

void PlotPanel::setColors(const Colors& colors) {
    m_colors = colors;
    setColorsOf(m_rect, colors, m_plot.font());
    for (const Lane& lane : m_lanes)
        lane.graph->setPen(penOf(lane));
    writeTitle();
}

bool PlotPanel::isBeforeFork(const Lane& lane, std::optional<qint64> step) {
    return step && *step < lane.curve.begin();
}

QString PlotPanel::trendAt(const Lane& lane, std::optional<qint64> step) const {
    if (isBeforeFork(lane, step)) return {};
    const Column& column = lane.curve.column();
    const auto trend = lane.trend.upTo(column, step.value_or(column.lastStep()));
    return trend ? QCoreApplication::translate("PlotPanel", " (trend %1)")
                       .arg(valueText(m_metric, trend->value))
                 : QString();
}

QString PlotPanel::dottedAt(size_t lane, std::optional<qint64> step) const {
    if (!m_dotted) return {};
    const QString value = textAt(m_lanes[laneCount() + lane], step);
    return value.isEmpty() ? QString()
                           : QCoreApplication::translate("PlotPanel", " (%1, dotted: %2)")
                                 .arg(titlesOf(*m_dotted, SpeedsShown::Present).brief, value);
}

QString PlotPanel::othersAt(size_t lane, std::optional<qint64> step, qsizetype most,
                            Words words) const {
    if (holdsBack()) return {};
    const Lane& now = m_lanes[lane];
    const auto newest = now.curve.at(std::nullopt, m_resting);
    // the newest value is compared with the one after equally many steps
    if ((!step && !newest) || isBeforeFork(now, step)) return {};
    const qint64 at = step ? *step : newest->step;
    QStringList parts;
    for (const Behind& behind : m_behind) {
        if (behind.dotted || behind.lane != static_cast<int>(lane)) continue;
        const auto value = behind.curve.at(at, true);
        if (!value || value->lost || at < behind.curve.begin() ||
            at > behind.curve.run().now().lastStep())
            continue;
        if (parts.size() == most) {
            parts << QString(QChar(0x2026));
            break;
        }
        const QString text = readingText(behind.curve, m_metric, *value);
        const bool few = words == Words::Few, same = behind.curve.lane() == behind.lane;
        parts << QCoreApplication::translate("PlotPanel", "%1: %2")
                     .arg(few && same ? behind.brief : behind.label,
                          few ? shortValueText(m_metric, text) : text);
    }
    return parts.isEmpty() ? QString()
                           : QStringLiteral(" (%1)").arg(parts.join(QStringLiteral(", ")));
}

QString PlotPanel::textAt(const Lane& lane, std::optional<qint64> step) const {
    if (holdsBack()) return {};
    if (lane.absent) return QCoreApplication::translate("PlotPanel", "none");
    const auto value = lane.curve.at(step, m_resting);
    if (!value || isBeforeFork(lane, step)) return {};
    const bool inherited = value->step < lane.curve.begin(); // by a fork, from its parent
    if (inherited && m_id == metric::Scale &&
        !scalesAt(lane.curve.run().now(), lane.curve.lane(), value->step))
        return QCoreApplication::translate("PlotPanel", "none");
    return readingText(lane.curve, m_metric, *value);
}

void PlotPanel::showValues(std::optional<qint64> step) {
    constexpr qsizetype kMost = 2; // other runs, where there is little room
    if (std::exchange(m_pointed, step.has_value()) != step.has_value()) writeTitle();
    QVector<ReadoutEntry> entries;
    for (int i = 0; i < static_cast<int>(laneCount()); ++i) {
        const Lane& lane = m_lanes[static_cast<size_t>(i)];
        if (isBeforeFork(lane, step)) continue; // its letter alone would look like a lack
        const QString text = textAt(lane, step);
        const QString brief = shortValueText(m_metric, text);
        const auto at = static_cast<size_t>(i);
        const QString own = text + trendAt(lane, step) + dottedAt(at, step);
        const QString compared = brief + othersAt(at, step, kMost, Words::Few);
        entries.append({shownPen(at), m_colors.laneText(i), lane.label,
                        own + othersAt(at, step, kMost), brief, own + othersAt(at, step),
                        compared});
    }
    m_readout->setEntries(std::move(entries));
}

std::vector<PlottedCurve> PlotPanel::curves() {
    std::vector<PlottedCurve> all;
    const auto add = [&all](const QString& name, const Curve& curve, double weight) {
        all.push_back({name.toStdString(), curve.run().snapshot(), curve.lane(), curve.id(), weight,
                       curve.begin()});
    };
    for (Lane& lane : m_lanes) {
        if ((lane.absent && lane.curve.isConstant(1)) || lane.isMissing()) continue;
        add(lane.label, lane.curve, 0);
        if (lane.absent) all.back().last = lane.curve.lastBefore(1);
    }
    for (const Lane& lane : m_lanes)
        if (lane.trendGraph && m_smoothing > 0 && !lane.isMissing())
            add(QCoreApplication::translate("PlotPanel", "%1 trend").arg(lane.label), lane.curve,
                m_smoothing);
    for (const Behind& behind : m_behind)
        add(behind.label, behind.curve, 0);
    return all;
}

QString PlotPanel::spoken(std::optional<qint64> step) const {
    const QString heading = titlesAt(step.has_value()).whole;
    if (holdsBack()) return heading;
    QStringList parts;
    for (size_t i = 0; i < laneCount(); ++i)
        if (const QString value = textAt(m_lanes[i], step); !value.isEmpty())
            parts << m_lanes[i].label + u' ' + value + trendAt(m_lanes[i], step) +
                         dottedAt(i, step) + othersAt(i, step);
    return parts.isEmpty() ? QString()
                           : heading + QStringLiteral(", ") + parts.join(QStringLiteral(", "));
}

} // namespace halfscope
