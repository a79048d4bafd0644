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
using Totals = double __attribute__((vector_size(kLanes * sizeof(double))));

/// Computes partial[i] = the sum of x[r][i] over the rows, for N groups of 16 columns at once.
template <size_t N>
[[gnu::always_inline]] inline void addStrip(const float* x, size_t rows, size_t width,
                                            float* partial) {
    Lanes strip[N] = {};
    for (size_t r = 0; r < rows; ++r)
        for (size_t i = 0; i < N; ++i) {
            Lanes values;
            std::memcpy(&values, x + r * width + i * kLanes, sizeof values);
            strip[i] += values;
        }
    std::memcpy(partial, strip, sizeof strip);
}

/// Adds each lane over the groups of 16 values to the totals. The last group has `rest` values.
[[gnu::always_inline]] inline void addRun(const float* x, size_t groups, size_t rest,
                                          Totals& totals) {
    Lanes sums = {};
    for (size_t i = 0; i < groups; ++i) {
        Lanes values;
        std::memcpy(&values, x + i * kLanes, sizeof values);
        sums += values;
    }
    if (rest > 0) {
        Lanes values = {};
        std::memcpy(&values, x + groups * kLanes, rest * sizeof(float));
        sums += values;
    }
    totals += __builtin_convertvector(sums, Totals);
}

} // namespace

HALFSCOPE_VECTOR void addStrands(const float* partial, size_t strands, size_t columns,
                                 double* sums) {
    for (size_t s = 0; s < strands; ++s, partial += columns)
        for (size_t c = 0; c < columns; ++c)
            sums[c] += static_cast<double>(partial[c]);
}

HALFSCOPE_VECTOR void moveStrands(float* partial, size_t strands, size_t columns, double* sums) {
    addStrands(partial, strands, columns, sums);
    std::fill_n(partial, strands * columns, 0.0F);
}

HALFSCOPE_VECTOR void addRows(const float* x, size_t rows, size_t columns, size_t strands,
                              double* sums) {
    alignas(Lanes) float partial[kMostTileElements];
    const size_t width = strands * columns, whole = rows / strands;
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
    for (i = whole * width; i < rows * columns; ++i) // the strands that are one row longer
        partial[i - whole * width] += x[i];
    addStrands(partial, strands, columns, sums);
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
    double sums[kLanes];
    std::memcpy(sums, &totals, sizeof sums);
    for (size_t half = kLanes / 2; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; ++lane)
            sums[lane] += sums[lane + half];
    return sums[0];
}

} // namespace halfscope
