// What cuBLASLt and cuDNN compute for the module, descriptors, dtypes and memory being right, and
// what it does where they fail or are not there. On the fake machine. Which of their algorithms are
// taken: tst_cuda_algorithms.
#include "engine/core/error.h"
#include "engine/ops/builder.h"
#include "engine/train/step_runner.h"
#include "tests/support/library_steps.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <algorithm>
#include <cmath>

namespace tst_cuda_libraries {

using namespace halfscope;
using namespace halfscope::cuda;
using test::Bias;
using test::boundOf;
using test::executorOf;
using test::fakeCuda;
using test::productOf;
using test::resultOf;
using test::smallProduct;

namespace {

/// A chain in two launches, between which is a product of which no other kernel knows: the
/// library's, where there is one.
StepSource writeProductBetween(const Program& program, const DeviceTraits& traits,
                               const SourceOptions& options) {
    SourceOptions plain = options;
    plain.libraries = Libraries::Unused;
    plain.merge = Merge::OneByOne;
    plain.chainElements = 1;
    StepSource source = writeStep(program, traits, plain);
    auto& launches = source.launches;
    const auto chain =
        std::adjacent_find(launches.begin(), launches.end(),
                           [](const Launch& a, const Launch& b) { return a.kernels == b.kernels; });
    const auto product = std::find_if(launches.begin(), launches.end(), [&](const Launch& launch) {
        const Kernel& kernel = source.program.kernels[launch.kernels.front()];
        return kernel.members.size() == 1 &&
               source.program.graph[kernel.members.front()].op == Op::Matmul;
    });
    require(chain != launches.end() && product != launches.end() && chain < product,
            "not the step that is wanted");
    if (options.libraries == Libraries::Used) {
        product->kind = LaunchKind::Matmul;
        product->node = source.program.kernels[product->kernels.front()].members.front();
    }
    std::rotate(chain + 1, product, product + 1);
    return source;
}

} // namespace

class TestCudaLibraries : public QObject {
    Q_OBJECT

private slots:
    void init() { test::resetFakeCuda(); }
    void cleanup() { test::checkFakeCuda(); }
    void matrixProduct_data();
    void matrixProduct();
    void convolution_data();
    void convolution();
    void partialSumsOutliveAProduct();
    void lanesShareTheLibraries();
    void libraryCallsMayFail_data();
    void libraryCallsMayFail();
    void withoutLibraries();
};

void TestCudaLibraries::matrixProduct_data() {
    QTest::addColumn<Shape>("a");
    QTest::addColumn<Shape>("b");
    QTest::addColumn<bool>("transposeA");
    QTest::addColumn<bool>("transposeB");
    QTest::addColumn<int>("dtype");
    QTest::addColumn<int>("math");
    QTest::addColumn<bool>("bias");
    const auto row = [](const Shape& a, const Shape& b, bool ta, bool tb, DType dtype,
                        MathMode math, bool bias = false) {
        const std::string name = a.text() + (ta ? "'" : "") + " x " + b.text() + (tb ? "'" : "") +
                                 " " + std::string(nameOf(dtype)) +
                                 (math == MathMode::TF32 ? " tf32" : "") + (bias ? " + bias" : "");
        QTest::newRow(name.c_str()) << a << b << ta << tb << int(dtype) << int(math) << bias;
    };
    for (const DType dtype : {DType::F16, DType::BF16}) {
        row({5, 7}, {3, 7}, false, true, dtype, MathMode::F32, true);
        row({4, 7, 5}, {4, 7, 3}, true, false, dtype, MathMode::F32, true);
    }
    for (const DType dtype : {DType::F32, DType::F16, DType::BF16}) {
        row({5, 7}, {7, 3}, false, false, dtype, MathMode::F32);
        row({7, 5}, {7, 3}, true, false, dtype, MathMode::F32);
        row({5, 7}, {3, 7}, false, true, dtype, MathMode::F32);
        row({7, 5}, {3, 7}, true, true, dtype, MathMode::F32);
        row({2, 3, 5, 7}, {2, 3, 7, 4}, false, false, dtype, MathMode::F32);
        row({4, 7, 5}, {4, 1, 7}, true, true, dtype, MathMode::F32);
        row({1, 33}, {33, 257}, false, false, dtype, MathMode::F32);
    }
    row({5, 7}, {7, 3}, false, false, DType::F32, MathMode::TF32);
    row({31, 65}, {33, 65}, false, true, DType::F32, MathMode::TF32);
}

void TestCudaLibraries::matrixProduct() {
    QFETCH(Shape, a);
    QFETCH(Shape, b);
    QFETCH(bool, transposeA);
    QFETCH(bool, transposeB);
    QFETCH(int, dtype);
    QFETCH(int, math);
    QFETCH(bool, bias);
    const auto type = static_cast<DType>(dtype);
    const auto program = productOf(Op::Matmul, a, b, type, MatmulAttrs{transposeA, transposeB},
                                   static_cast<MathMode>(math), bias ? Bias::Yes : Bias::No);
    const auto wanted = resultOf(*makeCpuExecutor(1), program);
    Platform platform(fakeCuda().api());
    const auto got = resultOf(*executorOf(platform), program);
    QVERIFY(!fakeCuda().blasUsed.empty());
    QCOMPARE(got.size(), wanted.size());
    const int64_t terms = transposeA ? a[a.rank() - 2] : a.back();
    for (size_t i = 0; i < got.size(); ++i)
        QVERIFY2(std::abs(double(got[i]) - double(wanted[i])) <=
                     boundOf(type, terms, double(wanted[i])),
                 qPrintable(QString("%1: %2, not %3").arg(i).arg(got[i]).arg(wanted[i])));
}

void TestCudaLibraries::convolution_data() {
    QTest::addColumn<int>("op");
    QTest::addColumn<int>("dtype");
    QTest::addColumn<int>("math");
    for (const auto& [op, name] :
         {std::pair(Op::Conv2d, "forward"), std::pair(Op::Conv2dInputGrad, "input gradient"),
          std::pair(Op::Conv2dWeightGrad, "weight gradient")}) {
        for (const DType dtype : {DType::F32, DType::F16, DType::BF16})
            QTest::addRow("%s %s", name, std::string(nameOf(dtype)).c_str())
                << int(op) << int(dtype) << int(MathMode::F32);
        QTest::addRow("%s tf32", name) << int(op) << int(DType::F32) << int(MathMode::TF32);
    }
}

void TestCudaLibraries::convolution() {
    if (!test::kHasDnn) QSKIP("built without cuDNN");
    QFETCH(int, op);
    QFETCH(int, dtype);
    QFETCH(int, math);
    const auto type = static_cast<DType>(dtype);
    // (7 + 2 * 1 - 3) / 2 + 1 = 4 rows, (6 + 2 * 2 - 2) / 3 + 1 = 3 columns, 1 pixel left over
    const Shape image{2, 3, 7, 6}, weight{5, 3, 3, 2}, output{2, 5, 4, 3};
    ConvAttrs attrs{{2, 3}, {1, 2}, {}};
    const auto which = static_cast<Op>(op);
    if (which == Op::Conv2dInputGrad) attrs.target = {7, 6};
    if (which == Op::Conv2dWeightGrad) attrs.target = {3, 2};
    const auto program = productOf(which, which == Op::Conv2dInputGrad ? output : image,
                                   which == Op::Conv2dWeightGrad ? output : weight, type, attrs,
                                   static_cast<MathMode>(math));
    const auto wanted = resultOf(*makeCpuExecutor(1), program);
    Platform platform(fakeCuda().api());
    const auto got = resultOf(*executorOf(platform), program);
    QCOMPARE(got.size(), wanted.size());
    const int64_t terms = 3 * 3 * 5; // at most, of any of the three
    for (size_t i = 0; i < got.size(); ++i)
        QVERIFY2(std::abs(double(got[i]) - double(wanted[i])) <=
                     boundOf(type, terms, double(wanted[i])),
                 qPrintable(QString("%1: %2, not %3").arg(i).arg(got[i]).arg(wanted[i])));
    // cuDNN rounds parts of its sums there (cuda/conv.cpp)
    const bool isOurs = which == Op::Conv2dInputGrad && type == DType::F16;
    QCOMPARE(fakeCuda().dnnMath.empty(), isOurs);
    if (type == DType::F32 && math == int(MathMode::F32))
        for (const int used : fakeCuda().dnnMath)
            QCOMPARE(used, 3); // CUDNN_FMA_MATH
}

/// What a chain's first launch leaves for its second stays, whatever a library's workspace holds.
void TestCudaLibraries::partialSumsOutliveAProduct() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {300, 24}, DType::F32), dy = b.input("dy", {300, 16}, DType::F32);
    graph.addOutput("y", b.matmul(b.unary(Op::Relu, x), b.unary(Op::Tanh, dy), {true, false}));
    graph.addOutput("z",
                    b.matmul(b.input("a", {5, 7}, DType::F32), b.input("b", {7, 3}, DType::F32)));
    const auto program = std::make_shared<const Program>(compile(graph));
    Platform platform(fakeCuda().api());
    const auto results = resultOf(*executorOf(platform, {}, writeProductBetween), program);
    QVERIFY(!fakeCuda().blasUsed.empty());
    QVERIFY(fakeCuda().blasUsed.back() > 0); // an algorithm that writes to its workspace
    fakeCuda().missing = {"blas"};
    Platform bare(fakeCuda().api());
    QVERIFY(resultOf(*executorOf(bare, {}, writeProductBetween), program) == results);
}

// The second lane's timing must not go to the stream on which the first was captured.
void TestCudaLibraries::lanesShareTheLibraries() {
    Platform platform(fakeCuda().api());
    const auto conv = productOf(Op::Conv2d, {1, 2, 5, 5}, {2, 2, 3, 3}, DType::F32, ConvAttrs{});
    const auto product = productOf(Op::Matmul, {5, 7}, {7, 3}, DType::F32, MatmulAttrs{});
    const auto first = executorOf(platform), second = executorOf(platform);
    const auto truth = resultOf(*first, conv);
    QCOMPARE(resultOf(*second, conv), truth);
    QCOMPARE(resultOf(*first, product), resultOf(*second, product));
    QCOMPARE(fakeCuda().calls["cudnnCreate"], int(test::kHasDnn));
    QCOMPARE(fakeCuda().calls["cublasLtCreate"], 1);
}

void TestCudaLibraries::libraryCallsMayFail_data() {
    QTest::addColumn<std::string>("function");
    QTest::addColumn<bool>("convolution");
    for (const bool convolution : {false, true}) {
        test::resetFakeCuda();
        {
            Platform platform(fakeCuda().api());
            resultOf(*executorOf(platform), smallProduct(convolution));
        }
        for (const auto& [function, count] : fakeCuda().calls)
            if (function.starts_with(convolution ? "cudnn" : "cublas"))
                QTest::newRow(function.c_str()) << function << convolution;
    }
}

// Any call of a library: one sentence or, where an algorithm is tried, the right result by another
// one; nothing left behind. A library that cannot start is done without.
void TestCudaLibraries::libraryCallsMayFail() {
    QFETCH(std::string, function);
    QFETCH(bool, convolution);
    const auto program = smallProduct(convolution);
    std::vector<float> truth;
    {
        Platform counting(fakeCuda().api());
        truth = resultOf(*executorOf(counting), program);
    }
    const int count = fakeCuda().calls[function];
    const bool cleansUp = function.find("Destroy") != std::string::npos;
    const bool starts = function == "cublasLtCreate" || function == "cudnnCreate";
    int errors = 0;
    for (int call = 1; call <= count; ++call) {
        test::resetFakeCuda();
        fakeCuda().fault = {function, call, convolution ? 5000 : int(CUBLAS_STATUS_INTERNAL_ERROR)};
        std::vector<float> got;
        std::string words;
        {
            Platform platform(fakeCuda().api());
            words = thrownBy<EngineError>([&] { got = resultOf(*executorOf(platform), program); });
        }
        const std::string where = "call " + std::to_string(call) + ": " + words;
        const bool failed = words != "nothing thrown";
        errors += failed;
        QVERIFY2(!failed || (words.find("FAKE") != std::string::npos && !cleansUp), where.c_str());
        // another algorithm may round another way
        for (size_t i = 0; !failed && i < truth.size(); ++i)
            QVERIFY2(std::abs(double(got[i]) - double(truth[i])) <=
                         boundOf(DType::F16, 18, double(truth[i])),
                     where.c_str());
        QCOMPARE(fakeCuda().live, 0);
        QCOMPARE(fakeCuda().complaint, std::string());
    }
    QCOMPARE(errors > 0, !cleansUp && !starts);
}

void TestCudaLibraries::withoutLibraries() {
    const auto product = productOf(Op::Matmul, {5, 7}, {7, 3}, DType::F32, MatmulAttrs{});
    const auto conv = productOf(Op::Conv2d, {1, 2, 5, 5}, {2, 2, 3, 3}, DType::F32, ConvAttrs{});
    const auto isClose = [](const std::vector<float>& a, const std::vector<float>& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
            return std::abs(x - y) <= boundOf(DType::F32, 2 * 3 * 3, static_cast<double>(y));
        });
    };
    Platform whole(fakeCuda().api());
    const auto products = resultOf(*executorOf(whole), product);
    const auto convolved = resultOf(*executorOf(whole), conv);
    QVERIFY(std::any_of(products.begin(), products.end(), [](float x) { return x != 0; }));
    fakeCuda().blasUsed.clear();
    fakeCuda().dnnUsed.clear();
    fakeCuda().missing = {"blas", "dnn"};
    Platform bare(fakeCuda().api());
    QVERIFY(bare.info(0).libraries.ends_with("own matrix products (cuBLASLt is missing), own "
                                             "convolutions (cuDNN is missing)"));
    QVERIFY(isClose(resultOf(*executorOf(bare), product), products));
    QVERIFY(isClose(resultOf(*executorOf(bare), conv), convolved));
    fakeCuda().missing = {"dnn"};
    Platform noDnn(fakeCuda().api());
    QVERIFY(isClose(resultOf(*executorOf(noDnn), conv), convolved));
    QVERIFY(fakeCuda().blasUsed.empty());
    QVERIFY(fakeCuda().dnnUsed.empty());
    QVERIFY(isClose(resultOf(*executorOf(noDnn), product), products));
    QVERIFY(!fakeCuda().blasUsed.empty());
}

} // namespace tst_cuda_libraries

QTEST_GUILESS_MAIN(tst_cuda_libraries::TestCudaLibraries)
#include "tst_cuda_libraries.moc"
