// TF32 on the CPU: how a value is rounded, and that every product and convolution rounds its
// operands and nothing else.
#include "engine/cpu/tf32.h"
#include "engine/ops/builder.h"
#include "engine/ops/op_info.h"
#include "tests/support/run_program.h"

#include <QTest>

#include <cmath>
#include <limits>

namespace tst_tf32 {

using namespace halfscope;
using namespace halfscope::test;

class TestTf32 : public QObject {
    Q_OBJECT

private slots:
    void tf32Rounding_data() {
        QTest::addColumn<float>("x");
        QTest::addColumn<float>("wanted");
        const auto row = [](const char* name, float x, float wanted) {
            QTest::newRow(name) << x << wanted;
        };
        row("11 bits stay", 1 + 0x1p-10f, 1 + 0x1p-10f);
        row("below half", 1 + 0x1p-11f - 0x1p-23f, 1);
        row("tie to even, down", 1 + 0x1p-11f, 1);
        row("tie to even, up", 1 + 0x3p-11f, 1 + 0x1p-9f);
        row("above half", -(1 + 0x1p-11f + 0x1p-23f), -(1 + 0x1p-10f));
        row("carry into the exponent", 2 - 0x1p-23f, 2);
        row("beyond half's range", 0x1p100f, 0x1p100f);
        row("largest", std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity());
        row("infinity", -std::numeric_limits<float>::infinity(),
            -std::numeric_limits<float>::infinity());
        row("minus zero", -0.0f, -0.0f);
    }
    void tf32Rounding() {
        QFETCH(float, x);
        QFETCH(float, wanted);
        QCOMPARE(std::bit_cast<uint32_t>(roundToTf32(x)), std::bit_cast<uint32_t>(wanted));
        QVERIFY(std::isnan(roundToTf32(std::numeric_limits<float>::quiet_NaN())));
    }

    void tf32Contractions_data() {
        QTest::addColumn<int>("kind");
        QTest::addColumn<int>("inner");
        int kind = 0;
        for (const char* name :
             {"matmul", "matmul a^T", "matmul b^T", "matmul both^T", "conv2d 1x1", "conv2d 3x3",
              "conv2d input 3x3", "conv2d weight 3x3"}) {
            for (const int inner : {5, 2048}) {
                if (kind >= 4 && inner > 5) continue;
                QTest::addRow("%s, %d", name, inner) << kind << inner;
            }
            ++kind;
        }
    }
    /// Each operand has a single value, so that products and sums are exact in f32: only the
    /// rounding of the operands remains.
    void tf32Contractions() {
        QFETCH(int, kind);
        QFETCH(int, inner);
        // 13 significant bits: sums of 2048 are exact
        const double raw = 1 + 0x1p-11 + 0x1p-12, rounded = 1 + 0x1p-10;
        for (const bool first : {true, false}) {
            for (const MathMode mode : {MathMode::F32, MathMode::TF32}) {
                Graph graph;
                Builder b(graph);
                b.setMathMode(mode);
                const NodeId y = contraction(b, kind, inner);
                QCOMPARE(b[y].math, mode);
                graph.addOutput("y", y);
                std::map<NodeId, RefTensor> leaves;
                for (const InputInfo& input : graph.inputs()) {
                    const bool odd = (input.name == "a") == first;
                    const auto n = static_cast<size_t>(graph[input.node].elements());
                    leaves[input.node] = {graph[input.node].shape,
                                          std::vector<double>(n, odd ? raw : 1)};
                }
                const auto values = runSteps(graph, leaves, {}, 2, 1).at("y");
                const double each = mode == MathMode::TF32 ? rounded : raw;
                for (const double value : values) {
                    const double terms = value / each;
                    QVERIFY2(terms == std::round(terms) && terms >= 1 && terms <= inner * 9 * 64,
                             qPrintable(QString::number(value, 'g', 17)));
                }
            }
        }
    }

private:
    static NodeId contraction(Builder& b, int kind, int64_t inner) {
        const bool ta = kind == 1 || kind == 3, tb = kind == 2 || kind == 3;
        if (kind < 4) {
            const NodeId a = b.input("a", ta ? Shape{inner, 4} : Shape{4, inner}, DType::F32);
            const NodeId c = b.input("c", tb ? Shape{3, inner} : Shape{inner, 3}, DType::F32);
            return b.matmul(a, c, {ta, tb});
        }
        const int64_t k = kind == 4 ? 1 : 3, image = 8, out = image - k + 1;
        const Shape x{2, inner, image, image}, w{4, inner, k, k}, y{2, 4, out, out};
        ConvAttrs how;
        if (kind < 6)
            return b.emit(Op::Conv2d, {b.input("a", x, DType::F32), b.input("c", w, DType::F32)},
                          how);
        how.target = kind == 6 ? Shape{image, image} : Shape{k, k};
        if (kind == 6)
            return b.emit(Op::Conv2dInputGrad,
                          {b.input("a", y, DType::F32), b.input("c", w, DType::F32)}, how);
        return b.emit(Op::Conv2dWeightGrad,
                      {b.input("a", x, DType::F32), b.input("c", y, DType::F32)}, how);
    }
};

} // namespace tst_tf32

QTEST_GUILESS_MAIN(tst_tf32::TestTf32)
#include "tst_tf32.moc"
