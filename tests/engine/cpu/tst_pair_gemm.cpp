// The product of pairs of bfloat16: it has the bits of the f32 product of the widened matrices, by
// the processor's instruction where it exists and by a model of it everywhere; and which values it
// must not be given.
#include "engine/core/philox.h"
#include "engine/cpu/pair_gemm.h"
#include "engine/cpu/panel_gemm_kernel.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace tst_pair_gemm {

using namespace halfscope;

namespace {

float widened(uint16_t word) { return std::bit_cast<float>(static_cast<uint32_t>(word) << 16); }

/// VDPBF16PS as Intel's manual defines it, lane by lane.
struct Model {
    using Element = uint32_t;
    static constexpr int64_t kDepth = kPairDepth;
    static constexpr int64_t kLanes = 16;
    static constexpr int kRows = 4;
    template <class Lane>
    struct Vector {
        Lane lane[kLanes];
    };
    using Type = Vector<float>;

    static float flushed(float x) { return std::fabs(x) < 0x1p-126F ? std::copysign(0.0F, x) : x; }
    static float half(uint32_t pair, int shift) {
        return flushed(widened(static_cast<uint16_t>(pair >> shift)));
    }
    static Type zero() { return {}; }
    static Vector<uint32_t> broadcast(uint32_t pair) {
        Vector<uint32_t> all{};
        std::fill(std::begin(all.lane), std::end(all.lane), pair);
        return all;
    }
    static Type multiplyAdd(const Vector<uint32_t>& a, const Vector<uint32_t>& b, Type c) {
        for (int i = 0; i < kLanes; ++i)
            for (const int shift : {16, 0})
                c.lane[i] = flushed(
                    std::fma(half(a.lane[i], shift), half(b.lane[i], shift), flushed(c.lane[i])));
        return c;
    }
    static Type add(Type a, const Type& b) {
        for (int i = 0; i < kLanes; ++i)
            a.lane[i] += b.lane[i];
        return a;
    }
    template <class Lane>
    static Vector<Lane> loaded(const Lane* from, int count) {
        Vector<Lane> all{};
        std::copy_n(from, count, all.lane);
        return all;
    }
    static Vector<uint32_t> loadPanel(const uint32_t* from) { return loaded(from, kLanes); }
    static Type load(const float* from) { return loaded(from, kLanes); }
    static void store(float* to, const Type& x) { std::copy_n(x.lane, kLanes, to); }
    static int first(int count) { return count; }
    static Type loadPart(const float* from, int count) { return loaded(from, count); }
    static void storePart(float* to, int count, const Type& x) { std::copy_n(x.lane, count, to); }
};

/// What multiplies the pairs.
enum class By { Model, Instruction, Widened };

void multiplyBy(By by, const PanelShape& s, const uint32_t* a, const uint32_t* panels, float* c) {
    switch (by) {
    case By::Model: return multiply<Model>(s, a, panels, c);
    case By::Instruction: return multiplyPairs(VectorSet::Avx512Bf16, s, a, panels, c);
    case By::Widened: break;
    }
    for (int64_t first = 0; first < s.k; first += kPairDepth) { // one block at a time
        PanelShape block = s;
        block.k = std::min(kPairDepth, s.k - first);
        block.accumulate = s.accumulate || first > 0;
        multiplyPairsWidened(usedVectorSet(), block, a + first * (s.transposeA ? s.lda : 1),
                             panels + panelOffset(s.k, s.n, first, 0, kPairDepth), c);
    }
}

/// Returns normal values times 2^exponent, as bfloat16; some are zero.
std::vector<uint16_t> values(int64_t count, uint64_t stream, int exponent) {
    std::vector<float> floats(static_cast<size_t>(count));
    Philox(5, stream).fillNormal(floats);
    std::vector<uint16_t> words;
    for (const float x : floats)
        words.push_back(
            std::fabs(x) < 0.1F
                ? uint16_t{0}
                : static_cast<uint16_t>(std::bit_cast<uint32_t>(std::ldexp(x, exponent)) >> 16));
    return words;
}

struct Case {
    int64_t m, n, k;
    bool transposeA, transposeB, accumulate;
    int exponentA = 0, exponentB = 0;
};

struct Packed {
    std::vector<uint32_t> lanes;
    int least = kNoExponent;
};

int64_t ldaOf(const Case& x) { return (x.transposeA ? x.m : x.k) + 1; } // rows at odd addresses

Packed packedA(const Case& x, const std::vector<uint16_t>& a) {
    Packed packed{std::vector<uint32_t>(static_cast<size_t>(pairsOf(x.k) * x.m)), kNoExponent};
    packed.least = x.transposeA ? interleavePairs(a.data(), ldaOf(x), x.k, x.m, packed.lanes.data())
                                : packPairs(a.data(), ldaOf(x), x.m, x.k, packed.lanes.data());
    return packed;
}

Packed packedB(const Case& x, const std::vector<uint16_t>& b) {
    Packed packed{std::vector<uint32_t>(panelFloats(pairsOf(x.k), x.n)), kNoExponent};
    for (int64_t first = 0; first < x.k; first += kPanelDepth)
        for (int64_t column = 0; column < x.n; column += kPanelColumns)
            packed.least = std::min(
                packed.least,
                packPairPanel(
                    b.data() + (x.transposeB ? column * x.k + first : first * x.n + column),
                    x.transposeB ? x.k : x.n, x.transposeB, std::min(kPanelDepth, x.k - first),
                    std::min(kPanelColumns, x.n - column),
                    packed.lanes.data() +
                        panelOffset(pairsOf(x.k), x.n, first / 2, column, kPairDepth)));
    return packed;
}

std::vector<float> firstResult(const Case& x) {
    std::vector<float> c(static_cast<size_t>(x.m * (x.n + 2)));
    Philox(5, 3).fillNormal(c);
    return c;
}

/// Returns the result of multiplyPanels() on the widened matrices.
std::vector<float> expected(const Case& x, const std::vector<uint16_t>& a,
                            const std::vector<uint16_t>& b) {
    std::vector<float> wideA, wideB, c = firstResult(x);
    std::transform(a.begin(), a.end(), std::back_inserter(wideA), widened);
    std::transform(b.begin(), b.end(), std::back_inserter(wideB), widened);
    std::vector<float> panels(panelFloats(x.k, x.n));
    const int64_t rowStep = x.transposeB ? 1 : x.n, columnStep = x.transposeB ? x.k : 1;
    for (int64_t first = 0; first < x.k; first += kPanelDepth)
        for (int64_t column = 0; column < x.n; column += kPanelColumns)
            packPanel(VectorSet::Avx2, wideB.data() + first * rowStep + column * columnStep,
                      rowStep, columnStep, std::min(kPanelDepth, x.k - first),
                      std::min(kPanelColumns, x.n - column),
                      panels.data() + panelOffset(x.k, x.n, first, column));
    multiplyPanels(VectorSet::Avx2, {x.m, x.n, x.k, ldaOf(x), x.n + 2, x.transposeA, x.accumulate},
                   wideA.data(), panels.data(), c.data());
    return c;
}

std::vector<float> product(By by, const Case& x, const Packed& a, const Packed& b) {
    std::vector<float> c = firstResult(x);
    multiplyBy(by,
               {x.m, x.n, pairsOf(x.k), x.transposeA ? x.m : pairsOf(x.k), x.n + 2, x.transposeA,
                x.accumulate},
               a.lanes.data(), b.lanes.data(), c.data());
    return c;
}

/// Compares bits, so that signs of zeros count.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
        return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
    });
}

} // namespace

class TestPairGemm : public QObject {
    Q_OBJECT
private slots:
    void initTestCase_data() {
        QTest::addColumn<int>("by");
        QTest::newRow("model") << static_cast<int>(By::Model);
        QTest::newRow("instruction") << static_cast<int>(By::Instruction);
        QTest::newRow("widened") << static_cast<int>(By::Widened);
    }
    void init() {
        QFETCH_GLOBAL(int, by);
        if (!hasPanelGemm(usedVectorSet()) ||
            (static_cast<By>(by) == By::Instruction && !hasPairGemm(VectorSet::Avx512Bf16)))
            QSKIP("this processor has not got the instructions");
    }
    void sameBits_data();
    void sameBits();
    void subnormals_data();
    void subnormals();
    void leastExponents();
    void onlyAllowed();
};

void TestPairGemm::sameBits_data() {
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("k");
    for (int m : {1, 11, 12, 31})
        for (int n : {16, 33, 64})
            for (int k : {1, 2, 33, 256, 257, 700})
                QTest::addRow("%dx%dx%d", m, n, k) << m << n << k;
}

void TestPairGemm::sameBits() {
    QFETCH_GLOBAL(int, by);
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    for (const bool transposeA : {false, true})
        for (const bool transposeB : {false, true})
            for (const int exponent : {0, -50}) { // for both operands: sums go down to about 2^-105
                const Case x{m, n, k, transposeA, transposeB, exponent == 0, exponent, exponent};
                const auto a = values((transposeA ? k : m) * ldaOf(x), 1, exponent),
                           b = values(static_cast<int64_t>(n) * k, 2, exponent);
                const Packed lanesA = packedA(x, a), lanesB = packedB(x, b);
                QVERIFY(staysNormal(lanesA.least, lanesB.least));
                QVERIFY(same(product(static_cast<By>(by), x, lanesA, lanesB), expected(x, a, b)));
            }
}

void TestPairGemm::subnormals_data() {
    QTest::addColumn<int>("exponentA");
    QTest::addColumn<int>("exponentB");
    QTest::newRow("operand") << -130 << 100;
    QTest::newRow("second operand") << 100 << -130;
    QTest::newRow("sum") << -60 << -64;
    QTest::newRow("both") << -130 << -10;
}

/// Products that the instruction would change are found and computed the other way.
void TestPairGemm::subnormals() {
    QFETCH_GLOBAL(int, by);
    QFETCH(int, exponentA);
    QFETCH(int, exponentB);
    const Case x{12, 33, 40, false, true, false, exponentA, exponentB};
    const auto a = values(x.m * ldaOf(x), 1, exponentA), b = values(x.n * x.k, 2, exponentB);
    const Packed lanesA = packedA(x, a), lanesB = packedB(x, b);
    QVERIFY(!staysNormal(lanesA.least, lanesB.least));
    const bool keeps = static_cast<By>(by) == By::Widened;
    const auto c = product(static_cast<By>(by), x, lanesA, lanesB);
    QCOMPARE(same(c, expected(x, a, b)), keeps);
    QCOMPARE(same(c, product(By::Model, x, lanesA, lanesB)), !keeps);
}

void TestPairGemm::leastExponents() {
    const auto least = [](std::vector<uint16_t> words) {
        std::vector<uint32_t> pairs(words.size());
        const auto count = static_cast<int64_t>(words.size());
        const int byRows = packPairs(words.data(), count, 1, count, pairs.data()),
                  byColumns = interleavePairs(words.data(), count, 1, count, pairs.data());
        return byRows == byColumns ? byRows : -1;
    };
    QCOMPARE(least({}), kNoExponent);
    QCOMPARE(least({0x0000, 0x8000}), kNoExponent);
    QCOMPARE(least({0x3F80, 0x0000}), 127); // 1 and 0
    QCOMPARE(least({0x3F80, 0xBF7F}), 126);
    QCOMPARE(least({0x7F80, 0xFF80, 0x7FC0}), 255); // infinities and NaN
    QCOMPARE(least({0x0080, 0x3F80}), 1);
    QCOMPARE(least({0x3F80, 0x807F}), 0);
    std::vector<uint16_t> many(9001, 0x3F80); // more than are examined at once
    many[7777] = 0x0001;
    QCOMPARE(least(many), 0);
    many[8999] = 0xC000; // -2
    const auto both = [](const std::vector<uint16_t>& words) {
        const Exponents e = exponentsOf(words.data(), static_cast<int64_t>(words.size()));
        return std::pair{e.least, e.greatest};
    };
    QCOMPARE(both(many), (std::pair{0, 128}));
    QCOMPARE(both({}), (std::pair{kNoExponent, 0}));
    QCOMPARE(both({0x0000, 0x8000}), (std::pair{kNoExponent, 0}));
    QCOMPARE(both({0x3F80, 0x7F7F}), (std::pair{127, 254}));
    for (const uint16_t word : {uint16_t{0x7F80}, uint16_t{0xFF80}, uint16_t{0x7FC0}})
        QCOMPARE(both({0x3F80, word}), (std::pair{127, 255}));
}

/// At the edge of the rule: with these least values the smallest sum is just normal.
void TestPairGemm::onlyAllowed() {
    QVERIFY(staysNormal(71, 71));
    QVERIFY(!staysNormal(70, 71));
    QVERIFY(!staysNormal(0, 254));
    QVERIFY(!staysNormal(254, 0));
    QVERIFY(staysNormal(1, kNoExponent));
    QVERIFY(staysNormal(kNoExponent, kNoExponent));
    // (1 + 2^-7)^2 and -(1 + 2^-6) leave 2^-14, the quantum of the products.
    QFETCH_GLOBAL(int, by);
    const Case x{1, 1, 2, false, true, false};
    const auto word = [](float value) {
        return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
    };
    const float one = 0x1p-56F; // exponent field 71
    const std::vector<uint16_t> a{word(one * (1 + 0x1p-7F)), word(-one * (1 + 0x1p-6F)), 0},
        b{word(one * (1 + 0x1p-7F)), word(one)};
    const Packed lanesA = packedA(x, a), lanesB = packedB(x, b);
    QCOMPARE(lanesA.least, 71);
    QCOMPARE(lanesB.least, 71);
    QCOMPARE(product(static_cast<By>(by), x, lanesA, lanesB).front(), 0x1p-126F);
}

} // namespace tst_pair_gemm

QTEST_GUILESS_MAIN(tst_pair_gemm::TestPairGemm)
#include "tst_pair_gemm.moc"
