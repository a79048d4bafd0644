// Decides when a running training makes a checkpoint that is kept with its run: a crash costs the
// steps since the last one. Reads no clock: the caller passes times in seconds.
#pragma once

#include <algorithm>
#include <cstddef>

namespace halfscope {

class CheckpointPace {
public:
    /// Seconds between two small ones.
    static constexpr double kUsual = 5;
    /// Of the training's time, at most.
    static constexpr double kShare = 0.01;
    /// To the disk, at most: 90 GB a day.
    static constexpr double kBytesPerSecond = 1 << 20;

    explicit CheckpointPace(double now) : m_next(now + kUsual) {}
    bool due(double now) const { return now >= m_next; }
    /// What one took; 0 bytes where none was made.
    void made(size_t bytes, double start, double end) {
        m_next = end + std::max({kUsual, (end - start) * (1 - kShare) / kShare,
                                 static_cast<double>(bytes) / kBytesPerSecond});
    }

private:
    double m_next;
};

} // namespace halfscope
