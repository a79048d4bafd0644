// Applies autocast to the inputs of a function while the function emits its nodes.
#pragma once

#include "engine/autocast/cast_policy.h"
#include "engine/ops/builder.h"

#include <span>
#include <string_view>
#include <vector>

namespace halfscope {

/// Applies the builder's policy to the inputs of op `name`. Inputs of F32, F16 or BF16 are
/// eligible; F64, integers and masks pass unchanged. Returns the inputs, cast when the rule says
/// so, each cast with the rule as its cause, and records the decision in the builder. Without a
/// policy the inputs come back unchanged. Throws InputError for a banned op and, under Widest, for
/// a foreign low dtype.
std::vector<NodeId> castInputs(Builder&, std::string_view name, std::span<const NodeId> in);

} // namespace halfscope
