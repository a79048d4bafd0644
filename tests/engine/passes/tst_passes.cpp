// Fusion and the memory plan: hand-made graphs for what must be grouped, random graphs for what
// must never go wrong.
#include "engine/ops/op_info.h"
#include "tests/support/random_graph.h"
#include "tests/support/run_program.h"

#include "engine/passes/fuse.h"
#include "engine/passes/plan.h"

#include <QtTest>

#include <cmath>
#include <set>

namespace tst_passes {

using namespace halfscope;

class TestPasses : public QObject {
    Q_OBJECT
private slots:
    void loadKinds();
    void reduceKinds();
    void chainIsOneKernel();
    void normalizationReadsItsInputOncePerPass();
    void sumsOfChannelsJoinTheirLoop();
    void valuesByChannelChooseLongRows();
    void expensiveSharedValueIsStored();
    void stateWritersComeLast();
    void nextValueThatIsReadIsWrittenApart();
    void resultTakesThePlaceOfADyingInput();
    void stateStaysWhileItIsReadInAnotherOrder();
    void loadOfAnotherOrderStays();
    void nextValueThatIsReadAgainWaits();
    void updatesWriteOverTheirStates();
    void randomPlansAreSound_data() { seeds(); }
    void randomPlansAreSound();
    void randomGraphsAgreeBitForBit_data() { seeds(); }
    void randomGraphsAgreeBitForBit();
    void brokenPlanIsFound();
    void lostValueIsFound();
    void peakIsTheMostAtOnce();
    void brokenOverlayIsFound();
    void missingLoadIsFound();
    void smallValuesKeepApart_data();
    void smallValuesKeepApart();

private:
    static void seeds() {
        QTest::addColumn<quint64>("seed");
        for (quint64 seed = 1; seed <= 60; ++seed)
            QTest::addRow("seed %llu", seed) << seed;
    }
};

void TestPasses::loadKinds() {
    const Shape space{4, 3, 5};
    QCOMPARE(loadKind(space, 1, {15, 5, 1}), LoadKind::Full);
    QCOMPARE(loadKind(space, 1, {0, 5, 1}), LoadKind::Row);
    QCOMPARE(loadKind(space, 2, {3, 1, 0}), LoadKind::Column);
    QCOMPARE(loadKind(space, 2, {0, 0, 1}), LoadKind::Row);
    QCOMPARE(loadKind(space, 1, {0, 0, 0}), LoadKind::Scalar);
    QCOMPARE(loadKind(space, 1, {0, 1, 0}), LoadKind::Strided);
    QCOMPARE(loadKind({1, 3}, 1, {0, 1}), LoadKind::Full);
    constexpr int64_t kWide = int64_t{1} << 32; // a stride times the columns is 2^64 or more
    QCOMPARE(loadKind({2, 2, kWide}, 2, {2, 1, 0}), LoadKind::Column);
    QCOMPARE(loadKind({2, 2, kWide}, 2, {2 + kWide, 1, 0}), LoadKind::Strided);
    QCOMPARE(loadKind({2, 2, 0}, 2, {2, 1, 0}), LoadKind::Column);
}

void TestPasses::reduceKinds() {
    const Shape space{4, 3, 5};
    QCOMPARE(reduceKind(space, 1, {0}), ReduceKind::Rows);
    QCOMPARE(reduceKind(space, 2, {0, 1}), ReduceKind::Rows);
    QCOMPARE(reduceKind(space, 2, {2}), ReduceKind::Columns);
    QCOMPARE(reduceKind(space, 0, {0, 1, 2}), ReduceKind::All);
    QCOMPARE(reduceKind(space, 1, {1}), ReduceKind::Other);
    QCOMPARE(reduceKind(space, 2, {0, 2}), ReduceKind::Channels);
    QCOMPARE(reduceKind(space, 1, {0, 2}), ReduceKind::Other);
    QCOMPARE(reduceKind(space, 2, {1, 2}), ReduceKind::Other); // the second axis is in the rows
    QCOMPARE(reduceKind({6, 4, 3, 5}, 2, {0, 2, 3}), ReduceKind::Channels);
    QCOMPARE(reduceKind({6, 4, 3, 5}, 3, {0, 3}), ReduceKind::Channels);
    QCOMPARE(reduceKind({6, 4, 3, 5}, 3, {0, 2, 3}), ReduceKind::Other);
    QCOMPARE(reduceKind({1, 3, 5}, 2, {0, 2}), ReduceKind::Columns);
    QCOMPARE(reduceKind({4, 3, 1}, 1, {0, 2}), ReduceKind::Rows);
    QCOMPARE(reduceKind({4, 3, 1}, 2, {0, 2}), ReduceKind::Other); // rows of one column
}

void TestPasses::chainIsOneKernel() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {8, 16}, DType::F16);
    const NodeId v = b.input("v", {16}, DType::F32);
    const NodeId y = b.mul(b.add(b.cast(x, DType::F32), b.expand(v, {8, 16})),
                           b.constant(3, {8, 16}, DType::F32));
    graph.addOutput("y", b.cast(b.unary(Op::Relu, y), DType::F16));
    const std::vector<Kernel> kernels = fuse(graph, FuseOptions::Full);
    QCOMPARE(kernels.size(), size_t{1});
    QCOMPARE(kernels[0].stores.size(), size_t{1});
    QCOMPARE(kernels[0].split, 1);
    QVERIFY(fuse(graph, FuseOptions::None).size() >= 5);
}

void TestPasses::normalizationReadsItsInputOncePerPass() {
    // First the mean; then sums of squares and of values about the mean share one pass; then the
    // result.
    Graph graph;
    Builder b(graph);
    const Shape shape{64, 8};
    const NodeId x = b.input("x", shape, DType::F32);
    const NodeId centred = b.sub(x, b.expand(b.mean(x, {0}), shape));
    const NodeId variance = b.mean(b.mul(centred, centred), {0});
    const NodeId third = b.mean(b.mul(b.mul(centred, centred), centred), {0});
    graph.addOutput("y", b.mul(centred, b.expand(b.unary(Op::Rsqrt, variance), shape)));
    graph.addOutput("third", third);
    int big = 0;
    for (const Kernel& kernel : fuse(graph, FuseOptions::Full))
        if (kernel.space == shape) ++big;
    QCOMPARE(big, 3);
}

/// Where loops can sum channels, a batch norm takes three passes over its images, and stores none
/// of their squares; elsewhere each sum is a kernel of its own.
void TestPasses::sumsOfChannelsJoinTheirLoop() {
    Graph graph;
    Builder b(graph);
    const Shape shape{6, 4, 8, 8};
    const NodeId x = b.cast(b.input("x", shape, DType::F16), DType::F32);
    const NodeId centred = b.sub(x, b.expand(b.mean(x, {0, 2, 3}), shape));
    const NodeId variance = b.mean(b.mul(centred, centred), {0, 2, 3});
    graph.addOutput("y", b.mul(centred, b.expand(b.unary(Op::Rsqrt, variance), shape)));
    const std::vector<Kernel> together = fuse(graph, FuseOptions::Full, true);
    int passes = 0, stored = 0;
    for (const Kernel& kernel : together) {
        if (!(kernel.space == shape)) continue;
        ++passes;
        QCOMPARE(kernel.split, 2);
        for (NodeId id : kernel.stores)
            stored += graph[id].shape == shape ? 1 : 0;
    }
    QCOMPARE(passes, 3);
    QCOMPARE(stored, 1);
    for (const Kernel& kernel : fuse(graph, FuseOptions::Full))
        for (NodeId id : kernel.members)
            QVERIFY(!kernel.loop || graph[id].op != Op::Mean);
}

/// A row of the loop is as long as a value of a channel stays the same, unless that is no whole
/// number of vectors; a device whose loops gather such values has rows of one element.
void TestPasses::valuesByChannelChooseLongRows() {
    const auto splitOf = [](const Shape& shape, const Shape& values, bool channelSums) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", shape, DType::F32);
        const NodeId value = b.input("value", values, DType::F32);
        graph.addOutput("y", b.mul(x, b.expand(value, shape)));
        const std::vector<Kernel> kernels = fuse(graph, FuseOptions::Full, channelSums);
        return kernels.size() == 1 ? kernels[0].split : -1;
    };
    QCOMPARE(splitOf({6, 4, 8, 8}, {1, 4, 1, 1}, true), 2);
    QCOMPARE(splitOf({6, 4, 8, 8}, {1, 4, 1, 1}, false), 4);
    QCOMPARE(splitOf({6, 4, 7, 7}, {1, 4, 1, 1}, true), 4);
    QCOMPARE(splitOf({6, 4, 63, 63}, {1, 4, 1, 1}, true), 2); // few of the vectors are not whole
    QCOMPARE(splitOf({6, 4, 8, 8}, {1, 4, 8, 1}, true), 4);
    QCOMPARE(splitOf({6, 4, 8, 16}, {1, 4, 8, 1}, true), 3);
    QCOMPARE(splitOf({6, 4, 8, 8}, {6, 1, 1, 1}, true), 1);
    QCOMPARE(splitOf({6, 4, 8, 8}, {6, 1, 1, 1}, false), 1);
}

void TestPasses::expensiveSharedValueIsStored() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {400, 400}, DType::F32);
    const NodeId dear = b.unary(Op::Tanh, b.unary(Op::Exp, x));
    const NodeId cheap = b.add(x, x);
    for (NodeId value : {dear, cheap}) {
        const NodeId sum = b.sum(value, {0});
        graph.addOutput("s" + std::to_string(value), b.mul(value, b.expand(sum, {400, 400})));
    }
    bool dearStored = false, cheapStored = false;
    for (const Kernel& kernel : fuse(graph, FuseOptions::Full))
        for (NodeId id : kernel.stores) {
            dearStored = dearStored || id == dear;
            cheapStored = cheapStored || id == cheap;
        }
    QVERIFY(dearStored);
    QVERIFY(!cheapStored);
}

void TestPasses::stateWritersComeLast() {
    Graph graph;
    Builder b(graph);
    const NodeId w = b.state("w", {32, 32}, DType::F32, StateRole::Parameter);
    const NodeId x = b.input("x", {32, 32}, DType::F32);
    graph.setNext(w, b.sub(w, x));
    graph.addOutput("y", b.matmul(x, w));
    const Program program = compile(graph);
    QCOMPARE(program.pointOfNoReturn, program.kernels.size() - 1);
    const NodeId next = program.graph.states()[0].next, state = program.graph.states()[0].node;
    QCOMPARE(program.memory.offset[static_cast<size_t>(next)],
             program.memory.offset[static_cast<size_t>(state)]);
}

/// Written in the state's place, it would end the time in which the step can be given up.
void TestPasses::nextValueThatIsReadIsWrittenApart() {
    Graph graph;
    Builder b(graph);
    const NodeId w = b.state("w", {32, 32}, DType::F32, StateRole::Parameter);
    const NodeId x = b.input("x", {32, 32}, DType::F32);
    const NodeId next = b.sub(w, x);
    graph.setNext(w, next);
    graph.addOutput("y", b.matmul(x, next));
    const Program program = compile(graph);
    QCOMPARE(program.pointOfNoReturn, program.kernels.size());
    QVERIFY(program.memory.offset[static_cast<size_t>(program.graph.states()[0].next)] !=
            program.memory.offset[static_cast<size_t>(program.graph.states()[0].node)]);
}

void TestPasses::resultTakesThePlaceOfADyingInput() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {64, 64}, DType::F32);
    const NodeId product = b.matmul(x, x);
    const NodeId y = b.unary(Op::Relu, product);
    graph.addOutput("y", b.matmul(y, x));
    const Program program = compile(graph);
    // x, one product with relu in its place, and the output.
    QCOMPARE(program.memory.arenaBytes, size_t{3 * 64 * 64 * 4});
    QCOMPARE(program.memory.peakBytes, program.memory.arenaBytes);
}

/// Through a view the kernel does not name the state itself, but still reads it.
void TestPasses::stateStaysWhileItIsReadInAnotherOrder() {
    Graph graph;
    Builder b(graph);
    const NodeId s = b.state("s", {2, 8}, DType::F32, StateRole::Counter);
    graph.setNext(s, b.scale(b.transpose(b.reshape(s, {8, 2}), {1, 0}), 2));
    const Program program = compile(graph);
    checkPlan(program.graph, program.kernels, program.memory);
    RefTensor values{{2, 8}, {}};
    for (int i = 0; i < 16; ++i)
        values.values.push_back(i);
    const auto got = test::runSteps(graph, {{s, values}}, FuseOptions::Full, 1, 1).at("s");
    for (size_t i = 0; i < got.size(); ++i)
        QCOMPARE(got[i], 2.0 * static_cast<double>(i % 8 * 2 + i / 8));
}

/// Two transposes in one loop, where one's operand is computed from the other's by a single
/// operation: it is read at other indices, so computing it again does not save its load.
void TestPasses::loadOfAnotherOrderStays() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {5, 5}, DType::F32);
    const NodeId y = b.unary(Op::Tanh, x), minusY = b.neg(y);
    graph.addOutput("y", b.transpose(y, {1, 0}));
    graph.addOutput("minus y", b.transpose(minusY, {1, 0}));
    const Program program = compile(graph);
    checkPlan(program.graph, program.kernels, program.memory);
    RefTensor values{{5, 5}, {}};
    for (int i = 0; i < 25; ++i)
        values.values.push_back(i - 8);
    const auto got = test::runSteps(graph, {{x, values}}, FuseOptions::Full, 1, 1);
    for (size_t i = 0; i < 25; ++i) {
        const double wanted = std::tanh(values.values[i % 5 * 5 + i / 5]);
        QVERIFY(std::fabs(got.at("y")[i] - wanted) <= 0x1p-23);
        QCOMPARE(got.at("minus y")[i], -got.at("y")[i]);
    }
}

/// Written in place of its state it would be overwritten before the product reads it, and from then
/// on a step could not be given up.
void TestPasses::nextValueThatIsReadAgainWaits() {
    Graph graph;
    Builder b(graph);
    const NodeId s = b.state("s", {8, 8}, DType::F32, StateRole::Parameter);
    const NodeId next = b.shift(s, 1);
    graph.setNext(s, next);
    graph.addOutput("y", b.matmul(next, next));
    const Program program = compile(graph);
    QCOMPARE(program.kernels.size(), size_t{2});
    QCOMPARE(program.pointOfNoReturn, size_t{2});
    const RefTensor zeros{{8, 8}, std::vector<double>(64, 0.0)};
    const auto got = test::runSteps(graph, {{s, zeros}}, FuseOptions::Full, 1, 3);
    QCOMPARE(got.at("s").front(), 3.0);
    QCOMPARE(got.at("y").front(), 72.0);
}

/// A norm of the gradient, for which a scalar waits, does not fuse with the moments' update: the
/// moments would have to be copied at the end.
void TestPasses::updatesWriteOverTheirStates() {
    const Shape shape{256, 128};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", shape, DType::F32);
    const NodeId weight = b.state("weight", shape, DType::F32, StateRole::Parameter);
    const NodeId moment = b.state("moment", shape, DType::F32, StateRole::Moment);
    const NodeId norm = b.reshape(b.sum(b.mul(x, x), {0, 1}), {});
    const NodeId average = b.add(moment, x);
    graph.setNext(moment, average);
    graph.setNext(weight, b.sub(weight, b.mul(b.expand(norm, shape), average)));
    graph.addOutput("norm", norm);
    const Program program = compile(graph);
    const std::vector<size_t>& offset = program.memory.offset;
    for (const StateInfo& state : program.graph.states())
        QVERIFY2(offset[static_cast<size_t>(state.next)] == offset[static_cast<size_t>(state.node)],
                 state.name.c_str());
}

void TestPasses::randomPlansAreSound() {
    QFETCH(quint64, seed);
    const test::RandomGraph random(seed);
    for (FuseOptions fuse : {FuseOptions::Full, FuseOptions::None}) {
        const Program program = compile(random.graph(), {fuse});
        checkPlan(program.graph, program.kernels, program.memory);
        QVERIFY(program.memory.peakBytes <= program.memory.arenaBytes);
    }
}

void TestPasses::randomGraphsAgreeBitForBit() {
    QFETCH(quint64, seed);
    const test::RandomGraph random(seed);
    const auto none = test::runSteps(random.graph(), random.leaves(), FuseOptions::None, 1, 1);
    const auto full = test::runSteps(random.graph(), random.leaves(), FuseOptions::Full, 2, 1);
    std::vector<NodeId> wanted;
    std::vector<std::string> names;
    for (const OutputInfo& output : random.graph().outputs()) {
        wanted.push_back(output.node);
        names.push_back(output.name);
    }
    for (const StateInfo& state : random.graph().states()) {
        wanted.push_back(state.next);
        names.push_back(state.name);
    }
    const auto reference = evaluate(random.graph(), random.leaves(), wanted);
    for (size_t i = 0; i < wanted.size(); ++i) {
        QVERIFY2(full.at(names[i]) == none.at(names[i]), names[i].c_str());
        QVERIFY2(full.at(names[i]) == reference.at(wanted[i]).values, names[i].c_str());
    }
    const auto again = test::runSteps(random.graph(), random.leaves(), FuseOptions::Full, 1, 3);
    const auto unfusedAgain =
        test::runSteps(random.graph(), random.leaves(), FuseOptions::None, 2, 3);
    for (const std::string& name : names)
        QVERIFY2(again.at(name) == unfusedAgain.at(name), name.c_str());
}

void TestPasses::brokenPlanIsFound() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {16, 16}, DType::F32);
    const NodeId first = b.matmul(x, x);
    graph.addOutput("y", b.matmul(b.matmul(first, x), first));
    Program program = compile(graph);
    for (size_t& offset : program.memory.offset)
        if (offset != MemoryPlan::kNowhere) offset = 0;
    QVERIFY_THROWS_EXCEPTION(std::logic_error,
                             checkPlan(program.graph, program.kernels, program.memory));
}

/// Another kernel overwrites the value before its reader runs, and does not read it itself.
void TestPasses::lostValueIsFound() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {16, 16}, DType::F32), w = b.input("w", {16, 16}, DType::F32);
    const NodeId kept = b.matmul(x, x), other = b.matmul(w, w);
    graph.addOutput("y", b.matmul(kept, other));
    Program program = compile(graph);
    checkPlan(program.graph, program.kernels, program.memory);
    const NodeId first = program.kernels[0].stores.front(),
                 second = program.kernels[1].stores.front();
    program.memory.offset[static_cast<size_t>(second)] =
        program.memory.offset[static_cast<size_t>(first)];
    QVERIFY_THROWS_EXCEPTION(std::logic_error,
                             checkPlan(program.graph, program.kernels, program.memory));
}

void TestPasses::peakIsTheMostAtOnce() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {64, 64}, DType::F32);
    const NodeId square = b.matmul(x, x), product = b.matmul(square, square);
    graph.addOutput("sum", b.matmul(b.sum(product, {0}), b.sum(x, {1})));
    const Program program = compile(graph);
    constexpr size_t kMatrix = 64 * 64 * 4;
    QVERIFY(program.memory.peakBytes >= 3 * kMatrix); // x and both products; x alone at the end
    QVERIFY(program.memory.peakBytes < 4 * kMatrix);
}

/// A result lies in place of an operand that its kernel reads in another order.
void TestPasses::brokenOverlayIsFound() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {4, 8}, DType::F32);
    const NodeId product = b.reshape(b.matmul(x, x, {.transposeA = true}), {8, 8});
    graph.addOutput("y", b.unary(Op::Relu, b.transpose(product, {1, 0})));
    Program program = compile(graph);
    checkPlan(program.graph, program.kernels, program.memory);
    const NodeId y = program.graph.output("y"), read = program.kernels.back().loads.front();
    program.memory.offset[static_cast<size_t>(y)] =
        program.memory.offset[static_cast<size_t>(read)];
    QVERIFY_THROWS_EXCEPTION(std::logic_error,
                             checkPlan(program.graph, program.kernels, program.memory));
}

/// A loop reads a value that the plan was not told of: it could be overwritten before.
void TestPasses::missingLoadIsFound() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {4, 8}, DType::F32), y = b.input("y", {4, 8}, DType::F32);
    graph.addOutput("sum", b.add(x, y));
    Program program = compile(graph);
    checkPlan(program.graph, program.kernels, program.memory);
    program.kernels.front().loads.pop_back();
    QVERIFY_THROWS_EXCEPTION(std::logic_error,
                             checkPlan(program.graph, program.kernels, program.memory));
}

void TestPasses::smallValuesKeepApart_data() {
    QTest::addColumn<int>("rows"); // and columns of the values beside the largest, 64 KiB
    QTest::addColumn<int>("columns");
    QTest::addColumn<quint64>("apartBytes");
    QTest::addColumn<bool>("apart");
    QTest::newRow("a thousandth of the largest") << 4 << 4 << quint64{0} << true;
    QTest::newRow("more than that") << 3 << 6 << quint64{0} << false;
    QTest::newRow("as asked for") << 32 << 32 << quint64{4096} << true;
    QTest::newRow("more than asked for") << 25 << 41 << quint64{4096} << false;
}

/// In a chain each value dies when the next one comes, but small values share no bytes. Those that
/// lie in place of their operand may, unless they are asked not to.
void TestPasses::smallValuesKeepApart() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    QFETCH(quint64, apartBytes);
    QFETCH(bool, apart);
    Graph graph;
    Builder b(graph);
    b.input("largest", {128, 128}, DType::F32);
    NodeId last = b.input("x", {rows, columns}, DType::F32);
    std::vector<NodeId> values{last};
    for (int i = 0; i < 6; ++i) {
        values.push_back(b.transpose(last, {1, 0}));
        last = b.unary(Op::Tanh, values.back());
        if (apartBytes > 0) values.push_back(last);
    }
    graph.addOutput("last", last);
    const std::vector<Kernel> kernels = fuse(graph, FuseOptions::None);
    size_t pointOfNoReturn = 0;
    const MemoryPlan plan = planMemory(graph, kernels, pointOfNoReturn, apartBytes);
    checkPlan(graph, kernels, plan);
    std::set<size_t> places;
    for (const NodeId id : values)
        places.insert(plan.offset[static_cast<size_t>(id)]);
    QCOMPARE(places.size() == values.size(), apart);
}

} // namespace tst_passes

QTEST_GUILESS_MAIN(tst_passes::TestPasses)
#include "tst_passes.moc"
