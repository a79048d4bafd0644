// The functions as PyTorch users know them: promotion, composites at their limits, gradients of
// contractions, pools and composites, refusals. Autocast dtypes are in tst_autocast, values in
// tst_op_values.
#include "engine/core/error.h"
#include "engine/ops/functional.h"
#include "engine/ops/op_info.h"
#include "tests/support/gradient_check.h"
#include "tests/support/run_program.h"

#include <QTest>

#include <cmath>

namespace tst_ops {

using namespace halfscope;
using halfscope::test::Leaves;

namespace {

constexpr uint64_t kSeed = 90125;

using In = std::span<const NodeId>;

/// Returns the value of one node of a graph on the CPU, fused.
std::vector<double> onCpu(Graph& graph, const Leaves& leaves, NodeId node) {
    graph.addOutput("out", node);
    return test::runSteps(graph, leaves, FuseOptions::Full, 2, 1).at("out");
}

} // namespace

class TestOps : public QObject {
    Q_OBJECT

private slots:
    /// Divides as PyTorch does: dy / n rounds once, while dy times a rounded 1 / n would round
    /// twice.
    void meanGradientDivides() {
        constexpr int64_t kCount = 49; // 1 / 49 is no float
        Graph graph;
        Builder b(graph);
        const NodeId x = b.state("x", {100, kCount}, DType::F32, StateRole::Parameter),
                     dy = b.input("dy", {100, 1}, DType::F32);
        const NodeId wrt[] = {x};
        const auto dx = gradients(b, b.mean(x, {1}), wrt, dy);
        graph.addOutput("dx", *dx[0]);
        RefTensor cotangent{{100, 1}, {}};
        for (int i = 0; i < 100; ++i)
            cotangent.values.push_back(1 + i * 0x1p-7);
        const RefTensor zeros{{100, kCount}, std::vector<double>(100 * kCount)};
        const auto found =
            test::runSteps(graph, {{x, zeros}, {dy, cotangent}}, FuseOptions::Full, 1, 1).at("dx");
        int inexact = 0; // how many would differ if multiplied by the reciprocal
        for (size_t i = 0; i < found.size(); ++i) {
            const auto y = static_cast<float>(cotangent.values[i / kCount]);
            QVERIFY(static_cast<float>(found[i]) == y / kCount); // QCOMPARE forgives last bits
            inexact += y * (1.0f / kCount) != y / kCount;
        }
        QVERIFY(inexact > 0);
    }

    void promotion_data() {
        QTest::addColumn<int>("a");
        QTest::addColumn<int>("b");
        QTest::addColumn<int>("rankA");
        QTest::addColumn<int>("wanted");
        const auto row = [](DType a, DType b, int rank, DType wanted) {
            QTest::addRow("%s rank %d, %s", nameOf(a).data(), rank, nameOf(b).data())
                << static_cast<int>(a) << static_cast<int>(b) << rank << static_cast<int>(wanted);
        };
        row(DType::F32, DType::F16, 2, DType::F32);
        row(DType::F16, DType::BF16, 2, DType::F32);
        row(DType::BF16, DType::BF16, 2, DType::BF16);
        row(DType::F64, DType::F16, 2, DType::F64);
        row(DType::I32, DType::F16, 2, DType::F16);
        row(DType::Bool, DType::BF16, 2, DType::BF16);
        row(DType::Bool, DType::I32, 2, DType::F32);
        row(DType::F32, DType::F16, 0, DType::F16); // a scalar does not widen
        row(DType::F32, DType::I32, 0, DType::F32); // but a scalar's category counts
    }
    void promotion() {
        QFETCH(int, a);
        QFETCH(int, b);
        QFETCH(int, rankA);
        QFETCH(int, wanted);
        Graph graph;
        Builder builder(graph);
        const NodeId x =
            builder.input("x", rankA == 0 ? Shape{} : Shape{2, 1}, static_cast<DType>(a));
        const NodeId y = builder.input("y", {2, 3}, static_cast<DType>(b));
        for (const NodeId z : {fn::add(builder, x, y), fn::mul(builder, y, x)}) {
            QCOMPARE(static_cast<int>(builder.dtypeOf(z)), wanted);
            QVERIFY((builder.shapeOf(z) == Shape{2, 3}));
        }
        const NodeId mask = fn::compare(builder, fn::Comparison::GreaterEqual, x, y);
        QCOMPARE(builder.dtypeOf(mask), DType::Bool);
    }

    void matmulShapes_data() {
        QTest::addColumn<QList<int>>("a");
        QTest::addColumn<QList<int>>("b");
        QTest::addColumn<QList<int>>("wanted");
        const auto row = [](const char* name, QList<int> a, QList<int> b, QList<int> wanted) {
            QTest::newRow(name) << a << b << wanted;
        };
        row("dot", {5}, {5}, {});
        row("vector matrix", {5}, {5, 3}, {3});
        row("matrix vector", {4, 5}, {5}, {4});
        row("rows", {2, 3, 4, 5}, {5, 6}, {2, 3, 4, 6});
        row("batch", {2, 4, 5}, {2, 5, 3}, {2, 4, 3});
        row("broadcast batch", {3, 1, 4, 5}, {2, 5, 3}, {3, 2, 4, 3});
        row("vector batch", {5}, {2, 5, 3}, {2, 3});
        row("batch vector", {2, 4, 5}, {5}, {2, 4});
    }
    void matmulShapes() {
        QFETCH(QList<int>, a);
        QFETCH(QList<int>, b);
        QFETCH(QList<int>, wanted);
        const auto shape = [](const QList<int>& list) {
            Shape s;
            for (const int extent : list)
                s.push(extent);
            return s;
        };
        const test::GradientCase matmul{
            "matmul", {{shape(a)}, {shape(b)}}, [&](Builder& builder, In x) {
                const NodeId y = fn::matmul(builder, x[0], x[1]);
                require(builder.shapeOf(y) == shape(wanted), "shape");
                return y;
            }};
        const std::string wrong = test::checkGradients(matmul, kSeed);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void gradient_data() {
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < gradientCases().size(); ++i)
            QTest::newRow(gradientCases()[i].name.c_str()) << static_cast<int>(i);
    }
    void gradient() {
        QFETCH(int, index);
        const std::string wrong =
            test::checkGradients(gradientCases()[static_cast<size_t>(index)], kSeed);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// Ties of the maximum must not distort the gradient of softmax and similar functions.
    void tiesOfTheMaximum() {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {1, 4}, DType::F32);
        const NodeId y = b.reshape(fn::logsumexp(b, x, 1), {});
        const NodeId slope = *gradients(b, y, std::array{x})[0];
        const Leaves leaves{{x, {Shape{1, 4}, {3, 3, 3, 3}}}};
        QCOMPARE(onCpu(graph, leaves, slope), (std::vector<double>{.25, .25, .25, .25}));
    }

    void crossEntropyOfHugeLogits() {
        for (const DType type : {DType::F32, DType::F16}) {
            Graph graph;
            Builder b(graph);
            const CastPolicy policy = torchCudaPolicy(DType::F16);
            const AutocastScope scope(b, &policy);
            const NodeId x = b.input("x", {2, 3}, type);
            const NodeId labels = b.input("labels", {2}, DType::I32);
            const NodeId loss = fn::crossEntropy(b, x, labels);
            const NodeId slope = b.cast(*gradients(b, loss, std::array{x})[0], DType::F32);
            graph.addOutput("slope", slope);
            const Leaves leaves{{x, {Shape{2, 3}, {1000, 0, -1000, 1000, 1000, -1000}}},
                                {labels, {Shape{2}, {1, 0}}}};
            const auto value = onCpu(graph, leaves, loss);
            const auto run = test::runSteps(graph, leaves, FuseOptions::None, 1, 1);
            // (1000 + log 2) / 2, from values that are rounded at 1000
            const double bound = 4 * 1000 * formatOf(DType::F32).unitRoundoff();
            QVERIFY(std::fabs(value[0] - (1000 + std::log(2.0)) / 2) <= bound);
            QCOMPARE(run.at("slope"), (std::vector<double>{.5, -.5, 0, -.25, .25, 0}));
        }
    }

    void bceAtTheEnds() {
        Graph graph;
        Builder b(graph);
        const NodeId p = b.input("p", {4}, DType::F32), t = b.input("t", {4}, DType::F32);
        const NodeId loss = fn::bce(b, p, t);
        graph.addOutput("slope", *gradients(b, loss, std::array{p})[0]);
        const Leaves leaves{{p, {Shape{4}, {0, 1, 0, .5}}}, {t, {Shape{4}, {0, 1, 1, 1}}}};
        const auto value = onCpu(graph, leaves, loss);
        // as in PyTorch, a logarithm is at least -100
        QVERIFY(std::fabs(value[0] - (100 + std::log(2.0)) / 4) < 1e-5);
        const auto run = test::runSteps(graph, leaves, FuseOptions::None, 1, 1);
        for (const double s : run.at("slope"))
            QVERIFY(std::isfinite(s));
    }

    /// Sums of a half norm accumulate in f32, and the variance takes two passes.
    void batchNormStatistics_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<double>("centre");
        QTest::newRow("float16, the sum above 65504") << static_cast<int>(DType::F16) << 512.0;
        QTest::newRow("bfloat16") << static_cast<int>(DType::BF16) << 64.0;
        QTest::newRow("float32, mean 10000 times the deviation")
            << static_cast<int>(DType::F32) << 10000.0;
    }
    void batchNormStatistics() {
        QFETCH(int, type);
        QFETCH(double, centre);
        constexpr int64_t kRows = 1024;
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {kRows, 2}, static_cast<DType>(type));
        const auto norm = fn::batchNorm(b, x, kNoNode, kNoNode, 1, 0);
        QCOMPARE(static_cast<int>(b.dtypeOf(norm.y)), type);
        QCOMPARE(b.dtypeOf(norm.mean), DType::F32);
        graph.addOutput("mean", norm.mean);
        graph.addOutput("variance", norm.unbiasedVariance);
        RefTensor values{Shape{kRows, 2}, {}};
        for (int64_t i = 0; i < kRows; ++i) {
            values.values.push_back(centre + (i % 2 == 0 ? 1 : -1));
            values.values.push_back(-centre + (i % 2 == 0 ? 2 : -2));
        }
        const Leaves leaves{{x, values}};
        const auto y = onCpu(graph, leaves, norm.y);
        const auto run = test::runSteps(graph, leaves, FuseOptions::None, 1, 1);
        QCOMPARE(run.at("mean"), (std::vector<double>{centre, -centre}));
        const double unbias = static_cast<double>(kRows) / static_cast<double>(kRows - 1);
        const double u = formatOf(DType::F32).unitRoundoff();
        for (size_t i = 0; i < 2; ++i) {
            const double wanted = (i == 0 ? 1 : 4) * unbias;
            QVERIFY(std::fabs(run.at("variance")[i] - wanted) <= 4 * u * wanted);
        }
        for (size_t i = 0; i < y.size(); ++i)
            QCOMPARE(y[i], i / 2 % 2 == 0 ? 1.0 : -1.0);
    }

    void normWithGivenStatistics() {
        Graph graph;
        Builder b(graph);
        const auto vector = [&](double value) { return b.constant(value, {3}, DType::F32); };
        const NodeId x = b.input("x", {1, 3, 1, 2}, DType::F16);
        const NodeId y =
            fn::batchNormWith(b, x, vector(3), vector(-1), vector(2), vector(15), 1, 1);
        QCOMPARE(b.dtypeOf(y), DType::F16);
        const Leaves leaves{{x, {Shape{1, 3, 1, 2}, {2, 6, -2, 10, 2, 4}}}};
        // (x - 2) / sqrt(15 + 1) * 3 - 1
        QCOMPARE(onCpu(graph, leaves, y), (std::vector<double>{-1, 2, -4, 5, -1, .5}));
    }

    void integersAreNotDifferentiated() {
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {4, 3}, DType::F32);
        const NodeId stopped = b.unary(Op::StopGradient, x);
        QVERIFY(!gradients(b, b.sumAll(stopped), std::array{x})[0].has_value());
        const NodeId product = b.sumAll(b.mul(stopped, x));
        const Leaves leaves{{x, test::randomTensor({4, 3}, kSeed, 0, -1, 1)}};
        // d (stop(x) * x) / dx = stop(x), not 2 x
        const auto slope = test::valueOf(graph, leaves, *gradients(b, product, std::array{x})[0],
                                         RefRounding::None);
        QCOMPARE(slope.values, leaves.at(x).values);
    }

    /// Sums of nothing are 0, means are NaN, and empty tensors stay empty: fused, unfused and by
    /// the reference.
    void emptyTensors_data() {
        QTest::addColumn<QList<int>>("shape");
        QTest::newRow("no rows") << QList<int>{0, 3};
        QTest::newRow("no columns") << QList<int>{3, 0};
        QTest::newRow("neither") << QList<int>{0, 0};
    }
    void emptyTensors() {
        QFETCH(QList<int>, shape);
        for (const DType type : {DType::F32, DType::F16}) {
            Graph graph;
            Builder b(graph);
            const NodeId x = b.input("x", {shape[0], shape[1]}, type);
            const NodeId w = b.input("w", {2, shape[1]}, type);
            const NodeId y = b.unary(Op::Relu, fn::add(b, x, b.constant(1, {}, type)));
            const NodeId turned = b.transpose(y, {1, 0});
            const NodeId loss =
                fn::add(b, fn::sum(b, y, {}), fn::sum(b, fn::linear(b, x, w, kNoNode), {}));
            const NodeId found[] = {fn::sum(b, y, {1}),
                                    fn::mean(b, y, {0}),
                                    fn::mean(b, y, {}),
                                    b.emit(Op::Prod, {x}, AxesAttrs{{0, 1}}),
                                    turned,
                                    b.matmul(turned, x),
                                    loss,
                                    *gradients(b, b.cast(loss, DType::F32), std::array{w})[0]};
            for (const NodeId id : found)
                graph.addOutput("%" + std::to_string(id), id);
            const Leaves leaves{{x, {b.shapeOf(x), {}}},
                                {w, test::randomTensor(b.shapeOf(w), kSeed, 0, -1, 1)}};
            const auto wanted = evaluate(graph, leaves, found);
            for (const FuseOptions fuse : {FuseOptions::Full, FuseOptions::None}) {
                const auto got = test::runSteps(graph, leaves, fuse, 2, 1);
                for (const auto& [id, tensor] : wanted) {
                    const auto& values = got.at("%" + std::to_string(id));
                    QCOMPARE(values.size(), tensor.values.size());
                    for (size_t i = 0; i < values.size(); ++i)
                        QVERIFY(values[i] == tensor.values[i] ||
                                (std::isnan(values[i]) && std::isnan(tensor.values[i])));
                }
            }
        }
    }

    void refusals_data() {
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < refusedCases().size(); ++i)
            QTest::newRow(refusedCases()[i].reason) << static_cast<int>(i);
    }
    void refusals() {
        QFETCH(int, index);
        const Refused& refused = refusedCases()[static_cast<size_t>(index)];
        Graph graph;
        Builder b(graph);
        try {
            refused.emit(b);
            QFAIL("taken");
        } catch (const std::exception& error) {
            const std::string text = error.what();
            QVERIFY2(text.find(refused.reason) != std::string::npos, text.c_str());
        }
    }

private:
    struct Refused {
        const char* reason;
        std::function<void(Builder&)> emit;
    };

    static std::vector<test::GradientCase> contractionCases();
    static const std::vector<test::GradientCase>& gradientCases();
    static const std::vector<Refused>& refusedCases();
};

std::vector<test::GradientCase> TestOps::contractionCases() {
    std::vector<test::GradientCase> cases;
    for (const bool ta : {false, true}) {
        for (const bool tb : {false, true}) {
            const Shape a = ta ? Shape{2, 4, 3} : Shape{2, 3, 4};
            const Shape c = tb ? Shape{2, 5, 4} : Shape{2, 4, 5};
            cases.push_back({"matmul " + std::to_string(ta) + std::to_string(tb),
                             {{a}, {c}},
                             [=](Builder& b, In x) {
                                 return b.matmul(x[0], x[1], {ta, tb});
                             }});
        }
    }
    const struct {
        const char* name;
        Shape image, weight, out;
        ConvAttrs how;
    } convolutions[] = {
        {"1x1", {2, 3, 3, 2}, {2, 3, 1, 1}, {2, 2, 3, 2}, {}},
        {"3x3", {1, 2, 4, 3}, {2, 2, 3, 3}, {1, 2, 4, 3}, {{1, 1}, {1, 1}, {}}},
        {"uneven", {2, 1, 6, 5}, {2, 1, 2, 3}, {2, 2, 3, 4}, {{2, 2}, {0, 2}, {}}},
        {"dilated", {1, 2, 5, 6}, {2, 2, 2, 3}, {1, 2, 2, 4}, {{2, 1}, {1, 1}, {}, {3, 2}}},
        {"groups", {2, 4, 3, 3}, {6, 2, 2, 2}, {2, 6, 2, 4}, {{1, 1}, {0, 1}, {}, {1, 1}, 2}},
        {"depthwise", {1, 3, 4, 5}, {3, 1, 2, 2}, {1, 3, 3, 2}, {{1, 2}, {1, 0}, {}, {3, 1}, 3}},
    };
    for (const auto& c : convolutions) {
        ConvAttrs image = c.how, weight = c.how;
        image.target = {c.image[2], c.image[3]};
        weight.target = {c.weight[2], c.weight[3]};
        const auto add = [&](const char* op, Op code, Shape first, Shape second, ConvAttrs how) {
            cases.push_back(
                {std::string(op) + " " + c.name, {{first}, {second}}, [=](Builder& b, In x) {
                     return b.emit(code, {x[0], x[1]}, how);
                 }});
        };
        add("conv2d", Op::Conv2d, c.image, c.weight, c.how);
        add("input grad", Op::Conv2dInputGrad, c.out, c.weight, image);
        add("weight grad", Op::Conv2dWeightGrad, c.image, c.out, weight);
    }
    return cases;
}

const std::vector<test::GradientCase>& TestOps::gradientCases() {
    static const std::vector<test::GradientCase> all = [] {
        std::vector<test::GradientCase> cases = contractionCases();
        const Shape image{2, 2, 5, 4};
        const PoolAttrs overlapping{{3, 2}, {2, 1}, {1, 1}, {}};
        const auto one = [&](const char* name, Shape shape, auto f) {
            cases.push_back({name, {{shape}}, [f](Builder& b, In x) { return f(b, x[0]); }});
        };
        one("avg_pool2d", image,
            [=](Builder& b, NodeId x) { return fn::avgPool2d(b, x, overlapping); });
        one("max_pool2d", image,
            [=](Builder& b, NodeId x) { return fn::maxPool2d(b, x, overlapping); });
        one("softmax", {3, 4}, [](Builder& b, NodeId x) { return fn::softmax(b, x, 0); });
        one("log_softmax", {3, 4}, [](Builder& b, NodeId x) { return fn::logSoftmax(b, x, 1); });
        one("logsumexp", {3, 4}, [](Builder& b, NodeId x) { return fn::logsumexp(b, x, 0); });
        one("cross_entropy", {3, 4}, [](Builder& b, NodeId x) {
            return fn::crossEntropy(b, x, b.iota({3}, 0, DType::I32));
        });
        const auto three = [&](const char* name, Shape x, Shape vector, auto f) {
            cases.push_back({name, {{x}, {vector}, {vector}}, [f](Builder& b, In in) {
                                 return f(b, in[0], in[1], in[2]);
                             }});
        };
        three("batch_norm NCHW", {3, 2, 2, 2}, {2}, [](Builder& b, NodeId x, NodeId w, NodeId c) {
            return fn::batchNorm(b, x, w, c, 1, .1).y;
        });
        three("batch_norm rows", {6, 3}, {3}, [](Builder& b, NodeId x, NodeId w, NodeId c) {
            return fn::batchNorm(b, x, w, c, -1, .1).y;
        });
        three("layer_norm", {2, 2, 5}, {5}, [](Builder& b, NodeId x, NodeId w, NodeId c) {
            return fn::layerNorm(b, x, w, c, .1);
        });
        cases.push_back({"bce", {{{5}, .2, .8}, {{5}, 0, 1}}, [](Builder& b, In x) {
                             return fn::bce(b, x[0], x[1]);
                         }});
        cases.push_back({"bce with logits", {{{5}}, {{5}, 0, 1}}, [](Builder& b, In x) {
                             return fn::bceWithLogits(b, x[0], x[1]);
                         }});
        cases.push_back({"mse", {{{2, 3}}, {{2, 3}}}, [](Builder& b, In x) {
                             return fn::mseLoss(b, x[0], x[1]);
                         }});
        return cases;
    }();
    return all;
}

const std::vector<TestOps::Refused>& TestOps::refusedCases() {
    static const auto x = [](Builder& b, Shape shape, DType type = DType::F32) {
        return b.input("x" + std::to_string(b.graph().size()), shape, type);
    };
    static const auto conv = [](Shape image, Shape weight, ConvAttrs how) {
        return [=](Builder& b) { b.emit(Op::Conv2d, {x(b, image), x(b, weight)}, how); };
    };
    static const auto pool = [](Shape image, PoolAttrs how) {
        return [=](Builder& b) { b.emit(Op::AvgPool2d, {x(b, image)}, how); };
    };
    static const std::vector<Refused> all = {
        {"inner extents differ",
         [](Builder& b) {
             b.matmul(x(b, {2, 3}), x(b, {4, 2}));
         }},
        {"batch axes differ",
         [](Builder& b) {
             b.matmul(x(b, {2, 2, 3}), x(b, {3, 3, 2}));
         }},
        {"equal ranks",
         [](Builder& b) {
             b.matmul(x(b, {2, 2, 3}), x(b, {3, 2}));
         }},
        {"operands of one dtype",
         [](Builder& b) {
             b.matmul(x(b, {2, 3}), x(b, {3, 2}, DType::F16));
         }},
        {"operands must be floats",
         [](Builder& b) {
             b.matmul(x(b, {2, 3}, DType::I32), x(b, {3, 2}, DType::I32));
         }},
        {"an operand is empty", conv({1, 0, 4, 4}, {1, 0, 1, 1}, {})},
        {"the result must not be empty",
         [](Builder& b) {
             b.emit(Op::ScatterAdd, {x(b, {2, 0}), x(b, {2, 0}, DType::I32)}, AxisAttrs{0, 3});
         }},
        {"channels of image and weight differ", conv({1, 2, 4, 4}, {1, 3, 1, 1}, {})},
        {"do not fit kernel", conv({1, 2, 2, 4}, {1, 2, 3, 3}, {})},
        {"channels of image and weight differ with 2 groups",
         conv({1, 4, 4, 4}, {2, 4, 1, 1}, {.groups = 2})},
        {"the groups do not divide the output channels",
         conv({1, 4, 4, 4}, {3, 2, 1, 1}, {.groups = 2})},
        {"groups must be 1 to 2^31", conv({1, 2, 4, 4}, {1, 2, 1, 1}, {.groups = 0})},
        {"do not fit kernel", conv({1, 2, 4, 4}, {1, 2, 3, 3}, {.dilation = {1, 2}})},
        {"dilation must be 1 to 2^31", conv({1, 2, 4, 4}, {1, 2, 1, 1}, {.dilation = {0, 1}})},
        {"stride must be 1 to 2^31", conv({1, 2, 4, 4}, {1, 2, 1, 1}, {{0, 1}, {0, 0}, {}})},
        {"padding must be at most half", pool({1, 1, 4, 4}, {{2, 2}, {2, 2}, {2, 0}, {}})},
        {"larger than the image", pool({1, 1, 2, 4}, {{3, 3}, {1, 1}, {0, 0}, {}})},
        {"rank 4", pool({1, 4, 4}, {{2, 2}, {2, 2}, {0, 0}, {}})},
        {"do not broadcast",
         [](Builder& b) {
             fn::add(b, x(b, {2, 3}), x(b, {4}));
         }},
        {"labels (n)",
         [](Builder& b) {
             fn::crossEntropy(b, x(b, {2, 3}), x(b, {2}));
         }},
        {"differ",
         [](Builder& b) {
             fn::mseLoss(b, x(b, {2, 1}), x(b, {2}));
         }},
        {"at least 2 values",
         [](Builder& b) {
             fn::batchNorm(b, x(b, {1, 3}), kNoNode, kNoNode, 1, 0);
         }},
        {"an axis twice",
         [](Builder& b) {
             fn::sum(b, x(b, {2, 3}), {1, -1});
         }},
    };
    return all;
}

} // namespace tst_ops

QTEST_GUILESS_MAIN(tst_ops::TestOps)
#include "tst_ops.moc"
