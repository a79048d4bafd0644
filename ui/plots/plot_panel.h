// One plot of the stack: a curve per lane over the shared step axis, its y range, and its header
// with title and values. Draws into an axis rect of PlotStack's QCustomPlot.
#pragma once

#include "engine/train/step_record.h"
#include "ui/plots/series.h"
#include "ui/theme.h"

#include <QSharedPointer>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

class QCPAxisRect;
class QCPGraph;
class QCPLayer;
class QCustomPlot;

namespace halfscope {

class ReadoutItem;
class SpacedTicker;

enum class Measure { Loss, LossScale, Throughput, Skipped };

/// Steps per second over a window that grows with the run: the first step gives a value at once,
/// and later ones are averaged over up to a tenth of a second, or the noise of single steps hides
/// the trend.
class RateMeter {
public:
    std::optional<double> add(double seconds);

private:
    double m_total = 0, m_window = 0;
    qint64 m_steps = 0;
};

/// The value with its unit: "0.0123", "65536 = 2^16", "812 steps/s".
QString valueText(Measure, double value);

class PlotPanel {
public:
    /// The rect belongs to the plot's layout; `overlay` is the layer of header and crosshair.
    PlotPanel(QCustomPlot&, QCPAxisRect&, QCPLayer& overlay, Measure);

    Measure measure() const { return m_measure; }
    QString title() const;
    /// What is plotted, for who does not know the word.
    QString explanation() const;
    void setLanes(const QStringList& labels);
    /// Such a lane has no value here: the loss scale of a lane that scales nothing.
    void setAbsent(int lane, bool absent);
    void clear();
    void append(int lane, qint64 step, double value);
    /// Shows the header alone, for where there is no room for more.
    void setFolded(bool);
    bool folded() const { return m_folded; }
    const Series& series(int lane) const { return m_lanes[static_cast<size_t>(lane)].series; }
    QCPAxisRect& rect() { return m_rect; }

    /// Samples [from, to] into the graphs and fits the y range to what is finite there.
    void update(double from, double to, int pixels);
    void setColors(const Colors&);
    /// Values at a step, or the newest ones.
    void showValues(std::optional<qint64> step);
    /// "B amp-fp16 0.0123" for each lane with a value, for screen readers.
    QString spoken(std::optional<qint64> step) const;

private:
    struct Lane {
        QString label;
        Series series;
        bool absent = false;
        QCPGraph* graph = nullptr; ///< owned by the plot
        QVector<double> xs, ys;    ///< of the last update; kept to spare allocations
    };
    QString textAt(const Lane&, std::optional<qint64> step) const;
    bool logarithmic() const;
    void setUpAxes();
    void fillGraph(Lane&, QPen, int pixels);
    void fitRange(double lowest, double highest);

    QCustomPlot& m_plot;
    QCPAxisRect& m_rect;
    ReadoutItem* m_readout = nullptr; ///< owned by the plot
    QSharedPointer<SpacedTicker> m_ticker;
    Measure m_measure;
    bool m_folded = false;
    std::vector<Lane> m_lanes;
    Colors m_colors;
};

} // namespace halfscope
