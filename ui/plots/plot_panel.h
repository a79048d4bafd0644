// One plot of the stack: a curve for each lane over the shared step axis, curves of other runs
// behind them, its y range, and its header with title and values. Draws data of the runs into an
// axis rect of PlotStack's QCustomPlot.
#pragma once

#include "ui/look/theme.h"
#include "ui/plots/curve.h"
#include "ui/plots/drawn_line.h"
#include "ui/plots/measure.h"
#include "ui/plots/overlay.h"
#include "ui/plots/plot_values.h"
#include "ui/plots/smoothing.h"
#include "ui/plots/stacked_plot.h"

#include <QSharedPointer>
#include <QString>
#include <QStringList>

#include <limits>
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
    /// The rect belongs to the plot's layout; `overlay` is the layer of header and crosshair.
    PlotPanel(QCustomPlot&, QCPAxisRect&, QCPLayer& overlay, MetricId, Metric);
    /// Removes its curves and header from the plot; the rect stays.
    ~PlotPanel() override;

    MetricId id() const { return m_id; }
    const Metric& metric() const { return m_metric; }
    QString title() const override { return titleOf(m_metric); }
    QString explanation() const override;
    double stretch() const override;
    void setHidden(bool) override;
    bool foldsFirst() const override { return m_id == metric::DeviceSeconds && !wanted(); }
    bool foldsLate() const override { return m_id == metric::SkippedSoFar; }
    bool keepsRoom() const override { return m_id == metric::Loss || m_id == metric::Scale; }
    /// Shows a curve for each lane of the run, with these labels.
    void setRun(const std::shared_ptr<const Run>&, const QStringList& labels);
    void renameLanes(const QStringList& labels) override;
    /// Marks a lane that has no value here: the loss scale of a lane without loss scaling.
    void setAbsent(int lane, bool absent);
    /// Draws the trend of each curve over the curve itself, which is faint then; 0: no trend. Only
    /// the loss has a trend. Without one, dense noise of losses and gradient norms is faint, too,
    /// with a line through its middle, because that of the last lane would hide all others; where
    /// the curve is smooth, that line is the curve. Other runs are drawn likewise. A trend
    /// that is dense noise itself is drawn by means of a few pixels.
    void setSmoothing(double weight);
    /// Sets the other runs whose curves are drawn behind.
    void setOverlays(const std::vector<Overlay>&);
    /// Tells that nothing is trained. Then the plot is not drawn 30 times a second: curves with few
    /// points get thicker, smooth lines, and the speed of the last steps is drawn.
    void setResting(bool resting) { m_resting = resting; }
    /// Tells what the speeds of lanes are. Where they may not be compared, a plot of them shows
    /// pale curves, no figures, and why.
    void setSpeeds(SpeedsShown);
    /// Whether it shows no figures for that reason.
    bool holdsBack() const {
        return m_speeds == SpeedsShown::NotComparable && m_metric.axis == PlotAxis::Rate;
    }
    /// Tells that a legend names the other runs, so that no name may cover a curve.
    void setNamed(bool named) { m_named = named; }
    /// Draws lines so many times as thick from the next update() on.
    void magnify(double factor) { m_magnified = factor; }
    /// Keeps so many pixels free at the right end of the header, because something else covers
    /// them.
    void keepFree(int width);
    /// Whether the header would have samples of lines beside so many pixels.
    bool hasSamples(int covered) const;
    bool holdsAll(int covered) const;

    /// Draws the curves in [from, to] and fits the y range to their finite values there.
    bool update(double from, double to, int pixels) override;
    void setColors(const Colors&) override;
    void showValues(std::optional<qint64> step) override;
    /// Returns what is drawn: the lanes, their trends, and the curves of other runs.
    std::vector<PlottedCurve> curves();
    QString spoken(std::optional<qint64> step) const override;

private:
    struct Lane {
        QString label;
        Curve curve;
        bool dotted = false; ///< a curve of m_dotted
        bool absent = false;
        Trend trend;
        CurveGraph* graph = nullptr; ///< owned by the plot
        /// Owned by the plot; null where there is neither a trend nor noise.
        CurveGraph* trendGraph = nullptr;
        CurvePoints points; ///< as of the last update
        /// Whether it is a dotted curve without values: older versions did not measure them.
        bool isMissing() const { return dotted && curve.column().empty(); }
    };
    struct Behind {
        Curve curve;
        int run = 0;                  ///< index of the overlay
        bool dotted = false;          ///< a curve of m_dotted
        int lane = -1;                ///< the shown run's lane that its values are compared with;
                                      ///< -1: none
        QString label, brief;         ///< "2B" and "2B"; "before B" and "before"
        CurveGraph* graph = nullptr;  ///< owned by the plot, as are the next two
        CurveGraph* middle = nullptr; ///< through noise; null for most metrics
        QCPItemText* tag = nullptr;
        CurvePoints points;
        /// Where the tag stands: the step at its right end, and on which side of the curve.
        struct Tagged {
            double step;
            bool above;
        };
        std::optional<Tagged> tagged = std::nullopt;
    };
    /// Whether a step lies where the lane has no curve of its own.
    static bool isBeforeFork(const Lane&, std::optional<qint64> step);
    QString textAt(const Lane&, std::optional<qint64> step) const;
    /// Returns " (Generator, dotted: 0.0123)", or nothing: the value of a lane's dotted curve.
    QString dottedAt(size_t lane, std::optional<qint64> step) const;
    /// Returns " (trend 0.0123)", or nothing.
    QString trendAt(const Lane&, std::optional<qint64> step) const;
    /// Few words leave out a letter that is the lane's own, and digits.
    enum class Words : uint8_t { All, Few };
    /// Returns " (2A: 0.0123)", the values of other runs at the same step, or nothing. "…" stands
    /// for those beyond the first `most`.
    QString othersAt(size_t lane, std::optional<qint64> step,
                     qsizetype most = std::numeric_limits<qsizetype>::max(),
                     Words = Words::All) const;
    struct View {
        double from, to; ///< steps
        int pixels;
    };
    /// Returns the part of the view in which a lane's own curves lie: from its fork on, because
    /// its past is its parent's curve.
    static View viewOf(const Curve&, const View&);
    /// Takes away what is not a value of a lane that is absent.
    static void keepPresent(Lane&);
    PlotTitles titlesAt(bool pointed) const;
    void writeTitle();
    CurveGraph* newGraph(const QString& name);
    void removeLanes();
    void removeOverlays();
    enum class Line : uint8_t { Usual, Dotted };
    void addLanes(const std::shared_ptr<const Run>&, const QStringList& labels, MetricId, Line);
    void addBehind(const Overlay&, int index, int lane, Line);
    QString labelOf(const QString& lane, Line) const;
    void setUpAxis();
    void setUpValues();
    void drawLanes(const View&);
    void drawMiddle(CurveGraph&, Curve&, const CurvePoints&, const QPen&, const View&);
    void drawOverlays(const View&);
    void placeTags();
    QString nameOf(std::vector<size_t> group) const;
    /// Whether noise has a line through its middle.
    bool hasMiddle() const { return m_id == metric::Loss || m_id == metric::GradientNorm; }
    /// The lanes come first, then their dotted curves, if the metric has any.
    size_t laneCount() const { return m_dotted ? m_lanes.size() / 2 : m_lanes.size(); }
    QPen lanePen(size_t lane) const;
    QPen penOf(const Lane&) const;
    int thickness() const; ///< of a lane's line, in whole pixels
    QPen shownPen(size_t lane) const;
    DrawnLine drawnOf(const CurvePoints&, int pixels) const;
    void fillGraph(CurveGraph&, const DrawnLine&, QPen, int pixels);
    void fitRange(double lowest, double highest);

    QCustomPlot& m_plot;
    ReadoutItem* m_readout = nullptr; ///< owned by the plot
    QSharedPointer<SpacedTicker> m_ticker;
    MetricId m_id;
    Metric m_metric;
    std::optional<Metric> m_dotted; ///< the other metric of the run that the plot shows
    double m_first = 0;             ///< what is shown before there are values; 0: not known
    double m_smoothing = 0;         ///< the weight of the past
    bool m_resting = false;
    SpeedsShown m_speeds = SpeedsShown::Present;
    bool m_pointed = false; ///< whether the header has the values of a step that was chosen
    bool m_named = false;
    double m_magnified = 1;
    std::vector<Lane> m_lanes;
    std::vector<Overlay> m_overlays;
    std::vector<Behind> m_behind; ///< the overlays' curves
    Colors m_colors;
};

} // namespace halfscope
