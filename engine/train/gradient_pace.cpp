// A budget of seconds that grows with time and is spent by counts.
#include "engine/train/gradient_pace.h"

#include <algorithm>

namespace halfscope {

/// Grants the advance at the first call, later the share of the time since the last one, up to
/// `most`.
void GradientPace::grant(double share, double advance, double most, double now) {
    m_credit = m_time < 0 ? advance : std::min(most, m_credit + share * (now - m_time));
    m_time = now;
}

bool GradientPace::due(int64_t step, double now) {
    grant(kShare, kAdvance, kAdvance, now);
    if (m_step == 0) return true;
    if (now - m_last >= kSlowest) return true;
    const bool apart = step - m_step >= std::max<int64_t>(1, step / kMostInSight);
    return m_credit > 0 && (apart || now - m_last >= kUsual);
}

bool GradientPace::dueForGlance(double now, double stepSeconds, int64_t step, int64_t every) {
    const double expected = m_seconds > 0 ? m_seconds : kStepsOfCount * stepSeconds;
    grant(kGlanceShare, kGlanceAdvance, std::max(kGlanceAdvance, expected), now);
    const bool apart = every > 0 && step - m_step >= every;
    return m_credit >= expected && (m_step == 0 || apart || now - m_last >= kGlanceUsual);
}

void GradientPace::counted(int64_t step, double start, double end) {
    m_step = step;
    m_last = end;
    if (end > start) m_seconds = end - start;
    m_credit -= end - start;
}

} // namespace halfscope
