// Autocast: the dtypes of every function against PyTorch's recorded table, the lists as a whole,
// and what a cast tells about its cause.
#include "engine/core/error.h"
#include "engine/ops/functional.h"
#include "tests/support/training.h"

#include <QTest>

#include <algorithm>
#include <functional>
#include <map>

using namespace halfscope;
using nlohmann::json;

namespace {

/// A function of the golden table: the shapes of its inputs, and how to emit it.
struct FunctionRow {
    std::vector<Shape> shapes;
    std::function<NodeId(Builder&, std::span<const NodeId>)> emit;
};

using In = std::span<const NodeId>;
using FunctionRows = std::map<std::string, FunctionRow>;

void addUnary(FunctionRows& rows) {
    for (const Op op :
         {Op::Exp,  Op::Expm1, Op::Log,  Op::Log1p,    Op::Reciprocal, Op::Rsqrt, Op::Sqrt,
          Op::Sin,  Op::Cos,   Op::Tanh, Op::Sigmoid,  Op::Abs,        Op::Neg,   Op::Floor,
          Op::Relu, Op::Erf,   Op::Sign, Op::Softplus, Op::Gelu,       Op::Silu}) {
        rows[std::string(nameOf(op))] = {
            {{4, 4}}, [op](Builder& b, In in) { return fn::unary(b, op, in[0]); }};
    }
}

const Shape kSquare{4, 4}, kImage{2, 4, 6, 6};

void addPairs(FunctionRows& rows) {
    const auto pair = [&](const char* name, NodeId (*f)(Builder&, NodeId, NodeId)) {
        rows[name] = {{kSquare, kSquare}, [f](Builder& b, In in) { return f(b, in[0], in[1]); }};
    };
    pair("add", fn::add);
    pair("sub", fn::sub);
    pair("mul", fn::mul);
    pair("div", fn::div);
    pair("maximum", fn::maximum);
    pair("pow_tensor", fn::pow);
    pair("matmul", fn::matmul);
    pair("mse_loss", fn::mseLoss);
    pair("binary_cross_entropy", fn::bce);
    pair("binary_cross_entropy_with_logits", fn::bceWithLogits);
    rows["where"] = {{kSquare, kSquare}, [](Builder& b, In in) {
                         const NodeId mask = b.constant(1, {4, 1}, DType::Bool);
                         return fn::where(b, mask, in[0], in[1]);
                     }};
}

void addReductions(FunctionRows& rows) {
    const auto axes = [&](const char* name, NodeId (*f)(Builder&, NodeId, Shape, fn::KeepAxes)) {
        rows[name] = {{kSquare},
                      [f](Builder& b, In in) { return f(b, in[0], {-1}, fn::KeepAxes::No); }};
    };
    axes("sum", fn::sum);
    axes("mean", fn::mean);
    axes("amax", fn::amax);
    axes("amin", fn::amin);
    const auto axis = [&](const char* name, NodeId (*f)(Builder&, NodeId, int)) {
        rows[name] = {{kSquare}, [f](Builder& b, In in) { return f(b, in[0], -1); }};
    };
    axis("softmax", fn::softmax);
    axis("log_softmax", fn::logSoftmax);
    axis("logsumexp", fn::logsumexp);
}

void addLayers(FunctionRows& rows) {
    const auto pool = [&](const char* name, NodeId (*f)(Builder&, NodeId, const PoolAttrs&)) {
        rows[name] = {{kImage}, [f](Builder& b, In in) {
                          return f(b, in[0], {{2, 2}, {2, 2}, {0, 0}, {}});
                      }};
    };
    pool("max_pool2d", fn::maxPool2d);
    pool("avg_pool2d", fn::avgPool2d);
    rows["linear"] = {{kSquare, kSquare, {4}},
                      [](Builder& b, In in) { return fn::linear(b, in[0], in[1], in[2]); }};
    rows["conv2d"] = {{kImage, {3, 4, 3, 3}, {3}},
                      [](Builder& b, In in) { return fn::conv2d(b, in[0], in[1], in[2], {}); }};
    rows["batch_norm"] = {{kSquare}, [](Builder& b, In in) {
                              return fn::batchNorm(b, in[0], kNoNode, kNoNode, 1, 1e-5).y;
                          }};
    rows["layer_norm"] = {{kSquare}, [](Builder& b, In in) {
                              return fn::layerNorm(b, in[0], kNoNode, kNoNode, 1e-5);
                          }};
    rows["cross_entropy"] = {{kSquare}, [](Builder& b, In in) {
                                 const NodeId labels = b.constant(1, {4}, DType::I32);
                                 return fn::crossEntropy(b, in[0], labels);
                             }};
}

const FunctionRows& functionRows() {
    static const FunctionRows all = [] {
        FunctionRows rows;
        addUnary(rows);
        addPairs(rows);
        addReductions(rows);
        addLayers(rows);
        rows["pow"] = {{kSquare}, [](Builder& b, In in) { return fn::powScalar(b, in[0], 3); }};
        rows["square"] = {{kSquare}, [](Builder& b, In in) { return fn::powScalar(b, in[0], 2); }};
        rows["clamp"] = {{kSquare}, [](Builder& b, In in) { return fn::clamp(b, in[0], -1, 1); }};
        return rows;
    }();
    return all;
}

/// The dtypes of n inputs in one of the table's combinations.
std::vector<DType> combination(const std::string& name, size_t n, DType low) {
    std::vector<DType> types(n, name == "all_low" ? low : DType::F32);
    if (name == "first_low") types.front() = low;
    if (name == "last_low") types.back() = low;
    return types;
}

std::vector<NodeId> inputsOf(Builder& b, const FunctionRow& row, const std::vector<DType>& types) {
    std::vector<NodeId> in;
    for (size_t i = 0; i < row.shapes.size(); ++i)
        in.push_back(b.input("x" + std::to_string(i), row.shapes[i], types[i]));
    return in;
}

const json& goldenDtypes() {
    static const json table = test::goldenFile("autocast_dtypes.json");
    return table;
}

int countOf(const Graph& graph, Op op) {
    int count = 0;
    for (NodeId id = 0; id < graph.size(); ++id)
        count += graph[id].op == op ? 1 : 0;
    return count;
}

} // namespace

class TestAutocast : public QObject {
    Q_OBJECT

private slots:
    void autocastDtype_data() {
        QTest::addColumn<QString>("table");
        QTest::addColumn<QString>("op");
        for (const char* table : {"cuda_float16", "cuda_bfloat16"}) {
            for (const auto& [op, row] : functionRows()) {
                QVERIFY2(goldenDtypes()[table].contains(op), op.c_str());
                QTest::addRow("%s %s", table, op.c_str())
                    << QString(table) << QString::fromStdString(op);
            }
        }
    }
    void autocastDtype() {
        QFETCH(QString, table);
        QFETCH(QString, op);
        const DType low = table.endsWith("bfloat16") ? DType::BF16 : DType::F16;
        const CastPolicy policy = torchCudaPolicy(low);
        const FunctionRow& row = functionRows().at(op.toStdString());
        for (const auto& [name, wanted] :
             goldenDtypes()[table.toStdString()][op.toStdString()].items()) {
            Graph graph;
            Builder b(graph);
            const auto in = inputsOf(b, row, combination(name, row.shapes.size(), low));
            const AutocastScope scope(b, &policy);
            const auto expected = wanted.get<std::string>();
            if (expected.starts_with("error")) {
                QVERIFY_EXCEPTION_THROWN(row.emit(b, in), InputError);
                continue;
            }
            const NodeId y = row.emit(b, in);
            QVERIFY2(nameOf(b.dtypeOf(y)) == expected, name.c_str());
            QVERIFY(b.policy() == &policy);
            // what promotion casts in an op that follows its inputs is no rule's work
            if (policy.ruleOf(op.toStdString()) == CastRule::Follow) continue;
            for (NodeId id = 0; id < graph.size(); ++id) {
                const bool caused = graph[id].op != Op::Cast || !graph[id].cause.rule.empty();
                QVERIFY2(caused, "a cast without its rule");
            }
        }
    }

    /// The lists as a whole, with the ops that this program does not have.
    void policyAgreesWithTable() {
        // made of listed ops, in PyTorch too
        const std::map<std::string, std::string> parts = {
            {"square", "pow"},      {"rpow", "pow"},       {"pow_tensor", "pow"},
            {"softmin", "softmax"}, {"normalize", "norm"}, {"multilabel_soft_margin_loss", "log"}};
        for (const char* name : {"cuda_float16", "cuda_bfloat16"}) {
            const DType low = std::string(name) == "cuda_float16" ? DType::F16 : DType::BF16;
            const CastPolicy policy = torchCudaPolicy(low);
            for (const auto& [op, row] : goldenDtypes()[name].items()) {
                const auto part = parts.find(op);
                const CastRule rule = policy.ruleOf(part == parts.end() ? op : part->second);
                const auto wide = row["all_float32"].get<std::string>();
                const auto narrow = row["all_low"].get<std::string>();
                const std::string lowName(nameOf(low));
                bool fits = false;
                switch (rule) {
                case CastRule::Lower: fits = wide == lowName && narrow == lowName; break;
                case CastRule::Full:
                case CastRule::FullBySet: fits = wide == "float32" && narrow == "float32"; break;
                case CastRule::Widest:
                case CastRule::Follow: fits = wide == "float32" && narrow == lowName; break;
                case CastRule::Banned: fits = wide.starts_with("error"); break;
                }
                QVERIFY2(fits, (std::string(name) + " " + op).c_str());
            }
        }
    }

    void castsTellTheirRule() {
        const CastPolicy policy = torchCudaPolicy(DType::F16);
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {3, 4}, DType::F32);
        const NodeId w = b.state("w", {4, 4}, DType::F32, StateRole::Parameter);
        const AutocastScope scope(b, &policy);
        const NodeId y = fn::linear(b, fn::linear(b, x, w, kNoNode), w, kNoNode);
        // x and w once each: the weight's cast is shared, the first result is low already
        QCOMPARE(countOf(graph, Op::Cast), 2);
        for (NodeId id = 0; id < graph.size(); ++id) {
            if (graph[id].op != Op::Cast) continue;
            QVERIFY(graph[id].cause.rule == "linear: lower precision (torch cuda float16)");
        }
        const NodeId again = castInputs(b, "linear", std::array{y})[0];
        QCOMPARE(again, y);
        QVERIFY(graph[y].cause.rule.empty());
    }

    void ineligibleTypesPass() {
        const CastPolicy policy = torchCudaPolicy(DType::BF16);
        Graph graph;
        Builder b(graph);
        const NodeId in[] = {b.input("d", {2}, DType::F64), b.input("i", {2}, DType::I32),
                             b.input("m", {2}, DType::Bool)};
        {
            const AutocastScope scope(b, &policy);
            for (const char* name : {"linear", "exp", "softmax", "addcmul"}) {
                const auto out = castInputs(b, name, in);
                QVERIFY(std::equal(out.begin(), out.end(), std::begin(in)));
            }
            // a region that is off: nothing is cast
            const AutocastScope off(b, nullptr);
            const NodeId x = b.input("x", {2}, DType::F32);
            QCOMPARE(castInputs(b, "linear", std::array{x})[0], x);
        }
        QVERIFY(b.policy() == nullptr);
    }

    void widestRule() {
        const CastPolicy policy = torchCudaPolicy(DType::F16);
        Graph graph;
        Builder b(graph);
        const NodeId wide = b.input("w", {2}, DType::F32), low = b.input("l", {2}, DType::F16);
        const NodeId foreign = b.input("f", {2}, DType::BF16);
        const AutocastScope scope(b, &policy);
        const auto mixed = castInputs(b, "addcmul", std::array{low, wide, low});
        for (const NodeId id : mixed)
            QCOMPARE(b.dtypeOf(id), DType::F32);
        QCOMPARE(castInputs(b, "addcmul", std::array{low, low})[1], low);
        try {
            castInputs(b, "addcmul", std::array{low, foreign});
            QFAIL("a foreign low dtype was taken");
        } catch (const InputError& error) {
            QVERIFY(std::string(error.what()).find("bfloat16") != std::string::npos);
        }
        try {
            castInputs(b, "binary_cross_entropy", std::array{low, low});
            QFAIL("a banned op was taken");
        } catch (const InputError& error) {
            QVERIFY(std::string(error.what()).find("binary_cross_entropy_with_logits") !=
                    std::string::npos);
        }
    }
};

QTEST_GUILESS_MAIN(TestAutocast)
#include "tst_autocast.moc"
