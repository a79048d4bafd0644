// The values of inputs and parameters that the networks in tests/golden were recorded with.
#pragma once

#include "engine/exec/reference.h"
#include "engine/models/model_spec.h"

#include <cmath>
#include <map>
#include <vector>

namespace halfscope {

/// Leaves of a graph, in float64, by functions of an element's index.
class RecordedLeaves {
public:
    explicit RecordedLeaves(const Graph& graph) : m_graph(graph) {}

    template <class At>
    void put(NodeId node, const At& valueAt) {
        RefTensor& tensor = m_values[node] = {m_graph[node].shape, {}};
        for (int64_t i = 0; i < m_graph[node].elements(); ++i)
            tensor.values.push_back(valueAt(static_cast<double>(i)));
    }
    /// Puts waves into the parameters of a model that the graph has, and returns their states.
    std::vector<NodeId> putParameters(const ModelSpec& model) {
        std::vector<NodeId> parameters;
        for (const NamedParameter& each : parametersOf(model)) {
            const auto k = static_cast<int>(parameters.size());
            parameters.push_back(m_graph.state(each.name));
            put(parameters.back(),
                [k](double i) { return (0.3 + 0.1 * (k % 4)) * std::sin(0.7 * i + k); });
        }
        return parameters;
    }
    const std::map<NodeId, RefTensor>& values() const { return m_values; }

private:
    const Graph& m_graph;
    std::map<NodeId, RefTensor> m_values;
};

} // namespace halfscope
