// Philox 4x32-10 and the numbers drawn from it. Every number comes from its own block: the counter
// is (index, stream), the key is the seed, 64 bits each with the low word first.
#include "engine/core/philox.h"

#include "engine/core/error.h"
#include "engine/core/vector_clones.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace halfscope {
namespace {

// Multipliers, and Weyl increments of the key: Salmon et al., SC 2011, table 2 and section 5.
constexpr uint64_t kMultiplier0 = 0xD2511F53;
constexpr uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr uint32_t kWeyl0 = 0x9E3779B9;
constexpr uint32_t kWeyl1 = 0xBB67AE85;
constexpr uint32_t kRounds = 10;

constexpr uint32_t lowWord(uint64_t x) { return static_cast<uint32_t>(x); }
constexpr uint32_t highWord(uint64_t x) { return static_cast<uint32_t>(x >> 32); }
constexpr uint64_t joined(uint32_t high, uint32_t low) { return (uint64_t{high} << 32) | low; }

std::array<uint32_t, 4> blockOf(uint64_t seed, uint64_t stream, uint64_t index) {
    return philox4x32({lowWord(index), highWord(index), lowWord(stream), highWord(stream)},
                      {lowWord(seed), highWord(seed)});
}

// Returns the upper 64 of the 128 bits of a product.
uint64_t highProduct(uint64_t a, uint64_t b) {
    const uint64_t low = uint64_t{lowWord(a)} * lowWord(b);
    const uint64_t middle = uint64_t{highWord(a)} * lowWord(b) + highWord(low);
    const uint64_t other = uint64_t{lowWord(a)} * highWord(b) + lowWord(middle);
    return uint64_t{highWord(a)} * highWord(b) + highWord(middle) + highWord(other);
}

// Runs philox4x32 for one index after another, each word in 64 bits so that lanes need no
// shuffling.
HALFSCOPE_VECTOR void fillFractions(uint64_t seed, uint64_t stream, uint64_t first, float* out,
                                    size_t n) {
    HALFSCOPE_INDEPENDENT
    for (size_t i = 0; i < n; ++i) {
        const uint64_t index = first + i;
        uint64_t c0 = lowWord(index), c1 = highWord(index);
        uint64_t c2 = lowWord(stream), c3 = highWord(stream);
        for (uint32_t round = 0; round < kRounds; ++round) {
            const uint64_t product0 = kMultiplier0 * c0, product1 = kMultiplier1 * c2;
            c0 = highWord(product1) ^ c1 ^ (lowWord(seed) + round * kWeyl0);
            c1 = lowWord(product1);
            c2 = highWord(product0) ^ c3 ^ (highWord(seed) + round * kWeyl1);
            c3 = lowWord(product0);
        }
        out[i] = static_cast<float>(static_cast<int32_t>(c0 >> 8)) * 0x1p-24F;
    }
}

} // namespace

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
    for (uint32_t round = 0; round < kRounds; ++round) {
        const uint64_t product0 = kMultiplier0 * counter[0];
        const uint64_t product1 = kMultiplier1 * counter[2];
        counter = {highWord(product1) ^ counter[1] ^ key[0], lowWord(product1),
                   highWord(product0) ^ counter[3] ^ key[1], lowWord(product0)};
        key = {key[0] + kWeyl0, key[1] + kWeyl1};
    }
    return counter;
}

uint32_t Philox::bits(uint64_t index) const { return blockOf(m_seed, m_stream, index)[0]; }

float Philox::uniform(uint64_t index) const {
    return static_cast<float>(bits(index) >> 8) * 0x1p-24F;
}

void Philox::uniforms(uint64_t first, std::span<float> out) const {
    fillFractions(m_seed, m_stream, first, out.data(), out.size());
}

float Philox::normal(uint64_t index) const {
    const std::array<uint32_t, 4> words = blockOf(m_seed, m_stream, index);
    // 53 bits each; the first is in (0, 1], so that its logarithm is finite.
    const double radius = static_cast<double>((joined(words[1], words[0]) >> 11) + 1) * 0x1p-53;
    const double turn = static_cast<double>(joined(words[3], words[2]) >> 11) * 0x1p-53;
    return static_cast<float>(std::sqrt(-2.0 * std::log(radius)) *
                              std::cos(2.0 * std::numbers::pi * turn));
}

uint64_t Philox::below(uint64_t index, uint64_t bound) const {
    require(bound >= 1, "Philox::below: the bound is 0");
    const std::array<uint32_t, 4> words = blockOf(m_seed, m_stream, index);
    return highProduct(joined(words[1], words[0]), bound);
}

void Philox::fillUniform(std::span<float> out, float low, float high) const {
    for (size_t i = 0; i < out.size(); ++i) {
        const double width = static_cast<double>(high) - static_cast<double>(low);
        const double value = static_cast<double>(low) + width * static_cast<double>(uniform(i));
        out[i] = static_cast<float>(value);
        // The interval is half-open, and rounding to float may land on its end.
        if (out[i] >= high && high > low) out[i] = std::nextafter(high, low);
    }
}

void Philox::fillNormal(std::span<float> out) const {
    for (size_t i = 0; i < out.size(); ++i)
        out[i] = normal(i);
}

void shuffle(std::span<int32_t> items, const Philox& random) {
    for (size_t i = items.size(); i > 1; --i)
        std::swap(items[i - 1], items[random.below(i - 1, i)]);
}

} // namespace halfscope
