// One plot of the stack: a curve per lane over the shared step axis, those of
// other runs behind them, its y range, and its header with title and values.
// Draws into an axis rect of PlotStack's QCustomPlot what the run holds.
#pragma once

#include "ui/look/theme.h"
#include "ui/plots/curve.h"
#include "ui/plots/measure.h"
#include "ui/plots/overlay.h"
#include "ui/plots/smoothing.h"
#include "ui/plots/stacked_plot.h"

#include <QSharedPointer>
#include <QString>
#include <QStringList>

#include <memory>
#include <optional>
#include <vector>

class QCPAxisRect;
class QCPItemText;
class QCPLayer;
class QCustomPlot;

namespace halfscope {

class CurveGraph;
class ReadoutItem;
class SpacedTicker;

class PlotPanel : public StackedPlot {
public:
    /// The rect belongs to the plot's layout; `overlay` is the layer of header
    /// and crosshair.
    PlotPanel(QCustomPlot&, QCPAxisRect&, QCPLayer& overlay, MetricId, Metric);
    /// Takes its curves and header out of the plot; the rect stays.
    ~PlotPanel() override;

    MetricId id() const { return m_id; }
    const Metric& metric() const { return m_metric; }
    QString title() const { return titleOf(m_metric); }
    QString explanation() const override { return explanationOf(m_metric); }
    double stretch() const override { return stretchOf(m_metric); }
    bool foldsFirst() const override { return m_id == metric::DeviceSeconds; }
    /// A curve for each lane of the run, with these labels.
    void setRun(const std::shared_ptr<const Run>&, const QStringList& labels);
    void renameLanes(const QStringList& labels) override;
    /// Such a lane has no value here: the loss scale of a lane that scales
    /// nothing.
    void setAbsent(int lane, bool absent);
    /// Draws the trend of each curve over the curve itself, which is faint then;
    /// 0: no trend. Of the loss: the other metrics are not noisy.
    void setSmoothing(double weight);
    /// Other runs whose curves lie behind this one's.
    void setOverlays(const std::vector<Overlay>&);
    /// Nothing is trained: thicker, smooth lines where a curve has few points,
    /// because the plot is not drawn 30 times a second, and the last steps'
    /// speed.
    void setResting(bool resting) { m_resting = resting; }
    /// Pixels at the right end of the header that something else covers.
    void keepFree(int width);

    /// Draws [from, to] of the curves and fits the y range to what is finite
    /// there.
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
        Curve curve;
        bool absent = false;
        SmoothedColumn trend;
        CurveGraph* graph = nullptr;      ///< owned by the plot
        CurveGraph* trendGraph = nullptr; ///< owned by the plot; null where nothing is smoothed
        Points points;                    ///< of the last update
    };
    struct Behind {
        Curve curve;
        int run = 0;                 ///< index of the overlay
        int lane = -1;               ///< of this run, with which its values are compared; -1: none
        QString label;               ///< "2B"
        CurveGraph* graph = nullptr; ///< owned by the plot, as the next one
        QCPItemText* tag = nullptr;
        Points points;
    };
    QString textAt(const Lane&, std::optional<qint64> step) const;
    /// " (trend 0.0123)", or nothing.
    QString trendAt(const Lane&, std::optional<qint64> step) const;
    /// " (2: 0.0123)": other runs at the same step; or nothing.
    QString othersAt(size_t lane, std::optional<qint64> step) const;
    bool isDrawn(const Lane&) const;
    CurveGraph* newGraph(const QString& name);
    void removeLanes();
    void removeOverlays();
    void addBehind(const Overlay&, int index, int lane);
    void setUpAxis();
    void drawLanes(double from, double to, int pixels);
    void drawOverlays(int pixels);
    void placeTag(Behind&, const QPen&);
    void fillGraph(CurveGraph&, const Points&, QPen, int pixels);
    void fitRange(double lowest, double highest);

    QCustomPlot& m_plot;
    ReadoutItem* m_readout = nullptr; ///< owned by the plot
    QSharedPointer<SpacedTicker> m_ticker;
    MetricId m_id;
    Metric m_metric;
    double m_smoothing = 0; ///< weight of what came before
    bool m_resting = false;
    std::vector<Lane> m_lanes;
    std::vector<Overlay> m_overlays;
    std::vector<Behind> m_behind; ///< their curves
    Colors m_colors;
};

} // namespace halfscope
