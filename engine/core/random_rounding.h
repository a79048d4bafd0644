// Random rounding: Monte Carlo arithmetic, as proposed by Stott Parker (1997). A computation is
// repeated with different roundings to see what rounding alone does to it.
#pragma once

#include "engine/core/philox.h"

namespace halfscope {

/// Returns a float32 near a value that float32 cannot hold: the nearest to a number up to
/// `lastBits` units in the last place away. More than one unit represents the many roundings inside
/// an operation that counts as one here, such as a sum. Values that float32 can hold, nan, and
/// values that are too large stay as they are. The same seed and stream give the same draws.
class RandomRounding {
public:
    RandomRounding(uint64_t seed, uint64_t stream, double lastBits)
        : m_seed(seed), m_stream(stream), m_size(lastBits * 0x1p-23) {}
    double operator()(double value);

private:
    double draw(); ///< uniform in [-1, 1)

    uint64_t m_seed, m_stream;
    double m_size; ///< of the noise, relative to the value
    uint32_t m_drawn = 0;
    std::array<uint32_t, 4> m_words{};
};

} // namespace halfscope
