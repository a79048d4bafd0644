// A way to run a program: a loaded step with the memory of its values, and its graph once that is
// captured. Which way is taken, and when it runs, is the executor's business.
#pragma once

#include "engine/cuda/loaded_step.h"
#include "engine/cuda/metrics_ring.h"

namespace halfscope::cuda {

class StepVersion {
public:
    /// `code`: the compiled text. Values are zero. `ring`: what the extra kernel fills, if there is
    /// one. OutOfMemory, NoAlgorithm, NoConvolution, EngineError.
    StepVersion(Device&, const FileCache&, const StepWriter&, WrittenStep, const std::string& code,
                const MetricsRing* ring);

    const LoadedStep& step() const { return m_step; }
    const Program& program() const { return m_step.program(); }
    CUdeviceptr arena() const { return m_arena.get(); }
    CUdeviceptr at(NodeId) const; ///< where a stored value lies
    bool isStored(NodeId) const;
    size_t workspaceBytes() const { return m_step.workspaceBytes(); }

    void clear() const; ///< values become zero
    /// One launch. While debugging it is noted before and waited for.
    void enqueue(size_t launch, CUstream) const;
    /// The metrics row, where there is a ring.
    void publish(CUstream) const;
    void enqueueAll(CUstream) const; ///< the launches and the row

    /// Makes the graph, in place of the one that there is. EngineError where the driver refuses;
    /// then that one stays.
    void capture(Overlap = Overlap::No);
    void enqueueGraph(CUstream) const;
    bool isCaptured() const { return static_cast<bool>(m_graph); }
    /// How many launches of a step can overlap with the one before (overlap.h).
    size_t overlaps() const;
    /// Each launch by itself, many times in a row in a graph of its own.
    std::vector<LaunchTime> profile() const;

private:
    template <class Enqueue>
    GraphExecHandle captured(const Enqueue&) const;
    /// Whether launch `index`, or the row after the last, can.
    bool canOverlap(size_t index) const;
    void note(size_t launch) const;

    Device& m_device;
    const MetricsRing* m_ring;
    LoadedStep m_step;
    DeviceMemory m_arena;
    GraphExecHandle m_graph;
};

} // namespace halfscope::cuda
