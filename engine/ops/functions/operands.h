// What the functions share: promotion, axes, and operands brought to the dtype that a composite
// computes in. For the files of this folder, not for callers of engine/ops/functional.h.
#pragma once

#include "engine/ops/cast_inputs.h"

#include <string>
#include <vector>

namespace halfscope::fn::detail {

/// PyTorch's promotion: the higher category wins, then the wider type; two different 16-bit types
/// meet in F32. A rank-0 operand does not widen a tensor of its own category.
DType promoted(const NodeType& a, const NodeType& b);
/// The common shape, or std::logic_error that names the function.
Shape commonShape(const Builder&, std::string_view name, NodeId x, NodeId y);
/// Integers and masks as F32.
NodeId asFloat(Builder&, NodeId x);
/// x as it is computed with: F32, unless it is F64.
NodeId widened(Builder&, NodeId x);

Shape allAxes(int rank);
/// Ascending and without signs; none means all.
Shape sortedAxes(std::string_view name, const Shape& axes, int rank);
/// The shape without the axes.
Shape keptShape(const Shape& shape, const Shape& axes);

/// What a function does with inputs of several dtypes where no autocast rule makes them one.
enum class Mixing : uint8_t {
    Promote, ///< to the wider one
    Refuse   ///< InputError, as PyTorch's kernels do
};
/// Throws InputError unless all have one dtype; kNoNode is left out.
void requireOneDType(const Builder&, std::string_view name, std::span<const NodeId> in);

/// The inputs of a composite after autocast, all in F32 (F64 where one is): it computes in that and
/// rounds its result once.
class Operands {
public:
    Operands(Builder&, std::string_view name, std::span<const NodeId> in,
             Mixing mixing = Mixing::Promote);
    NodeId operator[](size_t i) const { return m_in[i]; }
    DType dtype() const { return m_dtype; } ///< of the result
    NodeId result(Builder&, NodeId y) const;

private:
    std::string m_name;
    std::vector<NodeId> m_in;
    DType m_dtype = DType::F32;
};

/// For the inside of a function: autocast is off where the policy lists it, as PyTorch leaves the
/// dispatch key out; an unlisted one is the sum of its parts, which ask for themselves.
const CastPolicy* innerPolicy(const Builder&, std::string_view name);

/// x minus its mean over ascending `axes`, with the mean of the squares of that: the two-pass
/// variance. Axes stay in mean and variance.
struct Centred {
    NodeId mean, centred, variance;
};
Centred centredOver(Builder&, NodeId x, const Shape& axes);

/// y plus a bias (extent of the axis) along `axis`, in y's dtype: one rounding of its own, as an
/// unfused bias has. kNoNode adds nothing.
NodeId withBias(Builder&, NodeId y, NodeId bias, int axis);

/// sqrt for deviations and distances, which have no gradient at 0 in PyTorch, whatever comes in.
NodeId rootOf(Builder&, NodeId squares);
/// The norm of wide x over ascending axes, which stay. At 0 it multiplies the gradient by 0, so
/// that inf and NaN stay visible.
NodeId normOver(Builder&, NodeId x, const Shape& axes);

} // namespace halfscope::fn::detail
