// The plots of a run over one shared step axis: loss, loss scale, throughput, skipped steps,
// whatever else the run measures, its gradients, and the event lane, with a linked crosshair. Draws
// the run's data and keeps none of it; the owner calls refresh() on its timer.
#pragma once

#include "engine/runs/run.h"
#include "ui/look/theme.h"
#include "ui/plots/event_lane.h"
#include "ui/plots/overlay.h"
#include "ui/plots/plot_picture.h"
#include "ui/plots/plot_values.h"
#include "ui/plots/speeds_shown.h"
#include "ui/plots/step_range.h"

#include <QElapsedTimer>
#include <QPoint>
#include <QStringList>
#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QCPAxisRect;
class QCPRange;
class QCustomPlot;

namespace halfscope {

class Crosshair;
class PlotControls;
class PlotMouse;
class PlotPanel;
class PlotRows;
class RunLegend;

class PlotStack : public QWidget {
    Q_OBJECT
public:
    explicit PlotStack(QWidget* parent = nullptr);
    ~PlotStack() override;

    /// Shows a run from its first step; null: nothing. Ends zoom and pan.
    void setRun(std::shared_ptr<const Run>);
    /// Sets the other runs whose curves are drawn behind. A lane's values are compared with those
    /// of the same lane when both runs have equally many lanes, else with the lane of the same
    /// name. `shown` names the run that is shown for legends, which need its tag, its name and what
    /// tells it from the others.
    void setOverlays(std::vector<Overlay>, Overlay shown = {});
    const std::vector<Overlay>& overlays() const { return m_overlays; }
    /// Shows or hides the plot of gradients over time, which lies below the loss scale's.
    void showGradients(bool);
    bool showsGradients() const;
    /// Hides the plots of the metrics with these columns, in this run and in others. The loss and
    /// the events stay.
    void hidePlots(const QStringList& columns);
    const QStringList& hiddenPlots() const;
    /// Returns the metrics that have a plot, shown or hidden, from top to bottom.
    std::vector<Metric> plottable() const;
    /// Returns the lane whose gradients are shown: until the user chooses one, the lane that was
    /// forked last, or the first one with a loss scale.
    int gradientLane() const { return m_gradientLane; }
    void chooseGradientLane(int lane);
    /// Draws what changed since the last call; returns at once when nothing did. Returns whether it
    /// drew.
    bool refresh();

    /// Following shows the whole run and grows with it. The user's zoom or pan ends it; starting it
    /// again removes a pinned crosshair.
    bool following() const { return m_following; }
    void setFollow(bool);
    /// Sets the weight of the past in the loss's trend, 0 (none) to Smoother::kMost.
    void setSmoothing(double weight);
    double smoothing() const;
    /// Tells that nothing is trained, so that there is time for finer lines.
    void setResting(bool resting) {
        m_dirty = m_dirty || resting != m_resting;
        m_resting = resting;
    }
    /// Tells what the speeds of lanes are: RunModel decides whether they may be compared now.
    void setSpeeds(SpeedsShown);
    /// Lets the headers keep their values of the newest step while curves grow, as long as the
    /// other figures of the window do: the same figure must not have two values at a time.
    void holdValues(bool hold) {
        m_holds = hold;
        m_dirty = m_dirty || (m_stale && !hold);
    }
    /// Pins the crosshair to the step, as a click on its mark does; centres it (keeping the zoom)
    /// when it is not in view.
    void showStep(qint64 step);
    /// Sets the step to which the crosshair returns when the pointer leaves; std::nullopt removes
    /// the pin.
    void pinCrosshair(std::optional<qint64> step);
    std::optional<qint64> crosshair() const;
    /// Returns the step whose values the headers show: the crosshair's, or the last one in view;
    /// nothing where that is the newest.
    std::optional<qint64> readStep() const;
    std::optional<qint64> pinnedStep() const;
    /// Removes the crosshair while following: what is trained now is to be seen.
    void trainingStarts();
    /// Returns the index, among the run's events, of the gravest event at the crosshair; without
    /// one there, and while the pointer only reads figures, of the one at the pinned step. Nothing
    /// when no event happened at either step.
    std::optional<int> eventPointedAt() const;
    /// Pins the crosshair to the next step with an event, or the previous one, as a click on its
    /// mark does.
    void goToEvent(bool forward);
    /// Draws lines and marks so many times as large, for an audience; letters follow the widget's
    /// font. Of the controls over the plots, only the choice of a lane stays above 1. A plot of
    /// speeds that may not be compared goes: it would tell an audience nothing.
    void magnify(double factor);
    double firstVisibleStep() const { return m_range.from(); }
    double lastVisibleStep() const { return m_range.to(); }
    qint64 lastStep() const { return m_lastStep; }
    int lanes() const { return static_cast<int>(m_labels.size()); }

    /// Returns the steps that are shown now as the bytes of a file, in the light theme's colours:
    /// paper is white. It has all plots that are not hidden, also those that the window has no room
    /// for, and no row of events without a mark. Magnified plots are a slide: it is as the window
    /// shows it.
    QByteArray file(PlotForm);
    /// Returns the plots likewise, but only those that the window has room for.
    QByteArray svg() { return fileAsLaidOut(PlotForm::Svg); }
    /// Returns a picture of the plots as they are shown now, with the window's colours.
    QImage picture();
    /// Returns what the plot of the metric with this column shows; no curves when it has no plot.
    PlotValues values(const QString& column) const;
    /// Returns the moving average of the time of one drawing, in milliseconds.
    double refreshMilliseconds() const;

    QSize sizeHint() const override { return {760, 460}; }
    /// A screen of 1280 x 720 at scale factor 1.5 has no more below the title of the window.
    QSize minimumSizeHint() const override { return {170, 200}; }

signals:
    void copyRequested();
    /// Emitted with the index, among the run's events, of an event that was clicked or gone to,
    /// after its step was pinned.
    void eventClicked(int index);
    /// Emitted when there is no event to go to.
    void noEventFound();
    /// Emitted when the crosshair is pinned to a step, or removed.
    void pinned(std::optional<qint64> step);
    void followChanged(bool following);
    /// Emitted when the headers may tell another step than the newest one, and when they no longer
    /// do: setFollow() leads back.
    void wayBackNeeded(bool needed);
    void smoothingChanged(double weight);
    /// Emitted when the menu's entry is chosen.
    void saveRequested();
    /// Likewise, for the values of the metric with this column.
    void valuesRequested(const QString& column);

protected:
    void changeEvent(QEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    void keyPressEvent(QKeyEvent*) override;
    void contextMenuEvent(QContextMenuEvent*) override;
    void focusInEvent(QFocusEvent*) override;
    void focusOutEvent(QFocusEvent*) override;
    void paintEvent(QPaintEvent*) override;

private:
    static constexpr int kFocusBorder = 1; ///< pixels around the plot for the focus frame

    // the run
    bool takeRun();
    void nameLanes();
    void showGradientLane();
    /// Returns the plot of the loss or the loss scale, which are always there.
    PlotPanel& panelOf(MetricId) const;
    /// Returns the steps of all runs that are drawn.
    QCPRange allSteps() const;
    double roomAtEnds() const;

    // places
    void buildPlot();
    void placeControls();
    void applyColors() { useColors(colorsFor(palette())); }
    void useColors(const Colors&);
    void applyMargins();
    /// For other plots, or letters of another size.
    void placeAnew() {
        applyMargins();
        applyColors();
    }
    int plotWidth() const;

    /// Returns the plots as they lie now.
    QByteArray fileAsLaidOut(PlotForm);
    FigureLegend legendNow() const;

    // range and crosshair
    void setRange(double from, double to);
    /// Shows the button to the newest step where the headers may tell another one.
    void offerWayBack();
    void zoom(double about, double factor);
    void updatePlots();
    void updateReadouts();
    void moveCrosshair(std::optional<qint64> step);
    void describe(bool now);

    // mouse and keys
    void connectMouse();
    double stepAt(const QPointF& position) const;
    qint64 nearestStep(const QPointF& position) const;
    void hover(const QPointF& position, const QPoint& onScreen);
    void turnWheel(const QPointF& position, const QPoint& angle);
    void openMenu(const QPoint& onScreen);
    void pinOrUnpin(qint64 step);
    void choose(int event);
    void goTo(qint64 step);
    /// Returns what to say about the header or the event row's letters at a place; empty elsewhere.
    QString helpAt(const QPoint& position) const;

    /// Draws with fine lines, whether or not anything is trained.
    template <class Draw>
    auto drawFinely(Draw);

    std::unique_ptr<QCustomPlot> m_plot;
    std::shared_ptr<const Run> m_run; ///< null when nothing is shown
    std::vector<Overlay> m_overlays;
    Overlay m_shown;                       ///< what legends say of m_run; without a run of its own
    std::optional<uint64_t> m_seen;        ///< the versions of all runs that were drawn, added up
    std::shared_ptr<const RunInfo> m_info; ///< gives the lanes their names and scales
    int m_gradientLane = 0;
    bool m_laneChosen = false;          ///< by the user
    QCPAxisRect* m_eventRect = nullptr; ///< owned by the plot's layout
    std::unique_ptr<EventLane> m_events;
    std::unique_ptr<Crosshair> m_crosshair;
    std::unique_ptr<PlotRows> m_rows;
    std::unique_ptr<PlotMouse> m_mouse;
    PlotControls* m_controls = nullptr; ///< child, as is the next one
    RunLegend* m_runLegend = nullptr;
    Colors m_colors;
    QStringList m_labels;
    StepRange m_range, m_dragged; ///< dragged: as it was when the button was pressed
    qint64 m_lastStep = 0;
    double m_magnified = 1;
    bool m_resting = false;
    SpeedsShown m_speeds = SpeedsShown::Present;
    bool m_named = false; ///< a legend names the other runs
    bool m_following = true;
    bool m_dirty = true;
    bool m_moved = true;   ///< plots have moved since they were drawn last
    bool m_holds = false;  ///< see holdValues()
    bool m_stale = false;  ///< the headers have values of an earlier step than the curves
    bool m_hovers = false; ///< the pointer has moved the crosshair, not a key
    QElapsedTimer m_described;
};

} // namespace halfscope
