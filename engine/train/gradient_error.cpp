// Both sides get the same states, so that dropout has the same masks, and differ in precision
// alone.
#include "engine/train/gradient_error.h"

#include "engine/core/error.h"
#include "engine/passes/compile.h"
#include "engine/step/step_graph.h"
#include "engine/train/evaluator.h"
#include "engine/train/initial_weights.h"
#include "engine/train/lane_state.h"
#include "engine/train/step_runner.h"

#include <algorithm>
#include <cmath>
#include <new>
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

std::optional<double> GradientDifference::error() const {
    const double error = std::sqrt(off / full);
    return std::isfinite(error) ? std::optional(error) : std::nullopt;
}

GradientError::GradientError(const RunConfig& config, const LaneConfig& lane,
                             const PrecisionPlan& plan, const BatchSource& source,
                             MakeExecutor makeExecutor)
    : m_config(config), m_lane(lane), m_plan(plan), m_source(source),
      m_makeExecutor(std::move(makeExecutor)) {}

void GradientError::build(const std::stop_token& stop) {
    {
        const std::lock_guard lock(m_mutex);
        m_sides.clear(); // what the settings were before
    }
    m_refused = {};
    if (m_config.gradientError > 0) prepare(stop);
}

void GradientError::prepare(const std::stop_token& stop) {
    if (!m_sides.empty() || computesInFloat32(m_lane)) return;
    std::vector<Side> sides;
    const LaneConfig full = defaultLane(Precision::Fp32);
    sides.push_back(sideOf(m_lane, m_plan, stop));
    sides.push_back(sideOf(full, planOf(full), stop));
    const std::lock_guard lock(m_mutex);
    m_sides = std::move(sides);
}

/// Prepares during a training. Returns false when a request to stop came meanwhile.
bool GradientError::prepareNow() {
    std::stop_token stop;
    {
        const std::lock_guard lock(m_mutex);
        stop = m_preparing.emplace().get_token();
    }
    struct Until {
        GradientError& error;
        ~Until() {
            const std::lock_guard lock(error.m_mutex);
            error.m_preparing.reset();
        }
    } const until{*this};
    try {
        prepare(stop);
    } catch (const RunError&) {
        if (!stop.stop_requested()) throw;
        return false;
    }
    return true;
}

void GradientError::release() {
    m_refused = {};
    if (m_config.gradientError > 0) return;
    const std::lock_guard lock(m_mutex);
    m_sides.clear();
}

/// Whether a multiple of the interval has passed since the last whole batch before this one.
bool GradientError::isDue(int64_t step) const {
    if (m_config.gradientError == 0 || m_sides.empty() || !isWhole(step)) return false;
    int64_t before = step - 1;
    while (before > 0 && !isWhole(before))
        --before;
    return step / m_config.gradientError != before / m_config.gradientError;
}

bool GradientError::measure(int64_t step, const LaneStep& at) {
    m_value.reset();
    if (!isDue(step)) return true;
    if (!runAll(at, *m_source.load(step))) return false;
    GradientDifference all;
    for (const auto& [parameter, difference] : differences())
        all.add(difference);
    m_value = all.error();
    return true;
}

bool GradientError::addTo(GradientRange& range, const LaneStep& at,
                          const std::function<void()>& fits) {
    range.noErrors = m_refused;
    if (!m_refused.empty() || computesInFloat32(m_lane)) return true;
    std::optional<Differences> found;
    try {
        if (m_sides.empty()) {
            if (!prepareNow()) return false;
            fits();
        }
        found = byParameter(range.step, at);
    } catch (const EngineError& error) {
        refuse(error.message(), range);
        return true;
    } catch (const std::bad_alloc&) {
        refuse(phrase("Training", "there is too little memory for them"), range);
        return true;
    }
    if (!found) return false;
    GradientDifference all;
    for (const auto& [parameter, own] : *found)
        all.add(own);
    range.error = all.error();
    Differences layers;
    for (const auto& [parameter, layer] : at.gradients().layers())
        if (const auto own = found->find(parameter); own != found->end())
            layers[layer].add(own->second);
    for (LayerGradients& layer : range.layers)
        if (const auto own = layers.find(layer.layer); own != layers.end())
            layer.error = own->second.error();
    return true;
}

/// The training goes on without errors.
void GradientError::refuse(const Message& why, GradientRange& range) {
    release();
    m_refused = range.noErrors = why;
}

/// Returns nothing when it was stopped.
std::optional<GradientError::Differences> GradientError::byParameter(int64_t step,
                                                                     const LaneStep& at) {
    while (!isWhole(step)) // a smaller last batch gives way to the one after it
        ++step;
    if (!runAll(at, *m_source.load(step))) return std::nullopt;
    return differences();
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

GradientError::Side GradientError::sideOf(const LaneConfig& lane, const PrecisionPlan& plan,
                                          const std::stop_token& stop) const {
    Side side{m_makeExecutor(), nullptr};
    Executor& executor = *side.executor; // stays where it is when `side` is returned
    // on a GPU, loading compares ways to run the program, which takes time
    const std::stop_callback onStop(stop, [&executor] { executor.requestStop(); });
    const Graph graph = buildGradients(m_config, lane, plan, m_source.shape(m_source.rows()));
    side.program = std::make_shared<const Program>(compile(graph, executor.compileOptions()));
    executor.load(side.program);
    throwIfStopped(stop);
    return side;
}

bool GradientError::run(const Side& side, const LaneStep& at, const Batch& batch) const {
    const Graph& graph = side.program->graph;
    uploadStates(*side.executor, graph, statesFor(graph, at.executor(), at.graph()));
    uploadTensor(*side.executor, graph, graph.input("x"), batch.tensors[kX]);
    uploadTensor(*side.executor, graph, graph.input("target"), batch.tensors[kTarget]);
    return side.executor->run(RunMode::Captured) == RunResult::Done;
}

GradientError::Differences GradientError::differences() const {
    const Graph& own = m_sides[0].program->graph;
    const Graph& full = m_sides[1].program->graph;
    Differences all;
    for (const OutputInfo& output : full.outputs()) {
        const std::vector<float> exact = downloadFloats(*m_sides[1].executor, full, output.node);
        const std::vector<float> rounded =
            downloadFloats(*m_sides[0].executor, own, own.output(output.name));
        GradientDifference& sums = all[output.name.substr(kGradientOutput.size())];
        for (size_t i = 0; i < exact.size(); ++i) {
            const double off = double{rounded[i]} - double{exact[i]};
            sums.off += off * off;
            sums.full += double{exact[i]} * double{exact[i]};
        }
    }
    return all;
}

/// A request that comes while nothing is measured is meant for the step.
void GradientError::requestStop() {
    const std::lock_guard lock(m_mutex);
    if (m_preparing) m_preparing->request_stop();
    if (!m_running) return;
    for (const Side& side : m_sides)
        side.executor->requestStop();
}

MemoryUse GradientError::memory() const {
    std::vector<MemoryUse> uses;
    for (const Side& side : m_sides)
        uses.push_back(memoryUse(*side.executor, *side.program));
    return sumOf(uses);
}

} // namespace halfscope
