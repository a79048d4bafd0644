// Products of fp16, TF32 and f32 as sums of products of bfloat16 terms: terms add up to the value,
// products are within their bound, and blocks that the tiles would change are found by their
// exponents. A model of AMX is tested everywhere, and processors that have AMX must give its bits.
#include "engine/core/dtype.h"
#include "engine/core/philox.h"
#include "engine/core/vector_set.h"
#include "engine/cpu/term_gemm.h"
#include "engine/cpu/tf32.h"
#include "tests/support/model_tiles.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace tst_term_gemm {

using namespace halfscope;

namespace {

constexpr float kGuard = 0x1.234p100F; ///< a value that no product reaches
enum class By { Model, Processor };

float upperOf(uint32_t lane) { return widened(lane >> 16); }
float lowerOf(uint32_t lane) { return widened(lane & 0xFFFFU); }

void multiplyByModel(Terms terms, const PanelShape& s, int64_t planeOfA, const uint32_t* a,
                     const uint32_t* panels, float* c) {
    if (terms == Terms::Two)
        multiplyByTiles<ModelTiles, TwoTerms>(s, planeOfA, a, panels, c);
    else
        multiplyByTiles<ModelTiles, ThreeTerms>(s, planeOfA, a, panels, c);
}

/// Returns normal values times 2^exponent, with as many bits as the terms hold.
std::vector<float> values(Terms terms, int64_t count, uint64_t stream, int exponent) {
    std::vector<float> all(static_cast<size_t>(count));
    Philox(11, stream).fillNormal(all);
    for (float& x : all) {
        x = std::ldexp(std::fabs(x) < 0x1p-6F ? 0.0F : x, exponent);
        if (terms == Terms::Two) x = roundToTf32(x);
    }
    return all;
}

struct Case {
    Terms terms;
    int64_t m, n, k;
    bool transposeA = false, accumulate = false;
    int exponentA = 0, exponentB = 0;
};

struct Split {
    std::vector<uint32_t> lanes;
    FloatExponents exponents;
};

Split splitOfA(const Case& x, const std::vector<float>& a) {
    Split split{std::vector<uint32_t>(a.size() * static_cast<size_t>(planesOfA(x.terms))), {}};
    const auto count = static_cast<int64_t>(a.size());
    split.exponents = splitRow(x.terms, a.data(), count, split.lanes.data(), count);
    return split;
}

Split splitOfB(const Case& x, const std::vector<float>& b) {
    const auto planes = static_cast<size_t>(planesOfB(x.terms));
    Split split{std::vector<uint32_t>(panelFloats(x.k, x.n) * planes), {}};
    std::vector<float> panel(kPanelDepth * kPanelColumns);
    for (int64_t first = 0; first < x.k; first += kPanelDepth)
        for (int64_t column = 0; column < x.n; column += kPanelColumns) {
            const int64_t depth = std::min(kPanelDepth, x.k - first);
            packPanel(VectorSet::Amx, b.data() + first * x.n + column, x.n, 1, depth,
                      std::min(kPanelColumns, x.n - column), panel.data());
            split.exponents.add(
                splitPanel(x.terms, panel.data(), depth,
                           split.lanes.data() + planes * panelOffset(x.k, x.n, first, column)));
        }
    return split;
}

/// Whether |got - exact| of each element is within its bound: the terms that are left out, and a
/// rounding of each sum that a product goes through.
bool withinBound(const Case& x, const std::vector<float>& a, const std::vector<float>& b,
                 double before, int64_t i, int64_t j, float got) {
    double exact = before, size = std::fabs(before);
    for (int64_t k = 0; k < x.k; ++k) {
        const auto at = static_cast<size_t>(x.transposeA ? k * x.m + i : i * x.k + k);
        const double term =
            static_cast<double>(a[at]) * static_cast<double>(b[static_cast<size_t>(k * x.n + j)]);
        exact += term;
        size += std::fabs(term);
    }
    // the sums of its half of a tile, of both halves, and of all planes' products so far
    const double planes = static_cast<double>(planesOfB(x.terms)),
                 roundings = 16 + 1 + planes * (static_cast<double>(x.k) / 16 + 1),
                 left = x.terms == Terms::Two ? 0.0 : 0x1p-23;
    return std::fabs(static_cast<double>(got) - exact) <= (roundings * 0x1p-24 + left) * size;
}

const Terms kBoth[] = {Terms::Two, Terms::Three};

} // namespace

class TestTermGemm : public QObject {
    Q_OBJECT
private slots:
    void initTestCase_data();
    void init();
    void products_data();
    void products();
    void firstTermsAlone();
    void sumsOfTerms();
    void leastAndGreatest();
    void whatTilesKeep();
    void flushedIsFound();

private:
    static void check(const Case&);
    static std::vector<float> product(const Case&, const Split& a, const Split& b,
                                      const std::vector<float>& before);
};

void TestTermGemm::initTestCase_data() {
    QTest::addColumn<int>("by");
    QTest::newRow("model") << static_cast<int>(By::Model);
    QTest::newRow("processor") << static_cast<int>(By::Processor);
}

void TestTermGemm::init() {
    QFETCH_GLOBAL(int, by);
    if (static_cast<By>(by) == By::Model) return;
    if (!hasVectorSet(VectorSet::Amx)) QSKIP("this processor has not got the instructions");
    QVERIFY(hasTermGemm(VectorSet::Amx));
}

void TestTermGemm::products_data() {
    QTest::addColumn<int>("terms");
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("k");
    for (const Terms terms : kBoth)
        for (int m : {1, 17, 71})
            for (int n : {1, 49, 64})
                for (int k : {1, 33, 300})
                    QTest::addRow("%s %dx%dx%d", terms == Terms::Two ? "two" : "three", m, n, k)
                        << static_cast<int>(terms) << m << n << k;
}

void TestTermGemm::products() {
    QFETCH(int, terms);
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    for (const bool transposeA : {false, true})
        for (const bool accumulate : {false, true})
            for (const int exponent : {0, -40, 50})
                check({static_cast<Terms>(terms), m, n, k, transposeA, accumulate,
                       accumulate ? 0 : exponent, exponent == 0 ? 0 : 3});
}

std::vector<float> TestTermGemm::product(const Case& x, const Split& a, const Split& b,
                                         const std::vector<float>& before) {
    QFETCH_GLOBAL(int, by);
    const PanelShape shape{x.m,     x.n,          x.k,         x.transposeA ? x.m : x.k,
                           x.n + 3, x.transposeA, x.accumulate};
    std::vector<float> c = before;
    multiplyByModel(x.terms, shape, x.m * x.k, a.lanes.data(), b.lanes.data(), c.data());
    if (static_cast<By>(by) == By::Model) return c;
    std::vector<float> own = before;
    multiplyTerms(x.terms, shape, x.m * x.k, a.lanes.data(), b.lanes.data(), own.data());
    if (std::memcmp(c.data(), own.data(), c.size() * sizeof(float)) != 0)
        qFatal("not the model's bits");
    return own;
}

void TestTermGemm::check(const Case& x) {
    const auto a = values(x.terms, x.m * x.k, 1, x.exponentA),
               b = values(x.terms, x.k * x.n, 2, x.exponentB);
    const Split lanesA = splitOfA(x, a), lanesB = splitOfB(x, b);
    QVERIFY(tilesKeep(x.terms, lanesA.exponents, lanesB.exponents));
    const int64_t ldc = x.n + 3;
    std::vector<float> before(static_cast<size_t>(x.m * ldc), kGuard);
    for (int64_t i = 0; i < x.m; ++i)
        for (int64_t j = 0; j < x.n; ++j)
            before[static_cast<size_t>(i * ldc + j)] = static_cast<float>(i - j);
    const std::vector<float> c = product(x, lanesA, lanesB, before);
    for (int64_t i = 0; i < x.m; ++i)
        for (int64_t j = 0; j < ldc; ++j) {
            const float got = c[static_cast<size_t>(i * ldc + j)];
            if (j >= x.n)
                QCOMPARE(got, kGuard);
            else
                QVERIFY2(withinBound(x, a, b, x.accumulate ? static_cast<double>(i - j) : 0.0, i, j,
                                     got),
                         qPrintable(QString("(%1, %2) %3").arg(i).arg(j).arg(double{got})));
        }
}

/// Without the smaller terms, no product of values with more than eight bits would be near.
void TestTermGemm::firstTermsAlone() {
    for (const Terms terms : kBoth) {
        const Case x{terms, 16, 32, 64};
        const auto a = values(terms, x.m * x.k, 1, 0), b = values(terms, x.k * x.n, 2, 0);
        Split first = splitOfA(x, a);
        for (uint32_t& lane : first.lanes)
            lane &= 0xFFFF0000U;
        const std::vector<float> c = product(
            x, first, splitOfB(x, b), std::vector<float>(static_cast<size_t>(x.m * (x.n + 3))));
        int outside = 0;
        for (int64_t i = 0; i < x.m; ++i)
            for (int64_t j = 0; j < x.n; ++j)
                outside +=
                    !withinBound(x, a, b, 0, i, j, c[static_cast<size_t>(i * (x.n + 3) + j)]);
        QVERIFY2(outside > 16 * 32 * 9 / 10, qPrintable(QString::number(outside)));
    }
}

/// Terms add up exactly for all fp16 values, and for f32 values of all kinds whose terms are
/// normal.
void TestTermGemm::sumsOfTerms() {
    std::vector<uint16_t> halves;
    for (uint32_t bits = 0; bits < 0x10000U; ++bits)
        if ((bits & 0x7C00U) != 0x7C00U) halves.push_back(static_cast<uint16_t>(bits));
    std::vector<float> wide(halves.size());
    loadAsFloat(DType::F16, halves.data(), wide.data(), halves.size());
    std::vector<uint32_t> lanes(2 * wide.size());
    const auto count = static_cast<int64_t>(wide.size());
    splitRow(Terms::Two, wide.data(), count, lanes.data(), 0);
    for (size_t i = 0; i < wide.size(); ++i)
        QCOMPARE(upperOf(lanes[i]) + lowerOf(lanes[i]), wide[i]);

    const Philox random(3, 1);
    for (float& x : wide) { // any sign and fraction, exponents 24 to 253
        const uint32_t bits = random.bits(static_cast<uint64_t>(&x - wide.data()));
        x = std::bit_cast<float>((bits & 0x807FFFFFU) | (24U + (bits >> 23 & 0xFFU) % 230U) << 23);
    }
    splitRow(Terms::Three, wide.data(), count, lanes.data(), count);
    for (size_t i = 0; i < wide.size(); ++i) {
        const uint32_t second = lanes[wide.size() + i];
        QCOMPARE(upperOf(second), upperOf(lanes[i]));
        QCOMPARE(upperOf(lanes[i]) + (lowerOf(lanes[i]) + lowerOf(second)), wide[i]);
        QVERIFY(std::fabs(lowerOf(second)) <= 0x1p-16F * std::fabs(wide[i]));
    }
}

void TestTermGemm::leastAndGreatest() {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const auto of = [](std::vector<float> x) {
        x.resize(kPanelColumns);
        std::vector<uint32_t> lanes(3 * kPanelColumns);
        const auto row =
                       splitRow(Terms::Three, x.data(), kPanelColumns, lanes.data(), kPanelColumns),
                   panel = splitPanel(Terms::Two, x.data(), 1, lanes.data());
        return row.least == panel.least && row.greatest == panel.greatest
                   ? std::pair(row.least, row.greatest)
                   : std::pair(-1, -1);
    };
    QCOMPARE(of({}), std::pair(512, 0));
    QCOMPARE(of({1.0F, -0.0F, -8.0F}), std::pair(127, 130));
    QCOMPARE(of({0x1p-149F, 1.0F}), std::pair(0, 127));
    QCOMPARE(of({-0x1p-126F}), std::pair(1, 1));
    QCOMPARE(of({1.0F, -kInf}), std::pair(127, 255));
    QCOMPARE(of({std::numeric_limits<float>::quiet_NaN(), 0x1p5F}), std::pair(132, 255));
}

void TestTermGemm::whatTilesKeep() {
    const auto keeps = [](Terms terms, int leastA, int leastB, int greatestA, int greatestB) {
        return tilesKeep(terms, {leastA, greatestA}, {leastB, greatestB});
    };
    // all of fp16: subnormals are normal here
    QVERIFY(keeps(Terms::Two, 103, 103, 142, 142));
    for (const Terms terms : kBoth) {
        const int least = terms == Terms::Two ? 11 : 24, together = terms == Terms::Two ? 148 : 158;
        QVERIFY(keeps(terms, 512, 512, 0, 0));
        QVERIFY(keeps(terms, least, 512, 200, 0));
        QVERIFY(!keeps(terms, least - 1, 200, 200, 200));
        QVERIFY(!keeps(terms, 200, least - 1, 200, 200));
        QVERIFY(keeps(terms, together - 100, 100, 127, 127));
        QVERIFY(!keeps(terms, together - 101, 100, 127, 127));
        QVERIFY(keeps(terms, 127, 127, 185, 185));
        QVERIFY(!keeps(terms, 127, 127, 185, 186));
        QVERIFY(!keeps(terms, 100, 100, 254, 100));
        QVERIFY(!keeps(terms, 100, 100, 100, 255));
    }
}

/// One binade below what is kept, the model loses a product or a term: the bound is tight.
void TestTermGemm::flushedIsFound() {
    const auto lost = [](Terms terms, float a, float b) {
        const Case x{terms, 1, 32, 1};
        const Split lanesA = splitOfA(x, {a}), lanesB = splitOfB(x, std::vector<float>(32, b));
        const std::vector<float> c =
            product(x, lanesA, lanesB, std::vector<float>(static_cast<size_t>(x.n + 3)));
        const bool same = static_cast<double>(c[0]) ==
                          static_cast<double>(static_cast<float>(double{a} * double{b}));
        return std::pair(tilesKeep(terms, lanesA.exponents, lanesB.exponents), !same);
    };
    // 1 + 2^-10 and its square, whose last bit is a product of second terms
    QCOMPARE(lost(Terms::Two, 0x1.004p-53F, 0x1.004p-53F), std::pair(true, false));
    QCOMPARE(lost(Terms::Two, 0x1.004p-54F, 0x1.004p-53F), std::pair(false, true));
    QCOMPARE(lost(Terms::Two, 0x1.004p-117F, 0x1p+90F), std::pair(false, true));
    QCOMPARE(lost(Terms::Three, 0x1.000002p-103F, 0x1p+90F), std::pair(true, false));
    QCOMPARE(lost(Terms::Three, 0x1.000002p-104F, 0x1p+90F), std::pair(false, true));
    QCOMPARE(lost(Terms::Three, 0x1.fffffep+127F, 0x1p-90F), std::pair(false, true));
    QVERIFY(!tilesKeep(Terms::Two, splitOfA({Terms::Two, 1, 1, 1}, {INFINITY}).exponents, {}));
}

} // namespace tst_term_gemm

QTEST_GUILESS_MAIN(tst_term_gemm::TestTermGemm)
#include "tst_term_gemm.moc"
