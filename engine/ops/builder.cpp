// Emission: shape rule, exact folding, node reuse, cause. Leaves broadcasting and dtype promotion
// to engine/ops/functional.h. Nothing here changes a rounded value: folds are exact.
#include "engine/ops/builder.h"

#include "engine/core/error.h"
#include "engine/ops/families.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace halfscope {

namespace {

// ---- identity of nodes -------------------------------------------------------------------------

/// Writes a node's identity as numbers. Doubles are written by their bits, so that 0 and -0 differ
/// and NaN equals NaN.
class KeyWriter {
public:
    void write(int64_t v) { m_key.push_back(v); }
    void write(double v) { write(std::bit_cast<int64_t>(v)); }
    void write(const Shape& s) {
        write(int64_t{s.rank()});
        for (const int64_t extent : s)
            write(extent);
    }
    void write(std::array<int64_t, 2> pair) {
        write(pair[0]);
        write(pair[1]);
    }
    std::vector<int64_t> take() { return std::move(m_key); }

    void operator()(const NoAttrs&) {}
    void operator()(const ConstantAttrs& a) { write(a.value); }
    void operator()(const CastAttrs& a) { write(static_cast<int64_t>(a.to)); }
    void operator()(const RangeAttrs& a) {
        write(a.low);
        write(a.high);
    }
    void operator()(const MatmulAttrs& a) {
        write(int64_t{a.wide} * 4 + int64_t{a.transposeA} * 2 + a.transposeB);
    }
    void operator()(const ConvAttrs& a) {
        write(a.stride);
        write(a.padding);
        write(a.target);
        write(a.dilation);
        write(a.groups);
        write(int64_t{a.wide} * 4 + int64_t{a.imageLast} * 2 + a.outputLast);
    }
    void operator()(const PoolAttrs& a) {
        write(a.kernel);
        write(a.stride);
        write(a.padding);
        write(a.target);
        write(int64_t{a.channelsLast});
    }
    void operator()(const AxesAttrs& a) { write(a.axes); }
    void operator()(const ShapeAttrs& a) { write(a.shape); }
    void operator()(const SliceAttrs& a) {
        write(a.begin);
        write(a.end);
        write(a.step);
    }
    void operator()(const PadAttrs& a) {
        write(a.before);
        write(a.after);
        write(a.between);
        write(a.value);
    }
    void operator()(const AxisAttrs& a) {
        write(int64_t{a.axis});
        write(a.extent);
    }
    void operator()(const ScanAttrs& a) { write(int64_t{a.axis} * 2 + a.reverse); }
    void operator()(const Fp8Attrs& a) { write(static_cast<int64_t>(a.format)); }
    void operator()(const Fp8GradientAttrs& a) {
        write(static_cast<int64_t>(a.format));
        write(static_cast<int64_t>(a.scaling));
    }
    void operator()(const RandomAttrs& a) {
        write(a.shape);
        write(static_cast<int64_t>(a.seed));
        write(static_cast<int64_t>(a.stream));
    }

private:
    std::vector<int64_t> m_key;
};

std::vector<int64_t> keyOf(const Node& node) {
    KeyWriter key;
    key.write(static_cast<int64_t>(node.op));
    key.write(static_cast<int64_t>(node.dtype));
    key.write(static_cast<int64_t>(node.math));
    key.write(node.shape);
    key.write(static_cast<int64_t>(node.in.size()));
    for (const NodeId in : node.in)
        key.write(int64_t{in});
    key.write(static_cast<int64_t>(node.attrs.index()));
    std::visit(key, node.attrs);
    return key.take();
}

size_t hashOf(const std::vector<int64_t>& key) {
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a, one word at a time
    for (const int64_t word : key) {
        hash = (hash ^ static_cast<uint64_t>(word)) * 0x100000001b3u;
        hash ^= hash >> 29;
    }
    return static_cast<size_t>(hash);
}

// ---- constants ----------------------------------------------------------------------------------

/// Folds an elementwise op of constants to the reference's value, which the new constant rounds
/// once.
std::optional<NodeId> foldConstants(Builder& b, Op op, std::span<const NodeId> in,
                                    const Attrs& attrs, const NodeType& type) {
    const OpInfo& info = infoOf(op);
    if (!info.flags.has(OpFlag::Elementwise)) return std::nullopt;
    std::vector<RefTensor> values;
    for (const NodeId id : in) {
        const auto value = b.constantValue(id);
        if (!value) return std::nullopt;
        values.push_back({Shape{}, {*value}});
    }
    RefTensor out{Shape{}, {0.0}};
    info.reference(values, attrs, out);
    return b.constant(out.values[0], type.shape, type.dtype);
}

} // namespace

const Node& Builder::operator[](NodeId id) const {
    require(id >= 0 && id < m_graph.size(), "builder: a node that does not exist");
    return m_graph[id];
}

std::optional<double> Builder::constantValue(NodeId id) const {
    const Node& node = (*this)[id];
    if (node.op != Op::Constant) return std::nullopt;
    return std::get<ConstantAttrs>(node.attrs).value;
}

NodeId Builder::emit(Op op, std::span<const NodeId> in, Attrs attrs) {
    const OpInfo& info = infoOf(op);
    std::vector<NodeType> types;
    std::string operands;
    for (const NodeId id : in) {
        require(id >= 0 && id < m_graph.size(),
                std::string(info.name) + ": operand %" + std::to_string(id) + " does not exist");
        types.push_back(m_graph[id].type());
    }
    const auto refuse = [&](const std::string& reason) {
        for (const NodeType& t : types)
            operands += (operands.empty() ? "" : ", ") + std::string(nameOf(t.dtype)) + " " +
                        t.shape.text();
        failInvariant(std::string(info.name) + "(" + operands + "): " + reason);
    };
    const bool arityFits = info.arity < 0 ? !in.empty() : in.size() == size_t(info.arity);
    if (!arityFits) refuse("wrong number of operands");
    NodeType type;
    try {
        type = info.infer(types, attrs);
    } catch (const std::logic_error& error) {
        refuse(refusalOf(error));
    }
    // A fold may grow the node list that `in` points into.
    const std::vector<NodeId> operandIds(in.begin(), in.end());
    if (const auto folded = foldConstants(*this, op, operandIds, attrs, type)) return *folded;
    if (info.fold != nullptr)
        if (const auto folded = info.fold({*this, op, operandIds, attrs, type})) return *folded;

    Node node{.op = op,
              .in = operandIds,
              .attrs = attrs,
              .shape = type.shape,
              .dtype = type.dtype,
              .math = MathMode::F32,
              .cause = {}};
    if (infoOf(op).flags.has(OpFlag::Product))
        node.math = isLow(types[0].dtype) ? MathMode::F32FromHalf : m_math;
    return addUnique(std::move(node));
}

NodeId Builder::autocast(NodeId x, DType dtype) {
    const NodeId y = cast(x, dtype);
    if (m_graph[y].op != Op::Cast || m_graph[y].in[0] != x) return y; // it was no cast to make
    while (infoOf(m_graph[x].op).flags.has(OpFlag::View) || m_graph[x].op == Op::QuantizeFp8)
        x = m_graph[x].in[0];
    if (!infoOf(m_graph[x].op).flags.has(OpFlag::Leaf)) m_autocasts.insert(y);
    return y;
}

NodeId Builder::withNumber(Op op, NodeId x, double number) {
    const DType type = dtypeOf(x);
    if (!isLow(type) || roundTo(type, number) == number)
        return emit(op, {x, constantLike(number, x)});
    std::string outer = setRule("a number that " + std::string(nameOf(type)) +
                                " does not hold: computes in float32");
    const NodeId wide = cast(x, DType::F32);
    const NodeId y = cast(emit(op, {wide, constantLike(number, wide)}), type);
    setRule(std::move(outer));
    return y;
}

NodeId Builder::addUnique(Node node) {
    const std::vector<int64_t> key = keyOf(node);
    const size_t hash = hashOf(key);
    const auto [first, last] = m_byHash.equal_range(hash);
    for (auto it = first; it != last; ++it)
        if (keyOf(m_graph[it->second]) == key) return it->second;
    node.cause = {m_phase, m_forward, m_label, m_rule, m_decision};
    const NodeId id = m_graph.add(std::move(node));
    m_byHash.emplace(hash, id);
    return id;
}

// ---- leaves ------------------------------------------------------------------------------------

NodeId Builder::input(std::string name, Shape shape, DType dtype) {
    Node node{.op = Op::Input,
              .in = {},
              .attrs = {},
              .shape = shape,
              .dtype = dtype,
              .math = MathMode::F32,
              .cause = {m_phase, kNoNode, name, {}}};
    const NodeId id = m_graph.add(std::move(node)); // never reused: two inputs are two values
    m_graph.addInput({id, std::move(name)});
    return id;
}

NodeId Builder::state(std::string name, Shape shape, DType dtype, StateRole role,
                      InitialValue start) {
    Node node{.op = Op::State,
              .in = {},
              .attrs = {},
              .shape = shape,
              .dtype = dtype,
              .math = MathMode::F32,
              .cause = {m_phase, kNoNode, name, {}}};
    const NodeId id = m_graph.add(std::move(node));
    m_graph.addState({id, kNoNode, std::move(name), role, start});
    return id;
}

NodeId Builder::constant(double value, Shape shape, DType dtype) {
    double stored = roundTo(dtype, value);
    if (std::isnan(stored))
        stored = std::numeric_limits<double>::quiet_NaN(); // a single NaN, so that it can
                                                           // be reused
    return addUnique(Node{.op = Op::Constant,
                          .in = {},
                          .attrs = ConstantAttrs{stored},
                          .shape = shape,
                          .dtype = dtype,
                          .math = MathMode::F32,
                          .cause = {}});
}

NodeId Builder::iota(Shape shape, int axis, DType dtype) {
    require(shape.rank() > 0, "iota: needs an axis");
    require(dtype != DType::Bool, "iota: counts in numbers, not in bool");
    const int at = normalAxis(axis, shape.rank());
    return addUnique(Node{.op = Op::Iota,
                          .in = {},
                          .attrs = AxisAttrs{at, shape[at]},
                          .shape = shape,
                          .dtype = dtype,
                          .math = MathMode::F32,
                          .cause = {}});
}

// ---- shorthands --------------------------------------------------------------------------------

NodeId Builder::cast(NodeId x, DType dtype) { return emit(Op::Cast, {x}, CastAttrs{dtype}); }

NodeId Builder::sumAll(NodeId x) { return reshape(sum(x, allAxes(shapeOf(x).rank())), Shape{}); }

NodeId Builder::reshape(NodeId x, Shape shape) { return emit(Op::Reshape, {x}, ShapeAttrs{shape}); }

NodeId Builder::expand(NodeId x, const Shape& shape) {
    return emit(Op::Expand, {x}, ShapeAttrs{shape});
}

NodeId Builder::sumTo(NodeId x, const Shape& shape) {
    const Shape from = shapeOf(x), to = shape; // copies: `shape` may lie in a node that moves
    const int extra = from.rank() - to.rank();
    const auto target = broadcastShape(from, to);
    require(extra >= 0 && target && *target == from,
            "sumTo: " + from.text() + " does not come from expanding " + to.text());
    Shape axes;
    for (int i = 0; i < from.rank(); ++i)
        if (i < extra || (to[i - extra] == 1 && from[i] != 1)) axes.push(i);
    return reshape(axes.empty() ? x : sum(x, axes), to);
}

NodeId Builder::slice(NodeId x, int axis, int64_t begin, int64_t end, int64_t step) {
    const Shape shape = shapeOf(x);
    const int at = normalAxis(axis, shape.rank());
    SliceAttrs attrs{Shape::filled(shape.rank(), 0), shape, Shape::filled(shape.rank(), 1)};
    attrs.begin[at] = begin;
    attrs.end[at] = end;
    attrs.step[at] = step;
    return emit(Op::Slice, {x}, attrs);
}

} // namespace halfscope
