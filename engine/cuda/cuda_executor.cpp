// Loads, captures and runs steps, transfers values, and takes times. Kernels and their order come
// from codegen, library calls from loaded_step.
#include "engine/cuda/cuda_executor.h"

#include "engine/core/error.h"
#include "engine/cuda/compiler.h"
#include "engine/cuda/debug_folder.h"
#include "engine/cuda/variant_search.h"
#include "engine/cuda/variants.h"

#include <algorithm>

namespace halfscope::cuda {
namespace {

constexpr double kMostSecondsAhead = 0.05; ///< of enqueued work: a stop is answered within 100 ms
constexpr size_t kLaunchesAhead = 2; ///< of a long step, so that the device never runs out of work

bool isStored(const Program& program, NodeId id) {
    return program.memory.offset[static_cast<size_t>(id)] != MemoryPlan::kNowhere;
}

Message lacks(const Device& device, std::string_view what) {
    const int capability = device.traits().capability;
    return {phrase("Devices", "lanes[].precision: %1 needs compute capability 8.0 or later; %2 "
                              "(%3) has %4.%5. float16 and float32 work on it."),
            what,
            device.id(),
            device.info().name,
            capability / 10,
            capability % 10};
}

} // namespace

CudaExecutor::CudaExecutor(std::shared_ptr<Device> device, StepWriter writer,
                           const SourceOptions& options, FileCache cache)
    : m_device((device->activate(), std::move(device))), m_writer(writer), m_options(options),
      m_cache(std::move(cache)), m_transfer(*m_device) {
    for (Times& times : m_times)
        times = {m_device->makeEvent(0), m_device->makeEvent(0)};
}

CudaExecutor::~CudaExecutor() {
    const std::lock_guard turn(m_device->turn());
    m_device->activateQuietly();
    // what is still running uses the memory that is released now
    (void)m_device->driver().cuStreamSynchronize(m_device->stream());
    clear();
}

void CudaExecutor::clear() {
    m_visited.reset();
    m_main.reset();
    m_variants.clear();
    m_staged.reset();
    m_ring.reset();
    m_program.reset();
    m_notShown = {};
    m_marked = false;
    m_steps = m_over = 0;
}

void CudaExecutor::refuseWhatTheDeviceLacks(const Graph& graph) const {
    for (NodeId id = 0; id < graph.size(); ++id)
        require(!hasChannelsLast(graph[id].attrs), "cuda: an image with its channels last");
    if (m_device->traits().capability >= kBfloat16Capability) return;
    for (NodeId id = 0; id < graph.size(); ++id) {
        if (graph[id].dtype == DType::BF16) throw EngineError(lacks(*m_device, "bfloat16"));
        if (graph[id].math == MathMode::TF32) throw EngineError(lacks(*m_device, "TF32"));
    }
}

SourceOptions CudaExecutor::optionsForLibraries() const {
    SourceOptions options = m_options;
    if (!m_device->api().noBlas.empty()) options.libraries = Libraries::Unused;
    if (!m_device->api().noDnn.empty()) options.convolutions = Libraries::Unused;
    return options;
}

WrittenStep CudaExecutor::write(const SourceOptions& options, Publish publish) const {
    WrittenStep written{m_writer.write(*m_program, m_device->traits(), options), {}};
    if (publish == Publish::Metrics && m_metrics != kNoNode)
        written.extra = {
            publishText(written.source.program.memory.offset[static_cast<size_t>(m_metrics)],
                        m_program->graph[m_metrics].bytes()),
            kPublishEntry, kPublishThreads};
    return written;
}

template <class Make>
CudaExecutor::Version CudaExecutor::withLibraries(const Make& make) const {
    SourceOptions options = optionsForLibraries();
    for (;;) { // ends, because the libraries are not asked again for a node that they refused
        try {
            return make(options);
        } catch (const NodesRefused& reason) {
            noteForDebugging("no_algorithm.txt", reason.what());
            options.refused.insert(reason.nodes().begin(), reason.nodes().end());
        }
    }
}

CudaExecutor::Version CudaExecutor::makeMain(const SourceOptions& options) {
    VariantSearch search(
        *m_device, m_cache, m_writer,
        [this](const SourceOptions& how) { return write(how, Publish::Metrics); },
        m_ring ? &*m_ring : nullptr,
        [this, before = m_stops.load()] { return m_stops.load() != before; });
    SourceOptions searched = options;
    // a program that changes no state runs once, for a picture
    const auto& states = m_program->graph.states();
    if (std::none_of(states.begin(), states.end(),
                     [](const StateInfo& state) { return state.next != kNoNode; }))
        searched.searchSeconds = 0;
    Version version = search.fastest(variantsOf(searched, m_device->traits().capability));
    m_variants = search.times();
    return version;
}

CudaExecutor::Version CudaExecutor::makeVisited(const SourceOptions& options) const {
    SourceOptions plain = options;
    plain.merge = Merge::OneByOne;
    plain.chains = Chains::Unfused;
    WrittenStep written = write(plain, Publish::Nothing);
    const std::vector<std::string> code = compileParts(*m_device, m_cache, written.parts());
    return std::make_unique<StepVersion>(*m_device, m_cache, m_writer, std::move(written), code,
                                         nullptr);
}

void CudaExecutor::load(std::shared_ptr<const Program> program) {
    const std::lock_guard turn(m_device->turn());
    m_device->activate();
    m_device->check(m_device->driver().cuStreamSynchronize(m_device->stream()),
                    phrase("Devices", "the last step"));
    clear();
    refuseWhatTheDeviceLacks(program->graph);
    m_program = std::move(program);
    m_staged.emplace(*m_device);
    try {
        findMetrics();
        if (m_metrics != kNoNode) m_ring.emplace(*m_device, m_program->graph[m_metrics].bytes());
        m_main = withLibraries([this](const SourceOptions& options) { return makeMain(options); });
        warmUp();
        if (!m_long && !debugging() && !m_main->isCaptured()) m_main->capture();
    } catch (...) {
        // what was enqueued uses the memory that is released now
        (void)m_device->driver().cuStreamSynchronize(m_device->stream());
        clear();
        throw;
    }
}

void CudaExecutor::findMetrics() {
    m_metrics = kNoNode;
    for (const OutputInfo& output : m_program->graph.outputs())
        if (output.name == "metrics" && isStored(*m_program, output.node) &&
            m_program->graph[output.node].dtype == DType::F64)
            m_metrics = output.node;
}

double CudaExecutor::timeOneStep() {
    markStart();
    m_main->enqueueAll(m_device->stream());
    m_device->check(
        m_device->driver().cuEventRecord(timesOf(m_steps).end.get(), m_device->stream()),
        phrase("Devices", "end of a step"));
    m_device->check(m_device->driver().cuStreamSynchronize(m_device->stream()),
                    phrase("Devices", "the first run of the step"));
    return static_cast<double>(
               m_device->millisecondsBetween(timesOf(m_steps).start, timesOf(m_steps).end)) *
           1e-3;
}

/// Runs a step without capture: modules and libraries load what they need, errors show where they
/// occur, and it becomes known how long a step takes. Then everything is set to zero again.
void CudaExecutor::warmUp() {
    double seconds = timeOneStep();
    // The first time includes loading.
    if (seconds * kMostAhead > kMostSecondsAhead) seconds = timeOneStep();
    m_long = seconds > kMostSecondsAhead;
    const double ahead = kMostSecondsAhead / std::max(seconds, 1e-6);
    m_stepsAhead = static_cast<uint32_t>(std::clamp(ahead, 2.0, double{kMostAhead}));
    m_main->clear();
    if (m_ring) m_ring->restart();
}

void CudaExecutor::markStart() const {
    m_device->check(
        m_device->driver().cuEventRecord(timesOf(m_steps).start.get(), m_device->stream()),
        phrase("Devices", "start of a step"));
}
void CudaExecutor::markStop() {
    m_device->check(
        m_device->driver().cuEventRecord(timesOf(m_steps).end.get(), m_device->stream()),
        phrase("Devices", "end of a step"));
    ++m_steps;
}

/// Waits until another step may be enqueued: a caller that never reads would enqueue steps without
/// end, and a stop would wait for them all.
void CudaExecutor::waitForRoom() {
    if (m_steps - m_over < m_stepsAhead) return;
    const uint32_t oldest = m_steps - m_stepsAhead;
    m_device->check(m_device->driver().cuEventSynchronize(timesOf(oldest).end.get()),
                    phrase("Devices", "waiting for a step"));
    m_over = oldest + 1;
}

RunResult CudaExecutor::run(RunMode mode, const Visitor& visitor) {
    require(m_program != nullptr, "cuda: run without a program");
    const std::lock_guard turn(m_device->turn());
    m_device->activate();
    if (takeStop()) return RunResult::Stopped;
    if (mode == RunMode::Stepwise && visitor) return runVisited(visitor);
    m_marked = false;
    if (mode == RunMode::Stepwise || m_long || debugging()) {
        const RunResult result = runLaunches();
        m_marked = mode == RunMode::Stepwise && result == RunResult::Done;
        return result;
    }
    waitForRoom();
    markStart();
    m_main->enqueueGraph(m_device->stream());
    markStop();
    return RunResult::Done;
}

RunResult CudaExecutor::runLaunches() {
    const size_t launches = m_main->step().launches();
    while (m_marks.size() <= launches)
        m_marks.push_back(m_device->makeEvent(0));
    const auto mark = [&](size_t i) {
        m_device->check(m_device->driver().cuEventRecord(m_marks[i].get(), m_device->stream()),
                        phrase("Devices", "time of a launch"));
    };
    waitForRoom();
    markStart();
    for (size_t i = 0; i < launches; ++i) {
        if (m_long && i >= kLaunchesAhead)
            m_device->check(
                m_device->driver().cuEventSynchronize(m_marks[i - kLaunchesAhead + 1].get()),
                phrase("Devices", "waiting for a launch"));
        if (i <= m_main->step().pointOfNoReturn() && takeStop()) return RunResult::Stopped;
        mark(i);
        m_main->enqueue(i, m_device->stream());
    }
    mark(launches);
    m_main->publish(m_device->stream());
    markStop();
    return RunResult::Done;
}

Message CudaExecutor::whyNotShown() {
    require(m_program != nullptr, "cuda: no program is loaded");
    const std::lock_guard turn(m_device->turn());
    m_device->activate();
    if (m_stops == m_stopsTaken) prepareVisited(); // a stop does not wait for a compiler
    return m_notShown;
}

void CudaExecutor::prepareVisited() {
    if (m_visited || !m_notShown.empty()) return;
    try {
        m_visited =
            withLibraries([this](const SourceOptions& options) { return makeVisited(options); });
    } catch (const EngineError& error) { // OutOfMemory, for example
        noteForDebugging("not_shown.txt", error.what());
        m_device->activate(); // throws when the device is lost
        m_notShown = error.message();
    }
}

RunResult CudaExecutor::runVisited(const Visitor& visitor) {
    prepareVisited();
    if (!m_notShown.empty()) return RunResult::CannotShow;
    copyStates(*m_main, *m_visited);
    for (const InputInfo& input : m_program->graph.inputs())
        copy(input.node, *m_main, *m_visited);
    m_marked = false;
    markStart();
    for (size_t i = 0; i < m_visited->step().launches(); ++i) {
        // Nothing that counts has changed: the step runs on memory of its own.
        if (takeStop()) return RunResult::Stopped;
        m_visited->enqueue(i, m_device->stream());
        visit(m_visited->step().launch(i), visitor);
    }
    copyStates(*m_visited, *m_main);
    for (const OutputInfo& output : m_program->graph.outputs())
        copy(output.node, *m_visited, *m_main);
    m_main->publish(m_device->stream());
    markStop();
    return RunResult::Done;
}

void CudaExecutor::visit(const Launch& launch, const Visitor& visitor) {
    for (const size_t kernel : launch.kernels)
        for (const NodeId id : m_visited->program().kernels[kernel].stores) {
            m_shown.resize(m_program->graph[id].bytes());
            m_transfer.download(m_visited->at(id), m_shown);
            visitor(id, m_shown);
        }
}

void CudaExecutor::copyStates(const StepVersion& from, const StepVersion& to) const {
    for (const StateInfo& state : m_program->graph.states())
        copy(state.node, from, to);
}

void CudaExecutor::copy(NodeId id, const StepVersion& from, const StepVersion& to) const {
    const size_t bytes = m_program->graph[id].bytes();
    if (bytes == 0 || !from.isStored(id) || !to.isStored(id)) return;
    m_device->check(
        m_device->driver().cuMemcpyDtoDAsync(to.at(id), from.at(id), bytes, m_device->stream()),
        phrase("Devices", "copy of a state"));
}

void CudaExecutor::checkTransfer(NodeId id, size_t bytes) const {
    require(m_program != nullptr, "cuda: no program is loaded");
    require(m_program->graph[id].bytes() == bytes, "cuda: transfer of a wrong number of bytes");
}

void CudaExecutor::upload(NodeId id, std::span<const std::byte> bytes) {
    checkTransfer(id, bytes.size());
    const std::lock_guard turn(m_device->turn());
    m_device->activate();
    m_transfer.upload(bytes, m_main->at(id));
}

void CudaExecutor::download(NodeId id, std::span<std::byte> bytes) {
    checkTransfer(id, bytes.size());
    if (id == m_metrics && m_ring && m_steps > 0) {
        m_device->activate();
        m_ring->read(m_steps, bytes);
        m_over = m_steps;
        return;
    }
    const std::lock_guard turn(m_device->turn());
    m_device->activate();
    m_transfer.download(m_main->at(id), bytes);
    m_over = m_steps;
}

bool CudaExecutor::stage(NodeId id, std::span<const std::byte> bytes) {
    checkTransfer(id, bytes.size());
    const std::lock_guard turn(m_device->turn());
    m_device->activate();
    return m_staged->stage(id, bytes);
}

void CudaExecutor::takeStaged() {
    require(m_program != nullptr, "cuda: no program is loaded");
    const std::lock_guard turn(m_device->turn());
    m_device->activate();
    m_staged->take([this](NodeId id) { return m_main->at(id); });
}

const MemoryPlan* CudaExecutor::memory() const {
    return m_main ? &m_main->program().memory : nullptr;
}

size_t CudaExecutor::workspaceBytes() const {
    size_t bytes = m_main ? m_main->workspaceBytes() + m_staged->bytes() : 0;
    if (m_visited) bytes += m_visited->program().memory.arenaBytes + m_visited->workspaceBytes();
    return bytes;
}

double CudaExecutor::lastStepSeconds() const {
    if (m_steps == 0) return 0;
    m_device->activate();
    const Times& last = timesOf(m_steps - 1);
    return static_cast<double>(m_device->millisecondsBetween(last.start, last.end)) * 1e-3;
}

std::vector<LaunchTime> CudaExecutor::launchTimes() const {
    std::vector<LaunchTime> times;
    if (!m_marked) return times;
    m_device->activate();
    for (size_t i = 0; i < m_main->step().launches(); ++i) {
        LaunchTime& time = times.emplace_back(m_main->step().cost(i));
        time.seconds =
            static_cast<double>(m_device->millisecondsBetween(m_marks[i], m_marks[i + 1])) * 1e-3;
    }
    return times;
}

std::vector<LaunchTime> CudaExecutor::profile() {
    require(m_program != nullptr, "cuda: no program is loaded");
    const std::lock_guard turn(m_device->turn());
    m_device->activate();
    m_marked = false;
    return m_main->profile();
}

std::string CudaExecutor::sourceText() const { return m_main ? m_main->step().text() : ""; }

} // namespace halfscope::cuda
