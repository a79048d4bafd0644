// Every recorded op on the device in float32 against PyTorch's float64: value, gradients, and
// gradients of sum(gradient * vector).
#include "engine/core/error.h"
#include "engine/exec/reference.h"
#include "engine/ops/functional.h"
#include "engine/ops/op_info.h"
#include "engine/passes/autodiff.h"
#include "engine/verify/golden_ops.h"
#include "engine/verify/run_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace halfscope::recorded {
namespace {

/// Builds an OpCase.
class CaseBuilder {
public:
    CaseBuilder(const Golden& row, DType dtype) : m_row(row), m_dtype(dtype) {}

    OpCase build() {
        for (const Golden& tensor : m_row.at("inputs").items()) {
            const Shape shape = tensor.at("shape").shape();
            m_in.push_back(leaf("x", tensor.at("data"), shape, m_dtype));
        }
        if (m_in.empty())
            m_row.at("inputs").fail(phrase("Verification", "at least one input is expected"));
        const NodeId y = emitOp(m_row.at("op").text());
        const Shape shape = m_b.shapeOf(y);
        const Golden output = m_row.at("output");
        if (shape != output.at("shape").shape()) {
            output.at("shape").fail(
                {phrase("Verification", "the op's result has the shape %1"), shape.text()});
        }
        m_case.wanted.push_back({"output", y, output.at("data").tensor(shape)});
        addGradients(y, leaf("dy", m_row.at("cotangent"), shape, m_dtype));
        return std::move(m_case);
    }

private:
    /// Adds a leaf. The shape is passed by value: a node's shape moves when the graph grows.
    NodeId leaf(const char* name, const Golden& values, Shape shape, DType type) {
        const std::string numbered = name + std::to_string(m_case.leaves.size());
        const NodeId id = m_b.input(numbered, shape, type);
        m_case.leaves[id] = {shape, values.tensor(shape)};
        return id;
    }

    void addGradients(NodeId y, NodeId dy) {
        const auto first = gradients(m_b, y, m_in, dy);
        NodeId total = m_b.constant(0, {}, m_dtype);
        for (size_t i = 0; i < m_in.size(); ++i) {
            want("gradient " + std::to_string(i), i, first[i], m_row.at("grads").at(i));
            const Shape shape = m_b.shapeOf(m_in[i]);
            const NodeId vector =
                leaf("vector", m_row.at("second_order_vectors").at(i), shape, m_dtype);
            if (first[i]) total = m_b.add(total, m_b.sumAll(m_b.mul(*first[i], vector)));
        }
        const auto second = gradients(m_b, total, m_in);
        for (size_t i = 0; i < m_in.size(); ++i)
            want("second order " + std::to_string(i), i, second[i], m_row.at("second_order").at(i));
    }

    /// Adds a wanted value; null `values` stand for zeros.
    void want(std::string name, size_t input, std::optional<NodeId> node, const Golden& values) {
        const Shape shape = m_b.shapeOf(m_in[input]);
        std::vector<double> zeros(static_cast<size_t>(shape.elements()));
        m_case.wanted.push_back({std::move(name), node.value_or(kNoNode),
                                 values.isNull() ? std::move(zeros) : values.tensor(shape)});
    }

    NodeId in(size_t i) const {
        if (i < m_in.size()) return m_in[i];
        m_row.at("inputs").fail({phrase("Verification", "the op wants at least %1"), i + 1});
    }
    Golden attrs() const { return m_row.at("attrs"); }
    int64_t number(const char* key) const { return attrs().at(key).integer(); }
    int axis(const char* key) const {
        const int64_t axis = number(key), rank = m_b.shapeOf(m_in[0]).rank();
        if (axis < -rank || axis >= rank)
            attrs().at(key).fail(phrase("Verification", "the input has no such axis"));
        return static_cast<int>(axis);
    }
    std::array<int64_t, 2> pair(const char* key) const { return {number(key), number(key)}; }
    ConvAttrs conv() const {
        return {.stride = pair("stride"),
                .padding = pair("padding"),
                .dilation = pair("dilation"),
                .groups = number("groups")};
    }
    fn::Conv1dAttrs conv1d() const {
        return {number("stride"), number("padding"), number("dilation"), number("groups")};
    }

    /// Adds indices and checks that they are below `limit`, because a gather does not.
    NodeId indices(const char* key, const Shape& shape, int64_t limit) {
        const Golden values = attrs().at(key);
        for (const double index : values.numbers()) {
            if (index < 0 || index >= static_cast<double>(limit) || std::trunc(index) != index) {
                values.fail(
                    {phrase("Verification", "indices from 0 to %1 are expected"), limit - 1});
            }
        }
        return leaf("index", values, shape, DType::I32);
    }
    NodeId target() { return leaf("target", attrs().at("target"), m_b.shapeOf(m_in[0]), m_dtype); }

    NodeId emitOp(const std::string& op);
    std::optional<NodeId> emitLayer(const std::string& op);
    std::optional<NodeId> emitLoss(const std::string& op);
    std::optional<NodeId> emitArithmetic(const std::string& op);
    std::optional<NodeId> emitMovement(const std::string& op);

    Golden m_row;
    DType m_dtype;
    OpCase m_case;
    Builder m_b{m_case.graph};
    std::vector<NodeId> m_in;
};

std::optional<NodeId> CaseBuilder::emitLayer(const std::string& op) {
    const NodeId x = in(0);
    if (op == "matmul") return fn::matmul(m_b, x, in(1));
    if (op == "linear") return fn::linear(m_b, x, in(1), in(2));
    if (op == "conv1d") return fn::conv1d(m_b, x, in(1), in(2), conv1d());
    if (op == "conv2d") return fn::conv2d(m_b, x, in(1), in(2), conv());
    if (op == "conv_transpose2d")
        return fn::convTranspose2d(m_b, x, in(1), in(2), conv(), pair("output_padding"));
    if (op == "batch_norm") {
        return fn::batchNorm(m_b, x, in(1), in(2), 1, attrs().at("eps").number()).y;
    }
    if (op == "layer_norm") {
        return fn::layerNorm(m_b, x, in(1), in(2), attrs().at("eps").number());
    }
    if (op == "softmax") return fn::softmax(m_b, x, axis("dim"));
    if (op == "log_softmax") return fn::logSoftmax(m_b, x, axis("dim"));
    if (op == "logsumexp") return fn::logsumexp(m_b, x, axis("dim"));
    if (op == "max_pool2d" || op == "avg_pool2d") {
        const PoolAttrs pool{pair("kernel"), pair("kernel"), {0, 0}, {}};
        return op == "max_pool2d" ? fn::maxPool2d(m_b, x, pool) : fn::avgPool2d(m_b, x, pool);
    }
    return std::nullopt;
}

std::optional<NodeId> CaseBuilder::emitLoss(const std::string& op) {
    const NodeId x = in(0);
    const Shape shape = m_b.shapeOf(x);
    if (op == "cross_entropy") {
        if (shape.rank() != 2)
            m_row.at("inputs").fail(phrase("Verification", "logits of two axes are expected"));
        return fn::crossEntropy(m_b, x, indices("labels", {shape[0]}, shape[1]));
    }
    if (op == "mse_loss") return fn::mseLoss(m_b, x, target());
    if (op == "binary_cross_entropy_with_logits") return fn::bceWithLogits(m_b, x, target());
    return std::nullopt;
}

std::optional<NodeId> CaseBuilder::emitArithmetic(const std::string& op) {
    const NodeId x = in(0);
    if (op == "add_broadcast") return fn::add(m_b, x, in(1));
    if (op == "sub_broadcast") return fn::sub(m_b, x, in(1));
    if (op == "mul_broadcast") return fn::mul(m_b, x, in(1));
    if (op == "div_broadcast") return fn::div(m_b, x, in(1));
    if (op == "sum_dim") return fn::sum(m_b, x, {axis("dim")});
    if (op == "mean") return fn::mean(m_b, x, {});
    if (op == "pow2") return fn::powScalar(m_b, x, attrs().at("exponent").number());
    for (int i = static_cast<int>(Op::Neg); i < static_cast<int>(Op::Cast); ++i) {
        const Op code = static_cast<Op>(i);
        if (nameOf(code) == op) return fn::unary(m_b, code, x);
    }
    return std::nullopt;
}

std::optional<NodeId> CaseBuilder::emitMovement(const std::string& op) {
    const NodeId x = in(0);
    const Shape shape = m_b.shapeOf(x);
    if (op == "transpose") {
        if (shape.rank() != 2)
            m_row.at("inputs").fail(phrase("Verification", "a matrix is expected"));
        return m_b.transpose(x, {1, 0});
    }
    if (op == "reshape") return m_b.reshape(x, attrs().at("shape").shape());
    if (op == "cat") return m_b.concat(m_in, normalAxis(axis("dim"), shape.rank()));
    if (op == "slice") {
        return m_b.slice(x, normalAxis(axis("dim"), shape.rank()), number("begin"), number("end"));
    }
    if (op == "batch_gather") {
        if (shape.rank() != 2)
            m_row.at("inputs").fail(phrase("Verification", "a matrix is expected"));
        const NodeId index = indices("indices", {shape[0], 1}, shape[1]);
        return m_b.reshape(m_b.emit(Op::Gather, {x, index}, AxisAttrs{1, 0}), {shape[0]});
    }
    return std::nullopt;
}

NodeId CaseBuilder::emitOp(const std::string& op) {
    for (const auto emit : {&CaseBuilder::emitLayer, &CaseBuilder::emitLoss,
                            &CaseBuilder::emitArithmetic, &CaseBuilder::emitMovement}) {
        if (const auto y = (this->*emit)(op)) return *y;
    }
    m_row.at("op").fail(phrase("Verification", "the engine has no such operation"));
}

double largestOf(const std::vector<double>& values) {
    double most = 0;
    for (const double v : values)
        most = std::max(most, std::fabs(v));
    return most;
}

/// Returns the number of roundings that can add up on the way to each node: one for each node of
/// the longest path, and one for each element of a sum.
std::vector<double> roundingsOf(const Graph& graph) {
    std::vector<double> count;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        double most = 0, terms = 1;
        for (const NodeId in : node.in) {
            most = std::max(most, count[static_cast<size_t>(in)]);
            if (infoOf(node.op).flags.has(OpFlag::Elementwise)) continue;
            terms = std::max(terms, static_cast<double>(graph[in].elements()));
        }
        count.push_back(node.in.empty() ? 1 : most + terms);
    }
    return count;
}

/// `freedom` is how far each value may deviate beyond the bound; empty for not at all.
void compareValues(CaseResult& result, const OpCase::Wanted& wanted, const std::vector<double>& got,
                   double magnitude, double bound, const std::vector<double>& freedom = {}) {
    for (size_t i = 0; i < got.size(); ++i) {
        const double more = freedom.empty() ? 0 : freedom[i] / magnitude;
        result.add(deviationOf(got[i], wanted.values[i], magnitude), bound + more, [&] {
            return wanted.name + " [" + std::to_string(i) +
                   "]: " + numberPair(got[i], wanted.values[i]);
        });
    }
}

/// Returns how far each wanted value moves when the leaves are rounded to float32, as on the
/// device: an exponential multiplies that rounding by its argument.
std::map<NodeId, std::vector<double>> movedByRounding(const OpCase& c) {
    std::vector<NodeId> nodes;
    for (const OpCase::Wanted& w : c.wanted)
        if (w.node != kNoNode) nodes.push_back(w.node);
    std::map<NodeId, RefTensor> rounded = c.leaves;
    for (auto& [id, tensor] : rounded)
        for (double& value : tensor.values)
            value = roundTo(c.graph[id].dtype, value);
    const auto exact = evaluate(c.graph, c.leaves, nodes, RefRounding::None);
    const auto moved = evaluate(c.graph, rounded, nodes, RefRounding::None);
    std::map<NodeId, std::vector<double>> distance;
    for (const auto& [id, tensor] : exact) {
        std::vector<double>& of = distance[id];
        for (size_t i = 0; i < tensor.values.size(); ++i)
            of.push_back(std::fabs(moved.at(id).values[i] - tensor.values[i]));
    }
    return distance;
}

} // namespace

OpCase opCase(const Golden& row, DType dtype) {
    try {
        return CaseBuilder(row, dtype).build();
    } catch (const std::logic_error& error) { // a shape rule that refuses
        row.fail({phrase("Verification", "these inputs and attributes make no graph: %1"),
                  error.what()});
    }
}

std::string opCaseName(const Golden& row, size_t index) {
    return std::to_string(index) + " " + row.at("op").text();
}

CaseResult compareReference(const Golden& row) {
    const OpCase c = opCase(row, DType::F64);
    CaseResult result;
    for (const OpCase::Wanted& w : c.wanted) {
        std::vector<double> got(w.values.size());
        if (w.node != kNoNode) {
            got = evaluate(c.graph, c.leaves, std::array{w.node}, RefRounding::None)
                      .at(w.node)
                      .values;
        }
        compareValues(result, w, got, std::max(1.0, largestOf(w.values)), 1e-12);
    }
    return result;
}

CaseResult compareOnDevice(const Golden& row, Executor& executor, const CompileOptions& options) {
    OpCase c = opCase(row, DType::F32);
    std::vector<NodeId> all;
    for (NodeId id = 0; id < c.graph.size(); ++id)
        all.push_back(id);
    // An error made at a node is relative to that node's value, so the largest one counts.
    double magnitude = std::numeric_limits<double>::min();
    for (const auto& [id, tensor] : evaluate(c.graph, c.leaves, all, RefRounding::None)) {
        if (isFloat(c.graph[id].dtype)) magnitude = std::max(magnitude, largestOf(tensor.values));
    }
    const std::vector<double> roundings = roundingsOf(c.graph);
    for (const OpCase::Wanted& w : c.wanted) {
        if (w.node != kNoNode) c.graph.addOutput(w.name, w.node);
    }
    const auto values = runGraph(executor, c.graph, c.leaves, options);
    const double u = formatOf(DType::F32).unitRoundoff();
    const auto moved = movedByRounding(c);
    CaseResult result;
    for (const OpCase::Wanted& w : c.wanted) {
        const std::vector<double> zeros(w.values.size());
        if (w.node == kNoNode)
            compareValues(result, w, zeros, magnitude, 0);
        else
            compareValues(result, w, values.at(w.name), magnitude,
                          u * roundings[static_cast<size_t>(w.node)], moved.at(w.node));
    }
    return result;
}

SuiteCases opsSuite(const Golden& golden, VerifyDevice& device) {
    SuiteCases suite;
    const std::vector<Golden> rows = casesOf(golden).items();
    for (size_t i = 0; i < rows.size(); ++i) {
        suite.cases.push_back({opCaseName(rows[i], i), [row = rows[i], &device] {
                                   return compareOnDevice(row, *device.executor, {});
                               }});
    }
    return suite;
}

} // namespace halfscope::recorded
