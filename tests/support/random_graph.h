// Random step graphs over small whole numbers: every sum and product is exact, so fused, unfused
// and reference runs must agree bit for bit. The tests decide what to assert.
#pragma once

#include "engine/core/philox.h"
#include "engine/exec/reference.h"
#include "engine/ops/builder.h"
#include "engine/ops/op_info.h"

#include <map>
#include <string>
#include <vector>

namespace halfscope::test {

class RandomGraph {
public:
    explicit RandomGraph(uint64_t seed, int operations = 60) : m_random(seed, 77) {
        Builder b(m_graph);
        m_rows = extent();
        m_columns = extent();
        addLeaf(b, "x", {m_rows, m_columns}, DType::F32);
        addLeaf(b, "h", {m_rows, m_columns}, DType::F16);
        addLeaf(b, "v", {m_columns}, DType::F32);
        addLeaf(b, "c", {m_rows, 1}, DType::BF16);
        addLeaf(b, "s", {}, DType::F32);
        for (int i = 0; i < 3; ++i) {
            const Shape shape = i == 0   ? Shape{m_rows, m_columns}
                                : i == 1 ? Shape{m_columns}
                                         : Shape{};
            const NodeId state =
                b.state("state" + std::to_string(i), shape, DType::F32, StateRole::Parameter);
            remember(state, 4);
            fill(state, b);
        }
        for (int i = 0; i < operations; ++i)
            addOperation(b);
        // Later nodes read next values again, as they do with Adam's moments.
        std::vector<NodeId> states;
        for (const StateInfo& state : m_graph.states())
            states.push_back(state.node);
        for (NodeId state : states) {
            const NodeId next = nextFor(b, state);
            m_graph.setNext(state, next);
            remember(next, 3);
        }
        for (int i = 0; i < operations / 3; ++i)
            addOperation(b);
        // Not states: after a step they hold their next value, while the reference sees the value
        // before it.
        for (int i = 0; i < 4; ++i) {
            const NodeId out = i < 3 ? m_pool[pick(m_pool.size())] : m_pool.back();
            if (!infoOf(b[out].op).flags.has(OpFlag::Leaf))
                m_graph.addOutput("out" + std::to_string(i), out);
        }
    }

    const Graph& graph() const { return m_graph; }
    /// Returns whole numbers from -3 to 3 for every input and state.
    const std::map<NodeId, RefTensor>& leaves() const { return m_leaves; }

private:
    uint64_t pick(uint64_t bound) { return m_random.below(m_counter++, bound); }
    int64_t extent() {
        static constexpr int64_t kExtents[] = {1, 2, 3, 7, 31, 33, 64, 130, 257};
        return kExtents[pick(std::size(kExtents))];
    }
    void remember(NodeId id, double bound) {
        m_pool.push_back(id);
        m_bounds[id] = bound;
    }
    void fill(NodeId id, Builder& b) {
        RefTensor tensor{b.shapeOf(id), std::vector<double>(static_cast<size_t>(b[id].elements()))};
        for (double& value : tensor.values)
            value = static_cast<double>(pick(7)) - 3;
        m_leaves[id] = tensor;
    }
    void addLeaf(Builder& b, const char* name, const Shape& shape, DType dtype) {
        const NodeId id = b.input(name, shape, dtype);
        remember(id, 3);
        fill(id, b);
    }
    /// Keeps magnitudes so small that every type involved holds all sums exactly.
    NodeId limited(Builder& b, NodeId id) {
        if (m_bounds[id] <= 100) return id;
        const NodeId small = b.emit(Op::Clamp, {id}, RangeAttrs{-4, 4});
        remember(small, 4);
        return small;
    }
    /// Makes a value of the wanted shape and dtype from any other by reductions, expansion and
    /// casts.
    NodeId shaped(Builder& b, NodeId id, const Shape& shape, DType dtype) {
        id = limited(b, id);
        double bound = m_bounds[id];
        NodeId value = b.cast(id, DType::F32);
        if (!(b.shapeOf(value) == shape)) {
            if (b.shapeOf(value).rank() > 0) {
                bound *= static_cast<double>(b[value].elements());
                value = b.sumAll(value);
            }
            value = b.expand(value, shape);
        }
        remember(value, bound);
        value = b.cast(limited(b, value), dtype);
        remember(value, std::min(bound, 100.0));
        return value;
    }
    NodeId nextFor(Builder& b, NodeId state) {
        const NodeId other = m_pool[pick(m_pool.size())];
        const NodeId value = shaped(b, other, b.shapeOf(state), DType::F32);
        return b.emit(Op::Clamp, {b.add(value, state)}, RangeAttrs{-3, 3});
    }
    void addOperation(Builder& b) {
        const NodeId x = limited(b, m_pool[pick(m_pool.size())]);
        const double bound = m_bounds[x];
        const Shape shape = b.shapeOf(x);
        const DType dtype = b.dtypeOf(x);
        const NodeId y = shaped(b, m_pool[pick(m_pool.size())], shape, dtype);
        switch (pick(12)) {
        case 0: remember(b.add(x, y), bound + m_bounds[y]); break;
        case 1: remember(b.sub(x, y), bound + m_bounds[y]); break;
        case 2: remember(b.mul(x, y), bound * m_bounds[y]); break;
        case 3: remember(b.emit(Op::Maximum, {x, y}), std::max(bound, m_bounds[y])); break;
        case 4: remember(b.unary(Op::Relu, x), bound); break;
        case 5:
            remember(b.where(b.emit(Op::Less, {x, y}), y, x), std::max(bound, m_bounds[y]));
            break;
        case 6: {
            static constexpr DType kTypes[] = {DType::F32, DType::F16, DType::BF16};
            remember(b.cast(x, kTypes[pick(3)]), bound);
            break;
        }
        case 7:
            if (shape.rank() == 2) addMatmul(b, x, y);
            break;
        case 8:
            if (shape.rank() == 2) {
                remember(b.transpose(x, {1, 0}), bound);
                // another one in the same loop, whose operand is computed from the first one's
                remember(b.transpose(b.neg(x), {1, 0}), bound);
            }
            break;
        case 9:
            if (shape.rank() > 0) {
                const int axis = static_cast<int>(pick(static_cast<uint64_t>(shape.rank())));
                const NodeId wide = b.cast(x, DType::F32);
                const NodeId sum = b.sum(wide, {axis});
                remember(sum, bound * static_cast<double>(shape[axis]));
                remember(b.add(b.expand(limited(b, sum), shape), wide), bound + 100);
            }
            break;
        case 10: {
            const NodeId flat = b.reshape(b.neg(x), {b[x].elements()});
            remember(flat, bound);
            remember(b.reshape(b.unary(Op::Relu, flat), shape), bound);
            break;
        }
        default:
            if (shape.rank() == 2 && shape[1] > 1) remember(b.slice(x, 1, 0, shape[1] - 1), bound);
        }
    }
    /// Adds x times the transpose of y, and brings that product back to x's shape.
    void addMatmul(Builder& b, NodeId x, NodeId y) {
        const NodeId product = b.matmul(x, y, {.transposeA = false, .transposeB = true});
        remember(product, m_bounds[x] * m_bounds[y] * static_cast<double>(b.shapeOf(x)[1]));
        const NodeId small = b.emit(Op::Clamp, {product}, RangeAttrs{-2, 2});
        remember(b.matmul(small, x, {.transposeA = true, .transposeB = false}),
                 2 * m_bounds[x] * static_cast<double>(b.shapeOf(x)[0]));
    }

    Graph m_graph;
    Philox m_random;
    uint64_t m_counter = 0;
    int64_t m_rows = 1, m_columns = 1;
    std::vector<NodeId> m_pool;
    std::map<NodeId, double> m_bounds;
    std::map<NodeId, RefTensor> m_leaves;
};

} // namespace halfscope::test
