// Products of operand tiles (tile.cuh) in shared memory, by tensor cores or by fmaf. All kinds of
// arithmetic have the same layout of results.
#pragma once

namespace hs {

/// Computes sums (m, n) of a warp += a b over kInner, where the warp's part is TilesM x 16 rows and
/// TilesN x 8 columns from (row0, column0) of the areas. A lane has 2 TilesM rows and 2 TilesN
/// columns: rowOf and columnOf of lane 4 g + t, in which two columns at a time are neighbours. Its
/// element (row i, column c) is sums[i / 2][c / 2][2 (i % 2) + c % 2].
template <class Math, class A, class B, int TilesM, int TilesN, bool AAlongK, bool BAlongK>
struct Product;

template <class T, class A, class B, int TilesM, int TilesN, bool AAlongK, bool BAlongK>
struct Product<HalfMath<T>, A, B, TilesM, TilesN, AAlongK, BAlongK> : TensorLayout {
    static constexpr int kInner = AAlongK ? A::kInner : A::kOuter;
    static_assert(TilesN % 2 == 0, "columns are read 16 at a time");

    static HS_D void add(const char* a, const char* b, int row0, int column0,
                         float (&sums)[TilesM][TilesN][4]) {
        const int lane = static_cast<int>(threadIdx.x) % kWarp, matrix = lane / 8, line = lane % 8;
        const int low = (matrix & 1) * 8 + line, high = matrix >> 1;
        const int low2 = (matrix >> 1) * 8 + line, high2 = matrix & 1;
        HS_UNROLL
        for (int k = 0; k < kInner; k += 16) {
            u32 left[TilesM][4];
            HS_UNROLL
            for (int i = 0; i < TilesM; ++i) {
                const int row = row0 + 16 * i;
                if constexpr (A::kLean && AAlongK)
                    loadMatrices<false>(left[i], A::address(a, row0 + low, k / 8 + high) +
                                                     16 * i * A::kRowBytes);
                else if constexpr (A::kLean)
                    loadMatrices<true>(left[i],
                                       A::address(a, low2, row / 8 + high2) + k * A::kRowBytes);
                else if constexpr (AAlongK)
                    loadMatrices<false>(left[i], A::address(a, row + low, k / 8 + high));
                else
                    loadMatrices<true>(left[i], A::address(a, k + low2, row / 8 + high2));
            }
            HS_UNROLL
            for (int j = 0; j < TilesN; j += 2) {
                const int column = column0 + 8 * j;
                u32 right[4];
                if constexpr (B::kLean && BAlongK)
                    loadMatrices<false>(right, B::address(b, column0 + low2, k / 8 + high2) +
                                                   8 * j * B::kRowBytes);
                else if constexpr (B::kLean)
                    loadMatrices<true>(right,
                                       B::address(b, low, column / 8 + high) + k * B::kRowBytes);
                else if constexpr (BAlongK)
                    loadMatrices<false>(right, B::address(b, column + low2, k / 8 + high2));
                else
                    loadMatrices<true>(right, B::address(b, k + low, column / 8 + high));
                HS_UNROLL
                for (int i = 0; i < TilesM; ++i) {
                    multiply<T>(sums[i][j], left[i], right[0], right[1]);
                    multiply<T>(sums[i][j + 1], left[i], right[2], right[3]);
                }
            }
        }
    }
};

#if !HS_DEVICE || __CUDA_ARCH__ >= 800
/// A 16-byte row of loadMatrices is four words, of which a lane gets the one that it multiplies:
/// when the inner index runs along the rows of an area, four reads become one.
template <class A, class B, int TilesM, int TilesN, bool AAlongK, bool BAlongK>
struct Product<Tf32Math, A, B, TilesM, TilesN, AAlongK, BAlongK> : TensorLayout {
    static constexpr int kInner = AAlongK ? A::kInner : A::kOuter;
    static_assert(TilesN % 2 == 0, "columns are read 16 at a time");

    static HS_D void readA(u32 (&words)[4], const char* a, int row, int k) {
        const int lane = static_cast<int>(threadIdx.x) % kWarp, matrix = lane / 8;
        if constexpr (AAlongK)
            loadMatrices<false>(
                words, A::address(a, row + (matrix & 1) * 8 + lane % 8, k / 4 + (matrix >> 1)));
        else
            for (int w = 0; w < 4; ++w)
                words[w] = A::template element<u32>(a, k + lane % 4 + (w >> 1) * 4,
                                                    row + lane / 4 + (w & 1) * 8);
    }
    /// Reads two tiles of 8 columns.
    static HS_D void readB(u32 (&words)[4], const char* b, int k, int column) {
        const int lane = static_cast<int>(threadIdx.x) % kWarp, matrix = lane / 8;
        if constexpr (BAlongK)
            loadMatrices<false>(
                words, B::address(b, column + (matrix >> 1) * 8 + lane % 8, k / 4 + (matrix & 1)));
        else
            for (int w = 0; w < 4; ++w)
                words[w] = B::template element<u32>(b, k + lane % 4 + (w & 1) * 4,
                                                    column + lane / 4 + (w >> 1) * 8);
    }
    static HS_D void add(const char* a, const char* b, int row0, int column0,
                         float (&sums)[TilesM][TilesN][4]) {
        HS_UNROLL
        for (int k = 0; k < kInner; k += 8) {
            u32 rows[TilesM][4];
            HS_UNROLL
            for (int i = 0; i < TilesM; ++i)
                readA(rows[i], a, row0 + 16 * i, k);
            HS_UNROLL
            for (int j = 0; j < TilesN; j += 2) {
                u32 columns[4];
                readB(columns, b, k, column0 + 8 * j);
                HS_UNROLL
                for (int i = 0; i < TilesM; ++i) {
                    multiplyTf32(sums[i][j], rows[i], columns[0], columns[1]);
                    multiplyTf32(sums[i][j + 1], rows[i], columns[2], columns[3]);
                }
            }
        }
    }
};
#endif

/// Strict f32: one fmaf per product, in ascending order of the inner index. Reads are of 16 bytes:
/// four inner indices when these run along the rows of an area, else four neighbouring rows or
/// columns of the result, so that a lane's rows and columns are not those of multiply.
template <class A, class B, int TilesM, int TilesN, bool AAlongK, bool BAlongK>
struct Product<FloatMath, A, B, TilesM, TilesN, AAlongK, BAlongK> {
    static constexpr int kInner = AAlongK ? A::kInner : A::kOuter;
    static constexpr int kRows = 2 * TilesM, kColumns = 2 * TilesN; ///< of a lane
    static_assert(kRows % 4 == 0 && kColumns % 4 == 0, "rows and columns are read four at a time");

    static HS_D int rowOf(int i, int g) {
        return AAlongK ? 8 * i + g : 32 * (i / 4) + 4 * g + i % 4;
    }
    static HS_D int columnOf(int c, int t) {
        return BAlongK ? 8 * (c / 2) + 2 * t + c % 2 : 16 * (c / 4) + 4 * t + c % 4;
    }

    static HS_D void add(const char* a, const char* b, int row0, int column0,
                         float (&sums)[TilesM][TilesN][4]) {
        const int lane = static_cast<int>(threadIdx.x) % kWarp, g = lane / 4, t = lane % 4;
        HS_UNROLL_BY(2)
        for (int k = 0; k < kInner; k += 4) {
            float left[kRows][4]; // by row, by inner index
            readFour<A, AAlongK, kRows>(left, a, k, [&](int i) { return row0 + rowOf(i, g); });
            HS_UNROLL
            for (int c = 0; c < kColumns; c += 4) {
                float right[4][4];
                readFour<B, BAlongK, 4>(right, b, k,
                                        [&](int i) { return column0 + columnOf(c + i, t); });
                HS_UNROLL
                for (int inner = 0; inner < 4; ++inner)
                    HS_UNROLL
                for (int e = 0; e < 4; ++e)
                    HS_UNROLL
                for (int i = 0; i < kRows; ++i) {
                    float& sum = sums[i / 2][(c + e) / 2][2 * (i % 2) + e % 2];
                    sum = fmaf(left[i][inner], right[e][inner], sum);
                }
            }
        }
    }

private:
    /// Reads x[i][j], the element at outer index outerOf(i) and inner index k + j.
    template <class Area_, bool AlongK, int Count, class OuterOf>
    static HS_D void readFour(float (&x)[Count][4], const char* area, int k,
                              const OuterOf& outerOf) {
        HS_UNROLL
        for (int i = 0; i < Count; ++i) {
            const int line = AlongK ? outerOf(i) : k + i % 4;
            const int at = AlongK ? k / 4 : outerOf(i / 4 * 4) / 4;
            const Words4 words = *reinterpret_cast<const Words4*>(Area_::address(area, line, at));
            const float four[4] = {floatOf(words.x), floatOf(words.y), floatOf(words.z),
                                   floatOf(words.w)};
            HS_UNROLL
            for (int j = 0; j < 4; ++j)
                (AlongK ? x[i][j] : x[i / 4 * 4 + j][i % 4]) = four[j];
        }
    }
};

// ---- what kernels of products share -------------------------------------------------------------

template <bool IsFirst, class First, class Second>
struct Either {
    using Type = First;
};
template <class First, class Second>
struct Either<false, First, Second> {
    using Type = Second;
};

/// What both kinds of product share. C has Math, A, B (sources), kTileM, kTileN, kTileK, kAAlongK,
/// kBAlongK, kWarpgroups (warpgroup.cuh's product), and kGroup, the number of columns that a thread
/// computes side by side. An operand of which every step takes the same columns keeps what belongs
/// to them in registers.
template <class C>
struct ProductTiles {
    using Math = typename C::Math;
    static constexpr int kBytes = Math::kBytes;
    template <int Outer, int Inner, bool AlongK>
    using AreaOf =
        typename Either<C::kWarpgroups, GroupArea<kBytes, Outer, Inner, AlongK, C::kLean>,
                        Area<kBytes, Outer, Inner, AlongK, C::kLean>>::Type;
    using AreaA = AreaOf<C::kAAlongK ? C::kTileM : C::kTileK, C::kAAlongK ? C::kTileK : C::kTileM,
                         C::kAAlongK>;
    using AreaB = AreaOf<C::kBAlongK ? C::kTileN : C::kTileK, C::kBAlongK ? C::kTileK : C::kTileN,
                         C::kBAlongK>;
    using LoaderA = Loader<typename C::A, Math, AreaA, C::kGroup, C::kHeld, C::kColumnSums>;
    using LoaderB = Loader<typename C::B, Math, AreaB, C::kGroup, C::kHeld, false>;
    static constexpr int kWarpsN = C::kWarpgroups ? 1 : 4;
    static constexpr int kWarpsM = kThreads / kWarp / kWarpsN;
    static constexpr int kWarpRows = C::kTileM / kWarpsM, kWarpColumns = C::kTileN / kWarpsN;
    static constexpr int kTilesM = kWarpRows / 16, kTilesN = kWarpColumns / 8;
    /// The steps between prefetching an operand and reading it into registers. Not more: what is
    /// prefetched too early leaves the cache before it is used (measured on an H200, whose 132
    /// blocks move a third of its cache in the time of two deep steps).
    static constexpr int kAhead = C::kTileK >= 64 ? 1 : 3;
    static_assert(!C::kWarpgroups || C::kTileM == 2 * kGroupRows, "each warpgroup has its rows");
    using Multiply = typename Either<
        C::kWarpgroups, GroupProduct<Math, AreaA, AreaB, kTilesN, C::kAAlongK, C::kBAlongK>,
        Product<Math, AreaA, AreaB, kTilesM, kTilesN, C::kAAlongK, C::kBAlongK>>::Type;

    static HS_D void fetchA(LoaderA& loader, const char* arena, int m, int k) {
        if constexpr (C::kAAlongK)
            loader.fetch(arena, m, k);
        else
            loader.fetch(arena, k, m);
    }
    static HS_D void aheadA(const char* arena, int m, int k) {
        if constexpr (C::kAAlongK)
            LoaderA::ahead(arena, m, k);
        else
            LoaderA::ahead(arena, k, m);
    }
    static HS_D void allAheadA(bool wanted, const char* arena, int m, int k) {
        if constexpr (C::kAAlongK)
            LoaderA::allAhead(wanted, arena, m, k);
        else
            LoaderA::allAhead(wanted, arena, k, m);
    }
    template <bool Knows = false>
    static HS_D void makeA(LoaderA& loader, char* arena, int m, int k, char* area, int nextM,
                           int nextK, const char* known = nullptr) {
        if constexpr (C::kAAlongK)
            loader.template make<Knows>(arena, m, k, area, nextM, nextK, known);
        else
            loader.template make<Knows>(arena, k, m, area, nextK, nextM, known);
    }
    static HS_D void fetchB(LoaderB& loader, const char* arena, int n, int k) {
        if constexpr (C::kBAlongK)
            loader.fetch(arena, n, k);
        else
            loader.fetch(arena, k, n);
    }
    static HS_D void makeB(LoaderB& loader, char* arena, int n, int k, char* area, int nextK) {
        if constexpr (C::kBAlongK)
            loader.make(arena, n, k, area, n, nextK);
        else
            loader.make(arena, k, n, area, nextK, n);
    }
};

/// Adds By to x in a way that a compiler neither derives from other counts nor computes again where
/// it is used.
template <int By>
HS_D void advance(int& x) {
#if HS_DEVICE
    asm volatile("add.s32 %0, %0, %1;" : "+r"(x) : "n"(By));
#else
    x += By;
#endif
}

} // namespace hs
