// What the functions share: promotion, axes, and operands cast to the dtype in which a composite
// computes. For the files of this folder, not for callers of engine/ops/functional.h.
#pragma once

#include "engine/ops/cast_inputs.h"
#include "engine/ops/fp8.h"

#include <optional>
#include <string>
#include <vector>

namespace halfscope::fn::detail {

/// Returns PyTorch's promotion: the higher category wins, then the wider type; two different 16-bit
/// types meet in F32. A rank-0 operand does not widen a tensor of its own category.
DType promoted(const NodeType& a, const NodeType& b);
/// Returns the common shape; throws a std::logic_error that names the function when there is none.
Shape commonShape(const Builder&, std::string_view name, NodeId x, NodeId y);
/// Casts integers and masks to F32.
NodeId asFloat(Builder&, NodeId x);
/// Casts x to the dtype for computing: F32, unless it is F64.
NodeId widened(Builder&, NodeId x);

/// Returns the axes ascending and non-negative; an empty list means all.
Shape sortedAxes(std::string_view name, const Shape& axes, int rank);
/// Returns the shape without the axes.
Shape keptShape(const Shape& shape, const Shape& axes);

/// What a function does with inputs of several dtypes when no autocast rule makes them one.
enum class Mixing : uint8_t {
    Promote, ///< casts to the wider one
    Refuse   ///< throws InputError, as PyTorch's kernels do
};
/// Throws InputError unless all have one dtype; kNoNode is ignored.
void requireOneDType(const Builder&, std::string_view name, std::span<const NodeId> in);

/// The inputs of a composite after autocast, all in F32 (in F64 when one of them is): the composite
/// computes in that dtype and rounds its result once.
class Operands {
public:
    Operands(Builder&, std::string_view name, std::span<const NodeId> in,
             Mixing mixing = Mixing::Promote);
    NodeId operator[](size_t i) const { return m_in[i]; }
    DType dtype() const { return m_dtype; } ///< of the result
    /// `as` is the dtype of what the function returns, where it is another one.
    NodeId result(Builder&, NodeId y, std::optional<DType> as = {}) const;

private:
    std::string m_name;
    std::vector<NodeId> m_in;
    DType m_dtype = DType::F32;
};

/// Input, weight and bias of a layer after autocast. Under a policy with FP8, input and weight are
/// rounded to E4M3, and the gradient that reaches their product to E5M2.
class LayerOperands {
public:
    LayerOperands(Builder&, std::string_view name, NodeId x, NodeId weight, NodeId bias);
    NodeId x() const { return m_x; }
    NodeId weight() const { return m_weight; }
    NodeId bias() const { return m_bias; }
    /// Whether there is a bias that the policy wants added before the result's one rounding.
    bool addsBiasFirst() const { return m_addsBiasFirst; }
    bool roundsToFp8() const { return m_fp8.has_value(); }
    /// Returns the product y of the two, before the bias is added, with the rounding of its
    /// gradient.
    NodeId product(Builder&, NodeId y) const;
    /// Adds the bias to y along `axis` and rounds to `type`. This is the only rounding if y is
    /// wider.
    NodeId biased(Builder&, NodeId y, int axis, DType type) const;

private:
    NodeId m_x, m_weight, m_bias;
    bool m_addsBiasFirst = false;
    std::optional<Fp8Scaling> m_fp8;
    std::string m_name, m_rule;
};

/// Returns the policy for the inside of a function. Autocast is off there when the policy lists the
/// function, as PyTorch excludes the dispatch key; an unlisted function is the sum of its parts,
/// which ask for themselves.
const CastPolicy* innerPolicy(const Builder&, std::string_view name);

/// x minus its mean over ascending `axes`, and the mean of that difference's squares: the two-pass
/// variance. The axes stay in mean and variance.
struct Centred {
    NodeId mean, centred, variance;
};
Centred centredOver(Builder&, NodeId x, const Shape& axes);

/// Adds a bias (extent of the axis) to y along `axis`, in y's dtype: this rounds once more, as
/// cuDNN's convolutions do. kNoNode adds nothing.
NodeId withBias(Builder&, NodeId y, NodeId bias, int axis);

/// Returns the square root for deviations and distances, which as in PyTorch have no gradient at 0,
/// whatever gradient comes in.
NodeId rootOf(Builder&, NodeId squares);
/// Returns the norm of wide x over ascending axes, which stay. At 0 it multiplies the gradient by
/// 0, so that inf and NaN stay visible.
NodeId normOver(Builder&, NodeId x, const Shape& axes);

} // namespace halfscope::fn::detail
