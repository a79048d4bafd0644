// The controls that lie over the plots: the slider that smooths the loss, the button that leads
// back to the newest step, the one that chooses whose gradients are shown, and the one that tells
// what there is no room for.
#pragma once

#include "ui/plots/smoothing_box.h"

#include <QObject>
#include <QPointer>
#include <QStringList>

#include <array>
#include <span>

class QCPAxisRect;
class QToolButton;
class QWidget;

namespace halfscope {

class FoldedButton;
class GradientMap;
class LaneButton;
class PlotPanel;
class StackedPlot;

class PlotControls : public QObject {
    Q_OBJECT
public:
    /// The controls are children of the stack.
    explicit PlotControls(QWidget& stack);

    double smoothing() const;
    void setSmoothing(double weight);
    /// Sets whether the button back to the newest step is needed.
    void setWayBack(bool needed);
    /// Names the lanes whose gradients can be chosen; none hides the button.
    void setLanes(const QStringList& labels, int chosen);
    /// Hides what only the operator needs, while an audience looks on.
    void setBare(bool bare);
    /// Places the slider at the right end of the loss's header, and the button back to live before
    /// it: they cover no curve. `border` is the width of the frame around the plots.
    void place(PlotPanel& loss, int header, int border);
    /// Makes the controls give room to the samples of lines in the loss's header as it is now, or
    /// else to all of its lanes: the words of the slider go first, then a part of itself, then the
    /// words of the button. They come back when the controls are placed anew, so that nothing
    /// flickers with the figures. Returns whether the header has other room than before.
    bool giveRoom();
    /// Places the button at the right end of the header, as the slider is in the loss's header.
    void placeLane(GradientMap&, int header, int border);
    /// Tells which of the plots are folded, by a button in the lower right corner. Returns the
    /// width that it covers.
    int placeFolded(std::span<StackedPlot* const>, int border);

signals:
    void liveAsked();
    void weightChanged(double weight);
    void laneChosen(int lane);
    /// Emitted when room is to be made for the plot with this title.
    void plotWanted(const QString& title);

private:
    /// The forms of the button, from the widest to the narrowest.
    enum class Live { Words, FewWords, Arrow };
    /// How much room the controls give: 0 none, up to kMostGiven.
    static constexpr int kMostGiven = 4;
    SmoothingBox::Form sliderAt(int given) const;
    Live liveAt(int given) const;
    void showLive(Live);
    void arrange();
    bool hasSlider() const;
    /// Returns the width that the controls cover of the loss's header.
    int coveredAt(int given) const;

    QWidget& m_stack;
    // where the controls were placed; once the rect is gone, so is the panel
    QPointer<QCPAxisRect> m_lossRect;
    PlotPanel* m_loss = nullptr;
    int m_header = 0, m_border = 0;
    int m_given = 0;                   ///< how much room they give
    std::array<int, 3> m_liveWidths{}; ///< by Live
    QToolButton* m_live = nullptr;     ///< child of the stack, as are the next two
    SmoothingBox* m_smoothing = nullptr;
    LaneButton* m_lane = nullptr;
    FoldedButton* m_folded = nullptr; ///< child of the stack
    bool m_back = false;              ///< there is a way back to the newest step
    bool m_choosesLane = false;       ///< there are lanes to choose among
    bool m_bare = false;
    bool m_placed = false; ///< something was, since giveRoom()
};

} // namespace halfscope
