// The plots of a stack, one below the other above the events: which plots there are, and in what
// order.
#pragma once

#include "ui/plots/gradient_map.h"
#include "ui/plots/plot_panel.h"

#include <QStringList>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace halfscope {

class Crosshair;

class PlotRows {
public:
    /// All three must outlive this object.
    PlotRows(QCustomPlot&, QCPAxisRect& events, Crosshair&);
    ~PlotRows();

    /// Makes a plot for each of `metrics`, which are indices into `all`. Existing plots stay when
    /// nothing changes. Returns whether it made new ones.
    bool build(std::span<const Metric> all, std::span<const MetricId> metrics);
    /// Whether there is a plot for each of the metrics, and no other plot.
    bool has(std::span<const MetricId>) const;
    const std::vector<std::unique_ptr<PlotPanel>>& panels() const { return m_panels; }
    /// Returns what all plots show, hidden ones too, from top to bottom.
    std::vector<Metric> metrics() const;
    /// Returns the plot of a metric; null when there is none.
    PlotPanel* of(MetricId) const;
    /// Returns the plot of the metric with this column; null when there is none.
    PlotPanel* named(const QString& column) const;
    /// Returns the plot of a metric at a place of the QCustomPlot, header included; null elsewhere.
    PlotPanel* at(const QPoint&) const;
    /// Returns the plot whose header is at a place; null elsewhere.
    StackedPlot* withHeaderAt(const QPoint&) const;
    /// Returns the plot of gradients over time, which lies below the loss scale's; null when it is
    /// not shown.
    GradientMap* map() const { return m_map.get(); }
    void showMap(bool);
    /// Marks the plot with this title as wanted, and no other one.
    void want(const QString& title);
    /// Takes away the plots of the metrics with these columns, now and after each build(); the
    /// others come back. The loss stays: QCustomPlot would hide every header with the first plot.
    void hide(const QStringList& columns);
    /// Tells all plots, also those that are built later; see PlotPanel::setSpeeds().
    void setSpeeds(SpeedsShown);
    /// Takes away plots that show no figures because speeds may not be compared, or brings them
    /// back.
    void setBare(bool);
    const QStringList& hidden() const { return m_hidden; }
    /// Returns all plots that are not hidden, from top to bottom.
    std::vector<StackedPlot*> shown() const;
    /// Shows the values at a step, or the newest ones, with the lanes named alike in all plots.
    void showValues(std::optional<qint64> step);
    /// Returns what each plot says to screen readers.
    QStringList spoken(std::optional<qint64> step) const;

private:
    void prepare(QCPAxisRect&);
    void applyHidden();

    QCustomPlot& m_plot;
    QCPAxisRect& m_events;
    Crosshair& m_crosshair;
    std::vector<std::unique_ptr<PlotPanel>> m_panels;
    std::unique_ptr<GradientMap> m_map;
    SpeedsShown m_speeds = SpeedsShown::Present;
    bool m_bare = false;
    QStringList m_hidden; ///< columns of metrics, also of those that this run does not have
};

} // namespace halfscope
