// Which values of a program are recomputed by chains rather than read, which one of them stores for
// others, and the kernels that follow from that: a step of the matcher (chain_match.cpp).
#pragma once

#include "engine/cuda/codegen/chain.h"
#include "engine/cuda/codegen/chain_shape.h"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace halfscope::cuda {

class ChainValues {
public:
    ChainValues(const Program&, const ChainOptions&);

    bool isWide(NodeId) const; ///< (rows, columns), large enough for chains
    bool isProductKernel(size_t kernel) const;
    bool isChainProduct(NodeId) const; ///< a matmul that may become a chain
    bool isDeep(NodeId product) const;
    bool isRefused(NodeId product) const { return m_refused.count(product) != 0; }

    bool isStored(NodeId id) const { return m_maker.count(id) != 0 && m_again.count(id) == 0; }
    /// Whether a value is no longer stored because every reader computes it.
    bool isComputedAgain(NodeId id) const { return m_again.count(id) != 0; }
    /// Whether the loop that stored a value need not do it any more.
    bool isMoved(NodeId) const;
    bool isPinned(NodeId id) const { return m_pinned.count(id) != 0; } ///< needed after the step
    size_t makerOf(NodeId id) const { return m_maker.at(id); } ///< the kernel that stores it
    /// Returns the operand that the product's chain stores for others, or kNoNode.
    NodeId keptBy(NodeId product) const;

    /// Notes that no chain can be made of the product: its operands must be stored.
    void refuse(NodeId product);
    /// Notes that the product's chain cannot store its operand: all readers recompute it.
    void dropKept(NodeId product);
    /// Stores what the loop reads, because it cannot compute it.
    void storeLoadsOf(size_t kernel);

    /// Returns the kernel that stores these values, from stored ones, or nothing when that is
    /// impossible. Values of columns that depend on its own sums are recomputed from them. A stored
    /// tensor that follows from others which the kernel reads anyway is also recomputed.
    std::optional<Kernel> kernelOf(const std::vector<NodeId>& stores, NodeId product) const;
    /// Returns the loop with other stores.
    std::optional<Kernel> loopOf(const Kernel& old, const std::vector<NodeId>& stores) const;

private:
    static constexpr size_t kNoKernel = ~size_t{0};
    const Node& node(NodeId id) const { return m_graph[id]; }
    const Kernel& kernel(size_t k) const { return m_program.kernels[k]; }
    void indexKernels();
    bool takes(NodeId product, NodeId value) const;
    bool isRecomputable(size_t kernel, NodeId value) const;
    bool isComputable(NodeId) const;
    /// Does the same as kernelOf(), with `again` as the values that are not stored.
    std::optional<Kernel> closureOf(const std::vector<NodeId>& stores, NodeId product,
                                    const std::set<NodeId>& again) const;
    bool savesReads(const Kernel& with, const Kernel& without) const;
    void chooseRecomputed();
    void chooseKept();
    NodeId keeperOf(NodeId value) const;
    std::vector<char> reachOf(const std::vector<NodeId>& from) const;

    const Program& m_program;
    const Graph& m_graph;
    const ChainOptions& m_options;
    std::map<NodeId, size_t> m_maker;                                   ///< of stored values
    std::map<NodeId, std::vector<std::pair<size_t, NodeId>>> m_readers; ///< by storage
    std::set<NodeId> m_pinned;       ///< the storage of outputs and next values
    std::set<NodeId> m_again;        ///< no longer stored
    std::map<NodeId, NodeId> m_kept; ///< by product: its operand, stored by the chain
    std::set<NodeId> m_refused;      ///< products of which no chain can be made
};

} // namespace halfscope::cuda
