// The stored shapes show which operand is large and which is thin; a vector of the thin one is a
// slice of it.
#include "engine/passes/thin_products.h"

#include "engine/passes/rewrite.h"

#include <algorithm>

namespace halfscope {

namespace {

constexpr int64_t kThin = 2; ///< a third vector would cost about as much as the product

/// A product with its operands as they are in the new graph; kNoNode is no bias.
class Product {
public:
    Product(Builder& b, const Node& node, NodeId left, NodeId right, NodeId bias)
        : m_b(b), m_left(left), m_right(right), m_bias(bias),
          m_how(std::get<MatmulAttrs>(node.attrs)), m_dtype(node.dtype), m_m(node.shape[0]),
          m_n(node.shape[1]), m_k(b.shapeOf(left)[m_how.transposeA ? 0 : 1]) {}

    NodeId byElement(int64_t fewest) {
        if (std::min({m_m, m_n, m_k}) == 0) return kNoNode; // there is no vector to begin with
        if (m_k <= kThin && m_m * m_n >= fewest && std::min(m_m, m_n) > kThin)
            return stored(sumOfOuterProducts());
        if (m_n <= kThin && m_m * m_k >= fewest)
            return stored(sumsOverInner(m_left, m_how.transposeA ? 0 : 1, m_right,
                                        m_how.transposeB ? 0 : 1, Stack::Columns));
        if (m_m <= kThin && m_k * m_n >= fewest)
            return stored(sumsOverInner(m_right, m_how.transposeB ? 1 : 0, m_left,
                                        m_how.transposeA ? 1 : 0, Stack::Rows));
        return kNoNode;
    }

private:
    enum class Stack : uint8_t { Rows, Columns };

    /// Returns index i along `axis` of a matrix, reshaped to a vector: `shape` is made of the other
    /// extent and 1.
    NodeId vector(NodeId matrix, int axis, int64_t i, Shape shape) {
        return m_b.reshape(m_b.slice(matrix, axis, i, i + 1), shape);
    }
    NodeId wide(NodeId x) { return m_b.cast(x, DType::F32); }

    /// Adds the bias to the sums and rounds them to storage.
    NodeId stored(NodeId sums) {
        if (m_bias != kNoNode)
            sums = m_b.add(sums, m_b.expand(m_b.reshape(wide(m_bias), {1, m_n}), {m_m, m_n}));
        return m_b.cast(sums, m_dtype);
    }

    /// (m, n) = the sum over i of column i of the left operand times row i of the right one.
    NodeId sumOfOuterProducts() {
        const Shape space{m_m, m_n};
        NodeId sum = kNoNode;
        for (int64_t i = 0; i < m_k; ++i) {
            const NodeId column = vector(m_left, m_how.transposeA ? 0 : 1, i, {m_m, 1});
            const NodeId row = vector(m_right, m_how.transposeB ? 1 : 0, i, {1, m_n});
            const NodeId product =
                m_b.mul(wide(m_b.expand(column, space)), wide(m_b.expand(row, space)));
            sum = sum == kNoNode ? product : m_b.add(sum, product);
        }
        return sum;
    }

    /// Multiplies `large` with each vector of `thin`, index i along `thinAxis`, and sums over its
    /// axis `inner`. Returns the vectors of the result, stacked.
    NodeId sumsOverInner(NodeId large, int inner, NodeId thin, int thinAxis, Stack stack) {
        const Shape space = m_b.shapeOf(large);
        const int64_t vectors = m_b.shapeOf(thin)[thinAxis];
        const Shape along = inner == 0 ? Shape{space[0], 1} : Shape{1, space[1]};
        const int64_t length = space[1 - inner];
        const bool columns = stack == Stack::Columns;
        std::vector<NodeId> sums;
        for (int64_t i = 0; i < vectors; ++i) {
            const NodeId factor = m_b.expand(vector(thin, thinAxis, i, along), space);
            const NodeId sum = m_b.sum(m_b.mul(wide(large), wide(factor)), Shape{inner});
            sums.push_back(m_b.reshape(sum, columns ? Shape{length, 1} : Shape{1, length}));
        }
        return m_b.concat(sums, columns ? 1 : 0);
    }

    Builder& m_b;
    NodeId m_left, m_right, m_bias;
    MatmulAttrs m_how;
    DType m_dtype;
    int64_t m_m, m_n, m_k;
};

} // namespace

Graph thinProductsByElement(const Graph& graph, int64_t fewest) {
    return rewritten(graph, [&](Builder& b, NodeId id, std::span<const NodeId> at) {
        const Node& node = graph[id];
        if (node.op != Op::Matmul || node.shape.rank() != 2 || node.math == MathMode::TF32 ||
            node.dtype == DType::F64)
            return kNoNode;
        const auto operand = [&](size_t i) {
            return i < node.in.size() ? at[static_cast<size_t>(node.in[i])] : kNoNode;
        };
        return Product(b, node, operand(0), operand(1), operand(2)).byElement(fewest);
    });
}

} // namespace halfscope
