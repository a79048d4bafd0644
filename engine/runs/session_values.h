// Pictures as blobs of a session's file.
#pragma once

#include "engine/io/picture.h"

#include <cstddef>
#include <span>
#include <vector>

namespace halfscope {

/// Returns a picture as bytes: three int32, the values in this machine's byte order, and the
/// caption.
std::vector<std::byte> packed(const Picture&);
/// Returns the picture of these bytes; its width is 0 when packed() did not make them.
Picture unpackedPicture(std::span<const std::byte>);

} // namespace halfscope
