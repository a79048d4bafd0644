// Compiled for several vector widths; the order of the additions is the same for each.
#include "engine/cpu/loop_sums.h"

#include "engine/core/vector_clones.h"

#include <algorithm>
#include <cstring>

namespace halfscope {

namespace {

/// 16 floats, which the compiler keeps in as many registers as the machine's vectors need.
using Lanes = float __attribute__((vector_size(64)));
constexpr size_t kLanes = 16;
using Bits = int32_t __attribute__((vector_size(64)));
using TwoDoubles = double __attribute__((vector_size(16)));
using FourDoubles = double __attribute__((vector_size(32)));
using EightDoubles = double __attribute__((vector_size(64)));
using Totals = double __attribute__((vector_size(128))); // one of each lane

[[gnu::always_inline]] inline void addGroup(const float* x, size_t group, Lanes& sums) {
    Lanes values;
    std::memcpy(&values, x + group * kLanes, sizeof values);
    sums += values;
}

/// Computes partial[i] = the sum of x[r][i] over the rows, for N groups of 16 columns at once.
template <size_t N>
[[gnu::always_inline]] inline void addStrip(const float* x, size_t rows, size_t width,
                                            float* partial) {
    Lanes strip[N] = {};
    for (size_t r = 0; r < rows; ++r)
        for (size_t i = 0; i < N; ++i)
            addGroup(x + r * width, i, strip[i]);
    std::memcpy(partial, strip, sizeof strip);
}

/// Adds the `rest` values that follow `groups` groups of 16 to the sums, each to any lane.
[[gnu::always_inline]] inline void addRest(const float* x, size_t groups, size_t rest,
                                           Lanes& sums) {
    Lanes values = {};
    if (groups == 0) {
        std::memcpy(&values, x, rest * sizeof(float));
    } else { // with those before them, which a mask takes out
        constexpr Bits kLane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        std::memcpy(&values, x + groups * kLanes + rest - kLanes, sizeof values);
        values = reinterpret_cast<Lanes>(reinterpret_cast<Bits>(values) &
                                         (kLane >= static_cast<int32_t>(kLanes - rest)));
    }
    sums += values;
}

/// Adds each lane over the groups of 16 values to the totals. The last group has `rest` values.
/// Four sums take turns: one alone would wait for each of its additions.
[[gnu::always_inline]] inline void addRun(const float* x, size_t groups, size_t rest,
                                          Totals& totals) {
    Lanes a = {}, b = {}, c = {}, d = {};
    size_t i = 0;
    for (; i + 4 <= groups; i += 4) {
        addGroup(x, i, a);
        addGroup(x, i + 1, b);
        addGroup(x, i + 2, c);
        addGroup(x, i + 3, d);
    }
    if (i < groups) addGroup(x, i, a);
    if (i + 1 < groups) addGroup(x, i + 1, b);
    if (i + 2 < groups) addGroup(x, i + 2, c);
    if (rest > 0) addRest(x, groups, rest, d);
    totals += __builtin_convertvector((a + b) + (c + d), Totals);
}

constexpr size_t kTogether = 4;

/// Computes the sums of 16 columns of up to kTogether strands.
[[gnu::always_inline]] inline void addTogether(const float* partial, size_t strands, size_t columns,
                                               Lanes& sum) {
    Lanes each[kTogether] = {};
    if (strands == kTogether) {
        for (size_t s = 0; s < kTogether; ++s)
            std::memcpy(&each[s], partial + s * columns, sizeof(Lanes));
    } else {
        for (size_t s = 0; s < strands; ++s)
            std::memcpy(&each[s], partial + s * columns, sizeof(Lanes));
    }
    sum = (each[0] + each[1]) + (each[2] + each[3]);
}

/// Adds 16 columns of all strands of pixels.
[[gnu::always_inline]] inline void addPixels(const float* partial, const Strands& strands,
                                             double* sums) {
    Totals totals = {};
    for (size_t s = 0; s < strands.count; s += kTogether) {
        Lanes sum;
        addTogether(partial + s * strands.columns, std::min(kTogether, strands.count - s),
                    strands.columns, sum);
        totals += __builtin_convertvector(sum, Totals);
    }
    for (size_t i = 0; i < kLanes; ++i)
        sums[i] += totals[i];
}

} // namespace

HALFSCOPE_VECTOR void addStrands(const float* partial, const Strands& strands, double* sums) {
    const size_t columns = strands.columns;
    size_t first = 0;
    for (; strands.pixels && first + kLanes <= columns; first += kLanes)
        addPixels(partial + first, strands, sums + first);
    for (size_t s = 0; s < strands.count; ++s, partial += columns)
        for (size_t c = first; c < columns; ++c)
            sums[c] += static_cast<double>(partial[c]);
}

HALFSCOPE_VECTOR void moveStrands(float* partial, const Strands& strands, double* sums) {
    addStrands(partial, strands, sums);
    std::fill_n(partial, strands.count * strands.columns, 0.0F);
}

HALFSCOPE_VECTOR void addRows(const float* x, size_t rows, const Strands& strands, double* sums) {
    alignas(Lanes) float partial[kMostTileElements];
    const size_t width = strands.count * strands.columns, whole = rows / strands.count;
    size_t i = 0;
    for (; i + 4 * kLanes <= width; i += 4 * kLanes)
        addStrip<4>(x + i, whole, width, partial + i);
    for (; i + kLanes <= width; i += kLanes)
        addStrip<1>(x + i, whole, width, partial + i);
    for (; i < width; ++i) {
        partial[i] = 0;
        for (size_t r = 0; r < whole; ++r)
            partial[i] += x[r * width + i];
    }
    // the strands that are one row longer
    for (i = whole * width; i < rows * strands.columns; ++i)
        partial[i - whole * width] += x[i];
    addStrands(partial, strands, sums);
}

HALFSCOPE_VECTOR void addSums(const double* x, size_t n, double* sums) {
    for (size_t c = 0; c < n; ++c)
        sums[c] += x[c];
}

HALFSCOPE_VECTOR double addAll(const float* x, size_t n) {
    constexpr size_t kRun = 256;
    Totals totals = {};
    for (; n >= kRun; x += kRun, n -= kRun)
        addRun(x, kRun / kLanes, 0, totals);
    if (n > 0) addRun(x, n / kLanes, n % kLanes, totals);
    // by halves: one addition after another would take longer than a short row
    const EightDoubles eight =
        __builtin_shufflevector(totals, totals, 0, 1, 2, 3, 4, 5, 6, 7) +
        __builtin_shufflevector(totals, totals, 8, 9, 10, 11, 12, 13, 14, 15);
    const FourDoubles four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                             __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
    const TwoDoubles two =
        __builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3);
    return two[0] + two[1];
}

} // namespace halfscope
