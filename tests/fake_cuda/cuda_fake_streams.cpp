// The fake driver's streams, whose work waits until somebody waits for it, graphs, and events on a
// fake clock. Leaves kernels to cuda_fake_kernels.cpp.
#include "tests/fake_cuda/cuda_fake_parts.h"

#include <algorithm>
#include <deque>

namespace halfscope::test {
namespace {

struct Graph {
    std::vector<fake::Task> tasks;
};
struct Stream {
    std::deque<fake::Task> waiting;
    std::unique_ptr<Graph> capturing;
};
struct Event {
    bool timed = true;
    bool recorded = false;
    int waiting = 0; ///< records that the stream has not come to; the last one counts
    int reached = 0; ///< records that it has come to
    double time = 0;
    Stream* stream = nullptr;
};
struct State {
    std::vector<Stream*> streams;
    double clock = 0;
    int graphLaunches = 0;
    bool spoilt = false;          ///< the capture at hand
    CUresult lost = CUDA_SUCCESS; ///< every call after it fails
};
State state;

template <class T, class Handle>
T* as(Handle handle) {
    return reinterpret_cast<T*>(handle);
}

void step(Stream& stream) {
    const fake::Task task = std::move(stream.waiting.front());
    stream.waiting.pop_front();
    task();
}
void drain(Stream& stream) {
    while (!stream.waiting.empty())
        step(stream);
}

CUresult streamCreate(CUstream* stream, unsigned flags) {
    FAKE_ENTER("cuStreamCreate");
    if (flags != CU_STREAM_NON_BLOCKING)
        fake::complain("a stream that waits for whatever a library does on the default one");
    auto* made = new Stream; // given back by cuStreamDestroy
    state.streams.push_back(made);
    *stream = reinterpret_cast<CUstream>(made);
    ++fakeCuda().live;
    return CUDA_SUCCESS;
}
CUresult streamDestroy(CUstream stream) {
    auto* made = as<Stream>(stream);
    drain(*made);
    std::erase(state.streams, made);
    delete made;
    --fakeCuda().live;
    return fake::entered("cuStreamDestroy");
}
CUresult streamSynchronize(CUstream stream) {
    FAKE_ENTER("cuStreamSynchronize");
    drain(*as<Stream>(stream));
    return state.lost;
}
CUresult streamQuery(CUstream stream) {
    FAKE_ENTER("cuStreamQuery");
    auto& waiting = as<Stream>(stream)->waiting;
    if (waiting.empty()) return CUDA_SUCCESS;
    step(*as<Stream>(stream));
    if (state.lost != CUDA_SUCCESS) return state.lost;
    return CUDA_ERROR_NOT_READY;
}
CUresult beginCapture(CUstream stream, CUstreamCaptureMode mode) {
    FAKE_ENTER("cuStreamBeginCapture");
    if (mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
        fake::complain("a capture that forbids other threads to allocate");
    as<Stream>(stream)->capturing = std::make_unique<Graph>();
    state.spoilt = false;
    return CUDA_SUCCESS;
}
CUresult endCapture(CUstream stream, CUgraph* graph) {
    // whatever comes of it, the capture is over
    std::unique_ptr<Graph> captured = std::move(as<Stream>(stream)->capturing);
    *graph = nullptr;
    FAKE_ENTER("cuStreamEndCapture");
    if (state.spoilt) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    *graph = reinterpret_cast<CUgraph>(captured.release());
    ++fakeCuda().live;
    return CUDA_SUCCESS;
}
CUresult graphInstantiate(CUgraphExec* executable, CUgraph graph, unsigned long long flags) {
    FAKE_ENTER("cuGraphInstantiate");
    if (flags != 0) fake::complain("a graph with flags, of which none is wanted");
    *executable = reinterpret_cast<CUgraphExec>(new Graph(*as<Graph>(graph)));
    ++fakeCuda().live;
    return CUDA_SUCCESS;
}
CUresult graphUpload(CUgraphExec, CUstream) { return fake::entered("cuGraphUpload"); }
CUresult graphLaunch(CUgraphExec executable, CUstream stream) {
    FAKE_ENTER("cuGraphLaunch");
    if (++state.graphLaunches == fakeCuda().graphLaunchesUntilLost) {
        fake::enqueue(stream, [] { state.lost = CUDA_ERROR_ILLEGAL_ADDRESS; });
        return CUDA_SUCCESS;
    }
    fakeCuda().mostQueued = std::max(fakeCuda().mostQueued, ++fakeCuda().queued);
    for (const fake::Task& task : as<Graph>(executable)->tasks)
        fake::enqueue(stream, task);
    fake::enqueue(stream, [] { --fakeCuda().queued; });
    return CUDA_SUCCESS;
}
CUresult graphDestroy(CUgraph graph) {
    delete as<Graph>(graph);
    --fakeCuda().live;
    return fake::entered("cuGraphDestroy");
}
CUresult graphExecDestroy(CUgraphExec executable) {
    delete as<Graph>(executable);
    --fakeCuda().live;
    return fake::entered("cuGraphExecDestroy");
}
CUresult eventCreate(CUevent* event, unsigned flags) {
    FAKE_ENTER("cuEventCreate");
    *event = reinterpret_cast<CUevent>(new Event{.timed = (flags & CU_EVENT_DISABLE_TIMING) == 0});
    ++fakeCuda().live;
    return CUDA_SUCCESS;
}
CUresult eventDestroy(CUevent event) {
    fake::drainAll(); // work that is enqueued may point to it
    delete as<Event>(event);
    --fakeCuda().live;
    return fake::entered("cuEventDestroy");
}
CUresult eventRecord(CUevent event, CUstream stream) {
    FAKE_ENTER("cuEventRecord");
    auto* recorded = as<Event>(event);
    recorded->recorded = true;
    ++recorded->waiting;
    recorded->stream = as<Stream>(stream);
    fake::enqueue(stream, [recorded] {
        --recorded->waiting;
        ++recorded->reached;
        recorded->time = state.clock;
    });
    return CUDA_SUCCESS;
}
/// Lets the event's stream work until it has come to so many records.
void reach(const Event& event, int records) {
    while (event.reached < records && !event.stream->waiting.empty())
        step(*event.stream);
}
CUresult eventSynchronize(CUevent event) {
    FAKE_ENTER("cuEventSynchronize");
    const auto* waited = as<Event>(event);
    if (waited->recorded) reach(*waited, waited->reached + waited->waiting);
    return state.lost;
}
/// For what is recorded by now; an event that never was counts as reached.
CUresult streamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    FAKE_ENTER("cuStreamWaitEvent");
    if (flags != 0) fake::complain("a wait with flags that do not exist");
    const auto* waited = as<Event>(event);
    if (!waited->recorded) return CUDA_SUCCESS;
    const int records = waited->reached + waited->waiting;
    fake::enqueue(stream, [waited, records] { reach(*waited, records); });
    return CUDA_SUCCESS;
}
CUresult eventElapsed(float* milliseconds, CUevent start, CUevent stop) {
    FAKE_ENTER("cuEventElapsedTime");
    if (!as<Event>(start)->recorded || !as<Event>(stop)->recorded) {
        fake::complain("the time between events of which one was never recorded");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!as<Event>(start)->timed || !as<Event>(stop)->timed) {
        fake::complain("the time between events of which one takes none");
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (as<Event>(start)->waiting > 0 || as<Event>(stop)->waiting > 0) return CUDA_ERROR_NOT_READY;
    if (as<Event>(stop)->time < as<Event>(start)->time)
        fake::complain("the time to an event from a later one");
    *milliseconds = static_cast<float>(as<Event>(stop)->time - as<Event>(start)->time);
    return CUDA_SUCCESS;
}

} // namespace

namespace fake {

void drainAll() {
    for (Stream* stream : state.streams)
        drain(*stream);
}

bool isAlive(CUstream stream) {
    return std::find(state.streams.begin(), state.streams.end(), as<Stream>(stream)) !=
           state.streams.end();
}
bool isCapturing() {
    return std::any_of(state.streams.begin(), state.streams.end(),
                       [](const Stream* stream) { return stream->capturing != nullptr; });
}
void spoilCapture(const char* function) {
    complain(std::string(function) + " while a stream is captured");
    state.spoilt = true;
}

/// Calls that need the thread's context; the others ask about machine and devices.
bool needsContext(std::string_view function) {
    for (const char* start :
         {"cuMem", "cuStream", "cuGraph", "cuEvent", "cuModule", "cuFunc", "cuLaunch"})
        if (function.starts_with(start)) return true;
    return false;
}
/// Calls that wait or change what the device has: none of a capturing thread's.
bool spoilsCapture(std::string_view function) {
    for (const char* forbidden : {"cuMemAlloc", "cuMemFree", "cuMemFreeHost", "cuMemHostAlloc",
                                  "cuStreamSynchronize", "cuEventSynchronize", "cuEventElapsedTime",
                                  "cuModuleLoadData", "cuModuleUnload", "cuGraphLaunch"})
        if (function == forbidden) return true;
    return false;
}

CUresult entered(const char* function) {
    const auto result = static_cast<CUresult>(enter(function));
    if (needsContext(function) && !hasContext()) {
        complain(std::string(function) + " without a context");
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (spoilsCapture(function) && isCapturing()) {
        spoilCapture(function);
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (state.lost != CUDA_SUCCESS) return state.lost;
    if (result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_FAILED)
        state.lost = result;
    return result;
}

void enqueue(CUstream stream, Task task) {
    if (stream == nullptr) return complain("work on the default stream");
    if (!isAlive(stream)) return complain("work on a stream that is gone");
    auto* to = as<Stream>(stream);
    if (to->capturing)
        to->capturing->tasks.push_back(std::move(task));
    else
        to->waiting.push_back(std::move(task));
    if (fakeCuda().eager && to != state.streams.front() && !to->capturing) drain(*to);
}

void spend(double milliseconds) { state.clock += milliseconds; }

void fillStreams(cuda::DriverApi& api) {
    api.cuStreamCreate = streamCreate;
    api.cuStreamDestroy = streamDestroy;
    api.cuStreamSynchronize = streamSynchronize;
    api.cuStreamQuery = streamQuery;
    api.cuStreamWaitEvent = streamWaitEvent;
    api.cuStreamBeginCapture = beginCapture;
    api.cuStreamEndCapture = endCapture;
    api.cuGraphInstantiate = graphInstantiate;
    api.cuGraphUpload = graphUpload;
    api.cuGraphLaunch = graphLaunch;
    api.cuGraphDestroy = graphDestroy;
    api.cuGraphExecDestroy = graphExecDestroy;
    api.cuEventCreate = eventCreate;
    api.cuEventDestroy = eventDestroy;
    api.cuEventRecord = eventRecord;
    api.cuEventSynchronize = eventSynchronize;
    api.cuEventElapsedTime = eventElapsed;
}

void resetStreams() { state = {}; }

} // namespace fake

} // namespace halfscope::test
