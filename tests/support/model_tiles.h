// AMX in plain C++: the tiles of tile_gemm_kernel.h as Intel's manual defines them, for processors
// without AMX. Subnormal operands and sums count as zero.
#pragma once

#include "engine/cpu/tile_gemm_kernel.h"

#include <QtGlobal>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace halfscope {

inline float widened(uint32_t word) { return std::bit_cast<float>(word << 16); }
inline float flushed(float x) { return std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }

/// The tiles as Intel's manual defines them.
class ModelTiles {
public:
    ModelTiles(int64_t rows, int64_t more)
        : m_rows{rows, rows, more, more, rows, more, kTileLanes, kTileLanes} {}
    template <int N>
    void load(const void* from, int64_t stride) {
        checkRows<N>();
        for (int64_t r = 0; r < m_rows[N]; ++r)
            std::memcpy(m_lanes[N][r], static_cast<const std::byte*>(from) + r * stride, kBytes);
    }
    template <int N>
    void store(void* to, int64_t stride) {
        checkRows<N>();
        for (int64_t r = 0; r < m_rows[N]; ++r)
            std::memcpy(static_cast<std::byte*>(to) + r * stride, m_lanes[N][r], kBytes);
    }
    template <int N>
    void zero() {
        checkRows<N>();
        std::memset(m_lanes[N], 0, sizeof m_lanes[N]);
    }
    template <int C, int A, int B>
    void multiply() {
        checkRows<C>();
        checkRows<A>();
        if (m_rows[C] != m_rows[A]) qFatal("tiles of different heights");
        for (int64_t m = 0; m < m_rows[A]; ++m)
            for (int64_t n = 0; n < kTileColumns; ++n) {
                float lower = 0, upper = 0;
                for (int64_t k = 0; k < kTileLanes; ++k) {
                    const uint32_t a = m_lanes[A][m][k], b = m_lanes[B][k][n];
                    lower = fused(a & 0xFFFFU, b & 0xFFFFU, lower);
                    upper = fused(a >> 16, b >> 16, upper);
                }
                const float before = flushed(std::bit_cast<float>(m_lanes[C][m][n]));
                m_lanes[C][m][n] =
                    std::bit_cast<uint32_t>(flushed(before + flushed(lower + upper)));
            }
    }

private:
    static constexpr size_t kBytes = 64;
    static float fused(uint32_t a, uint32_t b, float sum) {
        return flushed(std::fma(flushed(widened(a)), flushed(widened(b)), sum));
    }
    /// Refuses a tile without rows, as the processor does.
    template <int N>
    void checkRows() const {
        if (m_rows[N] < 1 || m_rows[N] > 16) qFatal("tile %d has not been given rows", N);
    }
    int64_t m_rows[8];
    uint32_t m_lanes[8][16][16] = {};
};

} // namespace halfscope
