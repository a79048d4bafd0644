// The product by tiles for processors with AMX.
#include "engine/cpu/term_gemm.h"
#include "engine/cpu/tile_gemm.h"
#include "engine/cpu/tile_gemm_kernel.h"

#if defined(__AMX_BF16__)
#include <immintrin.h>

namespace halfscope {
namespace {

/// What LDTILECFG reads.
struct alignas(64) TileConfig {
    uint8_t palette = 1, startRow = 0;
    uint8_t unused[14] = {};
    uint16_t bytes[16] = {}; ///< per row
    uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

/// Tells the compiler that memory is read, as GCC's intrinsics do not: otherwise earlier writes to
/// it may be omitted or come later.
void settle(const void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

class AmxTiles {
public:
    AmxTiles(int64_t rows, int64_t more) {
        TileConfig config;
        const int64_t all[] = {rows, rows, more, more, rows, more, kTileLanes, kTileLanes};
        for (int i = 0; i < 8; ++i) { // a tile without rows must not have bytes either
            config.rows[i] = static_cast<uint8_t>(all[i]);
            config.bytes[i] = all[i] == 0 ? 0 : 64;
        }
        settle(&config);
        _tile_loadconfig(&config);
    }
    ~AmxTiles() { _tile_release(); }
    AmxTiles(const AmxTiles&) = delete;
    AmxTiles& operator=(const AmxTiles&) = delete;

// The intrinsics only take literal numbers.
#define HALFSCOPE_EACH_TILE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
    template <int N>
    void load(const void* from, int64_t stride) {
        settle(from);
#define HALFSCOPE_LOAD(number)                                                                     \
    if constexpr (N == number) _tile_loadd(number, from, stride);
        HALFSCOPE_EACH_TILE(HALFSCOPE_LOAD)
    }
    template <int N>
    void store(void* to, int64_t stride) {
#define HALFSCOPE_STORE(number)                                                                    \
    if constexpr (N == number) _tile_stored(number, to, stride);
        HALFSCOPE_EACH_TILE(HALFSCOPE_STORE)
    }
    template <int N>
    void zero() {
#define HALFSCOPE_ZERO(number)                                                                     \
    if constexpr (N == number) _tile_zero(number);
        HALFSCOPE_EACH_TILE(HALFSCOPE_ZERO)
    }
    template <int C, int A, int B>
    void multiply() {
        if constexpr (C == 0) _tile_dpbf16ps(0, 4, 6);
        if constexpr (C == 1) _tile_dpbf16ps(1, 4, 7);
        if constexpr (C == 2) _tile_dpbf16ps(2, 5, 6);
        if constexpr (C == 3) _tile_dpbf16ps(3, 5, 7);
        static_assert(A == 4 + C / 2 && B == 6 + C % 2);
    }
};

} // namespace

void multiplyTilesAmx(const PanelShape& s, const uint32_t* a, const uint32_t* panels, float* c) {
    multiplyByTiles<AmxTiles, Pairs>(s, 0, a, panels, c);
}

void multiplyTermsAmx(Terms terms, const PanelShape& s, int64_t planeOfA, const uint32_t* a,
                      const uint32_t* panels, float* c) {
    if (terms == Terms::Two)
        multiplyByTiles<AmxTiles, TwoTerms>(s, planeOfA, a, panels, c);
    else
        multiplyByTiles<AmxTiles, ThreeTerms>(s, planeOfA, a, panels, c);
}

} // namespace halfscope
#endif
