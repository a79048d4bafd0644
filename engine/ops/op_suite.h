// The functions that PyTorch's recorded autocast tables name, each with inputs of one fixed shape:
// for the test of the tables, for `halfscope-cli verify`, and for gradient checks. Leaves what a
// function does to engine/ops/functional*.h.
#pragma once

#include "engine/ops/cast_inputs.h"

#include <span>
#include <string_view>
#include <vector>

namespace halfscope {

/// One function of the tables. Labels, indices and masks are made by emit; `shapes` are those of
/// the floating-point inputs whose dtypes the tables vary.
struct AutocastCase {
    std::string_view name; ///< as the tables name it
    std::vector<Shape> shapes;
    NodeId (*emit)(Builder&, std::span<const NodeId> in);
};
std::span<const AutocastCase> autocastCases();
/// The case of a name, or nothing.
const AutocastCase* autocastCase(std::string_view name);

/// The policy of a table: "cuda_float16", "cuda_bfloat16", "cpu_bfloat16" or "cpu_float16"; nothing
/// for any other name.
std::optional<CastPolicy> autocastTablePolicy(std::string_view table);

/// The output's dtype under the policy, its inputs in one of the tables' combinations: all_float32,
/// all_low, first_low or last_low (the rest float32). Throws InputError where the policy or the
/// function refuses, and std::logic_error for another combination.
DType autocastResult(const AutocastCase&, const CastPolicy&, std::string_view combination);

} // namespace halfscope
