// Timer, pace and frame rate.
#include "ui/window/frame_loop.h"

#include <QLabel>

#include <algorithm>
#include <ctime>
#include <utility>

namespace halfscope {
namespace {

constexpr int kFrameMs = 33;
constexpr int kSlowestFrameMs = 150;
// The interval of frames as a multiple of what a frame costs: drawing takes half of the time at
// most, and little of it while the processors train.
constexpr double kFrames = 2, kTrainingFrames = 40;
// The frames without news after which the window counts as settled: layouts and fonts have come to
// rest.
constexpr int kQuietFrames = 4;

/// Returns the processor time of this thread: other programs must not count as the window's cost.
double threadMilliseconds() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
#else
    return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
#endif
}

} // namespace

FrameLoop::FrameLoop(QLabel& rate, QObject* parent) : QObject(parent), m_rate(rate) {}

void FrameLoop::start(std::function<Done()> frame) {
    m_frame = std::move(frame);
    m_clock.start();
    m_timer.setInterval(kFrameMs);
    connect(&m_timer, &QTimer::timeout, this, &FrameLoop::frame);
    m_timer.start();
}

void FrameLoop::frame() {
    const Done done = m_frame();
    showRate();
    m_quietFrames = done.busy ? 0 : m_quietFrames + 1;
    if (m_quietFrames == kQuietFrames) emit settled();
    pace(done.competes);
}

/// Sets the interval to the next frame. Drawing competes with a training that uses every processor:
/// a step waits for its slowest thread, so it loses as much time as the window takes. Frames then
/// come less often.
void FrameLoop::pace(bool competes) {
    const double used = threadMilliseconds();
    constexpr double kNewest = 0.2; // share of the newest frame in the average
    m_frameCost += kNewest * (used - m_usedBefore - m_frameCost);
    m_usedBefore = used;
    const double wanted = (competes ? kTrainingFrames : kFrames) * m_frameCost;
    const int interval = std::clamp(static_cast<int>(wanted), kFrameMs, kSlowestFrameMs);
    if (interval != m_timer.interval()) m_timer.setInterval(interval);
}

void FrameLoop::showRate() {
    const qint64 now = m_clock.elapsed();
    m_times.push_back(now);
    std::erase_if(m_times, [now](qint64 time) { return time < now - 1000; });
    const qint64 span = now - m_times.front();
    if (span < 500) return; // too short a time to tell a rate
    const auto frames = static_cast<qint64>(m_times.size()) - 1;
    const QString text = tr("%1 frames/s").arg((1000 * frames + span / 2) / span);
    if (text != m_rate.text()) m_rate.setText(text);
}

} // namespace halfscope
