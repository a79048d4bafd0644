// How far two pictures are apart, as numbers.
#pragma once

#include "engine/io/picture.h"

#include <cstdint>

namespace halfscope {

struct PictureError {
    bool comparable = false; ///< the pictures have the same shape
    double meanAbsolute = 0, meanSquare = 0;
    int64_t notFinite = 0; ///< values that are left out of both means

    /// Returns the peak signal-to-noise ratio in decibels, for a peak of 1; inf for equal pictures.
    double psnr() const;
};

/// Whether both have the same width, height and channels, and some pixels.
bool sameShape(const Picture& a, const Picture& b);
PictureError errorBetween(const Picture& a, const Picture& b);

} // namespace halfscope
