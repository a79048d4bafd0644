// How values are split into terms, and which values the tiles keep.
#include "engine/cpu/term_gemm.h"

#include "engine/core/vector_clones.h"
#include "engine/cpu/tile_gemm.h"

#include <algorithm>
#include <bit>

namespace halfscope {

namespace {

constexpr uint32_t kUpper = 0xFFFF0000U;

/// Returns the nearest bfloat16, ties to even, as bits of an f32. What is too large becomes
/// infinity; NaN may become anything.
inline uint32_t rounded(float x) {
    const auto bits = std::bit_cast<uint32_t>(x);
    return (bits + 0x7FFFU + (bits >> 16 & 1U)) & kUpper;
}

struct Split {
    uint32_t first, second, third; ///< upper halves; the third's lower half is zero when it fits
};

/// Splits a value. The differences are exact: what rounding leaves of n significant bits has n - 8.
inline Split split(float x) {
    const uint32_t first = rounded(x);
    const float rest = x - std::bit_cast<float>(first);
    const uint32_t second = rounded(rest);
    return {first, second, std::bit_cast<uint32_t>(rest - std::bit_cast<float>(second))};
}

/// Puts the first term into the upper half, which is multiplied first and where pair_gemm.h has it.
inline uint32_t laneOf(uint32_t first, uint32_t second) { return (first & kUpper) | second >> 16; }

/// Magnitudes as bits. The least one is that of values other than zero: it is kept minus one, so
/// that zero is the greatest.
struct Magnitudes {
    uint32_t lessOne = ~0U, greatest = 0;
    void add(float x) {
        const uint32_t magnitude = std::bit_cast<uint32_t>(x) & 0x7FFFFFFFU;
        lessOne = std::min(lessOne, magnitude - 1U);
        greatest = std::max(greatest, magnitude);
    }
    FloatExponents exponents() const {
        return {static_cast<int>((uint64_t{lessOne} + 1) >> 23), static_cast<int>(greatest >> 23)};
    }
};

/// Calls put(i, terms) for each value; always inline, so that it becomes vectors of the caller's
/// width.
template <class Put>
[[gnu::always_inline]] inline FloatExponents splitEach(const float* from, int64_t count, Put put) {
    Magnitudes all;
    HALFSCOPE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
        all.add(from[i]);
        put(i, split(from[i]));
    }
    return all.exponents();
}

// Separate functions, so that the loop has no branch.

HALFSCOPE_VECTOR FloatExponents rowOfTwo(const float* from, int64_t count, uint32_t* to) {
    return splitEach(from, count,
                     [to](int64_t i, const Split& x) { to[i] = laneOf(x.first, x.second); });
}

HALFSCOPE_VECTOR FloatExponents rowOfThree(const float* from, int64_t count, uint32_t* to,
                                           int64_t plane) {
    return splitEach(from, count, [to, plane](int64_t i, const Split& x) {
        to[i] = laneOf(x.first, x.second);
        to[plane + i] = laneOf(x.first, x.third);
    });
}

HALFSCOPE_VECTOR FloatExponents panelOfTwo(const float* from, int64_t count, uint32_t* to) {
    return splitEach(from, count, [to, count](int64_t i, const Split& x) {
        to[i] = laneOf(x.first, x.first);
        to[count + i] = laneOf(x.second, x.second);
    });
}

HALFSCOPE_VECTOR FloatExponents panelOfThree(const float* from, int64_t count, uint32_t* to) {
    return splitEach(from, count, [to, count](int64_t i, const Split& x) {
        to[i] = laneOf(x.first, x.first);
        to[count + i] = laneOf(x.second, x.second);
        to[2 * count + i] = laneOf(x.third, x.first);
    });
}

} // namespace

void FloatExponents::add(const FloatExponents& more) {
    least = std::min(least, more.least);
    greatest = std::max(greatest, more.greatest);
}

FloatExponents splitRow(Terms terms, const float* from, int64_t count, uint32_t* to,
                        int64_t plane) {
    return terms == Terms::Two ? rowOfTwo(from, count, to) : rowOfThree(from, count, to, plane);
}

FloatExponents splitPanel(Terms terms, const float* panel, int64_t depth, uint32_t* to) {
    const int64_t count = depth * kPanelColumns;
    return terms == Terms::Two ? panelOfTwo(panel, count, to) : panelOfThree(panel, count, to);
}

// Below, e is an exponent field: a value with it is in [2^(e - 127), 2^(e - 126)).
bool tilesKeep(Terms terms, const FloatExponents& a, const FloatExponents& b) {
    // The first term of a value with e = 254 may round to infinity. All products of a block and
    // their sums are below 256 * (1 + 2^-8)^2 * 2^(ea + eb - 252), which must be at most 2^127.
    constexpr int kMost = 253, kMostTogether = 370;
    if (std::max(a.greatest, b.greatest) > kMost || a.greatest + b.greatest > kMostTogether)
        return false;
    // A value of p significant bits is a multiple of 2^(e - 126 - p), and so are its terms, which
    // are normal if that is at least 2^-126.
    const bool two = terms == Terms::Two;
    const int bits = two ? 11 : 24;
    if (std::min(a.least, b.least) < bits) return false;
    // Two terms: products and their sums, rounded or not, are multiples of 2^(ea + eb - 252 - 2 p).
    // Three terms: what becomes zero is below 2^-126, and the smallest product is at least 2^(ea +
    // eb - 254).
    return a.least + b.least >= (two ? 126 + 2 * bits : 158);
}

bool hasTermGemm(VectorSet set) { return set >= VectorSet::Amx && hasTileGemm(); }

void multiplyTerms(Terms terms, const PanelShape& s, int64_t planeOfA, const uint32_t* a,
                   const uint32_t* panels, float* c) {
    tileProducts().terms(terms, s, planeOfA, a, panels, c);
}

} // namespace halfscope
