// The validator and the three printed forms of a graph. Leaves the grouping into kernels, and what
// a node costs, to the passes.
#include "engine/ops/inspect.h"

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/ops/cast_report.h"
#include "engine/ops/families.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace halfscope {

namespace {

// ---- attributes in words -----------------------------------------------------------------------

/// Most values are f32 values kept in a double; they are written as the f32 they are ("0.1").
std::string valueText(double value) {
    const auto narrow = static_cast<float>(value);
    return static_cast<double>(narrow) == value ? numberText(narrow) : numberText(value);
}

std::string pairText(const std::array<int64_t, 2>& pair) {
    return "[" + std::to_string(pair[0]) + ", " + std::to_string(pair[1]) + "]";
}

/// Writes attributes as "name=value" after the operands; empty for an op that carries none.
struct AttrsWriter {
    std::string operator()(const NoAttrs&) const { return {}; }
    std::string operator()(const ConstantAttrs& a) const { return valueText(a.value); }
    std::string operator()(const CastAttrs&) const { return {}; } // the line's dtype says it
    std::string operator()(const RangeAttrs& a) const {
        return "low=" + valueText(a.low) + ", high=" + valueText(a.high);
    }
    std::string operator()(const MatmulAttrs& a) const {
        std::string text;
        if (a.transposeA || a.transposeB) text = "transpose=";
        if (a.transposeA) text += a.transposeB ? "both" : "a";
        if (a.transposeB && !a.transposeA) text += "b";
        if (a.wide) text += text.empty() ? "wide" : ", wide";
        return text;
    }
    std::string operator()(const ConvAttrs& a) const {
        return "stride=" + pairText(a.stride) + ", padding=" + pairText(a.padding) +
               (a.dilation == ConvAttrs{}.dilation ? "" : ", dilation=" + pairText(a.dilation)) +
               (a.groups == 1 ? "" : ", groups=" + std::to_string(a.groups)) +
               (a.target.empty() ? "" : ", target=" + a.target.text()) + (a.wide ? ", wide" : "") +
               (a.imageLast ? ", image channels last" : "") +
               (a.outputLast ? ", output channels last" : "");
    }
    std::string operator()(const PoolAttrs& a) const {
        return "kernel=" + pairText(a.kernel) + ", stride=" + pairText(a.stride) +
               ", padding=" + pairText(a.padding) +
               (a.target.empty() ? "" : ", target=" + a.target.text()) +
               (a.channelsLast ? ", channels last" : "");
    }
    std::string operator()(const AxesAttrs& a) const { return "axes=" + a.axes.text(); }
    std::string operator()(const ShapeAttrs&) const { return {}; }
    std::string operator()(const SliceAttrs& a) const {
        return "begin=" + a.begin.text() + ", end=" + a.end.text() + ", step=" + a.step.text();
    }
    std::string operator()(const PadAttrs& a) const {
        return "before=" + a.before.text() + ", after=" + a.after.text() +
               ", between=" + a.between.text() + ", value=" + valueText(a.value);
    }
    std::string operator()(const AxisAttrs& a) const {
        return "axis=" + std::to_string(a.axis) +
               (a.extent > 0 ? ", extent=" + std::to_string(a.extent) : "");
    }
    std::string operator()(const ScanAttrs& a) const {
        return "axis=" + std::to_string(a.axis) + (a.reverse ? ", reverse" : "");
    }
    std::string operator()(const Fp8Attrs& a) const { return nameOf(a.format); }
    std::string operator()(const Fp8GradientAttrs& a) const {
        return std::string(nameOf(a.format)) + ", scaling=" + nameOf(a.scaling);
    }
    std::string operator()(const RandomAttrs& a) const {
        return "seed=" + std::to_string(a.seed) + ", stream=" + std::to_string(a.stream);
    }
};

std::string attrsText(const Attrs& attrs) { return std::visit(AttrsWriter{}, attrs); }

std::string_view mathText(MathMode mode) {
    switch (mode) {
    case MathMode::F32: return "f32";
    case MathMode::TF32: return "tf32";
    case MathMode::F32FromHalf: return "f32 from half";
    }
    failInvariant("unknown math mode");
}

std::string idText(NodeId id) { return "%" + std::to_string(id); }

std::string typeText(const Node& node) {
    return std::string(nameOf(node.dtype)) + " " + node.shape.text();
}

std::string causeText(const Cause& cause) {
    std::string text = cause.label.empty() ? "" : cause.label + " ";
    text += nameOf(cause.phase);
    if (cause.forward != kNoNode) text += " of " + idText(cause.forward);
    const std::string& why = cause.rule.empty() ? cause.decision : cause.rule;
    if (!why.empty()) text += "  [" + why + "]";
    return text;
}

/// Returns "float32, float16 -> "; nothing for a leaf.
std::string inputText(const Graph& graph, const Node& node) {
    std::string text;
    std::set<DType> seen;
    for (const NodeId in : node.in) {
        if (in < 0 || in >= graph.size() || !seen.insert(graph[in].dtype).second) continue;
        text += (text.empty() ? "" : ", ") + std::string(nameOf(graph[in].dtype));
    }
    return text.empty() ? text : text + " -> ";
}

// ---- validation --------------------------------------------------------------------------------

class Validator {
public:
    explicit Validator(const Graph& graph) : m_graph(graph) {}

    void run() const {
        for (NodeId id = 0; id < m_graph.size(); ++id)
            checkNode(id);
        checkLists();
    }

private:
    [[noreturn]] void refuse(NodeId id, const std::string& reason) const {
        const bool exists = id >= 0 && id < m_graph.size();
        failInvariant("invalid graph: " + reason + " in " +
                      (exists ? nodeText(m_graph, id) : idText(id)));
    }
    void demand(bool holds, NodeId id, const char* reason) const {
        if (!holds) refuse(id, reason);
    }

    void checkNode(NodeId id) const {
        const Node& node = m_graph[id];
        const OpInfo& info = infoOf(node.op);
        std::vector<NodeType> types;
        for (const NodeId in : node.in) {
            demand(in >= 0 && in < id, id, "an operand does not stand before its user");
            types.push_back(m_graph[in].type());
        }
        const bool fits =
            info.arity < 0 ? !node.in.empty() : static_cast<int>(node.in.size()) == info.arity;
        demand(fits, id, "wrong number of operands");
        if (info.flags.has(OpFlag::Leaf))
            checkLeaf(id);
        else
            checkType(id, types);
        const bool lowContraction = node.math == MathMode::F32FromHalf;
        demand(!lowContraction || isLow(types.empty() ? node.dtype : types[0].dtype), id,
               "half arithmetic on operands that are not 16-bit");
        demand(node.math != MathMode::TF32 || (!types.empty() && types[0].dtype == DType::F32), id,
               "TF32 arithmetic on operands that are not float32");
    }

    void checkType(NodeId id, const std::vector<NodeType>& types) const {
        const Node& node = m_graph[id];
        NodeType wanted;
        try {
            wanted = infoOf(node.op).infer(types, node.attrs);
        } catch (const std::logic_error& error) {
            refuse(id, refusalOf(error));
        }
        demand(wanted.shape == node.shape, id, "the shape is not what the op gives");
        demand(wanted.dtype == node.dtype, id, "the dtype is not what the op gives");
    }

    void checkLeaf(NodeId id) const {
        const Node& node = m_graph[id];
        if (node.op == Op::Constant) {
            const auto* held = std::get_if<ConstantAttrs>(&node.attrs);
            demand(held != nullptr, id, "a constant without a value");
            const double stored = roundTo(node.dtype, held->value);
            demand(stored == held->value || std::isnan(stored), id,
                   "a constant that its dtype cannot hold");
        }
        if (node.op == Op::Iota) {
            const auto* how = std::get_if<AxisAttrs>(&node.attrs);
            demand(how != nullptr && how->axis >= 0 && how->axis < node.shape.rank(), id,
                   "iota along an axis that is not there");
        }
        if (node.op == Op::Input) demand(countIn(m_graph.inputs(), id) == 1, id, "unlisted input");
        if (node.op == Op::State) demand(countIn(m_graph.states(), id) == 1, id, "unlisted state");
    }

    template <class Info>
    static int countIn(const std::vector<Info>& list, NodeId id) {
        int count = 0;
        for (const Info& info : list)
            count += info.node == id;
        return count;
    }

    template <class Info>
    void checkNames(const std::vector<Info>& list, std::optional<Op> op) const {
        std::set<std::string> names;
        for (const Info& info : list) {
            if (info.node < 0 || info.node >= m_graph.size())
                refuse(info.node, info.name + " names a node that does not exist");
            if (op && m_graph[info.node].op != *op) refuse(info.node, info.name + " is no leaf");
            if (!names.insert(info.name).second) refuse(info.node, "second " + info.name);
        }
    }

    void checkLists() const {
        checkNames(m_graph.inputs(), Op::Input);
        checkNames(m_graph.states(), Op::State);
        checkNames(m_graph.outputs(), std::nullopt);
        for (const StateInfo& state : m_graph.states()) {
            if (state.next == kNoNode) continue;
            demand(state.next >= 0 && state.next < m_graph.size(), state.next,
                   "a next value that does not exist");
            const Node &from = m_graph[state.node], &to = m_graph[state.next];
            demand(from.shape == to.shape && from.dtype == to.dtype, state.next,
                   "a next value unlike its state");
        }
    }

    const Graph& m_graph;
};

// ---- DOT ---------------------------------------------------------------------------------------

/// Returns fill colours by storage, light enough for black text.
const char* dotColour(DType dtype) {
    switch (dtype) {
    case DType::F32: return "#d0e4f7";
    case DType::F16: return "#fddfc0";
    case DType::BF16: return "#e5d8f0";
    case DType::F64: return "#d5efd5";
    case DType::I32:
    case DType::Bool: return "#eeeeee";
    }
    failInvariant("unknown dtype");
}

std::string dotQuoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c == '\n' ? ' ' : c;
    }
    return quoted + "\"";
}

// ---- JSON --------------------------------------------------------------------------------------

nlohmann::json shapeJson(const Shape& shape) {
    nlohmann::json list = nlohmann::json::array();
    for (const int64_t extent : shape)
        list.push_back(extent);
    return list;
}

nlohmann::json nodeJson(const Graph& graph, NodeId id) {
    const Node& node = graph[id];
    nlohmann::json cause = {{"phase", nameOf(node.cause.phase)}};
    if (node.cause.forward != kNoNode) cause["forward"] = node.cause.forward;
    if (!node.cause.label.empty()) cause["label"] = node.cause.label;
    if (!node.cause.rule.empty()) cause["rule"] = node.cause.rule;
    if (!node.cause.decision.empty()) cause["decision"] = node.cause.decision;
    nlohmann::json inputs = nlohmann::json::array();
    for (const NodeId in : node.in)
        inputs.push_back(nameOf(graph[in].dtype));
    return {{"id", id},
            {"op", nameOf(node.op)},
            {"in", node.in},
            {"in_dtypes", std::move(inputs)},
            {"attrs", attrsText(node.attrs)},
            {"dtype", nameOf(node.dtype)},
            {"shape", shapeJson(node.shape)},
            {"math", mathText(node.math)},
            {"bytes", node.bytes()},
            {"cause", std::move(cause)}};
}

} // namespace

void validate(const Graph& graph) { Validator(graph).run(); }

std::string nodeText(const Graph& graph, NodeId id) {
    const Node& node = graph[id];
    std::string operands;
    for (const NodeId in : node.in)
        operands += (operands.empty() ? "" : ", ") + idText(in);
    const std::string attrs = attrsText(node.attrs);
    if (!attrs.empty()) operands += (operands.empty() ? "" : ", ") + attrs;
    std::string text = idText(id) + " = " + std::string(nameOf(node.op)) + "(" + operands +
                       ") : " + inputText(graph, node) + typeText(node);
    if (node.math != MathMode::F32) text += " in " + std::string(mathText(node.math));
    return text + "  " + causeText(node.cause);
}

std::string graphText(const Graph& graph) {
    std::string text;
    for (NodeId id = 0; id < graph.size(); ++id)
        text += nodeText(graph, id) + "\n";
    for (const StateInfo& state : graph.states())
        text += "state " + state.name + " (" + std::string(nameOf(state.role)) +
                "): " + idText(state.node) +
                (state.next == kNoNode ? "" : " -> " + idText(state.next)) + "\n";
    for (const OutputInfo& output : graph.outputs())
        text += "output " + output.name + ": " + idText(output.node) + "\n";
    return text + castText(graph);
}

std::string graphDot(const Graph& graph) {
    std::string text = "digraph step {\n    node [shape=box, style=filled, fontname=\"sans\"];\n";
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        const std::string label =
            idText(id) + " " + std::string(nameOf(node.op)) + " " + typeText(node);
        const std::string name = "n" + std::to_string(id);
        text += "    " + name + " [label=" + dotQuoted(label) +
                ", tooltip=" + dotQuoted(causeText(node.cause)) + ", fillcolor=\"" +
                dotColour(node.dtype) + "\"];\n";
        for (const NodeId in : node.in)
            text += "    n" + std::to_string(in) + " -> " + name + ";\n";
    }
    for (const StateInfo& state : graph.states())
        if (state.next != kNoNode)
            text += "    n" + std::to_string(state.next) + " -> n" + std::to_string(state.node) +
                    " [style=dashed, constraint=false];\n";
    for (size_t i = 0; i < graph.outputs().size(); ++i) {
        const OutputInfo& output = graph.outputs()[i];
        const std::string name = "out" + std::to_string(i);
        text += "    " + name + " [label=" + dotQuoted(output.name) + ", shape=oval];\n";
        text += "    n" + std::to_string(output.node) + " -> " + name + ";\n";
    }
    return text + "}\n";
}

std::string graphJson(const Graph& graph) {
    nlohmann::json root;
    for (const char* list : {"nodes", "states", "inputs", "outputs"})
        root[list] = nlohmann::json::array();
    for (NodeId id = 0; id < graph.size(); ++id)
        root["nodes"].push_back(nodeJson(graph, id));
    for (const StateInfo& state : graph.states()) {
        nlohmann::json row = {
            {"name", state.name}, {"role", nameOf(state.role)}, {"node", state.node}};
        if (state.next != kNoNode) row["next"] = state.next;
        root["states"].push_back(std::move(row));
    }
    for (const InputInfo& input : graph.inputs())
        root["inputs"].push_back({{"name", input.name}, {"node", input.node}});
    for (const OutputInfo& output : graph.outputs())
        root["outputs"].push_back({{"name", output.name}, {"node", output.node}});
    root["casts"] = nlohmann::json::array();
    for (const CastCount& kind : castCounts(graph))
        root["casts"].push_back({{"reason", kind.reason},
                                 {"from", nameOf(kind.from)},
                                 {"to", nameOf(kind.to)},
                                 {"count", kind.count},
                                 {"elements", kind.elements}});
    return root.dump(2);
}

} // namespace halfscope
