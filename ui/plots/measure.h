// What can be plotted over the steps: its names, what it means, its axis and how its values read.
#pragma once

#include "engine/runs/step_record.h"
#include "ui/models/step_rate.h"

#include <qcustomplot.h>

#include <QSharedPointer>
#include <QString>

#include <optional>

namespace halfscope {

class SpacedTicker;

enum class Measure { Loss, LossScale, LearningRate, GradientNorm, Throughput, Skipped };

QString titleOf(Measure);
/// For where the whole title leaves too little room.
QString shortTitleOf(Measure);
/// What is plotted, for who does not know the word.
QString explanationOf(Measure);
/// The plot's share of the height, beside the others'.
double stretchOf(Measure);
bool isLogarithmic(Measure);
QSharedPointer<SpacedTicker> tickerOf(Measure);
/// The value with its unit: "0.0123", "65536 = 2^16", "812 steps/s".
QString valueText(Measure, double value);
/// What is left of that text where space is short: "65536 = 2^16" is as well told by its power,
/// "45.4k" by "45k".
QString shortValueText(Measure, const QString& text);
/// The y range for values from lowest to highest; lowest > highest: there are none.
QCPRange rangeOf(Measure, double lowest, double highest);

/// When the plot of the throughput gets a point: at the first step, and later about ten times a
/// second, or the noise of single steps hides the trend. The point is the StepRate then.
class RateMeter {
public:
    std::optional<double> add(const StepRecord&);
    /// The steps since the last point, where there are any.
    std::optional<double> rest();
    qint64 lastStep() const { return m_step; }

private:
    StepRate m_rate;
    double m_total = 0, m_window = 0; ///< device seconds
    qint64 m_step = 0;
};

} // namespace halfscope
