// OpInfo, one row for each op, in which name, flags, shape rule, gradient and reference stand
// together. The rows themselves are in the files of this folder, one for each family of ops.
#pragma once

#include "engine/graph/op.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace halfscope {

class Builder; // engine/ops/builder.h: gradient rules emit with it

/// The kinds of ops that passes tell apart.
enum class OpFlag : uint16_t {
    Elementwise = 1, ///< output index i depends only on input index i: may join a fused loop
    Leaf = 2,        ///< no inputs: its value comes from outside or from attributes
    View = 4,        ///< the same bytes in another shape: never a copy (Reshape)
    StridedRead =
        8, ///< reads its input at strides: may join a fused loop as a load (Expand, Transpose)
    Reduction = 16,  ///< may end a fused loop
    NoGradient = 32, ///< has no gradient by definition: masks, counts, indices
    /// The gradient rule computes in the operands' own dtypes, because it only moves or scales dy
    /// exactly, or because PyTorch's is made of several operations, of which each rounds.
    StoredGradient = 64,
    KeepsPrecision =
        128, ///< the result is an input, its negative, 0 or 1: exact in the inputs' storage
    Transcendental = 256, ///< costs many times as much as an addition
    Cheap = 512,          ///< costs no more than an addition
    Product = 1024, ///< a matrix product or a convolution, in either direction: multiplies many
                    ///< pairs of numbers and adds them up in F32
    ByAxes = 2048,  ///< its attributes say what each axis is for, so that it can be written for
                    ///< images with channels last (engine/passes/channels_last.h)
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

/// The operands of a gradient rule. For ops without StoredGradient all of them are in F32 and the
/// driver casts the results back to each input's dtype, so that a gradient is computed in f32 and
/// rounded once, as in PyTorch's own gradient kernels. Those of rsqrt, expm1, pow and atan2, which
/// PyTorch composes, are rounded once, too: of them layers use pow alone.
struct VjpArgs {
    Builder& b;
    NodeId y;                   ///< the op's own output
    NodeId dy;                  ///< the gradient of the loss with respect to y; shape and dtype of
                                ///< y
    std::span<const NodeId> in; ///< the op's inputs
    const Attrs& attrs;
    std::span<const bool> needed; ///< which inputs need a gradient
    std::span<NodeId> dIn;        ///< result: of the input's shape, or kNoNode when there is none
};

/// A tensor of the reference evaluator: row-major doubles.
struct RefTensor {
    Shape shape;
    std::vector<double> values;
};

/// Returns the result's shape and dtype from the inputs' types; throws std::logic_error with the
/// reason when they do not fit.
using InferFn = NodeType (*)(std::span<const NodeType> in, const Attrs&);
/// A gradient rule. It only emits nodes.
using VjpFn = void (*)(const VjpArgs&);
/// Computes the op in double precision. The caller sets out.shape and sizes out.values.
using ReferenceFn = void (*)(std::span<const RefTensor> in, const Attrs&, RefTensor& out);

/// The operands of a fold, before a node is added.
struct FoldArgs {
    Builder& b;
    Op op;
    std::span<const NodeId> in;
    const Attrs& attrs;
    const NodeType& type; ///< of the result, by the shape rule
};
/// Returns an existing node with the op's value, whatever the values of its inputs, -0, infinities
/// and NaN included; nothing when there is none.
using FoldFn = std::optional<NodeId> (*)(const FoldArgs&);

/// One row for each op. What computes it is in the tables of engine/cpu and engine/cuda.
struct OpInfo {
    Op op;
    std::string_view name; ///< lower case, PyTorch's name when it has one
    int arity;             ///< -1 for any number from 1
    OpFlags flags;
    InferFn infer;
    VjpFn vjp = nullptr;
    ReferenceFn reference = nullptr;
    FoldFn fold = nullptr;
};

/// Returns the row of an op. The table is put together once from the families (op_table.cpp).
const OpInfo& infoOf(Op);
inline std::string_view nameOf(Op op) { return infoOf(op).name; }

} // namespace halfscope
