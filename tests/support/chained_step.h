// Whole steps with fused chains in the emulator: an executor that fuses what it is given, however
// small, and the values that a step read and stored.
#pragma once

#include "tests/support/chain_check.h"
#include "tests/support/chain_plans.h"
#include "tests/support/emulated_executor.h"
#include "tests/support/run_program.h"

#include "engine/passes/fuse.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"

#include <memory>
#include <vector>

namespace halfscope::test {

/// Fuses what it is given, however small, and keeps what was loaded and stored.
class ChainedExecutor final : public Executor {
public:
    ChainedExecutor(cuda::DeviceTraits traits, cuda::ChainOptions chains, cuda::Merge merge,
                    bool shuffled = true)
        : m_traits(traits), m_chains(chains),
          m_inner({.source = {.merge = merge,
                              .chains = cuda::Chains::Unfused,
                              .libraries = cuda::Libraries::Unused,
                              .chainWay = traits.chainWay},
                   .traits = traits,
                   .shuffled = shuffled}) {}
    const DeviceInfo& device() const override { return m_inner.device(); }
    const Program& program() const { return m_inner.source().program; }
    void load(std::shared_ptr<const Program> program) override {
        m_inner.load(
            std::make_shared<const Program>(cuda::fuseChains(*program, m_traits, m_chains)));
    }
    RunResult run(RunMode mode, const Visitor& visitor) override {
        return m_inner.run(mode, visitor);
    }
    void upload(NodeId id, std::span<const std::byte> bytes) override { m_inner.upload(id, bytes); }
    void download(NodeId id, std::span<std::byte> bytes) override { m_inner.download(id, bytes); }
    void requestStop() override {}
    double lastStepSeconds() const override { return 0; }

private:
    cuda::DeviceTraits m_traits;
    cuda::ChainOptions m_chains;
    EmulatedExecutor m_inner;
};

inline std::vector<double> valuesOf(Executor& executor, const Node& node, NodeId id) {
    std::vector<std::byte> bytes(node.bytes());
    executor.download(id, bytes);
    return fromBytes(node, bytes);
}

/// Runs a step and returns every value that it read or stored, by node.
inline ChainCheck::Values runVisited(Executor& executor, const Program& program) {
    ChainCheck::Values values;
    const Graph& graph = program.graph;
    for (const StateInfo& state : graph.states())
        values[state.node] = valuesOf(executor, graph[state.node], state.node);
    for (const InputInfo& input : graph.inputs())
        values[input.node] = valuesOf(executor, graph[input.node], input.node);
    executor.run(RunMode::Stepwise, [&](NodeId id, std::span<const std::byte> bytes) {
        values[id] = fromBytes(graph[id], {bytes.begin(), bytes.end()});
    });
    for (const Kernel& kernel : program.kernels)
        for (NodeId load : kernel.loads)
            values[load] = values.at(storageOf(graph, load));
    return values;
}

/// Returns a network after `steps` steps on the first batch.
inline StepRunner trained(const RunConfig& config, const LaneConfig& lane,
                          std::unique_ptr<Executor> executor, int steps) {
    const auto dataset = makeTask(config);
    const BatchShape shape = dataset->shape();
    StepRunner runner(config, lane, buildStep(config, lane, shape), std::move(executor),
                      CompileOptions{}); // on the CPU, too, the program that CUDA gets
    std::vector<float> x(static_cast<size_t>(shape.rows * shape.inputs));
    std::vector<float> target(static_cast<size_t>(shape.rows * shape.outputs));
    dataset->batch(1, x, target);
    runner.set(runner.graph().input("x"), x);
    runner.set(runner.graph().input("target"), target);
    for (int step = 0; step < steps; ++step)
        runner.executor().run(RunMode::Captured);
    return runner;
}

/// A step of a small checkerboard with everything fused.
struct TiledStep {
    std::vector<double> states; ///< after the step
    std::string fault; ///< the first of its chains that stores a value beyond its bound; else empty
};
inline TiledStep stepInTiles(Precision precision, const cuda::DeviceTraits& traits) {
    auto made = std::make_unique<ChainedExecutor>(traits, ofAllSizes(), cuda::Merge::Full);
    ChainedExecutor& executor = *made;
    const StepRunner runner =
        trained(checkerboard(24, 64), defaultLane(precision), std::move(made), 1);
    const Program& program = executor.program();
    const ChainCheck::Values values = runVisited(executor, program);
    TiledStep step;
    for (const Kernel& kernel : program.kernels)
        if (cuda::isChain(kernel) && step.fault.empty())
            step.fault = ChainCheck(program, kernel, values, traits.chainWay.form).firstFault();
    for (const StateInfo& state : program.graph.states())
        for (double x : valuesOf(executor, program.graph[state.node], state.node))
            step.states.push_back(x);
    return step;
}

} // namespace halfscope::test
