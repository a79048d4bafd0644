// Transposes elements of four bytes by blocks of 4 x 4, and of two bytes by blocks of 8 x 8, in
// registers. Calls nothing outside, for the files that are compiled for a set of instructions.
#pragma once

#include <cstdint>

namespace halfscope {
namespace {

/// The rows and columns of a block, each of which fills 16 bytes.
template <class Element>
inline constexpr int64_t kBlock = 16 / static_cast<int64_t>(sizeof(Element));

/// Writes to[j * ldTo + i] = from[i * ld + j] for i, j < 4.
template <class Element>
requires(sizeof(Element) == 4)
    [[gnu::always_inline]] inline void transposeBlock(const Element* from, int64_t ld, Element* to,
                                                      int64_t ldTo) {
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

/// Writes to[j * ldTo + i] = from[i * ld + j] for i, j < 8.
template <class Element>
requires(sizeof(Element) == 2)
    [[gnu::always_inline]] inline void transposeBlock(const Element* from, int64_t ld, Element* to,
                                                      int64_t ldTo) {
    using Eight = uint16_t __attribute__((vector_size(16)));
    using Four = uint32_t __attribute__((vector_size(16)));
    using Two = uint64_t __attribute__((vector_size(16)));
    Eight r[8];
    for (int i = 0; i < 8; ++i)
        __builtin_memcpy(&r[i], from + i * ld, sizeof r[i]);
    Four pairs[8]; // of rows 0 and 1, columns 0 to 3 and 4 to 7; of rows 2 and 3; and so on
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = reinterpret_cast<Four>(
            __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 2, 10, 3, 11));
        pairs[i + 1] = reinterpret_cast<Four>(
            __builtin_shufflevector(r[i], r[i + 1], 4, 12, 5, 13, 6, 14, 7, 15));
    }
    Two fours[8]; // of rows 0 to 3, two columns in each; of rows 4 to 7
    for (int i = 0; i < 8; i += 4)
        for (int half = 0; half < 2; ++half) {
            const Four above = pairs[i + half], below = pairs[i + 2 + half];
            fours[i + 2 * half] =
                reinterpret_cast<Two>(__builtin_shufflevector(above, below, 0, 4, 1, 5));
            fours[i + 2 * half + 1] =
                reinterpret_cast<Two>(__builtin_shufflevector(above, below, 2, 6, 3, 7));
        }
    for (int j = 0; j < 4; ++j) {
        const Two even = __builtin_shufflevector(fours[j], fours[j + 4], 0, 2),
                  odd = __builtin_shufflevector(fours[j], fours[j + 4], 1, 3);
        __builtin_memcpy(to + 2 * j * ldTo, &even, sizeof even);
        __builtin_memcpy(to + (2 * j + 1) * ldTo, &odd, sizeof odd);
    }
}

/// Writes to[i * ldTo + j] = from[j * ld + i] for i < rows, j < columns.
template <class Element>
void transpose(const Element* from, int64_t ld, int64_t rows, int64_t columns, Element* to,
               int64_t ldTo) {
    constexpr int64_t kSide = kBlock<Element>;
    const int64_t whole = columns / kSide * kSide, deep = rows / kSide * kSide;
    for (int64_t j = 0; j < whole; j += kSide)
        for (int64_t i = 0; i < deep; i += kSide)
            transposeBlock(from + j * ld + i, ld, to + i * ldTo + j, ldTo);
    for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = j < whole ? deep : 0; i < rows; ++i)
            to[i * ldTo + j] = from[j * ld + i];
}

} // namespace
} // namespace halfscope
