// How fast a lane trains: one number for the figures above the plots and for the plot itself.
#pragma once

#include <deque>

namespace halfscope {

/// Steps per second by the median of the device's times of the last second. Not the mean: one step
/// that the system held up for a hundred times its length would make a lane look slow for a second,
/// and for good where the run ends with it.
class StepRate {
public:
    /// A step: when it ended, in seconds since the start, and how long its device worked on it.
    /// What is not a time does not count.
    void add(double wallSeconds, double deviceSeconds);
    /// 0: not known yet.
    double perSecond() const;

private:
    struct StepTime {
        double wallSeconds = 0, deviceSeconds = 0;
    };
    std::deque<StepTime> m_times; ///< of the newest steps
};

} // namespace halfscope
