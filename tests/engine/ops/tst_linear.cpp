// Where layers and sums with products round: PyTorch adds the bias of a linear layer to the sums of
// its product before it rounds them, on the CPU and on CUDA (addmm). Numbers have so few bits that
// every sum is exact in f32, however it is cut.
#include "engine/ops/functional.h"
#include "engine/passes/autodiff.h"
#include "engine/verify/run_graph.h"

#include <QTest>

#include <cmath>

namespace tst_linear {

using namespace halfscope;

namespace {

/// Returns multiples of 1 / `steps` in [-1, 1].
RefTensor eighths(const Shape& shape, int64_t first, int64_t steps) {
    RefTensor tensor{shape, {}};
    for (int64_t i = 0; i < shape.elements(); ++i)
        tensor.values.push_back(static_cast<double>((first + i * 7919) % (2 * steps + 1) - steps) /
                                static_cast<double>(steps));
    return tensor;
}

struct Layer {
    const char* way;
    int64_t rows, in, out;
};
/// By how the CPU cuts a product.
constexpr Layer kLayers[] = {{"few rows", 7, 33, 5},
                             {"panels", 200, 70, 300},
                             {"tiles of columns", 9, 64, 1500},
                             {"partial sums", 40, 3000, 48},
                             {"element by element, two outputs", 1 << 17, 4, 2},
                             {"element by element, two inputs", 1 << 11, 2, 300}};

/// A linear layer, its gradients, and the leaves of the graph.
struct LayerGraph {
    Graph graph;
    std::map<NodeId, RefTensor> leaves;
    RefTensor x, weight, bias;

    LayerGraph(const Layer& layer, DType type, bool apart)
        : x(eighths({layer.rows, layer.in}, 1, 8)), weight(eighths({layer.out, layer.in}, 2, 8)),
          bias(eighths({layer.out}, 3, 64)) {
        Builder b(graph);
        const auto leaf = [&](const char* name, const RefTensor& values) {
            const NodeId id = b.input(name, values.shape, type);
            leaves[id] = values;
            return id;
        };
        const NodeId in = leaf("x", x), w = leaf("w", weight), c = leaf("bias", bias),
                     dy = leaf("dy", eighths({layer.rows, layer.out}, 4, 4));
        const NodeId y =
            apart ? fn::add(b, b.matmul(in, w, {.transposeB = true}), c) : fn::linear(b, in, w, c);
        const auto d = gradients(b, y, std::array{in, w, c}, dy);
        graph.addOutput("y", y);
        for (const char* name : {"dx", "dw", "dbias"})
            graph.addOutput(name, d[name[1] == 'x' ? 0 : name[1] == 'w' ? 1 : 2].value());
    }

    /// The exact sum of an output, without the bias.
    double sumOf(int64_t row, int64_t column) const {
        double sum = 0;
        for (int64_t p = 0; p < x.shape[1]; ++p)
            sum += x.values[static_cast<size_t>(row * x.shape[1] + p)] *
                   weight.values[static_cast<size_t>(column * x.shape[1] + p)];
        return sum;
    }
};

} // namespace

class TestLinear : public QObject {
    Q_OBJECT

private slots:
    void roundsOnce_data();
    void roundsOnce();
    void manyMatricesRoundOnce();
    void emptySumIsTheBias();
    void gradientsDoNotChange_data() { roundsOnce_data(); }
    void gradientsDoNotChange();
    void sumsWithProductsRoundOnce_data();
    void sumsWithProductsRoundOnce();
};

void TestLinear::roundsOnce_data() {
    QTest::addColumn<int>("layer");
    QTest::addColumn<int>("type");
    QTest::addColumn<bool>("wideBias");
    for (size_t i = 0; i < std::size(kLayers); ++i)
        for (const DType type : {DType::F16, DType::BF16, DType::F32})
            for (const bool together : {true, false}) { // 16 bits are always together
                if (!together && isLow(type)) continue;
                QTest::addRow("%s, %s, %s", kLayers[i].way, std::string(nameOf(type)).c_str(),
                              together ? "in the product" : "apart")
                    << static_cast<int>(i) << static_cast<int>(type) << together;
            }
}

void TestLinear::roundsOnce() {
    QFETCH(int, layer);
    QFETCH(int, type);
    QFETCH(bool, wideBias);
    const auto dtype = static_cast<DType>(type);
    const Layer& shape = kLayers[layer];
    const LayerGraph linear(shape, dtype, false);
    const auto executor = makeCpuExecutor(2);
    CompileOptions options = executor->compileOptions();
    QVERIFY(options.wideBias);
    options.wideBias = wideBias;
    const auto y = recorded::runGraph(*executor, linear.graph, linear.leaves, options).at("y");
    int64_t differ = 0, compared = 0;
    const int64_t every = std::max<int64_t>(1, shape.rows / 500);
    for (int64_t row = 0; row < shape.rows; row += every)
        for (int64_t column = 0; column < shape.out; ++column, ++compared) {
            const double sum = linear.sumOf(row, column),
                         bias = linear.bias.values[static_cast<size_t>(column)];
            const double once = roundTo(dtype, sum + bias);
            QCOMPARE(y[static_cast<size_t>(row * shape.out + column)], once);
            differ += once != roundTo(dtype, roundTo(dtype, sum) + bias);
        }
    // others have too few bits to be rounded twice
    if (dtype == DType::BF16 && shape.in > 4)
        QVERIFY2(differ > compared / 50, qPrintable(QString::number(differ)));
}

/// Small matrices that the CPU multiplies one by one, each row with the same bias.
void TestLinear::manyMatricesRoundOnce() {
    const RefTensor a = eighths({12, 5, 40}, 1, 8), c = eighths({12, 40, 6}, 2, 8),
                    bias = eighths({6}, 3, 64);
    for (const DType type : {DType::BF16, DType::F32}) {
        Graph graph;
        Builder b(graph);
        const NodeId left = b.input("a", a.shape, type), right = b.input("c", c.shape, type),
                     more = b.input("bias", bias.shape, type);
        graph.addOutput("y", b.matmul(left, right, {}, more));
        const auto executor = makeCpuExecutor(2);
        for (const bool wideBias : {true, false}) {
            const auto y =
                recorded::runGraph(*executor, graph, {{left, a}, {right, c}, {more, bias}},
                                   {.wideBias = wideBias})
                    .at("y");
            size_t at = 0;
            for (size_t row = 0; row < 60; ++row)
                for (size_t column = 0; column < 6; ++column, ++at) {
                    double sum = bias.values[column];
                    for (size_t p = 0; p < 40; ++p)
                        sum += a.values[row * 40 + p] * c.values[row / 5 * 240 + p * 6 + column];
                    QCOMPARE(y[at], roundTo(type, sum));
                }
        }
    }
}

void TestLinear::emptySumIsTheBias() {
    const RefTensor bias = eighths({3}, 5, 64);
    std::vector<double> wanted = bias.values;
    wanted.insert(wanted.end(), bias.values.begin(), bias.values.end());
    for (const DType type : {DType::F16, DType::F32}) {
        Graph graph;
        Builder b(graph);
        const NodeId a = b.input("a", {2, 0}, type), c = b.input("c", {0, 3}, type),
                     more = b.input("bias", {3}, type);
        graph.addOutput("y", b.matmul(a, c, {}, more));
        const auto executor = makeCpuExecutor(1);
        for (const bool wideBias : {true, false})
            QCOMPARE(recorded::runGraph(*executor, graph,
                                        {{a, {{2, 0}, {}}}, {c, {{0, 3}, {}}}, {more, bias}},
                                        {.wideBias = wideBias})
                         .at("y"),
                     wanted);
    }
}

/// The gradient does not depend on how y was rounded.
void TestLinear::gradientsDoNotChange() {
    QFETCH(int, layer);
    QFETCH(int, type);
    QFETCH(bool, wideBias);
    const auto executor = makeCpuExecutor(2);
    CompileOptions options = executor->compileOptions();
    options.wideBias = wideBias;
    const auto run = [&](bool apart) {
        const LayerGraph linear(kLayers[layer], static_cast<DType>(type), apart);
        return recorded::runGraph(*executor, linear.graph, linear.leaves, options);
    };
    const auto once = run(false), twice = run(true);
    for (const char* name : {"dx", "dw", "dbias"}) {
        QCOMPARE(once.at(name), twice.at(name));
        QVERIFY(std::count(once.at(name).begin(), once.at(name).end(), 0.0) <
                static_cast<int64_t>(once.at(name).size()));
    }
}

void TestLinear::sumsWithProductsRoundOnce_data() {
    QTest::addColumn<QString>("function");
    QTest::addColumn<int>("roundings");
    for (const char* function : {"addmm", "addmv", "baddbmm"})
        QTest::newRow(function) << function << 1;
    QTest::newRow("addbmm") << "addbmm" << 3; // after each of its three products
}

void TestLinear::sumsWithProductsRoundOnce() {
    QFETCH(QString, function);
    QFETCH(int, roundings);
    constexpr int64_t kPages = 3, kRows = 20, kDepth = 40, kColumns = 10;
    const bool vector = function == "addmv", pages = function.endsWith("bmm");
    const int64_t columns = vector ? 1 : kColumns;
    const auto shape = [&](int64_t rows, int64_t n, bool hasPages) {
        if (vector && n == 1) return Shape{rows};
        return hasPages ? Shape{kPages, rows, n} : Shape{rows, n};
    };
    const RefTensor x = eighths(shape(kRows, columns, function == "baddbmm"), 1, 64),
                    a = eighths(shape(kRows, kDepth, pages), 2, 8),
                    c = eighths(shape(kDepth, columns, pages), 3, 8);
    Graph graph;
    Builder b(graph);
    const NodeId in[] = {b.input("x", x.shape, DType::BF16), b.input("a", a.shape, DType::BF16),
                         b.input("c", c.shape, DType::BF16)};
    const auto call = function == "addmm"    ? fn::addmm
                      : function == "addmv"  ? fn::addmv
                      : function == "addbmm" ? fn::addbmm
                                             : fn::baddbmm;
    graph.addOutput("y", call(b, in[0], in[1], in[2]));
    const auto y =
        recorded::runGraph(*makeCpuExecutor(1), graph, {{in[0], x}, {in[1], a}, {in[2], c}})
            .at("y");
    for (size_t i = 0; i < y.size(); ++i) {
        const auto at = [](const RefTensor& tensor, int64_t page, int64_t row, int64_t n,
                           int64_t width, int64_t height) {
            return tensor.values[static_cast<size_t>((page * height + row) * width + n)];
        };
        const auto element = static_cast<int64_t>(i);
        const int64_t row = element / columns % kRows, column = element % columns;
        double sum = x.values[i];
        for (int round = 0; round < roundings; ++round) {
            const int64_t page = roundings > 1 ? round : element / (columns * kRows);
            for (int64_t p = 0; p < kDepth; ++p)
                sum += at(a, page, row, p, kDepth, kRows) * at(c, page, p, column, columns, kDepth);
            sum = roundTo(DType::BF16, sum);
        }
        QCOMPARE(y[i], sum);
    }
}

} // namespace tst_linear

QTEST_GUILESS_MAIN(tst_linear::TestLinear)
#include "tst_linear.moc"
