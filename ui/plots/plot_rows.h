// The plots of a stack, one below the other above the events: which there are, and in what order.
#pragma once

#include "ui/plots/gradient_map.h"
#include "ui/plots/plot_panel.h"

#include <memory>
#include <span>
#include <vector>

namespace halfscope {

class Crosshair;

class PlotRows {
public:
    /// All must outlive it.
    PlotRows(QCustomPlot&, QCPAxisRect& events, Crosshair&);
    ~PlotRows();

    /// A plot for each of the metrics, which are indices of `all`. Those that are there already
    /// stay when nothing changes. Whether it made new ones.
    bool build(std::span<const Metric> all, std::span<const MetricId> metrics);
    /// Whether there is a plot for each of the metrics, and no other.
    bool has(std::span<const MetricId>) const;
    const std::vector<std::unique_ptr<PlotPanel>>& panels() const { return m_panels; }
    /// Null where there is none.
    PlotPanel* of(MetricId) const;
    /// The plot of gradients over time, below the loss scale's; null where it is not shown.
    GradientMap* map() const { return m_map.get(); }
    void showMap(bool);
    /// All that are there, from above.
    std::vector<StackedPlot*> shown() const;

private:
    void prepare(QCPAxisRect&);

    QCustomPlot& m_plot;
    QCPAxisRect& m_events;
    Crosshair& m_crosshair;
    std::vector<std::unique_ptr<PlotPanel>> m_panels;
    std::unique_ptr<GradientMap> m_map;
};

} // namespace halfscope
