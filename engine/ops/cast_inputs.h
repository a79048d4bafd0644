// What autocast does to the inputs of a function while it emits its nodes.
#pragma once

#include "engine/autocast/cast_policy.h"
#include "engine/ops/builder.h"

#include <span>
#include <string_view>
#include <vector>

namespace halfscope {

/// Applies the builder's policy to the inputs of op `name`. Eligible is F32, F16 or BF16; F64,
/// integers and masks pass. Returns the inputs, cast where the rule says so, each cast with the
/// rule as its cause, and tells the builder what it decided. Without a policy the inputs come back
/// unchanged. Throws InputError for a banned op and for Widest with a foreign low dtype.
std::vector<NodeId> castInputs(Builder&, std::string_view name, std::span<const NodeId> in);

} // namespace halfscope
