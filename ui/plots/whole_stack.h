// Lays the plots of a stack out for a picture file: as high as all of them need, whatever room the
// window has, and without rows of events that have no mark. The window's own layout is the owner's.
#pragma once

#include <QRect>

#include <functional>
#include <span>

class QCustomPlot;

namespace halfscope {

class EventLane;
class StackedPlot;

class WholeStack {
public:
    /// All of them must outlive this object. It lays the plots out; the owner draws them.
    /// `updateEvents` updates the lane of events for the steps that are shown.
    WholeStack(QCustomPlot&, EventLane&, std::span<StackedPlot* const>,
               std::function<void()> updateEvents);
    /// Gives the plot its size and its rows of events back. The owner then places the plots for the
    /// window again.
    ~WholeStack();
    WholeStack(const WholeStack&) = delete;
    WholeStack& operator=(const WholeStack&) = delete;

private:
    QCustomPlot& m_plot;
    EventLane& m_events;
    QRect m_viewport; ///< as it was
    std::function<void()> m_updateEvents;
};

} // namespace halfscope
