// Functions and their gradients where definitions matter: ties, kinks, bounds, infinities and NaN,
// as in PyTorch, by the reference and by the CPU executor, fused and unfused.
#include "engine/ops/op_info.h"
#include "engine/passes/autodiff.h"
#include "tests/support/run_program.h"
#include "tests/support/torch_limits.h"

#include <QTest>

#include <cmath>

namespace tst_torch_limits {

using namespace halfscope;
using test::TorchLimit;

namespace {

/// The row as a graph with outputs y and dx0, dx1, ...
struct LimitGraph {
    Graph graph;
    std::map<NodeId, RefTensor> leaves;
    std::map<std::string, std::vector<double>> wanted;

    explicit LimitGraph(const TorchLimit& row) {
        Builder b(graph);
        std::vector<NodeId> x;
        for (const RefTensor& tensor : row.in)
            x.push_back(leaf(b, "x" + std::to_string(x.size()), tensor));
        const NodeId y = row.emit(b, x);
        const NodeId dy = leaf(b, "dy", {b.shapeOf(y), row.dy});
        const auto dx = gradients(b, y, std::span(x).first(row.dx.size()), dy);
        graph.addOutput("y", y);
        wanted["y"] = row.y;
        for (size_t i = 0; i < dx.size(); ++i) {
            const std::string name = "dx" + std::to_string(i);
            graph.addOutput(name, dx[i].value());
            wanted[name] = row.dx[i];
        }
    }

private:
    NodeId leaf(Builder& b, const std::string& name, const RefTensor& tensor) {
        const NodeId id = b.input(name, tensor.shape, DType::F32);
        leaves[id] = tensor;
        return id;
    }
};

/// Returns the first value that is not PyTorch's, or nothing: inf must be the same, NaN must be
/// NaN, and numbers must be within the roundings of a few steps.
std::string firstWrong(const std::string& name, const std::vector<double>& got,
                       const std::vector<double>& wanted) {
    const double bound = 8 * formatOf(DType::F32).unitRoundoff();
    if (got.size() != wanted.size()) return name + ": another number of values";
    for (size_t i = 0; i < got.size(); ++i) {
        const double g = got[i], w = wanted[i];
        const bool same = g == w || (std::isnan(g) && std::isnan(w));
        if (!same && !(std::isfinite(w) && std::fabs(g - w) <= bound * std::fabs(w)))
            return name + "[" + std::to_string(i) + "] is " + std::to_string(g) + " instead of " +
                   std::to_string(w);
    }
    return {};
}

} // namespace

class TestTorchLimits : public QObject {
    Q_OBJECT

private slots:
    void asInPyTorch_data();
    void asInPyTorch();
    void droppedInfinityStaysVisible();
};

void TestTorchLimits::asInPyTorch_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < std::size(test::kTorchLimits); ++i)
        QTest::newRow(test::kTorchLimits[i].name.c_str()) << static_cast<int>(i);
}

void TestTorchLimits::asInPyTorch() {
    QFETCH(int, index);
    const LimitGraph limit(test::kTorchLimits[index]);
    for (const FuseOptions fuse : {FuseOptions::Full, FuseOptions::None}) {
        const auto got = test::runSteps(limit.graph, limit.leaves, fuse, 2, 1);
        for (const auto& [name, wanted] : limit.wanted) {
            const std::string wrong = firstWrong(name, got.at(name), wanted);
            QVERIFY2(wrong.empty(), wrong.c_str());
        }
    }
    for (const OutputInfo& output : limit.graph.outputs()) {
        const auto got = evaluate(limit.graph, limit.leaves, std::array{output.node});
        const std::string wrong =
            firstWrong(output.name, got.at(output.node).values, limit.wanted.at(output.name));
        QVERIFY2(wrong.empty(), ("reference " + wrong).c_str());
    }
}

/// PyTorch multiplies by the mask: inf times 0 is NaN, in the value and in the gradient, so that an
/// overflow behind a dropped value is not lost.
void TestTorchLimits::droppedInfinityStaysVisible() {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {64}, DType::F32), dy = b.input("dy", {64}, DType::F32);
    const NodeId counter = b.input("counter", {}, DType::I32);
    const NodeId y = fn::dropout(b, x, 0.5, counter, 1);
    graph.addOutput("y", y);
    graph.addOutput("dx", gradients(b, y, std::array{x}, dy)[0].value());
    const RefTensor infinite{{64}, std::vector<double>(64, kInf)};
    const auto got = test::runSteps(graph, {{x, infinite}, {dy, infinite}, {counter, {{}, {3}}}},
                                    FuseOptions::Full, 1, 1);
    int dropped = 0;
    for (size_t i = 0; i < 64; ++i) {
        QVERIFY(std::isnan(got.at("y")[i]) || got.at("y")[i] == kInf);
        QCOMPARE(std::isnan(got.at("dx")[i]), std::isnan(got.at("y")[i]));
        dropped += std::isnan(got.at("y")[i]);
    }
    QVERIFY(dropped > 0 && dropped < 64);
}

} // namespace tst_torch_limits

QTEST_GUILESS_MAIN(tst_torch_limits::TestTorchLimits)
#include "tst_torch_limits.moc"
