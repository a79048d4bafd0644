// Every op on the GPU: each node of the op rows and of the functions of the autocast tables, with
// both orders of gradients, alone on the operands that the CPU has there. The rows are those that
// the emulator runs (tst_cuda_nodes).
#include "engine/ops/inspect.h"
#include "engine/ops/op_info.h"
#include "engine/train/step_runner.h"
#include "tests/support/gpu_device.h"
#include "tests/support/node_rows.h"
#include "tests/support/node_truth.h"

#include <algorithm>
#include <regex>
#include <set>

namespace tst_gpu_ops {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// One node of another graph, with inputs of its own.
struct Isolated {
    NodeId origin, output;
};

/// Which nodes are alike: op, attributes, dtypes and shapes.
std::string kindOf(const Graph& graph, NodeId id) {
    std::string text = std::regex_replace(nodeText(graph, id), std::regex("%\\d+"), "");
    text = text.substr(0, text.find("  ")); // the rest tells why it is there
    for (const NodeId in : graph[id].in)
        text += " " + std::string(nameOf(graph[in].dtype)) + graph[in].shape.text();
    return text + std::to_string(static_cast<int>(graph[id].math));
}

/// The graph's nodes that compute, each apart from the others; those alike once.
class Isolation {
public:
    Isolation(const NodeTruth& truth, std::set<std::string>& seen) : m_truth(truth) {
        const Graph& from = truth.program().graph;
        for (const Kernel& kernel : truth.program().kernels) {
            const NodeId id = kernel.members.front();
            if (!seen.insert(kindOf(from, id)).second) continue;
            Node node = from[id];
            node.cause = {};
            for (NodeId& in : node.in)
                in = input(from, in);
            m_nodes.push_back({id, m_graph.add(std::move(node))});
            m_graph.addOutput("y" + std::to_string(id), m_nodes.back().output);
        }
    }

    bool empty() const { return m_nodes.empty(); }

    /// What is wrong on the device, or nothing.
    std::string check(Executor& executor) const {
        const auto program = std::make_shared<const Program>(compile(m_graph, {FuseOptions::None}));
        const Graph& graph = program->graph;
        executor.load(program);
        for (const auto& [name, origin] : m_inputs)
            executor.upload(graph.input(name), m_truth.values().at(origin));
        if (executor.run(RunMode::Captured) != RunResult::Done) return "the step was not done";
        const Graph& from = m_truth.program().graph;
        constexpr int kMostTold = 12;
        std::string all;
        int count = 0;
        for (const Isolated& node : m_nodes) {
            const NodeId id = graph.output("y" + std::to_string(node.origin));
            std::vector<std::byte> bytes(graph[id].bytes());
            executor.download(id, bytes);
            const std::string wrong = m_truth.compare(node.origin, bytes, true);
            if (wrong.empty() || ++count > kMostTold) continue;
            all += nodeText(from, node.origin) + ": " + wrong + "\n";
        }
        if (count > 0) return std::to_string(count) + " nodes:\n" + all;
        for (const auto& [name, origin] : m_inputs) { // they lie between the results
            std::vector<std::byte> bytes(from[origin].bytes());
            executor.download(graph.input(name), bytes);
            if (bytes != m_truth.values().at(origin)) return "a kernel wrote over " + name;
        }
        return {};
    }

private:
    NodeId input(const Graph& from, NodeId origin) {
        const std::string name = "x" + std::to_string(m_inputs.size());
        Node leaf;
        leaf.op = Op::Input;
        leaf.shape = from[origin].shape;
        leaf.dtype = from[origin].dtype;
        const NodeId id = m_graph.add(std::move(leaf));
        m_graph.addInput({id, name});
        m_inputs.emplace_back(name, origin);
        return id;
    }

    const NodeTruth& m_truth;
    Graph m_graph;
    std::vector<Isolated> m_nodes;
    std::vector<std::pair<std::string, NodeId>> m_inputs;
};

std::string checked(const NodeBench& bench, std::set<std::string>& seen) {
    const NodeTruth truth(bench.graph, bench.leaves);
    const Isolation isolation(truth, seen);
    return isolation.empty() ? "" : isolation.check(*gpuExecutor());
}
void check(const NodeBench& bench) {
    std::set<std::string> seen;
    const std::string wrong = checked(bench, seen);
    QVERIFY2(wrong.empty(), wrong.c_str());
    QVERIFY(!seen.empty());
}

/// What is left to cuBLASLt: products from 2^25 multiply-adds on, operands turned both ways, rows
/// that begin at multiples of 16 bytes and not, a batch.
void addLibraryProducts(NodeBench& bench, DType type) {
    const auto add = [&](const Shape& a, const Shape& b, const MatmulAttrs& attrs) {
        bench.output(bench.b.matmul(bench.random(a, type), bench.random(b, type), attrs));
    };
    add({384, 288}, {288, 320}, {false, false});
    add({385, 289}, {321, 289}, {false, true});
    add({3, 239, 231}, {3, 239, 223}, {true, false});
    add({288, 384}, {320, 288}, {true, true});
}

/// What is left to cuDNN.
void addLibraryConvolution(NodeBench& bench, Op op, DType type) {
    const Shape image{4, 16, 20, 20}, weight{24, 16, 3, 3}, output{4, 24, 20, 20};
    ConvAttrs attrs{{1, 1}, {1, 1}, {}};
    if (op == Op::Conv2dInputGrad) attrs.target = {20, 20};
    if (op == Op::Conv2dWeightGrad) attrs.target = {3, 3};
    const NodeId a = bench.random(op == Op::Conv2dInputGrad ? output : image, type);
    const NodeId b = bench.random(op == Op::Conv2dWeightGrad ? output : weight, type);
    bench.output(bench.b.emit(op, {a, b}, attrs));
}

void addTypes(std::initializer_list<DType> types) {
    QTest::addColumn<int>("type");
    for (const DType type : types)
        QTest::newRow(nameOf(type).data()) << static_cast<int>(type);
}

} // namespace

class TestGpuOps : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { SKIP_WITHOUT_GPU(); }

    void elementwise_data() {
        addTypes({DType::F32, DType::F16, DType::BF16, DType::F64, DType::I32, DType::Bool});
    }
    void elementwise() {
        telling([&] {
            QFETCH(int, type);
            NodeBench bench;
            addElementwise(bench, static_cast<DType>(type));
            check(bench);
        });
    }

    void products_data() { addTypes({DType::F32, DType::F16, DType::BF16, DType::F64}); }
    void products() {
        telling([&] {
            QFETCH(int, type);
            NodeBench bench;
            addProducts(bench, static_cast<DType>(type));
            check(bench);
        });
    }
    void tf32() {
        telling([&] {
            NodeBench bench;
            bench.b.setMathMode(MathMode::TF32);
            addProducts(bench, DType::F32);
            addFamily(bench, "convolutions", DType::F32);
            check(bench);
        });
    }

    /// The libraries compute what the graph says, and are in use where they are there.
    void libraries_data() {
        QTest::addColumn<int>("op");
        QTest::addColumn<int>("type");
        QTest::addColumn<bool>("tf32");
        for (const Op op : {Op::Matmul, Op::Conv2d, Op::Conv2dInputGrad, Op::Conv2dWeightGrad}) {
            for (const DType type : {DType::F32, DType::F16, DType::BF16})
                QTest::addRow("%s %s", nameOf(op).data(), nameOf(type).data())
                    << static_cast<int>(op) << static_cast<int>(type) << false;
            QTest::addRow("%s tf32", nameOf(op).data())
                << static_cast<int>(op) << static_cast<int>(DType::F32) << true;
        }
    }
    void libraries() {
        telling([&] {
            if (gpuDevice() != "cuda") QSKIP("only CUDA has libraries");
            QFETCH(int, op);
            QFETCH(int, type);
            QFETCH(bool, tf32);
            const bool product = static_cast<Op>(op) == Op::Matmul;
            NodeBench bench;
            if (tf32) bench.b.setMathMode(MathMode::TF32);
            product ? addLibraryProducts(bench, static_cast<DType>(type))
                    : addLibraryConvolution(bench, static_cast<Op>(op), static_cast<DType>(type));
            const auto executor = gpuExecutor();
            const NodeTruth truth(bench.graph, bench.leaves);
            std::set<std::string> seen;
            const std::string wrong = Isolation(truth, seen).check(*executor);
            QVERIFY2(wrong.empty(), wrong.c_str());
            const std::string libraries = executor->device().libraries;
            if (libraries.find(product ? "own matrix" : "own conv") != std::string::npos)
                QSKIP(libraries.c_str());
            const std::vector<LaunchTime> launches = executor->profile();
            // of a library's kernels nobody tells the registers
            QVERIFY2(std::any_of(launches.begin(), launches.end(),
                                 [](const LaunchTime& launch) { return launch.registers == 0; }),
                     (libraries + ": none of its algorithms is in use").c_str());
        });
    }

    void family_data() { familyData(); }
    void family() {
        telling([&] {
            NodeBench bench;
            addFamilyOfRow(bench);
            check(bench);
        });
    }

    void updatesAndMore() {
        telling([&] {
            NodeBench bench;
            addUpdates(bench);
            addMore(bench);
            check(bench);
        });
    }

    void functions_data() { addTypes({DType::F32, DType::F16, DType::BF16}); }
    void functions() {
        telling([&] {
            QFETCH(int, type);
            static std::set<std::string> seen;
            constexpr size_t kAtOnce = 25; // one compilation each
            const std::string wrong =
                checkFunctions(static_cast<DType>(type), kAtOnce,
                               [](const NodeBench& bench) { return checked(bench, seen); });
            QVERIFY2(wrong.empty(), wrong.c_str());
            QVERIFY(!seen.empty());
        });
    }
};

} // namespace tst_gpu_ops

QTEST_GUILESS_MAIN(tst_gpu_ops::TestGpuOps)
#include "tst_gpu_ops.moc"
