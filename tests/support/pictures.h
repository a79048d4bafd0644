// Pictures for the tests of widgets that show them.
#pragma once

#include "engine/io/picture.h"

#include <cstddef>
#include <vector>

namespace halfscope {

/// Returns a picture in which every pixel differs from its neighbours.
inline Picture pattern(int width, int height, int channels) {
    Picture picture{width, height, channels, {}};
    for (int i = 0; i < width * height * channels; ++i)
        picture.values.push_back(static_cast<float>((i * 37) % 256) / 255.0f);
    return picture;
}

inline Picture constant(int side, float value) {
    return {side, side, 1,
            std::vector<float>(static_cast<size_t>(side) * static_cast<size_t>(side), value)};
}

} // namespace halfscope
