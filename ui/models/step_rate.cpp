// Uses the median time of the steps of the last seconds.
#include "ui/models/step_rate.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace halfscope {

void StepRate::add(double wallSeconds, double deviceSeconds) {
    constexpr double kWindowSeconds = 5.0;
    constexpr size_t kMost = 255; // enough for a median, however many steps a second has
    if (!(deviceSeconds > 0) || !std::isfinite(deviceSeconds)) return;
    m_times.push_back({wallSeconds, deviceSeconds});
    while (m_times.size() > kMost || m_times.front().wallSeconds < wallSeconds - kWindowSeconds)
        m_times.pop_front();
}

double StepRate::perSecond() const {
    if (m_times.empty()) return 0;
    std::vector<double> seconds;
    seconds.reserve(m_times.size());
    for (const StepTime& time : m_times)
        seconds.push_back(time.deviceSeconds);
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return 1 / *middle;
}

} // namespace halfscope
