// Matrix products of a graph by tiles, with a model of AMX in place of the processor's: every
// layout and type compared with the reference, whole and split; values that tiles do not keep give
// the same as without tiles; and the layers of the verification.
#include "engine/cpu/tf32.h"
#include "engine/cpu/tile_gemm.h"
#include "engine/ops/builder.h"
#include "engine/verify/suites.h"
#include "tests/support/model_tiles.h"
#include "tests/support/product_bound.h"
#include "tests/support/run_program.h"

#include "engine/core/philox.h"

#include <QTest>

#include <atomic>
#include <cmath>
#include <limits>

namespace tst_tile_matmul {

using namespace halfscope;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::atomic<int> products{0}; ///< counted by the model

void multiplyPairs(const PanelShape& s, const uint32_t* a, const uint32_t* panels, float* c) {
    ++products;
    multiplyByTiles<ModelTiles, Pairs>(s, 0, a, panels, c);
}

void multiplyTerms(Terms terms, const PanelShape& s, int64_t planeOfA, const uint32_t* a,
                   const uint32_t* panels, float* c) {
    ++products;
    if (terms == Terms::Two)
        multiplyByTiles<ModelTiles, TwoTerms>(s, planeOfA, a, panels, c);
    else
        multiplyByTiles<ModelTiles, ThreeTerms>(s, planeOfA, a, panels, c);
}

enum class Kind { F32, TF32, F16, BF16 };
constexpr const char* kNames[] = {"fp32", "tf32", "fp16", "bf16"};

DType typeOf(Kind kind) {
    return kind == Kind::F16 ? DType::F16 : kind == Kind::BF16 ? DType::BF16 : DType::F32;
}

/// A product and its operands.
struct Product {
    Graph graph;
    NodeId a, b, y;
    std::map<NodeId, RefTensor> leaves;
    Kind kind;

    Product(Kind of, int m, int n, int k, bool transposeA, bool transposeB, int batch) : kind(of) {
        Builder builder(graph);
        const auto shape = [&](bool transposed, int rows, int columns) {
            Shape s = batch > 1 ? Shape{batch} : Shape{};
            s.push(transposed ? columns : rows);
            s.push(transposed ? rows : columns);
            return s;
        };
        if (kind == Kind::TF32) builder.setMathMode(MathMode::TF32);
        a = builder.input("a", shape(transposeA, m, k), typeOf(kind));
        b = builder.input("b", shape(transposeB, k, n), typeOf(kind));
        y = builder.matmul(a, b, {transposeA, transposeB});
        graph.addOutput("y", y);
        for (const NodeId id : {a, b})
            leaves[id] = random(builder.shapeOf(id), kind, static_cast<uint64_t>(id));
    }

    std::vector<double> got(int threads = 2) const {
        return test::runSteps(graph, leaves, FuseOptions::Full, threads, 1).at("y");
    }
    std::vector<double> exact(bool magnitudes = false) const {
        auto all = leaves;
        for (auto& [id, tensor] : all)
            for (double& x : tensor.values) {
                // rounded as the product rounds it
                if (kind == Kind::TF32) x = static_cast<double>(roundToTf32(static_cast<float>(x)));
                if (magnitudes) x = std::fabs(x);
            }
        return evaluate(graph, all, std::vector{y}, RefRounding::None).at(y).values;
    }

private:
    static RefTensor random(const Shape& shape, Kind kind, uint64_t stream) {
        const Philox source(20261122, stream);
        RefTensor tensor{shape, std::vector<double>(static_cast<size_t>(shape.elements()))};
        for (size_t i = 0; i < tensor.values.size(); ++i)
            tensor.values[i] = roundTo(typeOf(kind), static_cast<double>(source.normal(i)));
        return tensor;
    }
};

} // namespace

class TestTileMatmul : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void againstReference_data();
    void againstReference();
    void sameBitsForAnyThreads();
    void infinitiesStay_data();
    void infinitiesStay();
    void tinyValuesStay_data();
    void tinyValuesStay();
    void verifiedLayers_data();
    void verifiedLayers();
};

void TestTileMatmul::initTestCase() {
    if (!hasVectorSet(VectorSet::Avx512)) QSKIP("products of f32 by AVX-512 are missing");
    useTileProducts({multiplyPairs, multiplyTerms});
    QVERIFY(hasTileGemm());
    if (usedVectorSet() != VectorSet::Amx) QSKIP("HALFSCOPE_CPU_VECTORS forbids tiles");
}

void TestTileMatmul::againstReference_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("k");
    QTest::addColumn<int>("layout");
    QTest::addColumn<int>("batch");
    const int sizes[][4] = {{131, 70, 300, 1}, {300, 130, 90, 2}, {40, 57, 3000, 1}};
    for (int kind = 0; kind < 4; ++kind)
        for (const auto& s : sizes)
            for (int layout = 0; layout < 4; ++layout)
                QTest::addRow("%s %dx%dx%d %s%s batch %d", kNames[kind], s[0], s[1], s[2],
                              layout & 1 ? "T" : "N", layout & 2 ? "T" : "N", s[3])
                    << kind << s[0] << s[1] << s[2] << layout << s[3];
}

void TestTileMatmul::againstReference() {
    QFETCH(int, kind);
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    QFETCH(int, layout);
    QFETCH(int, batch);
    const Product x(static_cast<Kind>(kind), m, n, k, layout & 1, layout & 2, batch);
    const auto exact = x.exact(), size = x.exact(true);
    products = 0;
    const auto got = x.got();
    // of the split products, only those that both gradients of a weight use
    QCOMPARE(products > 0, k < 1024 || layout == 1);
    const double lost = static_cast<Kind>(kind) == Kind::F32 ? 0x1p-23 : 0.0;
    QCOMPARE(test::beyondBound(got, exact, size, k, typeOf(static_cast<Kind>(kind)), lost),
             QString());
}

void TestTileMatmul::sameBitsForAnyThreads() {
    for (const Kind kind : {Kind::F32, Kind::F16}) {
        const Product whole(kind, 300, 130, 90, false, false, 1),
            split(kind, 40, 57, 3000, true, false, 1);
        QCOMPARE(whole.got(1), whole.got(3));
        QCOMPARE(split.got(1), split.got(3));
    }
}

void TestTileMatmul::infinitiesStay_data() {
    QTest::addColumn<int>("kind");
    for (int kind = 0; kind < 4; ++kind)
        QTest::newRow(kNames[kind]) << kind;
}

/// An infinity times the second term of a value, which may be zero, would be NaN.
void TestTileMatmul::infinitiesStay() {
    QFETCH(int, kind);
    for (const bool split : {false, true}) {
        Product x(static_cast<Kind>(kind), split ? 40 : 131, 57, split ? 3000 : 300, split, false,
                  1);
        x.leaves[x.a].values[7] = kInf;
        x.leaves[x.b].values[20] = std::numeric_limits<double>::quiet_NaN();
        const auto exact = x.exact(), got = x.got();
        int infinite = 0, nan = 0;
        for (size_t i = 0; i < got.size(); ++i) {
            QCOMPARE(std::isnan(got[i]), std::isnan(exact[i]));
            if (!std::isfinite(exact[i]) && !std::isnan(exact[i])) QCOMPARE(got[i], exact[i]);
            infinite += std::isinf(got[i]);
            nan += std::isnan(got[i]);
        }
        QVERIFY(infinite > 0 && nan > 0);
    }
}

void TestTileMatmul::tinyValuesStay_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("exponentA");
    QTest::addColumn<int>("exponentB");
    QTest::newRow("fp32 operand") << int(Kind::F32) << -125 << 40;
    QTest::newRow("fp32 sum") << int(Kind::F32) << -60 << -66;
    QTest::newRow("tf32 operand") << int(Kind::TF32) << -130 << 40;
    QTest::newRow("tf32 sum") << int(Kind::TF32) << -60 << -66;
    QTest::newRow("bf16 sum") << int(Kind::BF16) << -60 << -66;
}

/// Tiny values are multiplied by products of f32, to the last bit of subnormal results.
void TestTileMatmul::tinyValuesStay() {
    QFETCH(int, kind);
    QFETCH(int, exponentA);
    QFETCH(int, exponentB);
    Product x(static_cast<Kind>(kind), 1056, 1024, 1, false, false, 1);
    const auto scale = [](RefTensor& tensor, int exponent) {
        for (double& value : tensor.values)
            value = static_cast<double>(static_cast<float>(std::ldexp(value, exponent)));
    };
    scale(x.leaves[x.a], exponentA);
    scale(x.leaves[x.b], exponentB);
    products = 0;
    const auto exact = x.exact(), got = x.got();
    QCOMPARE(int{products}, 0);
    for (size_t i = 0; i < got.size(); ++i)
        QCOMPARE(got[i], roundTo(typeOf(static_cast<Kind>(kind)),
                                 static_cast<double>(static_cast<float>(exact[i]))));
}

void TestTileMatmul::verifiedLayers_data() {
    QTest::addColumn<QString>("precision");
    for (const char* name : kNames)
        QTest::newRow(name) << QString(name);
}

/// Some of the layers that `halfscope-cli verify` checks: the model is slow.
void TestTileMatmul::verifiedLayers() {
    QFETCH(QString, precision);
    recorded::VerifyDevice device;
    device.executor = makeCpuExecutor(2);
    int cases = 0;
    for (const recorded::VerifyCase& c : recorded::productsSuite(device).cases) {
        const QString name = QString::fromStdString(c.name);
        const bool whole = name.endsWith("whole numbers");
        const bool taken = name.contains(" 7 rows") || (name.contains(" 1031 rows") && whole);
        if (!name.startsWith(precision) || !taken) continue;
        products = 0;
        const recorded::CaseResult result = c.run();
        QVERIFY2(result.passed(), qPrintable(name + ": " + result.difference.c_str()));
        QVERIFY2(products > 0 || !whole, qPrintable(name));
        ++cases;
    }
    QCOMPARE(cases, 7);
}

} // namespace tst_tile_matmul

QTEST_GUILESS_MAIN(tst_tile_matmul::TestTileMatmul)
#include "tst_tile_matmul.moc"
