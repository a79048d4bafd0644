// Images by planes, and by blocks of channels as a library's kernels want them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halfscope {

/// Samples of `channels` planes with `places` pixels each. By blocks, the pixels of `block`
/// channels lie side by side: (samples, channels / block, places, block). With one block for all
/// channels, they come last. `block` divides `channels`; elements have 2 or 4 bytes.
struct ChannelBlocks {
    int64_t samples, channels, places, block;
    size_t elementBytes;
};

/// Moves samples; `from` and `to` do not overlap.
void planesToBlocks(const ChannelBlocks&, const void* from, void* to);
void blocksToPlanes(const ChannelBlocks&, const void* from, void* to);

} // namespace halfscope
