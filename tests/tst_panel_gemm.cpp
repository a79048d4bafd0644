// The matrix product by packed panels: values within the bound of its order, edges of all kinds,
// and nothing written beside the result.
#include "engine/core/philox.h"
#include "engine/cpu/panel_gemm.h"
#include "engine/cpu/small_gemm.h"

#include <QTest>

#include <cmath>
#include <vector>

using namespace halfscope;

namespace {

constexpr float kGuard = 0x1.234p100F; ///< what no product comes to

std::vector<float> normal(int64_t count, uint64_t stream) {
    std::vector<float> values(static_cast<size_t>(count));
    Philox(3, stream).fillNormal(values);
    return values;
}

enum class Second { Plain, Transposed };

std::vector<float> packed(const std::vector<float>& b, Second kind, int64_t k, int64_t n) {
    std::vector<float> panels(panelFloats(k, n));
    for (int64_t first = 0; first < k; first += kPanelDepth)
        for (int64_t column = 0; column < n; column += kPanelColumns) {
            const int64_t rowStep = kind == Second::Plain ? n : 1,
                          columnStep = kind == Second::Plain ? 1 : k;
            packPanel(b.data() + first * rowStep + column * columnStep, rowStep, columnStep,
                      std::min(kPanelDepth, k - first), std::min(kPanelColumns, n - column),
                      panels.data() + panelOffset(k, n, first, column));
        }
    return panels;
}

} // namespace

class TestPanelGemm : public QObject {
    Q_OBJECT
private slots:
    void initTestCase_data() {
        QTest::addColumn<int>("set");
        for (const VectorSet set : {VectorSet::Avx2, VectorSet::Avx512})
            QTest::newRow(nameOf(set)) << static_cast<int>(set);
    }
    void init() {
        QFETCH_GLOBAL(int, set);
        if (!hasPanelGemm(static_cast<VectorSet>(set)))
            QSKIP("this processor has not got the instructions");
    }
    void values_data();
    void values();
};

void TestPanelGemm::values_data() {
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("k");
    for (int m : {1, 2, 7, 12, 31, 128})
        for (int n : {16, 32, 33, 48, 257})
            for (int k : {1, 2, 33, 256, 257, 700})
                QTest::addRow("%dx%dx%d", m, n, k) << m << n << k;
}

void TestPanelGemm::values() {
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    QFETCH_GLOBAL(int, set);
    const int64_t lda = k + 3, ldc = n + 2;
    const std::vector<float> a = normal(m * lda, 1), b = normal(int64_t{k} * n, 2),
                             before = normal(m * ldc, 3);
    for (const Second kind : {Second::Plain, Second::Transposed})
        for (const bool accumulate : {false, true}) {
            std::vector<float> c = before;
            for (int64_t i = 0; i < m; ++i)
                for (int64_t j = n; j < ldc; ++j)
                    c[static_cast<size_t>(i * ldc + j)] = kGuard;
            const PanelShape shape{m, n, k, lda, ldc, accumulate};
            const std::vector<float> panels = packed(b, kind, k, n);
            std::vector<float> narrow = c;
            multiplyPanels(static_cast<VectorSet>(set), shape, a.data(), panels.data(), c.data());
            multiplyPanels(VectorSet::Avx2, shape, a.data(), panels.data(), narrow.data());
            QVERIFY(c == narrow); // whichever the set is
            for (int64_t i = 0; i < m; ++i)
                for (int64_t j = 0; j < ldc; ++j) {
                    const auto at = static_cast<size_t>(i * ldc + j);
                    if (j >= n) {
                        QCOMPARE(c[at], kGuard);
                        continue;
                    }
                    double exact = accumulate ? static_cast<double>(before[at]) : 0.0;
                    double size = std::fabs(exact);
                    for (int64_t r = 0; r < k; ++r) {
                        const int64_t index = kind == Second::Plain ? r * n + j : j * k + r;
                        const double term =
                            static_cast<double>(a[static_cast<size_t>(i * lda + r)]) *
                            static_cast<double>(b[static_cast<size_t>(index)]);
                        exact += term;
                        size += std::fabs(term);
                    }
                    // one rounding a term of a block, one a block
                    const auto roundings = static_cast<double>(std::min(int64_t{k}, kPanelDepth) +
                                                               k / kPanelDepth + 1);
                    const double bound = roundings * 0x1p-24 * size;
                    QVERIFY2(std::fabs(static_cast<double>(c[at]) - exact) <= bound,
                             qPrintable(QString("(%1, %2)").arg(i).arg(j)));
                }
        }
}

QTEST_GUILESS_MAIN(TestPanelGemm)
#include "tst_panel_gemm.moc"
