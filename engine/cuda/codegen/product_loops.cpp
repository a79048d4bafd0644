// Looks behind each product for a loop that reads its results element by element.
#include "engine/cuda/codegen/product_loops.h"

#include "engine/ops/op_info.h"
#include "engine/passes/fuse.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace halfscope::cuda {

namespace {

class Joiner {
public:
    explicit Joiner(Program& program) : m_graph(program.graph), m_kernels(program.kernels) {
        for (size_t i = 0; i < m_kernels.size(); ++i)
            for (NodeId id : m_kernels[i].stores)
                m_maker[id] = i;
        std::set<NodeId> read;
        for (const Kernel& kernel : m_kernels)
            for (NodeId load : kernel.loads)
                read.insert(storageOf(m_graph, load));
        for (const StateInfo& state : m_graph.states()) {
            if (state.next != kNoNode && read.contains(state.node))
                m_next.insert(storageOf(m_graph, state.next));
        }
    }

    void run(const std::function<bool(const Kernel&)>& ours) {
        for (size_t i = 0; i < m_kernels.size(); ++i)
            if (isProduct(m_kernels[i]) && ours(m_kernels[i])) joinOne(i);
        std::erase_if(m_kernels, [](const Kernel& kernel) { return kernel.members.empty(); });
    }

private:
    const Node& node(NodeId id) const { return m_graph[id]; }
    OpFlags flags(NodeId id) const { return infoOf(node(id).op).flags; }

    bool isProduct(const Kernel& kernel) const {
        return !kernel.loop && kernel.members.size() == 1 &&
               node(kernel.members.front()).op == Op::Matmul &&
               node(kernel.members.front()).elements() > 0;
    }

    void joinOne(size_t at) {
        const NodeId product = m_kernels[at].members.front();
        for (size_t i = at + 1; i < m_kernels.size(); ++i)
            if (std::optional<Parts> parts = partsOf(m_kernels[i], product, at)) {
                m_kernels[i] = std::move(parts->rest);
                join(m_kernels[at], std::move(parts->joined), parts->taken);
                return;
            }
    }

    /// A loop in two: what is joined with a product, and sums, which read what that stores.
    struct Parts {
        NodeId taken = kNoNode; ///< as what the loop takes the results: the product or its view
        Kernel joined, rest;
    };

    std::optional<Parts> partsOf(const Kernel& loop, NodeId product, size_t at) const {
        if (!loop.loop || isProductLoop(m_graph, loop)) return {};
        Parts parts;
        for (NodeId load : loop.loads)
            if (storageOf(m_graph, load) == product) {
                if (parts.taken != kNoNode) return {};
                parts.taken = load;
            }
        if (parts.taken == kNoNode || !(node(parts.taken).shape == loop.space)) return {};
        if (parts.taken != product && node(parts.taken).in[0] != product) return {};
        std::vector<NodeId> sums, elements;
        for (NodeId id : loop.stores)
            (flags(id).has(OpFlag::Reduction) ? sums : elements).push_back(id);
        // sums would only wait for one kernel more, unless something else goes on without them
        if (!sums.empty() && !goesOn(elements)) return {};
        parts.joined = partOf(loop, elements, {});
        if (!mayJoin(parts.joined, parts.taken, at)) return {};
        if (!sums.empty()) parts.rest = partOf(loop, sums, {elements.begin(), elements.end()});
        return parts;
    }

    /// Whether a kernel other than a state's update reads one of the values.
    bool goesOn(const std::vector<NodeId>& values) const {
        return std::any_of(m_kernels.begin(), m_kernels.end(), [&](const Kernel& kernel) {
            return !writesNext(kernel) &&
                   std::any_of(kernel.loads.begin(), kernel.loads.end(), [&](NodeId load) {
                       return std::find(values.begin(), values.end(), storageOf(m_graph, load)) !=
                              values.end();
                   });
        });
    }

    bool writesNext(const Kernel& kernel) const {
        return std::any_of(kernel.stores.begin(), kernel.stores.end(),
                           [&](NodeId id) { return m_next.contains(storageOf(m_graph, id)); });
    }

    /// Returns a loop that computes some of a loop's values, and reads those that are `stored`.
    Kernel partOf(const Kernel& loop, const std::vector<NodeId>& values,
                  const std::set<NodeId>& stored) const {
        std::set<NodeId> members(values.begin(), values.end()), loads;
        for (auto id = loop.members.rbegin(); id != loop.members.rend(); ++id) {
            if (!members.contains(*id)) continue;
            for (NodeId in : node(*id).in) {
                const bool computed =
                    !stored.contains(in) &&
                    std::find(loop.members.begin(), loop.members.end(), in) != loop.members.end();
                (computed ? members : loads).insert(in);
            }
        }
        Kernel part{{}, values, {loads.begin(), loads.end()}, true, loop.space, loop.split};
        for (NodeId id : loop.members)
            if (members.contains(id)) part.members.push_back(id);
        return part;
    }

    bool mayJoin(const Kernel& loop, NodeId taken, size_t at) const {
        bool takes = false;
        for (NodeId load : loop.loads) {
            takes = takes || load == taken;
            const auto made = m_maker.find(storageOf(m_graph, load));
            if (load != taken && made != m_maker.end() && made->second >= at) return false;
        }
        const bool strided = std::any_of(loop.members.begin(), loop.members.end(), [&](NodeId id) {
            return flags(id).has(OpFlag::StridedRead) && node(id).in[0] == taken;
        });
        return takes && !strided && !writesNext(loop);
    }

    /// Puts a loop behind the product, in its kernel.
    void join(Kernel& into, Kernel loop, NodeId taken) {
        const NodeId product = into.members.front();
        if (taken != product) loop.members.insert(loop.members.begin(), taken);
        loop.members.insert(loop.members.begin(), product);
        std::erase(loop.loads, taken);
        for (NodeId id : into.loads)
            if (std::find(loop.loads.begin(), loop.loads.end(), id) == loop.loads.end())
                loop.loads.push_back(id);
        // also where nothing else reads it: who looks for the first value that is not finite sees
        // it
        loop.stores.insert(loop.stores.begin(), product);
        for (NodeId id : loop.stores)
            m_maker[id] = static_cast<size_t>(&into - m_kernels.data());
        into = std::move(loop);
    }

    const Graph& m_graph;
    std::vector<Kernel>& m_kernels;
    std::map<NodeId, size_t> m_maker; ///< by value: the kernel that stores it
    std::set<NodeId> m_next;          ///< next values of states that kernels read
};

} // namespace

bool isProductLoop(const Graph& graph, const Kernel& kernel) {
    return kernel.loop && infoOf(graph[kernel.members.front()].op).flags.has(OpFlag::Product);
}

void joinProducts(Program& program, const std::function<bool(const Kernel&)>& ours) {
    Joiner(program).run(ours);
}

} // namespace halfscope::cuda
