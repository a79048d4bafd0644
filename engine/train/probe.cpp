// A forward pass that is compiled once and run again and again.
#include "engine/train/probe.h"

#include "engine/passes/compile.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"

#include <utility>

namespace halfscope {

Probe::Probe(const RunConfig& config, const PrecisionPlan& plan,
             std::span<const TensorSpec> tensors, const Batch& inputs,
             std::unique_ptr<Executor> executor)
    : m_executor(std::move(executor)) {
    const Graph graph =
        buildForward(config, plan, batchShape(tensors, inputs.rows()), ModelMode::Evaluate);
    m_program = std::make_shared<const Program>(compile(graph, m_executor->compileOptions()));
    m_executor->load(m_program);
    upload(inputs);
}

void Probe::upload(const Batch& inputs) {
    uploadTensor(*m_executor, m_program->graph, m_program->graph.input("x"), inputs.tensors[kX]);
}

void Probe::setWeights(const std::function<void(Executor&, const Graph&)>& weights) {
    weights(*m_executor, m_program->graph);
}

std::optional<std::vector<float>> Probe::run() {
    const Graph& graph = m_program->graph;
    if (m_executor->run(RunMode::Captured) == RunResult::Stopped) return std::nullopt;
    return downloadFloats(*m_executor, graph, graph.output("prediction"));
}

std::optional<std::vector<float>> Probe::run(const Batch& inputs) {
    upload(inputs);
    return run();
}

std::optional<std::vector<float>>
Probe::run(const std::function<void(Executor&, const Graph&)>& weights) {
    setWeights(weights);
    return run();
}

} // namespace halfscope
