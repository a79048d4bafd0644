// Compares gradients with central differences of the reference evaluator, in double, first and
// second order. The tests choose ops, ranges and seeds.
#pragma once

#include "engine/core/philox.h"
#include "engine/exec/reference.h"
#include "engine/ops/builder.h"
#include "engine/ops/op_info.h"
#include "engine/passes/autodiff.h"

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace halfscope::test {

/// The values of a graph's inputs and states, by node.
using Leaves = std::map<NodeId, RefTensor>;

/// Returns uniform numbers in [low, high); `stream` makes tensors of one seed differ.
inline RefTensor randomTensor(const Shape& shape, uint64_t seed, uint64_t stream, double low,
                              double high) {
    const Philox random(seed, stream);
    RefTensor tensor{shape, {}};
    for (int64_t i = 0; i < shape.elements(); ++i)
        tensor.values.push_back(low + (high - low) * random.uniform(static_cast<uint64_t>(i)));
    return tensor;
}

/// Returns the value of one node.
inline RefTensor valueOf(const Graph& graph, const Leaves& leaves, NodeId id,
                         RefRounding rounding = RefRounding::Storage) {
    const NodeId wanted[] = {id};
    return evaluate(graph, leaves, wanted, rounding).at(id);
}

/// A function of some tensors, and the ranges where it is checked.
struct GradientCase {
    struct Operand {
        Shape shape;
        double low = -2, high = 2; ///< away from kinks and poles
    };
    std::string name;
    std::vector<Operand> operands;
    std::function<NodeId(Builder&, std::span<const NodeId>)> build;
};

/// Returns the step of a central difference. It balances the truncation error, of the order of the
/// step squared, against the function's rounding error, of the order of the unit roundoff over the
/// step.
inline double differenceStep() { return std::cbrt(0x1p-53); }

/// Compares d scalar / d leaf with central differences at each element; an absent gradient counts
/// as zero. Returns the first disagreement, or nothing.
inline std::string compareWithDifferences(const Graph& graph, const Leaves& leaves, NodeId scalar,
                                          NodeId leaf, std::optional<NodeId> gradient) {
    const double step = differenceStep();
    const RefTensor& x = leaves.at(leaf);
    RefTensor analytic{x.shape, std::vector<double>(x.values.size(), 0.0)};
    if (gradient) analytic = valueOf(graph, leaves, *gradient, RefRounding::None);
    const double size = std::fabs(valueOf(graph, leaves, scalar, RefRounding::None).values[0]);
    for (size_t i = 0; i < x.values.size(); ++i) {
        const auto valueAt = [&](double at) {
            Leaves moved = leaves;
            moved.at(leaf).values[i] = at;
            return valueOf(graph, moved, scalar, RefRounding::None).values[0];
        };
        const double above = x.values[i] + step, below = x.values[i] - step;
        const double numeric = (valueAt(above) - valueAt(below)) / (above - below);
        // 1000 leaves room for third derivatives of up to some hundred, which multiply the squared
        // step
        const double bound =
            1000 * step * step * (1 + std::fabs(numeric)) + 100 * 0x1p-53 * (1 + size) / step;
        if (!(std::fabs(analytic.values[i] - numeric) <= bound))
            return "element " + std::to_string(i) + ": gradient " +
                   std::to_string(analytic.values[i]) + ", difference " + std::to_string(numeric) +
                   ", bound " + std::to_string(bound);
    }
    return {};
}

/// Checks both orders of one case. Returns what is wrong, with the seed, or nothing.
inline std::string checkGradients(const GradientCase& given, uint64_t seed) {
    Graph graph;
    Builder b(graph);
    Leaves leaves;
    std::vector<NodeId> xs;
    const auto leaf = [&](const Shape& shape, double low, double high) {
        const NodeId id = b.input("x" + std::to_string(graph.size()), shape, DType::F64);
        leaves[id] = randomTensor(shape, seed, static_cast<uint64_t>(id), low, high);
        return id;
    };
    for (const auto& operand : given.operands)
        xs.push_back(leaf(operand.shape, operand.low, operand.high));
    const NodeId y = given.build(b, xs);
    const auto weightedSum = [&](NodeId value) {
        return b.sumAll(b.mul(value, leaf(Shape(b.shapeOf(value)), -1, 1)));
    };
    const std::string where = given.name + ", seed " + std::to_string(seed);

    const NodeId loss = weightedSum(y);
    const auto first = gradients(b, loss, xs);
    NodeId slopes = b.constant(0, {}, DType::F64);
    for (size_t i = 0; i < xs.size(); ++i) {
        const auto wrong = compareWithDifferences(graph, leaves, loss, xs[i], first[i]);
        if (!wrong.empty()) return where + ", order 1, operand " + std::to_string(i) + ": " + wrong;
        if (first[i]) slopes = b.add(slopes, weightedSum(*first[i]));
    }
    const auto second = gradients(b, slopes, xs);
    for (size_t i = 0; i < xs.size(); ++i) {
        const auto wrong = compareWithDifferences(graph, leaves, slopes, xs[i], second[i]);
        if (!wrong.empty()) return where + ", order 2, operand " + std::to_string(i) + ": " + wrong;
    }
    return {};
}

} // namespace halfscope::test
