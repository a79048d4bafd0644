// Decides when a training with a limited pace takes its next step. Reads no clock: the caller
// passes times in seconds.
#pragma once

namespace halfscope {

class StepPace {
public:
    /// Returns the seconds until the next step may begin; 0 when it may begin now. `pace` is the
    /// most steps a second; 0 means no limit.
    double wait(double pace, double now) const;
    /// Records that a step begins. A delay shorter than one interval is made up for by the next
    /// step; a longer one is not. Returns how long the pace has made the training wait since the
    /// last step. That belongs to its time; a rest does not.
    double begins(double pace, double now);
    /// Records that a step has ended.
    void ends(double now) { m_ended = now; }
    /// Records that the training rests or has rested since the last step.
    void rests() { m_ended = -1; }

private:
    double m_last = -1;  ///< when the last step began, or should have begun; negative before the
                         ///< first
    double m_ended = -1; ///< when it ended; negative when the training has not gone on since then
};

} // namespace halfscope
