// The functions that PyTorch's recorded autocast tables name, each with inputs of one fixed shape:
// for the test of the tables, for `halfscope-cli verify`, and for gradient checks. Leaves what a
// function does to engine/ops/functions.
#pragma once

#include "engine/ops/cast_inputs.h"

#include <span>
#include <string_view>
#include <vector>

namespace halfscope {

/// One function of the tables. emit makes labels, indices and masks; `shapes` are those of the
/// floating-point inputs, whose dtypes the tables vary.
struct AutocastCase {
    std::string_view name; ///< as in the tables
    std::vector<Shape> shapes;
    NodeId (*emit)(Builder&, std::span<const NodeId> in);
};
std::span<const AutocastCase> autocastCases();
/// Functions of layers that the tables do not name.
std::span<const AutocastCase> otherCases();
/// Returns the case of that name, or nullptr.
const AutocastCase* autocastCase(std::string_view name);

/// Returns the policy of a table: "cuda_float16", "cuda_bfloat16", "cpu_bfloat16" or "cpu_float16";
/// nothing for any other name.
std::optional<CastPolicy> autocastTablePolicy(std::string_view table);

/// Returns the output's dtype under the policy, with the inputs in one of the tables' combinations:
/// all_float32, all_low, first_low or last_low (the rest float32). Throws InputError when the
/// policy or the function refuses, and std::logic_error for another combination.
DType autocastResult(const AutocastCase&, const CastPolicy&, std::string_view combination);

} // namespace halfscope
