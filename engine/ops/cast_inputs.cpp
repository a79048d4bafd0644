// Asks the policy about an op's inputs and emits the casts that it wants; which op asks is up to
// the functions (functional.h).
#include "engine/ops/cast_inputs.h"

#include "engine/core/error.h"

#include <algorithm>
#include <string>

namespace halfscope {
namespace {

bool eligible(DType type) { return type == DType::F32 || isLow(type); }

/// Returns F32 if one of the inputs has it, and otherwise the policy's dtype; throws InputError for
/// a foreign low dtype.
DType widest(Builder& b, const CastPolicy& policy, std::string_view name,
             std::span<const NodeId> in) {
    DType target = policy.low;
    for (const NodeId x : in) {
        if (x == kNoNode) continue;
        const DType type = b.dtypeOf(x);
        if (isLow(type) && type != policy.low) {
            throw InputError(
                phrase("Operations",
                       "%1: an input of %2 under the policy %3; allowed are float32 and %4"),
                name, nameOf(type), policy.name, nameOf(policy.low));
        }
        if (type == DType::F32) target = DType::F32;
    }
    return target;
}

bool isNorm(std::string_view name) {
    return name == "batch_norm" || name == "layer_norm" || name == "group_norm" ||
           name == "instance_norm" || name == "rms_norm";
}

/// What a policy decides for an op's inputs: the first `inputs` of them become `target`.
struct Decision {
    size_t inputs = 0;
    DType target = DType::F32;
    std::string reason; ///< "linear: lower precision (torch cuda float16)"
};

Decision decide(Builder& b, const CastPolicy& policy, std::string_view name,
                std::span<const NodeId> in) {
    const std::string op(name), from = " (" + policy.name + ")";
    if (const auto layer = policy.layerDType(b.label(), b.phase())) {
        const bool norm = isNorm(name);
        const std::string where = b.label().empty() ? std::string("no layer") : b.label();
        return {norm ? 1 : in.size(), *layer,
                op + ": " + where + " in " + std::string(nameOf(*layer)) + from};
    }
    const CastRule rule = policy.ruleOf(name);
    Decision decision{in.size(), DType::F32, op + ": " + std::string(nameOf(rule)) + from};
    switch (rule) {
    case CastRule::Follow: decision.inputs = 0; break;
    case CastRule::Banned:
        if (name != "binary_cross_entropy")
            throw InputError(phrase("Operations", "%1: banned by the policy %2"), op, policy.name);
        throw InputError(phrase("Operations",
                                "%1: unsafe under autocast%2; use "
                                "binary_cross_entropy_with_logits, which takes the logits"),
                         op, from);
    case CastRule::Lower: decision.target = policy.low; break;
    case CastRule::Full: break;
    case CastRule::FullBySet: decision.inputs = 1; break;
    case CastRule::Widest: decision.target = widest(b, policy, name, in); break;
    }
    return decision;
}

} // namespace

std::vector<NodeId> castInputs(Builder& b, std::string_view name, std::span<const NodeId> in) {
    std::vector<NodeId> out(in.begin(), in.end());
    if (b.policy() == nullptr) return out;
    const Decision decision = decide(b, *b.policy(), name, in);
    b.setRule(decision.reason);
    for (size_t i = 0; i < std::min(decision.inputs, out.size()); ++i) {
        if (out[i] == kNoNode) continue;
        const DType type = b.dtypeOf(out[i]);
        if (eligible(type) && type != decision.target) out[i] = b.autocast(out[i], decision.target);
    }
    b.setRule({});
    b.setDecision(decision.reason);
    return out;
}

} // namespace halfscope
