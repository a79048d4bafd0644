// Fusion: decides which values are stored, then puts stored values of one loop space into common
// kernels. Cheap elementwise values are computed again where they are needed rather than stored,
// because a pass over memory costs more than a few operations on values in cache.
#include "engine/passes/fuse.h"

#include "engine/core/error.h"
#include "engine/ops/op_info.h"

#include <algorithm>
#include <set>

namespace halfscope {

namespace {

/// The most elementwise operations for which a value is computed again in a second kernel: a pass
/// over memory (one store, one load) is worth about this many. A transcendental is a call for each
/// element and counts as more than that.
constexpr int kRecomputeLimit = 24;
constexpr int kTranscendentalCost = 50;
/// The most operations that may replace the load of a stored value whose own inputs are loaded
/// anyway.
constexpr size_t kReplaceLimit = 8;
constexpr size_t kMaxMembers = 160;
constexpr int64_t kSmallSpace = 16384; ///< elements: kernels this small merge to save launches

bool inLoopType(DType type) { return type != DType::F64; }

bool isTranscendental(Op op) { return infoOf(op).flags.has(OpFlag::Transcendental); }

class Fuser {
public:
    Fuser(const Graph& graph, FuseOptions options, bool channelSums)
        : m_graph(graph), m_options(options), m_channelSums(channelSums),
          m_stored(static_cast<size_t>(graph.size()), 0),
          m_kernelOf(static_cast<size_t>(graph.size()), -1) {
        for (const StateInfo& state : graph.states())
            m_next.insert(state.next);
    }

    std::vector<Kernel> run() {
        markMandatory();
        if (m_options == FuseOptions::Full) markExpensive();
        for (NodeId id = 0; id < m_graph.size(); ++id)
            if (stored(id) && !isLeaf(id) && !isView(id)) place(id);
        return orderTail();
    }

private:
    const Node& node(NodeId id) const { return m_graph[id]; }
    bool stored(NodeId id) const { return m_stored[static_cast<size_t>(id)] != 0; }
    void store(NodeId id) { m_stored[static_cast<size_t>(id)] = 1; }
    OpFlags flags(NodeId id) const { return infoOf(node(id).op).flags; }
    bool isLeaf(NodeId id) const {
        const Op op = node(id).op;
        return op == Op::Input || op == Op::State;
    }
    bool isView(NodeId id) const { return flags(id).has(OpFlag::View); }

    bool typesFit(NodeId id) const {
        if (!inLoopType(node(id).dtype)) return false;
        return std::all_of(node(id).in.begin(), node(id).in.end(),
                           [&](NodeId in) { return inLoopType(node(in).dtype); });
    }
    bool isElementwise(NodeId id) const {
        return (flags(id).has(OpFlag::Elementwise) || node(id).op == Op::Constant) && typesFit(id);
    }
    bool isStridedRead(NodeId id) const {
        return flags(id).has(OpFlag::StridedRead) && typesFit(id);
    }
    bool isLoopReduction(NodeId id) const {
        if (m_options == FuseOptions::None) return false;
        const Op op = node(id).op;
        if ((op != Op::Sum && op != Op::Mean) || !typesFit(id) || !isFloat(node(id).dtype))
            return false;
        const Shape& space = node(node(id).in[0]).shape;
        return splitFor(space, std::get<AxesAttrs>(node(id).attrs).axes) >= 0;
    }
    bool isLoop(NodeId id) const {
        return isElementwise(id) || isStridedRead(id) || isLoopReduction(id);
    }

    /// Returns the split at which the reduction is of a kind that loops can do, or -1.
    int splitFor(const Shape& space, const Shape& axes) const {
        if (axes.rank() == space.rank()) return space.rank();
        for (int split = 0; split <= space.rank(); ++split)
            if (canReduce(space, split, axes)) return split;
        return -1;
    }
    bool canReduce(const Shape& space, int split, const Shape& axes) const {
        const ReduceKind kind = reduceKind(space, split, axes);
        return kind != ReduceKind::Other && (kind != ReduceKind::Channels || m_channelSums);
    }

    void markMandatory() {
        for (NodeId id = 0; id < m_graph.size(); ++id) {
            if (isLeaf(id)) {
                store(id);
                continue;
            }
            const bool loop = isLoop(id);
            if (!loop || flags(id).has(OpFlag::Reduction) || m_options == FuseOptions::None)
                store(id);
            // Views, strided reads and kernels of one node read their inputs from memory.
            if (!loop || isView(id) || isStridedRead(id))
                for (NodeId in : node(id).in)
                    store(in);
            if (m_options == FuseOptions::None)
                for (NodeId in : node(id).in)
                    store(in);
        }
        for (const OutputInfo& output : m_graph.outputs())
            store(output.node);
        for (const StateInfo& state : m_graph.states())
            if (state.next != kNoNode) store(state.next);
        if (m_options == FuseOptions::None) return;
        // Constants are splats inside loops; only other kernels, outputs and states need them
        // stored, and those uses are marked above.
    }

    /// Stores values that several kernels would otherwise compute again at too high a cost.
    void markExpensive() {
        const size_t n = static_cast<size_t>(m_graph.size());
        std::vector<int> cost(n, 0);
        for (NodeId id = 0; id < m_graph.size(); ++id) {
            if (!isElementwise(id) || node(id).op == Op::Constant) continue;
            int sum = isTranscendental(node(id).op) ? kTranscendentalCost : 1;
            for (NodeId in : node(id).in)
                if (!stored(in)) sum += cost[static_cast<size_t>(in)];
            cost[static_cast<size_t>(id)] = std::min(sum, 1 << 20);
        }
        std::vector<std::set<NodeId>> roots(n);
        for (NodeId id = m_graph.size() - 1; id >= 0; --id) {
            std::set<NodeId>& mine = roots[static_cast<size_t>(id)];
            if (!stored(id) && mine.size() > 1 && isElementwise(id) &&
                cost[static_cast<size_t>(id)] > kRecomputeLimit)
                store(id);
            if (stored(id)) mine = {id};
            for (NodeId in : node(id).in)
                roots[static_cast<size_t>(in)].insert(mine.begin(), mine.end());
        }
    }

    /// Gathers what a loop that ends in `root` computes and reads.
    Kernel treeOf(NodeId root) const {
        Kernel kernel;
        kernel.loop = true;
        kernel.stores = {root};
        kernel.space = isLoopReduction(root) ? node(node(root).in[0]).shape : node(root).shape;
        std::set<NodeId> members, loads;
        std::vector<NodeId> open{root};
        members.insert(root);
        while (!open.empty()) {
            const NodeId id = open.back();
            open.pop_back();
            for (NodeId in : node(id).in) {
                if (stored(in))
                    loads.insert(in);
                else if (members.insert(in).second)
                    open.push_back(in);
            }
        }
        kernel.members.assign(members.begin(), members.end());
        kernel.loads.assign(loads.begin(), loads.end());
        replaceLoads(kernel);
        return kernel;
    }

    /// Computes a stored value again when that needs no further pass over memory: a mask relu(x) >
    /// 0 in a backward loop that reads x's inputs anyway saves the load of relu(x).
    void replaceLoads(Kernel& kernel) const {
        if (m_options == FuseOptions::None) return;
        std::set<NodeId> members(kernel.members.begin(), kernel.members.end());
        std::set<NodeId> loads(kernel.loads.begin(), kernel.loads.end());
        const std::vector<NodeId> candidates(loads.rbegin(), loads.rend());
        for (NodeId load : candidates) {
            if (!isElementwise(load) || isLeaf(load) || !(node(load).shape == kernel.space) ||
                isReadStrided(load, members))
                continue;
            std::set<NodeId> more{load}, needs;
            std::vector<NodeId> open{load};
            while (!open.empty()) {
                const NodeId id = open.back();
                open.pop_back();
                for (NodeId in : node(id).in) {
                    if (stored(in))
                        needs.insert(in);
                    else if (members.count(in) == 0 && more.insert(in).second)
                        open.push_back(in);
                }
            }
            if (!isFree(kernel, loads, needs) || !isCheap(more)) continue;
            members.insert(more.begin(), more.end());
            loads.erase(load);
            loads.insert(needs.begin(), needs.end());
        }
        kernel.members.assign(members.begin(), members.end());
        kernel.loads.assign(loads.begin(), loads.end());
    }
    /// Returns whether a member reads the value at indices other than its own, which means from
    /// memory.
    bool isReadStrided(NodeId load, const std::set<NodeId>& members) const {
        return std::any_of(members.begin(), members.end(),
                           [&](NodeId id) { return isStridedRead(id) && node(id).in[0] == load; });
    }
    /// Returns whether reading `needs` costs no pass over memory beyond those of `loads`.
    bool isFree(const Kernel& kernel, const std::set<NodeId>& loads,
                const std::set<NodeId>& needs) const {
        return std::all_of(needs.begin(), needs.end(), [&](NodeId id) {
            return loads.count(id) != 0 || node(id).elements() * 8 <= kernel.space.elements();
        });
    }
    bool isCheap(const std::set<NodeId>& operations) const {
        return operations.size() <= kReplaceLimit &&
               std::none_of(operations.begin(), operations.end(),
                            [&](NodeId id) { return isTranscendental(node(id).op); });
    }

    /// Returns how many values a loop gathers for an element.
    double gathered(const Kernel& kernel, int split, NodeId id) const {
        const Shape strides = loadStrides(m_graph, id);
        const LoadKind kind = loadKind(kernel.space, split, strides);
        if (m_channelSums && kind != LoadKind::Scalar && isOfRows(kernel.space, split, strides)) {
            int64_t columns = 1;
            for (int axis = split; axis < kernel.space.rank(); ++axis)
                columns *= kernel.space[axis];
            constexpr int64_t kLanes = 16, kLong = 2048; // else rows are no whole vectors
            if (columns % kLanes == 0 || columns > kLong) return 1.0 / static_cast<double>(columns);
        }
        return kind == LoadKind::Strided ? 1 : 0;
    }

    /// Chooses a split on which all reductions of the kernel agree; without reductions the axes of
    /// row vectors decide. Returns false when there is none.
    bool chooseSplit(Kernel& kernel) const {
        std::vector<double> good;
        for (int split = 0; split <= kernel.space.rank(); ++split) {
            bool fits = true;
            double strided = 0;
            for (NodeId id : kernel.members) {
                if (isLoopReduction(id)) {
                    const Shape& axes = std::get<AxesAttrs>(node(id).attrs).axes;
                    fits = fits && canReduce(kernel.space, split, axes);
                } else if (isStridedRead(id)) {
                    strided += gathered(kernel, split, id);
                }
            }
            good.push_back(fits ? strided : -1);
        }
        int best = -1;
        // From the right: of equals, the flat loop (all axes rows, one column) is the cheapest.
        for (int split = kernel.space.rank(); split >= 0; --split) {
            const double here = good[static_cast<size_t>(split)];
            if (here >= 0 && (best < 0 || here < good[static_cast<size_t>(best)])) best = split;
        }
        kernel.split = std::max(best, 0);
        return best >= 0;
    }

    /// Returns whether the loop may run at the place of kernel `at`: everything that it reads is
    /// ready by then, or is computed by `at` itself at the same index.
    bool canJoin(const Kernel& tree, int at) const {
        const Kernel& kernel = m_kernels[static_cast<size_t>(at)];
        if (!kernel.loop || !(kernel.space == tree.space)) return false;
        if (kernel.members.size() + tree.members.size() > kMaxMembers) return false;
        for (NodeId load : tree.loads) {
            const NodeId storage = storageOf(m_graph, load);
            const int from = m_kernelOf[static_cast<size_t>(storage)];
            if (from < at) continue;
            if (from > at || storage != load || isLoopReduction(load)) return false;
            for (NodeId id : tree.members)
                if (isStridedRead(id) && node(id).in[0] == load) return false;
        }
        const bool small = tree.space.elements() <= kSmallSpace;
        if (!small && isNext(tree.stores.front()) && !onlyNext(kernel)) return false;
        const auto shared = [&](NodeId id) {
            return std::find(kernel.loads.begin(), kernel.loads.end(), id) != kernel.loads.end() ||
                   std::find(kernel.stores.begin(), kernel.stores.end(), id) != kernel.stores.end();
        };
        return small || std::any_of(tree.loads.begin(), tree.loads.end(), shared);
    }

    bool isNext(NodeId id) const { return m_next.count(id) != 0; }
    /// Returns whether the kernel runs when the step can no longer be given up, so that it can
    /// write over states. Elsewhere a next value needs memory of its own, and a copy at the end;
    /// reading the gradient once more costs less.
    bool onlyNext(const Kernel& kernel) const {
        return std::all_of(kernel.stores.begin(), kernel.stores.end(),
                           [&](NodeId id) { return isNext(id); });
    }

    static Kernel merged(const Kernel& a, const Kernel& b) {
        Kernel both = a;
        const auto unite = [](std::vector<NodeId>& into, const std::vector<NodeId>& from) {
            std::set<NodeId> all(into.begin(), into.end());
            all.insert(from.begin(), from.end());
            into.assign(all.begin(), all.end());
        };
        unite(both.members, b.members);
        unite(both.loads, b.loads);
        unite(both.stores, b.stores);
        std::erase_if(both.loads, [&](NodeId id) {
            return std::binary_search(both.stores.begin(), both.stores.end(), id);
        });
        return both;
    }

    void place(NodeId id) {
        Kernel kernel;
        if (isLoop(id)) {
            kernel = treeOf(id);
            require(chooseSplit(kernel), "fuse: a single loop has no split");
            if (m_options == FuseOptions::Full)
                for (int at = static_cast<int>(m_kernels.size()) - 1; at >= 0; --at) {
                    if (!canJoin(kernel, at)) continue;
                    Kernel both = merged(m_kernels[static_cast<size_t>(at)], kernel);
                    replaceLoads(both);
                    if (!chooseSplit(both)) continue;
                    m_kernels[static_cast<size_t>(at)] = std::move(both);
                    m_kernelOf[static_cast<size_t>(id)] = at;
                    return;
                }
        } else {
            kernel.members = kernel.stores = {id};
            std::set<NodeId> loads(node(id).in.begin(), node(id).in.end());
            kernel.loads.assign(loads.begin(), loads.end());
        }
        m_kernelOf[static_cast<size_t>(id)] = static_cast<int>(m_kernels.size());
        m_kernels.push_back(std::move(kernel));
    }

    /// Moves kernels whose results only become next values to the end, so that a step can be given
    /// up until the last moment.
    std::vector<Kernel> orderTail() {
        std::set<NodeId> read;
        for (const Kernel& kernel : m_kernels)
            for (NodeId load : kernel.loads)
                read.insert(storageOf(m_graph, load));
        std::stable_partition(m_kernels.begin(), m_kernels.end(), [&](const Kernel& kernel) {
            return std::any_of(kernel.stores.begin(), kernel.stores.end(),
                               [&](NodeId id) { return !isNext(id) || read.count(id) != 0; });
        });
        return std::move(m_kernels);
    }

    const Graph& m_graph;
    FuseOptions m_options;
    bool m_channelSums;
    std::vector<char> m_stored;
    std::vector<int> m_kernelOf;
    std::vector<Kernel> m_kernels;
    std::set<NodeId> m_next; ///< values that become states
};

} // namespace

NodeId storageOf(const Graph& graph, NodeId id) {
    while (infoOf(graph[id].op).flags.has(OpFlag::View))
        id = graph[id].in[0];
    return id;
}

Shape loadStrides(const Graph& graph, NodeId id) {
    const Node& node = graph[id];
    if (node.op == Op::Expand) {
        const Shape& from = graph[node.in[0]].shape;
        const Shape inner = from.strides();
        Shape strides = Shape::filled(node.shape.rank(), 0);
        const int lead = node.shape.rank() - from.rank();
        for (int axis = 0; axis < from.rank(); ++axis)
            strides[lead + axis] = from[axis] == 1 ? 0 : inner[axis];
        return strides;
    }
    if (node.op == Op::Transpose) {
        const Shape inner = graph[node.in[0]].shape.strides();
        const Shape& axes = std::get<AxesAttrs>(node.attrs).axes;
        Shape strides = Shape::filled(node.shape.rank(), 0);
        for (int axis = 0; axis < axes.rank(); ++axis)
            strides[axis] = inner[static_cast<int>(axes[axis])];
        return strides;
    }
    return node.shape.strides();
}

LoadKind loadKind(const Shape& space, int split, const Shape& strides) {
    const Shape dense = space.strides();
    int64_t columns = 1;
    for (int axis = split; axis < space.rank(); ++axis)
        columns *= space[axis];
    bool full = true, scalar = true, row = true, column = true;
    for (int axis = 0; axis < space.rank(); ++axis) {
        if (space[axis] == 1) continue;
        full = full && strides[axis] == dense[axis];
        scalar = scalar && strides[axis] == 0;
        if (axis < split) {
            row = row && strides[axis] == 0;
            // Divided, because the product of stride and columns may exceed int64.
            column = column && (columns == 0 || strides[axis] == dense[axis] / columns);
        } else {
            row = row && strides[axis] == dense[axis];
            column = column && strides[axis] == 0;
        }
    }
    if (scalar) return LoadKind::Scalar;
    if (full) return LoadKind::Full;
    if (row) return LoadKind::Row;
    return column ? LoadKind::Column : LoadKind::Strided;
}

bool isOfRows(const Shape& space, int split, const Shape& strides) {
    int64_t columns = 1;
    for (int axis = split; axis < space.rank(); ++axis) {
        if (space[axis] > 1 && strides[axis] != 0) return false;
        columns *= space[axis];
    }
    return columns > 1;
}

ReduceKind reduceKind(const Shape& space, int split, const Shape& axes) {
    std::array<bool, kMaxRank> reduced{};
    for (int64_t axis : axes)
        reduced[static_cast<size_t>(axis)] = true;
    bool rows = true, columns = true, all = true, channels = true, kept = false, wide = false;
    for (int axis = 0; axis < space.rank(); ++axis) {
        if (space[axis] == 1) continue;
        const bool here = reduced[static_cast<size_t>(axis)];
        all = all && here;
        wide = wide || axis >= split;
        kept = kept || (axis < split && !here); // from here on, no row axis is summed
        channels = channels && (axis < split ? here != kept : here);
        rows = rows && here == (axis < split);
        columns = columns && here == (axis >= split);
    }
    if (all) return ReduceKind::All;
    if (rows) return ReduceKind::Rows;
    if (columns) return ReduceKind::Columns;
    return channels && wide ? ReduceKind::Channels : ReduceKind::Other;
}

std::vector<Kernel> fuse(const Graph& graph, FuseOptions options, bool channelSums) {
    return Fuser(graph, options, channelSums).run();
}

} // namespace halfscope
