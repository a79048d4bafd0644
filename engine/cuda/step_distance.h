// How far apart the results are of two ways to run the same step from the same values, and how far
// apart they may be: sums run in another order, and short formats turn that into other roundings.
// Shared by the search for the fastest way and by the tests on a device.
#pragma once

#include "engine/core/dtype.h"
#include "engine/graph/graph.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace halfscope::cuda {

/// A result of a step: an output, or a state after it.
struct StepResult {
    std::string name; ///< "0.weight.exp_avg"
    std::string kind; ///< of results of about the same size; empty: each value has its own size
    std::vector<float> values;
};

/// Returns the largest number of terms in a sum of the step.
inline double longestSum(const Graph& graph) {
    double longest = 1;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        if (node.in.empty() || node.elements() == 0) continue;
        const Node& in = graph[node.in[0]];
        double terms = 1;
        if (node.op == Op::Matmul)
            terms = static_cast<double>(
                in.shape[in.shape.rank() - (std::get<MatmulAttrs>(node.attrs).transposeA ? 2 : 1)]);
        else if (node.op == Op::Sum || node.op == Op::Mean)
            terms = static_cast<double>(in.elements()) / static_cast<double>(node.elements());
        longest = std::max(longest, terms);
    }
    return longest;
}

/// Returns the largest allowed norm of the difference of two gradients relative to the norm of one,
/// for a step whose longest sum has n terms:
/// - In f32 the roundings of such a sum are a random walk: sqrt(n) unit roundoffs, twice that for
/// two sums.
/// - Values that are d apart before they are rounded to a unit roundoff u change d / 2u of the
/// roundings by 2u each, and are sqrt(2u d) apart (root mean square) afterwards. From d = 2^-24,
/// three such layers lead to (2u)^(7/8) d^(1/8), of which four times is allowed: 1.2e-3 in float16
/// and TF32, 7e-3 in bfloat16.
/// - A ReLU whose input is nearly zero may pass one of the n rows or not: 1 / n.
/// Two orders of the same sums in PyTorch, 256 x 256 pixels, differ by 1.9e-5 in f32 with four such
/// ReLUs, 1.8e-4 in float16 and 4e-4 in bfloat16.
inline double distanceBound(const Graph& graph) {
    const double f32 = formatOf(DType::F32).unitRoundoff(), terms = longestSum(graph);
    double roundoff = 0; ///< 0 when there is only f32
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        if (node.dtype == DType::F16 || node.dtype == DType::BF16)
            roundoff = std::max(roundoff, formatOf(node.dtype).unitRoundoff());
        if (node.math == MathMode::TF32)
            roundoff = std::max(roundoff, formatOf(DType::F16).unitRoundoff()); // 11 bits as well
    }
    const double tipped = 4 * std::pow(2 * roundoff, 7.0 / 8) * std::pow(f32, 1.0 / 8);
    return std::max(16.0, 2 * std::sqrt(terms)) * f32 + tipped + std::min(1 / terms, 0x1p-6);
}

/// Second moments are squares of gradients, and so twice as far apart.
inline bool isSquared(const StepResult& result) {
    return result.kind == "exp_avg_sq" || result.kind == "square_avg" || result.kind == "sum" ||
           result.kind == "acc_delta";
}

/// The largest distance of two steps' results in relation to what is allowed.
struct StepDistance {
    double relative = 0; ///< norm of the difference over the norm of the wanted values
    double part = 0;     ///< share of its bound; too far above 1
    std::string fault;   ///< of the first result that is too far: which, and by how much
};

/// Compares `wanted` and `got`, the same results in the same order. A gradient that is zero except
/// for roundings, such as that of a bias before a norm, is measured by the size of its kind's
/// elements. inf and nan may replace each other, but not a number.
inline StepDistance stepDistance(const Graph& graph, const std::vector<StepResult>& wanted,
                                 const std::vector<StepResult>& got) {
    const double bound = distanceBound(graph);
    struct Size {
        double squares = 0, count = 0;
    };
    std::map<std::string, Size> sizes;
    for (const StepResult& result : wanted)
        for (const float value : result.values)
            if (std::isfinite(value)) {
                Size& size = sizes[result.kind];
                size.squares += static_cast<double>(value) * static_cast<double>(value);
                size.count += 1;
            }
    StepDistance all;
    const auto note = [&](const std::string& what, double apart, double size, double allowed) {
        const double part = apart == 0 ? 0 : apart / allowed;
        if (!(part <= all.part)) {
            all.part = part;
            all.relative = apart / size;
        }
        if (part <= 1 || !all.fault.empty()) return;
        char text[160];
        std::snprintf(text, sizeof text, ": %.3g apart, relative to %.3g; at most %.3g is allowed",
                      apart / size, size, allowed / size);
        all.fault = what + text;
    };
    for (size_t at = 0; at < wanted.size(); ++at) {
        const StepResult &want = wanted[at], &is = got[at];
        double apart = 0, size = 0;
        for (size_t i = 0; i < want.values.size(); ++i) {
            const double x = static_cast<double>(want.values[i]),
                         y = static_cast<double>(is.values[i]);
            if (std::isfinite(x) != std::isfinite(y)) {
                char text[160];
                std::snprintf(text, sizeof text, "%s: element %zu is %g instead of %g",
                              want.name.c_str(), i, y, x);
                if (all.fault.empty()) all.fault = text;
                all.part = HUGE_VAL;
            } else if (std::isfinite(x) && want.kind.empty()) {
                note(want.name + ", element " + std::to_string(i), std::fabs(y - x), std::fabs(x),
                     bound * std::max(std::fabs(x), 0x1p-10));
            } else if (std::isfinite(x)) {
                apart += (y - x) * (y - x);
                size += x * x;
            }
        }
        if (want.kind.empty()) continue;
        const Size& kind = sizes[want.kind];
        const double usual =
            kind.count == 0
                ? 0
                : std::sqrt(kind.squares / kind.count * static_cast<double>(want.values.size()));
        const double measure = std::max(std::sqrt(size), usual);
        note(want.name, std::sqrt(apart), measure, (isSquared(want) ? 2 : 1) * bound * measure);
    }
    return all;
}

} // namespace halfscope::cuda
