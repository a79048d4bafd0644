// A budget of seconds that grows with time and is spent by counts.
#include "ui/session/gradient_pace.h"

#include <algorithm>

namespace halfscope {

bool GradientPace::due(int64_t step, double now) {
    if (m_time >= 0) m_credit = std::min(kAdvance, m_credit + kShare * (now - m_time));
    m_time = now;
    if (m_step == 0) return true;
    if (now - m_last >= kSlowest) return true;
    const bool apart = step - m_step >= std::max<int64_t>(1, step / kMostInSight);
    return m_credit > 0 && (apart || now - m_last >= kUsual);
}

void GradientPace::counted(int64_t step, double start, double end) {
    m_step = step;
    m_last = end;
    m_credit -= end - start;
}

} // namespace halfscope
