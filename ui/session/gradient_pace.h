// Decides when a running training counts its gradients: often enough to be watched, and rarely
// enough to cost little time. Reads no clock: the caller passes times in seconds.
#pragma once

#include <cstdint>

namespace halfscope {

class GradientPace {
public:
    /// Of the time. Small networks would train thousands of steps before that pays for a second
    /// count, so that there is some time in advance.
    static constexpr double kShare = 0.04, kAdvance = 0.2;
    /// Counts that lie nearer than that part of the run cannot be told apart in a plot of it.
    static constexpr int64_t kMostInSight = 512;
    /// Seconds: so often the newest step is counted, if there is time for it, and at least.
    static constexpr double kUsual = 0.25, kSlowest = 2;

    /// Whether to count the gradients of the step that comes next.
    bool due(int64_t step, double now);
    /// What a count took.
    void counted(int64_t step, double start, double end);

private:
    double m_time = -1;         ///< of the last call; none yet
    double m_credit = kAdvance; ///< seconds that may be spent; below zero after a long count
    double m_last = 0;          ///< when the last count ended
    int64_t m_step = 0;         ///< that was counted last; 0: none
};

} // namespace halfscope
