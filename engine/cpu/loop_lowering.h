// The lowering of a loop kernel to instructions; used by CpuLoop's constructor alone.
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
    bool isAlias(NodeId) const; ///< a cast that changes no value: the same slot
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
    bool m_hasColumnSums = false;
    int m_index = 0;
    std::ptrdiff_t m_gathers = 0; ///< instructions that gather: the first of the program
    std::map<NodeId, Place> m_places;
    std::map<NodeId, int> m_lastUse; ///< by value: index of the last member that reads it
    std::map<NodeId, int> m_owned;   ///< by value: its slot, -1 once free
    std::vector<int> m_free;
    std::vector<Instruction> m_deferred, m_reduces;
};

} // namespace halfscope
