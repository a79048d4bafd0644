// Counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as
// 1, 2, 3", SC 2011). The same (seed, stream, index) gives the same bits on every device.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace halfscope {

/// Returns one block: four 32-bit words from a 128-bit counter and a 64-bit key, ten rounds.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// A stream of numbers addressed by index. Streams with different numbers are independent.
class Philox {
public:
    Philox(uint64_t seed, uint64_t stream) : m_seed(seed), m_stream(stream) {}
    uint32_t bits(uint64_t index) const;
    float uniform(uint64_t index) const; ///< in [0, 1), 24 bits
    /// Fills `out` with uniform() of index `first` and the following ones.
    void uniforms(uint64_t first, std::span<float> out) const;
    /// Returns a standard normal number by Box-Muller from block `index`, in double, rounded once.
    float normal(uint64_t index) const;
    /// Returns a uniform number in [0, bound), bound >= 1, by multiply-shift on 64 bits.
    uint64_t below(uint64_t index, uint64_t bound) const;
    void fillUniform(std::span<float> out, float low, float high) const; ///< index = position
    void fillNormal(std::span<float> out) const;                         ///< index = position

private:
    uint64_t m_seed;
    uint64_t m_stream;
};

/// Shuffles the items (Fisher-Yates); `random` is a stream used for nothing else.
void shuffle(std::span<int32_t> items, const Philox& random);

} // namespace halfscope
