// Orders kernels by the values that they wait for, and finds the cheapest cut of a cycle.
#include "engine/cuda/codegen/chain_order.h"

#include "engine/passes/fuse.h"

#include <algorithm>
#include <iterator>

namespace halfscope::cuda {

KernelOrder::KernelOrder(const Graph& graph, const std::vector<Kernel>& kernels)
    : m_graph(graph), m_kernels(kernels), m_maker(static_cast<size_t>(graph.size()), kNone),
      m_before(kernels.size()), m_readers(kernels.size()) {
    for (size_t k = 0; k < kernels.size(); ++k)
        for (NodeId id : kernel(k).stores)
            m_maker[static_cast<size_t>(id)] = k;
    for (size_t k = 0; k < kernels.size(); ++k) {
        for (NodeId load : kernel(k).loads)
            if (const size_t maker = makerOf(load); maker != kNone) m_before[k].push_back(maker);
        std::sort(m_before[k].begin(), m_before[k].end());
        m_before[k].erase(std::unique(m_before[k].begin(), m_before[k].end()), m_before[k].end());
        for (size_t maker : m_before[k])
            m_readers[maker].push_back(k);
    }
}

size_t KernelOrder::makerOf(NodeId load) const {
    return m_maker[static_cast<size_t>(storageOf(m_graph, load))];
}

std::optional<std::vector<size_t>> KernelOrder::order() const {
    std::vector<size_t> left(m_kernels.size()), result;
    for (size_t k = 0; k < left.size(); ++k)
        left[k] = k;
    std::vector<char> done(m_kernels.size(), 0);
    while (!left.empty()) {
        const auto next = std::find_if(left.begin(), left.end(), [&](size_t k) {
            return std::all_of(m_before[k].begin(), m_before[k].end(),
                               [&](size_t other) { return done[other] != 0; });
        });
        if (next == left.end()) return std::nullopt;
        done[*next] = 1;
        result.push_back(*next);
        left.erase(next);
    }
    return result;
}

/// Returns by kernel whether it waits for kernel k, directly or through others.
std::vector<char> KernelOrder::waitingFor(size_t k) const {
    std::vector<char> waits(m_kernels.size(), 0);
    std::vector<size_t> open{k};
    while (!open.empty()) {
        const size_t at = open.back();
        open.pop_back();
        for (size_t reader : m_readers[at])
            if (!waits[reader]) {
                waits[reader] = 1;
                open.push_back(reader);
            }
    }
    return waits;
}

/// Returns the stores of a kernel in a cycle that depend, through others, on what it stores.
std::vector<NodeId> KernelOrder::lateOf(size_t k, const PartOf& partOf) const {
    const std::vector<char> waits = waitingFor(k);
    std::vector<NodeId> late;
    if (!waits[k]) return late;
    const std::vector<NodeId>& stores = kernel(k).stores; // ascending: operands come first
    for (NodeId id : stores) {
        const std::optional<Kernel> alone = partOf(k, {id});
        if (!alone) return {};
        const bool isLate = std::any_of(alone->loads.begin(), alone->loads.end(), [&](NodeId load) {
            const size_t maker = makerOf(load);
            if (maker != k) return maker != kNone && waits[maker] != 0;
            return std::binary_search(late.begin(), late.end(), storageOf(m_graph, load));
        });
        if (isLate) late.push_back(id);
    }
    if (late.size() == stores.size()) late.clear();
    return late;
}

double KernelOrder::bytesOf(const Kernel& kernel) const {
    double bytes = 0;
    for (NodeId id : kernel.loads)
        bytes += static_cast<double>(m_graph[id].bytes());
    for (NodeId id : kernel.stores)
        bytes += static_cast<double>(m_graph[id].bytes());
    return bytes;
}

std::optional<KernelCut> KernelOrder::cheapestCut(const PartOf& partOf) const {
    std::optional<KernelCut> best;
    double least = 0;
    for (size_t k = 0; k < m_kernels.size(); ++k) {
        if (kernel(k).stores.size() < 2) continue;
        std::vector<NodeId> late = lateOf(k, partOf), early;
        if (late.empty()) continue;
        std::set_difference(kernel(k).stores.begin(), kernel(k).stores.end(), late.begin(),
                            late.end(), std::back_inserter(early));
        const std::optional<Kernel> first = partOf(k, early), second = partOf(k, late);
        if (!first || !second) continue;
        const double cost = bytesOf(*first) + bytesOf(*second) - bytesOf(kernel(k));
        if (best && cost >= least) continue;
        least = cost;
        best = KernelCut{k, std::move(late)};
    }
    return best;
}

} // namespace halfscope::cuda
