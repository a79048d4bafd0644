// The tensor cores' instructions as functions of one warp, and their exact emulation. Products of
// 16-bit and of TF32 values are exact in f32; the emulator adds them in ascending order of the
// inner index with one rounding each, while the hardware has an order and a rounding of its own
// inside a step.
#pragma once

namespace hs {

/// Returns two values in the storage T, the first one in the low half.
template <class T>
HS_D u32 pack2(float low, float high) {
    return u32{stored<T>(low).bits} | u32{stored<T>(high).bits} << 16;
}
#if HS_DEVICE && __CUDA_ARCH__ >= 800
template <>
HS_D u32 pack2<F16>(float low, float high) {
    u32 word;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
}
template <>
HS_D u32 pack2<BF16>(float low, float high) {
    u32 word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
}
#endif
template <class T>
HS_D float half2At(u32 word, int i) {
    return value(T{static_cast<u16>(i == 0 ? word & 0xFFFFu : word >> 16)});
}

/// Returns word number i of a pack of 16-bit values: elements 2 i and 2 i + 1.
HS_D u32 wordIn(u32 unit, int) { return unit; }
HS_D u32 wordIn(Words2 unit, int i) { return i % 2 == 0 ? unit.x : unit.y; }
HS_D u32 wordIn(Words4 unit, int i) {
    return i % 4 < 2 ? (i % 4 == 0 ? unit.x : unit.y) : (i % 4 == 2 ? unit.z : unit.w);
}
template <class T, int V>
HS_D u32 wordOf(const Pack<T, V>& pack, int i) {
    return wordIn(pack.units[0], i); // up to 8 values are one unit
}

/// Adds two pairs at once. Rounding the f32 sum of two 16-bit values gives the same bits as
/// rounding the exact sum: 24 bits are at least twice the 11 (or 8) and 2 more.
template <class T>
HS_D u32 addPairs(u32 a, u32 b) {
    return pack2<T>(half2At<T>(a, 0) + half2At<T>(b, 0), half2At<T>(a, 1) + half2At<T>(b, 1));
}
#if HS_DEVICE
template <>
HS_D u32 addPairs<F16>(u32 a, u32 b) {
    u32 sum;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}
#endif
#if HS_DEVICE && __CUDA_ARCH__ >= 800
template <>
HS_D u32 addPairs<BF16>(u32 a, u32 b) {
    u32 sum;
    constexpr u32 kOnes = 0x3F803F80u; // a * 1 + b, because capability 8 has no plain addition
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(kOnes), "r"(b));
    return sum;
}
#endif

/// Rounds f32 to 11 significant bits, to nearest even, as cpu/tf32 rounds operands; inf and NaN
/// stay.
HS_D u32 tf32Bits(float x) {
    const u32 bits = bitsOf(x);
    if ((bits & 0x7F800000u) == 0x7F800000u) return bits;
    return (bits + 0xFFFu + ((bits >> 13) & 1u)) & ~0x1FFFu;
}

#if !HS_DEVICE
struct Row16 {
    const void* at;
};
struct Fragments {
    u32 a[4];
    u32 b[2];
};
#endif

/// Loads four 8x8 matrices of 16-bit elements from shared memory: lane l names the 16-byte row l %
/// 8 of matrix l / 8. words[i] of lane l gets elements (l / 4, 2 (l % 4)) and its right neighbour
/// of matrix i; with Transposed, of its transpose.
template <bool Transposed>
HS_D void loadMatrices(u32 (&words)[4], const void* row) {
#if HS_DEVICE
    const u32 at = static_cast<u32>(__cvta_generic_to_shared(row));
    if (Transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "r"(at)
                     : "memory");
#else
    const auto rows = hs_emulated::gather(kAllLanes, Row16{row}, __LINE__);
    const int lane = hs_emulated::lane(), outer = lane / 4, inner = 2 * (lane % 4);
    for (int i = 0; i < 4; ++i) {
        u16 pair[2];
        for (int j = 0; j < 2; ++j) {
            const int r = Transposed ? inner + j : outer, c = Transposed ? outer : inner + j;
            pair[j] = static_cast<const u16*>(rows[8 * i + r].at)[c];
        }
        words[i] = u32{pair[0]} | u32{pair[1]} << 16;
    }
#endif
}

#if !HS_DEVICE
/// Computes d += a b for all four elements of a lane; wide(word, i) is the i-th of the K / 8 /
/// PerWord values that a lane holds of one row or column.
template <int Depth, class Wide>
inline void emulatedMma(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1, Wide wide) {
    const auto lanes =
        hs_emulated::gather(kAllLanes, Fragments{{a[0], a[1], a[2], a[3]}, {b0, b1}}, __LINE__);
    const int lane = hs_emulated::lane(), group = lane / 4, four = lane % 4;
    constexpr int kPerWord = Depth / 8; // f16: two neighbours in a word; tf32: one
    constexpr int kHalf = 4 * kPerWord; // inner extent that one word of the four lanes covers
    for (int k = 0; k < Depth; ++k) {
        const int high = k / kHalf, from = k % kHalf / kPerWord, element = k % kPerWord;
        const Fragments rows = lanes[4 * group + from];
        const float top = wide(rows.a[2 * high], element);
        const float bottom = wide(rows.a[2 * high + 1], element);
        for (int j = 0; j < 2; ++j) {
            const float right = wide(lanes[4 * (2 * four + j) + from].b[high], element);
            d[j] = fmaf(top, right, d[j]);
            d[2 + j] = fmaf(bottom, right, d[2 + j]);
        }
    }
}
#endif

/// The rows and columns of lane 4 g + t in results of products, in which two columns at a time are
/// neighbours, as in multiply's d.
struct TensorLayout {
    static HS_D int rowOf(int i, int g) { return 8 * i + g; }
    static HS_D int columnOf(int c, int t) { return 8 * (c / 2) + 2 * t + c % 2; }
};

/// Computes d (16, 8) += a (16, 16) b (16, 8) in f32, with operands in F16 or BF16. With lane = 4 g
/// + t: d holds (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1); a the pairs at (g, 2t), (g + 8,
/// 2t), (g, 2t + 8), (g + 8, 2t + 8); b those at (2t, g), (2t + 8, g), neighbours along the inner
/// axis.
template <class T>
HS_D void multiply(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1);

template <>
HS_D void multiply<F16>(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
#if HS_DEVICE && __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#elif HS_DEVICE
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "
                 "{%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b0));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "
                 "{%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[2]), "r"(a[3]), "r"(b1));
#else
    emulatedMma<16>(d, a, b0, b1, [](u32 word, int i) { return half2At<F16>(word, i); });
#endif
}

// bf16 and TF32 products need capability 8.0: no text with them is made for lower ones
#if !HS_DEVICE || __CUDA_ARCH__ >= 800
template <>
HS_D void multiply<BF16>(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
#if HS_DEVICE
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    emulatedMma<16>(d, a, b0, b1, [](u32 word, int i) { return half2At<BF16>(word, i); });
#endif
}

/// Computes d (16, 8) += a (16, 8) b (8, 8), with operands rounded by tf32Bits: a at (g, t), (g +
/// 8, t), (g, t + 4), (g + 8, t + 4); b at (t, g), (t + 4, g).
HS_D void multiplyTf32(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
#if HS_DEVICE
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    emulatedMma<8>(d, a, b0, b1, [](u32 word, int) { return floatOf(word); });
#endif
}
#endif

} // namespace hs
