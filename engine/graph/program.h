// A compiled step: the graph, the order and grouping of its kernels, and where each value lies. The
// same Program runs stepwise and captured, on any executor.
#pragma once

#include "engine/graph/graph.h"

#include <array>
#include <string>
#include <vector>

namespace halfscope {

/// One kernel: a fused loop over elementwise nodes (with strided loads and final reductions), or a
/// single node. Members stand in graph order; `stores` are those whose value other kernels, states
/// or outputs need. In a loop a member may be computed again by another kernel rather than stored.
struct Kernel {
    std::vector<NodeId> members;
    std::vector<NodeId> stores;
    std::vector<NodeId> loads; ///< stored values, states, inputs that it reads
    bool loop = false;
    Shape space;   ///< loop: the iteration space
    int split = 0; ///< loop: axes before it are rows, the others columns
};

/// What the peak of memory is made of.
enum class MemoryCause : uint8_t {
    Parameters,
    OptimizerState,
    OtherState,
    Inputs,
    Activations,
    Gradients,
    Workspace
};
inline constexpr int kMemoryCauses = 7;
std::string_view nameOf(MemoryCause);

/// Where values lie: offsets in one arena. Lifetimes share bytes; a next value may lie in place of
/// its state.
struct MemoryPlan {
    static constexpr size_t kNowhere = ~size_t{0};
    std::vector<size_t> offset; ///< by node; kNowhere: not stored
    size_t arenaBytes = 0;
    size_t peakBytes = 0; ///< the most that lived at once, states and inputs included
    /// Bytes at that moment. Workspace is the executor's own and 0 here (memoryUse()).
    std::array<size_t, kMemoryCauses> peakByCause{};
};

struct Program {
    Graph graph;
    std::vector<Kernel> kernels;
    MemoryPlan memory;
    /// Index of the first kernel that writes over a state: before it a step can be given up and run
    /// again, from it on the step is finished.
    size_t pointOfNoReturn = 0;
};

} // namespace halfscope
