// Convolutions with 1x1 kernels as products of the weight and the planes of channels as they are.
// The planes are packed as panels (panel_gemm.h), or as panels of pairs of bfloat16 (pair_gemm.h),
// a few places at a time. The library's kernels want channels in vectors, and the planes would have
// to be brought into that order and back.
#pragma once

#include "engine/cpu/conv_plan.h"
#include "engine/graph/op.h"

namespace halfscope {

/// One of Conv2d, Conv2dInputGrad and Conv2dWeightGrad. How it is cut depends only on the sizes, so
/// any number of threads gives the same bits.
class PointwiseConv {
public:
    /// Whether it computes the convolution: on processors with panels, with planes that fill some,
    /// and not for small products (small_gemm.h), several groups or TF32.
    static bool takes(Op, const ConvPlan&);

    PointwiseConv(Op, const ConvPlan&);
    /// The floats of scratch.
    int64_t floats(int threads) const { return m_shared + threads * m_perThread; }
    void run(const CpuCall&) const;

private:
    void planProduct();
    void planWeightGrad();
    int prepareWeight(const CpuCall&) const;
    void product(const CpuCall&, int64_t unit, int leastOfWeight, float* area) const;
    void packPlanes(const CpuCall&, int64_t first, int64_t depth, int64_t count, float* wide,
                    float* panels) const;
    void runWeightGrad(const CpuCall&) const;
    void addUnit(const CpuCall&, int64_t unit, bool accumulate, float* area, float* sums) const;

    Op m_op;
    ConvPlan m_plan;
    bool m_low;   ///< operands are widened or packed as pairs
    bool m_pairs; ///< of bfloat16
    // A product computes m_to channels of some places from m_from channels.
    int64_t m_from = 0, m_to = 0;
    int64_t m_places = 0, m_pieces = 0; ///< places of a unit, and units of a sample
    int64_t m_parts = 0;                ///< partial sums of a weight's gradient
    int64_t m_shared = 0, m_perThread = 0;
    int64_t m_wide = 0, m_panels = 0; ///< parts of a thread's floats; the rest are the result
};

} // namespace halfscope
