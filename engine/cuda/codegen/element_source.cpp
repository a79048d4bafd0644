// The text of one element of a node: the op's function of kernels/math.cuh, and the rounding to
// storage.
#include "engine/cuda/codegen/element_source.h"

#include "engine/core/error.h"
#include "engine/ops/op_info.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

namespace halfscope::cuda {

namespace {

/// Turns "less_equal" into "lessEqualOf", its name in math.cuh.
std::string functionOf(Op op) {
    if (op == Op::IsFinite) return "isFiniteOf"; // PyTorch's name is one word
    std::string name;
    bool raise = false;
    for (const char c : nameOf(op)) {
        if (c == '_') {
            raise = true;
            continue;
        }
        name += raise ? static_cast<char>(c - 'a' + 'A') : c;
        raise = false;
    }
    return name + "Of";
}

std::string hexText(double x, const char* suffix) {
    char text[64];
    std::snprintf(text, sizeof text, "%a%s", x, suffix);
    return text;
}

} // namespace

std::string storageType(DType type) {
    switch (type) {
    case DType::F32: return "float";
    case DType::F16: return "F16";
    case DType::BF16: return "BF16";
    case DType::F64: return "double";
    case DType::I32: return "int";
    case DType::Bool: return "Bool";
    }
    failInvariant("cuda text: not a dtype");
}

std::string valueType(DType type) { return type == DType::F64 ? "double" : "float"; }

std::string literal(float x) {
    if (std::isfinite(x)) return hexText(static_cast<double>(x), "f");
    return "floatOf(" + std::to_string(std::bit_cast<uint32_t>(x)) + "u)";
}
std::string literal(double x) {
    if (std::isfinite(x)) return hexText(x, "");
    return "doubleOf(" + std::to_string(std::bit_cast<uint64_t>(x)) + "ull)";
}

bool roundsResult(const Graph& graph, NodeId id) {
    const Node& node = graph[id];
    if (node.op == Op::Cast) return !holdsAll(node.dtype, graph[node.in[0]].dtype);
    return node.dtype != DType::F32 && node.dtype != DType::F64 &&
           !infoOf(node.op).flags.has(OpFlag::KeepsPrecision);
}

std::string unroundedExpression(const Graph& graph, NodeId id,
                                std::span<const std::string> operands) {
    const Node& node = graph[id];
    if (node.op == Op::Constant) {
        const double value = roundTo(node.dtype, std::get<ConstantAttrs>(node.attrs).value);
        return node.dtype == DType::F64 ? literal(value) : literal(static_cast<float>(value));
    }
    const bool inDouble = node.dtype == DType::F64 ||
                          std::any_of(node.in.begin(), node.in.end(),
                                      [&](NodeId in) { return graph[in].dtype == DType::F64; });
    std::string arguments;
    for (const std::string& operand : operands) {
        if (!arguments.empty()) arguments += ", ";
        arguments += inDouble ? "static_cast<double>(" + operand + ")" : operand;
    }
    if (node.op == Op::Cast) return arguments;
    if (const auto* range = std::get_if<RangeAttrs>(&node.attrs)) {
        const auto bound = [&](double x) {
            return inDouble ? literal(x) : literal(static_cast<float>(x));
        };
        arguments += ", " + bound(range->low) + ", " + bound(range->high);
    }
    if (const auto* fp8 = std::get_if<Fp8Attrs>(&node.attrs)) {
        const Fp8Facts facts = factsOf(fp8->format);
        arguments += ", Fp8{" + std::to_string(facts.fractionBits) + ", " +
                     std::to_string(facts.minExponent) + ", " + std::to_string(facts.maxExponent) +
                     ", " + literal(facts.max) + "}";
    }
    return functionOf(node.op) + "(" + arguments + ")";
}

std::string elementExpression(const Graph& graph, NodeId id,
                              std::span<const std::string> operands) {
    const Node& node = graph[id];
    const std::string type = storageType(node.dtype);
    const std::string result = unroundedExpression(graph, id, operands);
    if (node.op == Op::Constant) return result;
    const bool inDouble = node.dtype == DType::F64 ||
                          std::any_of(node.in.begin(), node.in.end(),
                                      [&](NodeId in) { return graph[in].dtype == DType::F64; });
    if (inDouble && node.dtype != DType::F64) return "value(stored<" + type + ">(" + result + "))";
    return roundsResult(graph, id) ? "rounded<" + type + ">(" + result + ")" : result;
}

} // namespace halfscope::cuda
