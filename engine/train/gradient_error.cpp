// Both sides get the same states, so that dropout has the same masks, and differ in precision
// alone.
#include "engine/train/gradient_error.h"

#include "engine/passes/compile.h"
#include "engine/step/step_graph.h"
#include "engine/train/initial_weights.h"
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

void GradientError::build(const std::stop_token& stop) {
    std::vector<Side> sides;
    if (m_config.gradientError > 0 && !computesInFloat32(m_lane)) {
        const LaneConfig full = defaultLane(Precision::Fp32);
        sides.push_back(sideOf(m_lane, m_plan));
        throwIfStopped(stop);
        sides.push_back(sideOf(full, planOf(full)));
        throwIfStopped(stop);
    }
    const std::lock_guard lock(m_mutex);
    m_sides = std::move(sides);
}

/// Whether a multiple of the interval has passed since the last whole batch before this one.
bool GradientError::isDue(int64_t step) const {
    const auto whole = [this](int64_t at) { return m_source.rows(at) == m_source.rows(); };
    if (m_sides.empty() || !whole(step)) return false;
    int64_t before = step - 1;
    while (before > 0 && !whole(before))
        --before;
    return step / m_config.gradientError != before / m_config.gradientError;
}

bool GradientError::measure(int64_t step, const LaneStep& at) {
    m_value.reset();
    if (!isDue(step)) return true;
    if (!runAll(at, *m_source.load(step))) return false;
    if (const double error = difference(); std::isfinite(error)) m_value = error;
    return true;
}

/// Runs both sides; a request to stop reaches them meanwhile.
bool GradientError::runAll(const LaneStep& at, const Batch& batch) {
    const auto setRunning = [this](bool on) {
        const std::lock_guard lock(m_mutex);
        m_running = on;
    };
    struct Until {
        const decltype(setRunning)& set;
        ~Until() { set(false); }
    };
    setRunning(true);
    const Until until{setRunning};
    return std::all_of(m_sides.begin(), m_sides.end(),
                       [&](const Side& side) { return run(side, at, batch); });
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
    const std::lock_guard lock(m_mutex);
    if (!m_running) return;
    for (const Side& side : m_sides)
        side.executor->requestStop();
}

size_t GradientError::bytes() const {
    size_t all = 0;
    for (const Side& side : m_sides)
        all += memoryUse(*side.executor, *side.program).bytes;
    return all;
}

} // namespace halfscope
