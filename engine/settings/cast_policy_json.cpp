// Reads policy files. The ops that a policy can have rules for are found by asking the ops
// themselves: those that a policy can ban by their name.
#include "engine/settings/cast_policy_json.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/io/input_file.h"
#include "engine/io/strict_json.h"
#include "engine/ops/functional.h"
#include "engine/ops/op_info.h"
#include "engine/ops/op_suite.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

namespace halfscope {

namespace {

constexpr int kVersion = 1;
constexpr size_t kMaxNameBytes = 100;
constexpr size_t kMostPolicyBytes = size_t{1} << 20; // a policy with every op has 5,000

std::string quotedList(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

[[noreturn]] void refuse(const std::string& key, const Json& value, const Message& allowed) {
    throw InputError(phrase("Settings", "%1: %2 is not allowed: %3"), key, shown(value), allowed);
}

std::string wordOf(const std::string& key, const Json& value, const Message& allowed) {
    if (!value.is_string()) refuse(key, value, allowed);
    return value.get<std::string>();
}

std::vector<CastPolicy> basePolicies() {
    std::vector<CastPolicy> bases;
    CastPolicy none;
    none.name = "none";
    bases.push_back(none);
    for (const DType low : {DType::F16, DType::BF16}) {
        bases.push_back(torchCudaPolicy(low));
        bases.push_back(torchCpuPolicy(low));
    }
    bases.push_back(fp8Policy(Fp8Scaling::Dynamic));
    bases.push_back(apexPolicy(DType::F16));
    bases.push_back(layerPolicy("keras mixed_float16", DType::F16));
    bases.push_back(layerPolicy("keras mixed_bfloat16", DType::BF16));
    return bases;
}

/// Whether a function asks the policy for the rule of that name, so that a policy can ban it by
/// that name.
template <class Emit>
bool asks(std::string_view name, const Emit& emit) {
    CastPolicy probe;
    probe.rules.emplace(name, CastRule::Banned);
    Graph graph;
    Builder b(graph);
    const AutocastScope scope(b, &probe);
    try {
        emit(b);
    } catch (const InputError&) {
        return true;
    }
    return false;
}

std::vector<std::string> findOps() {
    std::set<std::string> names;
    for (const auto& cases : {autocastCases(), otherCases()}) {
        for (const AutocastCase& given : cases) {
            const bool asked = asks(given.name, [&](Builder& b) {
                std::vector<NodeId> in;
                for (const Shape& shape : given.shapes)
                    in.push_back(b.input("x" + std::to_string(in.size()), shape, DType::F32));
                given.emit(b, in);
            });
            if (asked) names.emplace(given.name);
        }
    }
    for (int i = 0; i < kOpCount; ++i) {
        const OpInfo& info = infoOf(static_cast<Op>(i));
        const bool plain = info.flags.has(OpFlag::Elementwise) && info.arity == 1;
        const bool inside = info.op == Op::Cast || info.op == Op::StopGradient ||
                            info.op == Op::QuantizeGradient; // what functions are made of
        if (plain && !inside) names.emplace(info.name);
    }
    return {names.begin(), names.end()};
}

CastRule ruleNamed(const std::string& key, const Json& value) {
    std::vector<std::string> words;
    words.reserve(kCastRuleCount);
    for (int i = 0; i < kCastRuleCount; ++i)
        words.emplace_back(ruleWord(static_cast<CastRule>(i)));
    const Message allowed(phrase("Settings", "one of %1"), quotedList(words));
    const std::string word = wordOf(key, value, allowed);
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) refuse(key, value, allowed);
    return static_cast<CastRule>(found - words.begin());
}

DType dtypeOf(const std::string& key, const Json& value, bool lowOnly) {
    const Message allowed(phrase("Settings", "one of %1"),
                          lowOnly ? "float16, bfloat16" : "float32, float16, bfloat16");
    const auto dtype = dtypeNamed(wordOf(key, value, allowed));
    if (!dtype || !(isLow(*dtype) || (!lowOnly && *dtype == DType::F32)))
        refuse(key, value, allowed);
    return *dtype;
}

const Json& objectAt(const Json& root, const char* key) {
    static const Json none = Json::object();
    const auto found = root.find(key);
    if (found == root.end()) return none;
    if (!found->is_object()) refuse(key, *found, phrase("Settings", "an object"));
    return *found;
}

CastPolicy baseOf(const Json& root) {
    const Message allowed(phrase("Settings", "one of %1"), quotedList(policyBases()));
    const auto given = root.find("base");
    if (given == root.end())
        throw InputError(phrase("Settings", "base: missing; it must be %1"), allowed);
    const std::string word = wordOf("base", *given, allowed);
    CastPolicy policy;
    bool known = false;
    for (CastPolicy& base : basePolicies()) {
        if (base.name != word) continue;
        policy = std::move(base);
        known = true;
    }
    if (!known) refuse("base", *given, allowed);
    const auto low = root.find("low");
    const bool free = word == "none" || word == "apex O1";
    if (low == root.end()) {
        if (word == "none")
            throw InputError(
                phrase("Settings", "low: missing; it must be one of float16, bfloat16"));
        return policy;
    }
    const DType wanted = dtypeOf("low", *low, true);
    if (!free && wanted != policy.low)
        refuse("low", *low,
               {phrase("Settings", "%1, that of the base %2"), nameOf(policy.low), word});
    policy.low = wanted;
    return policy;
}

void checkKeys(const Json& root) {
    const std::vector<std::string> known = {"version", "name", "low", "base", "ops", "layers"};
    for (const auto& [key, value] : root.items()) {
        if (std::find(known.begin(), known.end(), key) == known.end())
            throw InputError(phrase("Settings", "%1 is an unknown key%2"), quotedText(key),
                             nearestHint(key, known, kNearestKnown));
    }
    const auto version = root.find("version");
    if (version == root.end())
        throw InputError(phrase("Settings", "version: missing; it must be 1"));
    if (!version->is_number_integer() || *version != kVersion)
        refuse("version", *version, phrase("Settings", "1, the version that this program reads"));
}

CastPolicy policyFrom(const Json& root) {
    if (!root.is_object())
        throw InputError(phrase("Settings", "%1 is not a policy: it must be an object with "
                                            "version, name, base, low, ops and layers"),
                         shown(root));
    checkKeys(root);
    CastPolicy policy = baseOf(root);
    const auto name = root.find("name");
    if (name == root.end())
        throw InputError(phrase("Settings", "name: missing; it must be one line of text"));
    const std::string word = wordOf("name", *name, phrase("Settings", "one line of text"));
    if (word.empty() || word.size() > kMaxNameBytes || !isPlainText(word))
        refuse("name", *name, phrase("Settings", "one line of text, 1 to 100 bytes"));
    policy.name = word;
    for (const auto& [op, value] : objectAt(root, "ops").items()) {
        const auto& known = policyOps();
        if (std::find(known.begin(), known.end(), op) == known.end())
            throw InputError(phrase("Settings", "ops: %1 is an unknown op%2"), quotedText(op),
                             nearestHint(op, known, kNearestKnown));
        if (policy.everyLayer)
            throw InputError(
                phrase("Settings",
                       "ops: %1: operations have no rules when the base works by layers"),
                op);
        policy.rules[op] = ruleNamed("ops." + op, value);
    }
    for (const auto& [layer, value] : objectAt(root, "layers").items())
        policy.layers[layer] = dtypeOf("layers." + quotedText(layer), value, false);
    return policy;
}

} // namespace

std::vector<std::string> policyBases() {
    std::vector<std::string> names;
    for (const CastPolicy& base : basePolicies())
        names.push_back(base.name);
    return names;
}

std::string_view ruleWord(CastRule rule) {
    constexpr std::array<std::string_view, kCastRuleCount> kWords = {
        "follow", "lower", "full", "full-result", "widest", "banned"};
    return kWords[static_cast<size_t>(rule)];
}

const std::vector<std::string>& policyOps() {
    static const std::vector<std::string> ops = findOps();
    return ops;
}

CastPolicy parseCastPolicy(std::string_view json, const std::string& name) {
    try {
        return policyFrom(parseStrictJson(json, {.bytes = kMostPolicyBytes}).root());
    } catch (const InputError& error) {
        throw InputError(within(pathText(name), error.message()));
    }
}

CastPolicy readCastPolicy(const std::string& path) {
    return parseCastPolicy(readFile(path, kMostPolicyBytes), path);
}

} // namespace halfscope
