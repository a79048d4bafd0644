// Random networks of wide layers (many rows, one 1x1 convolution after the other) under a cast
// policy, with batch norms, shortcuts and gradients of the first or second order: what chains are
// made of, in many arrangements. The tests decide what to assert.
#pragma once

#include "engine/ops/functional.h"
#include "engine/passes/autodiff.h"
#include "engine/step/penalty.h"
#include "tests/support/gradient_check.h"

#include <optional>
#include <string>
#include <vector>

namespace halfscope::test {

class RandomNetwork {
public:
    /// A network of an odd seed has a gradient penalty.
    explicit RandomNetwork(uint64_t seed) : m_random(seed, 1931), m_b(m_graph) {
        static constexpr int64_t kWidths[] = {16, 20, 32, 37};
        m_width = kWidths[pick(std::size(kWidths))];
        m_rows = 4 * m_width + static_cast<int64_t>(pick(40)); // enough rows for chains
        const CastPolicy policies[] = {torchCudaPolicy(DType::F16), torchCudaPolicy(DType::BF16)};
        const uint64_t policy = pick(std::size(policies) + 1);
        const CastPolicy* casts = policy < std::size(policies) ? &policies[policy] : nullptr;
        const AutocastScope scope(m_b, casts);
        NodeId loss = lossOf(layers(firstLayer()));
        if (seed % 2 == 1) {
            const NodeId penalty = emitGradientPenalty(m_b, {loss, kNoNode, m_parameters, 0.01});
            loss = m_b.add(loss, m_b.scale(penalty, 0.25));
        }
        m_graph.addOutput("loss", loss);
        const AutocastScope off(m_b, nullptr);
        const auto slopes = gradients(m_b, loss, m_parameters);
        for (size_t i = 0; i < slopes.size(); ++i)
            if (slopes[i]) m_graph.addOutput("slope" + std::to_string(i), *slopes[i]);
    }

    const Graph& graph() const { return m_graph; }
    const Leaves& leaves() const { return m_leaves; }

private:
    uint64_t pick(uint64_t bound) { return m_random.below(m_counter++, bound); }
    NodeId leaf(const std::string& name, const Shape& shape, double low, double high) {
        const NodeId id = m_b.input(name + std::to_string(m_graph.size()), shape, DType::F32);
        m_leaves[id] = randomTensor(shape, m_counter++, 3, low, high);
        for (double& x : m_leaves[id].values)
            x = roundTo(DType::F32, x);
        return id;
    }
    NodeId parameter(const Shape& shape, double low, double high) {
        m_parameters.push_back(leaf("w", shape, low, high));
        return m_parameters.back();
    }
    NodeId dense(NodeId x, int64_t out) {
        const int64_t in = m_b.shapeOf(x)[1];
        const double most = 1.5 / std::sqrt(static_cast<double>(in));
        const NodeId weight = parameter({out, in}, -most, most);
        return fn::linear(m_b, x, weight, pick(2) == 0 ? parameter({out}, -0.5, 0.5) : kNoNode);
    }

    /// Makes the first layer from few columns, as coordinates have, or from as many as all layers
    /// have.
    NodeId firstLayer() {
        const int64_t columns = pick(2) == 0 ? 2 : m_width;
        return dense(leaf("x", {m_rows, columns}, -1, 1), m_width);
    }
    NodeId layers(NodeId x) {
        std::vector<NodeId> pool{x};
        const uint64_t count = 2 + pick(6);
        for (uint64_t i = 0; i < count; ++i) {
            switch (pick(5)) {
            case 0:
            case 1: x = dense(x, m_width); break;
            case 2: {
                const NodeId scale = parameter({m_width}, 0.5, 1.5),
                             shift = parameter({m_width}, -0.5, 0.5);
                x = fn::unary(m_b, Op::Relu, fn::batchNorm(m_b, x, scale, shift, 1, 0.1).y);
                break;
            }
            case 3: x = m_b.scale(fn::add(m_b, x, pool[pick(pool.size())]), 0.5); break;
            default: x = fn::unary(m_b, pick(4) == 0 ? Op::Tanh : Op::Relu, x);
            }
            pool.push_back(x);
        }
        return x;
    }
    NodeId lossOf(NodeId x) {
        static constexpr int64_t kOut[] = {1, 3, 16};
        const int64_t out = kOut[pick(std::size(kOut))];
        const NodeId y = m_b.cast(dense(x, out), DType::F32);
        const NodeId apart = m_b.sub(y, leaf("target", {m_rows, out}, -1, 1));
        return fn::mean(m_b, m_b.mul(apart, apart), {});
    }

    Graph m_graph;
    Philox m_random;
    Builder m_b;
    uint64_t m_counter = 0;
    int64_t m_rows = 0, m_width = 0;
    std::vector<NodeId> m_parameters;
    Leaves m_leaves;
};

} // namespace halfscope::test
