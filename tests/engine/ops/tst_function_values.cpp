// Functions of the suite whose values follow from their definitions, what they refuse, slopes at
// corners, and dropout's random masks.
#include "engine/core/error.h"
#include "engine/ops/functional.h"
#include "engine/ops/op_info.h"
#include "tests/support/gradient_check.h"
#include "tests/support/run_program.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace tst_function_values {

using namespace halfscope;
using halfscope::test::Leaves;

namespace {

constexpr uint64_t kSeed = 60221;

using In = std::span<const NodeId>;
using Loss = std::function<NodeId(Builder&, In)>;

double largest(const std::vector<double>& values) {
    double most = 0;
    for (const double v : values)
        most = std::isfinite(v) ? std::max(most, std::fabs(v)) : most;
    return most;
}

/// Returns the value of a function of F32 tensors, by the reference.
std::vector<double> valueOf(const std::vector<RefTensor>& given,
                            const std::function<NodeId(Builder&, In)>& emit) {
    Graph graph;
    Builder b(graph);
    Leaves leaves;
    std::vector<NodeId> in;
    for (const RefTensor& tensor : given) {
        in.push_back(b.input("x" + std::to_string(in.size()), tensor.shape, DType::F32));
        leaves[in.back()] = tensor;
    }
    return test::valueOf(graph, leaves, emit(b, in)).values;
}

bool near(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return false;
    const double bound = 16 * formatOf(DType::F32).unitRoundoff() * std::max(1.0, largest(b));
    for (size_t i = 0; i < a.size(); ++i)
        if (!(std::fabs(a[i] - b[i]) <= bound)) return false;
    return true;
}

} // namespace

class TestFunctionValues : public QObject {
    Q_OBJECT

private slots:
    void einsumForms();
    void einsumRefusals();
    void attentionOfOneKey();
    void causalAttention();
    void causalAttentionHidesOverflow();
    void paddingHasNoGradient();
    void transposedConvolution();
    void productsOfMatrices();
    void conventions();
    void gridSampleCountsPixels();
    void refusals_data();
    void refusals();
    void lossRefusals_data();
    void lossRefusals();
    void indicesOutOfRange();
    void poolOfNans();
    void hardtanhSlopes();
    void geluByTanh_data();
    void geluByTanh();
    void slopeOfANormAtZero();
    void dropoutMask();
    void dropoutOfTwoLayers();
    void otherDropouts_data();
    void otherDropouts();
    void slopesOfRrelu();
    void dropoutFollowsItsCounter();
};

void TestFunctionValues::einsumForms() {
    const RefTensor a{Shape{2, 3}, {1, 2, 3, 4, 5, 6}}, c{Shape{3, 2}, {1, 0, 2, 1, 0, 3}};
    const auto form = [&](const char* equation) {
        return valueOf({a, c},
                       [&](Builder& b, In in) { return fn::einsum(b, equation, in[0], in[1]); });
    };
    QCOMPARE(form("ij,jk->ik"), (std::vector<double>{5, 11, 14, 23}));
    QCOMPARE(form("ij,jk->ki"), (std::vector<double>{5, 14, 11, 23}));
    QCOMPARE(form("ij,ji->"), (std::vector<double>{5 + 23}));
    QCOMPARE(form("ij,ji->ij"), (std::vector<double>{1, 4, 0, 0, 5, 18}));
    QCOMPARE(form("ij,ji->j"), (std::vector<double>{1, 9, 18}));
    QCOMPARE(form("ab,cd->abcd").size(), size_t{36});
}

void TestFunctionValues::einsumRefusals() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {3, 3}, DType::F32);
    for (const char* bad : {"ij->i", "ij,jk", "ii,ij->j", "ij,jk->iz", "ij,kl->ik", "iJ,Jk->ik"})
        QVERIFY_THROWS_EXCEPTION(InputError, fn::einsum(b, bad, x, x));
}

void TestFunctionValues::attentionOfOneKey() {
    // a single key has the whole share: the result is its value for every query
    const auto y = valueOf(
        {{Shape{2, 2}, {1, 2, -3, 4}}, {Shape{1, 2}, {5, 6}}, {Shape{1, 2}, {7, 8}}},
        [](Builder& b, In in) { return fn::scaledDotProductAttention(b, in[0], in[1], in[2]); });
    QCOMPARE(y, (std::vector<double>{7, 8, 7, 8}));
}

namespace {

NodeId causal(Builder& b, In in) {
    return fn::scaledDotProductAttention(b, in[0], in[1], in[2], {}, fn::AttentionMask::Causal);
}

} // namespace

/// Computed by hand: with scores of 0, each position gives itself and those before it equal shares.
/// With fewer queries than keys, and with more, both count from their first, as in PyTorch's
/// is_causal.
void TestFunctionValues::causalAttention() {
    const auto meansOf = [](int64_t queries, int64_t keys) {
        RefTensor values{Shape{keys, 1}, {}};
        for (int64_t i = 0; i < keys; ++i)
            values.values.push_back(static_cast<double>(6 * (i + 1) * (i + 1)));
        const auto zeros = [](int64_t rows) {
            return RefTensor{Shape{rows, 1}, std::vector<double>(static_cast<size_t>(rows), 0)};
        };
        return valueOf({zeros(queries), zeros(keys), values}, causal);
    };
    QCOMPARE(meansOf(3, 3), (std::vector<double>{6, 15, 28}));
    QCOMPARE(meansOf(2, 3), (std::vector<double>{6, 15}));
    QCOMPARE(meansOf(3, 2), (std::vector<double>{6, 15, 15}));
}

/// The first query's hidden score is infinite, and so is one that the second query sees.
void TestFunctionValues::causalAttentionHidesOverflow() {
    const double inf = std::numeric_limits<double>::infinity();
    const RefTensor ones{Shape{2, 1}, {1, 1}}, values{Shape{2, 1}, {7, 8}};
    for (const double endless : {inf, -inf}) {
        const auto y = valueOf({ones, {Shape{2, 1}, {1, endless}}, values}, causal);
        QCOMPARE(y[0], 7.0);
        QVERIFY(endless > 0 ? std::isnan(y[1]) : y[1] == 7);
        // a row without a finite score is NaN, whatever is hidden in it
        const auto first = valueOf({ones, {Shape{2, 1}, {endless, 1}}, values}, causal);
        QVERIFY(std::isnan(first[0]));
    }
}

/// Rows of the table by index, with one whose gradient is zero even when the slope is NaN.
void TestFunctionValues::paddingHasNoGradient() {
    Graph graph;
    Builder b(graph);
    const NodeId table = b.input("table", {3, 2}, DType::F32);
    const NodeId index = b.input("index", {2, 2}, DType::I32);
    const NodeId slope = b.input("slope", {2, 2, 2}, DType::F32);
    const NodeId rows = fn::embedding(b, table, index, 1);
    const NodeId sum = b.sumAll(b.mul(rows, slope));
    const NodeId gradient = gradients(b, sum, std::array{table})[0].value();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto values = evaluate(graph,
                                 {{table, {Shape{3, 2}, {1, 2, 3, 4, 5, 6}}},
                                  {index, {Shape{2, 2}, {1, 2, 2, 1}}},
                                  {slope, {Shape{2, 2, 2}, {nan, nan, 10, 20, 1, 2, 7, 7}}}},
                                 std::vector{rows, gradient}, RefRounding::None);
    QCOMPARE(values.at(rows).values, (std::vector<double>{3, 4, 5, 6, 5, 6, 3, 4}));
    QCOMPARE(values.at(gradient).values, (std::vector<double>{0, 0, 0, 0, 11, 22}));
}

void TestFunctionValues::transposedConvolution() {
    // stride 2: each pixel stamps the kernel, and the stamps do not overlap
    const auto y =
        valueOf({{Shape{1, 1, 1, 2}, {1, 10}}, {Shape{1, 1, 1, 2}, {2, 3}}}, [](Builder& b, In in) {
            return fn::convTranspose2d(b, in[0], in[1], kNoNode, {{1, 2}, {0, 0}, {}}, {0, 1});
        });
    QCOMPARE(y, (std::vector<double>{2, 3, 20, 30, 0}));
}

void TestFunctionValues::productsOfMatrices() {
    const RefTensor m{Shape{2, 2}, {1, 2, 3, 4}}, v{Shape{2}, {5, 6}}, t{Shape{2, 1, 1}, {2, 3}};
    QCOMPARE(
        valueOf({v, m, v}, [](Builder& b, In in) { return fn::addmv(b, in[0], in[1], in[2]); }),
        (std::vector<double>{22, 45}));
    QCOMPARE(valueOf({t, t},
                     [](Builder& b, In in) {
                         return fn::addbmm(b, b.constant(1, {1, 1}, DType::F32), in[0], in[1]);
                     }),
             (std::vector<double>{1 + 4 + 9}));
    QCOMPARE(valueOf({m, m}, [](Builder& b, In in) { return fn::tensordot(b, in[0], in[1], 2); }),
             (std::vector<double>{30}));
    QCOMPARE(valueOf({{Shape{1, 3}, {1, 0, 0}}, {Shape{1, 3}, {0, 1, 0}}},
                     [](Builder& b, In in) { return fn::cross(b, in[0], in[1], 1); }),
             (std::vector<double>{0, 0, 1}));
}

/// Values whose PyTorch results follow from the definitions.
void TestFunctionValues::conventions() {
    const RefTensor x{Shape{2, 2}, {3, 4, 0, -2}};
    const auto one = [&](NodeId (*emit)(Builder&, NodeId)) {
        return valueOf({x}, [&](Builder& b, In in) { return emit(b, in[0]); });
    };
    const double u = formatOf(DType::F32).unitRoundoff();
    QVERIFY(near(one([](Builder& b, NodeId id) { return fn::norm(b, id, {1}); }), {5, 2}));
    QVERIFY(near(one([](Builder& b, NodeId id) { return fn::var(b, id, {1}); }), {0.5, 2}));
    QVERIFY(near(one([](Builder& b, NodeId id) { return fn::normalize(b, id, 1); }),
                 {0.6, 0.8, 0, -1}));
    QVERIFY(near(one([](Builder& b, NodeId id) { return fn::renorm(b, id, 0, 2.5); }),
                 {1.5, 2, 0, -2}));
    QVERIFY(near(one([](Builder& b, NodeId id) { return fn::cumsum(b, id, 1); }), {3, 7, 0, -2}));
    QVERIFY(near(one([](Builder& b, NodeId id) { return fn::cumprod(b, id, 0); }), {3, 4, 0, -8}));
    QVERIFY(near(one([](Builder& b, NodeId id) { return fn::frac(b, b.scale(id, 0.375)); }),
                 {0.125, 0.5, 0, -0.75}));
    QVERIFY(near(one([](Builder& b, NodeId id) { return fn::pdist(b, id); }), {std::sqrt(45.0)}));
    QVERIFY(near(one([](Builder& b, NodeId id) { return fn::prod(b, id, {}); }), {0}));
    const auto pair = [&](NodeId (*emit)(Builder&, NodeId, NodeId)) {
        return valueOf({x, {Shape{2, 2}, {3, 1, 2, -2.5}}},
                       [&](Builder& b, In in) { return emit(b, in[0], in[1]); });
    };
    QVERIFY(near(pair(fn::l1Loss), {(3 + 2 + 0.5) / 4}));
    QVERIFY(near(pair([](Builder& b, NodeId a, NodeId c) { return fn::smoothL1Loss(b, a, c); }),
                 {(2.5 + 1.5 + 0.125) / 4}));
    QVERIFY(near(pair([](Builder& b, NodeId a, NodeId c) { return fn::huberLoss(b, a, c, 2); }),
                 {(4 + 2 + 0.125) / 4}));
    QVERIFY(near(pair([](Builder& b, NodeId a, NodeId c) { return fn::lerp(b, a, c, 1); }),
                 {3, 1, 2, -2.5}));
    // pixels of a 1 x 2 image at their centres, half way between them, and outside
    const auto read =
        valueOf({{Shape{1, 1, 1, 2}, {10, 20}}, {Shape{1, 1, 4, 2}, {-0.5, 0, 0.5, 0, 0, 0, 3, 0}}},
                [](Builder& b, In in) { return fn::gridSample(b, in[0], in[1]); });
    QVERIFY(near(read, {10, 20, 15, 0}));
    // windows of unequal size: rows 0-1 and 1-2 of three
    const auto pooled = valueOf({{Shape{1, 1, 3, 1}, {1, 2, 6}}}, [](Builder& b, In in) {
        return fn::adaptiveAvgPool2d(b, in[0], {2, 1});
    });
    QVERIFY(near(pooled, {1.5, 4}));
    const auto most = valueOf({{Shape{1, 1, 3, 1}, {1, 2, 6}}}, [](Builder& b, In in) {
        return fn::adaptiveMaxPool2d(b, in[0], {2, 1});
    });
    QCOMPARE(most, (std::vector<double>{2, 6}));
    const auto picked = valueOf({x}, [](Builder& b, In in) {
        return fn::indexSelect(b, in[0], 1, b.constant(1, {3}, DType::I32));
    });
    QCOMPARE(picked, (std::vector<double>{4, 4, 4, -2, -2, -2}));
    // a loss far beyond the range of exp
    const auto soft = valueOf({{Shape{1}, {-1000}}, {Shape{1}, {1}}}, [](Builder& b, In in) {
        return fn::softMarginLoss(b, in[0], in[1]);
    });
    QVERIFY(std::fabs(soft[0] - 1000) <= 1000 * u);
}

/// In float32, which holds whole numbers up to 2^24.
void TestFunctionValues::gridSampleCountsPixels() {
    Graph graph;
    Builder b(graph);
    const NodeId grid = b.input("grid", {1, 1, 1, 2}, DType::F32);
    const auto image = [&](int64_t wide) { return b.input("x", {1, 1, 4096, wide}, DType::F32); };
    fn::gridSample(b, image(4096), grid);
    QVERIFY_THROWS_EXCEPTION(std::logic_error, fn::gridSample(b, image(4097), grid));
}

void TestFunctionValues::refusals_data() {
    QTest::addColumn<int>("index");
    for (int i = 0; i < 7; ++i)
        QTest::addRow("%d", i) << i;
}

void TestFunctionValues::refusals() {
    QFETCH(int, index);
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {4, 4}, DType::F32), h = b.input("h", {4, 4}, DType::F16);
    const NodeId zero = b.constant(0, {}, DType::I32);
    const std::function<void()> calls[] = {
        [&] { fn::mm(b, x, h); },
        [&] { fn::lerp(b, x, h, 0.5); },
        [&] { fn::pdist(b, h); },
        [&] { fn::dropout(b, x, 1.5, zero, 1); },
        [&] { fn::groupNorm(b, x, 3, kNoNode, kNoNode, 1e-5); },
        [&] { fn::var(b, b.slice(x, 1, 0, 1), {1}); },
        [&] { fn::prelu(b, x, b.input("slopes", {3}, DType::F32)); },
    };
    QVERIFY_THROWS_EXCEPTION(InputError, calls[index]());
}

void TestFunctionValues::lossRefusals_data() {
    QTest::addColumn<Loss>("loss");
    QTest::addColumn<std::string>("says");
    const auto pair = [](const char* name, NodeId (*loss)(Builder&, NodeId, NodeId)) {
        QTest::newRow(name) << Loss([=](Builder& b, In in) { return loss(b, in[0], in[1]); })
                            << name + std::string(": input [4, 3] and target [4, 1] differ");
    };
    pair("mse_loss", fn::mseLoss);
    pair("binary_cross_entropy", fn::bce);
    pair("binary_cross_entropy_with_logits", fn::bceWithLogits);
    pair("l1_loss", fn::l1Loss);
    pair("kl_div", fn::klDiv);
    pair("soft_margin_loss", fn::softMarginLoss);
    pair("poisson_nll_loss", fn::poissonNllLoss);
    QTest::newRow("smooth_l1_loss")
        << Loss([](Builder& b, In in) { return fn::smoothL1Loss(b, in[0], in[0], 0); })
        << std::string("smooth_l1_loss: beta must be above 0 (0 is l1_loss)");
    QTest::newRow("huber_loss") << Loss([](Builder& b, In in) {
        return fn::huberLoss(b, in[0], in[0], -1);
    }) << std::string("huber_loss: delta must be above 0");
    QTest::newRow("cross_entropy")
        << Loss([](Builder& b, In in) { return fn::crossEntropy(b, in[0], in[1]); })
        << std::string(
               "cross_entropy: logits (n, classes) and int32 labels (n) expected, not [4, 3] "
               "and [4, 1]");
    QTest::newRow("nll_loss")
        << Loss([](Builder& b, In in) { return fn::nllLoss(b, in[0], in[1]); })
        << std::string(
               "nll_loss: (n, classes) and int32 labels (n) expected, not [4, 3] and [4, 1]");
    QTest::newRow("cosine_embedding_loss")
        << Loss([](Builder& b, In in) { return fn::cosineEmbeddingLoss(b, in[0], in[0], in[1]); })
        << std::string("cosine_embedding_loss: two (n, d) and targets (n) expected");
    QTest::newRow("margin_ranking_loss")
        << Loss([](Builder& b, In in) { return fn::marginRankingLoss(b, in[0], in[0], in[1]); })
        << std::string("margin_ranking_loss: three operands of one shape expected");
    QTest::newRow("triplet_margin_loss")
        << Loss([](Builder& b, In in) { return fn::tripletMarginLoss(b, in[0], in[0], in[1]); })
        << std::string("triplet_margin_loss: three (n, d) expected");
}

/// Tensors that do not fit are the caller's mistake, whichever loss gets them.
void TestFunctionValues::lossRefusals() {
    QFETCH(Loss, loss);
    QFETCH(std::string, says);
    Graph graph;
    Builder b(graph);
    const std::array in{b.input("x", {4, 3}, DType::F32), b.input("target", {4, 1}, DType::F32)};
    QCOMPARE(thrownBy<InputError>([&] { loss(b, in); }), says);
}

void TestFunctionValues::indicesOutOfRange() {
    for (const double index : {-1.0, 3.0}) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {2, 3}, DType::F32), at = b.input("at", {2, 1}, DType::I32);
        const NodeId picked = b.emit(Op::Gather, {x, at}, AxisAttrs{1, 0});
        graph.addOutput("picked", picked);
        const Leaves leaves{{x, {Shape{2, 3}, std::vector<double>(6)}},
                            {at, {Shape{2, 1}, {0, index}}}};
        QVERIFY_THROWS_EXCEPTION(std::logic_error, test::valueOf(graph, leaves, picked));
        QVERIFY_THROWS_EXCEPTION(std::logic_error,
                                 test::runSteps(graph, leaves, FuseOptions::Full, 1, 1));
    }
}

/// A nan is larger than all numbers, and of several nans the first is taken.
void TestFunctionValues::poolOfNans() {
    const double nan = std::nan("");
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {1, 1, 1, 6}, DType::F32);
    const PoolAttrs how{{1, 3}, {1, 3}, {0, 0}, {}};
    const NodeId index = b.emit(Op::MaxPool2dIndex, {x}, how);
    graph.addOutput("index", index);
    const Leaves leaves{{x, {Shape{1, 1, 1, 6}, {9, nan, nan, 1, 2, 2}}}};
    const std::vector<double> wanted{1, 4};
    QCOMPARE(test::valueOf(graph, leaves, index).values, wanted);
    QCOMPARE(test::runSteps(graph, leaves, FuseOptions::Full, 1, 1).at("index"), wanted);
}

void TestFunctionValues::hardtanhSlopes() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {5}, DType::F32);
    const NodeId y = b.sumAll(fn::hardtanh(b, x));
    const Leaves leaves{{x, {Shape{5}, {-2, -1, 0.5, 1, 2}}}};
    const NodeId slope = *gradients(b, y, std::array{x})[0];
    // 0 at the bounds themselves, as in PyTorch
    QCOMPARE(test::valueOf(graph, leaves, slope).values, (std::vector<double>{0, 0, 1, 0, 0}));
}

void TestFunctionValues::geluByTanh_data() {
    QTest::addColumn<int>("dtype");
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
        QTest::addRow("%s", std::string(nameOf(dtype)).c_str()) << static_cast<int>(dtype);
}

/// Values and slopes are those of the formula in torch.nn.GELU, rounded once to the dtype of x.
void TestFunctionValues::geluByTanh() {
    QFETCH(int, dtype);
    const auto type = static_cast<DType>(dtype);
    const std::vector<double> points{-100, -8, -2, -0.75, -0.0625, 0, 0.03125, 0.5, 1, 3, 240};
    const auto count = static_cast<int64_t>(points.size());
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {count}, type);
    const NodeId y = fn::geluTanh(b, x);
    QCOMPARE(b.dtypeOf(y), type);
    const NodeId slope = *gradients(b, b.sumAll(y), std::array{x})[0];
    const Leaves leaves{{x, {Shape{count}, points}}};
    const auto values = test::valueOf(graph, leaves, y).values;
    const auto slopes = test::valueOf(graph, leaves, slope).values;
    const double factor = std::sqrt(2 / std::numbers::pi);
    const double u = formatOf(type).unitRoundoff(), u32 = formatOf(DType::F32).unitRoundoff();
    for (size_t i = 0; i < points.size(); ++i) {
        const double v = points[i], t = std::tanh(factor * (v + 0.044715 * v * v * v));
        const double wanted = v / 2 * (1 + t);
        const double bend = factor * (1 + 3 * 0.044715 * v * v);
        const double rising = (1 + t) / 2 + v / 2 * (1 - t * t) * bend;
        // eight roundings in float32 on the way, of values up to 1 + x^2, then the one of the dtype
        const double inner = 8 * u32 * (1 + v * v);
        QVERIFY(std::fabs(values[i] - wanted) <= u * std::fabs(wanted) + inner);
        QVERIFY(std::fabs(slopes[i] - rising) <= u * std::fabs(rising) + inner);
    }
}

void TestFunctionValues::slopeOfANormAtZero() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {2, 3}, DType::F32);
    const Leaves leaves{{x, {Shape{2, 3}, std::vector<double>(6)}}};
    for (const NodeId y : {fn::norm(b, x, {1}), fn::stddev(b, x, {1}), fn::normalize(b, x, 1),
                           fn::cosineSimilarity(b, x, x, 1)}) {
        const NodeId slope = *gradients(b, b.sumAll(y), std::array{x})[0];
        for (const double v : test::valueOf(graph, leaves, slope).values)
            QVERIFY(std::isfinite(v));
    }
}

/// Kept values are scaled, the gradient uses the same mask, and the share of kept values is right.
void TestFunctionValues::dropoutMask() {
    constexpr int64_t kCount = 20011;
    constexpr double kP = 0.25;
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {kCount}, DType::F32);
    const NodeId counter = b.input("counter", {}, DType::I32);
    const NodeId y = fn::dropout(b, x, kP, counter, kSeed);
    graph.addOutput("y", y);
    graph.addOutput("slope", *gradients(b, b.sumAll(y), std::array{x})[0]);
    const Leaves leaves{{x, {Shape{kCount}, std::vector<double>(kCount, 3)}},
                        {counter, {Shape{}, {7}}}};
    const auto run = test::runSteps(graph, leaves, FuseOptions::Full, 2, 1);
    int64_t dropped = 0;
    for (size_t i = 0; i < run.at("y").size(); ++i) {
        QCOMPARE(run.at("y")[i] == 0, run.at("slope")[i] == 0);
        QVERIFY(run.at("y")[i] == 0 || run.at("y")[i] == 4);
        dropped += run.at("y")[i] == 0 ? 1 : 0;
    }
    // five standard deviations of a binomial count
    const double sigma = std::sqrt(kCount * kP * (1 - kP));
    QVERIFY(std::fabs(static_cast<double>(dropped) - kCount * kP) < 5 * sigma);
    QCOMPARE(test::runSteps(graph, leaves, FuseOptions::None, 3, 1).at("y"), run.at("y"));
    QCOMPARE(test::valueOf(graph, leaves, y).values, run.at("y"));
}

/// Two equal calls make two masks: nodes are not reused.
void TestFunctionValues::dropoutOfTwoLayers() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.constant(1, {64}, DType::F32), counter = b.input("n", {}, DType::I32);
    const NodeId first = fn::dropout(b, x, 0.5, counter, 1),
                 second = fn::dropout(b, x, 0.5, counter, 1);
    QVERIFY(first != second);
    const Leaves leaves{{counter, {Shape{}, {0}}}};
    QVERIFY(test::valueOf(graph, leaves, first).values !=
            test::valueOf(graph, leaves, second).values);
    // p 0 keeps everything, and p 1 nothing
    QCOMPARE(test::valueOf(graph, leaves, fn::dropout(b, x, 0, counter, 1)).values,
             std::vector<double>(64, 1));
    QCOMPARE(test::valueOf(graph, leaves, fn::dropout(b, x, 1, counter, 1)).values,
             std::vector<double>(64, 0));
}

void TestFunctionValues::otherDropouts_data() {
    QTest::addColumn<bool>("channels");
    QTest::addColumn<bool>("alpha");
    QTest::addColumn<int>("dtype");
    QTest::addColumn<double>("p");
    QTest::addColumn<double>("dropped");
    QTest::addColumn<double>("kept");
    const auto add = [](bool channels, bool alpha, DType dtype, double p, double dropped,
                        double kept) {
        QTest::addRow("%s%s%s %g", channels ? "channels " : "", alpha ? "alpha " : "",
                      nameOf(dtype).data(), p)
            << channels << alpha << static_cast<int>(dtype) << p << dropped << kept;
    };
    const auto channels = [&](DType dtype, double p, double dropped, double kept) {
        add(true, false, dtype, p, dropped, kept);
    };
    const auto alpha = [&](DType dtype, double p, double dropped, double kept) {
        add(false, true, dtype, p, dropped, kept);
        add(true, true, dtype, p, dropped, kept);
    };
    channels(DType::F32, 0.1, 0, 1.388888955116272);
    channels(DType::F16, 0.1, 0, 1.388671875);
    channels(DType::BF16, 0.1, 0, 1.390625);
    channels(DType::F32, 1, 0, 0);
    alpha(DType::F32, 0.1, -1.4577387571334839, 1.313576579093933);
    alpha(DType::F16, 0.1, -1.4580078125, 1.3134765625);
    alpha(DType::BF16, 0.1, -1.453125, 1.3203125);
    alpha(DType::F32, 0.5, -0.7791939377784729, 1.887200117111206);
    alpha(DType::F16, 0.5, -0.779296875, 1.88671875);
    alpha(DType::BF16, 0.5, -0.77734375, 1.890625);
    alpha(DType::F16, 1, 0, 0);
}

/// What PyTorch 2.15 makes of 1.25 with dropout2d(), alpha_dropout() and feature_alpha_dropout():
/// bit for bit, channel by channel or element by element, with the slope of what is kept.
void TestFunctionValues::otherDropouts() {
    QFETCH(bool, channels);
    QFETCH(bool, alpha);
    QFETCH(int, dtype);
    QFETCH(double, p);
    QFETCH(double, dropped);
    QFETCH(double, kept);
    const Shape shape{50, 20, 2, 3};
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", shape, static_cast<DType>(dtype));
    const NodeId counter = b.input("counter", {}, DType::I32);
    const auto function = !alpha     ? fn::channelDropout
                          : channels ? fn::featureAlphaDropout
                                     : fn::alphaDropout;
    const NodeId y = function(b, x, p, counter, kSeed);
    graph.addOutput("y", y);
    graph.addOutput("slope", *gradients(b, b.sumAll(y), std::array{x})[0]);
    const Leaves leaves{{x, {shape, std::vector<double>(6000, 1.25)}}, {counter, {Shape{}, {7}}}};
    const auto run = test::runSteps(graph, leaves, FuseOptions::Full, 2, 1);
    int mixed = 0, drops = 0;
    for (size_t i = 0; i < 6000; ++i) {
        const double value = run.at("y")[i];
        QVERIFY2(value == dropped || value == kept, std::to_string(value).c_str());
        QCOMPARE(run.at("slope")[i] == 0, value == dropped);
        mixed += i % 6 > 0 && value != run.at("y")[i - 1];
        drops += value == dropped;
    }
    QCOMPARE(mixed == 0, channels || p == 1);
    const double draws = channels ? 1000 : 6000; // five standard deviations of a binomial count
    const double share = drops / 6000.0;
    QVERIFY(std::fabs(share - p) <= 5 * std::sqrt(p * (1 - p) / draws));
}

/// Slopes are drawn for each number up to 0, evenly between the bounds; the others keep theirs
/// of 1.
void TestFunctionValues::slopesOfRrelu() {
    constexpr int64_t kCount = 6000;
    constexpr double kLow = 0.25, kHigh = 0.75;
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {kCount}, dtype), counter = b.input("n", {}, DType::I32);
        const NodeId y = fn::rrelu(b, x, kLow, kHigh, counter, kSeed);
        graph.addOutput("y", y);
        graph.addOutput("slope", *gradients(b, b.sumAll(y), std::array{x})[0]);
        std::vector<double> values(kCount);
        for (size_t i = 0; i < values.size(); ++i)
            values[i] = std::array{-2.0, 3.0, 0.0}[i % 3];
        const auto run =
            test::runSteps(graph, {{x, {Shape{kCount}, values}}, {counter, {Shape{}, {7}}}},
                           FuseOptions::Full, 2, 1);
        double sum = 0;
        for (size_t i = 0; i < values.size(); ++i) {
            const double slope = run.at("slope")[i];
            QCOMPARE(run.at("y")[i], slope * values[i]); // by a power of two, or 1
            QVERIFY(values[i] > 0 ? slope == 1 : slope >= kLow && slope <= kHigh);
            sum += values[i] > 0 ? 0 : slope;
        }
        // five standard deviations of the mean of that many even numbers
        const double draws = 2.0 * kCount / 3, width = kHigh - kLow;
        QVERIFY(std::fabs(sum / draws - (kLow + kHigh) / 2) <= 5 * width / std::sqrt(12 * draws));
    }
}

void TestFunctionValues::dropoutFollowsItsCounter() {
    Graph graph;
    Builder b(graph);
    const NodeId steps = b.state("steps", {}, DType::F32, StateRole::Counter);
    graph.setNext(steps, b.shift(steps, 1));
    const NodeId x = b.constant(1, {256}, DType::F16);
    graph.addOutput("y", fn::dropout(b, x, 0.5, steps, 1));
    const Leaves leaves{{steps, {Shape{}, {0}}}};
    const auto after = [&](int n) {
        return test::runSteps(graph, leaves, FuseOptions::Full, 2, n).at("y");
    };
    QCOMPARE(after(1), after(1));
    QVERIFY(after(1) != after(2));
}

} // namespace tst_function_values

QTEST_GUILESS_MAIN(tst_function_values::TestFunctionValues)
#include "tst_function_values.moc"
