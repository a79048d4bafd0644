// A convolution, and how the CPU cuts it.
#pragma once

#include "engine/core/dtype.h"
#include "engine/cpu/support.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace halfscope {

inline constexpr int64_t kTileFloats =
    1 << 17;                             ///< of the column matrix of one tile: half a MiB, in L2
inline constexpr int64_t kMaxParts = 16; ///< partial sums of a weight gradient

/// One convolution: image (n, c, h, w), weight (o, c / groups, kh, kw) and output (n, o, oh, ow),
/// any of which may be the result, and how it is cut. The column matrix of a group is (taps,
/// places); those of all groups lie one after the other.
struct ConvPlan {
    int64_t n, c, h, w, o, kh, kw, oh, ow;
    std::array<int64_t, 2> stride, padding;
    DType type; ///< of the operands
    bool tf32;  ///< f32 operands are rounded when they are read
    std::array<int64_t, 2> dilation{1, 1};
    int64_t groups = 1;
    bool direct = true;                         ///< the result is stored in f32, as it is computed
    bool imageLast = false, outputLast = false; ///< (n, h, w, c), (n, oh, ow, o)

    /// Whether neither image nor output has its channels last.
    bool ofPlanes() const { return !imageLast && !outputLast; }

    int64_t image() const { return c * h * w; }
    int64_t groupChannels() const { return c / groups; }
    int64_t groupOutputs() const { return o / groups; }
    int64_t taps() const { return groupChannels() * kh * kw; } ///< that an output sees
    int64_t rows() const { return c * kh * kw; }               ///< of all column matrices
    int64_t places() const { return oh * ow; }
    /// Whether the column matrix is the image itself.
    bool pointwise() const {
        return kh == 1 && kw == 1 && stride[0] == 1 && stride[1] == 1 && padding[0] == 0 &&
               padding[1] == 0;
    }
    int64_t tilePlaces() const {
        const int64_t most = std::max<int64_t>(64, kTileFloats / rows() / 16 * 16);
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

    /// Returns the convolution of one group.
    ConvPlan ofGroup() const {
        ConvPlan one = *this;
        one.c = groupChannels();
        one.o = groupOutputs();
        one.groups = 1;
        return one;
    }

    /// Returns the input gradient as a convolution of the output's gradient with the mirrored
    /// kernel (c, o / groups, kh, kw); nothing where strides leave gaps, or padding cuts the
    /// gradient off.
    std::optional<ConvPlan> mirrored() const {
        ConvPlan turned = *this;
        std::swap(turned.c, turned.o);
        std::swap(turned.h, turned.oh);
        std::swap(turned.w, turned.ow);
        turned.padding = {dilation[0] * (kh - 1) - padding[0], dilation[1] * (kw - 1) - padding[1]};
        const bool fits = stride == std::array<int64_t, 2>{1, 1} && turned.padding[0] >= 0 &&
                          turned.padding[1] >= 0;
        return fits ? std::optional(turned) : std::nullopt;
    }
};

} // namespace halfscope
