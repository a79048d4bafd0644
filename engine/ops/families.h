// The families of op rows. Each file in engine/ops defines one list; engine/ops/op_table.cpp joins
// them into the table that infoOf reads, and refuses a missing or duplicate row.
#pragma once

#include "engine/core/error.h"
#include "engine/ops/builder.h"
#include "engine/ops/op_info.h"

#include <span>
#include <stdexcept>

namespace halfscope {

std::span<const OpInfo> leafOps();        ///< Input, State, Constant, Iota
std::span<const OpInfo> elementwiseOps(); ///< Neg to Where
std::span<const OpInfo> fp8Ops();         ///< QuantizeFp8, QuantizeGradient
std::span<const OpInfo> contractionOps(); ///< Matmul and the convolution family
std::span<const OpInfo> reduceOps();      ///< Sum, Mean, ReduceMax, ReduceMin, Prod
std::span<const OpInfo> scanOps();        ///< Cumsum, Cumprod
std::span<const OpInfo> movementOps();    ///< Reshape to ScatterAdd
std::span<const OpInfo> poolOps();        ///< MaxPool2dIndex, AvgPool2d, AvgPool2dGrad
std::span<const OpInfo> randomOps();      ///< Random
std::span<const OpInfo> updateOps();      ///< CountNonFinite, ScalerUpdate

/// The fold of ops that change nothing when the shape stays the same.
inline std::optional<NodeId> foldSameShape(const FoldArgs& a) {
    if (a.b.shapeOf(a.in[0]) == a.type.shape) return a.in[0];
    return std::nullopt;
}

/// Returns the Philox stream of a random node at one value of its counter.
uint64_t randomStream(const RandomAttrs&, double counter);

/// Returns what a shape rule said against a node, without the prefix that failInvariant adds, so
/// that the caller can name the node first.
inline std::string refusalOf(const std::logic_error& error) {
    constexpr std::string_view kPrefix = "broken invariant: ";
    const std::string_view text = error.what();
    return std::string(text.starts_with(kPrefix) ? text.substr(kPrefix.size()) : text);
}

} // namespace halfscope
