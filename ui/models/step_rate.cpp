// Uses the median time of the steps of the last seconds, or of all steps.
#include "ui/models/step_rate.h"

#include "engine/runs/column.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace halfscope {

namespace {

/// Returns 1 / median, or 0 without times.
double rateOf(std::vector<double>& seconds) {
    if (seconds.empty()) return 0;
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return 1 / *middle;
}

} // namespace

void StepRate::add(double wallSeconds, double deviceSeconds) {
    constexpr double kWindowSeconds = 5.0;
    constexpr size_t kMost = 255; // enough for a median, however many steps a second has
    if (!(deviceSeconds > 0) || !std::isfinite(deviceSeconds)) return;
    m_times.push_back({wallSeconds, deviceSeconds});
    while (m_times.size() > kMost || m_times.front().wallSeconds < wallSeconds - kWindowSeconds)
        m_times.pop_front();
}

double StepRate::perSecond() const {
    std::vector<double> seconds;
    seconds.reserve(m_times.size());
    for (const StepTime& time : m_times)
        seconds.push_back(time.deviceSeconds);
    return rateOf(seconds);
}

double wholeRateOf(const Column& deviceSeconds) {
    constexpr int64_t kStretch = 256, kMostStretches = 256;
    if (deviceSeconds.empty()) return 0;
    const int64_t first = deviceSeconds.firstStep(), last = deviceSeconds.lastStep();
    const int64_t stretches = std::min(kMostStretches, (last - first) / kStretch + 1);
    std::vector<double> seconds;
    for (int64_t i = 0; i < stretches; ++i) {
        std::array<Point, kStretch> block{};
        const int64_t from = first + (last - first + 1) / stretches * i;
        const int64_t to =
            i + 1 < stretches ? first + (last - first + 1) / stretches * (i + 1) - 1 : last;
        const size_t count = deviceSeconds.read(from, to, block);
        for (size_t at = 0; at < count; ++at)
            if (block[at].value > 0 && std::isfinite(block[at].value))
                seconds.push_back(block[at].value);
    }
    return rateOf(seconds);
}

} // namespace halfscope
