// The operations of the graph as data: the Op enum and the attributes that a node carries. What an
// op means is in its row (engine/ops/op_info.h).
#pragma once

#include "engine/core/dtype.h"
#include "engine/core/error.h"
#include "engine/core/fp8.h"
#include "engine/core/shape.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace halfscope {

using NodeId = int32_t;
inline constexpr NodeId kNoNode = -1;

enum class Op : uint8_t {
    // leaves
    Input,
    State,
    Constant,
    Iota,
    // elementwise, one input
    Neg,
    Exp,
    Expm1,
    Log,
    Log1p,
    Sqrt,
    Rsqrt,
    Reciprocal,
    Tanh,
    Sigmoid,
    Relu,
    Gelu,
    Silu,
    Softplus,
    Sin,
    Cos,
    Abs,
    Sign,
    Erf,
    Erfinv,
    Tan,
    Asin,
    Acos,
    Sinh,
    Cosh,
    Log10,
    Log2,
    Floor,
    Ceil,
    Round,
    Trunc,
    Clamp,
    IsFinite,
    LogicalNot,
    Cast,
    StopGradient,
    // elementwise, two and three inputs
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Atan2,
    Maximum,
    Minimum,
    Less,
    LessEqual,
    Equal,
    NotEqual,
    LogicalAnd,
    LogicalOr,
    Where,
    // rounding to FP8
    QuantizeFp8,
    QuantizeGradient,
    // contractions
    Matmul,
    Conv2d,
    Conv2dInputGrad,
    Conv2dWeightGrad,
    // reductions, which keep reduced axes as extent 1
    Sum,
    Mean,
    ReduceMax,
    ReduceMin,
    Prod,
    // running totals along an axis
    Cumsum,
    Cumprod,
    // movement
    Reshape,
    Transpose,
    Slice,
    Pad,
    Concat,
    Expand,
    Gather,
    ScatterAdd,
    // pooling
    MaxPool2dIndex,
    AvgPool2d,
    AvgPool2dGrad,
    // random numbers
    Random,
    // update
    CountNonFinite,
    ScalerUpdate,
};
inline constexpr int kOpCount = static_cast<int>(Op::ScalerUpdate) + 1;

/// How an op computes, whatever it stores. TF32 first rounds f32 operands to 11 significand bits.
enum class MathMode : uint8_t { F32, TF32, F32FromHalf };

struct NoAttrs {
    bool operator==(const NoAttrs&) const = default;
};
/// Constant: the value of every element.
struct ConstantAttrs {
    double value = 0;
    bool operator==(const ConstantAttrs&) const = default;
};
/// Cast: the dtype of the result.
struct CastAttrs {
    DType to = DType::F32;
    bool operator==(const CastAttrs&) const = default;
};
/// Clamp: lower and upper bound.
struct RangeAttrs {
    double low = 0, high = 0;
    bool operator==(const RangeAttrs&) const = default;
};
/// Matmul: op(a) (.., m, k) times op(b) (.., k, n), plus a bias (n) where there is a third operand,
/// added before the result is rounded to storage; a transpose swaps the last two axes. A wide
/// product of 16-bit operands is stored in f32.
struct MatmulAttrs {
    bool transposeA = false, transposeB = false, wide = false;
    bool operator==(const MatmulAttrs&) const = default;
};
/// Convolution family: image (n, c, h, w), weight (o, c / groups, kh, kw), output (n, o, oh, ow).
/// The taps of a kernel are `dilation` pixels apart, and each of `groups` runs of output channels
/// sees its own run of image channels. `target` is the part of the result's spatial size (h, w)
/// that the inputs alone do not determine: the image for Conv2dInputGrad, the kernel for
/// Conv2dWeightGrad; empty for Conv2d. A wide result of 16-bit operands is stored in f32. With
/// channels last, the image is (n, h, w, c), or the output (n, oh, ow, o); for the CPU alone
/// (engine/passes/channels_last.h).
struct ConvAttrs {
    std::array<int64_t, 2> stride{1, 1}, padding{0, 0};
    Shape target{};
    std::array<int64_t, 2> dilation{1, 1};
    int64_t groups = 1;
    bool wide = false;
    bool imageLast = false, outputLast = false;
    bool operator==(const ConvAttrs&) const = default;
};
/// Pooling windows (h, w). `target` is the image size for AvgPool2dGrad, otherwise empty. Padding
/// counts as zeros in averages (PyTorch's count_include_pad) and never wins a maximum. With
/// channels last, image and result are (n, h, w, c); for the CPU alone.
struct PoolAttrs {
    std::array<int64_t, 2> kernel{1, 1}, stride{1, 1}, padding{0, 0};
    Shape target{};
    bool channelsLast = false;
    bool operator==(const PoolAttrs&) const = default;
};
/// Reductions: the axes, ascending. Transpose: the permutation (output axis i is input axis
/// axes[i]).
struct AxesAttrs {
    Shape axes;
    bool operator==(const AxesAttrs&) const = default;
};
/// Reshape, Expand: only the result's shape.
struct ShapeAttrs {
    Shape shape;
    bool operator==(const ShapeAttrs&) const = default;
};
/// Slice: for each axis, begin (included), end (excluded) and step >= 1.
struct SliceAttrs {
    Shape begin, end, step;
    bool operator==(const SliceAttrs&) const = default;
};
/// Pad: the number of elements of `value` before and after each axis, and `between` its elements
/// (for the gradient of a slice with a step).
struct PadAttrs {
    Shape before, after, between;
    double value = 0;
    bool operator==(const PadAttrs&) const = default;
};
/// Concat: the axis. Gather: out[.., i, ..] = x[.., index[.., i, ..], ..] along the axis
/// (torch.gather). ScatterAdd: the inverse sum into an axis of `extent` elements. Iota: the axis
/// along which values count 0, 1, ...
struct AxisAttrs {
    int axis = 0;
    int64_t extent = 0;
    bool operator==(const AxisAttrs&) const = default;
};

/// Cumsum, Cumprod: the axis, and whether the totals run from its end.
struct ScanAttrs {
    int axis = 0;
    bool reverse = false;
    bool operator==(const ScanAttrs&) const = default;
};
/// Random: the result's shape, the seed of the run and the node's own stream number (1 to 2^32 -
/// 1).
struct RandomAttrs {
    Shape shape;
    uint64_t seed = 0, stream = 1;
    bool operator==(const RandomAttrs&) const = default;
};

/// QuantizeFp8: the format. Its second operand is the greatest magnitude of the tensor, from which
/// the scale follows (fp8ScaleExponent).
struct Fp8Attrs {
    Fp8Format format = Fp8Format::E4M3;
    bool operator==(const Fp8Attrs&) const = default;
};
/// QuantizeGradient: how the gradient is rounded.
struct Fp8GradientAttrs {
    Fp8Format format = Fp8Format::E5M2;
    Fp8Scaling scaling = Fp8Scaling::Dynamic;
    bool operator==(const Fp8GradientAttrs&) const = default;
};

using Attrs = std::variant<NoAttrs, ConstantAttrs, RangeAttrs, MatmulAttrs, ConvAttrs, PoolAttrs,
                           AxesAttrs, ShapeAttrs, SliceAttrs, PadAttrs, AxisAttrs, CastAttrs,
                           ScanAttrs, RandomAttrs, Fp8Attrs, Fp8GradientAttrs>;

/// Whether an image or a result has its channels last.
inline bool hasChannelsLast(const Attrs& attrs) {
    if (const auto* conv = std::get_if<ConvAttrs>(&attrs))
        return conv->imageLast || conv->outputLast;
    const auto* pool = std::get_if<PoolAttrs>(&attrs);
    return pool != nullptr && pool->channelsLast;
}

/// The shape and dtype of a node's value.
struct NodeType {
    Shape shape;
    DType dtype = DType::F32;
};

/// Returns the attributes that an op's rule works with; throws std::logic_error when the node
/// carries others.
template <class T>
const T& attrsOf(const Attrs& attrs) {
    const T* held = std::get_if<T>(&attrs);
    require(held != nullptr, "carries the attributes of another op");
    return *held;
}

} // namespace halfscope
