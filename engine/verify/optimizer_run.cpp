// Builds and drives the graph of one optimizer.
#include "engine/verify/optimizer_run.h"

#include "engine/core/error.h"
#include "engine/step/optimizer.h"

namespace halfscope::recorded {

OptimizerRun::OptimizerRun(Executor& executor, const OptimizerConfig& config, DType storage,
                           const std::vector<float>& start, Skipping skipping, Momentum momentum)
    : m_selects(skipping == Skipping::Selects), m_executor(executor) {
    Graph graph;
    Builder b(graph);
    const Shape shape{static_cast<int64_t>(start.size())};
    const NodeId p = b.state("p", shape, storage, StateRole::Parameter);
    const NodeId g = b.input("g", shape, DType::F32);
    const NodeId lr = b.input("lr", {}, DType::F32);
    const NodeId skip = m_selects ? b.input("skip", {}, DType::Bool) : kNoNode;
    OptimizerExtras extras;
    if (momentum == Momentum::Scheduled)
        extras.momentumComplement = b.input("complement", {}, DType::F32);
    emitOptimizer(b, config, std::vector<ParameterGradient>{{p, g, "p"}}, lr, skip, extras);
    m_program = std::make_shared<const Program>(compile(graph));
    m_executor.load(m_program);
    setState("p", start);
    uploadFloat("lr", static_cast<float>(config.lr));
}

void OptimizerRun::uploadFloat(const char* input, float value) {
    m_executor.upload(m_program->graph.input(input), std::as_bytes(std::span(&value, 1)));
}

void OptimizerRun::setMomentum(double momentum) {
    uploadFloat("complement", static_cast<float>(1 - momentum));
}

void OptimizerRun::setState(const char* name, const std::vector<float>& values) {
    const NodeId id = m_program->graph.state(name);
    const DType type = m_program->graph[id].dtype;
    std::vector<std::byte> bytes(values.size() * bytesOf(type));
    storeFromFloat(type, values.data(), bytes.data(), values.size());
    m_executor.upload(id, bytes);
}

void OptimizerRun::step(const std::vector<float>& gradient, bool skip) {
    const Graph& graph = m_program->graph;
    m_executor.upload(graph.input("g"), std::as_bytes(std::span(gradient)));
    const uint8_t flag = skip ? 1 : 0;
    if (m_selects) m_executor.upload(graph.input("skip"), std::as_bytes(std::span(&flag, 1)));
    require(m_executor.run(RunMode::Captured) == RunResult::Done, "nobody asks this run to stop");
}

std::vector<float> OptimizerRun::state(const std::string& name) {
    const NodeId id = m_program->graph.state(name);
    const Node& node = m_program->graph[id];
    std::vector<std::byte> bytes(node.bytes());
    m_executor.download(id, bytes);
    std::vector<float> values(static_cast<size_t>(node.elements()));
    loadAsFloat(node.dtype, bytes.data(), values.data(), values.size());
    return values;
}

std::map<std::string, std::vector<float>> OptimizerRun::states() {
    std::map<std::string, std::vector<float>> all;
    for (const StateInfo& info : m_program->graph.states())
        all[info.name] = state(info.name);
    return all;
}

} // namespace halfscope::recorded
