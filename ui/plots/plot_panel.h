// One plot of the stack: a curve per lane over the shared step axis, its y range, and its header
// with title and values. Draws into an axis rect of PlotStack's QCustomPlot.
#pragma once

#include "ui/look/theme.h"
#include "ui/plots/measure.h"
#include "ui/plots/series.h"
#include "ui/plots/smoothing.h"
#include "ui/plots/stacked_plot.h"

#include <QSharedPointer>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

class QCPAxisRect;
class QCPLayer;
class QCustomPlot;

namespace halfscope {

class CurveGraph;
class ReadoutItem;
class SpacedTicker;

class PlotPanel : public StackedPlot {
public:
    /// The rect belongs to the plot's layout; `overlay` is the layer of header and crosshair.
    PlotPanel(QCustomPlot&, QCPAxisRect&, QCPLayer& overlay, Measure);
    /// Takes its curves and header out of the plot; the rect stays.
    ~PlotPanel() override;

    Measure measure() const { return m_measure; }
    QString title() const { return titleOf(m_measure); }
    QString explanation() const override { return explanationOf(m_measure); }
    double stretch() const override { return stretchOf(m_measure); }
    void setLanes(const QStringList& labels);
    void renameLanes(const QStringList& labels) override;
    /// Such a lane has no value here: the loss scale of a lane that scales nothing.
    void setAbsent(int lane, bool absent);
    void clear();
    void append(int lane, qint64 step, double value);
    /// Draws the trend of each curve over the curve itself, which is faint then; 0: no trend. Of
    /// the loss: the other measures are not noisy.
    void setSmoothing(double weight);
    /// Curves of an earlier run, by lane, that are drawn faint behind this one's, with their values
    /// beside its; null where a lane has none. They must outlive the panel or the next call.
    void setPrevious(const std::vector<const Series*>&);
    /// Hands out what was plotted, by lane; nothing is left.
    std::vector<Series> takeSeries();
    /// Thicker, smooth lines where a curve has few points: for a plot that is not drawn 30 times a
    /// second.
    void setFine(bool fine) { m_fine = fine; }
    /// Pixels at the right end of the header that something else covers.
    void keepFree(int width);
    const Series& series(int lane) const { return m_lanes[static_cast<size_t>(lane)].series; }

    /// Samples [from, to] into the graphs and fits the y range to what is finite there.
    void update(double from, double to, int pixels) override;
    void setColors(const Colors&) override;
    void showValues(std::optional<qint64> step) override;
    QString spoken(std::optional<qint64> step) const override;

private:
    /// What is drawn of a curve; kept to spare allocations.
    struct Points {
        QVector<double> xs, ys;
    };
    struct Lane {
        QString label;
        Series series;
        bool absent = false;
        SmoothedSeries trend;
        CurveGraph* graph = nullptr;      ///< owned by the plot
        CurveGraph* trendGraph = nullptr; ///< owned by the plot; null where nothing is smoothed
        Points points;                    ///< of the last update
    };
    QString textAt(const Lane&, std::optional<qint64> step) const;
    /// " (trend 0.0123)", or nothing.
    QString trendAt(const Lane&, std::optional<qint64> step) const;
    /// " (before 0.0123)": the earlier run at the same step; or nothing.
    QString previousAt(size_t lane, std::optional<qint64> step) const;
    CurveGraph* newGraph(const QString& name);
    void setUpAxis();
    void fillGraph(CurveGraph&, const Points&, QPen, int pixels);
    void fillTrend(Lane&, double from, double to, const QPen&, int pixels);
    void fitRange(double lowest, double highest);

    QCustomPlot& m_plot;
    ReadoutItem* m_readout = nullptr; ///< owned by the plot
    QSharedPointer<SpacedTicker> m_ticker;
    Measure m_measure;
    double m_smoothing = 0; ///< weight of what came before
    bool m_fine = false;
    std::vector<Lane> m_lanes;
    struct Previous {
        const Series* series = nullptr;
        CurveGraph* graph = nullptr; ///< owned by the plot
        Points points;
    };
    std::vector<Previous> m_previous;
    Colors m_colors;
};

} // namespace halfscope
