// The matrix product by packed panels: values are within the bound of its order, with edges of all
// kinds, and nothing is written beside the result.
#include "engine/core/philox.h"
#include "engine/cpu/panel_gemm.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tst_panel_gemm {

using namespace halfscope;

namespace {

constexpr float kGuard = 0x1.234p100F; ///< a value that no product reaches

std::vector<float> normal(int64_t count, uint64_t stream) {
    std::vector<float> values(static_cast<size_t>(count));
    Philox(3, stream).fillNormal(values);
    return values;
}

enum class First { Plain, Transposed };
enum class Second { Plain, Transposed };

std::vector<float> packed(VectorSet set, const std::vector<float>& b, Second kind, int64_t k,
                          int64_t n) {
    std::vector<float> panels(panelFloats(k, n));
    for (int64_t first = 0; first < k; first += kPanelDepth)
        for (int64_t column = 0; column < n; column += kPanelColumns) {
            const int64_t rowStep = kind == Second::Plain ? n : 1,
                          columnStep = kind == Second::Plain ? 1 : k;
            packPanel(set, b.data() + first * rowStep + column * columnStep, rowStep, columnStep,
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

private:
    static void check(First, Second, PanelShape);
};

void TestPanelGemm::values_data() {
    QTest::addColumn<int>("m");
    QTest::addColumn<int>("n");
    QTest::addColumn<int>("k");
    for (int m : {1, 3, 11, 12, 16, 31, 128}) // tiles with each number of rows
        for (int n : {16, 31, 32, 33, 48, 257})
            for (int k : {1, 2, 33, 256, 257, 700})
                QTest::addRow("%dx%dx%d", m, n, k) << m << n << k;
}

void TestPanelGemm::values() {
    QFETCH(int, m);
    QFETCH(int, n);
    QFETCH(int, k);
    const PanelShape shape{.m = m, .n = n, .k = k};
    const PanelShape adds{.m = m, .n = n, .k = k, .accumulate = true};
    check(First::Plain, Second::Plain, adds);
    check(First::Plain, Second::Transposed, shape);
    check(First::Transposed, Second::Plain, adds);
    check(First::Transposed, Second::Transposed, shape);
}

void TestPanelGemm::check(First first, Second second, PanelShape s) {
    QFETCH_GLOBAL(int, set);
    s.transposeA = first == First::Transposed;
    s.lda = (s.transposeA ? s.m : s.k) + 3;
    s.ldc = s.n + 2;
    const std::vector<float> a = normal((s.transposeA ? s.k : s.m) * s.lda, 1),
                             b = normal(s.k * s.n, 2), before = normal(s.m * s.ldc, 3),
                             panels = packed(static_cast<VectorSet>(set), b, second, s.k, s.n),
                             narrowPanels = packed(VectorSet::Avx2, b, second, s.k, s.n);
    const auto value = [](const std::vector<float>& values, int64_t index) {
        return static_cast<double>(values[static_cast<size_t>(index)]);
    };
    std::vector<float> c = before;
    for (int64_t i = 0; i < s.m; ++i)
        std::fill_n(c.begin() + i * s.ldc + s.n, s.ldc - s.n, kGuard);
    std::vector<float> narrow = c;
    multiplyPanels(static_cast<VectorSet>(set), s, a.data(), panels.data(), c.data());
    multiplyPanels(VectorSet::Avx2, s, a.data(), narrowPanels.data(), narrow.data());
    QVERIFY(c == narrow); // whichever set it is
    for (int64_t i = 0; i < s.m; ++i)
        for (int64_t j = 0; j < s.ldc; ++j) {
            const int64_t at = i * s.ldc + j;
            if (j >= s.n) {
                QCOMPARE(c[static_cast<size_t>(at)], kGuard);
                continue;
            }
            double exact = s.accumulate ? value(before, at) : 0.0;
            double size = std::fabs(exact);
            for (int64_t r = 0; r < s.k; ++r) {
                const double term = value(a, s.transposeA ? r * s.lda + i : i * s.lda + r) *
                                    value(b, second == Second::Plain ? r * s.n + j : j * s.k + r);
                exact += term;
                size += std::fabs(term);
            }
            // one rounding a term of a block, and one a block
            const auto roundings =
                static_cast<double>(std::min(s.k, kPanelDepth) + s.k / kPanelDepth + 1);
            QVERIFY2(std::fabs(value(c, at) - exact) <= roundings * 0x1p-24 * size,
                     qPrintable(QString("(%1, %2)").arg(i).arg(j)));
        }
}

} // namespace tst_panel_gemm

QTEST_GUILESS_MAIN(tst_panel_gemm::TestPanelGemm)
#include "tst_panel_gemm.moc"
