// How a metric is plotted: its names, what it means, its axis and how its
// values read.
#pragma once

#include "engine/runs/metrics.h"

#include <qcustomplot.h>

#include <QSharedPointer>
#include <QString>

namespace halfscope {

class SpacedTicker;

/// With its unit, in the user's language.
QString titleOf(const Metric&);
/// For where the whole title leaves too little room.
QString shortTitleOf(const Metric&);
/// Explains the metric to readers who do not know the term.
QString explanationOf(const Metric&);
/// The plot's share of the height, beside the others'.
double stretchOf(const Metric&);
bool isLogarithmic(const Metric&);
/// Whether a value stands until the next one, so that the line has steps.
bool isStepped(const Metric&);
QSharedPointer<SpacedTicker> tickerOf(const Metric&);
/// The value with its unit: "0.0123", "65536 = 2^16", "812 steps/s".
QString valueText(const Metric&, double value);
/// What is left of that text where space is short: "65536 = 2^16" is as well
/// told by its power, "45.4k" by "45k".
QString shortValueText(const Metric&, const QString& text);
/// The y range for values from lowest to highest; lowest > highest: there are
/// none.
QCPRange rangeOf(const Metric&, double lowest, double highest);

} // namespace halfscope
