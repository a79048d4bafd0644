// Moves starting values to a device and runs steps there. step_graph defines what a step is.
#include "engine/train/step_runner.h"

#include "engine/core/error.h"
#include "engine/data/class_weights.h"
#include "engine/models/model_spec.h"
#include "engine/step/schedule.h"
#include "engine/step/step_graph.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace halfscope {

namespace {

std::vector<std::byte> stored(const Node& node, std::span<const float> values) {
    require(values.size() == static_cast<size_t>(node.elements()), "as many values as elements");
    std::vector<std::byte> bytes(node.bytes());
    storeFromFloat(node.dtype, values.data(), bytes.data(), values.size());
    return bytes;
}

} // namespace

void uploadFloats(Executor& executor, const Graph& graph, NodeId id,
                  std::span<const float> values) {
    if (graph[id].dtype == DType::F32) // weights may take gigabytes: one copy less
        executor.upload(id, std::as_bytes(values));
    else
        executor.upload(id, stored(graph[id], values));
}

void uploadWeights(Executor& executor, const Graph& graph, const Weights& weights,
                   const std::stop_token& stop) {
    for (const StateInfo& state : graph.states()) {
        if (!isWeight(state)) continue;
        throwIfStopped(stop);
        const auto found = weights.find(state.name);
        if (found == weights.end())
            throw InputError(phrase("Training", "weights: %1 is missing"), state.name);
        const int64_t wanted = graph[state.node].elements();
        if (static_cast<int64_t>(found->second.size()) != wanted)
            throw InputError(phrase("Training", "weights: %1 has %2 values, %3 are expected"),
                             state.name, found->second.size(), wanted);
        uploadFloats(executor, graph, state.node, found->second);
    }
}

void requireWeights(const Graph& graph, const Weights& weights) {
    for (const auto& given : weights)
        if (std::ranges::none_of(graph.states(), [&](const StateInfo& state) {
                return isWeight(state) && state.name == given.first;
            }))
            throw InputError(phrase("Training", "weights: the network has no %1"), given.first);
}

void uploadBatchCounts(Executor& executor, const Graph& graph, const BatchCounts& seen) {
    for (const StateInfo& state : graph.states()) {
        if (state.role != StateRole::Counter || !state.name.ends_with(kBatchesTracked)) continue;
        for (const auto& [layer, count] : seen)
            if (state.name == joinedPath(layer, kBatchesTracked)) {
                const auto most = static_cast<float>(count); // a mean over so many hardly moves
                uploadFloats(executor, graph, state.node, std::array{std::min(most, 0x1p24F)});
            }
    }
}

void copyWeights(Executor& from, const Graph& fromGraph, Executor& to, const Graph& graph,
                 const std::stop_token& stop) {
    for (const StateInfo& state : graph.states()) {
        if (!isWeight(state)) continue;
        throwIfStopped(stop);
        uploadFloats(to, graph, state.node,
                     downloadFloats(from, fromGraph, fromGraph.state(state.name)));
    }
}

void uploadTensor(Executor& executor, const Graph& graph, NodeId id, const TypedBytes& tensor) {
    require(tensor.shape == graph[id].shape, "a batch has the shape of its input");
    if (tensor.dtype == graph[id].dtype)
        executor.upload(id, tensor.bytes);
    else
        executor.upload(id, storedAs(graph[id].dtype, tensor));
}

void lendTensor(Executor& executor, const Graph& graph, NodeId id,
                const std::shared_ptr<const Batch>& batch, size_t tensor) {
    const TypedBytes& values = batch->tensors[tensor];
    require(values.shape == graph[id].shape, "a batch has the shape of its input");
    if (values.dtype == graph[id].dtype)
        executor.lend(id, values.bytes, batch);
    else
        executor.upload(id, storedAs(graph[id].dtype, values));
}

bool stageTensor(Executor& executor, const Graph& graph, NodeId id, const TypedBytes& tensor) {
    require(tensor.shape == graph[id].shape, "a batch has the shape of its input");
    return executor.stage(id, storedAs(graph[id].dtype, tensor));
}

std::vector<float> downloadFloats(Executor& executor, const Graph& graph, NodeId id) {
    const Node& node = graph[id];
    std::vector<float> values(static_cast<size_t>(node.elements()));
    if (node.dtype == DType::F32) {
        executor.download(id, std::as_writable_bytes(std::span(values)));
        return values;
    }
    std::vector<std::byte> bytes(node.bytes());
    executor.download(id, bytes);
    loadAsFloat(node.dtype, bytes.data(), values.data(), values.size());
    return values;
}

ScalerRules actingRules(const LaneConfig& lane) {
    ScalerRules rules = lane.scaler.rules;
    if (!scalesLoss(lane)) rules.mode = ScalerMode::Off;
    return rules;
}

ScalerSlots firstScaler(const LaneConfig& lane) {
    ScalerState state;
    state.scale = scalesLoss(lane) ? static_cast<float>(lane.scaler.initScale) : 1.0F;
    return slotsOf(state);
}

void uploadClassWeights(Executor& executor, const Graph& graph, const LossSpec& loss) {
    for (const StateInfo& state : graph.states())
        if (state.name == kClassWeightsState)
            uploadFloats(executor, graph, state.node,
                         weightsOf(loss, graph[state.node].elements()));
}

void uploadSettings(Executor& executor, const Graph& graph, const RunConfig& config,
                    const LaneConfig& lane) {
    const ScalerSlots scaler = firstScaler(lane);
    executor.upload(graph.state("scaler"), std::as_bytes(std::span(scaler)));
    const RuleSlots rules = slotsOf(actingRules(lane));
    executor.upload(graph.state("scaler.rules"), std::as_bytes(std::span(rules)));
    for (const auto& [table, values] : scheduleTables(config))
        uploadFloats(executor, graph, graph.state(table), values);
    uploadClassWeights(executor, graph, config.task.loss);
}

StepRunner::StepRunner(const RunConfig& config, const LaneConfig& lane, const Graph& step,
                       std::unique_ptr<Executor> executor,
                       const std::optional<CompileOptions>& options)
    : m_executor(std::move(executor)), m_program(std::make_shared<const Program>(compile(
                                           step, options.value_or(m_executor->compileOptions())))) {
    m_executor->load(m_program);
    const Weights weights = initialWeights(graph(), config.seed);
    for (const StateInfo& state : graph().states())
        if (const auto found = weights.find(state.name); found != weights.end())
            uploadFloats(*m_executor, graph(), state.node, found->second);
    uploadSettings(*m_executor, graph(), config, lane);
}

void StepRunner::set(NodeId id, std::span<const float> values) {
    uploadFloats(*m_executor, graph(), id, values);
}

void StepRunner::set(NodeId id, std::span<const int32_t> values) {
    require(graph()[id].dtype == DType::I32, "labels are int32");
    m_executor->upload(id, std::as_bytes(values));
}

std::vector<float> StepRunner::get(NodeId id) { return downloadFloats(*m_executor, graph(), id); }

double StepRunner::run(int64_t steps) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < steps; ++i)
        require(m_executor->run(RunMode::Captured) == RunResult::Done, "nobody asks it to stop");
    metrics(); // waits for the last step
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

MetricsRow StepRunner::metrics() { return readMetrics(*m_executor, graph()); }

} // namespace halfscope
