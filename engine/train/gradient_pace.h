// Decides when a running training counts its gradients: often enough to be watched, and rarely
// enough to cost little time. Each step has other gradients, so each count tells something new:
// what limits them is their cost. A network whose count takes 0.3 s is glanced at every 30 s. Reads
// no clock: the caller passes times in seconds.
#pragma once

#include <cstdint>

namespace halfscope {

class GradientPace {
public:
    /// The share of the training's time that counts may take, and the seconds granted in advance: a
    /// small network would otherwise train thousands of steps before the share pays for a second
    /// count.
    static constexpr double kShare = 0.04, kAdvance = 0.2;
    /// The number of counts that a plot of the run can tell apart: nearer ones are not needed.
    static constexpr int64_t kMostInSight = 512;
    /// In seconds. After kUsual the newest step is counted if there is time for it; after kSlowest
    /// it is counted in any case.
    static constexpr double kUsual = 0.25, kSlowest = 2;

    /// Likewise for counts of which only a figure is shown. The first one waits until the share
    /// has paid for it, too, unless it fits into the advance.
    static constexpr double kGlanceShare = 0.01, kGlanceAdvance = 1, kGlanceUsual = 1;
    /// How many steps a count takes about as long as, before one was made.
    static constexpr double kStepsOfCount = 3;

    /// Whether to count the gradients of the step that comes next, for somebody who watches them.
    bool due(int64_t step, double now);
    /// Whether to count them for a figure; `stepSeconds` is what the last step took. Where `every`
    /// is above 0, a count is due after so many steps, too, if there is time for it.
    bool dueForGlance(double now, double stepSeconds, int64_t step = 0, int64_t every = 0);
    /// Takes the times at which a count of `step` began and ended.
    void counted(int64_t step, double start, double end);

private:
    void grant(double share, double advance, double most, double now);

    double m_time = -1;   ///< when due() was called last; negative before the first call
    double m_credit = 0;  ///< seconds that may be spent; below zero after a long count
    double m_last = 0;    ///< when the last count ended
    double m_seconds = 0; ///< what it took; 0 while only counts at rest were made
    int64_t m_step = 0;   ///< the step that was counted last; 0 when there is none
};

} // namespace halfscope
