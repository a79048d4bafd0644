// Finds the gradients in the graph of a step and runs the step to count them.
#include "engine/train/gradient_range.h"

#include "engine/ops/op_info.h"
#include "engine/step/parameter_layers.h"
#include "engine/train/lane_state.h"

#include <algorithm>

namespace halfscope {

namespace {

bool isProduct(Op op) { return infoOf(op).flags.has(OpFlag::Product); }

bool onlyMoves(Op op) { return op == Op::Reshape || op == Op::Transpose; }

NodeId moved(const Graph& graph, NodeId id) {
    while (onlyMoves(graph[id].op))
        id = graph[id].in[0];
    return id;
}

} // namespace

GradientSampler::GradientSampler(const Graph& graph)
    : m_layerOf(layersOfParameters(graph)), m_labels(forwardLabels(graph)),
      m_roles(static_cast<size_t>(graph.size())) {
    m_labels.emplace_back();
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
            if (product && isGradient(in))
                m_roles[static_cast<size_t>(moved(graph, in))].outputsOf = layerNamed(cause.label);
            if (!check || !isGradient(in)) continue;
            const auto [known, fresh] =
                numbers.try_emplace(cause.label, static_cast<int>(m_parameters.size()));
            if (fresh) {
                const size_t end = cause.label.size() - kGradientLabel.size();
                const auto layer = m_layerOf.find(cause.label.substr(0, end));
                m_parameters.push_back(
                    layerNamed(layer == m_layerOf.end() ? std::string() : layer->second));
            }
            markWeights(graph, in, known->second);
        }
    }
}

/// Returns the number of a layer; that of none for a label that the forward pass does not have.
int GradientSampler::layerNamed(const std::string& label) const {
    const auto end = m_labels.end() - 1;
    return static_cast<int>(std::find(m_labels.begin(), end, label) - m_labels.begin());
}

/// Goes from a parameter's gradient, as the check gets it, back to the operation that makes it. The
/// first stored value on the way is the gradient in its own dtype.
void GradientSampler::markWeights(const Graph& graph, NodeId at, int parameter) {
    for (;; at = graph[at].in[0]) {
        m_roles[static_cast<size_t>(at)].parameter = parameter;
        if (graph[at].op != Op::Cast && !onlyMoves(graph[at].op)) return;
    }
}

std::vector<LayerGradients> GradientSampler::emptyLayers() const {
    std::vector<LayerGradients> layers(m_labels.size());
    for (size_t i = 0; i < layers.size(); ++i)
        layers[i].layer = m_labels[i];
    return layers;
}

bool GradientSampler::sample(Executor& executor, const Graph& graph, GradientRange& range) const {
    const StateValues saved = downloadStates(executor, graph, WhichStates::Written);
    range = {};
    std::vector<LayerGradients> layers = emptyLayers();
    std::vector<bool> counted(m_parameters.size());
    const auto narrow = [](DType& type, DType other) {
        if (bytesOf(other) < bytesOf(type)) type = other;
    };
    const RunResult result =
        executor.run(RunMode::Stepwise, [&](NodeId id, std::span<const std::byte> bytes) {
            const auto at = static_cast<size_t>(id);
            const DType type = graph[id].dtype;
            if (at >= m_roles.size() || !isFloat(type)) return;
            const Role& role = m_roles[at];
            const auto add = [&](int layer, MagnitudeCounts LayerGradients::*counts) {
                LayerGradients& own = layers[static_cast<size_t>(layer)];
                (own.*counts).add(type, bytes);
                narrow(own.type, type);
                return &own;
            };
            if (role.outputsOf >= 0)
                add(role.outputsOf, &LayerGradients::outputs)->fp8 |=
                    graph[id].op == Op::QuantizeFp8;
            const auto parameter = static_cast<size_t>(role.parameter);
            if (role.parameter < 0 || counted[parameter]) return;
            counted[parameter] = true;
            add(m_parameters[parameter], &LayerGradients::weights);
        });
    uploadStates(executor, graph, saved);
    for (const LayerGradients& layer : layers) {
        range.outputs.add(layer.outputs);
        range.weights.add(layer.weights);
        narrow(range.type, layer.type);
    }
    std::erase_if(layers, [](const LayerGradients& layer) {
        return layer.layer.empty() || layer.outputs.total() + layer.weights.total() == 0;
    });
    range.layers = std::move(layers);
    return result == RunResult::Done;
}

} // namespace halfscope
