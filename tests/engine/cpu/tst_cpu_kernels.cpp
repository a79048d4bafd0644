// The CPU kernels of convolution, pooling, reduction and movement, one op a row, compared with the
// reference: every dtype, odd sizes, bounds from the number of roundings, the same bits for any
// number of threads.
#include "engine/core/error.h"
#include "engine/core/vector_set.h"
#include "engine/cpu/conv_library.h"
#include "engine/cpu/cpu_kernels.h"
#include "engine/ops/op_info.h"
#include "tests/support/address_limit.h"
#include "tests/support/gradient_check.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/run_program.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <new>
#include <span>

#include <sys/mman.h>
#include <unistd.h>

namespace tst_cpu_kernels {

using namespace halfscope;
using halfscope::test::KernelRow;
using halfscope::test::kernelRows;
using halfscope::test::Leaves;

namespace {

constexpr uint64_t kSeed = 4117;

/// The row in one dtype, as a graph with random operands that are rounded to that dtype.
struct KernelGraph {
    Graph graph;
    Leaves leaves;
    NodeId out = kNoNode;

    KernelGraph(const KernelRow& row, DType dtype) {
        Builder b(graph);
        std::vector<NodeId> in;
        for (size_t i = 0; i < row.operands.size(); ++i) {
            const bool index = row.indices > 0 && i + 1 == row.operands.size();
            const DType type = index ? DType::I32 : dtype;
            const NodeId id = b.input("x" + std::to_string(i), row.operands[i], type);
            RefTensor tensor = test::randomTensor(row.operands[i], kSeed, i, index ? 0 : -1,
                                                  index ? static_cast<double>(row.indices) : 1);
            for (double& v : tensor.values)
                v = index ? std::floor(v) : roundTo(type, v);
            leaves[id] = std::move(tensor);
            in.push_back(id);
        }
        out = b.emit(row.op, in, row.attrs);
        graph.addOutput("out", out);
    }

    /// Returns the absolute values of all operands: the op's value for them bounds the sum of its
    /// terms' sizes.
    Leaves sizes() const {
        Leaves sized = leaves;
        for (auto& [id, tensor] : sized)
            for (double& v : tensor.values)
                v = std::fabs(v);
        return sized;
    }
};

/// Bytes at the very end of a mapping: touching what follows ends the program.
class Guarded {
public:
    explicit Guarded(size_t bytes) : m_size(bytes) {
        const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
        const size_t usable = (bytes + page - 1) / page * page;
        m_mapped = usable + page;
        void* const taken =
            ::mmap(nullptr, m_mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (taken == MAP_FAILED) throw std::bad_alloc();
        m_begin = static_cast<std::byte*>(taken);
        m_data = m_begin + usable - bytes;
        ::mprotect(m_begin + usable, page, PROT_NONE);
    }
    ~Guarded() { ::munmap(m_begin, m_mapped); }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;
    std::span<std::byte> bytes() const { return {m_data, m_size}; }

private:
    size_t m_size, m_mapped = 0;
    std::byte *m_begin = nullptr, *m_data = nullptr;
};

} // namespace

class TestCpuKernels : public QObject {
    Q_OBJECT

private slots:
    void kernel_data() {
        QTest::addColumn<int>("index");
        QTest::addColumn<int>("type");
        for (size_t i = 0; i < kernelRows().size(); ++i) {
            for (const DType type : {DType::F32, DType::F16, DType::BF16})
                QTest::addRow("%s %s", kernelRows()[i].name.c_str(), nameOf(type).data())
                    << static_cast<int>(i) << static_cast<int>(type);
        }
    }
    void kernel() {
        QFETCH(int, index);
        QFETCH(int, type);
        const KernelRow& row = kernelRows()[static_cast<size_t>(index)];
        const KernelGraph k(row, static_cast<DType>(type));
        const auto run = [&](int threads) {
            return test::runSteps(k.graph, k.leaves, FuseOptions::None, threads, 1).at("out");
        };
        const std::vector<double> got = run(1);
        const auto exact = test::valueOf(k.graph, k.leaves, k.out, RefRounding::None).values;
        const auto sizes = test::valueOf(k.graph, k.sizes(), k.out, RefRounding::None).values;
        const DType stored = k.graph[k.out].dtype;
        const double u = formatOf(DType::F32).unitRoundoff();
        for (size_t i = 0; i < exact.size(); ++i) {
            double bound = 0;
            if (row.roundings > 0) {
                const double sum = u * row.roundings * sizes[i];
                const FloatFormat& format = formatOf(stored);
                bound = sum + format.unitRoundoff() * (std::fabs(exact[i]) + sum) +
                        format.minSubnormal / 2;
            }
            const double wanted =
                row.roundings > 0 || !isFloat(stored) ? exact[i] : roundTo(stored, exact[i]);
            const QByteArray text = "element " + QByteArray::number(qlonglong(i)) + ": " +
                                    QByteArray::number(got[i], 'g', 9) + " instead of " +
                                    QByteArray::number(wanted, 'g', 9) + ", bound " +
                                    QByteArray::number(bound) + ", seed " +
                                    QByteArray::number(qulonglong(kSeed));
            QVERIFY2(std::fabs(got[i] - wanted) <= bound, text.constData());
        }
        for (const int threads : {2, 3})
            QCOMPARE(run(threads), got);
    }

    /// Storage wider than f32, and integers.
    void wideTypes() {
        for (const auto& [op, shape] :
             {std::pair{Op::Sum, Shape{70001, 3}}, std::pair{Op::ReduceMax, Shape{33, 300}}}) {
            for (const DType type : {DType::F64, DType::I32}) {
                Graph graph;
                Builder b(graph);
                const NodeId x = b.input("x", shape, type);
                RefTensor tensor = test::randomTensor(shape, kSeed, 0, -1000, 1000);
                // whole numbers: exact in any order
                for (double& v : tensor.values)
                    v = std::floor(v);
                const NodeId y = b.emit(op, {x}, AxesAttrs{{0}});
                graph.addOutput("out", y);
                const Leaves leaves{{x, tensor}};
                QCOMPARE(test::runSteps(graph, leaves, FuseOptions::None, 2, 1).at("out"),
                         test::valueOf(graph, leaves, y).values);
            }
        }
    }

    void nanWins() {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {1, 1, 4, 4}, DType::F16);
        const NodeId place = b.emit(Op::MaxPool2dIndex, {x}, PoolAttrs{{2, 2}, {2, 2}, {0, 0}, {}});
        graph.addOutput("place", place);
        graph.addOutput("max", b.emit(Op::ReduceMax, {x}, AxesAttrs{{3}}));
        graph.addOutput("min", b.emit(Op::ReduceMin, {x}, AxesAttrs{{3}}));
        const double nan = std::numeric_limits<double>::quiet_NaN();
        const double inf = std::numeric_limits<double>::infinity();
        const Leaves leaves{{x,
                             {Shape{1, 1, 4, 4},
                              {1, 2, inf, nan, //
                               2, 2, nan, 0,   //
                               -inf, -inf, 5, 4, -inf, -inf, 6, 6}}}};
        const auto run = test::runSteps(graph, leaves, FuseOptions::None, 2, 1);
        // ties go to the first; nan goes before infinity, and of several to the first
        QCOMPARE(run.at("place"), (std::vector<double>{1, 3, 8, 14}));
        QCOMPARE(test::valueOf(graph, leaves, place).values, run.at("place"));
        for (const char* name : {"max", "min"}) {
            QVERIFY(std::isnan(run.at(name)[0]) && std::isnan(run.at(name)[1]));
        }
        QCOMPARE(run.at("max")[2], 5.0);
        QCOMPARE(run.at("min")[3], -inf);
    }

    /// Windows full of equal values, zeros of both signs and NaN give the first of the largest
    /// values, or the first NaN, in planes that fill vectors and in planes that do not.
    void poolingTakesTheFirstOfEqualValues() {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        const double inf = std::numeric_limits<double>::infinity();
        const double values[] = {-inf, -1, -0.0, 0.0, 1, 1.5, inf, nan, -1, 0.0};
        const PoolAttrs cases[] = {{{2, 2}, {2, 2}, {0, 0}, {}},
                                   {{3, 3}, {2, 2}, {1, 1}, {}},
                                   {{3, 3}, {1, 1}, {1, 1}, {}},
                                   {{2, 5}, {3, 2}, {1, 2}, {}}};
        for (const Shape& image : {Shape{3, 2, 28, 28}, Shape{2, 3, 17, 35}, Shape{1, 2, 5, 6},
                                   Shape{9, 2, 2, 2}, Shape{5, 1, 3, 7}, Shape{2, 1, 4, 32}}) {
            RefTensor tensor = test::randomTensor(image, kSeed, 0, 0, std::size(values));
            for (double& v : tensor.values)
                v = values[static_cast<size_t>(v)];
            for (const PoolAttrs& how : cases) {
                for (const DType type : {DType::F32, DType::F16, DType::BF16}) {
                    Graph graph;
                    Builder b(graph);
                    const NodeId x = b.input("x", image, type);
                    const NodeId place = b.emit(Op::MaxPool2dIndex, {x}, how);
                    graph.addOutput("place", place);
                    const Leaves leaves{{x, tensor}};
                    for (const int threads : {1, 2})
                        QCOMPARE(test::runSteps(graph, leaves, FuseOptions::None, threads, 1)
                                     .at("place"),
                                 test::valueOf(graph, leaves, place).values);
                }
            }
        }
    }

    /// Each order of four values in a window, with all kinds of equal ones, NaN and infinity.
    void poolingOfEveryFourPixels() {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        const double inf = std::numeric_limits<double>::infinity();
        const double values[] = {-inf, -1, -0.0, 0.0, 0x1p-24, inf, nan, -nan};
        const Shape image{8, 8, 16, 16}; // 4096 windows
        RefTensor tensor{image, {}};
        for (size_t i = 0; i < static_cast<size_t>(image.elements()); ++i) {
            const size_t plane = i / 256, y = i % 256 / 16, x = i % 16;
            const size_t window = plane * 64 + y / 2 * 8 + x / 2, pixel = y % 2 * 2 + x % 2;
            tensor.values.push_back(values[window >> 3 * pixel & 7]);
        }
        for (const DType type : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
            Graph graph;
            Builder b(graph);
            const NodeId x = b.input("x", image, type);
            const NodeId place =
                b.emit(Op::MaxPool2dIndex, {x}, PoolAttrs{{2, 2}, {2, 2}, {0, 0}, {}});
            graph.addOutput("place", place);
            const Leaves leaves{{x, tensor}};
            QCOMPARE(test::runSteps(graph, leaves, FuseOptions::None, 2, 1).at("place"),
                     test::valueOf(graph, leaves, place).values);
        }
    }

    /// Whole vectors of windows reach beyond a row's end, but not beyond the tensors.
    void poolingStaysInside() {
        for (const Shape& image : {Shape{1, 1, 2, 2}, Shape{3, 1, 2, 3}, Shape{1, 2, 3, 3},
                                   Shape{5, 1, 4, 6}, Shape{1, 2, 28, 28}}) {
            for (const DType type : {DType::F32, DType::F16}) {
                Graph graph;
                Builder b(graph);
                const NodeId x = b.input("x", image, type);
                const NodeId place =
                    b.emit(Op::MaxPool2dIndex, {x}, PoolAttrs{{2, 2}, {2, 2}, {0, 0}, {}});
                const RefTensor tensor = test::randomTensor(image, kSeed, 0, -1, 1);
                const std::vector<float> values(tensor.values.begin(), tensor.values.end());
                const auto windows = static_cast<size_t>(graph[place].elements());
                Guarded in(values.size() * bytesOf(type)), out(windows * sizeof(int32_t)),
                    scratch(cpuPoolScratchBytes(graph, place, 1));
                storeFromFloat(type, values.data(), in.bytes().data(), values.size());
                ThreadPool pool(1);
                const CpuTensor operand{in.bytes().data(), &image, type};
                cpuMaxPoolIndex(
                    {graph[place], {&operand, 1}, out.bytes().data(), pool, scratch.bytes()});
                const auto* const index = reinterpret_cast<const int32_t*>(out.bytes().data());
                RefTensor stored = tensor;
                for (double& v : stored.values)
                    v = roundTo(type, static_cast<float>(v));
                QCOMPARE(std::vector<double>(index, index + windows),
                         test::valueOf(graph, {{x, stored}}, place).values);
            }
        }
    }

    void indexOutOfRangeIsRefused() {
        for (const double bad : {-1.0, 3.0}) {
            Graph graph;
            Builder b(graph);
            const NodeId x = b.input("x", {2, 3}, DType::F32);
            const NodeId index = b.input("index", {2, 1}, DType::I32);
            graph.addOutput("out", b.emit(Op::Gather, {x, index}, AxisAttrs{1, 0}));
            const Leaves leaves{{x, {Shape{2, 3}, std::vector<double>(6)}},
                                {index, {Shape{2, 1}, {0, bad}}}};
            QVERIFY_THROWS_EXCEPTION(std::logic_error,
                                     test::runSteps(graph, leaves, FuseOptions::None, 2, 1));
        }
    }

    void iotaCounts() {
        for (const DType type : {DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32}) {
            Graph graph;
            Builder b(graph);
            const NodeId y = b.iota({2, 31, 3}, 1, type);
            graph.addOutput("out", y);
            QCOMPARE(test::runSteps(graph, {}, FuseOptions::None, 2, 1).at("out"),
                     test::valueOf(graph, {}, y).values);
        }
    }

    /// Otherwise the rows above would test only one of two implementations.
    void libraryTakesConvolutions() {
        if (!gemmLibrary().starts_with("oneDNN") || !hasVectorSet(VectorSet::Avx2))
            QSKIP("no convolutions of a library here");
        const ConvPlan many{40, 4, 9, 8, 5, 3, 3, 9, 8, {1, 1}, {1, 1}, DType::F32, false};
        ConvPlan few = many, large = many, pointwise = many;
        few.n = 2;
        large.h = large.oh = large.w = large.ow = 1024;
        pointwise.kh = pointwise.kw = 1;
        pointwise.padding = {0, 0};
        for (const Op op : {Op::Conv2d, Op::Conv2dInputGrad, Op::Conv2dWeightGrad}) {
            QVERIFY(libraryConv(op, many));
            QCOMPARE(libraryConv(op, many), libraryConv(op, many)); // made once
            for (const ConvPlan& plan : {few, large})
                QVERIFY(!libraryConv(op, plan));
            QVERIFY(libraryConv(op, pointwise));
            ConvPlan product = pointwise; // of many places and channels
            product.c = product.o = 40;
            product.h = product.w = product.oh = product.ow = 16;
            QCOMPARE(libraryConv(op, product) != nullptr, op == Op::Conv2dWeightGrad);
        }
        ConvPlan full = many, depthwise = many;
        full.o = depthwise.o = depthwise.groups = 4;
        for (const Op op : {Op::Conv2d, Op::Conv2dInputGrad, Op::Conv2dWeightGrad})
            QVERIFY(libraryConv(op, depthwise) &&
                    libraryConv(op, depthwise) != libraryConv(op, full));
        ConvPlan first = many; // as in a first layer
        first.c = 1;
        QVERIFY(libraryConv(Op::Conv2d, first));
        QVERIFY(!libraryConv(Op::Conv2dWeightGrad, first));
    }

    /// The library would crash.
    void librariesNeedAddressSpace() {
        if (!gemmLibrary().starts_with("oneDNN")) QSKIP("no library that makes code");
        const std::vector<float> a(64 * 64), b(64 * 64);
        std::vector<float> c(64 * 64);
        const GemmShape shape{.m = 64, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldc = 64};
        const ConvPlan conv{41, 4, 9, 8, 5, 3, 3, 9, 8, {1, 1}, {1, 1}, DType::F32, false};
        const auto needs = [](const std::string& refusal) {
            return refusal.starts_with("cpu: oneDNN needs 32 MiB of address space");
        };
        const AddressLimit limit(size_t{16} << 20);
        QVERIFY(needs(
            thrownBy<EngineError>([&] { libraryGemm(shape, a.data(), b.data(), c.data()); })));
        QVERIFY(needs(thrownBy<EngineError>([&] { libraryConv(Op::Conv2d, conv); })));
    }
};

} // namespace tst_cpu_kernels

QTEST_GUILESS_MAIN(tst_cpu_kernels::TestCpuKernels)
#include "tst_cpu_kernels.moc"
