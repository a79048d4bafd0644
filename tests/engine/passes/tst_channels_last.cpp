// Steps whose images have their channels last have the values of the same steps on planes, and
// nothing is transposed between two convolutions.
#include "engine/ops/functional.h"
#include "engine/ops/inspect.h"
#include "engine/passes/autodiff.h"
#include "engine/passes/channels_last.h"
#include "tests/support/random_step.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tst_channels_last {

using namespace halfscope;
using test::Leaves;

namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();

bool takesAll(const Graph&, NodeId) { return true; }
bool takesNoStrides(const Graph& graph, NodeId id) {
    return attrsOf<ConvAttrs>(graph[id].attrs).stride == ConvAttrs{}.stride;
}

int count(const Graph& graph, const std::function<bool(const Node&)>& of) {
    int found = 0;
    for (NodeId id = 0; id < graph.size(); ++id)
        found += of(graph[id]) ? 1 : 0;
    return found;
}
bool isLast(const Node& node) { return hasChannelsLast(node.attrs); }
bool isTransposed(const Node& node) { return node.op == Op::Transpose; }

/// Returns the leaves of a copy, which has the same inputs and states in the same order.
Leaves leavesOf(const Graph& from, const Graph& to, const Leaves& leaves) {
    Leaves moved;
    for (size_t i = 0; i < from.inputs().size(); ++i)
        moved[to.inputs()[i].node] = leaves.at(from.inputs()[i].node);
    for (size_t i = 0; i < from.states().size(); ++i)
        moved[to.states()[i].node] = leaves.at(from.states()[i].node);
    return moved;
}

/// Returns the first output whose values differ by more than the order of sums in double explains.
std::string differenceOf(const Graph& planes, const Graph& last, const Leaves& leaves) {
    const Leaves moved = leavesOf(planes, last, leaves);
    for (const OutputInfo& output : planes.outputs()) {
        const RefTensor a = test::valueOf(planes, leaves, output.node, RefRounding::None);
        const RefTensor b = test::valueOf(last, moved, last.output(output.name), RefRounding::None);
        if (!(a.shape == b.shape)) return output.name + ": another shape";
        double largest = 1;
        for (const double v : a.values)
            largest = std::max(largest, std::fabs(v));
        for (size_t i = 0; i < a.values.size(); ++i) {
            const bool same = std::isnan(a.values[i])
                                  ? std::isnan(b.values[i])
                                  : std::fabs(a.values[i] - b.values[i]) <= 1e-9 * largest;
            if (!same)
                return output.name + "[" + std::to_string(i) + "]: " + std::to_string(b.values[i]) +
                       ", not " + std::to_string(a.values[i]);
        }
    }
    return {};
}

/// A step with its loss, the gradients of its parameters, and a value for each leaf.
class Step {
public:
    Step() : b(graph) {}
    NodeId parameter(const Shape& shape) {
        const NodeId id = b.state("p" + std::to_string(m_parameters.size()), shape, DType::F64,
                                  StateRole::Parameter);
        m_parameters.push_back(id);
        leaves[id] = test::randomTensor(shape, 77, m_parameters.size(), -1, 1);
        return id;
    }
    NodeId input(const Shape& shape) {
        const NodeId id = b.input("x", shape, DType::F64);
        leaves[id] = test::randomTensor(shape, 77, 1000, -1, 1);
        return id;
    }
    NodeId conv(NodeId x, int64_t outputs, int64_t kernel, ConvAttrs how = {}) {
        const Shape shape = b.shapeOf(x);
        return fn::conv2d(b, x, parameter({outputs, shape[1] / how.groups, kernel, kernel}),
                          parameter({outputs}), how);
    }
    NodeId norm(NodeId x) {
        const int64_t channels = b.shapeOf(x)[1];
        return fn::batchNorm(b, x, parameter({channels}), parameter({channels}), 1, 1e-5).y;
    }
    void finish(NodeId y) {
        const NodeId loss = b.sumAll(b.mul(y, y));
        graph.addOutput("loss", loss);
        const auto found = gradients(b, loss, m_parameters);
        for (size_t i = 0; i < found.size(); ++i)
            if (found[i]) graph.addOutput("gradient " + std::to_string(i), *found[i]);
    }

    Graph graph;
    Builder b;
    Leaves leaves;

private:
    std::vector<NodeId> m_parameters;
};

/// Convolutions with everything between them that is written for channels last.
NodeId network(Step& s, NodeId x) {
    Builder& b = s.b;
    const ConvAttrs same{{1, 1}, {1, 1}, {}};
    NodeId y = fn::maxPool2d(b, b.unary(Op::Relu, s.norm(s.conv(x, 4, 3, same))),
                             {{2, 2}, {2, 2}, {0, 0}, {}});
    y = b.add(y, s.norm(s.conv(y, 4, 3, same)));       // a residual block
    y = fn::cat(b, std::array{y, s.conv(y, 3, 1)}, 1); // a dense one
    const NodeId mean = b.mean(y, {2, 3});             // squeeze and excitation
    y = b.mul(y, b.expandLike(b.unary(Op::Sigmoid, s.conv(mean, 7, 1)), y));
    y = fn::upsampleNearest2d(b, fn::replicationPad(b, y, {1, 1, 0, 1}), {2, 2});
    y = fn::avgPool2d(b, s.conv(y, 5, 3, {{2, 2}, {1, 1}, {}}), {{2, 2}, {1, 2}, {1, 0}, {}});
    return s.conv(y, 6, 2);
}

} // namespace

class TestChannelsLast : public QObject {
    Q_OBJECT

private slots:
    void networks() {
        Step s;
        const NodeId y = network(s, s.input({3, 2, 8, 6}));
        const Shape shape = s.b.shapeOf(y);
        const NodeId flat = s.b.reshape(y, {shape[0], shape.elements() / shape[0]});
        s.finish(s.b.matmul(flat, s.parameter({s.b.shapeOf(flat)[1], 3})));
        const Graph last = storeChannelsLast(s.graph, takesAll);
        const auto isConv = [](const Node& node) {
            return std::holds_alternative<ConvAttrs>(node.attrs);
        };
        QCOMPARE(count(last, isConv), 3 * 6 - 1); // the image needs no gradient
        QCOMPARE(count(last, isLast), count(last, [&](const Node& node) {
                     return isConv(node) || std::holds_alternative<PoolAttrs>(node.attrs);
                 }));
        QCOMPARE(count(last, isTransposed), count(s.graph, isTransposed));
        QCOMPARE(QString::fromStdString(differenceOf(s.graph, last, s.leaves)), QString());
    }

    void randomSteps() {
        int moved = 0;
        for (uint64_t seed = 0; seed < 300; ++seed) {
            test::RandomStep step(seed, test::RandomStep::Kind::Double, 40);
            Builder b(step.graph());
            const auto found = gradients(b, step.loss(), step.parameters());
            step.graph().addOutput("loss", step.loss());
            for (size_t i = 0; i < found.size(); ++i)
                if (found[i]) step.graph().addOutput("gradient " + std::to_string(i), *found[i]);
            const Graph last = storeChannelsLast(step.graph(), takesAll, kAny);
            moved += count(last, isLast) > 0 ? 1 : 0;
            const std::string wrong = differenceOf(step.graph(), last, step.leaves());
            QVERIFY2(wrong.empty(), ("seed " + std::to_string(seed) + ": " + wrong).c_str());
        }
        QVERIFY2(moved >= 20, std::to_string(moved).c_str());
    }

    /// One convolution that does not take them keeps all images planes that are tied to its own.
    void refused() {
        Step s;
        const NodeId x = s.input({3, 2, 8, 8});
        const NodeId y = s.conv(s.conv(x, 4, 3), 4, 3, {{2, 2}, {0, 0}, {}}); // refused
        s.finish(s.conv(s.b.unary(Op::Relu, y), 4, 2));
        const auto hasLastImage = [](const Node& node) {
            const auto* conv = std::get_if<ConvAttrs>(&node.attrs);
            return conv != nullptr && conv->imageLast;
        };
        const Graph last = storeChannelsLast(s.graph, takesNoStrides);
        QCOMPARE(count(last, hasLastImage), 0);
        QCOMPARE(count(last, isLast), 3); // the output of the last one
        QCOMPARE(QString::fromStdString(differenceOf(s.graph, last, s.leaves)), QString());
        QVERIFY(count(storeChannelsLast(s.graph, takesAll), hasLastImage) > 0);
    }

    /// Where each image between convolutions is read by others, transposing them costs more.
    void worthIt() {
        Step s;
        const NodeId y = s.b.unary(Op::Relu, s.conv(s.input({3, 2, 8, 8}), 4, 3));
        const Shape shape = s.b.shapeOf(y);
        s.finish(s.b.matmul(s.b.reshape(y, {3, shape.elements() / 3}),
                            s.parameter({shape.elements() / 3, 2})));
        QCOMPARE(count(storeChannelsLast(s.graph, takesAll), isLast), 0);
        const Graph last = storeChannelsLast(s.graph, takesAll, kAny);
        QVERIFY(count(last, isLast) > 0);
        QCOMPARE(QString::fromStdString(differenceOf(s.graph, last, s.leaves)), QString());
    }

    /// States, inputs and outputs keep their layout, and nodes their causes.
    void whatStays() {
        Step s;
        s.b.setLabel("layer 1");
        const NodeId y = s.conv(s.conv(s.input({3, 2, 8, 8}), 4, 3), 4, 3);
        s.graph.addOutput("y", y);
        s.finish(y);
        const Graph last = storeChannelsLast(s.graph, takesAll, kAny);
        QVERIFY(count(last, isLast) > 0);
        QCOMPARE(last[last.output("y")].shape.text(), s.graph[y].shape.text());
        for (NodeId id = 0; id < last.size(); ++id)
            if (isLast(last[id])) QCOMPARE(last[id].cause.label, std::string("layer 1"));
        QCOMPARE(QString::fromStdString(differenceOf(s.graph, last, s.leaves)), QString());
    }
};

} // namespace tst_channels_last

QTEST_GUILESS_MAIN(tst_channels_last::TestChannelsLast)
#include "tst_channels_last.moc"
