// Decides when a running training makes a checkpoint that is kept with its run: a crash loses only
// the steps since the last one. Reads no clock: the caller passes times in seconds.
#pragma once

#include <algorithm>
#include <cstddef>

namespace halfscope {

class CheckpointPace {
public:
    /// The least number of seconds between two checkpoints.
    static constexpr double kUsual = 5;
    /// The largest share of the training's time that checkpoints may take.
    static constexpr double kShare = 0.01;
    /// The largest rate of writing to the disk, in bytes a second; it adds up to 90 GB a day.
    static constexpr double kBytesPerSecond = 1 << 20;

    explicit CheckpointPace(double now) : m_next(now + kUsual) {}
    bool due(double now) const { return now >= m_next; }
    /// Takes the size and the times of the checkpoint that was just made; `bytes` is 0 when none
    /// was.
    void made(size_t bytes, double start, double end) {
        m_next = end + std::max({kUsual, (end - start) * (1 - kShare) / kShare,
                                 static_cast<double>(bytes) / kBytesPerSecond});
    }

private:
    double m_next;
};

} // namespace halfscope
