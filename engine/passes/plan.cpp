// The memory plan: one item for each run of bytes, with its lifetime in kernels. Items are placed
// largest first, at the lowest offset that is free of items alive at the same time.
#include "engine/passes/plan.h"

#include "engine/core/error.h"
#include "engine/ops/op_info.h"
#include "engine/passes/fuse.h"

#include <algorithm>
#include <map>
#include <set>

namespace halfscope {

namespace {

constexpr size_t kAlignment = 64; ///< bytes: a cache line, and a vector of AVX-512

size_t aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

struct Item {
    size_t bytes = 0;
    int first = 0, last = 0; ///< kernels, both included
    MemoryCause cause = MemoryCause::Activations;
    size_t offset = 0;
};

MemoryCause causeOf(StateRole role) {
    switch (role) {
    case StateRole::Parameter: return MemoryCause::Parameters;
    case StateRole::Moment: return MemoryCause::OptimizerState;
    case StateRole::Gradient: return MemoryCause::Gradients;
    default: return MemoryCause::OtherState;
    }
}

/// Whether a member needs elements of the value other than the one at its own index: it reads with
/// strides, or it is the product whose results the loop takes.
bool readsElsewhere(const Graph& graph, const Kernel& kernel, NodeId load) {
    const NodeId storage = storageOf(graph, load);
    return std::any_of(kernel.members.begin(), kernel.members.end(), [&](NodeId member) {
        const OpFlags flags = infoOf(graph[member].op).flags;
        const auto& in = graph[member].in;
        return (flags.has(OpFlag::StridedRead) || flags.has(OpFlag::Product)) &&
               std::any_of(in.begin(), in.end(),
                           [&](NodeId each) { return storageOf(graph, each) == storage; });
    });
}

class Planner {
public:
    Planner(const Graph& graph, const std::vector<Kernel>& kernels, size_t apartBytes)
        : m_graph(graph), m_kernels(kernels), m_apartBytes(apartBytes),
          m_end(static_cast<int>(kernels.size())), m_itemOf(static_cast<size_t>(graph.size()), -1) {
    }

    MemoryPlan run(size_t& pointOfNoReturn) {
        addLeaves();
        findLastReads();
        for (int k = 0; k < m_end; ++k)
            addStores(k);
        pinOutputs();
        pointOfNoReturn = static_cast<size_t>(m_firstWrite);
        place();
        return result();
    }

private:
    int item(NodeId id) const { return m_itemOf[static_cast<size_t>(storageOf(m_graph, id))]; }

    void addLeaves() {
        for (const StateInfo& state : m_graph.states())
            newItem(state.node, -1, m_end, causeOf(state.role));
        for (const InputInfo& input : m_graph.inputs())
            newItem(input.node, -1, m_end, MemoryCause::Inputs);
        for (const StateInfo& state : m_graph.states())
            if (state.next != kNoNode) m_stateOfNext[state.next].push_back(state.node);
    }

    void newItem(NodeId id, int first, int last, MemoryCause cause) {
        if (m_graph[id].bytes() <= m_apartBytes) {
            first = -1;
            last = m_end;
        }
        m_itemOf[static_cast<size_t>(id)] = static_cast<int>(m_items.size());
        m_items.push_back(
            {aligned(std::max<size_t>(m_graph[id].bytes(), 1)), first, last, cause, 0});
    }

    void findLastReads() {
        for (int k = 0; k < m_end; ++k)
            for (NodeId load : m_kernels[static_cast<size_t>(k)].loads)
                m_lastRead[storageOf(m_graph, load)] = k;
    }
    int lastRead(NodeId id) const {
        const auto found = m_lastRead.find(id);
        return found == m_lastRead.end() ? -1 : found->second;
    }

    /// Returns whether the kernel reads the value only at the index at which it writes.
    bool readInPlace(const Kernel& kernel, NodeId load) const {
        if (!kernel.loop || !(m_graph[load].shape == kernel.space)) return false;
        if (readsElsewhere(m_graph, kernel, load)) return false;
        // A view of the same bytes in another shape would be read at other indices.
        return std::none_of(kernel.loads.begin(), kernel.loads.end(), [&](NodeId other) {
            return other != load && storageOf(m_graph, other) == storageOf(m_graph, load);
        });
    }

    void addStores(int k) {
        const Kernel& kernel = m_kernels[static_cast<size_t>(k)];
        std::set<int> taken;
        for (NodeId id : kernel.stores) {
            if (infoOf(m_graph[id].op).flags.has(OpFlag::Reduction) ||
                !(m_graph[id].shape == kernel.space) || !kernel.loop) {
                newItem(id, k, std::max(k, lastRead(id)), causeOf(id));
                continue;
            }
            if (storeOverState(k, id, taken) || storeOverDying(k, id, taken)) continue;
            newItem(id, k, std::max(k, lastRead(id)), causeOf(id));
        }
    }

    /// Places a next value over its state when no other kernel reads the state later. A next value
    /// that is read again is not placed so: from the first one that is written here on, a step
    /// cannot be given up.
    bool storeOverState(int k, NodeId id, std::set<int>& taken) {
        const auto found = m_stateOfNext.find(id);
        if (found == m_stateOfNext.end() || found->second.size() != 1) return false;
        const NodeId state = found->second.front();
        const Kernel& kernel = m_kernels[static_cast<size_t>(k)];
        const int last = lastRead(state);
        const bool reads = std::any_of(kernel.loads.begin(), kernel.loads.end(), [&](NodeId load) {
            return storageOf(m_graph, load) == state;
        });
        if (last > k || (reads && !readInPlace(kernel, state)) || lastRead(id) > k) return false;
        if (isPinned(state) || !taken.insert(item(state)).second) return false;
        m_itemOf[static_cast<size_t>(id)] = item(state);
        m_firstWrite = std::min(m_firstWrite, k);
        return true;
    }

    /// Places a value over an input of the same size that nothing needs any more; leaves live to
    /// the end.
    bool storeOverDying(int k, NodeId id, std::set<int>& taken) {
        const Kernel& kernel = m_kernels[static_cast<size_t>(k)];
        for (NodeId load : kernel.loads) {
            const int at = item(load);
            Item& old = m_items[static_cast<size_t>(at)];
            if (old.last != k || bytesOf(m_graph[load].dtype) != bytesOf(m_graph[id].dtype) ||
                isPinned(storageOf(m_graph, load)) || !readInPlace(kernel, load))
                continue;
            if (!taken.insert(at).second) continue;
            old.last = std::max(k, lastRead(id));
            m_itemOf[static_cast<size_t>(id)] = at;
            return true;
        }
        return false;
    }

    /// Returns whether the value is needed after the last kernel: an output, or a next value to be
    /// copied.
    bool isPinned(NodeId id) const {
        const auto is = [&](NodeId other) {
            return other != kNoNode && storageOf(m_graph, other) == id;
        };
        const auto& outputs = m_graph.outputs();
        const auto& states = m_graph.states();
        return std::any_of(outputs.begin(), outputs.end(),
                           [&](const OutputInfo& output) { return is(output.node); }) ||
               std::any_of(states.begin(), states.end(),
                           [&](const StateInfo& state) { return is(state.next); });
    }

    MemoryCause causeOf(NodeId id) const {
        switch (m_graph[id].cause.phase) {
        case Phase::Forward:
        case Phase::Loss: return MemoryCause::Activations;
        case Phase::Backward:
        case Phase::Unscale: return MemoryCause::Gradients;
        default: return MemoryCause::OtherState;
        }
    }
    static MemoryCause causeOf(StateRole role) { return halfscope::causeOf(role); }

    /// Keeps outputs, and next values that are copied at the end, alive to the end.
    void pinOutputs() {
        for (const OutputInfo& output : m_graph.outputs())
            m_items[static_cast<size_t>(item(output.node))].last = m_end;
        for (const StateInfo& state : m_graph.states()) {
            if (state.next == kNoNode) continue;
            require(m_graph[storageOf(m_graph, state.next)].op != Op::State ||
                        state.next == state.node,
                    "plan: a state's next value must not be another state: " + state.name);
            Item& next = m_items[static_cast<size_t>(item(state.next))];
            next.last = m_end;
        }
    }

    void place() {
        std::vector<int> order(m_items.size());
        for (size_t i = 0; i < order.size(); ++i)
            order[i] = static_cast<int>(i);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
            return m_items[static_cast<size_t>(a)].bytes > m_items[static_cast<size_t>(b)].bytes;
        });
        std::vector<const Item*> placed;
        // Executors run independent kernels in another order, or side by side. Shared bytes would
        // tie such kernels together, so values far below the largest share none, which costs
        // little.
        constexpr size_t kFarBelow = 1024;
        const size_t smallBytes =
            order.empty() ? 0 : m_items[static_cast<size_t>(order.front())].bytes / kFarBelow;
        for (int index : order) {
            Item& item = m_items[static_cast<size_t>(index)];
            const bool small = item.bytes <= smallBytes;
            std::vector<std::pair<size_t, size_t>> busy;
            for (const Item* other : placed)
                if (!small && other->first <= item.last && item.first <= other->last)
                    busy.emplace_back(other->offset, other->offset + other->bytes);
            std::sort(busy.begin(), busy.end());
            size_t at = small ? m_arena : 0;
            for (const auto& [begin, end] : busy) {
                if (at + item.bytes <= begin) break;
                at = std::max(at, end);
            }
            item.offset = at;
            placed.push_back(&item);
            m_arena = std::max(m_arena, at + item.bytes);
        }
    }

    MemoryPlan result() const {
        MemoryPlan plan;
        plan.arenaBytes = m_arena;
        plan.offset.assign(static_cast<size_t>(m_graph.size()), MemoryPlan::kNowhere);
        for (NodeId id = 0; id < m_graph.size(); ++id)
            if (const int at = item(id); at >= 0)
                plan.offset[static_cast<size_t>(id)] = m_items[static_cast<size_t>(at)].offset;
        for (int k = 0; k < std::max(m_end, 1); ++k) {
            std::array<size_t, kMemoryCauses> now{};
            size_t sum = 0;
            for (const Item& item : m_items) {
                if (item.first > k || item.last < k) continue;
                now[static_cast<size_t>(item.cause)] += item.bytes;
                sum += item.bytes;
            }
            if (sum > plan.peakBytes) {
                plan.peakBytes = sum;
                plan.peakByCause = now;
            }
        }
        return plan;
    }

    const Graph& m_graph;
    const std::vector<Kernel>& m_kernels;
    size_t m_apartBytes;
    int m_end;
    std::vector<int> m_itemOf;
    std::vector<Item> m_items;
    std::map<NodeId, std::vector<NodeId>> m_stateOfNext;
    std::map<NodeId, int> m_lastRead;
    int m_firstWrite = m_end;
    size_t m_arena = 0;
};

} // namespace

std::string_view nameOf(MemoryCause cause) {
    static constexpr std::array<std::string_view, kMemoryCauses> kNames{
        "parameters",  "optimizer state", "other state", "inputs",
        "activations", "gradients",       "workspace"};
    return kNames[static_cast<size_t>(cause)];
}

MemoryPlan planMemory(const Graph& graph, const std::vector<Kernel>& kernels,
                      size_t& pointOfNoReturn, size_t apartBytes) {
    return Planner(graph, kernels, apartBytes).run(pointOfNoReturn);
}

namespace {

/// Returns whether a kernel may write `store` over the bytes of `load`: only as a loop that reads
/// each element at the index at which it writes, and in no other way.
bool mayOverlay(const Graph& graph, const Kernel& kernel, NodeId store, NodeId load) {
    const Node &to = graph[store], &from = graph[load];
    const bool sameElements = kernel.loop && to.shape == kernel.space && from.shape == to.shape &&
                              bytesOf(to.dtype) == bytesOf(from.dtype) &&
                              !infoOf(to.op).flags.has(OpFlag::Reduction);
    return sameElements && !readsElsewhere(graph, kernel, load);
}

/// Throws when a loop's member reads what the loop neither computes nor loads. At indices other
/// than its own it reads memory, so a value that the loop computes does not suffice there.
void checkLoads(const Graph& graph, const Kernel& kernel) {
    if (!kernel.loop) return;
    const auto isIn = [](const std::vector<NodeId>& list, NodeId id) {
        return std::find(list.begin(), list.end(), id) != list.end();
    };
    for (const NodeId member : kernel.members) {
        const OpFlags flags = infoOf(graph[member].op).flags;
        const bool elsewhere = flags.has(OpFlag::StridedRead) || flags.has(OpFlag::Product);
        for (const NodeId in : graph[member].in)
            require(isIn(kernel.loads, in) || (!elsewhere && isIn(kernel.members, in)),
                    "plan: %" + std::to_string(member) + " reads %" + std::to_string(in) +
                        ", which its loop does not load");
    }
}

/// Throws when a kernel writes over what it reads in a way that loses values.
void checkOverlays(const Graph& graph, const Kernel& kernel, const MemoryPlan& plan) {
    for (NodeId store : kernel.stores) {
        for (NodeId load : kernel.loads) {
            const size_t to = plan.offset[static_cast<size_t>(store)];
            const size_t from = plan.offset[static_cast<size_t>(load)];
            if (to >= from + graph[load].bytes() || from >= to + graph[store].bytes()) continue;
            require(to == from && mayOverlay(graph, kernel, store, load),
                    "plan: %" + std::to_string(store) + " is written over %" +
                        std::to_string(load) + ", which its kernel reads at other places");
        }
    }
}

} // namespace

void checkPlan(const Graph& graph, const std::vector<Kernel>& kernels, const MemoryPlan& plan) {
    // Simulates the step: each byte range remembers which value was last written there.
    std::map<size_t, std::pair<size_t, NodeId>> live; // begin -> (end, value)
    const auto write = [&](NodeId id) {
        const size_t begin = plan.offset[static_cast<size_t>(id)];
        require(begin != MemoryPlan::kNowhere, "plan: a stored value has no place");
        const size_t end = begin + graph[id].bytes();
        require(end <= plan.arenaBytes, "plan: a value lies outside the arena");
        require(begin % kAlignment == 0, "plan: a value is not aligned");
        for (auto it = live.begin(); it != live.end();)
            it = it->first < end && begin < it->second.first ? live.erase(it) : std::next(it);
        live[begin] = {end, id};
    };
    const auto holds = [&](NodeId id, const char* when) {
        const NodeId storage = storageOf(graph, id);
        const auto found = live.find(plan.offset[static_cast<size_t>(id)]);
        require(found != live.end() && found->second.second == storage,
                std::string("plan: %") + std::to_string(id) + " was overwritten before " + when);
    };
    for (const StateInfo& state : graph.states())
        write(state.node);
    for (const InputInfo& input : graph.inputs())
        write(input.node);
    for (const Kernel& kernel : kernels) {
        for (NodeId load : kernel.loads)
            holds(load, "a kernel read it");
        checkLoads(graph, kernel);
        checkOverlays(graph, kernel, plan);
        for (NodeId store : kernel.stores)
            write(store);
    }
    for (const OutputInfo& output : graph.outputs())
        holds(output.node, "the end of the step");
    for (const StateInfo& state : graph.states())
        if (state.next != kNoNode) holds(state.next, "it became a state");
}

} // namespace halfscope
