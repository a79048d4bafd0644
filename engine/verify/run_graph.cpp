// Implements the transfer of doubles to and from a device's storage.
#include "engine/verify/run_graph.h"

#include "engine/core/error.h"
#include "engine/ops/op_info.h"

#include <cstring>
#include <memory>

namespace halfscope::recorded {

std::vector<std::byte> toBytes(const Node& node, const std::vector<double>& values) {
    std::vector<std::byte> bytes(node.bytes());
    require(values.size() * bytesOf(node.dtype) == bytes.size(), "values do not fit their node");
    for (size_t i = 0; i < values.size(); ++i) {
        std::byte* to = bytes.data() + i * bytesOf(node.dtype);
        if (node.dtype == DType::F64) {
            std::memcpy(to, &values[i], sizeof(double));
        } else if (node.dtype == DType::I32) {
            const auto value = static_cast<int32_t>(roundTo(node.dtype, values[i])); // saturates
            std::memcpy(to, &value, sizeof value);
        } else {
            const auto value = static_cast<float>(roundTo(node.dtype, values[i]));
            storeFromFloat(node.dtype, &value, to, 1);
        }
    }
    return bytes;
}

std::vector<double> fromBytes(const Node& node, const std::vector<std::byte>& bytes) {
    std::vector<double> values(static_cast<size_t>(node.elements()));
    require(values.size() * bytesOf(node.dtype) == bytes.size(), "bytes do not fit their node");
    for (size_t i = 0; i < values.size(); ++i) {
        const std::byte* from = bytes.data() + i * bytesOf(node.dtype);
        if (node.dtype == DType::F64) {
            std::memcpy(&values[i], from, sizeof(double));
        } else if (node.dtype == DType::I32) {
            int32_t value = 0;
            std::memcpy(&value, from, sizeof value);
            values[i] = value;
        } else {
            float value = 0;
            loadAsFloat(node.dtype, from, &value, 1);
            values[i] = static_cast<double>(value);
        }
    }
    return values;
}

std::map<std::string, std::vector<double>> runGraph(Executor& executor, const Graph& graph,
                                                    const std::map<NodeId, RefTensor>& leaves,
                                                    const CompileOptions& options, int steps) {
    const auto program = std::make_shared<const Program>(compile(graph, options));
    executor.load(program);
    const Graph& g = program->graph;
    const auto upload = [&](NodeId original, NodeId compiled) {
        executor.upload(compiled, toBytes(g[compiled], leaves.at(original).values));
    };
    for (const InputInfo& input : graph.inputs())
        upload(input.node, g.input(input.name));
    for (const StateInfo& state : graph.states())
        upload(state.node, g.state(state.name));
    for (int i = 0; i < steps; ++i)
        executor.run(RunMode::Captured);
    std::map<std::string, std::vector<double>> values;
    const auto read = [&](const std::string& name, NodeId id) {
        std::vector<std::byte> bytes(g[id].bytes());
        executor.download(id, bytes);
        values[name] = fromBytes(g[id], bytes);
    };
    for (const OutputInfo& output : g.outputs())
        read(output.name, output.node);
    for (const StateInfo& state : g.states())
        read(state.name, state.node);
    return values;
}

} // namespace halfscope::recorded
