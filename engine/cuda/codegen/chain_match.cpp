// Finds chains. A value that loops compute from other values of the same rows is no longer stored
// if all its readers can recompute it. Matrix products absorb the loops of their operands, and sums
// over rows go to the product whose result they read, or to a pass of their own.
#include "engine/cuda/codegen/chain.h"
#include "engine/cuda/codegen/chain_order.h"
#include "engine/cuda/codegen/chain_shape.h"
#include "engine/cuda/codegen/chain_tiles.h"
#include "engine/cuda/codegen/chain_values.h"
#include "engine/passes/fuse.h"
#include "engine/passes/plan.h"

#include <algorithm>
#include <map>
#include <set>

namespace halfscope::cuda {

namespace {

constexpr int kMaxPartials = 5; ///< of one chain: what fits into shared memory besides a product

bool contains(const std::vector<NodeId>& list, NodeId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}

/// A chain in the making: what it stores, and a product or none.
struct Group {
    NodeId product = kNoNode;
    std::vector<NodeId> stores;
    size_t place = 0; ///< the place of its first kernel in the program
    Kernel kernel;
    NodeId anchor() const { return product == kNoNode ? stores.front() : product; }
};

class Matcher {
public:
    Matcher(const Program& program, const DeviceTraits& traits, const ChainOptions& options)
        : m_program(program), m_graph(program.graph), m_traits(traits), m_options(options),
          m_values(program, options) {}

    /// Returns nothing when the chains wait for each other and cannot be split.
    std::vector<Kernel> run() {
        for (;;) {
            while (!build()) {
            }
            const std::vector<Placed> all = assembled();
            std::vector<Kernel> kernels;
            for (const Placed& placed : all)
                kernels.push_back(placed.kernel);
            const KernelOrder order(m_graph, kernels);
            if (const auto places = order.order()) return inOrder(kernels, *places);
            const auto cut = order.cheapestCut([&](size_t k, const std::vector<NodeId>& stores) {
                return partOf(all[k], stores);
            });
            if (!cut) return {};
            part(all[cut->kernel], cut->late);
        }
    }

private:
    const Node& node(NodeId id) const { return m_graph[id]; }
    const Kernel& kernel(size_t k) const { return m_program.kernels[k]; }

    // ---- one kernel ----

    bool tryGroup(Group& group, const std::vector<NodeId>& stores) const {
        std::optional<Kernel> made = m_values.kernelOf(stores, group.product);
        if (!made || (group.product == kNoNode && made->members.size() < 2)) return false;
        const std::optional<ChainShape> shape = chainShape(m_graph, *made, m_traits.chainWay.form);
        if (!shape || shape->partials() > kMaxPartials) return false;
        if (!canWriteChain(m_graph, *made, *shape, m_traits)) return false;
        group.stores = stores;
        group.kernel = std::move(*made);
        return true;
    }
    bool tryAdd(Group& group, NodeId item) const {
        if (m_apart.count({group.anchor(), item})) return false;
        std::vector<NodeId> stores = group.stores;
        stores.push_back(item);
        return tryGroup(group, stores);
    }

    // ---- all kernels ----

    struct Item {
        NodeId id = kNoNode;
        size_t kernel = 0;
    };

    /// Makes one attempt; returns false after finding a value that must be stored after all.
    bool build() {
        m_groups.clear();
        m_gone.clear();
        m_rebuilt.clear();
        for (size_t k = 0; k < m_program.kernels.size(); ++k)
            if (m_values.isProductKernel(k) && !addProduct(k)) return false;
        std::vector<Item> items;
        for (size_t k = 0; k < m_program.kernels.size(); ++k)
            collectItems(k, items);
        std::sort(items.begin(), items.end(),
                  [](const Item& a, const Item& b) { return a.id < b.id; });
        for (const Item& item : items)
            if (!place(item) && !leave(item)) return false;
        for (size_t k = 0; k < m_program.kernels.size(); ++k)
            if (!rebuildLoop(k)) return false;
        return true;
    }

    bool refuse(NodeId product) {
        m_values.refuse(product);
        return false;
    }
    bool addProduct(size_t k) {
        const NodeId id = kernel(k).members[0];
        if (m_values.isComputedAgain(id)) {
            m_gone.insert(k);
            return true;
        }
        if (!m_values.isChainProduct(id)) return true;
        Group group{id, {}, k, {}};
        const NodeId kept = m_values.keptBy(id);
        if (kept != kNoNode && !tryGroup(group, {kept, id})) {
            m_values.dropKept(id);
            return false;
        }
        if (kept == kNoNode && !tryGroup(group, {id})) return refuse(id);
        m_groups.push_back(std::move(group));
        return true;
    }

    void collectItems(size_t k, std::vector<Item>& items) const {
        if (m_values.isProductKernel(k)) {
            const NodeId id = kernel(k).members[0];
            const bool fits =
                (isNarrowDeep(m_graph, id) || isDotProduct(m_graph, id)) && !m_values.isRefused(id);
            if (!fits) return;
            const size_t wide =
                isDotProduct(m_graph, id) ? 0 : static_cast<size_t>(wideOperand(m_graph, id));
            if (m_values.isWide(node(id).in[wide]) && m_values.isComputedAgain(node(id).in[wide]))
                items.push_back({id, k});
            return;
        }
        if (!kernel(k).loop || !isWideLoop(k)) return;
        for (NodeId id : kernel(k).stores) // a loop that stays keeps its sums
            if (!m_values.isMoved(id) && !isRowReduction(m_graph, id)) return;
        for (NodeId id : kernel(k).stores)
            if (!m_values.isMoved(id)) items.push_back({id, k});
    }
    bool isWideLoop(size_t k) const {
        const Shape& space = kernel(k).space;
        return space.rank() == 2 && space[1] >= 4 * kNarrow &&
               space.elements() >= m_options.leastElements;
    }

    bool place(const Item& item) {
        for (Group& group : m_groups)
            if (group.product != kNoNode && m_values.isDeep(group.product) &&
                tryAdd(group, item.id))
                return true;
        for (Group& group : m_groups)
            if (group.product != kNoNode && !m_values.isDeep(group.product) &&
                readsProduct(item.id, group.product) && tryAdd(group, item.id))
                return true;
        for (Group& group : m_groups)
            if (group.product == kNoNode && tryAdd(group, item.id)) return true;
        Group pass{kNoNode, {}, item.kernel, {}};
        if (!tryGroup(pass, {item.id})) return false;
        m_groups.push_back(std::move(pass));
        return true;
    }
    /// Whether a sum would read the product's result anyway.
    bool readsProduct(NodeId item, NodeId product) const {
        const std::optional<Kernel> alone = m_values.kernelOf({item}, kNoNode);
        return alone && contains(alone->loads, product);
    }
    /// Leaves the item as a kernel of its own. Returns false when it then needs an operand stored.
    bool leave(const Item& item) {
        if (m_values.isProductKernel(item.kernel)) return refuse(item.id);
        return true; // rebuildLoop keeps it
    }

    /// Leaves to loops what no group has taken.
    bool rebuildLoop(size_t k) {
        if (!kernel(k).loop) return true;
        std::set<NodeId> taken;
        for (const Group& group : m_groups)
            taken.insert(group.stores.begin(), group.stores.end());
        std::vector<NodeId> stores;
        for (NodeId id : kernel(k).stores)
            if (!m_values.isComputedAgain(id) && !taken.count(id)) stores.push_back(id);
        if (stores.empty()) {
            m_gone.insert(k);
            return true;
        }
        std::map<int, std::vector<NodeId>> parts;
        for (NodeId id : stores)
            parts[partNumberOf(id)].push_back(id);
        const bool same = parts.size() == 1 && stores.size() == kernel(k).stores.size() &&
                          std::none_of(kernel(k).loads.begin(), kernel(k).loads.end(),
                                       [&](NodeId id) { return m_values.isComputedAgain(id); });
        if (same) return true;
        return std::all_of(parts.begin(), parts.end(),
                           [&](const auto& each) { return rebuildLoop(k, each.second); });
    }
    bool rebuildLoop(size_t k, const std::vector<NodeId>& stores) {
        // what the loop still stores is no reason to compute anything from it
        const std::optional<Kernel> made = m_values.loopOf(kernel(k), stores);
        if (!made) { // one of the recomputed values is not for loops
            m_values.storeLoadsOf(k);
            return false;
        }
        m_rebuilt[k].push_back(*made);
        return true;
    }

    // ---- kernels that wait for each other are parted ----

    struct Placed {
        size_t place;
        Kernel kernel;
        const Group* group = nullptr; ///< the group of a chain
    };
    int partNumberOf(NodeId store) const {
        const auto found = m_part.find(store);
        return found == m_part.end() ? 0 : found->second;
    }
    std::optional<Kernel> partOf(const Placed& placed, const std::vector<NodeId>& stores) const {
        if (placed.group == nullptr) return m_values.loopOf(placed.kernel, stores);
        const NodeId product = placed.group->product;
        return m_values.kernelOf(stores, contains(stores, product) ? product : kNoNode);
    }
    /// Splits from now on: the anchor of a chain stays, and what is on the other side of the cut
    /// goes elsewhere.
    void part(const Placed& placed, const std::vector<NodeId>& late) {
        if (placed.group == nullptr) {
            ++m_parts;
            for (NodeId id : late)
                m_part[id] = m_parts;
            return;
        }
        const Group& group = *placed.group;
        const NodeId anchor = group.anchor();
        for (NodeId id : group.stores) {
            if (contains(late, id) == contains(late, anchor)) continue;
            if (id == m_values.keptBy(group.product))
                m_values.dropKept(group.product);
            else
                m_apart.insert({anchor, id});
        }
    }
    // ---- the result ----

    /// Whether a chain saves anything compared with the library's product.
    bool isUseful(const Group& group) const {
        if (group.product == kNoNode || group.stores.size() > 1) return true;
        return group.kernel.members.size() > 1;
    }

    std::vector<Placed> assembled() const {
        std::vector<Placed> all;
        std::set<size_t> replaced = m_gone;
        for (const Group& group : m_groups) {
            if (!isUseful(group)) continue;
            replaced.insert(group.place);
            for (NodeId id : group.stores)
                if (m_values.isProductKernel(m_values.makerOf(id)))
                    replaced.insert(m_values.makerOf(id));
            all.push_back({group.place, group.kernel, &group});
        }
        for (size_t k = 0; k < m_program.kernels.size(); ++k) {
            const auto rebuilt = m_rebuilt.find(k);
            if (m_gone.count(k)) continue;
            if (rebuilt != m_rebuilt.end())
                for (const Kernel& each : rebuilt->second)
                    all.push_back({k, each});
            else if (!replaced.count(k))
                all.push_back({k, kernel(k)});
        }
        std::stable_sort(all.begin(), all.end(),
                         [](const Placed& a, const Placed& b) { return a.place < b.place; });
        return all;
    }

    std::vector<Kernel> inOrder(std::vector<Kernel>& kernels, const std::vector<size_t>& places) {
        dropUnreadProducts(kernels);
        std::vector<Kernel> result;
        for (const size_t place : places)
            result.push_back(std::move(kernels[place]));
        return result;
    }
    /// Drops the stores of products whose result stays inside their chain.
    void dropUnreadProducts(std::vector<Kernel>& all) const {
        for (Kernel& chain : all) {
            if (!isChain(chain)) continue;
            std::erase_if(chain.stores, [&](NodeId id) {
                if (node(id).op != Op::Matmul || chain.stores.size() < 2 ||
                    !m_values.isChainProduct(id) || m_values.isDeep(id) || m_values.isPinned(id))
                    return false;
                return std::none_of(all.begin(), all.end(), [&](const Kernel& other) {
                    return std::any_of(other.loads.begin(), other.loads.end(),
                                       [&](NodeId load) { return storageOf(m_graph, load) == id; });
                });
            });
        }
    }

    const Program& m_program;
    const Graph& m_graph;
    const DeviceTraits& m_traits;
    const ChainOptions& m_options;
    ChainValues m_values;
    std::vector<Group> m_groups;
    std::set<size_t> m_gone;
    std::map<size_t, std::vector<Kernel>> m_rebuilt; ///< by kernel: its loops
    std::set<std::pair<NodeId, NodeId>> m_apart; ///< anchor of a group, and item that is not for it
    std::map<NodeId, int> m_part;                ///< by store of a loop that is split
    int m_parts = 0;
};

double bytesMoved(const Program& program) {
    double bytes = 0;
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        const Traffic traffic = trafficOf(program, k);
        bytes += traffic.readBytes + traffic.writtenBytes;
    }
    return bytes;
}

Program fusedWith(const Program& program, const DeviceTraits& traits, const ChainOptions& options) {
    std::vector<Kernel> kernels = Matcher(program, traits, options).run();
    if (std::none_of(kernels.begin(), kernels.end(), isChain)) return program;
    Program result{program.graph, std::move(kernels), {}, 0};
    result.memory = planMemory(result.graph, result.kernels, result.pointOfNoReturn);
    if (!options.keepOperands || result.memory.peakBytes <= program.memory.peakBytes) return result;
    ChainOptions frugal = options;
    frugal.keepOperands = false;
    return fusedWith(program, traits, frugal);
}

} // namespace

Program fuseChains(const Program& program, const DeviceTraits& traits,
                   const ChainOptions& options) {
    Program few = fusedWith(program, traits, options);
    ChainOptions more = options;
    more.mostMembers *= 2;
    Program many = fusedWith(program, traits, more);
    Program& best = bytesMoved(many) < bytesMoved(few) ? many : few;
    const bool costs =
        bytesMoved(best) > bytesMoved(program) && best.memory.peakBytes >= program.memory.peakBytes;
    if (costs) return program;
    return std::move(best);
}

} // namespace halfscope::cuda
