// A compiled step: the graph, the order and grouping of its kernels, and where each value lies. The
// same Program runs stepwise and captured, on any executor.
#pragma once

#include "engine/graph/graph.h"

#include <array>
#include <string>
#include <vector>

namespace halfscope {

/// One kernel: a fused loop over elementwise nodes (with strided loads and final reductions), or a
/// single node. Members stand in graph order; `stores` are those whose values are needed by other
/// kernels, states or outputs. Another kernel may compute a loop's member again instead of reading
/// it from memory.
struct Kernel {
    std::vector<NodeId> members;
    std::vector<NodeId> stores;
    std::vector<NodeId> loads; ///< stored values, states and inputs that it reads
    bool loop = false;
    Shape space;   ///< loop: the iteration space
    int split = 0; ///< loop: the number of leading axes that are rows; the others are columns
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

/// Where values lie, as offsets in one arena. Values whose lifetimes do not overlap share bytes; a
/// next value may lie in place of its state.
struct MemoryPlan {
    static constexpr size_t kNowhere = ~size_t{0};
    std::vector<size_t> offset; ///< by node; kNowhere when it is not stored
    size_t arenaBytes = 0;
    size_t peakBytes = 0; ///< the most that was alive at once, states and inputs included
    /// What the peak consists of, in bytes. Workspace is the executor's own and 0 here (see
    /// memoryUse()).
    std::array<size_t, kMemoryCauses> peakByCause{};
};

struct Program {
    Graph graph;
    std::vector<Kernel> kernels;
    MemoryPlan memory;
    /// Index of the first kernel that writes over a state. Before it a step can be given up and run
    /// again; from it on the step will be finished.
    size_t pointOfNoReturn = 0;
};

} // namespace halfscope
