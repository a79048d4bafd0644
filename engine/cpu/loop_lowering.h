// Lowers a loop kernel to instructions; only CpuLoop's constructor uses it.
#pragma once

#include "engine/cpu/loop.h"

#include <map>

namespace halfscope {

class CpuLoop::Lowering {
public:
    Lowering(CpuLoop&, const Graph&, const Kernel&, const MemoryPlan&);
    void run();

private:
    bool isReduction(NodeId) const;
    bool isStridedRead(NodeId) const;
    bool isStore(NodeId) const;
    bool isAlias(NodeId) const; ///< a cast that changes no value: it has the same slot
    bool overlaysLoad(NodeId) const;
    ReduceKind kindOf(NodeId) const;
    size_t offsetOf(NodeId) const;
    void findLastUses();
    int takeSlot();
    void freeAfter(int index);
    void addLoad(NodeId value, NodeId memory, const Shape& strides);
    void addLoadTo(NodeId value, Load, bool steady);
    void addMember(NodeId);
    void addCompute(NodeId, int index);
    void addStore(NodeId);
    void addReduction(NodeId);
    void addLast();

    CpuLoop& m_loop;
    const Graph& m_graph;
    const Kernel& m_kernel;
    const MemoryPlan& m_memory;
    bool m_sumsWholeRows = false;
    int m_index = 0;
    std::ptrdiff_t m_gathers = 0; ///< instructions that gather, which come first in the program
    std::ptrdiff_t m_spreads = 0; ///< those that spread a value by row, which come next
    std::map<NodeId, Place> m_places;
    std::map<NodeId, int> m_lastUse; ///< for each value, the index of the last member that reads it
    std::map<NodeId, int> m_owned;   ///< for each value, its slot; -1 once that is free
    std::vector<int> m_free;
    std::vector<Instruction> m_deferred, m_reduces;
};

} // namespace halfscope
