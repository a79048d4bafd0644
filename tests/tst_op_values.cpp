// Every op of the golden file: value, gradients, and gradients of sum(gradient * vector), against
// PyTorch's float64. The reference evaluator in double, then the CPU executor in float32.
#include "engine/core/error.h"
#include "engine/ops/functional.h"
#include "engine/passes/autodiff.h"
#include "tests/support/run_program.h"
#include "tests/support/training.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace halfscope;
using nlohmann::json;

namespace {

const json& goldenCases() {
    static const json cases = test::goldenFile("op_values.json");
    return cases;
}

Shape shapeFrom(const json& list) {
    Shape shape;
    for (const json& extent : list)
        shape.push(extent.get<int64_t>());
    return shape;
}

/// A golden case as a graph: its leaves with their values, and what is to be compared.
struct CaseGraph {
    struct Wanted {
        std::string name;
        NodeId node = kNoNode; ///< kNoNode: a gradient that is absent, that is zero
        std::vector<double> values;
    };
    Graph graph;
    Builder b{graph};
    DType dtype;
    std::map<NodeId, RefTensor> leaves;
    std::vector<NodeId> in;
    std::vector<Wanted> wanted;

    CaseGraph(const json& row, DType type) : dtype(type) {
        for (const json& tensor : row["inputs"])
            in.push_back(leaf("x", shapeFrom(tensor["shape"]), test::flat(tensor["data"]), dtype));
        const NodeId y = emitOp(row["op"], row["attrs"]);
        const Shape shape = b.shapeOf(y);
        if (shape != shapeFrom(row["output"]["shape"])) failInvariant("shape " + shape.text());
        wanted.push_back({"output", y, test::flat(row["output"]["data"])});
        const NodeId dy = leaf("dy", shape, test::flat(row["cotangent"]), dtype);
        const auto first = gradients(b, y, in, dy);
        NodeId total = b.constant(0, {}, dtype);
        for (size_t i = 0; i < in.size(); ++i) {
            want("gradient " + std::to_string(i), first[i], row["grads"][i]);
            const NodeId vector = leaf("vector", Shape(b.shapeOf(in[i])),
                                       test::flat(row["second_order_vectors"][i]), dtype);
            if (first[i]) total = b.add(total, b.sumAll(b.mul(*first[i], vector)));
        }
        const auto second = gradients(b, total, in);
        for (size_t i = 0; i < in.size(); ++i)
            want("second order " + std::to_string(i), second[i], row["second_order"][i]);
    }

private:
    NodeId leaf(const std::string& name, const Shape& shape, std::vector<double> values,
                DType type) {
        const NodeId id = b.input(name + std::to_string(leaves.size()), shape, type);
        leaves[id] = {shape, std::move(values)};
        return id;
    }

    /// A tensor of the case's attributes (labels, target, indices).
    NodeId attribute(const json& values, const Shape& shape, DType type) {
        return leaf("attribute", shape, test::flat(values), type);
    }

    void want(std::string name, std::optional<NodeId> node, const json& values) {
        const size_t like = static_cast<size_t>(name.back() - '0');
        const auto count = static_cast<size_t>(b[in[like]].elements());
        wanted.push_back({std::move(name), node.value_or(kNoNode),
                          values.is_null() ? std::vector<double>(count) : test::flat(values)});
    }

    NodeId emitOp(const std::string& op, const json& attrs) {
        const auto number = [&](const char* key) { return attrs[key].get<int64_t>(); };
        const auto pair = [&](const char* key) { return std::array{number(key), number(key)}; };
        const NodeId x = in[0];
        if (op == "matmul") return fn::matmul(b, x, in[1]);
        if (op == "linear") return fn::linear(b, x, in[1], in[2]);
        if (op == "conv2d")
            return fn::conv2d(b, x, in[1], in[2], {pair("stride"), pair("padding"), {}});
        if (op == "batch_norm") return fn::batchNorm(b, x, in[1], in[2], 1, attrs["eps"]).y;
        if (op == "layer_norm") return fn::layerNorm(b, x, in[1], in[2], attrs["eps"]);
        if (op == "softmax") return fn::softmax(b, x, -1);
        if (op == "log_softmax") return fn::logSoftmax(b, x, -1);
        if (op == "logsumexp") return fn::logsumexp(b, x, -1);
        if (op == "max_pool2d" || op == "avg_pool2d") {
            const PoolAttrs pool{pair("kernel"), pair("kernel"), {0, 0}, {}};
            return op == "max_pool2d" ? fn::maxPool2d(b, x, pool) : fn::avgPool2d(b, x, pool);
        }
        if (op == "cross_entropy") {
            const Shape rows{b.shapeOf(x)[0]};
            return fn::crossEntropy(b, x, attribute(attrs["labels"], rows, DType::I32));
        }
        if (op == "mse_loss")
            return fn::mseLoss(b, x, attribute(attrs["target"], Shape(b.shapeOf(x)), dtype));
        if (op == "binary_cross_entropy_with_logits")
            return fn::bceWithLogits(b, x, attribute(attrs["target"], Shape(b.shapeOf(x)), dtype));
        if (op == "add_broadcast") return fn::add(b, x, in[1]);
        if (op == "sub_broadcast") return fn::sub(b, x, in[1]);
        if (op == "mul_broadcast") return fn::mul(b, x, in[1]);
        if (op == "div_broadcast") return fn::div(b, x, in[1]);
        if (op == "sum_dim") return fn::sum(b, x, {number("dim")});
        if (op == "mean") return fn::mean(b, x, {});
        if (op == "pow2") return fn::powScalar(b, x, attrs["exponent"].get<double>());
        if (op == "transpose") return b.transpose(x, {1, 0});
        if (op == "reshape") return b.reshape(x, shapeFrom(attrs["shape"]));
        if (op == "cat") return b.concat(in, static_cast<int>(number("dim")));
        if (op == "slice")
            return b.slice(x, static_cast<int>(number("dim")), number("begin"), number("end"));
        if (op == "batch_gather") {
            const int64_t rows = b.shapeOf(x)[0];
            const NodeId index = attribute(attrs["indices"], {rows, 1}, DType::I32);
            return b.reshape(b.emit(Op::Gather, {x, index}, AxisAttrs{1, 0}), {rows});
        }
        for (int i = static_cast<int>(Op::Neg); i < static_cast<int>(Op::Cast); ++i) {
            if (nameOf(static_cast<Op>(i)) == op) return fn::unary(b, static_cast<Op>(i), x);
        }
        failInvariant("no such op: " + op);
    }
};

double largest(const std::vector<double>& values) {
    double most = 0;
    for (const double v : values)
        most = std::max(most, std::fabs(v));
    return most;
}

/// Roundings that can add up on the way to a node: one for each node of the longest path, and one
/// for each element of a sum.
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

QByteArray firstDifference(const std::vector<double>& a, const std::vector<double>& b,
                           double bound) {
    if (a.size() != b.size()) return "sizes differ";
    for (size_t i = 0; i < a.size(); ++i) {
        if (std::fabs(a[i] - b[i]) <= bound) continue;
        return "element " + QByteArray::number(qlonglong(i)) + ": " +
               QByteArray::number(a[i], 'g', 12) + " instead of " +
               QByteArray::number(b[i], 'g', 12) + ", bound " + QByteArray::number(bound);
    }
    return {};
}

void addCases() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < goldenCases().size(); ++i) {
        const json& row = goldenCases()[i];
        QTest::addRow("%d %s", static_cast<int>(i), row["op"].get<std::string>().c_str())
            << static_cast<int>(i);
    }
}

} // namespace

class TestOpValues : public QObject {
    Q_OBJECT

private slots:
    void reference_data() { addCases(); }
    void reference() {
        QFETCH(int, index);
        const CaseGraph c(goldenCases()[static_cast<size_t>(index)], DType::F64);
        for (const auto& w : c.wanted) {
            std::vector<double> got(w.values.size());
            if (w.node != kNoNode) {
                got = evaluate(c.graph, c.leaves, std::array{w.node}, RefRounding::None)
                          .at(w.node)
                          .values;
            }
            // two double computations of one formula in another order, of some hundred roundings
            const double bound = 1e-12 * std::max(1.0, largest(w.values));
            const QByteArray difference = firstDifference(got, w.values, bound);
            QVERIFY2(difference.isEmpty(), (w.name.c_str() + (": " + difference)).constData());
        }
    }

    void cpu_data() { addCases(); }
    void cpu() {
        QFETCH(int, index);
        CaseGraph c(goldenCases()[static_cast<size_t>(index)], DType::F32);
        std::vector<NodeId> all;
        for (NodeId id = 0; id < c.graph.size(); ++id)
            all.push_back(id);
        const auto exact = evaluate(c.graph, c.leaves, all, RefRounding::None);
        const std::vector<double> roundings = roundingsOf(c.graph);
        // An error made at a node is relative to that node's value: the largest one counts.
        double magnitude = 0;
        for (const auto& [id, tensor] : exact) {
            if (isFloat(c.graph[id].dtype)) magnitude = std::max(magnitude, largest(tensor.values));
        }
        for (const auto& w : c.wanted) {
            if (w.node != kNoNode) c.graph.addOutput(w.name, w.node);
        }
        const double u = formatOf(DType::F32).unitRoundoff();
        for (const FuseOptions fuse : {FuseOptions::Full, FuseOptions::None}) {
            const auto run = test::runSteps(c.graph, c.leaves, fuse, 2, 1);
            for (const auto& w : c.wanted) {
                if (w.node == kNoNode) continue;
                const double bound = u * roundings[static_cast<size_t>(w.node)] * magnitude;
                const QByteArray difference = firstDifference(run.at(w.name), w.values, bound);
                QVERIFY2(difference.isEmpty(), (w.name.c_str() + (": " + difference)).constData());
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestOpValues)
#include "tst_op_values.moc"
