// Convolutions of bfloat16 on the CPU by the library's kernels for pairs: values are compared with
// doubles. Operands and sums that the instruction would change are multiplied as f32, chunk by
// chunk, whatever the number of threads.
#include "engine/core/vector_set.h"
#include "engine/cpu/conv_library.h"
#include "engine/ops/op_info.h"
#include "tests/support/gradient_check.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/run_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>

namespace tst_conv {

using namespace halfscope;
using halfscope::test::Leaves;

namespace {

constexpr uint64_t kSeed = 5309;
using Values = std::vector<double>;

/// One op of a convolution whose operands may be scaled sample by sample.
struct Case {
    const char* name;
    Op op;
    Shape image, weight;
    ConvAttrs how;

    Shape y() const { return test::outOf(image, weight, how); }
    Shape a() const { return op == Op::Conv2dInputGrad ? y() : image; }
    Shape b() const { return op == Op::Conv2dWeightGrad ? y() : weight; }
    ConvAttrs attrs() const {
        ConvAttrs all = how;
        if (op == Op::Conv2dInputGrad) all.target = {image[2], image[3]};
        if (op == Op::Conv2dWeightGrad) all.target = {weight[2], weight[3]};
        return all;
    }
    /// Returns the most roundings of a sum: its terms, and the sums of its parts.
    double roundings() const {
        const double kernel = static_cast<double>(weight[2] * weight[3]);
        if (op == Op::Conv2d) return kernel * static_cast<double>(weight[1]);
        if (op == Op::Conv2dInputGrad) return kernel * static_cast<double>(weight[0] / how.groups);
        return static_cast<double>(image[0] * y()[2] * y()[3] + image[0]);
    }
    ConvPlan plan(DType type) const {
        return {image[0],    image[1],  image[2], image[3],     weight[0],
                weight[2],   weight[3], y()[2],   y()[3],       how.stride,
                how.padding, type,      false,    how.dilation, how.groups};
    }
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const auto& [forward, input, weight, image, kernel, how] :
         {std::tuple{"conv2d", "input grad", "weight grad", Shape{37, 16, 9, 11},
                     Shape{32, 16, 3, 3}, ConvAttrs{{1, 1}, {1, 1}, {}}},
          std::tuple{"conv2d, one channel", "input grad, one channel", "weight grad, one channel",
                     Shape{19, 1, 13, 12}, Shape{16, 1, 3, 3}, ConvAttrs{{1, 1}, {1, 1}, {}}},
          std::tuple{"conv2d, 5x5", "input grad, 5x5", "weight grad, 5x5", Shape{23, 6, 14, 14},
                     Shape{16, 6, 5, 5}, ConvAttrs{{1, 1}, {0, 0}, {}}},
          std::tuple{"conv2d, 24 channels", "input grad, 24 channels", "weight grad, 24 channels",
                     Shape{19, 24, 9, 8}, Shape{40, 24, 3, 3}, ConvAttrs{{1, 1}, {1, 1}, {}}},
          std::tuple{"conv2d, 20 channels", "input grad, 20 channels", "weight grad, 20 channels",
                     Shape{23, 20, 9, 8}, Shape{36, 20, 3, 3}, ConvAttrs{{1, 1}, {1, 1}, {}}},
          std::tuple{"conv2d, stride", "input grad, stride", "weight grad, stride",
                     Shape{23, 16, 11, 8}, Shape{17, 16, 3, 3}, ConvAttrs{{2, 2}, {1, 1}, {}}},
          std::tuple{"conv2d, dilated", "input grad, dilated", "weight grad, dilated",
                     Shape{37, 16, 9, 11}, Shape{32, 16, 3, 3},
                     ConvAttrs{{1, 1}, {2, 2}, {}, {2, 2}}}}) {
        all.push_back({forward, Op::Conv2d, image, kernel, how});
        all.push_back({input, Op::Conv2dInputGrad, image, kernel, how});
        all.push_back({weight, Op::Conv2dWeightGrad, image, kernel, how});
    }
    const ConvAttrs groups{{1, 1}, {1, 1}, {}, {1, 1}, 2};
    all.push_back({"conv2d, groups", Op::Conv2d, {19, 32, 9, 8}, {48, 16, 3, 3}, groups});
    all.push_back(
        {"input grad, groups", Op::Conv2dInputGrad, {19, 32, 9, 8}, {48, 16, 3, 3}, groups});
    return all;
}

/// Returns bfloat16 values of either sign, with sizes in [1/2, 1) x 2^exponent of their sample;
/// some are zero.
RefTensor randomSamples(const Shape& shape, uint64_t stream, const std::vector<int>& exponents) {
    RefTensor tensor = test::randomTensor(shape, kSeed, stream, -1, 1);
    const size_t each = tensor.values.size() / static_cast<size_t>(shape[0]);
    for (size_t i = 0; i < tensor.values.size(); ++i) {
        double& v = tensor.values[i];
        v = std::fabs(v) < 0.1 ? 0 : std::copysign(0.5 + std::fabs(v) / 2, v);
        v = roundTo(DType::BF16, std::ldexp(v, exponents[i / each % exponents.size()]));
    }
    return tensor;
}

/// The case as a graph of one op, stored in one type.
struct Convolution {
    Graph graph;
    Leaves leaves;
    NodeId out = kNoNode;

    Convolution(const Case& c, DType type, const RefTensor& a, const RefTensor& b) {
        Builder builder(graph);
        const NodeId in[] = {builder.input("a", c.a(), type), builder.input("b", c.b(), type)};
        leaves[in[0]] = a;
        leaves[in[1]] = b;
        out = builder.emit(c.op, in, c.attrs());
        graph.addOutput("out", out);
    }
    Values run(int threads) const {
        return test::runSteps(graph, leaves, FuseOptions::None, threads, 1).at("out");
    }
    Values exact() const { return test::valueOf(graph, leaves, out, RefRounding::None).values; }
};

RefTensor sizesOf(RefTensor tensor) {
    for (double& v : tensor.values)
        v = std::fabs(v);
    return tensor;
}

/// Returns the result with operands that were widened before: by the library's f32 kernels, rounded
/// at the end.
Values widenedResult(const Case& c, const RefTensor& a, const RefTensor& b) {
    Values values = Convolution(c, DType::F32, a, b).run(1);
    for (double& v : values)
        v = roundTo(DType::BF16, v);
    return values;
}

/// Compares bits, so that signs of zeros count.
bool same(const Values& a, const Values& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
        return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
    });
}

/// Whether each value is within the roundings of its sum in f32 and of its own rounding to
/// bfloat16.
bool withinRoundings(const Case& c, const RefTensor& a, const RefTensor& b, const Values& got) {
    const Values exact = Convolution(c, DType::BF16, a, b).exact();
    const Values sizes = Convolution(c, DType::BF16, sizesOf(a), sizesOf(b)).exact();
    const FloatFormat& stored = formatOf(DType::BF16);
    for (size_t i = 0; i < exact.size(); ++i) {
        const double sum = formatOf(DType::F32).unitRoundoff() * c.roundings() * sizes[i];
        const double bound = sum + stored.unitRoundoff() * (std::fabs(exact[i]) + sum) +
                             c.roundings() * formatOf(DType::F32).minSubnormal / 2 +
                             stored.minSubnormal / 2;
        if (!(std::fabs(got[i] - exact[i]) <= bound)) {
            qInfo("%s: element %zu is %g, not %g, bound %g, seed %llu", c.name, i, got[i], exact[i],
                  bound, static_cast<unsigned long long>(kSeed));
            return false;
        }
    }
    return true;
}

} // namespace

class TestConv : public QObject {
    Q_OBJECT

private slots:
    void initTestCase_data() {
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < cases().size(); ++i)
            QTest::newRow(cases()[i].name) << static_cast<int>(i);
    }
    void init() {
        if (usedVectorSet() < VectorSet::Avx512Bf16 ||
            !libraryConv(current().op, current().plan(DType::BF16)))
            QSKIP("no library here that multiplies pairs of bfloat16");
    }

    void takesPairs() {
        for (const DType type : {DType::F32, DType::F16, DType::BF16})
            QCOMPARE(libraryConv(current().op, current().plan(type))->takesPairs(),
                     type == DType::BF16);
    }

    void values_data() {
        QTest::addColumn<int>("exponentA");
        QTest::addColumn<int>("exponentB");
        QTest::newRow("about 1") << 0 << 0;
        QTest::newRow("small") << -50 << -50;
        QTest::newRow("large by small") << 100 << -120;
    }
    void values() {
        QFETCH(int, exponentA);
        QFETCH(int, exponentB);
        const Case c = current();
        const RefTensor a = randomSamples(c.a(), 1, {exponentA}),
                        b = randomSamples(c.b(), 2, {exponentB});
        const Convolution conv(c, DType::BF16, a, b);
        const Values got = conv.run(1);
        QVERIFY(withinRoundings(c, a, b, got));
        for (const int threads : {2, 3})
            QVERIFY(same(conv.run(threads), got));
    }

    /// When large terms cancel, the result depends on the order of the small ones, and kernels for
    /// pairs have an order of their own.
    void pairsAreMultiplied() {
        const Case c = current();
        RefTensor a = randomSamples(c.a(), 1, {0}), b = randomSamples(c.b(), 2, {0});
        for (size_t i = 0; i < a.values.size(); i += 5)
            a.values[i] = std::copysign(0x1p24, a.values[i]);
        for (double& v : b.values)
            v = std::copysign(1, v);
        const Values got = Convolution(c, DType::BF16, a, b).run(2);
        QVERIFY(withinRoundings(c, a, b, got));
        // A single channel is paired with zeros, in the same order as in f32.
        const bool ownOrder = c.op != Op::Conv2d || c.image[1] > 1;
        QCOMPARE(same(got, widenedResult(c, a, b)), !ownOrder);
    }

    void subnormals_data() {
        QTest::addColumn<int>("exponentA");
        QTest::addColumn<int>("exponentB");
        QTest::newRow("operand") << -130 << 100;
        QTest::newRow("second operand") << 100 << -130;
        QTest::newRow("sum") << -60 << -64;
        QTest::newRow("both") << -128 << -3;
    }
    /// Products that the instruction would change have the bits of the widened computation.
    void subnormals() {
        QFETCH(int, exponentA);
        QFETCH(int, exponentB);
        const Case c = current();
        const RefTensor a = randomSamples(c.a(), 1, {exponentA}),
                        b = randomSamples(c.b(), 2, {exponentB});
        const Values wanted = widenedResult(c, a, b);
        QVERIFY(std::any_of(wanted.begin(), wanted.end(), [](double v) { return v != 0; }));
        for (const int threads : {1, 2, 3})
            QVERIFY(same(Convolution(c, DType::BF16, a, b).run(threads), wanted));
    }

    /// Samples with and without subnormals: each chunk takes its own path, on any thread.
    void subnormalsInSomeSamples() {
        const Case c = current();
        const std::vector<int> mixed{0, 0, 0, 0, 0, 0, 0, -130};
        const RefTensor a = randomSamples(c.a(), 1, mixed), b = randomSamples(c.b(), 2, {0});
        const Convolution conv(c, DType::BF16, a, b);
        const Values got = conv.run(1);
        QVERIFY(withinRoundings(c, a, b, got));
        for (const int threads : {2, 3})
            QVERIFY(same(conv.run(threads), got));
        if (c.op == Op::Conv2dWeightGrad) return; // it sums over all samples
        const Values wanted = widenedResult(c, a, b);
        const size_t each = wanted.size() / static_cast<size_t>(c.image[0]);
        for (size_t i = 7; i < static_cast<size_t>(c.image[0]); i += mixed.size()) {
            const auto at = static_cast<ptrdiff_t>(i * each),
                       end = at + static_cast<ptrdiff_t>(each);
            const Values own(got.begin() + at, got.begin() + end);
            QVERIFY(same(own, Values(wanted.begin() + at, wanted.begin() + end)));
            QVERIFY(std::any_of(own.begin(), own.end(), [](double v) { return v != 0; }));
        }
    }

    /// NaN and infinities appear where the widened computation has them.
    void nonFinite() {
        const Case c = current();
        RefTensor a = randomSamples(c.a(), 1, {0}), b = randomSamples(c.b(), 2, {0});
        a.values[a.values.size() / 2] = std::numeric_limits<double>::infinity();
        b.values[b.values.size() / 3] = std::numeric_limits<double>::quiet_NaN();
        const Values got = Convolution(c, DType::BF16, a, b).run(2);
        const Values wanted = widenedResult(c, a, b);
        for (size_t i = 0; i < got.size(); ++i) {
            QCOMPARE(std::isnan(got[i]), std::isnan(wanted[i]));
            QCOMPARE(std::isinf(got[i]), std::isinf(wanted[i]));
        }
    }

private:
    static Case current() {
        QFETCH_GLOBAL(int, index);
        return cases()[static_cast<size_t>(index)];
    }
};

} // namespace tst_conv

QTEST_GUILESS_MAIN(tst_conv::TestConv)
#include "tst_conv.moc"
