// A way to run a program: a loaded step with the memory of its values, and its graph once that is
// captured. The executor decides which way is used and when it runs.
#pragma once

#include "engine/cuda/loaded_step.h"
#include "engine/cuda/metrics_ring.h"

namespace halfscope::cuda {

class StepVersion {
public:
    /// `code` is the compiled parts. Values are zero at first. `ring` is what the extra kernel
    /// fills, if there is one. Throws OutOfMemory, NoAlgorithm, NoConvolution and EngineError.
    StepVersion(Device&, const FileCache&, const StepWriter&, WrittenStep,
                const std::vector<std::string>& code, const MetricsRing* ring);

    const LoadedStep& step() const { return m_step; }
    const Program& program() const { return m_step.program(); }
    CUdeviceptr arena() const { return m_arena.get(); }
    CUdeviceptr at(NodeId) const; ///< where a stored value is
    bool isStored(NodeId) const;
    size_t workspaceBytes() const { return m_step.workspaceBytes(); }

    void clear() const; ///< sets values to zero
    /// Enqueues one launch. While debugging, it is noted before and waited for.
    void enqueue(size_t launch, CUstream) const;
    /// Enqueues the metrics row, if there is a ring.
    void publish(CUstream) const;
    void enqueueAll(CUstream) const; ///< the launches and the metrics row

    /// Makes the graph, replacing the one before. Throws EngineError when the driver refuses; the
    /// one before then stays.
    void capture();
    void enqueueGraph(CUstream) const;
    bool isCaptured() const { return static_cast<bool>(m_graph); }
    /// Times each launch by itself, many times in a row in a graph of its own.
    std::vector<LaunchTime> profile() const;

private:
    template <class Enqueue>
    GraphExecHandle captured(const Enqueue&) const;
    void note(size_t launch) const;

    Device& m_device;
    const MetricsRing* m_ring;
    LoadedStep m_step;
    DeviceMemory m_arena;
    GraphExecHandle m_graph;
};

} // namespace halfscope::cuda
