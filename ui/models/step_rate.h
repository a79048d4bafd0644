// How fast a lane trains: one number for the figures above the plots and for the plot itself.
#pragma once

#include <deque>

namespace halfscope {

class Column;

/// Steps per second, from the median of the device's times of the last five seconds. Not the mean:
/// one step that the system delayed for a hundred times its length would make a lane look slow, and
/// for good when the run ends with it. Not of one second: that is a dozen steps of a slow training,
/// and whatever else the machine does in that second would look like a difference between lanes.
class StepRate {
public:
    /// Adds a step: when it ended, in seconds since the start, and how many seconds its device
    /// worked on it. A step whose device time is not finite and positive is ignored.
    void add(double wallSeconds, double deviceSeconds);
    /// Returns 0 when the rate is not known yet.
    double perSecond() const;

private:
    struct StepTime {
        double wallSeconds = 0, deviceSeconds = 0;
    };
    std::deque<StepTime> m_times; ///< of the newest steps
};

/// Returns the steps per second of a whole run, from the median of its device times; 0 when there
/// are none. Of a long run it takes stretches that are spread evenly, in some milliseconds.
double wholeRateOf(const Column& deviceSeconds);

} // namespace halfscope
