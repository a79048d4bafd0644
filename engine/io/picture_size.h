// The size of a picture from the first bytes of its file, without decoding it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace halfscope {

struct PictureSize {
    int64_t width = 0, height = 0; ///< as stored: a camera may have turned the picture
};

/// Returns the size that a PNG or JPEG file says it has; nothing for other files, and for those
/// that cannot be read. Can be cancelled.
std::optional<PictureSize> pictureSize(const std::string& path);

} // namespace halfscope
