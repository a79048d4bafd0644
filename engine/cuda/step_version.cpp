// Memory, graph and timing of one way to run a step. Kernels and library calls are in loaded_step.
#include "engine/cuda/step_version.h"

#include "engine/core/error.h"
#include "engine/cuda/debug_folder.h"

#include <algorithm>

namespace halfscope::cuda {
namespace {

constexpr int kProfiledRuns = 10;             ///< runs of one launch in its graph
constexpr double kMostProfileSeconds = 0.003; ///< for such a graph: a long launch runs less often
constexpr int kTimings = 3;                   ///< the shortest of these counts

} // namespace

StepVersion::StepVersion(Device& device, const FileCache& cache, const StepWriter& writer,
                         WrittenStep written, const std::vector<std::string>& code,
                         const MetricsRing* ring)
    : m_device(device), m_ring(written.extra ? ring : nullptr),
      m_step(device, writer, std::move(written), code) {
    keepForDebugging("step.cu", m_step.text());
    keepForDebugging("step.txt", m_step.plan());
    m_arena = device.allocate(program().memory.arenaBytes, phrase("Devices", "arena"));
    m_step.prepare(cache, m_arena.get());
    clear();
}

bool StepVersion::isStored(NodeId id) const {
    return program().memory.offset[static_cast<size_t>(id)] != MemoryPlan::kNowhere;
}

CUdeviceptr StepVersion::at(NodeId id) const {
    require(isStored(id), "cuda: a value that is asked for is not stored");
    return m_arena.get() + program().memory.offset[static_cast<size_t>(id)];
}

void StepVersion::clear() const {
    m_device.check(m_device.driver().cuMemsetD8Async(m_arena.get(), 0, program().memory.arenaBytes,
                                                     m_device.stream()),
                   phrase("Devices", "arena, zeroing"));
}

void StepVersion::note(size_t index) const {
    const Launch& launch = m_step.launch(index);
    keepForDebugging("launch.txt",
                     "launch " + std::to_string(index) + " of " +
                         std::to_string(m_step.launches()) + ", " +
                         (launch.entry.empty() ? std::string("a library's") : launch.entry) + ": " +
                         m_step.what(index) + "\n" + std::to_string(launch.blocks) + " blocks, " +
                         std::to_string(launch.sharedBytes) + " bytes of shared memory, " +
                         std::to_string(m_step.cost(index).registers) + " registers\n");
}

void StepVersion::enqueue(size_t index, CUstream stream) const {
    if (debugging()) note(index);
    m_step.enqueue(index, m_arena.get(), stream);
    if (!debugging()) return;
    m_device.check(m_device.driver().cuStreamSynchronize(stream), m_step.what(index));
    keepForDebugging("launch.txt", "none is running\n");
}

void StepVersion::publish(CUstream stream) const {
    if (m_ring != nullptr)
        m_step.enqueueExtra(m_arena.get(), m_ring->ring(), m_ring->counter(), stream);
}

void StepVersion::enqueueAll(CUstream stream) const {
    for (size_t i = 0; i < m_step.launches(); ++i)
        enqueue(i, stream);
    publish(stream);
}

template <class Enqueue>
GraphExecHandle StepVersion::captured(const Enqueue& enqueueWork) const {
    const DriverApi& driver = m_device.driver();
    const StreamHandle stream = m_device.makeStream();
    // Thread-local, because other threads may allocate meanwhile.
    m_device.check(driver.cuStreamBeginCapture(stream.get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                   phrase("Devices", "capturing the step"));
    CUgraph graph = nullptr;
    try {
        enqueueWork(stream.get());
    } catch (...) {
        if (driver.cuStreamEndCapture(stream.get(), &graph) == CUDA_SUCCESS && graph != nullptr)
            (void)driver.cuGraphDestroy(graph);
        throw;
    }
    m_device.check(driver.cuStreamEndCapture(stream.get(), &graph),
                   phrase("Devices", "capturing the step"));
    const GraphHandle owned(graph, driver.cuGraphDestroy);
    CUgraphExec executable = nullptr;
    m_device.check(driver.cuGraphInstantiate(&executable, graph, 0),
                   phrase("Devices", "making the step's graph"));
    GraphExecHandle made(executable, driver.cuGraphExecDestroy);
    m_device.check(driver.cuGraphUpload(executable, m_device.stream()),
                   phrase("Devices", "uploading the step's graph"));
    return made;
}

void StepVersion::capture() {
    m_graph = captured([&](CUstream stream) {
        for (size_t i = 0; i < m_step.launches(); ++i)
            m_step.enqueue(i, m_arena.get(), stream);
        publish(stream);
    });
}

void StepVersion::enqueueGraph(CUstream stream) const {
    m_device.check(m_device.driver().cuGraphLaunch(m_graph.get(), stream),
                   phrase("Devices", "step"));
}

std::vector<LaunchTime> StepVersion::profile() const {
    const EventHandle start = m_device.makeEvent(0), stop = m_device.makeEvent(0);
    const auto secondsOf = [&](const GraphExecHandle& graph, const std::string& what) {
        const DriverApi& driver = m_device.driver();
        m_device.check(driver.cuEventRecord(start.get(), m_device.stream()), what);
        m_device.check(driver.cuGraphLaunch(graph.get(), m_device.stream()), what);
        m_device.check(driver.cuEventRecord(stop.get(), m_device.stream()), what);
        return static_cast<double>(m_device.millisecondsBetween(start, stop)) * 1e-3;
    };
    std::vector<LaunchTime> times;
    for (size_t i = 0; i < m_step.launches(); ++i) {
        const auto graphOf = [&](int runs) {
            return captured([&](CUstream stream) {
                for (int run = 0; run < runs; ++run)
                    m_step.enqueue(i, m_arena.get(), stream);
            });
        };
        LaunchTime& time = times.emplace_back(m_step.cost(i));
        const GraphExecHandle single = graphOf(1);
        (void)secondsOf(single, time.what); // the first run loads what it needs
        const double once = std::max(secondsOf(single, time.what), 1e-6);
        const int runs = std::clamp(static_cast<int>(kMostProfileSeconds / once), 1, kProfiledRuns);
        const GraphExecHandle many = graphOf(runs);
        time.seconds = secondsOf(many, time.what);
        for (int timing = 1; timing < kTimings; ++timing)
            time.seconds = std::min(time.seconds, secondsOf(many, time.what));
        time.seconds /= runs;
    }
    return times;
}

} // namespace halfscope::cuda
