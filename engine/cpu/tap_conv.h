// Convolutions with few taps, as in a first layer, on one thread. A library's kernels keep the
// channels of an image in vectors, which one channel leaves almost empty, and im2col writes more
// than it computes with. Here a vector holds neighbouring columns of the output, for which a tap
// reads neighbouring pixels of the padded image.
#pragma once

#include "engine/core/vector_set.h"
#include "engine/cpu/conv_plan.h"
#include "engine/graph/op.h"

#include <vector>

namespace halfscope {

/// The most taps, which are a group's channels by the kernel's height by its width.
inline constexpr int64_t kFewTaps = 32;
/// The lanes in which products are added up for a weight's gradient.
inline constexpr int64_t kTapLanes = 16;

/// The sizes of one sample for the kernels.
struct TapShape {
    int64_t outputs, taps;
    int64_t rows, columns; ///< of an output
    int64_t pitch;         ///< floats from a row of the image to the next
    const int64_t* offsets;
};

/// Whether it computes this product of floats: with few taps and rows that fill vectors, on a
/// processor that has them. Conv2dInputGrad is computed as ConvPlan::mirrored(). Small products,
/// whose bits are to be the same on every processor, are left to small_gemm.h.
bool isTapConv(Op, const ConvPlan&);

/// One group of a convolution: its channels are all that it knows, and everything is about one
/// sample. So one group after the other is in L1. Each sum is taken in an order that depends only
/// on the sizes and the width of the processor's vectors.
class TapConv {
public:
    /// The set is not Portable, and this machine has it.
    explicit TapConv(const ConvPlan&, VectorSet = usedVectorSet());

    /// The floats of an image that is laid out for the kernels: padded, and with columns and rows
    /// that are a stride apart side by side.
    int64_t imageFloats() const { return m_imageFloats; }
    /// Makes room for images, which are laid out there one after the other: they share the padding.
    void clear(float* laidOut) const;
    void layOut(const float* image, float* laidOut) const;

    /// Computes y (o, oh, ow) from the laid out image and the weight (o, taps).
    void forward(const float* laidOut, const float* weight, float* y) const;

    /// The floats of the sums for the weight's gradient: kTapLanes for each element.
    int64_t sumFloats() const { return m_plan.o * m_plan.taps() * kTapLanes; }
    /// Adds a sample's products to them.
    void addWeightGrad(const float* laidOut, const float* dy, float* sums) const;
    /// Returns the sum of the lanes of one element.
    static float joined(const float* lanes);

private:
    TapShape shape() const;
    ConvPlan m_plan;
    VectorSet m_set;
    int64_t m_rows, m_pitch; ///< of a part of the laid out image, which has one for each phase
    int64_t m_imageFloats;
    std::vector<int64_t> m_offsets; ///< by tap: of the pixel that it has for the first output
};

// One for each compiled file.
void copyRowsAvx2(const float* from, int64_t rows, int64_t columns, float* to, int64_t pitch);
void copyRowsAvx512(const float* from, int64_t rows, int64_t columns, float* to, int64_t pitch);
void tapForwardAvx2(const TapShape&, const float* image, const float* weight, float* y);
void tapForwardAvx512(const TapShape&, const float* image, const float* weight, float* y);
void addTapProductsAvx2(const TapShape&, const float* image, const float* dy, float* sums);
void addTapProductsAvx512(const TapShape&, const float* image, const float* dy, float* sums);

} // namespace halfscope
