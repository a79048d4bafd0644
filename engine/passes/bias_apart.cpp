// The sum fuses into the loop that reads the product.
#include "engine/passes/bias_apart.h"

#include "engine/passes/rewrite.h"

namespace halfscope {

Graph biasApart(const Graph& graph) {
    return rewritten(graph, [&](Builder& b, NodeId id, std::span<const NodeId> at) {
        const Node& node = graph[id];
        if (node.op != Op::Matmul || node.in.size() == 2 || isLow(node.dtype)) return kNoNode;
        const auto operand = [&](size_t i) { return at[static_cast<size_t>(node.in[i])]; };
        b.setMathMode(node.math == MathMode::TF32 ? MathMode::TF32 : MathMode::F32);
        const NodeId product = b.matmul(operand(0), operand(1), std::get<MatmulAttrs>(node.attrs));
        Shape row = Shape::filled(node.shape.rank(), 1);
        row[node.shape.rank() - 1] = node.shape.back();
        const NodeId bias = b.reshape(b.cast(operand(2), node.dtype), row);
        return b.add(product, b.expandLike(bias, product));
    });
}

} // namespace halfscope
