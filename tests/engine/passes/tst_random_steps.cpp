// Random training steps: the stored values of the fused step have the bits that its nodes give one
// by one, these equal the reference's, no plan loses a value, states carry over from step to step,
// and gradients of random networks equal their differences.
#include "engine/ops/inspect.h"
#include "engine/ops/op_info.h"
#include "engine/passes/plan.h"
#include "tests/support/node_truth.h"
#include "tests/support/random_step.h"

#include <QTest>

#include <memory>
#include <set>

namespace tst_random_steps {

using namespace halfscope;
using test::RandomStep;

namespace {

/// The fused step's graph with every node an output, so that no two values share memory, and with
/// its fused sums taken from outside. Fused sums have an order of summation of their own, so
/// everything that follows from them is compared with the same sums as a start.
struct OneByOne {
    Graph graph;
    std::map<NodeId, NodeId> sums; ///< by fused sum: the input that replaces it
    std::vector<NodeId> renamed;   ///< by node of the fused step

    explicit OneByOne(const Program& fused) {
        const std::set<NodeId> fusedSums = sumsOf(fused);
        for (NodeId id = 0; id < fused.graph.size(); ++id) {
            Node node = fused.graph[id];
            for (NodeId& in : node.in)
                in = sums.contains(in) ? sums.at(in) : renamed[static_cast<size_t>(in)];
            node.cause.forward = kNoNode;
            renamed.push_back(graph.add(std::move(node)));
            if (fusedSums.contains(id)) sums[id] = addInput(fused.graph[id], id);
        }
        for (const InputInfo& input : fused.graph.inputs())
            graph.addInput({renamed[static_cast<size_t>(input.node)], input.name});
        for (const StateInfo& state : fused.graph.states())
            graph.addState({renamed[static_cast<size_t>(state.node)], kNoNode, state.name});
        for (NodeId id = 0; id < graph.size(); ++id)
            if (!infoOf(graph[id].op).flags.has(OpFlag::Leaf) || graph[id].op == Op::Constant)
                graph.addOutput("node" + std::to_string(id), id);
    }

private:
    static std::set<NodeId> sumsOf(const Program& fused) {
        std::set<NodeId> found;
        for (const Kernel& kernel : fused.kernels)
            for (const NodeId id : kernel.members)
                if (kernel.loop && infoOf(fused.graph[id].op).flags.has(OpFlag::Reduction))
                    found.insert(id);
        return found;
    }
    NodeId addInput(const Node& like, NodeId id) {
        Node node;
        node.op = Op::Input;
        node.shape = like.shape;
        node.dtype = like.dtype;
        const NodeId input = graph.add(std::move(node));
        graph.addInput({input, "sum" + std::to_string(id)});
        return input;
    }
};

bool sameBits(const Node& node, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    if (a == b) return true;
    const auto x = test::fromBytes(node, a), y = test::fromBytes(node, b);
    for (size_t i = 0; i < x.size(); ++i) {
        const bool nan = std::isnan(x[i]) && std::isnan(y[i]); // payloads may differ
        if (!nan && (x[i] != y[i] || std::signbit(x[i]) != std::signbit(y[i]))) return false;
    }
    return true;
}

/// Returns how many roundings in f32 an op's value may gather when it is neither exact to the last
/// bit nor bounded by NodeTruth; 0 for all others.
double roundingsOf(const Graph& graph, const Node& node) {
    switch (node.op) {
    case Op::Rsqrt: return 2;
    case Op::ScatterAdd: {
        const Shape& from = graph[node.in[0]].shape;
        return static_cast<double>(from[std::get<AxisAttrs>(node.attrs).axis]);
    }
    case Op::AvgPool2d:
    case Op::AvgPool2dGrad: {
        const auto& kernel = std::get<PoolAttrs>(node.attrs).kernel;
        return static_cast<double>(kernel[0] * kernel[1] + 1);
    }
    default: return 0;
    }
}

/// Evaluates the op in double on values as stored, or on their absolute values.
std::vector<double> referenceOf(const test::NodeTruth& truth, const Node& node, bool sizes) {
    const Graph& graph = truth.program().graph;
    std::vector<RefTensor> in;
    for (const NodeId id : node.in) {
        in.push_back({graph[id].shape, test::fromBytes(graph[id], truth.values().at(id))});
        if (sizes && isFloat(graph[id].dtype))
            for (double& v : in.back().values)
                v = std::fabs(v);
    }
    RefTensor out{node.shape, std::vector<double>(static_cast<size_t>(node.elements()))};
    infoOf(node.op).reference(in, node.attrs, out);
    return out.values;
}

/// Returns the first node of the unfused step that is neither its reference rounded once nor as
/// close to it as the roundings of its sums and functions allow; or nothing.
std::string wrongBesideReference(const test::NodeTruth& truth) {
    const Graph& graph = truth.program().graph;
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        if (node.in.empty()) continue;
        const std::vector<std::byte>& bytes = truth.values().at(id);
        if (const std::string wrong = truth.compare(id, bytes); !wrong.empty())
            return nodeText(graph, id) + ": " + wrong;
        const double roundings = roundingsOf(graph, node);
        const bool bounded = truth.isBounded(id);
        if (bounded) continue;
        const auto got = test::fromBytes(node, bytes), exact = referenceOf(truth, node, false);
        const auto sizes = roundings > 0 ? referenceOf(truth, node, true) : exact;
        for (size_t i = 0; i < got.size(); ++i) {
            const double want = roundTo(node.dtype, exact[i]);
            if (got[i] == want || (std::isnan(got[i]) && std::isnan(want))) continue;
            double bound = 0;
            if (roundings > 0) {
                const double sum = roundings * formatOf(DType::F32).unitRoundoff() * sizes[i];
                bound = sum + formatOf(node.dtype).unitRoundoff() * (std::fabs(exact[i]) + sum) +
                        formatOf(node.dtype).minSubnormal;
            }
            if (std::fabs(got[i] - exact[i]) <= bound) continue;
            return nodeText(graph, id) + ": element " + std::to_string(i) + " is " +
                   std::to_string(got[i]) + ", its reference " + std::to_string(exact[i]);
        }
    }
    return {};
}

/// Returns the first stored value of the fused step that differs from what its nodes give one by
/// one, or the first of those that differs from the reference; or nothing.
std::string wrongIn(const Program& fused, const test::Leaves& leaves,
                    const test::StoredValues& stored) {
    const OneByOne single(fused);
    test::Leaves given;
    for (const auto& [id, tensor] : leaves)
        given[single.renamed[static_cast<size_t>(id)]] = tensor;
    for (const auto& [sum, input] : single.sums)
        given[input] = {single.graph[input].shape,
                        test::fromBytes(single.graph[input], stored.at(sum))};
    const test::NodeTruth truth(single.graph, given);
    for (const auto& [id, bytes] : stored) {
        const NodeId at = single.renamed[static_cast<size_t>(id)];
        const std::string where = nodeText(fused.graph, id);
        if (!single.sums.contains(id)) {
            if (!sameBits(single.graph[at], bytes, truth.values().at(at))) return where + ": fused";
        } else if (const std::string wrong = truth.compare(at, bytes); !wrong.empty()) {
            return where + ", a fused sum: " + wrong;
        }
    }
    return wrongBesideReference(truth);
}

/// Returns the states after a step whose stored values are given.
test::Leaves afterStep(const Program& fused, test::Leaves leaves,
                       const test::StoredValues& stored) {
    for (const StateInfo& state : fused.graph.states())
        if (state.next != kNoNode)
            leaves[state.node].values =
                test::fromBytes(fused.graph[state.next], stored.at(state.next));
    return leaves;
}

/// Estimates d loss / d x at one element from differences with steps h and h/2, and how far the
/// better of the two may be off: by their difference, and by the rounding of the loss.
struct Difference {
    double value, error;
};
Difference differenceAt(const RandomStep& step, NodeId leaf, size_t element) {
    const auto lossAt = [&](double by) {
        test::Leaves moved = step.leaves();
        moved.at(leaf).values[element] += by;
        return test::valueOf(step.graph(), moved, step.loss(), RefRounding::None).values[0];
    };
    const double h = 0x1p-14; // where truncation and rounding balance: h^4 is near 2^-53 / h
    const double wide = (lossAt(h) - lossAt(-h)) / (2 * h);
    const double narrow = (lossAt(h / 2) - lossAt(-h / 2)) / h;
    return {(4 * narrow - wide) / 3,
            std::fabs(narrow - wide) + 100 * 0x1p-53 * (1 + std::fabs(lossAt(0))) / h};
}

} // namespace

class TestRandomSteps : public QObject {
    Q_OBJECT

private slots:
    void fusedIsOneByOne_data() { seeds(60); }
    void fusedIsOneByOne() { compareFused(RandomStep::Kind::Mixed, 30); }
    void largeStepIsOneByOne_data() { seeds(20); }
    void largeStepIsOneByOne() { compareFused(RandomStep::Kind::Large, 12); }
    void gradientsAreDifferences_data() { seeds(40); }
    void gradientsAreDifferences();

private:
    static void seeds(quint64 count) {
        QTest::addColumn<quint64>("seed");
        for (quint64 seed = 1; seed <= count; ++seed)
            QTest::addRow("seed %llu", seed) << seed;
    }
    static void compareFused(RandomStep::Kind kind, int operations);
    static test::Leaves renamed(const Program& program, const RandomStep& step) {
        test::Leaves leaves;
        for (const InputInfo& input : step.graph().inputs())
            leaves[program.graph.input(input.name)] = step.leaves().at(input.node);
        for (const StateInfo& state : step.graph().states())
            leaves[program.graph.state(state.name)] = step.leaves().at(state.node);
        return leaves;
    }
};

void TestRandomSteps::compareFused(RandomStep::Kind kind, int operations) {
    QFETCH(quint64, seed);
    const RandomStep step(seed, kind, operations);
    const auto fused =
        std::make_shared<const Program>(compile(step.graph(), {.channelSums = true}));
    checkPlan(fused->graph, fused->kernels, fused->memory);
    test::Leaves leaves = renamed(*fused, step);
    for (int i = 0; i < 2; ++i) {
        const test::StoredValues stored = test::valuesOnCpu(fused, leaves);
        const std::string wrong = wrongIn(*fused, leaves, stored);
        QVERIFY2(wrong.empty(), wrong.c_str());
        leaves = afterStep(*fused, std::move(leaves), stored);
    }
    const auto twoSteps = test::runSteps(step.graph(), step.leaves(), FuseOptions::Full, 3, 2);
    for (const StateInfo& state : fused->graph.states())
        QVERIFY2(twoSteps.at(state.name) == leaves.at(state.node).values, state.name.c_str());
}

void TestRandomSteps::gradientsAreDifferences() {
    QFETCH(quint64, seed);
    RandomStep step(seed, RandomStep::Kind::Double, 12);
    Builder b(step.graph());
    std::vector<NodeId> leaves;
    for (const auto& [id, tensor] : step.leaves())
        leaves.push_back(id);
    const auto slopes = gradients(b, step.loss(), leaves);
    int compared = 0;
    for (size_t i = 0; i < leaves.size(); ++i) {
        if (!slopes[i]) continue;
        const auto slope =
            test::valueOf(step.graph(), step.leaves(), *slopes[i], RefRounding::None).values;
        for (size_t at = 0; at < slope.size(); at += 1 + slope.size() / 3) {
            const Difference wanted = differenceAt(step, leaves[i], at);
            const std::string text = step.graph()[leaves[i]].cause.label + "[" +
                                     std::to_string(at) + "]: " + std::to_string(slope[at]) +
                                     ", difference " + std::to_string(wanted.value) + " +- " +
                                     std::to_string(wanted.error);
            QVERIFY2(std::fabs(slope[at] - wanted.value) <= wanted.error, text.c_str());
            ++compared;
        }
    }
    QVERIFY(compared > 0);
}

} // namespace tst_random_steps

QTEST_GUILESS_MAIN(tst_random_steps::TestRandomSteps)
#include "tst_random_steps.moc"
