// A convolution, and how the CPU cuts it.
#pragma once

#include "engine/core/dtype.h"
#include "engine/cpu/support.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace halfscope {

inline constexpr int64_t kTileFloats =
    1 << 17;                             ///< of the column matrix of one tile: half a MiB, in L2
inline constexpr int64_t kMaxParts = 16; ///< partial sums of a weight gradient

/// One convolution: image (n, c, h, w), weight (o, c, kh, kw) and output (n, o, oh, ow), any of
/// which may be the result, and how it is cut.
struct ConvPlan {
    int64_t n, c, h, w, o, kh, kw, oh, ow;
    std::array<int64_t, 2> stride, padding;
    DType type;
    bool tf32; ///< f32 operands are rounded when they are read

    int64_t image() const { return c * h * w; }
    int64_t taps() const { return c * kh * kw; } ///< rows of the column matrix
    int64_t places() const { return oh * ow; }   ///< columns of the column matrix
    /// Whether the column matrix is the image itself.
    bool pointwise() const {
        return kh == 1 && kw == 1 && stride[0] == 1 && stride[1] == 1 && padding[0] == 0 &&
               padding[1] == 0;
    }
    int64_t tilePlaces() const {
        const int64_t most = std::max<int64_t>(64, kTileFloats / taps() / 16 * 16);
        return std::min(places(), most);
    }
    int64_t tiles() const { return ceilDiv(places(), tilePlaces()); }
    /// Returns the channels of one task of an input gradient, whose column gradients cover a whole
    /// image.
    int64_t tileChannels() const {
        return std::clamp<int64_t>(4 * kTileFloats / (kh * kw * places()), 1, c);
    }
    int64_t parts() const { return std::min(kMaxParts, n * tiles()); }
    int64_t tapParts() const { return std::min(kMaxParts, n); } ///< the same for few taps
};

} // namespace halfscope
