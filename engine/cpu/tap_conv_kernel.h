// The kernels of tap_conv.h, for the files that compile them for a set of instructions. `V` stands
// for the set. They call no inline function from outside: compiled here, that would carry the set
// into other files.
#pragma once

#include "engine/cpu/tap_conv.h"

namespace halfscope {
namespace {

/// A number as a type.
template <int Value>
struct Count {
    static constexpr int value = Value;
};

/// Copies rows to where they are `pitch` apart; what is between them stays. Whole vectors overlap
/// at the end of a row, as a part of one would take longer.
template <class V>
void copyRows(const float* from, int64_t rows, int64_t columns, float* to, int64_t pitch) {
    const int64_t last = columns - V::kLanes;
    for (int64_t row = 0; row < rows; ++row, from += columns, to += pitch) {
        for (int64_t i = 0; i < last; i += V::kLanes)
            V::store(to + i, V::load(from + i));
        if (last >= 0)
            V::store(to + last, V::load(from + last));
        else
            for (int64_t i = 0; i < columns; ++i)
                to[i] = from[i];
    }
}

/// Adds the products of some channels of dy and some taps.
template <class V, int Outputs, int Taps>
void addTile(const TapShape& s, const float* image, const int64_t* offsets, const float* dy,
             float* sums) {
    using Type = typename V::Type;
    Type all[size_t{Outputs}][size_t{Taps}];
    for (int o = 0; o < Outputs; ++o)
        for (int t = 0; t < Taps; ++t)
            all[o][t] = V::load(sums + (o * s.taps + t) * kTapLanes);
    const int64_t whole = s.columns / V::kLanes * V::kLanes;
    const auto part = V::first(static_cast<int>(s.columns - whole));
    for (int64_t row = 0; row < s.rows; ++row) {
        const float* const y = dy + row * s.columns;
        const float* const x = image + row * s.pitch;
        const auto add = [&](int64_t column, const auto& load) {
            Type pixels[size_t{Taps}];
            for (int t = 0; t < Taps; ++t)
                pixels[t] = load(x + offsets[t] + column);
            for (int o = 0; o < Outputs; ++o) {
                const Type gradient = load(y + o * s.rows * s.columns + column);
                for (int t = 0; t < Taps; ++t)
                    all[o][t] = V::multiplyAdd(gradient, pixels[t], all[o][t]);
            }
        };
        for (int64_t column = 0; column < whole; column += V::kLanes)
            add(column, [](const float* from) { return V::load(from); });
        // both are masked: an infinite pixel of the next row times 0 would be NaN
        if (whole < s.columns)
            add(whole, [&](const float* from) { return V::loadPart(from, part); });
    }
    for (int o = 0; o < Outputs; ++o)
        for (int t = 0; t < Taps; ++t)
            V::store(sums + (o * s.taps + t) * kTapLanes, all[o][t]);
}

/// Adds the products of some channels of dy and all taps.
template <class V, int Outputs>
void addOutputs(const TapShape& s, const float* image, const float* dy, float* sums) {
    int64_t tap = 0;
    for (; tap + 4 <= s.taps; tap += 4)
        addTile<V, Outputs, 4>(s, image, s.offsets + tap, dy, sums + tap * kTapLanes);
    for (; tap < s.taps; ++tap)
        addTile<V, Outputs, 1>(s, image, s.offsets + tap, dy, sums + tap * kTapLanes);
}

template <class V, int Outputs>
void addProducts(const TapShape& s, const float* image, const float* dy, float* sums) {
    int64_t output = 0;
    const auto add = [&](auto outputs) {
        constexpr int kOutputs = decltype(outputs)::value;
        for (; output + kOutputs <= s.outputs; output += kOutputs)
            addOutputs<V, kOutputs>(s, image, dy + output * s.rows * s.columns,
                                    sums + output * s.taps * kTapLanes);
    };
    add(Count<Outputs>{});
    if constexpr (Outputs > 2) add(Count<2>{});
    add(Count<1>{});
}

/// Computes one or two vectors of some channels; `step` is between their pixels.
template <class V, int Outputs, int Vectors, class Store>
void computeVectors(const TapShape& s, const float* image, int64_t step, const float* weight,
                    const Store& store) {
    using Type = typename V::Type;
    Type all[size_t{Outputs}][size_t{Vectors}];
    for (int o = 0; o < Outputs; ++o)
        for (int v = 0; v < Vectors; ++v)
            all[o][v] = V::zero();
    for (int64_t t = 0; t < s.taps; ++t) {
        Type pixels[size_t{Vectors}];
        for (int v = 0; v < Vectors; ++v)
            pixels[v] = V::load(image + s.offsets[t] + v * step);
        for (int o = 0; o < Outputs; ++o) {
            const Type factor = V::broadcast(weight[o * s.taps + t]);
            for (int v = 0; v < Vectors; ++v)
                all[o][v] = V::multiplyAdd(factor, pixels[v], all[o][v]);
        }
    }
    for (int o = 0; o < Outputs; ++o)
        for (int v = 0; v < Vectors; ++v)
            store(o, v, all[o][v]);
}

/// Computes some channels of y, two vectors at a time: of one row, or of two short ones. What a
/// vector stores beyond the end of its row, the next row replaces; only at the end of a channel
/// does it store a part of itself, which takes far longer.
template <class V, int Outputs>
void computeOutputs(const TapShape& s, const float* image, const float* weight, float* y) {
    const bool isShort = s.columns <= V::kLanes;
    const int64_t rows = isShort ? 2 : 1, columns = isShort ? s.columns : 2 * V::kLanes;
    const int64_t imageStep = isShort ? s.pitch : V::kLanes, yStep = isShort ? columns : V::kLanes;
    const int64_t plane = s.rows * s.columns;
    for (int64_t row = 0; row < s.rows; row += rows)
        for (int64_t column = 0; column < s.columns; column += columns) {
            const int64_t at = row * s.columns + column;
            const float* const pixels = image + row * s.pitch + column;
            const auto store = [&](int output, int vector, typename V::Type value) {
                const int64_t first = at + vector * yStep, left = plane - first;
                float* const to = y + output * plane + first;
                if (left >= V::kLanes)
                    V::store(to, value);
                else
                    V::storePart(to, V::first(static_cast<int>(left)), value);
            };
            if (isShort ? row + 1 < s.rows : s.columns - column > V::kLanes)
                computeVectors<V, Outputs, 2>(s, pixels, imageStep, weight, store);
            else
                computeVectors<V, Outputs, 1>(s, pixels, imageStep, weight, store);
        }
}

template <class V, int Outputs>
void compute(const TapShape& s, const float* image, const float* weight, float* y) {
    int64_t output = 0;
    const auto next = [&](auto outputs) {
        constexpr int kOutputs = decltype(outputs)::value;
        for (; output + kOutputs <= s.outputs; output += kOutputs)
            computeOutputs<V, kOutputs>(s, image, weight + output * s.taps,
                                        y + output * s.rows * s.columns);
    };
    next(Count<Outputs>{});
    if constexpr (Outputs > 2) next(Count<2>{});
    next(Count<1>{});
}

} // namespace
} // namespace halfscope
