// Machine code of fused loops: every op, type and way to walk against the interpreted loops, bit
// for bit; more values than registers; whole kernels of random and of normalising graphs.
#include "tests/support/random_graph.h"

#include "engine/core/thread_pool.h"
#include "engine/cpu/loop.h"
#include "engine/ops/functional.h"
#include "engine/train/fields.h"
#include "engine/train/trainer.h"

#include <QtTest>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace halfscope;

namespace {

using Walk = VectorPlace::Walk;

constexpr Op kOps[] = {Op::Add,      Op::Sub,        Op::Mul,         Op::Div,        Op::Maximum,
                       Op::Minimum,  Op::Neg,        Op::Abs,         Op::Relu,       Op::Sqrt,
                       Op::Rsqrt,    Op::Reciprocal, Op::Less,        Op::LessEqual,  Op::Equal,
                       Op::NotEqual, Op::LogicalAnd, Op::LogicalOr,   Op::LogicalNot, Op::IsFinite,
                       Op::Where,    Op::Cast,       Op::StopGradient};

/// Values at which ops differ: zeros, limits and steps of each type, NaN, ties of the roundings.
std::vector<float> specialValues() {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    std::vector<float> values{0,
                              1,
                              1.5f,
                              3,
                              65504,
                              65519.9f,
                              65520,
                              6e-8f,
                              2.9e-8f,
                              6.1e-5f,
                              1e-40f,
                              3e38f,
                              1e-20f,
                              2.0009766f,
                              1.0039f,
                              1.00390625f,
                              1.01171875f,
                              0.1f,
                              kInf,
                              7.25f,
                              1e10f,
                              std::numeric_limits<float>::quiet_NaN(),
                              std::bit_cast<float>(0x7FFFFFFFU), // rounding its bits would overflow
                              std::bit_cast<float>(0x7F800001U), // cut to 16 bits: infinity

                              std::numeric_limits<float>::denorm_min(),
                              std::numeric_limits<float>::max()};
    const size_t positive = values.size();
    for (size_t i = 0; i < positive; ++i)
        values.push_back(-values[i]);
    return values;
}

bool sameFloat(float a, float b) {
    return (std::isnan(a) && std::isnan(b)) ||
           std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

/// "element 3 is 1.5, expected 2", or nothing.
QByteArray difference(std::span<const float> got, std::span<const float> expected) {
    for (size_t i = 0; i < expected.size(); ++i)
        if (!sameFloat(got[i], expected[i]))
            return QString("element %1 is %2, expected %3")
                .arg(i)
                .arg(static_cast<double>(got[i]), 0, 'g', 9)
                .arg(static_cast<double>(expected[i]), 0, 'g', 9)
                .toUtf8();
    return {};
}

VectorPlace scratchAt(size_t element, Walk walk = Walk::Elements) {
    return {true, element * sizeof(float), DType::F32, walk};
}
VectorPlace arenaAt(size_t offset, DType dtype) { return {false, offset, dtype, Walk::Elements}; }

VectorStep step(Op op, std::vector<VectorPlace> in, VectorPlace out, DType rounded = DType::F32) {
    VectorStep result;
    result.op = op;
    result.inputs = static_cast<int>(in.size());
    std::copy(in.begin(), in.end(), result.in);
    result.out = out;
    result.rounded = rounded;
    return result;
}

/// The values of one tensor as floats.
std::vector<float> floatsAt(const std::vector<std::byte>& arena, size_t offset, const Node& node) {
    std::vector<float> values(static_cast<size_t>(node.elements()));
    loadAsFloat(node.dtype, arena.data() + offset, values.data(), values.size());
    return values;
}

} // namespace

class TestVectorLoop : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
#ifdef HALFSCOPE_XBYAK
        QCOMPARE(VectorLoop::available(), __builtin_cpu_supports("avx512f") != 0);
        if (!VectorLoop::available()) QSKIP("this machine has no AVX-512: loops are interpreted");
#else
        QVERIFY(!VectorLoop::available());
        QSKIP("this build has no Xbyak: loops are interpreted");
#endif
    }
    void ops_data();
    void ops();
    void storage_data();
    void storage();
    void moreValuesThanRegisters();
    void columnsAndSums();
    void unwantedScratchIsNotWritten();
    void randomKernels();
    void normalisation_data();
    void normalisation();
    void valuesByRow_data();
    void valuesByRow();
    void valuesByRowJoinOneSection();
    void valuesByRowKeepTheirPlace();
    void trainingStepIsCompiled_data();
    void trainingStepIsCompiled();
    void refusedPagesAreNoFault();

private:
    static void compareKernels(const Graph&, int& vectors);
};

void TestVectorLoop::ops_data() {
    QTest::addColumn<int>("op");
    QTest::addColumn<int>("rounded");
    for (Op op : kOps)
        for (DType rounded : {DType::F32, DType::F16, DType::BF16})
            QTest::addRow("%s to %s", std::string(nameOf(op)).c_str(),
                          std::string(nameOf(rounded)).c_str())
                << int(op) << int(rounded);
}

void TestVectorLoop::ops() {
    QFETCH(int, op);
    QFETCH(int, rounded);
    const OpInfo& info = infoOf(static_cast<Op>(op));
    const std::vector<float> special = specialValues();
    const auto arity = static_cast<size_t>(info.arity);
    const size_t n = special.size() * special.size() / 16 * 16;
    std::vector<float> scratch(4 * n), expected(n);
    for (size_t i = 0; i < n; ++i) {
        scratch[i] = special[i % special.size()];
        scratch[n + i] = special[i / special.size()];
        scratch[2 * n + i] = static_cast<float>(i);
    }
    std::vector<VectorPlace> in;
    LoopArgs args;
    for (size_t i = 0; i < arity; ++i) {
        in.push_back(scratchAt(i * n));
        args.in[i] = scratch.data() + i * n;
    }
    const std::vector steps{
        step(static_cast<Op>(op), in, scratchAt(3 * n), static_cast<DType>(rounded))};
    QVERIFY(VectorLoop::supports(steps[0]));
    const size_t wanted[] = {3 * n * sizeof(float)};
    const auto loop = VectorLoop::compile(steps, wanted);
    QVERIFY(loop != nullptr);
    args.out = expected.data();
    args.n = n;
    info.loop(args);
    roundInPlace(static_cast<DType>(rounded), expected.data(), n);
    loop->run(nullptr, scratch.data(), 0, 0, 1, static_cast<int64_t>(n));
    QCOMPARE(difference(std::span(scratch).last(n), expected), QByteArray());
}

void TestVectorLoop::storage_data() {
    QTest::addColumn<int>("dtype");
    for (DType dtype : {DType::F16, DType::BF16})
        QTest::addRow("%s", std::string(nameOf(dtype)).c_str()) << int(dtype);
}

/// Every 16-bit pattern is loaded, and floats around each are stored, from an element on that is
/// not the first.
void TestVectorLoop::storage() {
    QFETCH(int, dtype);
    const auto type = static_cast<DType>(dtype);
    constexpr size_t kCount = 1 << 16;
    constexpr int64_t kFirst = 32;
    std::vector<std::byte> arena((kCount + kFirst) * 2 * sizeof(uint16_t));
    const size_t second = (kCount + kFirst) * sizeof(uint16_t);
    for (size_t i = 0; i < kCount; ++i) {
        const auto bits = static_cast<uint16_t>(i);
        std::memcpy(arena.data() + (kFirst + i) * sizeof bits, &bits, sizeof bits);
    }
    std::vector<float> scratch(2 * kCount), loaded(kCount);
    // A factor a little above 1 moves values to where the store has to round.
    const float factor = 1.0F + std::ldexp(3.0F, -12);
    std::fill_n(scratch.data() + kCount, 16, factor);
    const std::vector steps{
        step(Op::Cast, {arenaAt(0, type)}, scratchAt(0)),
        step(Op::Mul, {scratchAt(0), scratchAt(kCount, Walk::Still)}, scratchAt(0)),
        step(Op::Cast, {scratchAt(0)}, arenaAt(second, type)),
    };
    const auto loop = VectorLoop::compile(steps, {});
    QVERIFY(loop != nullptr);
    loop->run(arena.data(), scratch.data(), kFirst, 0, 1, kCount);
    loadAsFloat(type, arena.data() + kFirst * 2, loaded.data(), kCount);
    for (float& value : loaded)
        value *= factor;
    roundInPlace(type, loaded.data(), kCount);
    std::vector<float> stored(kCount);
    loadAsFloat(type, arena.data() + second + kFirst * 2, stored.data(), kCount);
    QCOMPARE(difference(stored, loaded), QByteArray());
}

/// Squares that all wait for the end: some must go to scratch and come back. Their code outgrows
/// the first page, so that it moves while it is written.
void TestVectorLoop::moreValuesThanRegisters() {
    constexpr size_t kValues = 400, kN = 48;
    std::vector<float> scratch((2 * kValues + 1) * kN);
    for (size_t i = 0; i < kValues * kN; ++i)
        scratch[i] = static_cast<float>(i % 97) - 40;
    std::vector<VectorStep> steps;
    for (size_t v = 0; v < kValues; ++v)
        steps.push_back(
            step(Op::Mul, {scratchAt(v * kN), scratchAt(v * kN)}, scratchAt((kValues + v) * kN)));
    const VectorPlace sum = scratchAt(2 * kValues * kN);
    steps.push_back(step(Op::Cast, {scratchAt(kValues * kN)}, sum));
    for (size_t v = 1; v < kValues; ++v)
        steps.push_back(step(Op::Sub, {scratchAt((kValues + v) * kN), sum}, sum));
    const size_t wanted[] = {sum.offset};
    const auto loop = VectorLoop::compile(steps, wanted);
    QVERIFY(loop != nullptr);
    loop->run(nullptr, scratch.data(), 0, 0, 3, kN / 3);
    for (size_t i = 0; i < kN; ++i) {
        float expected = scratch[i] * scratch[i];
        for (size_t v = 1; v < kValues; ++v)
            expected = scratch[v * kN + i] * scratch[v * kN + i] - expected;
        QVERIFY(scratch[2 * kValues * kN + i] == expected); // QCOMPARE would be fuzzy
    }
}

/// One value a column, one for all, and sums over the rows.
void TestVectorLoop::columnsAndSums() {
    constexpr size_t kRows = 5, kColumns = 32, kN = kRows * kColumns;
    std::vector<float> scratch(2 * kN + 3 * kColumns);
    for (size_t i = 0; i < scratch.size(); ++i)
        scratch[i] = 0.1F * static_cast<float>(i);
    const size_t row = 2 * kN, still = row + kColumns, sums = still + kColumns;
    std::fill_n(scratch.data() + still, 16, -3.0F);
    const std::vector before(scratch);
    const std::vector steps{
        step(Op::Add, {scratchAt(0), scratchAt(row, Walk::Columns)}, scratchAt(kN)),
        step(Op::Mul, {scratchAt(kN), scratchAt(still, Walk::Still)}, scratchAt(kN)),
        step(Op::Sum, {scratchAt(kN)}, scratchAt(sums, Walk::Columns)),
    };
    const size_t wanted[] = {kN * sizeof(float)};
    const auto loop = VectorLoop::compile(steps, wanted);
    QVERIFY(loop != nullptr);
    loop->run(nullptr, scratch.data(), 0, 0, kRows, kColumns);
    for (size_t c = 0; c < kColumns; ++c) {
        float sum = before[sums + c];
        for (size_t r = 0; r < kRows; ++r) {
            const float value = (before[r * kColumns + c] + before[row + c]) * -3.0F;
            QVERIFY(scratch[kN + r * kColumns + c] == value);
            sum += value;
        }
        QVERIFY(scratch[sums + c] == sum);
    }
}

/// What nobody reads stays in registers: this is what the code is for.
void TestVectorLoop::unwantedScratchIsNotWritten() {
    std::vector<float> scratch(48, 2.0F);
    const std::vector steps{step(Op::Add, {scratchAt(0), scratchAt(0)}, scratchAt(16)),
                            step(Op::Mul, {scratchAt(16), scratchAt(16)}, scratchAt(32))};
    const size_t wanted[] = {32 * sizeof(float)};
    const auto loop = VectorLoop::compile(steps, wanted);
    QVERIFY(loop != nullptr);
    loop->run(nullptr, scratch.data(), 0, 0, 1, 16);
    QCOMPARE(scratch[16], 2.0F);
    QCOMPARE(scratch[32], 16.0F);
}

/// Runs each loop of the program both ways over the same bytes and compares what it stores.
void TestVectorLoop::compareKernels(const Graph& graph, int& vectors) {
    const Program program = compile(graph);
    std::vector<uint32_t> words(program.memory.arenaBytes / sizeof(uint32_t));
    Philox(5, 6).fillUniform(std::span(reinterpret_cast<float*>(words.data()), words.size()), -2,
                             2);
    for (uint32_t& word : words)
        word = (word ^ word << 13) & 0xBBFFBBFFU; // finite in each type, whatever lies there
    std::vector<std::byte> before(words.size() * sizeof(uint32_t));
    std::memcpy(before.data(), words.data(), before.size());
    ThreadPool pool(2);
    const std::atomic<bool> never{false};
    for (const Kernel& kernel : program.kernels) {
        if (!kernel.loop) continue;
        std::vector<std::byte> results[2] = {before, before};
        for (LoopCode code : {LoopCode::Fastest, LoopCode::Interpreted}) {
            const CpuLoop loop(program.graph, kernel, program.memory, code);
            const size_t stride = (loop.scratchFloats() + 15) / 16 * 16;
            std::vector<float> scratch(2 * stride);
            std::vector<double> partials(loop.partialDoubles());
            loop.run(results[static_cast<size_t>(code)].data(), pool, scratch.data(), stride,
                     partials.data(), never);
            if (code == LoopCode::Fastest)
                vectors += loop.vectorSections();
            else
                QCOMPARE(loop.vectorSections(), 0);
        }
        for (NodeId id : kernel.stores) {
            const Node& node = program.graph[id];
            const size_t offset = program.memory.offset[static_cast<size_t>(id)];
            const auto a = floatsAt(results[0], offset, node),
                       b = floatsAt(results[1], offset, node);
            QCOMPARE(difference(a, b), QByteArray());
        }
    }
}

void TestVectorLoop::randomKernels() {
    constexpr uint64_t kSeeds = 60;
    int vectors = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
        compareKernels(test::RandomGraph(seed).graph(), vectors);
        if (QTest::currentTestFailed()) qInfo("seed %llu", static_cast<unsigned long long>(seed));
    }
    // in every second graph there is a loop that is worth the code
    QVERIFY2(vectors >= static_cast<int>(kSeeds / 2), QByteArray::number(vectors));
}

void TestVectorLoop::normalisation_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::addColumn<int>("dtype");
    for (int rows : {1, 7, 300})
        for (int columns : {2, 16, 20, 31, 48, 100, 256, 2064})
            for (DType dtype : {DType::F32, DType::F16, DType::BF16})
                QTest::addRow("%dx%d %s", rows, columns, std::string(nameOf(dtype)).c_str())
                    << rows << columns << int(dtype);
}

/// Forward and backward loops of a normalisation with relu: rows, sums over rows, masks, stores in
/// place.
void TestVectorLoop::normalisation() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    QFETCH(int, dtype);
    const Shape shape{rows, columns}, row{1, columns};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.cast(b.input("x", shape, static_cast<DType>(dtype)), DType::F32);
    const NodeId dy = b.cast(b.input("dy", shape, static_cast<DType>(dtype)), DType::F32);
    const NodeId weight = b.input("weight", row, DType::F32);
    const NodeId centred = b.sub(x, b.expand(b.mean(x, {0}), shape));
    const NodeId inverse = b.unary(Op::Rsqrt, b.shift(b.mean(b.mul(centred, centred), {0}), 1e-5));
    const NodeId normal = b.mul(centred, b.expand(inverse, shape));
    const NodeId y = b.unary(Op::Relu, b.mul(normal, b.expand(weight, shape)));
    const NodeId zero = b.constant(0, shape, DType::F32);
    const NodeId masked = b.where(b.emit(Op::LessEqual, {y, zero}), zero, dy);
    const NodeId back = b.sub(b.mul(masked, b.expand(inverse, shape)),
                              b.mul(normal, b.expand(b.sum(b.mul(masked, normal), {0}), shape)));
    graph.addOutput("y", b.cast(y, static_cast<DType>(dtype)));
    graph.addOutput("back", b.cast(back, static_cast<DType>(dtype)));
    graph.addOutput("sums", b.sum(back, {0}));
    graph.addOutput("all", b.sumAll(b.mul(back, back)));
    int vectors = 0;
    compareKernels(graph, vectors);
    // of one row the sums are no loops of their own, and few elements may be no whole vectors
    QVERIFY(vectors >= (rows > 1 ? 3 : 1));
}

void TestVectorLoop::valuesByRow_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::addColumn<int>("dtype");
    for (int rows : {2, 7, 300})
        for (int columns : {16, 48, 256, 260, 272, 2064})
            for (DType dtype : {DType::F32, DType::F16, DType::BF16})
                QTest::addRow("%dx%d %s", rows, columns, std::string(nameOf(dtype)).c_str())
                    << rows << columns << int(dtype);
}

/// One value a row, in code and in what is interpreted after it, beside sums of both directions.
void TestVectorLoop::valuesByRow() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    QFETCH(int, dtype);
    const Shape shape{rows, columns}, column{rows, 1};
    for (const bool interpretedToo : {false, true}) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", shape, DType::F32);
        const auto byRow = [&](const char* name) {
            const NodeId value = b.input(name, column, static_cast<DType>(dtype));
            return b.cast(b.expand(value, shape), DType::F32);
        };
        const NodeId first = byRow("first"), second = byRow("second");
        NodeId y = b.add(b.mul(x, first), b.mul(b.unary(Op::Relu, x), second));
        if (interpretedToo) y = b.add(y, b.unary(Op::Tanh, first));
        graph.addOutput("y", b.cast(y, static_cast<DType>(dtype)));
        graph.addOutput("rows", b.sum(b.mul(y, second), {0}));
        graph.addOutput("columns", b.sum(b.mul(y, x), {1}));
        int vectors = 0;
        compareKernels(graph, vectors);
        QVERIFY(vectors >= 1);
    }
}

/// Filled in beforehand they would part the operations before from those after.
void TestVectorLoop::valuesByRowJoinOneSection() {
    const Shape shape{64, 256};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", shape, DType::F32), c = b.input("c", {64, 1}, DType::F32);
    const NodeId before = b.add(b.mul(x, x), x);
    const NodeId after = b.mul(before, b.expand(c, shape));
    graph.addOutput("y", b.add(after, before));
    int vectors = 0;
    compareKernels(graph, vectors);
    QCOMPARE(vectors, 1);
}

/// With more values alive than there are registers, the first one goes to memory: not to where the
/// row's value lies, which the next columns still read.
void TestVectorLoop::valuesByRowKeepTheirPlace() {
    constexpr size_t kAlive = 40;
    const Shape shape{64, 256};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", shape, DType::F32), c = b.input("c", {64, 1}, DType::F32);
    std::vector<NodeId> values{b.mul(x, b.expand(c, shape))};
    while (values.size() < kAlive)
        values.push_back(b.add(values.back(), x));
    NodeId sum = values.back();
    for (size_t i = kAlive - 1; i-- > 0;)
        sum = b.add(sum, values[i]);
    graph.addOutput("y", sum);
    int vectors = 0;
    compareKernels(graph, vectors);
    QCOMPARE(vectors, 1);
}

void TestVectorLoop::trainingStepIsCompiled_data() {
    QTest::addColumn<QString>("lane");
    for (const char* lane : {"fp32", "amp-fp16", "amp-bf16"})
        QTest::addRow("%s", lane) << lane;
}

/// Interpreted loops give the same bits: only this can tell that the code is in use.
void TestVectorLoop::trainingStepIsCompiled() {
    QFETCH(QString, lane);
    const RunConfig config = presetNamed("checkerboard").config;
    const BatchShape batch = makeDataset(config)->shape();
    const Program program = compile(buildStep(config, parseLanes(lane.toStdString())[0], batch));
    const int64_t activations = batch.rows * config.model.width;
    int large = 0;
    for (const Kernel& kernel : program.kernels) {
        if (!kernel.loop || kernel.space.elements() < activations) continue;
        const CpuLoop loop(program.graph, kernel, program.memory);
        QVERIFY2(loop.vectorSections() > 0, kernel.space.text().c_str());
        ++large;
    }
    QVERIFY(large > config.model.depth); // each layer has some
}

#ifdef __linux__
namespace {

/// No pages to execute from here on, as on a hardened system; false where that cannot be had.
bool refuseExecutablePages() {
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog program{static_cast<unsigned short>(std::size(rules)), rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

} // namespace
#endif

void TestVectorLoop::refusedPagesAreNoFault() {
#ifdef __linux__
    enum Outcome { NotCompiled, Compiled, NotRefused, Threw };
    const std::vector steps{step(Op::Add, {scratchAt(0), scratchAt(0)}, scratchAt(16))};
    const pid_t child = fork(); // what is refused stays refused for the rest of a process
    if (child == 0) {
        Outcome outcome = NotRefused;
        try {
            if (refuseExecutablePages())
                outcome = VectorLoop::compile(steps, {}) ? Compiled : NotCompiled;
        } catch (...) {
            outcome = Threw;
        }
        _exit(outcome);
    }
    int status = 0;
    QCOMPARE(waitpid(child, &status, 0), child);
    QVERIFY(WIFEXITED(status));
    if (WEXITSTATUS(status) == NotRefused) QSKIP("this system does not let a process refuse");
    QCOMPARE(WEXITSTATUS(status), static_cast<int>(NotCompiled));
#else
    QSKIP("refusing needs Linux");
#endif
}

QTEST_GUILESS_MAIN(TestVectorLoop)
#include "tst_vector_loop.moc"
