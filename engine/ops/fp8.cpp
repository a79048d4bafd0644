// The ops of FP8: rounding a tensor, and rounding a gradient on its way back. The products of the
// rounded values are ordinary matrix products: scales that are powers of two cancel exactly.
#include "engine/ops/fp8.h"

#include "engine/ops/families.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {

void requireFp8Holder(const NodeType& x) {
    require(isLow(x.dtype) || x.dtype == DType::F32, "wants float32, float16 or bfloat16");
}

NodeType inferQuantize(std::span<const NodeType> in, const Attrs& attrs) {
    attrsOf<Fp8Attrs>(attrs);
    requireFp8Holder(in[0]);
    require(in[0].shape == in[1].shape && in[0].dtype == in[1].dtype,
            "the greatest magnitude must have the operand's shape and dtype: expand it first");
    return in[0];
}

NodeType inferGradient(std::span<const NodeType> in, const Attrs& attrs) {
    attrsOf<Fp8GradientAttrs>(attrs);
    requireFp8Holder(in[0]);
    return in[0];
}

/// Follows the definition, unlike core/fp8.h, which works on bits.
double refQuantized(const Fp8Facts& facts, double x, double amax) {
    const double greatest = static_cast<double>(facts.max), most = std::fabs(amax);
    double power = 0;
    if (std::isfinite(most) && most > 0)
        power = std::clamp(std::floor(std::log2(greatest / most)), -126.0, 126.0);
    return nearestFp8(facts, x * std::exp2(power)) * std::exp2(-power);
}

void refQuantize(std::span<const RefTensor> in, const Attrs& attrs, RefTensor& out) {
    const Fp8Facts facts = factsOf(attrsOf<Fp8Attrs>(attrs).format);
    for (size_t i = 0; i < out.values.size(); ++i)
        out.values[i] = refQuantized(facts, in[0].values[i], in[1].values[i]);
}

void refSame(std::span<const RefTensor> in, const Attrs&, RefTensor& out) {
    out.values = in[0].values;
}

void vjpQuantize(const VjpArgs& v) {
    if (v.needed[0]) v.dIn[0] = v.dy;
}

void vjpGradient(const VjpArgs& v) {
    const auto& how = attrsOf<Fp8GradientAttrs>(v.attrs);
    v.dIn[0] = fp8Rounded(v.b, v.dy, how.format, how.scaling);
}

constexpr OpInfo kRows[] = {
    {Op::QuantizeFp8, "quantize_fp8", 2, OpFlag::Elementwise | OpFlag::StoredGradient,
     inferQuantize, vjpQuantize, refQuantize},
    {Op::QuantizeGradient, "quantize_gradient", 1,
     OpFlag::Elementwise | OpFlag::StoredGradient | OpFlag::Cheap | OpFlag::KeepsPrecision,
     inferGradient, vjpGradient, refSame},
};

} // namespace

std::span<const OpInfo> fp8Ops() { return kRows; }

NodeId fp8Rounded(Builder& b, NodeId x, Fp8Format format, Fp8Scaling scaling) {
    const auto greatest = [&] {
        const Shape all = allAxes(b.shapeOf(x).rank());
        return b.expandLike(b.emit(Op::ReduceMax, {b.unary(Op::Abs, x)}, AxesAttrs{all}), x);
    };
    // the greatest number of the format stands for a scale of 1
    const NodeId amax = scaling == Fp8Scaling::Dynamic
                            ? greatest()
                            : b.constantLike(static_cast<double>(factsOf(format).max), x);
    return b.emit(Op::QuantizeFp8, {x, amax}, Fp8Attrs{format});
}

NodeId withFp8Gradient(Builder& b, NodeId x, Fp8Format format, Fp8Scaling scaling) {
    return b.emit(Op::QuantizeGradient, {x}, Fp8GradientAttrs{format, scaling});
}

} // namespace halfscope
