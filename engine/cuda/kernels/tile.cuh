// Operand tiles of the chain kernels (chain.cuh): computed from what is in memory, rounded, and put
// into shared memory, from which product.cuh multiplies them.
#pragma once

namespace hs {

// ---- reading ahead ---------------------------------------------------------------------------

constexpr int kLineBytes = 128; ///< of the second-level cache

/// Prefetches a cache line that will be read soon, if it is wanted, without a branch; no register
/// waits for it.
HS_D void readAhead(bool wanted, const void* at) {
#if HS_DEVICE
    asm volatile("{\n.reg .pred wanted;\nsetp.ne.b32 wanted, %1, 0;\n"
                 "@wanted prefetch.global.L2 [%0];\n}" ::"l"(at),
                 "r"(wanted ? 1 : 0));
#else
    if (wanted) hs_emulated::ahead(at);
#endif
}

/// Prefetches the lines of `Rows` rows and `Columns` columns of a source's tensors, by all threads.
template <class Source, int Rows, int Columns, int Bytes>
HS_D void readAheadOf(const char* arena, i64 row0, int column0) {
    constexpr int kEach = kLineBytes / Bytes; ///< elements of a line
    constexpr int kLines = (Columns + kEach - 1) / kEach;
    for (int i = static_cast<int>(threadIdx.x); i < Rows * kLines; i += kThreads) {
        const i64 row = row0 + i / kLines;
        const int column = column0 + i % kLines * kEach;
        if (row < Source::kRows && column < Source::kColumns)
            Source::ahead(true, arena, row, column);
    }
}

/// Does the same in straight code, for a place outside of loops over threads' turns: a compiler
/// would compute the loop's addresses before them, in every turn and whether or not a thread has a
/// line to prefetch.
template <class Source, int Rows, int Columns, int Bytes>
HS_D void readAllAhead(bool wanted, const char* arena, i64 row0, int column0) {
    constexpr unsigned kEach = kLineBytes / Bytes, kLines = (Columns + kEach - 1) / kEach;
    constexpr unsigned kAll = Rows * kLines;
    HS_UNROLL
    for (unsigned first = 0; first < kAll; first += kThreads) {
        const unsigned i = first + threadIdx.x;
        const i64 row = row0 + i / kLines;
        const int column = column0 + static_cast<int>(i % kLines * kEach);
        Source::ahead(wanted && (first + kThreads <= kAll || i < kAll) &&
                          (Source::kRows % Rows == 0 || row < Source::kRows) &&
                          (Source::kColumns % Columns == 0 || column < Source::kColumns),
                      arena, row, column);
    }
}

// ---- arithmetic --------------------------------------------------------------------------------

// Each has kBytes of an operand element; pack, which turns two neighbours into words; and product,
// see Product.

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

/// kOuter rows of kInner elements; with AlongK, the inner index of the product runs along a row.
/// The 16-byte units of a row are exchanged so that what a warp reads at once is in different
/// banks; the pattern repeats every 8 rows. With Lean, what is rowsOn rows further on, a multiple
/// of 8, is reached by a constant, where a compiler would keep a separate address for it.
template <int Bytes, int Outer, int Inner, bool AlongK, bool Lean = false>
struct Area {
    static constexpr int kOuter = Outer, kInner = Inner;
    static constexpr bool kLean = Lean;
    static constexpr int kPerUnit = 16 / Bytes;
    static constexpr int kUnits = Inner / kPerUnit; ///< of a row
    static constexpr int kRowBytes = 16 * kUnits;
    static constexpr int kBytes = Outer * Inner * Bytes;
    static_assert(kUnits == 4 || kUnits % 8 == 0, "a row is 64 bytes or a multiple of 128");

    static HS_D int unit(int row, int at) {
        if (Bytes == 4 && !AlongK) return row * kUnits + (at ^ ((row & 3) << 1) % kUnits);
        return row * kUnits + (at ^ (kUnits == 4 ? (row >> 1) & 3 : row & 7));
    }
    static HS_D const char* address(const char* area, int row, int at) {
        return area + 16 * unit(row, at);
    }
    /// Returns the place of byte `at` of a row.
    static HS_D int byteOf(int row, int at) { return 16 * unit(row, at / 16) + at % 16; }
    /// Returns the word or half word at (row, column).
    template <class T>
    static HS_D T element(const char* area, int row, int column) {
        return reinterpret_cast<const T*>(address(area, row, column / kPerUnit))[column % kPerUnit];
    }
};

/// What every thread does to fill an area from a source: fetch reads groups of V neighbouring
/// columns into registers, and make computes their elements and stores them. Outside of the source
/// there are zeros. With Held, a thread keeps what belongs to its columns, which must be the same
/// at every call; with Sums, it also adds up what it makes of them, as values of the source, not as
/// the product takes them.
///
/// A source has kRows, kColumns; Raw<V>, what it reads for a group; Column, what it needs of a
/// column; fetch(arena, row, column, Raw<V>&), ahead(wanted, arena, row, column),
/// columns(arena, column, Column (&)[V]), and pair(Column, Column, Raw<V>, i, first, second):
/// elements i and i + 1 of the group. With kPlain, the elements are those of a tensor as they are
/// in memory (plain(Raw<V>)). With kStored, they also go to memory (keep()), as Elements, which is
/// what the arithmetic takes.
template <class Source, class Math, class Area_, int V, bool Held, bool Sums>
struct Loader {
    static constexpr int kGroups = Area_::kInner / V;
    static constexpr int kStep = kThreads / kGroups; ///< rows between a thread's groups
    static constexpr int kEach = Area_::kOuter / kStep;
    static_assert(kThreads % kGroups == 0 && Area_::kOuter % kStep == 0, "threads share evenly");
    static constexpr bool kWholeRows = Source::kRows % Area_::kOuter == 0;
    static constexpr bool kWholeColumns = Source::kColumns % Area_::kInner == 0;
    using Column = typename Source::Column;

    typename Source::template Raw<V> raw[kEach];
    bool keeps = true; ///< for kStored: whether this block is the one that stores
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
        fetchSome<0, kEach>(arena, row0, column0);
    }
    static HS_D void ahead(const char* arena, int row0, int column0) {
        readAheadOf<Source, Area_::kOuter, Area_::kInner, Math::kBytes>(arena, row0, column0);
    }
    static HS_D void allAhead(bool wanted, const char* arena, int row0, int column0) {
        readAllAhead<Source, Area_::kOuter, Area_::kInner, Math::kBytes>(wanted, arena, row0,
                                                                         column0);
    }
    /// Leaves in `known`, kKnownBytes of shared memory, what belongs to each column.
    static constexpr int kKnownBytes =
        (Source::kColumns + V - 1) / V * V * static_cast<int>(sizeof(Column));
    static HS_D void know(const char* arena, char* known) {
        for (int i = static_cast<int>(threadIdx.x); i * V < Source::kColumns; i += kThreads) {
            Known of;
            Source::columns(arena, i * V, of.columns);
            HS_UNROLL
            for (int unit = 0; unit < Known::kUnits; ++unit)
                reinterpret_cast<Words4*>(known)[i * Known::kUnits + unit] = of.units[unit];
        }
    }
    /// Computes the tile from (row0, column0), and reads the one from (nextRow, nextColumn) into
    /// the registers that become free: what is read has almost as long to arrive as this takes.
    /// With Knows, `known` has what know() left.
    template <bool Knows = false>
    HS_D void make(char* arena, int row0, int column0, char* area, int nextRow, int nextColumn,
                   const char* known = nullptr) {
        static_cast<void>(known);
        if constexpr (Held) {
            put(arena, held, row0, column0, area, nextRow, nextColumn);
        } else if constexpr (Knows) {
            const int column = column0 + group() * V;
            Known of;
            HS_UNROLL
            for (int unit = 0; unit < Known::kUnits && hasColumn(column); ++unit)
                of.units[unit] =
                    reinterpret_cast<const Words4*>(known)[column / V * Known::kUnits + unit];
            put(arena, of.columns, row0, column0, area, nextRow, nextColumn);
        } else {
            const int column = column0 + group() * V;
            Column columns[V];
            if (hasColumn(column)) Source::columns(arena, column, columns);
            put(arena, columns, row0, column0, area, nextRow, nextColumn);
        }
    }

private:
    union Known {
        static constexpr int kUnits = V * static_cast<int>(sizeof(Column)) / 16;
        static_assert(kUnits * 16 == V * static_cast<int>(sizeof(Column)), "whole units");
        Column columns[V];
        Words4 units[kUnits];
    };
    /// A group in the form in which it is put into the area, in the largest accesses that fit.
    static constexpr int kWords = V * Math::kBytes / 4;
    static constexpr int kUnitBytes = 4 * kWords < 16 ? 4 * kWords : 16;
    static constexpr int kUnits = 4 * kWords / kUnitBytes;
    static constexpr int kCycle = kStep < 8 ? 8 / kStep : 1; ///< groups in 8 rows, after which the
                                                             ///< exchange of units repeats
    using UnitType = typename Unit<kUnitBytes>::Type;
    union Made {
        u32 words[kWords];
        UnitType units[kUnits];
        Pack<typename Source::Element, V> pack;
    };

    template <int First, int Last>
    HS_D void fetchSome(const char* arena, int row0, int column0) {
        const int column = column0 + group() * V;
        const int row = row0 + line();
        HS_UNROLL
        for (int i = First; i < Last; ++i)
            if (hasRow(row + i * kStep) && hasColumn(column))
                Source::fetch(arena, row + i * kStep, column, raw[i]);
    }
    HS_D void put(char* arena, const Column (&columns)[V], int row0, int column0, char* area,
                  int nextRow, int nextColumn) {
        constexpr int kHalf = kEach / 2;
        float added[V] = {};
        putSome<0, kHalf>(arena, columns, row0, column0, area, added);
        fetchSome<0, kHalf>(arena, nextRow, nextColumn);
        putSome<kHalf, kEach>(arena, columns, row0, column0, area, added);
        fetchSome<kHalf, kEach>(arena, nextRow, nextColumn);
        if constexpr (Sums) {
            HS_UNROLL
            for (int at = 0; at < V; ++at)
                sums[at] += static_cast<double>(added[at]);
        }
    }
    template <int First, int Last>
    HS_D void putSome(char* arena, const Column (&columns)[V], int row0, int column0, char* area,
                      float (&added)[V]) {
        const int column = column0 + group() * V;
        HS_UNROLL
        for (int i = First; i < Last; ++i) {
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
                if constexpr (Area_::kLean) {
                    const int place =
                        Area_::byteOf(line() + i % kCycle * kStep, at + unit * kUnitBytes) +
                        i / kCycle * kCycle * kStep * Area_::kRowBytes;
                    *reinterpret_cast<UnitType*>(area + place) = made.units[unit];
                } else {
                    *reinterpret_cast<UnitType*>(
                        area + Area_::byteOf(line() + i * kStep, at + unit * kUnitBytes)) =
                        made.units[unit];
                }
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
            // what the product takes, as a node of its own would: rounded to 16 bits
            constexpr bool kRounds = Sums && Math::kBytes == 2;
            added[at] += kRounds ? made.pack[at] : low;
            added[at + 1] += kRounds ? made.pack[at + 1] : high;
        }
    }
};

} // namespace hs
