// A user's own cast policy as a JSON file: a base, and rules for single ops and layers that
// override it.
#pragma once

#include "engine/autocast/cast_policy.h"

#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Reads a policy such as
/// {"version": 1, "name": "mine", "low": "float16", "base": "torch cuda float16",
///  "ops": {"softmax": "lower"}, "layers": {"layer 1": "float32"}}
/// `low` may be left out when the base has one; `ops` and `layers` may be left out. Throws
/// InputError that names the key, the value, what is allowed and, for a word, the nearest known
/// one. Whether a layer exists is only known when a graph is built.
CastPolicy parseCastPolicy(std::string_view json, const std::string& name);
CastPolicy readCastPolicy(const std::string& path);

/// Returns the bases that a policy can name: "none", "torch cuda float16", "apex O1", "keras
/// mixed_float16", ...
std::vector<std::string> policyBases();
/// Returns the word for a rule in a policy file: "lower", "full", "full-result", "widest",
/// "follow", "banned".
std::string_view ruleWord(CastRule);
/// Returns the ops that ask a policy for a rule by their name.
const std::vector<std::string>& policyOps();

} // namespace halfscope
