// Each block of channels is a matrix that is transposed.
#include "engine/cpu/channel_blocks.h"

#include "engine/core/error.h"
#include "engine/cpu/transpose_block.h"

namespace halfscope {
namespace {

/// Transposes matrices (rows, columns), one after another.
template <class Element>
void transposeAll(int64_t matrices, int64_t rows, int64_t columns, const void* from, void* to) {
    for (int64_t i = 0; i < matrices; ++i)
        transpose(static_cast<const Element*>(from) + i * rows * columns, columns, columns, rows,
                  static_cast<Element*>(to) + i * rows * columns, rows);
}

void transposeBlocks(const ChannelBlocks& b, int64_t rows, int64_t columns, const void* from,
                     void* to) {
    require(b.channels % b.block == 0, "channel blocks: they must divide the channels");
    const int64_t matrices = b.samples * (b.channels / b.block);
    if (b.elementBytes == sizeof(uint16_t))
        transposeAll<uint16_t>(matrices, rows, columns, from, to);
    else
        transposeAll<uint32_t>(matrices, rows, columns, from, to);
}

} // namespace

void planesToBlocks(const ChannelBlocks& b, const void* from, void* to) {
    transposeBlocks(b, b.block, b.places, from, to);
}

void blocksToPlanes(const ChannelBlocks& b, const void* from, void* to) {
    transposeBlocks(b, b.places, b.block, from, to);
}

} // namespace halfscope
