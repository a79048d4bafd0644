// The operations of the graph: the Op enum, the attributes a node carries, and OpInfo, one row an
// op, in which name, shape rule, gradient, reference and CPU loop stand together (see engine/ops).
#pragma once

#include "engine/core/dtype.h"
#include "engine/core/shape.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace halfscope {

class Builder;
class Graph;
struct Node;

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

/// How an op computes, whatever it stores. TF32 rounds f32 operands to 11
/// significand bits first.
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
/// Matmul: op(a) (.., m, k) times op(b) (.., k, n); a transpose swaps the last two axes.
struct MatmulAttrs {
    bool transposeA = false, transposeB = false;
    bool operator==(const MatmulAttrs&) const = default;
};
/// Convolution family, NCHW images and OIHW weights. `target` is the spatial size (h, w) of the
/// result that the inputs alone do not tell: the image for Conv2dInputGrad, the kernel for
/// Conv2dWeightGrad; empty for Conv2d.
struct ConvAttrs {
    std::array<int64_t, 2> stride{1, 1}, padding{0, 0};
    Shape target;
    bool operator==(const ConvAttrs&) const = default;
};
/// Pooling windows (h, w). `target` is the image size for AvgPool2dGrad, else empty. Padding counts
/// as zeros in averages (PyTorch's count_include_pad) and never wins a maximum.
struct PoolAttrs {
    std::array<int64_t, 2> kernel{1, 1}, stride{1, 1}, padding{0, 0};
    Shape target;
    bool operator==(const PoolAttrs&) const = default;
};
/// Reductions: the axes, ascending. Transpose: the permutation (output axis i is input axis
/// axes[i]).
struct AxesAttrs {
    Shape axes;
    bool operator==(const AxesAttrs&) const = default;
};
/// Reshape, Expand: nothing but the result's shape.
struct ShapeAttrs {
    Shape shape;
    bool operator==(const ShapeAttrs&) const = default;
};
/// Slice: for each axis begin (included), end (excluded), step >= 1.
struct SliceAttrs {
    Shape begin, end, step;
    bool operator==(const SliceAttrs&) const = default;
};
/// Pad: elements of `value` before and after each axis, and `between` its elements (for the
/// gradient of a slice with a step).
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

/// Cumsum, Cumprod: the axis, and whether they run from its end.
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

using Attrs =
    std::variant<NoAttrs, ConstantAttrs, RangeAttrs, MatmulAttrs, ConvAttrs, PoolAttrs, AxesAttrs,
                 ShapeAttrs, SliceAttrs, PadAttrs, AxisAttrs, CastAttrs, ScanAttrs, RandomAttrs>;

/// What kind of op it is, for the passes.
enum class OpFlag : uint16_t {
    Elementwise = 1, ///< output index i depends on input index i alone: may join a fused loop
    Leaf = 2,        ///< no inputs, value comes from outside or from attributes
    View = 4,        ///< same bytes in another shape: never a copy (Reshape)
    StridedRead =
        8, ///< reads its input at strides: may join a fused loop as a load (Expand, Transpose)
    Reduction = 16,  ///< may end a fused loop
    NoGradient = 32, ///< has no gradient by definition: masks, counts, indices
    LinearGradient =
        64, ///< the gradient rule only moves or scales dy exactly: no need to compute it in f32
    KeepsPrecision =
        128, ///< the result is an input, its negative, or 0 or 1: exact in the inputs' storage
    Transcendental = 256, ///< costs many times an addition
};
struct OpFlags {
    uint16_t bits = 0;
    constexpr OpFlags() = default;
    constexpr OpFlags(OpFlag f) : bits(static_cast<uint16_t>(f)) {}
    constexpr bool has(OpFlag f) const { return (bits & static_cast<uint16_t>(f)) != 0; }
    friend constexpr OpFlags operator|(OpFlags a, OpFlags b) {
        OpFlags r;
        r.bits = static_cast<uint16_t>(a.bits | b.bits);
        return r;
    }
};
constexpr OpFlags operator|(OpFlag a, OpFlag b) { return OpFlags(a) | OpFlags(b); }

/// What a node is to be: the result of an op's shape rule.
struct NodeType {
    Shape shape;
    DType dtype = DType::F32;
};

/// The operands of a gradient rule. For ops without LinearGradient all are in F32 already and the
/// driver casts the results back to each input's dtype, so that a gradient is computed in f32 and
/// rounded once, as in PyTorch's own kernels for gradients; gradients that PyTorch composes of
/// several ops round, and overflow, at each of them.
struct VjpArgs {
    Builder& b;
    NodeId y;                   ///< the op's own output
    NodeId dy;                  ///< the gradient of the loss by y, shape and dtype of y
    std::span<const NodeId> in; ///< the op's inputs
    const Attrs& attrs;
    std::span<const bool> needed; ///< which inputs want a gradient
    std::span<NodeId> dIn;        ///< result: shape of the input, or kNoNode for none
};

/// A tensor of the reference evaluator: row-major doubles.
struct RefTensor {
    Shape shape;
    std::vector<double> values;
};

/// The operands of an elementwise CPU loop: n values of each input as f32 (masks as 0 and 1), n
/// results as f32, not yet rounded to storage. out may be in[i].
struct LoopArgs {
    std::array<const float*, 3> in{};
    float* out = nullptr;
    size_t n = 0;
    const Attrs* attrs = nullptr;
};

struct CpuCall; // engine/cpu/cpu_kernels.h

/// Result shape and dtype from the inputs' types; throws std::logic_error with the reason.
using InferFn = NodeType (*)(std::span<const NodeType> in, const Attrs&);
/// The gradient rule. It only emits nodes.
using VjpFn = void (*)(const VjpArgs&);
/// The op in double precision. out.shape is set and out.values sized by the caller.
using ReferenceFn = void (*)(std::span<const RefTensor> in, const Attrs&, RefTensor& out);
using LoopFn = void (*)(const LoopArgs&);
using CpuFn = void (*)(const CpuCall&);

/// One row an op. An elementwise op has a loop; every other op that computes has a cpu kernel.
struct OpInfo {
    Op op;
    std::string_view name; ///< lower case, PyTorch's name where it has one
    int arity;             ///< -1: any number from 1
    OpFlags flags;
    InferFn infer;
    VjpFn vjp = nullptr;
    ReferenceFn reference = nullptr;
    LoopFn loop = nullptr;
    CpuFn cpu = nullptr;
};

/// The row of an op. The table is put together once from the families in engine/ops.
const OpInfo& infoOf(Op);
inline std::string_view nameOf(Op op) { return infoOf(op).name; }

} // namespace halfscope
