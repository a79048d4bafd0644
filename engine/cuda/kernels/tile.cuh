// Operand tiles of the chain kernels (gemm.cuh): computed from what lies in memory, rounded, put
// into shared memory, multiplied from there. One layout of results for all kinds of arithmetic.
#pragma once

namespace hs {

// ---- reading ahead ---------------------------------------------------------------------------

constexpr int kLineBytes = 128; ///< of the second-level cache

/// Asks for a cache line that will be read soon; no register waits for it.
HS_D void readAhead(const void* at) {
#if HS_DEVICE
    asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
#else
    static_cast<void>(at);
#endif
}

/// The lines of `Rows` rows and `Columns` columns of a source's tensors, by all threads.
template <class Source, int Rows, int Columns, int Bytes>
HS_D void readAheadOf(const char* arena, i64 row0, int column0) {
    constexpr int kEach = kLineBytes / Bytes; ///< elements of a line
    constexpr int kLines = (Columns + kEach - 1) / kEach;
    for (int i = static_cast<int>(threadIdx.x); i < Rows * kLines; i += kThreads) {
        const i64 row = row0 + i / kLines;
        const int column = column0 + i % kLines * kEach;
        if (row < Source::kRows && column < Source::kColumns) Source::ahead(arena, row, column);
    }
}

// ---- arithmetic --------------------------------------------------------------------------------

// Each has: kBytes of an operand element; pack: two neighbours to words; product: see Product.

template <class T>
struct HalfMath {
    static constexpr int kBytes = 2;
    static constexpr int kDepth = 16; ///< inner extent of one instruction
    static HS_D void pack(u32* words, int pair, float low, float high) {
        words[pair] = pack2<T>(low, high);
    }
};
struct Tf32Math {
    static constexpr int kBytes = 4;
    static constexpr int kDepth = 8;
    static HS_D void pack(u32* words, int pair, float low, float high) {
        words[2 * pair] = tf32Bits(low);
        words[2 * pair + 1] = tf32Bits(high);
    }
};
struct FloatMath {
    static constexpr int kBytes = 4;
    static constexpr int kDepth = 4;
    static HS_D void pack(u32* words, int pair, float low, float high) {
        words[2 * pair] = bitsOf(low);
        words[2 * pair + 1] = bitsOf(high);
    }
};

// ---- tiles in shared memory --------------------------------------------------------------------

/// kOuter rows of kInner elements; AlongK: the inner index of the product runs along a row. The
/// 16-byte units of a row are exchanged so that what a warp reads at once lies in different banks.
template <int Bytes, int Outer, int Inner, bool AlongK>
struct Area {
    static constexpr int kOuter = Outer, kInner = Inner;
    static constexpr int kPerUnit = 16 / Bytes;
    static constexpr int kUnits = Inner / kPerUnit; ///< of a row
    static constexpr int kBytes = Outer * Inner * Bytes;
    static_assert(kUnits == 4 || kUnits % 8 == 0, "a row is 64 bytes or a multiple of 128");

    static HS_D int unit(int row, int at) {
        if (Bytes == 4 && !AlongK) return row * kUnits + (at ^ ((row & 3) << 1) % kUnits);
        return row * kUnits + (at ^ (kUnits == 4 ? (row >> 1) & 3 : row & 7));
    }
    static HS_D const char* address(const char* area, int row, int at) {
        return area + 16 * unit(row, at);
    }
    /// The place of byte `at` of a row.
    static HS_D int byteOf(int row, int at) { return 16 * unit(row, at / 16) + at % 16; }
    /// The word or half word at (row, column).
    template <class T>
    static HS_D T element(const char* area, int row, int column) {
        return reinterpret_cast<const T*>(address(area, row, column / kPerUnit))[column % kPerUnit];
    }
};

/// What every thread does to fill an area from a source: fetch reads groups of V neighbouring
/// columns into registers, make computes their elements and stores them. Outside of the source are
/// zeros. With Held a thread keeps what belongs to its columns, which must be the same at every
/// call; with Sums it also adds up what it makes of them, as values of the source, not as the
/// product takes them.
///
/// A source has kRows, kColumns; Raw<V>, what it reads for a group; Column, what it needs of a
/// column; fetch(arena, row, column, Raw<V>&), ahead(arena, row, column), columns(arena, column,
/// Column (&)[V]), and pair(Column, Column, Raw<V>, i, first, second): elements i and i + 1 of the
/// group. kPlain: the elements are those of a tensor as they lie there (plain(Raw<V>)). kStored:
/// they go to memory too (keep()), as Elements, which is what the arithmetic takes.
template <class Source, class Math, class Area_, int V, bool Held, bool Sums>
struct Loader {
    static constexpr int kGroups = Area_::kInner / V;
    static constexpr int kStep = kThreads / kGroups; ///< rows apart that a thread's groups lie
    static constexpr int kEach = Area_::kOuter / kStep;
    static_assert(kThreads % kGroups == 0 && Area_::kOuter % kStep == 0, "threads share evenly");
    static constexpr bool kWholeRows = Source::kRows % Area_::kOuter == 0;
    static constexpr bool kWholeColumns = Source::kColumns % Area_::kInner == 0;
    using Column = typename Source::Column;

    typename Source::template Raw<V> raw[kEach];
    bool keeps = true; ///< of kStored: this block is the one that stores
    Column held[Held ? V : 1];
    double sums[Sums ? V : 1] = {};

    static HS_D int group() { return static_cast<int>(threadIdx.x) % kGroups; }
    static HS_D int line() { return static_cast<int>(threadIdx.x) / kGroups; }
    static HS_D bool hasColumn(int column) { return kWholeColumns || column < Source::kColumns; }
    static HS_D bool hasRow(int row) { return kWholeRows || row < Source::kRows; }

    HS_D void hold(const char* arena, int column0) {
        const int column = column0 + group() * V;
        if constexpr (Held)
            if (hasColumn(column)) Source::columns(arena, column, held);
    }
    HS_D void fetch(const char* arena, int row0, int column0) {
        const int column = column0 + group() * V;
        const int row = row0 + line();
        HS_UNROLL
        for (int i = 0; i < kEach; ++i)
            if (hasRow(row + i * kStep) && hasColumn(column))
                Source::fetch(arena, row + i * kStep, column, raw[i]);
    }
    static HS_D void ahead(const char* arena, int row0, int column0) {
        readAheadOf<Source, Area_::kOuter, Area_::kInner, Math::kBytes>(arena, row0, column0);
    }
    HS_D void make(char* arena, int row0, int column0, char* area) {
        if constexpr (Held) {
            put(arena, held, row0, column0, area);
        } else {
            const int column = column0 + group() * V;
            Column columns[V];
            if (hasColumn(column)) Source::columns(arena, column, columns);
            put(arena, columns, row0, column0, area);
        }
    }

private:
    /// A group as it is put into the area, in the largest accesses that fit.
    static constexpr int kWords = V * Math::kBytes / 4;
    static constexpr int kUnitBytes = 4 * kWords < 16 ? 4 * kWords : 16;
    static constexpr int kUnits = 4 * kWords / kUnitBytes;
    using UnitType = typename Unit<kUnitBytes>::Type;
    union Made {
        u32 words[kWords];
        UnitType units[kUnits];
        Pack<typename Source::Element, V> pack;
    };

    HS_D void put(char* arena, const Column (&columns)[V], int row0, int column0, char* area) {
        const int column = column0 + group() * V;
        float added[V] = {};
        HS_UNROLL
        for (int i = 0; i < kEach; ++i) {
            const int row = row0 + line() + i * kStep;
            const bool there = hasColumn(column) && hasRow(row);
            Made made;
            if constexpr (Source::kPlain && Source::kColumns % V == 0) {
                made.pack = Source::plain(raw[i]);
                HS_UNROLL
                for (int word = 0; word < kWords; ++word)
                    made.words[word] = there ? made.words[word] : 0;
            }
            if constexpr (!Source::kPlain || Source::kColumns % V != 0 || Sums)
                compute(made, columns, i, column, there, added);
            if constexpr (Source::kStored)
                if (there && keeps) Source::keep(arena, row, column, made.pack);
            const int at = group() * V * Math::kBytes;
            HS_UNROLL
            for (int unit = 0; unit < kUnits; ++unit)
                *reinterpret_cast<UnitType*>(
                    area + Area_::byteOf(line() + i * kStep, at + unit * kUnitBytes)) =
                    made.units[unit];
        }
        if constexpr (Sums) {
            HS_UNROLL
            for (int at = 0; at < V; ++at)
                sums[at] += static_cast<double>(added[at]);
        }
    }
    HS_D void compute(Made& made, const Column (&columns)[V], int i, int column, bool there,
                      float (&added)[V]) const {
        HS_UNROLL
        for (int at = 0; at < V; at += 2) {
            float low = 0, high = 0;
            if (there) Source::pair(columns[at], columns[at + 1], raw[i], at, low, high);
            if (Source::kColumns % V != 0) {
                if (column + at >= Source::kColumns) low = 0;
                if (column + at + 1 >= Source::kColumns) high = 0;
            }
            if constexpr (!Source::kPlain || Source::kColumns % V != 0)
                Math::pack(made.words, at / 2, low, high);
            // what the product takes, and a node of its own would: rounded to 16 bits
            constexpr bool kRounds = Sums && Math::kBytes == 2;
            added[at] += kRounds ? made.pack[at] : low;
            added[at + 1] += kRounds ? made.pack[at + 1] : high;
        }
    }
};

// ---- products of tiles -------------------------------------------------------------------------

/// The place for other instructions (those of whole warpgroups, for one): a Math with its Product,
/// and an Area in the layout that they read. Sources, sinks and the walk over tiles stay as they
/// are.
///
/// sums (m, n) of a warp += a b over kInner, where the warp's part is TilesM x 16 rows and
/// TilesN x 8 columns from (row0, column0) of the areas. A lane has 2 TilesM rows and 2 TilesN
/// columns: rowOf and columnOf, of lane 4 g + t, of which two columns at a time are neighbours.
/// Its element (row i, column c) is sums[i / 2][c / 2][2 (i % 2) + c % 2].
template <class Math, class A, class B, int TilesM, int TilesN, bool AAlongK, bool BAlongK>
struct Product;

/// As multiply's d.
struct TensorLayout {
    static HS_D int rowOf(int i, int g) { return 8 * i + g; }
    static HS_D int columnOf(int c, int t) { return 8 * (c / 2) + 2 * t + c % 2; }
};

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
                if constexpr (AAlongK)
                    loadMatrices<false>(left[i], A::address(a, row + low, k / 8 + high));
                else
                    loadMatrices<true>(left[i], A::address(a, k + low2, row / 8 + high2));
            }
            HS_UNROLL
            for (int j = 0; j < TilesN; j += 2) {
                const int column = column0 + 8 * j;
                u32 right[4];
                if constexpr (BAlongK)
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
/// where the inner index runs along the rows of an area, four reads become one.
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
    /// Two tiles of 8 columns.
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

/// Strict f32: one fmaf a product, in ascending order of the inner index. Reads are of 16 bytes:
/// four inner indices where they run along the rows of an area, else four neighbouring rows or
/// columns of the result, so that a lane's are not multiply's.
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
    /// x[i][j]: the element at outer index outerOf(i) and inner index k + j.
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

} // namespace hs
