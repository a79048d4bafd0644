// Every function of the suite: gradients of both orders compared with central differences, and the
// CPU executor in each storage type compared with the reference. Values and refusals are in
// tst_function_values, dtypes under autocast in tst_autocast.
#include "engine/ops/functional.h"
#include "engine/ops/op_info.h"
#include "engine/ops/op_suite.h"
#include "tests/support/function_cases.h"
#include "tests/support/gradient_check.h"
#include "tests/support/run_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace tst_functional {

using namespace halfscope;
using halfscope::test::Leaves;

namespace {

constexpr uint64_t kSeed = 60221;

using In = std::span<const NodeId>;
using Operand = test::GradientCase::Operand;

/// The range of a case's input where the function is defined and smooth; by default -2 to 2.
struct Range {
    double low, high;
};
std::vector<Range> rangesOf(std::string_view name) {
    static const std::map<std::string, std::vector<Range>, std::less<>> kRanges = {
        {"log", {{0.5, 3}}},
        {"log10", {{0.5, 3}}},
        {"log2", {{0.5, 3}}},
        {"log1p", {{-0.5, 3}}},
        {"sqrt", {{0.5, 3}}},
        {"rsqrt", {{0.5, 3}}},
        {"reciprocal", {{0.5, 3}}},
        {"tan", {{-1, 1}}},
        {"asin", {{-0.7, 0.7}}},
        {"acos", {{-0.7, 0.7}}},
        {"erfinv", {{-0.7, 0.7}}},
        {"pow_tensor", {{0.5, 2}, {-2, 2}}},
        {"div", {{-2, 2}, {0.5, 2}}},
        {"addcdiv", {{-2, 2}, {-2, 2}, {0.5, 2}}},
        {"atan2", {{-2, 2}, {0.5, 2}}},
        {"kl_div", {{-2, 0}, {0.1, 1}}},
        {"binary_cross_entropy", {{0.2, 0.8}, {0, 1}}},
        {"grid_sample", {{-2, 2}, {-0.9, 0.9}}}};
    const auto found = kRanges.find(name);
    return found == kRanges.end() ? std::vector<Range>{} : found->second;
}

Range rangeOf(std::string_view name, size_t operand) {
    const auto ranges = rangesOf(name);
    return operand < ranges.size() ? ranges[operand] : Range{-2, 2};
}

/// A case without autocast, with all inputs of one dtype and values that the dtype can hold.
struct SuiteGraph {
    Graph graph;
    Leaves leaves;
    NodeId out = kNoNode;

    SuiteGraph(const AutocastCase& given, DType dtype) {
        Builder b(graph);
        std::vector<NodeId> in;
        for (size_t i = 0; i < given.shapes.size(); ++i) {
            const NodeId id = b.input("x" + std::to_string(i), given.shapes[i], dtype);
            const Range range = rangeOf(given.name, i);
            RefTensor tensor = test::randomTensor(given.shapes[i], kSeed, i, range.low, range.high);
            for (double& v : tensor.values)
                v = roundTo(dtype, v);
            leaves[id] = std::move(tensor);
            in.push_back(id);
        }
        out = given.emit(b, in);
        graph.addOutput("out", out);
    }
};

/// Returns the error that roundings can add up to on the way to a node, relative to the largest
/// value: one rounding of each node's storage, and one in f32 for each term of a sum.
std::vector<double> roundingsOf(const Graph& graph) {
    std::vector<double> error;
    const double single = formatOf(DType::F32).unitRoundoff();
    for (NodeId id = 0; id < graph.size(); ++id) {
        const Node& node = graph[id];
        double most = 0, terms = 2; // transcendental functions may err by 2 ulp
        for (const NodeId in : node.in) {
            most = std::max(most, error[static_cast<size_t>(in)]);
            if (infoOf(node.op).flags.has(OpFlag::Elementwise)) continue;
            terms = std::max(terms, static_cast<double>(graph[in].elements()));
        }
        const double own = isFloat(node.dtype) ? formatOf(node.dtype).unitRoundoff() : 0;
        error.push_back(node.in.empty() ? 0 : most + terms * single + own);
    }
    return error;
}

double largest(const std::vector<double>& values) {
    double most = 0;
    for (const double v : values)
        most = std::isfinite(v) ? std::max(most, std::fabs(v)) : most;
    return most;
}

void addCases() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < test::functionCases().size(); ++i)
        QTest::newRow(std::string(test::functionCases()[i].name).c_str()) << static_cast<int>(i);
}

/// Returns forms that the suite leaves out: weights and biases, other axes, sizes that do not
/// divide.
std::vector<test::GradientCase> variants() {
    const Shape image{2, 2, 5, 4}, square{4, 4};
    return {
        {"adaptive_max_pool2d",
         {{image}},
         [](Builder& b, In x) {
             return fn::adaptiveMaxPool2d(b, x[0], {2, 3});
         }},
        {"adaptive_avg_pool2d",
         {{image}},
         [](Builder& b, In x) {
             return fn::adaptiveAvgPool2d(b, x[0], {4, 3});
         }},
        {"index_select",
         {{square}},
         [](Builder& b, In x) {
             return fn::indexSelect(b, b.mul(x[0], x[0]), -1, b.constant(2, {3}, DType::I32));
         }},
        {"prelu of one slope",
         {{square}, {{1}}},
         [](Builder& b, In x) { return fn::prelu(b, x[0], x[1]); }},
        {"group_norm with weights",
         {{{2, 4, 3}}, {{4}}, {{4}}},
         [](Builder& b, In x) { return fn::groupNorm(b, x[0], 2, x[1], x[2], 0.1); }},
        {"instance_norm with weights",
         {{{2, 2, 5}}, {{2}}, {{2}}},
         [](Builder& b, In x) { return fn::instanceNorm(b, x[0], x[1], x[2], 0.1); }},
        {"conv1d with stride",
         {{{2, 2, 7}}, {{3, 2, 2}}, {{3}}},
         [](Builder& b, In x) {
             return fn::conv1d(b, x[0], x[1], x[2], {.stride = 2, .padding = 1});
         }},
        {"conv3d with bias",
         {{{1, 2, 3, 3, 2}}, {{2, 2, 2, 1, 2}}, {{2}}},
         [](Builder& b, In x) { return fn::conv3d(b, x[0], x[1], x[2]); }},
        {"conv_transpose2d with bias",
         {{{2, 2, 2, 3}}, {{2, 1, 3, 2}}, {{1}}},
         [](Builder& b, In x) {
             return fn::convTranspose2d(b, x[0], x[1], x[2], {{1, 3}, {1, 0}, {}}, {0, 2});
         }},
        {"conv_transpose1d with bias",
         {{{2, 4, 3}}, {{4, 1, 2}}, {{2}}},
         [](Builder& b, In x) {
             return fn::convTranspose1d(b, x[0], x[1], x[2],
                                        {.stride = 3, .padding = 1, .groups = 2}, 2);
         }},
        {"softplus of another slope",
         {{{2, 3}}},
         [](Builder& b, In x) { return fn::softplus(b, x[0], 3, 1.25); }},
        {"bilinear with bias",
         {{{2, 3}}, {{2, 2}}, {{2, 3, 2}}, {{2}}},
         [](Builder& b, In x) { return fn::bilinear(b, x[0], x[1], x[2], x[3]); }},
        {"einsum of batches",
         {{{2, 3, 2}}, {{2, 2, 2}}},
         [](Builder& b, In x) { return fn::einsum(b, "bij,kbj->kib", x[0], x[1]); }},
        {"gru_cell with biases",
         {{{2, 3}}, {{2, 1}}, {{3, 3}}, {{3, 1}}, {{3}}, {{3}}},
         [](Builder& b, In x) {
             return fn::gruCell(b, x[0], x[1], {x[2], x[3], x[4], x[5]});
         }},
        {"lstm_cell state",
         {{{2, 2}}, {{2, 1}}, {{2, 1}}, {{4, 2}}, {{4, 1}}},
         [](Builder& b, In x) {
             return fn::lstmCell(b, x[0], {x[1], x[2]}, {x[3], x[4], kNoNode, kNoNode}).c;
         }},
        {"norm of all", {{square}}, [](Builder& b, In x) { return fn::norm(b, x[0], {}); }},
        {"prod of two axes",
         {{{2, 3, 2}}},
         [](Builder& b, In x) {
             return fn::prod(b, x[0], {0, 2}, fn::KeepAxes::Yes);
         }},
        {"addcmul broadcast",
         {{{3}}, {{2, 1}}, {{2, 3}}},
         [](Builder& b, In x) { return fn::addcmul(b, x[0], x[1], x[2], -2); }},
        {"renorm of columns",
         {{square}},
         [](Builder& b, In x) { return fn::renorm(b, x[0], 1, 2.5); }},
        {"cosine_embedding margin",
         {{square}, {square}},
         [](Builder& b, In x) {
             return fn::cosineEmbeddingLoss(b, x[0], x[1], b.constant(-1, {4}, DType::F32), -0.9);
         }},
    };
}

} // namespace

class TestFunctional : public QObject {
    Q_OBJECT

private slots:
    void gradient_data() { addCases(); }
    void gradient() {
        QFETCH(int, index);
        const AutocastCase& given = test::functionCases()[static_cast<size_t>(index)];
        test::GradientCase wanted{std::string(given.name), {}, given.emit};
        for (size_t i = 0; i < given.shapes.size(); ++i) {
            const Range range = rangeOf(given.name, i);
            wanted.operands.push_back({given.shapes[i], range.low, range.high});
        }
        const std::string wrong = test::checkGradients(wanted, kSeed);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    void variantGradient_data();
    void variantGradient();

    void cpu_data() { addCases(); }
    void cpu() {
        QFETCH(int, index);
        const AutocastCase& given = test::functionCases()[static_cast<size_t>(index)];
        for (const DType type : {DType::F32, DType::F16, DType::BF16}) {
            if (given.name == "pdist" && isLow(type)) continue; // refused
            const SuiteGraph s(given, type);
            std::vector<NodeId> all;
            for (NodeId id = 0; id < s.graph.size(); ++id)
                all.push_back(id);
            const auto exact = evaluate(s.graph, s.leaves, all, RefRounding::None);
            double magnitude = 0;
            for (const auto& [id, tensor] : exact) {
                if (isFloat(s.graph[id].dtype))
                    magnitude = std::max(magnitude, largest(tensor.values));
            }
            const double bound = roundingsOf(s.graph)[static_cast<size_t>(s.out)] * magnitude +
                                 formatOf(type).minSubnormal;
            const auto& wanted = exact.at(s.out).values;
            for (const FuseOptions fuse : {FuseOptions::Full, FuseOptions::None}) {
                const auto got = test::runSteps(s.graph, s.leaves, fuse, 2, 1).at("out");
                for (size_t i = 0; i < wanted.size(); ++i) {
                    const std::string text = std::string(nameOf(type)) + " element " +
                                             std::to_string(i) + ": " + std::to_string(got[i]) +
                                             " instead of " + std::to_string(wanted[i]) +
                                             ", bound " + std::to_string(bound);
                    QVERIFY2(std::fabs(got[i] - wanted[i]) <= bound, text.c_str());
                }
            }
        }
    }

    /// Functions that compute several steps in 16 bits round once: the result is the exact one,
    /// rounded.
    void roundedOnce_data() {
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < test::functionCases().size(); ++i) {
            static const std::set<std::string_view> kOnce = {
                "leaky_relu",  "elu",        "prelu",         "addcmul",
                "addcdiv",     "lerp",       "var",           "std",
                "norm",        "dist",       "cumsum",        "cumprod",
                "prod",        "group_norm", "instance_norm", "cosine_similarity",
                "conv3d",      "huber_loss", "grid_sample",   "selu",
                "celu",        "mish",       "hardswish",     "hardsigmoid",
                "log_sigmoid", "glu",        "rms_norm",      "upsample_bilinear2d"};
            const std::string name(test::functionCases()[i].name);
            if (kOnce.contains(name)) QTest::newRow(name.c_str()) << static_cast<int>(i);
        }
    }
    void roundedOnce() {
        QFETCH(int, index);
        const AutocastCase& given = test::functionCases()[static_cast<size_t>(index)];
        for (const DType type : {DType::F16, DType::BF16}) {
            const SuiteGraph s(given, type);
            const auto wanted = test::valueOf(s.graph, s.leaves, s.out, RefRounding::None).values;
            const auto got = test::runSteps(s.graph, s.leaves, FuseOptions::Full, 2, 1).at("out");
            const double most = largest(wanted);
            for (size_t i = 0; i < wanted.size(); ++i) {
                // its own rounding, and the far smaller ones of the steps in f32
                const double bound =
                    formatOf(type).unitRoundoff() * (1.01 * std::fabs(wanted[i]) + 0.01 * most) +
                    formatOf(type).minSubnormal;
                QVERIFY2(std::fabs(got[i] - wanted[i]) <= bound, std::to_string(i).c_str());
            }
        }
    }
};

void TestFunctional::variantGradient_data() {
    QTest::addColumn<int>("index");
    const auto all = variants();
    for (size_t i = 0; i < all.size(); ++i)
        QTest::newRow(all[i].name.c_str()) << static_cast<int>(i);
}
void TestFunctional::variantGradient() {
    QFETCH(int, index);
    const std::string wrong = test::checkGradients(variants()[static_cast<size_t>(index)], kSeed);
    QVERIFY2(wrong.empty(), wrong.c_str());
}

} // namespace tst_functional

QTEST_GUILESS_MAIN(tst_functional::TestFunctional)
#include "tst_functional.moc"
