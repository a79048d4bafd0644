// Plain copies of bytes, for states whose next value was made elsewhere. Device and emulator code;
// transposed and strided copies are in movement.cuh.
#pragma once

namespace hs {

/// Copies the share of thread `index` out of `count` threads that copy `bytes` bytes together. Both
/// places are at multiples of 16 bytes and do not overlap.
HS_D void copyBytes(char* to, const char* from, i64 bytes, int index, int count) {
    const i64 packs = bytes / 16;
    for (i64 i = index; i < packs; i += count)
        reinterpret_cast<Words4*>(to)[i] = reinterpret_cast<const Words4*>(from)[i];
    for (i64 i = packs * 16 + index; i < bytes; i += count)
        to[i] = from[i];
}

} // namespace hs
