// Products of whole warpgroups, which are four warps together, only on devices of compute
// capability 9.0 (sm_90a). Both operands are read from shared memory, where descriptors tell, while
// the threads go on; the emulator reads them as late as may happen. Layouts and descriptors: PTX
// ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
#pragma once

namespace hs {

constexpr int kGroupRows = 64; ///< of a warpgroup's product

/// Declares shared memory for areas of warpgroups, whose layouts repeat every 1024 bytes of it.
#if HS_DEVICE
#define HS_GROUP_SHARED(name)                                                                      \
    extern __shared__ __align__(1024) char name##_of_groups[];                                     \
    char* const name = name##_of_groups
HS_D u32 sharedAddress(const char* at) { return static_cast<u32>(__cvta_generic_to_shared(at)); }
#else
#define HS_GROUP_SHARED(name) HS_DYNAMIC_SHARED(name)
inline u32 sharedAddress(const char* at) { return static_cast<u32>(at - hs_emulated_state.shared); }
#endif

/// An Area in a layout that descriptors know: rows of 64 or 128 bytes, whose 16-byte units are
/// exchanged by PTX's swizzle of that many bytes; wider rows are blocks of 128 bytes, each with all
/// rows.
template <int Bytes, int Outer, int Inner, bool AlongK, bool Lean>
struct GroupArea {
    static constexpr int kOuter = Outer, kInner = Inner;
    static constexpr bool kLean = Lean;
    static constexpr int kUnits = Inner * Bytes / 16 < 8 ? Inner * Bytes / 16 : 8; ///< of a block
    static constexpr int kRowBytes = 16 * kUnits;
    static constexpr int kBytes = Outer * Inner * Bytes;
    static_assert(Bytes == 2 && Outer % 8 == 0, "16-bit operands, whole repetitions");
    static_assert(AlongK ? Inner == 32 || Inner == 64 : Inner % 64 == 0, "a layout of PTX's");

    /// Returns the place of byte `at` of a row.
    static HS_D int byteOf(int row, int at) {
        const int unit = at / 16 % kUnits, block = at / kRowBytes;
        return (block * Outer + row) * kRowBytes +
               16 * (unit ^ (kUnits == 4 ? (row >> 1) & 3 : row & 7)) + at % 16;
    }

    /// Returns the descriptor of the matrix that begins at `outer`, a multiple of 64, and inner
    /// index 0 of the product.
    static HS_D u64 descriptor(const char* area, int outer) {
        constexpr u64 kSwizzle = kUnits == 8 ? 1 : 2;
        // from 8 rows of a block to the next 8, and from block to block if there are several
        constexpr u64 kStride = 8 * kRowBytes, kLeading = AlongK ? 16 : Outer * kRowBytes;
        const u32 start = sharedAddress(area) + (AlongK ? outer : outer / 64 * Outer) * kRowBytes;
        return (kSwizzle << 62 | kStride >> 4 << 32 | kLeading >> 4 << 16) + (start >> 4);
    }
    /// What is added to a descriptor for the next 16 inner indices.
    static constexpr u64 kNext = (AlongK ? 16 * Bytes : 16 * kRowBytes) >> 4;
};

/// Makes what this thread wrote to shared memory known to products that begin after a barrier.
HS_D void showToGroups() {
#if HS_DEVICE
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// ---- the instruction ---------------------------------------------------------------------------

/// Computes d (64, Columns) = a (64, 16) b (16, Columns), plus d when `adds` is not 0. Transposed
/// means that the inner index does not run along the rows of the operand's area.
template <class T, int Columns, bool ATransposed, bool BTransposed>
struct GroupInstruction;

#if HS_DEVICE
#define HS_PLACES_32                                                                               \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "   \
    "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define HS_PLACES_64                                                                               \
    HS_PLACES_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "   \
                 "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "     \
                 "%62, %63"
#define HS_PLACES_128                                                                              \
    HS_PLACES_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, "   \
                 "%79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, "     \
                 "%94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, "  \
                 "%108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, "  \
                 "%121, %122, %123, %124, %125, %126, %127"
#define HS_SUMS_4(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
#define HS_SUMS_16(j) HS_SUMS_4(j), HS_SUMS_4(j + 1), HS_SUMS_4(j + 2), HS_SUMS_4(j + 3)
#define HS_SUMS_32 HS_SUMS_16(0), HS_SUMS_16(4)
#define HS_SUMS_64 HS_SUMS_32, HS_SUMS_16(8), HS_SUMS_16(12)
#define HS_SUMS_128 HS_SUMS_64, HS_SUMS_16(16), HS_SUMS_16(20), HS_SUMS_16(24), HS_SUMS_16(28)
#define HS_GROUP_INSTRUCTION(T, type, columns, places, sums, a, b, adds, transposed)               \
    template <bool ATransposed, bool BTransposed>                                                  \
    struct GroupInstruction<T, columns, ATransposed, BTransposed> {                                \
        static HS_D void run(float (&d)[columns / 8][4], u64 left, u64 right, int isSum) {         \
            asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " adds ", 0;\n"                   \
                         "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type     \
                         " {" places "}, " a ", " b ", adds, 1, 1, " transposed ";\n}"             \
                         : sums                                                                    \
                         : "l"(left), "l"(right), "r"(isSum), "n"(ATransposed ? 1 : 0),            \
                           "n"(BTransposed ? 1 : 0));                                              \
        }                                                                                          \
    };
#define HS_GROUP_INSTRUCTIONS(T, type)                                                             \
    HS_GROUP_INSTRUCTION(T, type, 64, HS_PLACES_32, HS_SUMS_32, "%32", "%33", "%34", "%35, %36")   \
    HS_GROUP_INSTRUCTION(T, type, 128, HS_PLACES_64, HS_SUMS_64, "%64", "%65", "%66", "%67, %68")  \
    HS_GROUP_INSTRUCTION(T, type, 256, HS_PLACES_128, HS_SUMS_128, "%128", "%129", "%130",         \
                         "%131, %132")
HS_GROUP_INSTRUCTIONS(F16, "f16")
HS_GROUP_INSTRUCTIONS(BF16, "bf16")
#else
/// Returns element (outer, k) of the matrix that a descriptor names.
template <class T>
inline float groupElement(u64 descriptor, bool isTransposed, int outer, int k) {
    const auto field = [&](int from) { return static_cast<int>(descriptor >> from & 0x3FFF) << 4; };
    const int units = descriptor >> 62 == 1 ? 8 : 4, rowBytes = 16 * units;
    int at = field(0) + 2 * (isTransposed ? outer % 8 : k % 8);
    if (isTransposed)
        at += outer / 8 / units * field(16) + k / 8 * field(32) + k % 8 * rowBytes +
              16 * (outer / 8 % units);
    else
        at += outer / 8 * field(32) + outer % 8 * rowBytes + k / 8 * 16;
    at ^= (at >> 7 & (units - 1)) << 4;
    return value(*reinterpret_cast<const T*>(hs_emulated_state.shared + at));
}

template <class T, int Columns, bool ATransposed, bool BTransposed>
struct GroupInstruction {
    static void run(float (&d)[Columns / 8][4], u64 left, u64 right, int isSum) {
        const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp;
        const int row = thread / kWarp % 4 * 16 + lane / 4, column = 2 * (lane % 4);
        float a[2][16];
        for (int i = 0; i < 32; ++i)
            a[i / 16][i % 16] = groupElement<T>(left, ATransposed, row + i / 16 * 8, i % 16);
        for (int j = 0; j < Columns / 8; ++j)
            for (int c = 0; c < 2; ++c) {
                float sums[2] = {isSum != 0 ? d[j][c] : 0.0f, isSum != 0 ? d[j][2 + c] : 0.0f};
                for (int k = 0; k < 16; ++k) {
                    const float b = groupElement<T>(right, BTransposed, 8 * j + column + c, k);
                    sums[0] = fmaf(a[0][k], b, sums[0]);
                    sums[1] = fmaf(a[1][k], b, sums[1]);
                }
                d[j][c] = sums[0];
                d[j][2 + c] = sums[1];
            }
    }
};
#endif

// ---- products of areas -------------------------------------------------------------------------

/// The same as Product for a whole warpgroup: a warp's part is 16 rows and all columns. Between
/// begin() and end() nobody writes to the areas, and the sums are not available.
template <class Math, class A, class B, int TilesN, bool AAlongK, bool BAlongK>
struct GroupProduct;

template <class T, class A, class B, int TilesN, bool AAlongK, bool BAlongK>
struct GroupProduct<HalfMath<T>, A, B, TilesN, AAlongK, BAlongK> : TensorLayout {
    static constexpr int kInner = AAlongK ? A::kInner : A::kOuter;
    static constexpr int kTimes = kInner / HalfMath<T>::kDepth;
    using Instruction = GroupInstruction<T, 8 * TilesN, !AAlongK, !BAlongK>;

    /// Without `adds`, the sums begin with this product.
    HS_D void begin(const char* a, const char* b, bool adds, float (&sums)[1][TilesN][4]) {
        const int group = static_cast<int>(threadIdx.x) / (4 * kWarp);
        u64 left = A::descriptor(a, group * kGroupRows), right = B::descriptor(b, 0);
#if HS_DEVICE
        hold(sums);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        HS_UNROLL
        for (int i = 0; i < kTimes; ++i)
            Instruction::run(sums[0], left + i * A::kNext, right + i * B::kNext,
                             adds || i > 0 ? 1 : 0);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
        hs_emulated::meetGroup(__LINE__);
        begun = {left, right, adds};
#endif
    }
    HS_D void end(float (&sums)[1][TilesN][4]) {
#if HS_DEVICE
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        hold(sums);
#else
        for (int i = 0; i < kTimes; ++i)
            Instruction::run(sums[0], begun.left + i * A::kNext, begun.right + i * B::kNext,
                             begun.adds || i > 0 ? 1 : 0);
        hs_emulated::meetGroup(__LINE__);
#endif
    }

private:
#if HS_DEVICE
    /// Keeps everything that uses the sums from being moved past it.
    static HS_D void hold(float (&sums)[1][TilesN][4]) {
        HS_UNROLL
        for (int j = 0; j < TilesN; ++j)
            HS_UNROLL
        for (int e = 0; e < 4; ++e)
            asm volatile("" : "+f"(sums[0][j][e])::"memory");
    }
#else
    struct {
        u64 left = 0, right = 0;
        bool adds = false;
    } begun;
#endif
};

} // namespace hs
