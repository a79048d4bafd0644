// Uniform random numbers: Philox 4x32-10 by (seed, stream, index), with the bits of
// core/philox.cpp. The low half of the stream is a counter in memory, so that every step draws
// different ones.
#pragma once

namespace hs {
namespace nodes {

HS_D u32 philoxWord(u64 seed, u64 stream, u64 index) {
    u32 c0 = u32(index), c1 = u32(index >> 32), c2 = u32(stream), c3 = u32(stream >> 32);
    u32 k0 = u32(seed), k1 = u32(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const u64 first = u64(0xD2511F53u) * c0, second = u64(0xCD9E8D57u) * c2;
        c0 = u32(second >> 32) ^ c1 ^ k0;
        c1 = u32(second);
        c2 = u32(first >> 32) ^ c3 ^ k1;
        c3 = u32(first);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c0;
}

/// How: Counter (its storage); seed, stream, elements, blocks.
template <class How>
HS_D void uniform(const typename How::Counter* counter, float* out, int block) {
    const u64 stream = How::stream << 32 | u32(static_cast<i64>(wide(*counter)));
    for (i64 i = i64(block) * kThreads + threadIdx.x; i < How::elements;
         i += i64(How::blocks) * kThreads)
        out[i] = static_cast<float>(philoxWord(How::seed, stream, u64(i)) >> 8) * 0x1p-24f;
}

} // namespace nodes
} // namespace hs
