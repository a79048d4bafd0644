// The plots are axis rects in the plot's grid.
#include "ui/plots/plot_rows.h"

#include "ui/look/owned.h"
#include "ui/plots/crosshair.h"
#include "ui/plots/readout_item.h"

#include <qcustomplot.h>

#include <algorithm>
#include <utility>

namespace halfscope {

namespace {
// The row of the gradients over time, below the loss scale, if there is one: the band rises and
// falls with the curve above it.
constexpr int kBelowScale = 2;
} // namespace

PlotRows::PlotRows(QCustomPlot& plot, QCPAxisRect& events, Crosshair& crosshair)
    : m_plot(plot), m_events(events), m_crosshair(crosshair) {
    prepare(events);
}

PlotRows::~PlotRows() = default;

/// Puts a rect and its axes behind everything else, and adds the crosshair's part in it.
void PlotRows::prepare(QCPAxisRect& rect) {
    rect.setLayer(QStringLiteral("background")); // the rect fills its place
    for (QCPAxis* axis : rect.axes())
        axis->setLayer(QStringLiteral("axes"));
    rect.setAutoMargins(QCP::msNone);
    m_crosshair.addTo(rect);
}

bool PlotRows::has(std::span<const MetricId> metrics) const {
    return std::equal(m_panels.begin(), m_panels.end(), metrics.begin(), metrics.end(),
                      [](const auto& panel, MetricId id) { return panel->id() == id; });
}

bool PlotRows::build(std::span<const Metric> all, std::span<const MetricId> metrics) {
    const auto same = [&](const auto& panel) {
        const auto id = static_cast<size_t>(panel->id());
        return id < all.size() && panel->metric().column == all[id].column;
    };
    if (has(metrics) && std::all_of(m_panels.begin(), m_panels.end(), same)) return false;
    QCPLayoutGrid& rows = *m_plot.plotLayout();
    std::vector<QCPAxisRect*> before;
    for (const auto& panel : m_panels)
        before.push_back(&panel->rect());
    m_panels.clear();
    for (QCPAxisRect* rect : before) {
        m_crosshair.removeFrom(*rect);
        rows.remove(rect);
    }
    rows.take(&m_events);
    rows.simplify();
    int row = 0;
    for (const MetricId id : metrics) {
        const Metric& metric = all[static_cast<size_t>(id)];
        auto* rect = make<QCPAxisRect>(&m_plot);
        rows.addElement(row, 0, rect);
        rows.setRowStretchFactor(row++, stretchOf(metric));
        m_panels.push_back(
            std::make_unique<PlotPanel>(m_plot, *rect, m_crosshair.layer(), id, metric));
        prepare(*rect);
    }
    rows.addElement(row, 0, &m_events);
    setSpeeds(m_speeds);
    applyHidden();
    return true;
}

void PlotRows::hide(const QStringList& columns) {
    m_hidden = columns;
    applyHidden();
}

void PlotRows::setSpeeds(SpeedsShown speeds) {
    m_speeds = speeds;
    for (const auto& panel : m_panels)
        panel->setSpeeds(speeds);
    if (m_bare) applyHidden();
}

void PlotRows::setBare(bool bare) {
    if (std::exchange(m_bare, bare) != bare) applyHidden();
}

void PlotRows::applyHidden() {
    for (const auto& panel : m_panels) {
        const bool unwanted = m_hidden.contains(QString::fromStdString(panel->metric().column));
        const bool tellsNothing = m_bare && panel->holdsBack();
        panel->setHidden(panel->id() != metric::Loss && (unwanted || tellsNothing));
    }
}

std::vector<Metric> PlotRows::metrics() const {
    std::vector<Metric> all;
    for (const auto& panel : m_panels)
        all.push_back(panel->metric());
    return all;
}

PlotPanel* PlotRows::of(MetricId id) const {
    for (const auto& panel : m_panels)
        if (panel->id() == id) return panel.get();
    return nullptr;
}

PlotPanel* PlotRows::named(const QString& column) const {
    for (const auto& panel : m_panels)
        if (panel->metric().column == column.toStdString()) return panel.get();
    return nullptr;
}

PlotPanel* PlotRows::at(const QPoint& place) const {
    for (const auto& panel : m_panels) {
        const QRect plot = panel->rect().outerRect();
        if (!panel->hidden() && place.y() >= plot.top() && place.y() <= plot.bottom())
            return panel.get();
    }
    return nullptr;
}

StackedPlot* PlotRows::withHeaderAt(const QPoint& place) const {
    for (StackedPlot* each : shown()) {
        const QRect plot = each->rect().rect();
        const int header = each->rect().margins().top(); // 0 for a plot that was folded away
        if (QRect(plot.left(), plot.top() - header, plot.width(), header).contains(place))
            return each;
    }
    return nullptr;
}

void PlotRows::want(const QString& title) {
    QCPLayoutGrid& rows = *m_plot.plotLayout();
    for (StackedPlot* plot : shown()) {
        plot->setWanted(plot->title() == title);
        for (int row = 0; row < rows.rowCount(); ++row)
            if (rows.element(row, 0) == &plot->rect())
                rows.setRowStretchFactor(row, plot->stretch());
    }
}

void PlotRows::showMap(bool shows) {
    QCPLayoutGrid& rows = *m_plot.plotLayout();
    if (shows == (m_map != nullptr)) return;
    want({}); // there is room for other plots now
    if (shows) {
        auto* rect = make<QCPAxisRect>(&m_plot);
        rows.insertRow(kBelowScale);
        rows.addElement(kBelowScale, 0, rect);
        m_map = std::make_unique<GradientMap>(m_plot, *rect, m_crosshair.layer());
        rows.setRowStretchFactor(kBelowScale, m_map->stretch());
        prepare(*rect);
        return;
    }
    QCPAxisRect* rect = &m_map->rect();
    m_crosshair.removeFrom(*rect);
    m_map.reset();
    rows.remove(rect);
    rows.simplify();
}

std::vector<StackedPlot*> PlotRows::shown() const {
    std::vector<StackedPlot*> plots;
    size_t above = 0; // the map
    for (size_t row = 0; row < m_panels.size(); ++row) {
        if (m_panels[row]->hidden()) continue;
        plots.push_back(m_panels[row].get());
        if (row < size_t{kBelowScale}) ++above;
    }
    if (m_map) plots.insert(plots.begin() + static_cast<std::ptrdiff_t>(above), m_map.get());
    return plots;
}

void PlotRows::showValues(std::optional<qint64> step) {
    for (const auto& panel : m_panels)
        if (!panel->hidden()) panel->showValues(step);
    ReadoutItem::nameLanesAlike(m_plot);
    if (m_map) m_map->showValues(step); // its words depend on that form
}

QStringList PlotRows::spoken(std::optional<qint64> step) const {
    QStringList texts;
    for (const StackedPlot* plot : shown())
        if (const QString text = plot->spoken(step); !text.isEmpty()) texts << text;
    return texts;
}

} // namespace halfscope
