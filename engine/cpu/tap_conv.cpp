// Lays images out for convolutions with few taps, and chooses the kernel.
#include "engine/cpu/tap_conv.h"

#include "engine/core/error.h"
#include "engine/cpu/small_gemm.h"

#include <algorithm>
#include <array>

namespace halfscope {

namespace {

/// Narrower rows leave most lanes of a vector empty. With several groups, that is still faster than
/// a small product for each.
constexpr int64_t kFewestColumns = 8;
/// Vectors are loaded whole, beyond the end of the last row.
constexpr int64_t kBehind = 2 * kTapLanes;

bool hasVectors() {
#if defined(HALFSCOPE_X86_GEMM)
    return usedVectorSet() != VectorSet::Portable;
#else
    return false;
#endif
}

} // namespace

bool isTapConv(Op op, const ConvPlan& p) {
    if (op == Op::Conv2dInputGrad) {
        const std::optional<ConvPlan> turned = p.mirrored();
        return turned && isTapConv(Op::Conv2d, *turned);
    }
    return hasVectors() && !p.pointwise() && p.taps() <= kFewTaps &&
           (p.ow >= kFewestColumns || p.groups > 1) &&
           !isSmallGemm({p.o, p.taps(), p.n * p.places()});
}

TapConv::TapConv(const ConvPlan& plan, VectorSet set)
    : m_plan(plan.ofGroup()), m_set(set),
      m_rows(ceilDiv(plan.h + 2 * plan.padding[0], plan.stride[0])),
      m_pitch(ceilDiv(plan.w + 2 * plan.padding[1], plan.stride[1])),
      m_imageFloats(
          alignedFloats(m_plan.c * plan.stride[0] * plan.stride[1] * m_rows * m_pitch + kBehind)) {
    const auto [down, across] = m_plan.stride;
    for (int64_t c = 0; c < m_plan.c; ++c)
        for (int64_t i = 0; i < plan.kh; ++i)
            for (int64_t j = 0; j < plan.kw; ++j) {
                const int64_t y = i * plan.dilation[0], x = j * plan.dilation[1];
                const int64_t phase = (c * down + y % down) * across + x % across;
                m_offsets.push_back((phase * m_rows + y / down) * m_pitch + x / across);
            }
}

void TapConv::clear(float* laidOut) const { std::fill_n(laidOut, m_imageFloats, 0.0F); }

TapShape TapConv::shape() const {
    return {m_plan.o, m_plan.taps(), m_plan.oh, m_plan.ow, m_pitch, m_offsets.data()};
}

#if defined(HALFSCOPE_X86_GEMM)

void TapConv::layOut(const float* image, float* laidOut) const {
    const auto [down, across] = m_plan.stride;
    if (down == 1 && across == 1) {
        const auto copy = m_set >= VectorSet::Avx512 ? copyRowsAvx512 : copyRowsAvx2;
        float* to = laidOut + m_plan.padding[0] * m_pitch + m_plan.padding[1];
        for (int64_t c = 0; c < m_plan.c; ++c, image += m_plan.h * m_plan.w, to += m_rows * m_pitch)
            copy(image, m_plan.h, m_plan.w, to, m_pitch);
        return;
    }
    for (int64_t c = 0; c < m_plan.c; ++c)
        for (int64_t y = 0; y < m_plan.h; ++y, image += m_plan.w) {
            const int64_t row = y + m_plan.padding[0];
            float* const phases =
                laidOut + ((c * down + row % down) * across * m_rows + row / down) * m_pitch;
            for (int64_t x = 0; x < std::min(across, m_plan.w); ++x) {
                const int64_t column = x + m_plan.padding[1];
                float* to = phases + column % across * m_rows * m_pitch + column / across;
                for (int64_t at = x; at < m_plan.w; at += across)
                    *to++ = image[at];
            }
        }
}

void TapConv::forward(const float* laidOut, const float* weight, float* y) const {
    const auto kernel = m_set >= VectorSet::Avx512 ? tapForwardAvx512 : tapForwardAvx2;
    kernel(shape(), laidOut, weight, y);
}

void TapConv::addWeightGrad(const float* laidOut, const float* dy, float* sums) const {
    const auto kernel = m_set >= VectorSet::Avx512 ? addTapProductsAvx512 : addTapProductsAvx2;
    kernel(shape(), laidOut, dy, sums);
}

#else

void TapConv::layOut(const float*, float*) const {
    failInvariant("tap_conv: this program has no vectors for it");
}

void TapConv::forward(const float*, const float*, float*) const {
    failInvariant("tap_conv: this program has no vectors for it");
}

void TapConv::addWeightGrad(const float*, const float*, float*) const {
    failInvariant("tap_conv: this program has no vectors for it");
}

#endif

float TapConv::joined(const float* lanes) {
    std::array<float, kTapLanes> sums;
    std::copy_n(lanes, kTapLanes, sums.begin());
    for (size_t half = kTapLanes / 2; half > 0; half /= 2)
        for (size_t lane = 0; lane < half; ++lane)
            sums[lane] += sums[lane + half];
    return sums[0];
}

} // namespace halfscope
