// Finds the gradients in the graph of a step and runs the step to count them.
#include "engine/train/gradient_range.h"

#include "engine/core/typed_bytes.h"
#include "engine/ops/op_info.h"
#include "engine/step/parameter_layers.h"
#include "engine/train/lane_state.h"

#include <algorithm>

namespace halfscope {

namespace {

bool isProduct(Op op) { return infoOf(op).flags.has(OpFlag::Product); }

bool onlyMoves(Op op) { return op == Op::Reshape || op == Op::Transpose; }

/// Whether a node adds a batch's gradient to those of earlier batches, which a state has.
bool accumulates(const Graph& graph, const Node& node) {
    return node.op == Op::Add && graph[node.in[0]].op == Op::State;
}

void takeNarrower(DType& type, DType other) {
    if (bytesOf(other) < bytesOf(type)) type = other;
}

NodeId moved(const Graph& graph, NodeId id) {
    while (onlyMoves(graph[id].op))
        id = graph[id].in[0];
    return id;
}

} // namespace

GradientSampler::GradientSampler(const Graph& graph)
    : m_layerOf(layersOfParameters(graph)), m_roles(static_cast<size_t>(graph.size())) {
    std::vector<std::string> labels = forwardLabels(graph);
    m_layers.resize(labels.size() + 1);
    for (size_t i = 0; i < labels.size(); ++i)
        m_layers[i].layer = std::move(labels[i]);
    for (const StateInfo& state : graph.states()) // in PyTorch's order
        if (const auto layer = m_layerOf.find(state.name); layer != m_layerOf.end())
            m_layers[static_cast<size_t>(layerNamed(layer->second))].parameters.push_back(
                state.name);
    const auto isGradient = [&graph](NodeId id) {
        return graph[id].cause.phase == Phase::Backward;
    };
    std::map<std::string, int> numbers; // by the label of a parameter's gradient
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        const Cause& cause = node.cause;
        const bool product = isProduct(node.op) && cause.phase == Phase::Backward;
        if (node.op == Op::QuantizeFp8 && cause.phase == Phase::Backward)
            m_layers[static_cast<size_t>(layerNamed(cause.label))].fp8 = true;
        const bool check = cause.phase == Phase::Unscale && cause.label.ends_with(kGradientLabel);
        for (const NodeId in : node.in) {
            // The other operand of a product is a weight or an activation of the forward pass.
            if (product && isGradient(in))
                m_roles[static_cast<size_t>(moved(graph, in))].outputsOf = layerNamed(cause.label);
            if (!check || !isGradient(in)) continue;
            const auto [known, fresh] =
                numbers.try_emplace(cause.label, static_cast<int>(m_parameters.size()));
            if (fresh) {
                const size_t end = cause.label.size() - kGradientLabel.size();
                const auto layer = m_layerOf.find(cause.label.substr(0, end));
                m_parameters.push_back(
                    {layerNamed(layer == m_layerOf.end() ? std::string() : layer->second)});
            }
            takeNarrower(m_parameters[static_cast<size_t>(known->second)].type,
                         markWeights(graph, in, known->second));
        }
    }
}

/// Returns the number of a layer; that of none for a label that the forward pass does not have.
int GradientSampler::layerNamed(const std::string& label) const {
    const auto end = m_layers.end() - 1;
    return static_cast<int>(
        std::find_if(m_layers.begin(), end,
                     [&](const LayerGradients& each) { return each.layer == label; }) -
        m_layers.begin());
}

/// Goes from a parameter's gradient, as the check gets it, back to the operation that makes it,
/// that of the present batch where batches are added up. The first stored value on the way is
/// counted. Returns the dtype of the batch's gradient, to which a cast after that value may round
/// it: a 16-bit norm layer adds up its gradients in float32.
DType GradientSampler::markWeights(const Graph& graph, NodeId at, int parameter) {
    DType type = graph[at].dtype;
    for (;;) {
        m_roles[static_cast<size_t>(at)].parameter = parameter;
        const Node& node = graph[at];
        const bool sums = accumulates(graph, node);
        if (!sums && node.op != Op::Cast && !onlyMoves(node.op)) return type;
        at = node.in[sums ? 1 : 0];
        if (sums) type = graph[at].dtype;
        takeNarrower(type, graph[at].dtype);
    }
}

bool GradientSampler::sample(Executor& executor, const Graph& graph, GradientRange& range) const {
    const StateValues saved = downloadStates(executor, graph, WhichStates::Written);
    range = {};
    std::vector<LayerGradients> layers = m_layers;
    std::vector<bool> counted(m_parameters.size());
    const auto count = [&](NodeId id, std::span<const std::byte> bytes) {
        const DType type = graph[id].dtype;
        if (static_cast<size_t>(id) >= m_roles.size() || !isFloat(type)) return;
        const Role& role = m_roles[static_cast<size_t>(id)];
        const auto add = [&](int layer, MagnitudeCounts LayerGradients::*counts, DType own,
                             std::span<const std::byte> values) {
            LayerGradients& gradients = layers[static_cast<size_t>(layer)];
            (gradients.*counts).add(own, values);
            takeNarrower(gradients.type, own);
        };
        if (role.outputsOf >= 0) add(role.outputsOf, &LayerGradients::outputs, type, bytes);
        const auto at = static_cast<size_t>(role.parameter);
        if (role.parameter < 0 || counted[at]) return;
        counted[at] = true;
        const auto& [layer, own] = m_parameters[at];
        if (bytesOf(type) > bytesOf(own))
            add(layer, &LayerGradients::weights, own,
                storedAs(own, {type, graph[id].shape, {bytes.begin(), bytes.end()}}));
        else
            add(layer, &LayerGradients::weights, type, bytes);
    };
    RunResult result{};
    try {
        result = executor.run(RunMode::Stepwise, count);
    } catch (...) { // the training goes on where the caller can do without the counts
        uploadStates(executor, graph, saved);
        throw;
    }
    uploadStates(executor, graph, saved);
    for (const LayerGradients& layer : layers) {
        range.outputs.add(layer.outputs);
        range.weights.add(layer.weights);
        takeNarrower(range.type, layer.type);
    }
    std::erase_if(layers, [](const LayerGradients& layer) {
        return layer.layer.empty() || layer.total() == 0;
    });
    range.layers = std::move(layers);
    return result == RunResult::Done;
}

} // namespace halfscope
