// How a metric is plotted: its names, what it means, its axis and how its values read.
#pragma once

#include "engine/runs/metrics.h"
#include "engine/settings/run_config.h"
#include "ui/plots/curve.h"
#include "ui/plots/speeds_shown.h"

#include <qcustomplot.h>

#include <QSharedPointer>
#include <QString>

#include <optional>

namespace halfscope {

class SpacedTicker;

/// Returns the metric as the plot of such a run shows it. A rate that falls by factors to less than
/// a twentieth has a logarithmic axis, on which each fall is seen; the loss of a critic is
/// named and explained as what it is, see shownLoss().
Metric metricIn(const RunConfig&, Metric);
/// Returns the metric whose curves the plot of `id` has beside its own, as dotted lines: the loss
/// of the network that learns from a critic stands beside the critic's.
std::optional<MetricId> dottedMetric(const RunConfig&, MetricId id);
/// Returns the largest loss scale with which such a run starts, for a plot of scales without values
/// yet; 0 for other metrics, and where no lane has one.
double firstValueOf(const Metric&, const RunConfig&);
/// Returns the metric's name with its unit, in the user's language.
QString titleOf(const Metric&);
/// The heading of a plot in three lengths.
struct PlotTitles {
    QString whole, plain; ///< with the unit and without
    QString brief;        ///< for where the whole one leaves too little room
};
/// Returns the headings of the metric's plot, which say what its figures are where they are speeds.
PlotTitles titlesOf(const Metric&, SpeedsShown);
/// Explains the metric to readers who do not know the term.
QString explanationOf(const Metric&);
/// Returns the share of the height that the plot gets, relative to the other plots.
double stretchOf(const Metric&);
bool isLogarithmic(const Metric&);
/// Whether a value stays until the next one, so that the line has steps.
bool isStepped(const Metric&);
QSharedPointer<SpacedTicker> tickerOf(const Metric&);
/// Returns the value with its unit: "0.0123", "65536 = 2^16", "812 steps/s".
QString valueText(const Metric&, double value);
/// Returns a value of a curve as the cards show it, also where an accuracy of 0 says nothing.
QString readingText(const Curve&, const Metric&, const Curve::Reading&);
/// Shortens that text for narrow places: "65536 = 2^16" to its power, "45.4k" to "45k", "86.60 %"
/// to "86.6 %".
QString shortValueText(const Metric&, const QString& text);
/// Returns the y range for values from lowest to highest; lowest > highest means that there are
/// none.
QCPRange rangeOf(const Metric&, double lowest, double highest);

} // namespace halfscope
