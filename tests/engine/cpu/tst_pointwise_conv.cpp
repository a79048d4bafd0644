// Convolutions with 1x1 kernels on the CPU by panels of their planes: values are within the bound
// of their sums, any number of threads gives the same bits, and those of bfloat16 and float16 are
// the rounded ones of float32, whatever the exponents.
#include "engine/core/vector_set.h"
#include "engine/cpu/panel_gemm.h"
#include "engine/cpu/pointwise_conv.h"
#include "engine/ops/op_info.h"
#include "tests/support/gradient_check.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/run_program.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tst_pointwise_conv {

using namespace halfscope;
using halfscope::test::Leaves;

namespace {

using Values = std::vector<double>;
constexpr Op kOps[] = {Op::Conv2d, Op::Conv2dInputGrad, Op::Conv2dWeightGrad};

struct Case {
    const char* name;
    Shape image;
    int64_t outputs;
};
const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"panels that end early", {9, 32, 12, 11}, 40},
        {"an odd number of channels", {64, 17, 7, 5}, 33},
        {"several blocks of channels", {3, 600, 8, 8}, 24},
        {"several units of a sample", {2, 40, 40, 40}, 16},
        {"many outputs", {4, 20, 8, 8}, 300},
    };
    return all;
}

/// One op of a case, with its operands.
class Convolution {
public:
    Convolution(const Case& c, Op op, DType type) : m_type(type) {
        const Shape weight{c.outputs, c.image[1], 1, 1};
        const Shape y{c.image[0], c.outputs, c.image[2], c.image[3]};
        ConvAttrs how{{1, 1}, {0, 0}, {}};
        if (op == Op::Conv2dInputGrad) how.target = {c.image[2], c.image[3]};
        if (op == Op::Conv2dWeightGrad) how.target = {1, 1};
        Builder builder(m_graph);
        m_in[0] = builder.input("a", op == Op::Conv2dInputGrad ? y : c.image, type);
        m_in[1] = builder.input("b", op == Op::Conv2dWeightGrad ? y : weight, type);
        m_out = builder.emit(op, m_in, how);
        m_graph.addOutput("out", m_out);
        m_terms = op == Op::Conv2d            ? c.image[1]
                  : op == Op::Conv2dInputGrad ? c.outputs
                                              : c.image[0] * c.image[2] * c.image[3];
    }
    /// Draws operands of that type with about these exponents.
    void draw(DType type, int exponentA, int exponentB) {
        for (uint64_t i = 0; i < 2; ++i) {
            m_leaves[m_in[i]] = test::randomTensor(m_graph[m_in[i]].shape, 11, i, -1, 1);
            for (double& v : m_leaves[m_in[i]].values)
                v = roundTo(type, std::ldexp(v, i == 0 ? exponentA : exponentB));
        }
    }
    double& operand(size_t which, size_t at) { return m_leaves[m_in[which]].values[at]; }
    Values run(int threads) const {
        return test::runSteps(m_graph, m_leaves, FuseOptions::None, threads, 1).at("out");
    }
    /// Whether each value is within the roundings of its sum and of its own.
    bool holds(const Values& got) const {
        Leaves sizes = m_leaves;
        for (auto& [leaf, tensor] : sizes)
            for (double& v : tensor.values)
                v = std::fabs(v);
        const Values exact = test::valueOf(m_graph, m_leaves, m_out, RefRounding::None).values,
                     size = test::valueOf(m_graph, sizes, m_out, RefRounding::None).values;
        const FloatFormat& f32 = formatOf(DType::F32);
        for (size_t i = 0; i < exact.size(); ++i) {
            const double sum = f32.unitRoundoff() * static_cast<double>(m_terms) * size[i];
            const double bound = sum +
                                 formatOf(m_type).unitRoundoff() * (std::fabs(exact[i]) + sum) +
                                 static_cast<double>(m_terms) * f32.minSubnormal / 2 +
                                 formatOf(m_type).minSubnormal / 2;
            if (!(std::fabs(got[i] - exact[i]) <= bound)) {
                qInfo("element %zu is %g, not %g, bound %g", i, got[i], exact[i], bound);
                return false;
            }
        }
        return true;
    }

private:
    DType m_type;
    Graph m_graph;
    Leaves m_leaves;
    NodeId m_in[2]{}, m_out = kNoNode;
    int64_t m_terms = 0;
};

/// Compares bits, so that signs of zeros count; one NaN is as good as another.
bool same(const Values& a, const Values& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
        return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y) ||
               (std::isnan(x) && std::isnan(y));
    });
}

ConvPlan planOf(const Case& c, DType type) {
    return {c.image[0], c.image[1], c.image[2], c.image[3], c.outputs, 1,    1,
            c.image[2], c.image[3], {1, 1},     {0, 0},     type,      false};
}

} // namespace

class TestPointwiseConv : public QObject {
    Q_OBJECT
private slots:
    void initTestCase_data() {
        QTest::addColumn<int>("index");
        QTest::addColumn<int>("which");
        for (size_t i = 0; i < cases().size(); ++i)
            for (const Op op : kOps)
                QTest::addRow("%s, %s", infoOf(op).name.data(), cases()[i].name)
                    << static_cast<int>(i) << static_cast<int>(op);
    }
    void init() {
        if (!hasPanelGemm(usedVectorSet())) QSKIP("this processor has no panels");
        for (const DType type : {DType::F32, DType::F16, DType::BF16})
            QVERIFY(PointwiseConv::takes(op(), planOf(current(), type)));
    }

    void values_data() {
        QTest::addColumn<int>("dtype");
        for (const DType type : {DType::F32, DType::F16, DType::BF16})
            QTest::addRow("%s", nameOf(type).data()) << static_cast<int>(type);
    }
    void values() {
        QFETCH(int, dtype);
        const auto type = static_cast<DType>(dtype);
        Convolution conv(current(), op(), type);
        conv.draw(type, 0, 0);
        const Values got = conv.run(1);
        QVERIFY(conv.holds(got));
        for (const int threads : {2, 3})
            QVERIFY(same(conv.run(threads), got));
    }

    void narrow_data() {
        QTest::addColumn<int>("dtype");
        QTest::addColumn<int>("exponentA");
        QTest::addColumn<int>("exponentB");
        const auto bf16 = static_cast<int>(DType::BF16);
        QTest::newRow("about 1") << bf16 << 0 << 0;
        QTest::newRow("first operand subnormal") << bf16 << -129 << 60;
        QTest::newRow("second operand subnormal") << bf16 << 60 << -129;
        QTest::newRow("sums subnormal") << bf16 << -66 << -66;
        QTest::newRow("float16") << static_cast<int>(DType::F16) << -12 << 3;
    }
    /// Narrow operands give the bits of wide ones, rounded: pairs are added up in the same order,
    /// and values that the instruction for them would lose are multiplied as floats.
    void narrow() {
        if (usedVectorSet() >= VectorSet::Amx) QSKIP("tiles add up in an order of their own");
        QFETCH(int, dtype);
        QFETCH(int, exponentA);
        QFETCH(int, exponentB);
        const auto type = static_cast<DType>(dtype);
        Convolution narrow(current(), op(), type), wide(current(), op(), DType::F32);
        narrow.draw(type, exponentA, exponentB);
        wide.draw(type, exponentA, exponentB);
        Values wanted = wide.run(2);
        for (double& v : wanted)
            v = roundTo(type, v);
        QVERIFY(std::any_of(wanted.begin(), wanted.end(), [](double v) { return v != 0; }));
        QVERIFY(same(narrow.run(2), wanted));
    }

    /// NaN and infinity stay where they belong, beside panels that are filled up with zeros.
    void nonFinite() {
        Convolution narrow(current(), op(), DType::BF16), wide(current(), op(), DType::F32);
        for (Convolution* conv : {&narrow, &wide}) {
            conv->draw(DType::BF16, 0, 0);
            conv->operand(0, 40) = std::numeric_limits<double>::infinity();
            conv->operand(1, 7) = std::numeric_limits<double>::quiet_NaN();
        }
        const Values got = narrow.run(2), wanted = wide.run(2);
        QVERIFY(std::any_of(got.begin(), got.end(), [](double v) { return std::isfinite(v); }));
        for (size_t i = 0; i < got.size(); ++i) {
            QCOMPARE(std::isnan(got[i]), std::isnan(wanted[i]));
            QCOMPARE(std::isinf(got[i]), std::isinf(wanted[i]));
        }
    }

    void whichAreNot() {
        const auto taken = [&](const auto& change) {
            ConvPlan p = planOf(current(), DType::F32);
            change(p);
            return PointwiseConv::takes(op(), p);
        };
        QVERIFY(!taken([](ConvPlan& p) { p.tf32 = true; }));
        QVERIFY(!taken([](ConvPlan& p) { p.stride = {2, 2}; }));
        QVERIFY(!taken([](ConvPlan& p) { p.groups = 2; }));
        QVERIFY(!taken([](ConvPlan& p) { p.n = 1, p.oh = p.ow = p.h = p.w = 2; }));
        // the library's product of many channels of floats is as fast
        const auto many = [](ConvPlan& p) { p.c = p.o = 512; };
        QCOMPARE(taken(many), op() == Op::Conv2dWeightGrad);
    }

private:
    static const Case& current() {
        QFETCH_GLOBAL(int, index);
        return cases()[static_cast<size_t>(index)];
    }
    static Op op() {
        QFETCH_GLOBAL(int, which);
        return static_cast<Op>(which);
    }
};

} // namespace tst_pointwise_conv

QTEST_GUILESS_MAIN(tst_pointwise_conv::TestPointwiseConv)
#include "tst_pointwise_conv.moc"
