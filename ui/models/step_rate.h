// How fast a lane trains: one number for the figures above the plots and for the plot itself.
#pragma once

#include "engine/runs/step_record.h"

#include <deque>

namespace halfscope {

/// Steps per second by the median of the device's times of the last second. Not the mean: one step
/// that the system held up for a hundred times its length would make a lane look slow for a second,
/// and for good where the run ends with it.
class StepRate {
public:
    void add(const StepRecord&);
    /// 0: not known yet.
    double perSecond() const;

private:
    struct StepTime {
        double wallSeconds = 0, deviceSeconds = 0;
    };
    std::deque<StepTime> m_times; ///< of the newest steps
};

} // namespace halfscope
