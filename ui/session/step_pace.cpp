// Spaces the steps evenly, like a metronome.
#include "ui/session/step_pace.h"

#include <algorithm>

namespace halfscope {

double StepPace::wait(double pace, double now) const {
    if (pace <= 0 || m_last < 0) return 0;
    return std::clamp(m_last + 1 / pace - now, 0.0, 1 / pace);
}

double StepPace::begins(double pace, double now) {
    const double beat = pace > 0 ? 1 / pace : 0;
    const double due = m_last + beat;
    // what goes on when the step is due, such as a picture, is no wait
    const double waited = m_ended < 0 ? 0 : std::clamp(std::min(now, due) - m_ended, 0.0, beat);
    m_ended = -1;
    m_last = m_last >= 0 && now - due < beat ? std::min(due, now) : now;
    return waited;
}

} // namespace halfscope
