// Pictures as blobs of a session's file.
#pragma once

#include "engine/io/picture.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Returns a picture as bytes: width, height, the negative number of channels less 16, and the size
/// of what follows, each an int32; then differences of the values, byte by byte of their weight,
/// packed by zlib; and the caption.
std::vector<std::byte> packed(const Picture&);
/// Returns the picture of these bytes; its width is 0 when packed() did not make them. Version 2
/// packed the values themselves, in this machine's byte order, behind the negative number of
/// channels. Version 1 packed nothing: three int32, of which the channels are positive, the values,
/// and the caption.
Picture unpackedPicture(std::span<const std::byte>);
/// Whether these are the bytes of a picture without width, of which there is nothing to see.
bool isPackedEmpty(std::span<const std::byte>);
/// Returns the caption alone, which needs no unpacking; empty for bytes of no picture.
std::string packedCaption(std::span<const std::byte>);

} // namespace halfscope
