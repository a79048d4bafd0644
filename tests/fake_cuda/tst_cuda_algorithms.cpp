// Which algorithms of cuBLASLt and cuDNN the module takes: of fixed order, as strict as the graph,
// the fastest of those with the same bits; and what it does where there is none. On the fake
// machine.
#include "tests/support/library_steps.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <set>

namespace tst_cuda_algorithms {

using namespace halfscope;
using namespace halfscope::cuda;
using test::Bias;
using test::boundOf;
using test::executorOf;
using test::fakeCuda;
using test::productOf;
using test::resultOf;
using test::smallProduct;

class TestCudaAlgorithms : public QObject {
    Q_OBJECT

private slots:
    void init() { test::resetFakeCuda(); }
    void cleanup() { test::checkFakeCuda(); }
    void onlyAlgorithmsOfFixedOrder();
    void strictFloatRefusesTensorCores();
    void choiceIsOfTheSameBits();
    void choiceIsKept();
    void slowProductsAreTriedOnce();
    void convolutionThatCudnnLacks();
    void directionThatCudnnLacks();
    void withoutAnAlgorithm_data();
    void withoutAnAlgorithm();
    void wrongQuestion();
    void lostWhileItIsAsked();
};

void TestCudaAlgorithms::onlyAlgorithmsOfFixedOrder() {
    if (!test::kHasDnn) QSKIP("built without cuDNN");
    Platform platform(fakeCuda().api());
    const Shape image{1, 2, 5, 5}, weight{2, 2, 3, 3}, output{1, 2, 3, 3};
    const auto used = [&](Op op, const Shape& a, const Shape& b, const ConvAttrs& attrs) {
        fakeCuda().dnnUsed.clear();
        resultOf(*executorOf(platform), productOf(op, a, b, DType::F16, attrs));
        return std::set<int>(fakeCuda().dnnUsed.begin(), fakeCuda().dnnUsed.end());
    };
    // Forward: implicit GEMM with and without tables; the fake's GEMM has no fixed order.
    QCOMPARE(used(Op::Conv2d, image, weight, {}), (std::set<int>{0, 1}));
    QCOMPARE(used(Op::Conv2dInputGrad, output, weight, {{1, 1}, {0, 0}, {5, 5}}), std::set<int>{1});
    QCOMPARE(used(Op::Conv2dWeightGrad, image, output, {{1, 1}, {0, 0}, {3, 3}}), std::set<int>{1});
}

void TestCudaAlgorithms::strictFloatRefusesTensorCores() {
    Platform platform(fakeCuda().api());
    const auto program = productOf(Op::Conv2d, {1, 2, 5, 5}, {2, 2, 3, 3}, DType::F32, ConvAttrs{});
    fakeCuda().dnnOffers = 1; // CUDNN_TENSOR_OP_MATH
    resultOf(*executorOf(platform), program);
    QVERIFY(fakeCuda().dnnUsed.empty()); // a generated kernel did it
    fakeCuda().dnnOffers = 0;            // CUDNN_DEFAULT_MATH: TF32 where nobody forbids it
    resultOf(*executorOf(platform), program);
    QVERIFY(!fakeCuda().dnnUsed.empty());
    for (const int used : fakeCuda().dnnMath)
        QCOMPARE(used, 3); // CUDNN_FMA_MATH
}

void TestCudaAlgorithms::choiceIsOfTheSameBits() {
    Platform platform(fakeCuda().api());
    const auto program = productOf(Op::Matmul, {16, 300}, {300, 8}, DType::F32, MatmulAttrs{});
    const auto chosen = resultOf(*executorOf(platform), program);
    // The second is the fastest and adds in another order; the third is faster than the first.
    QCOMPARE(fakeCuda().blasUsed.back(), 2);
    fakeCuda().blasCandidates = 1;
    QCOMPARE(resultOf(*executorOf(platform), program), chosen);
    QCOMPARE(fakeCuda().blasUsed.back(), 0);
    fakeCuda().blasCandidates = 2;
    QCOMPARE(resultOf(*executorOf(platform), program), chosen);
    QCOMPARE(fakeCuda().blasUsed.back(), 0);
}

void TestCudaAlgorithms::choiceIsKept() {
    QTemporaryDir folder;
    const std::string cache = folder.path().toStdString();
    Platform platform(fakeCuda().api());
    const auto program = productOf(Op::Matmul, {4, 6}, {6, 8}, DType::F32, MatmulAttrs{});
    const auto usedBy = [&](const auto& what) {
        fakeCuda().blasUsed.clear();
        resultOf(*executorOf(platform, cache), what);
        return fakeCuda().blasUsed;
    };
    QVERIFY(usedBy(program).size() > 4);
    // tried once, warmed up, captured
    QCOMPARE(usedBy(program), (std::vector<int>{2, 2, 2}));
    // another size, other dtypes, a transpose: chosen anew
    QVERIFY(usedBy(productOf(Op::Matmul, {4, 6}, {6, 9}, DType::F32, MatmulAttrs{})).size() > 4);
    QVERIFY(usedBy(productOf(Op::Matmul, {4, 6}, {6, 8}, DType::F16, MatmulAttrs{})).size() > 4);
    QVERIFY(
        usedBy(productOf(Op::Matmul, {6, 4}, {6, 8}, DType::F32, MatmulAttrs{true, false})).size() >
        4);
    // a library that offers less than when the choice was made
    fakeCuda().blasCandidates = 2;
    QVERIFY(usedBy(program).size() > 4);
    QCOMPARE(fakeCuda().blasUsed.back(), 0);
}

// 600 ms a run: the first candidate will do, instead of sixteen times four runs.
void TestCudaAlgorithms::slowProductsAreTriedOnce() {
    Platform platform(fakeCuda().api());
    fakeCuda().blasSlowness = 200;
    const auto program = productOf(Op::Matmul, {4, 6}, {6, 8}, DType::F32, MatmulAttrs{});
    const auto wanted = resultOf(*makeCpuExecutor(1), program);
    QCOMPARE(resultOf(*executorOf(platform), program).size(), wanted.size());
    QVERIFY(!fakeCuda().blasUsed.empty());
    for (const int used : fakeCuda().blasUsed)
        QCOMPARE(used, 0);
    // tried, timed, twice to see how long a step takes, then launched as it is
    QCOMPARE(fakeCuda().blasUsed.size(), size_t{5});
}

// Its convolutions are generated; products of the same step stay with cuBLASLt.
void TestCudaAlgorithms::convolutionThatCudnnLacks() {
    if (!test::kHasDnn) QSKIP("built without cuDNN");
    Graph graph;
    Builder builder(graph);
    const NodeId image = builder.input("image", {1, 2, 5, 5}, DType::F32);
    const NodeId weight = builder.input("weight", {2, 2, 3, 3}, DType::F32);
    const NodeId a = builder.input("a", {5, 7}, DType::F32);
    const NodeId b = builder.input("b", {7, 3}, DType::F32);
    graph.addOutput("z", builder.emit(Op::Matmul, {a, b}, MatmulAttrs{}));
    graph.addOutput("y", builder.emit(Op::Conv2d, {image, weight}, ConvAttrs{}));
    const auto program = std::make_shared<const Program>(compile(graph));
    fakeCuda().dnnSupports = false;
    Platform platform(fakeCuda().api());
    const auto wanted = resultOf(*makeCpuExecutor(1), program);
    const auto got = resultOf(*executorOf(platform), program);
    for (size_t i = 0; i < got.size(); ++i)
        QVERIFY(std::abs(double(got[i]) - double(wanted[i])) <=
                boundOf(DType::F32, 18, double(wanted[i])));
    QVERIFY(fakeCuda().dnnUsed.empty());
    QVERIFY(!fakeCuda().blasUsed.empty());
}

// One direction alone: the others stay with cuDNN.
void TestCudaAlgorithms::directionThatCudnnLacks() {
    if (!test::kHasDnn) QSKIP("built without cuDNN");
    Graph graph;
    Builder builder(graph);
    const NodeId image = builder.input("image", {1, 2, 5, 5}, DType::F32);
    const NodeId weight = builder.input("weight", {2, 2, 3, 3}, DType::F32);
    const NodeId grad = builder.input("grad", {1, 2, 3, 3}, DType::F32);
    graph.addOutput("y", builder.emit(Op::Conv2d, {image, weight}, ConvAttrs{}));
    graph.addOutput(
        "dx", builder.emit(Op::Conv2dInputGrad, {grad, weight}, ConvAttrs{{1, 1}, {0, 0}, {5, 5}}));
    graph.addOutput(
        "dw", builder.emit(Op::Conv2dWeightGrad, {image, grad}, ConvAttrs{{1, 1}, {0, 0}, {3, 3}}));
    const auto program = std::make_shared<const Program>(compile(graph));
    constexpr int kNoSuchShape = 3002; // CUDNN_STATUS_NOT_SUPPORTED_SHAPE
    fakeCuda().fault = {"cudnnGetConvolutionBackwardDataAlgorithm_v7", 1, kNoSuchShape, true};
    Platform platform(fakeCuda().api());
    const auto device = executorOf(platform), cpu = makeCpuExecutor(1);
    (void)resultOf(*cpu, program);
    (void)resultOf(*device, program);
    for (const OutputInfo& output : program->graph.outputs()) {
        const auto got = downloadFloats(*device, program->graph, output.node),
                   wanted = downloadFloats(*cpu, program->graph, output.node);
        for (size_t i = 0; i < got.size(); ++i)
            QVERIFY2(std::abs(double(got[i]) - double(wanted[i])) <=
                         boundOf(DType::F32, 18, double(wanted[i])),
                     output.name.c_str());
    }
    QCOMPARE(fakeCuda().calls["cudnnConvolutionBackwardData"], 0);
    QVERIFY(fakeCuda().calls["cudnnConvolutionForward"] > 0);
    QVERIFY(fakeCuda().calls["cudnnConvolutionBackwardFilter"] > 0);
}

void TestCudaAlgorithms::withoutAnAlgorithm_data() {
    QTest::addColumn<bool>("refuses");
    QTest::addColumn<int>("status"); // of the question which algorithms there are
    QTest::addColumn<bool>("bias");
    QTest::newRow("offers none") << false << int(CUBLAS_STATUS_SUCCESS) << false;
    QTest::newRow("refuses what it offered") << true << int(CUBLAS_STATUS_SUCCESS) << false;
    QTest::newRow("supports no such product") << false << int(CUBLAS_STATUS_NOT_SUPPORTED) << false;
    QTest::newRow("refuses a bias") << false << int(CUBLAS_STATUS_INVALID_VALUE) << true;
}

void TestCudaAlgorithms::withoutAnAlgorithm() {
    QFETCH(bool, refuses);
    QFETCH(int, status);
    QFETCH(bool, bias);
    fakeCuda().blasCandidates = refuses ? 3 : 0;
    fakeCuda().refuseBlas = refuses;
    fakeCuda().fault = {"cublasLtMatmulAlgoGetHeuristic", 1, status, true};
    Platform platform(fakeCuda().api());
    const DType dtype = bias ? DType::F16 : DType::F32; // float32 adds its bias afterwards
    const auto program = productOf(Op::Matmul, {5, 7}, {7, 3}, dtype, MatmulAttrs{}, MathMode::F32,
                                   bias ? Bias::Yes : Bias::No);
    const auto wanted = resultOf(*makeCpuExecutor(1), program);
    const auto got = resultOf(*executorOf(platform), program);
    QVERIFY(fakeCuda().blasUsed.empty());
    for (size_t i = 0; i < got.size(); ++i)
        QVERIFY(std::abs(double(got[i]) - double(wanted[i])) <=
                boundOf(dtype, 8, bias ? double(wanted[i]) : 0));
}

/// A description that is wrong must be seen: our own kernels would only be slower.
void TestCudaAlgorithms::wrongQuestion() {
    fakeCuda().fault = {"cublasLtMatmulAlgoGetHeuristic", 1, int(CUBLAS_STATUS_INVALID_VALUE),
                        true};
    Platform platform(fakeCuda().api());
    const auto program = productOf(Op::Matmul, {5, 7}, {7, 3}, DType::F32, MatmulAttrs{});
    const std::string words = thrownBy<EngineError>([&] { executorOf(platform)->load(program); });
    QVERIFY2(words.ends_with(" (cuBLASLt)"), words.c_str());
}

/// What a library answers when the device is lost says nothing about the product.
void TestCudaAlgorithms::lostWhileItIsAsked() {
    fakeCuda().fault = {"cublasLtMatmulAlgoGetHeuristic", 1, int(CUBLAS_STATUS_INVALID_VALUE)};
    fakeCuda().watch = [](const std::string& function) {
        if (function == "cuStreamQuery")
            fakeCuda().fault = {function, fakeCuda().calls[function], CUDA_ERROR_ILLEGAL_ADDRESS};
    };
    Platform platform(fakeCuda().api());
    const auto program =
        productOf(Op::Matmul, {5, 7}, {7, 3}, DType::F16, MatmulAttrs{}, MathMode::F32, Bias::Yes);
    const std::string words = thrownBy<EngineError>([&] { executorOf(platform)->load(program); });
    QVERIFY2(words.starts_with("cuda:0 (Fake GPU) failed: "), words.c_str());
}

} // namespace tst_cuda_algorithms

QTEST_GUILESS_MAIN(tst_cuda_algorithms::TestCudaAlgorithms)
#include "tst_cuda_algorithms.moc"
