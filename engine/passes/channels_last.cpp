// First finds the images that are tied together and what they would gain, then copies the graph.
#include "engine/passes/channels_last.h"

#include "engine/ops/op_info.h"
#include "engine/passes/rewrite.h"

#include <algorithm>
#include <numeric>

namespace halfscope {

namespace {

constexpr int64_t kWidest = 16; ///< an Expand that repeats more than this is written anew

bool isConvolution(Op op) {
    return op == Op::Conv2d || op == Op::Conv2dInputGrad || op == Op::Conv2dWeightGrad;
}

/// The image and the output of a node of the convolution family.
struct ConvEnds {
    NodeId image = kNoNode, output = kNoNode;
};
ConvEnds endsOf(const Graph& graph, NodeId id) {
    const Node& node = graph[id];
    if (node.op == Op::Conv2d) return {node.in[0], id};
    if (node.op == Op::Conv2dInputGrad) return {id, node.in[0]};
    return {node.in[0], node.in[1]};
}

bool isReduction(Op op) { return infoOf(op).flags.has(OpFlag::Reduction); }

/// Whether a node is written anew for each layout that is wanted of it, because it costs nothing.
bool isFree(const Graph& graph, NodeId id) {
    const Node& node = graph[id];
    if (node.op == Op::Constant) return true;
    return node.op == Op::Expand && graph[node.in[0]].elements() < node.elements() / kWidest;
}

bool isLeaf(Op op) { return op == Op::Input || op == Op::State; }

/// Whether a reshape leaves (n, c, ..) its first two axes.
bool keepsChannels(const Shape& from, const Shape& to) {
    return from.rank() >= 3 && to.rank() >= 3 && from[0] == to[0] && from[1] == to[1];
}

/// Which values are stored with their channels last.
class Layouts {
public:
    Layouts(const Graph& graph, TakesChannelsLast takes, double mostTransposed)
        : m_graph(graph), m_mostTransposed(mostTransposed),
          m_ties(static_cast<size_t>(graph.size())), m_gains(static_cast<size_t>(graph.size())) {
        std::iota(m_ties.begin(), m_ties.end(), 0);
        for (NodeId id = 0; id < graph.size(); ++id)
            tieInputs(id);
        for (NodeId id = 0; id < graph.size(); ++id)
            weigh(id);
        for (const OutputInfo& output : graph.outputs())
            gain(output.node).border += elements(output.node);
        for (const StateInfo& state : graph.states())
            if (state.next != kNoNode) gain(state.next).border += elements(state.next);
        for (NodeId id = 0; id < graph.size(); ++id)
            if (isConvolution(graph[id].op)) askFor(id, takes);
    }

    bool isLast(NodeId id) const {
        if (!mayBeLast(id)) return false;
        const Gain& of = m_gains[static_cast<size_t>(root(id))];
        return !of.refused && static_cast<double>(of.border) <
                                  m_mostTransposed * static_cast<double>(of.convolutions);
    }

    /// Whether a node, which is no convolution and no reduction, is written for the layout of its
    /// operands.
    bool follows(NodeId id) const {
        const Node& node = m_graph[id];
        const OpFlags flags = infoOf(node.op).flags;
        if (flags.has(OpFlag::Elementwise)) return true;
        if (!flags.has(OpFlag::ByAxes)) return false;
        if (node.op == Op::Gather || node.op == Op::ScatterAdd)
            return attrsOf<AxisAttrs>(node.attrs).axis >= 2;
        const Shape& from = m_graph[node.in[0]].shape;
        if (node.op == Op::Expand && from.rank() != node.shape.rank()) return false;
        const bool shapes = flags.has(OpFlag::View) || flags.has(OpFlag::StridedRead);
        return !shapes || keepsChannels(from, node.shape);
    }

private:
    struct Gain {
        int64_t convolutions = 0, border = 0; ///< elements that they, or others, read and write
        bool refused = false;
    };

    int64_t elements(NodeId id) const { return m_graph[id].elements(); }
    bool mayBeLast(NodeId id) const {
        const Node& node = m_graph[id];
        return node.shape.rank() >= 3 && !isLeaf(node.op) && node.op != Op::Random &&
               node.op != Op::Conv2dWeightGrad && !isFree(m_graph, id);
    }
    NodeId root(NodeId id) const {
        while (m_ties[static_cast<size_t>(id)] != id)
            id = m_ties[static_cast<size_t>(id)];
        return id;
    }
    Gain& gain(NodeId id) { return m_gains[static_cast<size_t>(root(id))]; }
    void tie(NodeId a, NodeId b) {
        if (mayBeLast(a) && mayBeLast(b)) m_ties[static_cast<size_t>(root(a))] = root(b);
    }

    void tieInputs(NodeId id) {
        if (!follows(id)) return;
        for (const NodeId in : m_graph[id].in)
            if (m_graph[in].shape.rank() >= 3) tie(id, in);
    }
    /// Adds what a node reads and writes to the gains of its operands and its own.
    void weigh(NodeId id) {
        const Node& node = m_graph[id];
        if (isConvolution(node.op)) {
            const ConvEnds ends = endsOf(m_graph, id);
            for (const NodeId end : {ends.image, ends.output})
                gain(end).convolutions += elements(end);
            if (node.op != Op::Conv2dWeightGrad) gain(node.in[1]).border += elements(node.in[1]);
            return;
        }
        if (isReduction(node.op) || isFree(m_graph, id)) return;
        const bool along = follows(id);
        if (!along) gain(id).border += elements(id);
        for (const NodeId in : node.in) {
            if (!along)
                gain(in).border += elements(in);
            else if (!mayBeLast(in) && !isFree(m_graph, in) && m_graph[in].shape.rank() >= 3)
                gain(id).border += elements(in);
        }
    }

    /// Asks for a convolution only where its images would be stored so: an answer takes time.
    void askFor(NodeId id, TakesChannelsLast takes) {
        const ConvEnds ends = endsOf(m_graph, id);
        if (!isLast(ends.image) && !isLast(ends.output)) return;
        if (!takes(m_graph, id)) gain(ends.image).refused = gain(ends.output).refused = true;
    }

    const Graph& m_graph;
    double m_mostTransposed;
    std::vector<NodeId> m_ties; ///< by node: one that it is tied to, or itself
    std::vector<Gain> m_gains;  ///< by node that stands for those tied to it
};

/// The permutation that moves the channels of a rank last, and the one that moves them back.
Shape toLastAxes(int rank) { return channelsLast(allAxes(rank)); }
Shape toFirstAxes(int rank) { return channelsFirst(allAxes(rank)); }

/// Where axis `axis` of (n, c, ..) is when the channels are last.
int lastAxis(int64_t axis, int rank) {
    if (axis == 0) return 0;
    return axis == 1 ? rank - 1 : static_cast<int>(axis) - 1;
}

/// Returns the attributes of a node whose operands and result have their channels last.
Attrs movedAttrs(const Node& node) {
    const int rank = node.shape.rank();
    Attrs attrs = node.attrs;
    if (auto* pool = std::get_if<PoolAttrs>(&attrs)) {
        pool->channelsLast = true;
    } else if (auto* shape = std::get_if<ShapeAttrs>(&attrs)) {
        shape->shape = channelsLast(shape->shape);
    } else if (auto* axis = std::get_if<AxisAttrs>(&attrs)) {
        axis->axis = lastAxis(axis->axis, rank);
    } else if (auto* slice = std::get_if<SliceAttrs>(&attrs)) {
        for (Shape* each : {&slice->begin, &slice->end, &slice->step})
            *each = channelsLast(*each);
    } else if (auto* pad = std::get_if<PadAttrs>(&attrs)) {
        for (Shape* each : {&pad->before, &pad->after, &pad->between})
            *each = channelsLast(*each);
    } else if (auto* axes = std::get_if<AxesAttrs>(&attrs)) { // of a reduction
        std::vector<int64_t> moved;
        for (const int64_t one : axes->axes)
            moved.push_back(lastAxis(one, rank));
        std::sort(moved.begin(), moved.end());
        axes->axes = Shape(moved);
    }
    return attrs;
}

class Copier {
public:
    Copier(const Graph& graph, const Layouts& layouts)
        : m_graph(graph), m_layouts(layouts), m_moved(static_cast<size_t>(graph.size()), kNoNode) {}

    NodeId operator()(Builder& b, NodeId id, std::span<const NodeId> at) {
        const Node& node = m_graph[id];
        if (isConvolution(node.op)) return convolution(b, id, at);
        const bool copies = isReduction(node.op) ? m_layouts.isLast(node.in[0])
                                                 : m_layouts.isLast(id) && m_layouts.follows(id);
        if (!copies) return kNoNode;
        Node copy = node;
        for (NodeId& in : copy.in)
            in = m_graph[in].shape.rank() < 3 ? at[static_cast<size_t>(in)] : moved(b, in, at);
        copy.attrs = movedAttrs(node);
        return added(b, id, std::move(copy), true);
    }

private:
    NodeId convolution(Builder& b, NodeId id, std::span<const NodeId> at) {
        const ConvEnds ends = endsOf(m_graph, id);
        const bool image = m_layouts.isLast(ends.image), output = m_layouts.isLast(ends.output);
        if (!image && !output) return kNoNode;
        Node copy = m_graph[id];
        const size_t images = copy.op == Op::Conv2dWeightGrad ? 2 : 1; // then comes the weight
        for (size_t i = 0; i < copy.in.size(); ++i) {
            NodeId& in = copy.in[i];
            const bool last = i < images && (in == ends.image ? image : output);
            in = last ? moved(b, in, at) : at[static_cast<size_t>(in)];
        }
        auto& how = std::get<ConvAttrs>(copy.attrs);
        how.imageLast = image;
        how.outputLast = output;
        return added(b, id, std::move(copy), m_layouts.isLast(id));
    }

    /// Adds the copy of node `id`, whose channels may be last, and returns it as planes.
    NodeId added(Builder& b, NodeId id, Node copy, bool last) {
        const Shape planes = copy.shape;
        if (last) copy.shape = channelsLast(planes);
        copy.cause.forward = b.forwardCause();
        const NodeId now = b.graph().add(std::move(copy));
        if (!last) return now;
        m_moved[static_cast<size_t>(id)] = now;
        return permuted(b, now, toFirstAxes(planes.rank()), planes);
    }

    /// Returns a value of the old graph with its channels last.
    NodeId moved(Builder& b, NodeId id, std::span<const NodeId> at) {
        if (m_moved[static_cast<size_t>(id)] != kNoNode) return m_moved[static_cast<size_t>(id)];
        const Node& node = m_graph[id];
        const int rank = node.shape.rank();
        const Shape shape = channelsLast(node.shape);
        if (node.op == Op::Constant)
            return b.constant(attrsOf<ConstantAttrs>(node.attrs).value, shape, node.dtype);
        if (!isFree(m_graph, id))
            return permuted(b, at[static_cast<size_t>(id)], toLastAxes(rank), shape);
        const NodeId from = node.in[0];
        Shape whole = Shape::filled(rank - m_graph[from].shape.rank(), 1);
        for (const int64_t extent : m_graph[from].shape)
            whole.push(extent);
        const NodeId source = b.reshape(at[static_cast<size_t>(from)], whole);
        return b.expand(permuted(b, source, toLastAxes(rank), channelsLast(whole)), shape);
    }

    /// Returns x with its axes in another order: reshaped where no two of them pass each other, and
    /// what it was made of where that has this order already.
    static NodeId permuted(Builder& b, NodeId x, const Shape& axes, const Shape& shape) {
        const Shape from = b.shapeOf(x);
        int64_t before = -1;
        bool inOrder = true;
        for (const int64_t axis : axes) {
            if (from[static_cast<int>(axis)] == 1) continue;
            inOrder = inOrder && axis > before;
            before = axis;
        }
        if (inOrder) return b.reshape(x, shape);
        if (b[x].op == Op::Transpose && b.shapeOf(b[x].in[0]) == shape) {
            const Shape first = attrsOf<AxesAttrs>(b[x].attrs).axes;
            bool back = true;
            for (int i = 0; i < axes.rank(); ++i)
                back = back && first[static_cast<int>(axes[i])] == i;
            if (back) return b[x].in[0];
        }
        return b.transpose(x, axes);
    }

    const Graph& m_graph;
    const Layouts& m_layouts;
    std::vector<NodeId> m_moved; ///< by node of the old graph: the new one with channels last
};

} // namespace

Graph storeChannelsLast(const Graph& graph, TakesChannelsLast takes, double mostTransposed) {
    const Layouts layouts(graph, takes, mostTransposed);
    bool any = false;
    for (NodeId id = 0; id < graph.size(); ++id)
        any = any || layouts.isLast(id);
    if (!any) return graph;
    Copier copier(graph, layouts);
    return rewritten(graph, [&](Builder& b, NodeId id, std::span<const NodeId> at) {
        return copier(b, id, at);
    });
}

} // namespace halfscope
