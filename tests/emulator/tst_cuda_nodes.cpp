// Kernels of single nodes as device code, in the emulator: every op and dtype at odd sizes, and the
// functions of the autocast tables with both orders of gradients, against the CPU's values. What a
// GPU makes of them is tests/gpu's to say.
#include "engine/cuda/codegen/op_table.h"
#include "engine/ops/op_info.h"
#include "tests/emulator/nvrtc.h"
#include "tests/support/cuda_nodes.h"
#include "tests/support/node_rows.h"

#include <QTest>

namespace tst_cuda_nodes {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int kAllBlocks[] = {1, 1024, 3};

} // namespace

class TestCudaNodes : public QObject {
    Q_OBJECT

private slots:
    void everyOpHasItsRow() {
        for (int i = 0; i < kOpCount; ++i) {
            const Op op = static_cast<Op>(i);
            const cuda::CudaOp& row = cuda::cudaOpOf(op);
            QVERIFY(row.op == op);
            const bool given = op == Op::Input || op == Op::State;
            QVERIFY2((row.write == nullptr) == given, nameOf(op).data());
        }
    }
    /// Fails for an op that no row here computes, and so for one that writeNode cannot write.
    void everyOpIsWritten() {
        std::set<Op> written;
        const auto take = [&](const NodeBench& bench) {
            const Program program = compile(bench.graph, {FuseOptions::None});
            for (size_t kernel = 0; kernel < program.kernels.size(); ++kernel) {
                const auto text =
                    cuda::writeNode({program, kernel, "name", 8, 0, 0}, cuda::DeviceTraits{});
                QVERIFY(text.function.find("void name(") != std::string::npos);
                const Node& node = program.graph[program.kernels[kernel].members.front()];
                if (infoOf(node.op).flags.has(OpFlag::Elementwise))
                    QCOMPARE(cuda::workOf(program, kernel), static_cast<double>(node.elements()));
                written.insert(node.op);
            }
        };
        for (const DType type : {DType::F32, DType::Bool}) {
            NodeBench bench;
            addElementwise(bench, type);
            take(bench);
        }
        for (const char* family : kFamilies) {
            NodeBench bench;
            addFamily(bench, family, DType::F32);
            take(bench);
        }
        NodeBench bench;
        addProducts(bench, DType::F32);
        addUpdates(bench);
        addMore(bench);
        take(bench);
        for (int i = 0; i < kOpCount; ++i) {
            const Op op = static_cast<Op>(i);
            // no kernel: inputs and states are there, a reshape is its input's bytes, and nothing
            // is left of a mark for gradients
            if (op == Op::Input || op == Op::State || op == Op::Reshape) continue;
            if (op == Op::QuantizeGradient) continue;
            QVERIFY2(written.count(op) == 1, nameOf(op).data());
        }
    }

    /// Sums count their terms, not their results: the launch plan gives blocks by work.
    void workOfANode() {
        const auto workOf = [](Op op, std::vector<Shape> operands, const Attrs& attrs) {
            NodeBench bench;
            std::vector<NodeId> in;
            for (const Shape& shape : operands)
                in.push_back(bench.random(shape, DType::F32));
            bench.output(bench.b.emit(op, in, attrs));
            const Program program = compile(bench.graph, {FuseOptions::None});
            require(program.kernels.size() == 1, "one node, one kernel");
            return cuda::workOf(program, 0);
        };
        // (2, 3, 5) times (2, 5, 7): each of 2 x 3 x 7 results has 5 terms
        QCOMPARE(workOf(Op::Matmul, {{2, 3, 5}, {2, 5, 7}}, MatmulAttrs{}), 210.0);
        QCOMPARE(workOf(Op::Matmul, {{2, 5, 3}, {2, 5, 7}}, MatmulAttrs{true, false}), 210.0);
        QCOMPARE(workOf(Op::Matmul, {{3, 0}, {0, 7}}, MatmulAttrs{}), 0.0);
        // 2 x 4 x 6 x 6 results of 3 x 3 x 3 terms; those of the weights are as many
        const Shape image{2, 3, 8, 8}, weight{4, 3, 3, 3}, out{2, 4, 6, 6};
        QCOMPARE(workOf(Op::Conv2d, {image, weight}, ConvAttrs{}), 7776.0);
        ConvAttrs how;
        how.target = {3, 3};
        QCOMPARE(workOf(Op::Conv2dWeightGrad, {image, out}, how), 7776.0);
        how.target = {8, 8}; // 2 x 3 x 8 x 8 results of 4 x 3 x 3 terms
        QCOMPARE(workOf(Op::Conv2dInputGrad, {out, weight}, how), 13824.0);
        how = {.groups = 2}; // 2 x 4 x 6 x 6 results of 2 x 3 x 3 terms
        QCOMPARE(workOf(Op::Conv2d, {{2, 4, 8, 8}, {4, 2, 3, 3}}, how), 5184.0);
        how.target = {8, 8}; // 2 x 4 x 8 x 8 results of 2 x 3 x 3 terms
        QCOMPARE(workOf(Op::Conv2dInputGrad, {{2, 4, 6, 6}, {4, 2, 3, 3}}, how), 9216.0);
        QCOMPARE(workOf(Op::Sum, {{30, 7}}, AxesAttrs{{0}}), 210.0);
        QCOMPARE(workOf(Op::ReduceMax, {{30, 7}}, AxesAttrs{{0, 1}}), 210.0);
        QCOMPARE(workOf(Op::AvgPool2d, {image}, PoolAttrs{{2, 2}, {2, 2}, {0, 0}, {}}), 384.0);
        QCOMPARE(workOf(Op::CountNonFinite, {{33}}, {}), 33.0);
    }

    /// The warps of a block share a product's k. Where that takes them many turns and few blocks
    /// have work, tiles cut k for as many blocks as there are.
    void longProductsTakeManyBlocks() {
        const auto written = [](int64_t m, int64_t n, int64_t k, DType type) {
            NodeBench bench;
            bench.b.setMathMode(MathMode::TF32);
            bench.output(bench.b.matmul(bench.b.input("a", {k, m}, type),
                                        bench.b.input("b", {k, n}, type), {true, false}));
            const Program program = compile(bench.graph, {FuseOptions::None});
            return cuda::writeNode({program, 0, "name", 1024, 0, 0}, cuda::DeviceTraits{});
        };
        const auto byWarps = [](const cuda::KernelText& text) {
            return text.function.find("multiplyByWarps") != std::string::npos;
        };
        for (const DType type : {DType::F16, DType::BF16, DType::F32}) {
            const int64_t most = type == DType::F32 ? 4096 : 8192; // 32 turns of 8 warps
            QVERIFY(byWarps(written(8, 8, most, type)));
            QVERIFY(!byWarps(written(8, 8, most + 1, type)));
            QVERIFY(written(8, 8, 65536, type).blocks >= 128);
            QVERIFY(byWarps(written(1024, 1024, 2048, type))); // there are blocks enough
        }
    }

    void elementwise_data() { dtypes({DType::I32, DType::Bool}); }
    void elementwise() {
        QFETCH(int, type);
        NodeBench bench;
        addElementwise(bench, static_cast<DType>(type));
        check(bench);
    }

    void products_data() { dtypes({}); }
    void products() {
        QFETCH(int, type);
        NodeBench bench;
        addProducts(bench, static_cast<DType>(type));
        addInfinities(bench, static_cast<DType>(type));
        check(bench);
    }
    void tf32() {
        NodeBench bench;
        bench.b.setMathMode(MathMode::TF32);
        addProducts(bench, DType::F32);
        addInfinities(bench, DType::F32);
        for (const Op op : {Op::Conv2d, Op::Conv2dInputGrad, Op::Conv2dWeightGrad}) {
            std::vector<KernelRow> rows;
            addConvolutions(rows);
            const auto row = std::find_if(rows.begin(), rows.end(),
                                          [&](const KernelRow& r) { return r.op == op; });
            bench.row(*row, DType::F32);
        }
        check(bench);
    }

    void family_data() { familyData(); }
    void family() {
        NodeBench bench;
        addFamilyOfRow(bench);
        check(bench);
    }

    void updates() {
        NodeBench bench;
        addUpdates(bench);
        check(bench);
    }
    void more() {
        NodeBench bench;
        addMore(bench);
        check(bench);
    }

    /// A kernel cannot refuse an index outside its axis: it reads no foreign memory, and it shows.
    void wrongIndex() {
        for (const Op op : {Op::Gather, Op::ScatterAdd}) {
            for (const int64_t count : {3, 40}) { // a thread for each target; lines by blocks
                NodeBench bench;
                const NodeId x = bench.random({2, count}, DType::F16, 1, 2);
                const std::string name = "x" + std::to_string(bench.count);
                const NodeId index = bench.random({2, count}, DType::I32, 0, 3);
                bench.op(op, {x, index}, AxisAttrs{1, 3});
                NodeCheck check(bench.graph, bench.leaves);
                for (const double bad : {-1.0, 1e9}) {
                    std::vector<double> values(static_cast<size_t>(2 * count), 1);
                    values.back() = bad;
                    const std::vector<double> got = check.resultWith(name, values);
                    QVERIFY(std::isfinite(got.front()));
                    QVERIFY(std::isnan(got.back()));
                }
            }
        }
    }

    /// No tensor here is that large: that the text counts in 64 bits is all that can be seen.
    void largeTensorsCountInWords() {
        NodeBench bench;
        const NodeId x = bench.b.input("x", {1 << 16, 1 << 15}, DType::F16);
        const NodeId y = bench.b.input("y", {1 << 15, 4}, DType::F16);
        bench.output(bench.b.matmul(x, y));
        bench.output(bench.b.slice(x, 0, 1, 3));
        bench.output(bench.b.slice(y, 0, 1, 3));
        const Program program = compile(bench.graph, {FuseOptions::None});
        for (size_t kernel = 0; kernel < program.kernels.size(); ++kernel) {
            const std::string text =
                cuda::writeNode({program, kernel, "name", 8, 0, 0}, cuda::DeviceTraits{}).function;
            const bool large = program.graph[program.kernels[kernel].members[0]].in[0] == x;
            QCOMPARE(text.find("using Index = hs::i64") != std::string::npos, large);
        }
    }

    void functions_data() {
        QTest::addColumn<int>("type");
        for (const DType type : {DType::F32, DType::F16, DType::BF16})
            QTest::newRow(nameOf(type).data()) << static_cast<int>(type);
    }
    void functions() {
        QFETCH(int, type);
        static std::set<std::string> seen; // a kernel once, whatever function has it
        constexpr int kBlocks[] = {64};
        const std::string wrong =
            checkFunctions(static_cast<DType>(type), 12, [&](const NodeBench& bench) {
                return NodeCheck(bench.graph, bench.leaves).run(kBlocks, &seen);
            });
        QVERIFY2(wrong.empty(), wrong.c_str());
        QVERIFY(!seen.empty());
    }

    void compilesForDevices_data() {
        QTest::addColumn<int>("capability");
        for (const int capability : {75, 80, 90, 120})
            QTest::addRow("%d", capability) << capability;
    }
    /// With NVRTC, for devices that are not there: it compiles, and nothing spills.
    void compilesForDevices() {
        QFETCH(int, capability);
        const Nvrtc nvrtc;
        if (!nvrtc.unavailable().empty()) QSKIP(nvrtc.unavailable().c_str());
        if (!nvrtc.supports(capability)) QSKIP("this NVRTC does not know the architecture");
        NodeBench bench;
        addUpdates(bench);
        addMore(bench);
        for (const char* family : kFamilies) {
            std::vector<KernelRow> rows;
            addRows(rows, family);
            for (size_t i = 0; i < rows.size(); i += 7)
                bench.row(rows[i], DType::BF16);
        }
        for (const int64_t n : {1, 257})
            bench.output(bench.b.matmul(bench.random({65, 4000}, DType::F16),
                                        bench.random({4000, n}, DType::F16)));
        NodeCheck check(bench.graph, bench.leaves);
        for (const auto& [kernel, cost] : nvrtc.compile(check.text(1056), capability)) {
            const std::string what = kernel + ": " + std::to_string(cost.registers) +
                                     " registers, " + std::to_string(cost.spillBytes) +
                                     " bytes spilt";
            QVERIFY2(cost.spillBytes == 0 && cost.registers > 0, what.c_str());
        }
    }

private:
    static void dtypes(std::initializer_list<DType> more) {
        QTest::addColumn<int>("type");
        for (const DType type : kFloats)
            QTest::newRow(nameOf(type).data()) << static_cast<int>(type);
        for (const DType type : more)
            QTest::newRow(nameOf(type).data()) << static_cast<int>(type);
    }
    static void check(const NodeBench& bench) {
        const std::string wrong = NodeCheck(bench.graph, bench.leaves).run(kAllBlocks);
        QVERIFY2(wrong.empty(), (wrong + ", seed " + std::to_string(kNodeSeed)).c_str());
    }
};

} // namespace tst_cuda_nodes

QTEST_GUILESS_MAIN(tst_cuda_nodes::TestCudaNodes)
#include "tst_cuda_nodes.moc"
