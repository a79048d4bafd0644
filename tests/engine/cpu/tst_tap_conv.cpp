// Convolutions with few taps on the CPU: values are within the bound of their sums, for strides,
// paddings and rows of all kinds, and nothing is read or written that a sample has not got.
#include "engine/core/philox.h"
#include "engine/cpu/panel_gemm.h"
#include "engine/cpu/tap_conv.h"
#include "engine/ops/op_info.h"
#include "tests/support/gradient_check.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/run_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tst_tap_conv {

using namespace halfscope;
using halfscope::test::Leaves;

namespace {

constexpr float kGuard = 0x1.234p100F; ///< a value that no sum reaches
constexpr size_t kGuards = 64;
constexpr double kRoundoff = 0x1p-24;

std::vector<float> normal(int64_t count, uint64_t stream) {
    std::vector<float> values(static_cast<size_t>(count));
    Philox(5, stream).fillNormal(values);
    return values;
}

/// Returns the values with guards behind them.
std::vector<float> guarded(std::vector<float> values) {
    values.resize(values.size() + kGuards, kGuard);
    return values;
}

bool guardsAreWhole(const std::vector<float>& values) {
    return std::all_of(values.end() - kGuards, values.end(), [](float v) { return v == kGuard; });
}

ConvPlan planOf(int64_t c, int64_t h, int64_t w, int64_t o, std::array<int64_t, 2> kernel,
                std::array<int64_t, 2> stride, std::array<int64_t, 2> padding) {
    return {1,
            c,
            h,
            w,
            o,
            kernel[0],
            kernel[1],
            (h + 2 * padding[0] - kernel[0]) / stride[0] + 1,
            (w + 2 * padding[1] - kernel[1]) / stride[1] + 1,
            stride,
            padding,
            DType::F32,
            false};
}

/// The same with several groups, and with taps further apart.
ConvPlan planOf(ConvPlan plan, int64_t groups, std::array<int64_t, 2> dilation) {
    plan.groups = groups;
    plan.dilation = dilation;
    plan.oh = (plan.h + 2 * plan.padding[0] - dilation[0] * (plan.kh - 1) - 1) / plan.stride[0] + 1;
    plan.ow = (plan.w + 2 * plan.padding[1] - dilation[1] * (plan.kw - 1) - 1) / plan.stride[1] + 1;
    return plan;
}

/// Calls visit(output, place, tap, pixel) for each product; pixels outside of the image are left
/// out.
template <class Visit>
void forEachProduct(const ConvPlan& p, const Visit& visit) {
    for (int64_t o = 0; o < p.o; ++o)
        for (int64_t oy = 0; oy < p.oh; ++oy)
            for (int64_t ox = 0; ox < p.ow; ++ox)
                for (int64_t tap = 0; tap < p.taps(); ++tap) {
                    const int64_t first = o / p.groupOutputs() * p.groupChannels();
                    const int64_t c = first + tap / (p.kh * p.kw);
                    const int64_t i = tap / p.kw % p.kh, j = tap % p.kw;
                    const int64_t y = oy * p.stride[0] - p.padding[0] + i * p.dilation[0],
                                  x = ox * p.stride[1] - p.padding[1] + j * p.dilation[1];
                    if (y < 0 || y >= p.h || x < 0 || x >= p.w) continue;
                    visit(static_cast<size_t>(o * p.places() + oy * p.ow + ox),
                          static_cast<size_t>(o * p.taps() + tap),
                          static_cast<size_t>((c * p.h + y) * p.w + x));
                }
}

/// Sums in double, and of the sizes of their terms.
struct Exact {
    std::vector<double> sums, sizes;
    explicit Exact(int64_t count)
        : sums(static_cast<size_t>(count)), sizes(static_cast<size_t>(count)) {}
    void add(size_t at, float a, float b) {
        const double product = static_cast<double>(a) * static_cast<double>(b);
        sums[at] += product;
        sizes[at] += std::fabs(product);
    }
    /// Whether each value is within the roundings of a sum of that many terms in any order.
    bool holds(const std::vector<float>& values, int64_t terms) const {
        for (size_t i = 0; i < sums.size(); ++i) {
            const double bound = kRoundoff * static_cast<double>(terms) * sizes[i];
            if (!(std::fabs(static_cast<double>(values[i]) - sums[i]) <= bound)) {
                qInfo("element %zu is %g, not %g, bound %g", i, static_cast<double>(values[i]),
                      sums[i], bound);
                return false;
            }
        }
        return true;
    }
};

/// Computes the groups of a convolution one after the other in the same room.
class Groups {
public:
    Groups(const TapConv& conv, const ConvPlan& p)
        : m_conv(conv), m_plan(p), m_room(guarded(std::vector<float>(room()))) {
        conv.clear(m_room.data());
    }
    /// Calls visit(laid out image, first weight, first of y) for each group of a sample.
    template <class Visit>
    void each(const std::vector<float>& image, const Visit& visit) {
        const ConvPlan one = m_plan.ofGroup();
        for (int64_t group = 0; group < m_plan.groups; ++group) {
            m_conv.layOut(image.data() + group * one.image(), m_room.data());
            visit(m_room.data(), group * one.o * one.taps(), group * one.o * one.places());
        }
    }
    bool areWhole() const { return guardsAreWhole(m_room); }

private:
    size_t room() const { return static_cast<size_t>(m_conv.imageFloats()); }
    const TapConv& m_conv;
    const ConvPlan& m_plan;
    std::vector<float> m_room;
};

std::vector<float> forward(const TapConv& conv, const ConvPlan& p, const std::vector<float>& image,
                           const std::vector<float>& weight) {
    std::vector<float> y = guarded(std::vector<float>(static_cast<size_t>(p.o * p.places())));
    Groups groups(conv, p);
    groups.each(image, [&](const float* laidOut, int64_t firstWeight, int64_t firstOfY) {
        conv.forward(laidOut, weight.data() + firstWeight, y.data() + firstOfY);
    });
    return groups.areWhole() ? y : std::vector<float>{};
}

/// Returns the weight's gradient of samples with these images and gradients of y.
std::vector<float> weightGrad(const TapConv& conv, const ConvPlan& p,
                              const std::vector<std::vector<float>>& images,
                              const std::vector<std::vector<float>>& dys) {
    std::vector<float> sums(static_cast<size_t>(conv.sumFloats() * p.groups));
    Groups groups(conv, p);
    for (size_t i = 0; i < images.size(); ++i)
        groups.each(images[i], [&](const float* laidOut, int64_t firstWeight, int64_t firstOfY) {
            conv.addWeightGrad(laidOut, dys[i].data() + firstOfY,
                               sums.data() + firstWeight * kTapLanes);
        });
    std::vector<float> joined;
    for (int64_t i = 0; i < p.o * p.taps(); ++i)
        joined.push_back(TapConv::joined(sums.data() + i * kTapLanes));
    return joined;
}

} // namespace

class TestTapConv : public QObject {
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
    void infiniteNeighboursStayOut();
    void op_data();
    void op();
    void whichAreTaken();

private:
    static TapConv convOf(const ConvPlan& p) {
        QFETCH_GLOBAL(int, set);
        return TapConv(p, static_cast<VectorSet>(set));
    }
};

void TestTapConv::values_data() {
    QTest::addColumn<int>("width");
    QTest::addColumn<int>("outputs");
    QTest::addColumn<int>("how");
    for (const int width : {1, 3, 7, 8, 9, 14, 16, 17, 28, 32, 33, 50})
        for (const int outputs : {1, 2, 3, 6, 8, 16})
            for (int how = 0; how < 7; ++how)
                QTest::addRow("%d wide, %d outputs, way %d", width, outputs, how)
                    << width << outputs << how;
}

void TestTapConv::values() {
    QFETCH(int, width);
    QFETCH(int, outputs);
    QFETCH(int, how);
    const ConvPlan ways[] = {
        planOf(1, 7, width, outputs, {3, 3}, {1, 1}, {1, 1}),
        planOf(1, 9, width + 4, outputs, {5, 5}, {1, 1}, {0, 0}),
        planOf(2, 8, 2 * width, outputs, {4, 4}, {2, 2}, {1, 1}),
        planOf(3, 5, 3 * width, outputs, {1, 3}, {2, 3}, {0, 2}),
        planOf(1, 3, width, outputs, {2, 2}, {3, 1}, {2, 3}),
        planOf(planOf(1, 7, width + 1, outputs, {3, 3}, {2, 1}, {3, 2}), 1, {3, 2}),
        planOf(planOf(6, 5, 2 * width, 3 * outputs, {2, 3}, {1, 2}, {1, 1}), 3, {2, 1})};
    const ConvPlan& p = ways[how];
    const TapConv conv = convOf(p);
    std::vector<std::vector<float>> images, dys;
    Exact grad(p.o * p.taps());
    const std::vector<float> weight = normal(p.o * p.taps(), 1);
    for (uint64_t sample = 0; sample < 3; ++sample) {
        images.push_back(guarded(normal(p.image(), 10 + sample)));
        dys.push_back(guarded(normal(p.o * p.places(), 20 + sample)));
        Exact y(p.o * p.places());
        forEachProduct(p, [&](size_t output, size_t tap, size_t pixel) {
            y.add(output, weight[tap], images.back()[pixel]);
            grad.add(tap, dys.back()[output], images.back()[pixel]);
        });
        const std::vector<float> got = forward(conv, p, images.back(), weight);
        QVERIFY(!got.empty());
        QVERIFY(y.holds(got, p.taps()));
        QVERIFY(guardsAreWhole(got));
    }
    QVERIFY(grad.holds(weightGrad(conv, p, images, dys), 3 * p.places()));
}

/// Vectors reach beyond the end of a row; what lies there is another row's.
void TestTapConv::infiniteNeighboursStayOut() {
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const ConvPlan p = planOf(1, 4, 11, 2, {1, 3}, {1, 1}, {0, 1});
    const TapConv conv = convOf(p);
    std::vector<float> image(static_cast<size_t>(p.image()), 1),
        dy(static_cast<size_t>(p.o * p.places()), 1);
    const auto firstOf = [&](int64_t row) { return static_cast<size_t>(row * p.w); };
    image[firstOf(2)] = kInf;
    std::fill_n(dy.begin() + p.places(), p.places(), 0.0F);
    dy[firstOf(2)] = dy[firstOf(2) + 1] = 0; // the taps that see it
    const std::vector<float> grad = weightGrad(conv, p, {image}, {dy});
    QVERIFY(std::isnan(grad[0]) && std::isnan(grad[1])); // inf x 0, as it should
    QVERIFY(std::isfinite(grad[2]));                     // sees it at no place
    const std::vector<float> weight(static_cast<size_t>(p.o * p.taps()), 1);
    const std::vector<float> y = forward(conv, p, image, weight);
    QVERIFY(!y.empty());
    for (size_t i = 0; i < dy.size(); ++i) {
        const size_t at = i % static_cast<size_t>(p.places());
        QCOMPARE(std::isinf(y[i]), at == firstOf(2) || at == firstOf(2) + 1);
    }
}

/// As an op, cut into tasks, with operands and results of any type.
void TestTapConv::op_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<bool>("depthwise");
    QTest::addColumn<int>("dtype");
    for (const Op op : {Op::Conv2d, Op::Conv2dInputGrad, Op::Conv2dWeightGrad})
        for (const bool depthwise : {false, true})
            for (const DType type : {DType::F32, DType::F16, DType::BF16})
                if (depthwise || op != Op::Conv2dInputGrad)
                    QTest::addRow("%s%s, %s", infoOf(op).name.data(),
                                  depthwise ? ", depthwise" : "", nameOf(type).data())
                        << static_cast<int>(op) << depthwise << static_cast<int>(type);
}

void TestTapConv::op() {
    QFETCH(int, which);
    QFETCH(bool, depthwise);
    QFETCH(int, dtype);
    const auto op = static_cast<Op>(which);
    const auto type = static_cast<DType>(dtype);
    const Shape image = depthwise ? Shape{21, 12, 20, 18} : Shape{21, 1, 28, 28},
                weight = depthwise ? Shape{24, 1, 3, 3} : Shape{13, 1, 5, 5};
    ConvAttrs how{{1, 1}, {2, 2}, {}, {1, 1}, depthwise ? 12 : 1};
    const Shape y = test::outOf(image, weight, how);
    if (op == Op::Conv2dWeightGrad) how.target = {weight[2], weight[3]};
    if (op == Op::Conv2dInputGrad) how.target = {image[2], image[3]};
    Graph graph;
    Builder builder(graph);
    const NodeId in[] = {builder.input("a", op == Op::Conv2dInputGrad ? y : image, type),
                         builder.input("b", op == Op::Conv2dWeightGrad ? y : weight, type)};
    const NodeId out = builder.emit(op, in, how);
    graph.addOutput("out", out);
    Leaves leaves, sizes;
    for (uint64_t i = 0; i < 2; ++i) {
        leaves[in[i]] = test::randomTensor(graph[in[i]].shape, 7, i, -1, 1);
        for (double& v : leaves[in[i]].values)
            v = roundTo(type, v);
        sizes[in[i]] = leaves[in[i]];
        for (double& v : sizes[in[i]].values)
            v = std::fabs(v);
    }
    const auto run = [&](int threads) {
        return test::runSteps(graph, leaves, FuseOptions::None, threads, 1).at("out");
    };
    const auto got = run(1);
    QVERIFY(run(2) == got);
    QVERIFY(run(3) == got);
    const auto exact = test::valueOf(graph, leaves, out, RefRounding::None).values,
               size = test::valueOf(graph, sizes, out, RefRounding::None).values;
    const auto terms = static_cast<double>(op == Op::Conv2dWeightGrad ? image[0] * y[2] * y[3]
                                                                      : 2 * weight[2] * weight[3]);
    for (size_t i = 0; i < exact.size(); ++i) {
        const double sum = kRoundoff * terms * size[i];
        const double bound = sum + formatOf(type).unitRoundoff() * (std::fabs(exact[i]) + sum) +
                             formatOf(type).minSubnormal / 2;
        QVERIFY(std::fabs(got[i] - exact[i]) <= bound);
    }
}

void TestTapConv::whichAreTaken() {
    const auto plan = [](int64_t n, int64_t c, int64_t width) {
        ConvPlan p = planOf(c, 28, width, 16, {3, 3}, {1, 1}, {1, 1});
        p.n = n;
        return p;
    };
    QVERIFY(isTapConv(Op::Conv2d, plan(64, 1, 28)));
    QVERIFY(isTapConv(Op::Conv2dWeightGrad, plan(64, 3, 28)));
    QVERIFY(!isTapConv(Op::Conv2dInputGrad, plan(64, 1, 28))); // 144 taps
    QVERIFY(!isTapConv(Op::Conv2d, plan(64, 4, 28)));          // 36 taps
    QVERIFY(!isTapConv(Op::Conv2d, plan(64, 1, 7)));
    QVERIFY(!isTapConv(Op::Conv2d, plan(1, 1, 28))); // small: the same bits everywhere
    ConvPlan depthwise = plan(64, 16, 28);
    depthwise.groups = 16;
    for (const Op op : {Op::Conv2d, Op::Conv2dInputGrad, Op::Conv2dWeightGrad})
        QVERIFY(isTapConv(op, depthwise));
    depthwise.w = depthwise.ow = 5;
    QVERIFY(isTapConv(Op::Conv2d, depthwise));
    depthwise.padding = {3, 1}; // the mirrored kernel would need rows cut off
    QVERIFY(!isTapConv(Op::Conv2dInputGrad, depthwise));
}

} // namespace tst_tap_conv

QTEST_GUILESS_MAIN(tst_tap_conv::TestTapConv)
#include "tst_tap_conv.moc"
