// Finds the gradients in the graph of a step and runs the step to count them.
#include "engine/train/gradient_range.h"

#include "engine/train/lane_state.h"

#include <map>
#include <string>
#include <string_view>

namespace halfscope {

namespace {

constexpr std::string_view kGradientLabel = " gradient"; // "0.weight gradient", see step_graph

bool isProduct(Op op) {
    return op == Op::Matmul || op == Op::Conv2d || op == Op::Conv2dInputGrad ||
           op == Op::Conv2dWeightGrad;
}

bool onlyMoves(Op op) { return op == Op::Reshape || op == Op::Transpose; }

NodeId moved(const Graph& graph, NodeId id) {
    while (onlyMoves(graph[id].op))
        id = graph[id].in[0];
    return id;
}

} // namespace

GradientSampler::GradientSampler(const Graph& graph)
    : m_outputs(static_cast<size_t>(graph.size())),
      m_weights(static_cast<size_t>(graph.size()), -1) {
    const auto isGradient = [&graph](NodeId id) {
        return graph[id].cause.phase == Phase::Backward;
    };
    std::map<std::string, int> numbers; // by the label of a parameter's gradient
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        const Cause& cause = node.cause;
        const bool product = isProduct(node.op) && cause.phase == Phase::Backward;
        const bool check = cause.phase == Phase::Unscale && cause.label.ends_with(kGradientLabel);
        for (const NodeId in : node.in) {
            // The other operand of a product is a weight or an activation of the forward pass.
            if (product && isGradient(in)) m_outputs[static_cast<size_t>(moved(graph, in))] = true;
            if (!check || !isGradient(in)) continue;
            const int next = static_cast<int>(numbers.size());
            markWeights(graph, in, numbers.try_emplace(cause.label, next).first->second);
        }
    }
    m_parameters = static_cast<int>(numbers.size());
}

/// Goes from a parameter's gradient, as the check gets it, back to the operation that makes it. The
/// first stored value on the way is the gradient in its own dtype.
void GradientSampler::markWeights(const Graph& graph, NodeId at, int parameter) {
    for (;; at = graph[at].in[0]) {
        m_weights[static_cast<size_t>(at)] = parameter;
        if (graph[at].op != Op::Cast && !onlyMoves(graph[at].op)) return;
    }
}

bool GradientSampler::sample(Executor& executor, const Graph& graph, GradientRange& range) const {
    const StateValues saved = downloadStates(executor, graph, WhichStates::Written);
    range = {};
    std::vector<bool> counted(static_cast<size_t>(m_parameters));
    const auto add = [&range](MagnitudeCounts& counts, DType type,
                              std::span<const std::byte> bytes) {
        counts.add(type, bytes);
        if (bytesOf(type) < bytesOf(range.type)) range.type = type;
    };
    const RunResult result =
        executor.run(RunMode::Stepwise, [&](NodeId id, std::span<const std::byte> bytes) {
            const auto at = static_cast<size_t>(id);
            const DType type = graph[id].dtype;
            if (at >= m_outputs.size() || !isFloat(type)) return;
            if (m_outputs[at]) add(range.outputs, type, bytes);
            const int parameter = m_weights[at];
            if (parameter < 0 || counted[static_cast<size_t>(parameter)]) return;
            counted[static_cast<size_t>(parameter)] = true;
            add(range.weights, type, bytes);
        });
    uploadStates(executor, graph, saved);
    return result == RunResult::Done;
}

} // namespace halfscope
