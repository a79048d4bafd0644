// The live plots over one shared step axis: loss, loss scale, throughput, skipped steps and the
// event lane, with a linked crosshair. The owner feeds rows and calls refresh() on its timer.
#pragma once

#include "engine/runs/gradient_history.h"
#include "engine/runs/step_record.h"
#include "ui/look/theme.h"
#include "ui/plots/event_lane.h"
#include "ui/plots/plot_panel.h"

#include <QElapsedTimer>
#include <QPoint>
#include <QStringList>
#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QCPAxisRect;
class QCPItemStraightLine;
class QCPItemText;
class QCPLayer;
class QCustomPlot;
class QLabel;
class QMenu;
class QSlider;
class QToolButton;

namespace halfscope {

class GradientMap;

class PlotStack : public QWidget {
    Q_OBJECT
public:
    explicit PlotStack(QWidget* parent = nullptr);
    ~PlotStack() override;

    /// Names without the letter ("fp32", "amp-fp16"); `scales`: whether each lane has a loss scale,
    /// all of them when it is empty; `extra`: what is plotted besides loss, loss scale, throughput
    /// and skipped steps. Clears all curves and events.
    void setLanes(const QStringList& names, const std::vector<bool>& scales = {},
                  const std::vector<Measure>& extra = {});
    /// Before setLanes(), for a run of the same experiment: the losses that are plotted now can be
    /// seen behind its, see showPrevious(). Those of a run without steps change nothing.
    void keepLosses();
    void forgetLosses();
    /// Whether kept losses are drawn, faint, behind those of now. Lanes are the same ones where
    /// there are as many, else where they have the same name.
    void showPrevious(bool);
    bool showsPrevious() const { return m_showsPrevious; }
    /// Other names for the same lanes; what is plotted stays.
    void renameLanes(const QStringList& names);
    /// From here on a lane has a loss scale or none; what is plotted stays.
    void setScales(int lane, bool scales);
    /// Cheap: nothing is drawn before refresh().
    void append(int lane, const StepRecord&);
    void addEvent(const Event&);
    /// The plot of gradients over time, below the loss scale's. What was counted stays while it is
    /// hidden; of steps that are trained then nothing is known.
    void showGradients(bool);
    bool showsGradients() const { return m_map != nullptr; }
    /// By lane; before the row of the step that has them.
    void addGradients(const std::vector<GradientRange>&);
    /// Of a saved run, by lane, before its rows.
    void setSavedGradients(const std::vector<GradientHistory>&);
    /// What was counted, by lane.
    const std::vector<GradientHistory>& gradients() const { return m_gradients; }
    /// Whose gradients are shown: at first the first lane with a loss scale.
    int gradientLane() const { return m_gradientLane; }
    void chooseGradientLane(int lane);
    void clear();
    /// Draws what changed since the last call; returns at once when nothing did. Whether it drew.
    bool refresh();

    /// Following shows the whole run and grows with it. The user's zoom or pan ends it; starting it
    /// again takes a pinned crosshair away.
    bool following() const { return m_following; }
    void setFollow(bool);
    /// Weight of the past in the loss' trend, 0 (none) to Smoother::kMost.
    void setSmoothing(double weight);
    double smoothing() const { return m_smoothing; }
    /// Nothing is trained: there is time for finer lines.
    void setResting(bool);
    /// Pins the crosshair to the step; centres it (keeping the zoom) when it is not in view. Ends
    /// following.
    void showStep(qint64 step);
    /// The crosshair comes back to this step when the pointer leaves; nothing takes the pin away.
    void pinCrosshair(std::optional<qint64> step);
    std::optional<qint64> crosshair() const { return m_crosshair; }
    double firstVisibleStep() const { return m_from; }
    double lastVisibleStep() const { return m_to; }
    qint64 lastStep() const { return m_lastStep; }
    int lanes() const { return static_cast<int>(m_labels.size()); }

    /// As shown now. False, and a sentence in `error`, when the file cannot be written.
    bool exportSvg(const QString& path, QString* error = nullptr);
    /// Twice the size on screen.
    bool exportPng(const QString& path, QString* error = nullptr);
    /// Moving average of one drawing, in milliseconds.
    double refreshMilliseconds() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// Index in order of addEvent() since the last clear().
    void eventClicked(int index);
    void followChanged(bool following);
    void smoothingChanged(double weight);
    /// Asked for in the menu.
    void saveRequested();

protected:
    void changeEvent(QEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    void keyPressEvent(QKeyEvent*) override;
    void contextMenuEvent(QContextMenuEvent*) override;
    void focusInEvent(QFocusEvent*) override;
    void focusOutEvent(QFocusEvent*) override;
    void paintEvent(QPaintEvent*) override;
    bool eventFilter(QObject*, QEvent*) override;

private:
    enum PanelIndex : size_t { kLossPanel, kScalePanel }; ///< always the first ones
    static constexpr int kFocusBorder = 1; ///< pixels around the plot for the focus frame

    void buildPlot();
    void buildPanels(const std::vector<Measure>&);
    void addCrosshairLine(QCPAxisRect&);
    std::optional<double> valueOf(Measure, int lane, const StepRecord&);
    void buildSmoothing();
    void placeOverlays();
    void buildLaneBox();
    void placeLaneBox();
    void showGradientLane();
    void startGradients(const QStringList& names, const std::vector<bool>& scales);
    /// All that are there, from above.
    std::vector<StackedPlot*> shownPlots() const;
    void connectMouse();
    void applyColors();
    void applyMargins();
    void foldPlots();
    void layOut();
    void setRange(double from, double to);
    void zoom(double about, double factor);
    void updateReadouts();
    void moveCrosshair(std::optional<qint64> step);
    void drawCrosshair();
    void describe(bool now);
    double stepAt(const QPointF& position) const;
    qint64 nearestStep(const QPointF& position) const;
    void pointerMoved(QMouseEvent*);
    void pinOrUnpin(qint64 step);
    /// What to tell about the header or the event row's letters at a place; empty elsewhere.
    QString helpAt(const QPoint& position) const;
    int plotWidth() const;
    void updatePanels();
    void matchPrevious();
    void finishRates();
    /// Draws with fine lines, whatever the run does.
    template <class Draw>
    void drawFinely(Draw);

    struct Losses {
        QStringList names; ///< without the letter
        std::vector<Series> series;
    };

    std::unique_ptr<QCustomPlot> m_plot;
    Losses m_kept; ///< of the run before; outlives the panels
    bool m_showsPrevious = false;
    QStringList m_names;
    std::vector<std::unique_ptr<PlotPanel>> m_panels;
    std::vector<GradientHistory> m_gradients; ///< by lane
    int m_gradientLane = 0;
    bool m_laneChosen = false;          ///< by the user
    std::unique_ptr<GradientMap> m_map; ///< null where it is not shown
    QCPAxisRect* m_eventRect = nullptr; ///< owned by the plot's layout
    std::unique_ptr<EventLane> m_events;
    std::vector<QCPItemStraightLine*> m_crosshairLines; ///< owned by the plot; events first,
                                                        ///< gradients over time last
    QCPItemText* m_stepTag = nullptr;                   ///< owned by the plot
    QCPLayer* m_overlay = nullptr;                      ///< owned by the plot
    QToolButton* m_live = nullptr;                      ///< child, as the next three
    QWidget* m_smoothingBox = nullptr;                  ///< over the loss' header
    QLabel* m_smoothingLabel = nullptr;
    QToolButton* m_laneBox = nullptr; ///< child, over the header of the gradients over time
    QMenu* m_laneMenu = nullptr;      ///< its
    QSlider* m_slider = nullptr;
    Colors m_colors;
    QStringList m_labels;
    std::vector<RateMeter> m_rates;
    std::optional<qint64> m_crosshair, m_pinned;
    std::optional<QPoint> m_pressed;
    bool m_dragging = false;
    double m_dragFrom = 0, m_dragTo = 0;
    double m_from = 0, m_to = 10;
    qint64 m_lastStep = 0;
    double m_smoothing = 0;
    bool m_resting = false;
    bool m_following = true;
    bool m_dirty = true;
    bool m_moved = true; ///< plots have other places than when they were drawn last
    QElapsedTimer m_described;
};

} // namespace halfscope
