// The product of pairs of bfloat16 by tiles: it is within the bound of its order, with edges of all
// kinds, and writes nothing beside the result. A model of AMX is tested everywhere, and processors
// that have AMX must give the model's bits.
#include "engine/core/philox.h"
#include "engine/core/vector_set.h"
#include "engine/cpu/pair_gemm.h"
#include "engine/cpu/tile_gemm.h"
#include "engine/cpu/tile_gemm_kernel.h"
#include "tests/support/model_tiles.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <vector>

namespace tst_tile_gemm {

using namespace halfscope;

namespace {

constexpr float kGuard = 0x1.234p100F; ///< a value that no product reaches

enum class By { Model, Processor };

std::vector<uint16_t> values(int64_t count, uint64_t stream) {
    std::vector<float> floats(static_cast<size_t>(count));
    Philox(7, stream).fillNormal(floats);
    std::vector<uint16_t> words;
    for (const float x : floats)
        words.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16));
    return words;
}

double at(const std::vector<uint16_t>& words, int64_t index) {
    return static_cast<double>(widened(words[static_cast<size_t>(index)]));
}

} // namespace

class TestTileGemm : public QObject {
    Q_OBJECT
private slots:
    void initTestCase_data() {
        QTest::addColumn<int>("by");
        QTest::newRow("model") << static_cast<int>(By::Model);
        QTest::newRow("processor") << static_cast<int>(By::Processor);
    }
    void init() {
        QFETCH_GLOBAL(int, by);
        if (static_cast<By>(by) == By::Model) return;
        if (!hasVectorSet(VectorSet::Amx)) QSKIP("this processor has not got the instructions");
        QVERIFY(hasTileGemm());
    }
    void products_data();
    void products();

private:
    static void check(bool transposeA, bool accumulate);
};

void TestTileGemm::products_data() {
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("k");
    for (int m : {1, 16, 17, 32, 71})
        for (int n : {1, 32, 49, 64})
            for (int k : {1, 32, 33, 256, 300})
                QTest::addRow("%dx%dx%d", m, n, k) << m << n << k;
}

void TestTileGemm::products() {
    for (const bool transposeA : {false, true})
        for (const bool accumulate : {false, true})
            check(transposeA, accumulate);
}

void TestTileGemm::check(bool transposeA, bool accumulate) {
    QFETCH_GLOBAL(int, by);
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    const int64_t pairs = pairsOf(k), ldc = n + 3;
    const auto a = values(static_cast<int64_t>(m) * k, 1),
               b = values(static_cast<int64_t>(k) * n, 2);
    std::vector<uint32_t> lanes(static_cast<size_t>(pairs * m)), panels(panelFloats(pairs, n));
    if (transposeA)
        interleavePairs(a.data(), m, k, m, lanes.data());
    else
        packPairs(a.data(), k, m, k, lanes.data());
    for (int64_t first = 0; first < k; first += kPanelDepth)
        for (int64_t column = 0; column < n; column += kPanelColumns)
            packPairPanel(b.data() + first * n + column, n, false,
                          std::min<int64_t>(kPanelDepth, k - first),
                          std::min<int64_t>(kPanelColumns, n - column),
                          panels.data() + panelOffset(pairs, n, first / 2, column, kPairDepth));
    std::vector<float> before(static_cast<size_t>(m * ldc), kGuard);
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
            before[static_cast<size_t>(i * ldc + j)] = static_cast<float>(i - j);
    const PanelShape shape{m, n, pairs, transposeA ? m : pairs, ldc, transposeA, accumulate};
    std::vector<float> c = before;
    multiplyByTiles<ModelTiles, Pairs>(shape, 0, lanes.data(), panels.data(), c.data());
    if (static_cast<By>(by) == By::Processor) {
        const std::vector<float> model = c;
        c = before;
        multiplyTiles(shape, lanes.data(), panels.data(), c.data());
        QVERIFY(std::memcmp(c.data(), model.data(), c.size() * sizeof(float)) == 0);
    }
    for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < ldc; ++j) {
            const float got = c[static_cast<size_t>(i * ldc + j)];
            if (j >= n) {
                QCOMPARE(got, kGuard);
                continue;
            }
            double exact = accumulate ? static_cast<double>(i - j) : 0.0, size = std::fabs(exact);
            for (int64_t r = 0; r < k; ++r) {
                const double term = at(a, transposeA ? r * m + i : i * k + r) * at(b, r * n + j);
                exact += term;
                size += std::fabs(term);
            }
            // the roundings of a term: those of its half of a tile, that of both halves, and one a
            // tile
            const double roundings = 16 + 1 + static_cast<double>(k) / 32 + 1;
            QVERIFY2(std::fabs(static_cast<double>(got) - exact) <= roundings * 0x1p-24 * size,
                     qPrintable(QString("(%1, %2)").arg(i).arg(j)));
        }
}

} // namespace tst_tile_gemm

QTEST_GUILESS_MAIN(tst_tile_gemm::TestTileGemm)
#include "tst_tile_gemm.moc"
