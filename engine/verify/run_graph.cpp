// Moves doubles to and from a device's storage.
#include "engine/verify/run_graph.h"

#include "engine/core/error.h"
#include "engine/ops/op_info.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

namespace halfscope::recorded {

namespace {
constexpr size_t kBlock = 1024; // floats converted at once
} // namespace

std::vector<std::byte> toBytes(const Node& node, const std::vector<double>& values) {
    std::vector<std::byte> bytes(node.bytes());
    const size_t count = values.size(), each = bytesOf(node.dtype);
    require(count * each == bytes.size(), "values do not fit their node");
    if (node.dtype == DType::F64) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
    } else if (node.dtype == DType::I32) {
        for (size_t i = 0; i < count; ++i) {
            const auto value = static_cast<int32_t>(roundTo(node.dtype, values[i])); // saturates
            std::memcpy(bytes.data() + i * each, &value, sizeof value);
        }
    } else {
        float rounded[kBlock];
        for (size_t first = 0; first < count; first += kBlock) {
            const size_t block = std::min(kBlock, count - first);
            for (size_t i = 0; i < block; ++i)
                rounded[i] = static_cast<float>(roundTo(node.dtype, values[first + i]));
            storeFromFloat(node.dtype, rounded, bytes.data() + first * each, block);
        }
    }
    return bytes;
}

std::vector<double> fromBytes(const Node& node, const std::vector<std::byte>& bytes) {
    std::vector<double> values(static_cast<size_t>(node.elements()));
    const size_t count = values.size(), each = bytesOf(node.dtype);
    require(count * each == bytes.size(), "bytes do not fit their node");
    if (node.dtype == DType::F64) {
        std::memcpy(values.data(), bytes.data(), bytes.size());
    } else if (node.dtype == DType::I32) {
        for (size_t i = 0; i < count; ++i) {
            int32_t value = 0;
            std::memcpy(&value, bytes.data() + i * each, sizeof value);
            values[i] = value;
        }
    } else {
        float loaded[kBlock];
        for (size_t first = 0; first < count; first += kBlock) {
            const size_t block = std::min(kBlock, count - first);
            loadAsFloat(node.dtype, bytes.data() + first * each, loaded, block);
            std::copy_n(loaded, block, values.begin() + static_cast<std::ptrdiff_t>(first));
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
