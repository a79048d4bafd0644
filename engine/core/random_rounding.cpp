// Adds the noise, then rounds to the nearest float32.
#include "engine/core/random_rounding.h"

#include <cmath>

namespace halfscope {

double RandomRounding::operator()(double value) {
    const auto nearest = static_cast<float>(value);
    if (double{nearest} == value || !std::isfinite(nearest)) return double{nearest};
    return double{static_cast<float>(value * (1 + m_size * draw()))};
}

double RandomRounding::draw() {
    const uint32_t word = m_drawn++ % 4;
    if (word == 0) {
        const auto half = [](uint64_t x, int i) { return static_cast<uint32_t>(x >> (32 * i)); };
        m_words = philox4x32({m_drawn / 4, 0, half(m_stream, 0), half(m_stream, 1)},
                             {half(m_seed, 0), half(m_seed, 1)});
    }
    return static_cast<double>(m_words[word]) * 0x1p-31 - 1;
}

} // namespace halfscope
