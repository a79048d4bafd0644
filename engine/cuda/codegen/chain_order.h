// The order in which the kernels of a step can run and, when some wait for each other in a cycle,
// which of them to split. A step of the matcher (chain_match.cpp).
#pragma once

#include "engine/graph/program.h"

#include <functional>
#include <optional>
#include <vector>

namespace halfscope::cuda {

/// How a kernel with several stores is split: into the stores that depend, through other kernels,
/// on what it stores itself, and the rest. Both have at least one.
struct KernelCut {
    size_t kernel = 0;
    std::vector<NodeId> late; ///< ascending
};

class KernelOrder {
public:
    /// Returns kernel number `kernel` with only these of its stores, or nothing when that is
    /// impossible.
    using PartOf =
        std::function<std::optional<Kernel>(size_t kernel, const std::vector<NodeId>& stores)>;

    explicit KernelOrder(const Graph&, const std::vector<Kernel>&);

    /// Returns positions, in the given order as far as values are available; nothing when kernels
    /// wait for each other.
    std::optional<std::vector<size_t>> order() const;

    /// Returns, when kernels wait for each other, the cut that opens a cycle at the cost of the
    /// least traffic; nothing when no kernel of a cycle can be split. Kernels with one store each
    /// never wait for each other, so repeated cuts end in an order.
    std::optional<KernelCut> cheapestCut(const PartOf&) const;

private:
    const Kernel& kernel(size_t k) const { return m_kernels[k]; }
    size_t makerOf(NodeId load) const;
    std::vector<char> waitingFor(size_t kernel) const;
    std::vector<NodeId> lateOf(size_t kernel, const PartOf&) const;
    double bytesOf(const Kernel&) const;

    static constexpr size_t kNone = ~size_t{0};
    const Graph& m_graph;
    const std::vector<Kernel>& m_kernels;
    std::vector<size_t> m_maker;                ///< by value; kNone when it exists from the start
    std::vector<std::vector<size_t>> m_before;  ///< by kernel: those that it waits for
    std::vector<std::vector<size_t>> m_readers; ///< by kernel: those that wait for it
};

} // namespace halfscope::cuda
