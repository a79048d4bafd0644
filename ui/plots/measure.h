// How a metric is plotted: its names, what it means, its axis and how its values read.
#pragma once

#include "engine/runs/metrics.h"

#include <qcustomplot.h>

#include <QSharedPointer>
#include <QString>

namespace halfscope {

class SpacedTicker;

/// Returns the metric's name with its unit, in the user's language.
QString titleOf(const Metric&);
/// Returns the name alone.
QString plainTitleOf(const Metric&);
/// Returns a shorter title, for where the whole one leaves too little room.
QString shortTitleOf(const Metric&);
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
/// Shortens that text for narrow places: "65536 = 2^16" to its power, "45.4k" to "45k".
QString shortValueText(const Metric&, const QString& text);
/// Returns the y range for values from lowest to highest; lowest > highest means that there are
/// none.
QCPRange rangeOf(const Metric&, double lowest, double highest);

} // namespace halfscope
