// Both sides get the same states, so that dropout has the same masks, and differ in precision
// alone.
#include "engine/train/gradient_error.h"

#include "engine/passes/compile.h"
#include "engine/step/step_graph.h"
#include "engine/train/lane_state.h"
#include "engine/train/step_runner.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halfscope {
namespace {

/// Returns the values of the states that another graph has, too.
StateValues statesFor(const Graph& wanted, Executor& from, const Graph& graph) {
    StateValues values;
    for (const StateInfo& state : graph.states()) {
        const auto same = [&](const StateInfo& other) { return other.name == state.name; };
        if (std::none_of(wanted.states().begin(), wanted.states().end(), same)) continue;
        const Node& node = graph[state.node];
        TypedBytes bytes{node.dtype, node.shape, std::vector<std::byte>(node.bytes())};
        from.download(state.node, bytes.bytes);
        values[state.name] = std::move(bytes);
    }
    return values;
}

} // namespace

GradientError::GradientError(const RunConfig& config, const LaneConfig& lane,
                             const PrecisionPlan& plan, const BatchSource& source,
                             MakeExecutor makeExecutor)
    : m_config(config), m_lane(lane), m_plan(plan), m_source(source),
      m_makeExecutor(std::move(makeExecutor)) {}

bool GradientError::isDue(int64_t step, const LaneStep& at) const {
    const bool full = m_lane.precision == Precision::Fp32 && m_lane.layers.empty();
    const int64_t every = m_config.gradientError;
    return !full && every > 0 && step % every == 0 && at.rows() == m_source.rows();
}

bool GradientError::measure(int64_t step, const LaneStep& at) {
    m_value.reset();
    if (!isDue(step, at)) return true;
    if (!m_sides[0].executor) {
        const LaneConfig full = defaultLane(Precision::Fp32);
        m_sides = {sideOf(m_lane, m_plan), sideOf(full, planOf(full))};
    }
    const std::shared_ptr<const Batch> batch = m_source.load(step);
    m_running = true;
    const bool done = run(m_sides[0], at, *batch) && run(m_sides[1], at, *batch);
    m_running = false;
    if (!done) return false;
    if (const double error = difference(); std::isfinite(error)) m_value = error;
    return true;
}

GradientError::Side GradientError::sideOf(const LaneConfig& lane, const PrecisionPlan& plan) const {
    Side side{m_makeExecutor(), nullptr};
    const Graph graph = buildGradients(m_config, lane, plan, m_source.shape(m_source.rows()));
    side.program = std::make_shared<const Program>(compile(graph, side.executor->compileOptions()));
    side.executor->load(side.program);
    return side;
}

bool GradientError::run(const Side& side, const LaneStep& at, const Batch& batch) const {
    const Graph& graph = side.program->graph;
    uploadStates(*side.executor, graph, statesFor(graph, at.executor(), at.graph()));
    uploadTensor(*side.executor, graph, graph.input("x"), batch.tensors[kX]);
    uploadTensor(*side.executor, graph, graph.input("target"), batch.tensors[kTarget]);
    return side.executor->run(RunMode::Captured) == RunResult::Done;
}

double GradientError::difference() const {
    const Graph& own = m_sides[0].program->graph;
    const Graph& full = m_sides[1].program->graph;
    double squares = 0, all = 0;
    for (const OutputInfo& output : full.outputs()) {
        const std::vector<float> exact = downloadFloats(*m_sides[1].executor, full, output.node);
        const std::vector<float> rounded =
            downloadFloats(*m_sides[0].executor, own, own.output(output.name));
        for (size_t i = 0; i < exact.size(); ++i) {
            const double off = double{rounded[i]} - double{exact[i]};
            squares += off * off;
            all += double{exact[i]} * double{exact[i]};
        }
    }
    return std::sqrt(squares / all);
}

/// A request that comes while nothing is measured is meant for the step.
void GradientError::requestStop() {
    if (!m_running) return;
    for (const Side& side : m_sides)
        side.executor->requestStop();
}

std::vector<MemoryUse> GradientError::memory() const {
    std::vector<MemoryUse> uses;
    for (const Side& side : m_sides)
        if (side.executor) uses.push_back(memoryUse(*side.executor, *side.program));
    return uses;
}

} // namespace halfscope
