// Pictures as blobs of a session's file.
#pragma once

#include "engine/io/picture.h"

#include <cstddef>
#include <span>
#include <vector>

namespace halfscope {

/// Three int32, the values, in this machine's byte order, and the caption.
std::vector<std::byte> packed(const Picture&);
/// No width for bytes that packed() did not make.
Picture unpackedPicture(std::span<const std::byte>);

} // namespace halfscope
