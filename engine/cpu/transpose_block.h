// Transposes elements of four bytes by blocks of 4 x 4 in registers. Calls nothing outside, for the
// files that are compiled for a set of instructions.
#pragma once

#include <cstdint>

namespace halfscope {
namespace {

/// Writes to[j * ldTo + i] = from[i * ld + j] for i, j < 4.
template <class Element>
[[gnu::always_inline]] inline void transposeBlock(const Element* from, int64_t ld, Element* to,
                                                  int64_t ldTo) {
    static_assert(sizeof(Element) == 4);
    using Four = float __attribute__((vector_size(16))); // moved only: of any type
    Four r[4];
    for (int i = 0; i < 4; ++i)
        __builtin_memcpy(&r[i], from + i * ld, sizeof r[i]);
    const Four low01 = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5),
               high01 = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7),
               low23 = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5),
               high23 = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
    r[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
    r[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
    r[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
    r[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
    for (int i = 0; i < 4; ++i)
        __builtin_memcpy(to + i * ldTo, &r[i], sizeof r[i]);
}

/// Writes to[i * ldTo + j] = from[j * ld + i] for i < rows, j < columns.
template <class Element>
void transpose(const Element* from, int64_t ld, int64_t rows, int64_t columns, Element* to,
               int64_t ldTo) {
    const int64_t whole = columns / 4 * 4, deep = rows / 4 * 4;
    for (int64_t j = 0; j < whole; j += 4)
        for (int64_t i = 0; i < deep; i += 4)
            transposeBlock(from + j * ld + i, ld, to + i * ldTo + j, ldTo);
    for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = j < whole ? deep : 0; i < rows; ++i)
            to[i * ldTo + j] = from[j * ld + i];
}

} // namespace
} // namespace halfscope
