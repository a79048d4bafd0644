// Decides when a training with a limited pace takes its next step. Reads no clock: the caller
// passes times in seconds.
#pragma once

namespace halfscope {

class StepPace {
public:
    /// Seconds until the next step may begin; 0: it may. `pace`: steps a second at most, 0 for no
    /// limit.
    double wait(double pace, double now) const;
    /// A step begins. A little late is made up for by the next one; what took long is not.
    void begins(double pace, double now);

private:
    double m_last = -1; ///< when the last step began, or should have; none yet
};

} // namespace halfscope
