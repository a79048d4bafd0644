// Runs a program on the CPU executor with given leaves and reads values back as doubles.
#pragma once

#include "engine/exec/executor.h"
#include "engine/exec/reference.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace halfscope::test {

inline std::vector<std::byte> toBytes(const Node& node, const std::vector<double>& values) {
    std::vector<std::byte> bytes(node.bytes());
    for (size_t i = 0; i < values.size(); ++i) {
        std::byte* to = bytes.data() + i * bytesOf(node.dtype);
        if (node.dtype == DType::F64) {
            std::memcpy(to, &values[i], sizeof(double));
        } else if (node.dtype == DType::I32) {
            const auto value = static_cast<int32_t>(values[i]);
            std::memcpy(to, &value, sizeof value);
        } else {
            const auto value = static_cast<float>(values[i]);
            storeFromFloat(node.dtype, &value, to, 1);
        }
    }
    return bytes;
}

inline std::vector<double> fromBytes(const Node& node, const std::vector<std::byte>& bytes) {
    std::vector<double> values(static_cast<size_t>(node.elements()));
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

/// Outputs and states by name after `steps` steps.
inline std::map<std::string, std::vector<double>>
runSteps(const Graph& graph, const std::map<NodeId, RefTensor>& leaves, FuseOptions fuse,
         int threads, int steps) {
    const auto program = std::make_shared<const Program>(compile(graph, {fuse}));
    const auto executor = makeCpuExecutor(threads);
    executor->load(program);
    const auto upload = [&](const std::string& name, NodeId original, NodeId compiled) {
        (void)name;
        executor->upload(compiled, toBytes(program->graph[compiled], leaves.at(original).values));
    };
    for (const InputInfo& input : graph.inputs())
        upload(input.name, input.node, program->graph.input(input.name));
    for (const StateInfo& state : graph.states())
        upload(state.name, state.node, program->graph.state(state.name));
    for (int i = 0; i < steps; ++i)
        executor->run(RunMode::Captured);
    std::map<std::string, std::vector<double>> values;
    const auto read = [&](const std::string& name, NodeId id) {
        std::vector<std::byte> bytes(program->graph[id].bytes());
        executor->download(id, bytes);
        values[name] = fromBytes(program->graph[id], bytes);
    };
    for (const OutputInfo& output : program->graph.outputs())
        read(output.name, output.node);
    for (const StateInfo& state : program->graph.states())
        read(state.name, state.node);
    return values;
}

} // namespace halfscope::test
