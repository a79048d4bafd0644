// Autocast: the dtypes of every function compared with PyTorch's recorded table, the lists as a
// whole, and what a cast tells about its cause.
#include "engine/core/error.h"
#include "engine/ops/functional.h"
#include "engine/ops/op_suite.h"
#include "engine/verify/suites.h"
#include "tests/support/function_cases.h"
#include "tests/support/thrown.h"
#include "tests/support/training.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace tst_autocast {

using namespace halfscope;
using nlohmann::json;

namespace {

const char* const kTables[] = {"cuda_float16", "cuda_bfloat16", "cpu_bfloat16", "cpu_float16"};

const json& goldenDtypes() {
    static const json table = json::parse(test::goldenOf("autocast").dump());
    return table;
}

/// One case for each table, function and combination of input dtypes.
const recorded::SuiteCases& dtypeCases() {
    static const recorded::SuiteCases cases = recorded::autocastSuite(test::goldenOf("autocast"));
    return cases;
}

std::vector<NodeId> inputsOf(Builder& b, const AutocastCase& given) {
    std::vector<NodeId> in;
    for (const Shape& shape : given.shapes)
        in.push_back(b.input("x" + std::to_string(in.size()), shape, DType::F32));
    return in;
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
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < dtypeCases().cases.size(); ++i)
            QTest::newRow(dtypeCases().cases[i].name.c_str()) << static_cast<int>(i);
        QVERIFY(dtypeCases().notes.empty()); // nothing was left out
    }
    void autocastDtype() {
        QFETCH(int, index);
        const auto result = dtypeCases().cases[static_cast<size_t>(index)].run();
        QVERIFY2(result.passed(), result.difference.c_str());
    }

    /// Every function of the tables has exactly one case.
    void everyFunctionIsThere() {
        for (const char* table : kTables)
            for (const auto& [op, row] : goldenDtypes()[table].items())
                QVERIFY2(autocastCase(op) != nullptr, (std::string(table) + " " + op).c_str());
        std::set<std::string_view> names;
        for (const AutocastCase& given : autocastCases())
            QVERIFY2(names.insert(given.name).second, std::string(given.name).c_str());
    }

    void casesHaveOneInputForEachThatVaries() {
        for (const auto& [op, row] : goldenDtypes()[kTables[0]].items()) {
            const AutocastCase* given = autocastCase(op);
            QVERIFY2(given != nullptr, op.c_str());
            QVERIFY2((given->shapes.size() > 1) == row.contains("first_low"), op.c_str());
        }
        QVERIFY_THROWS_EXCEPTION(
            std::logic_error, autocastResult(autocastCases()[0], torchCpuPolicy(DType::F16), "?"));
        QVERIFY(!autocastTablePolicy("cuda_float8"));
    }

    void everyCastOfAnInputHasACause_data() {
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < test::functionCases().size(); ++i)
            QTest::newRow(std::string(test::functionCases()[i].name).c_str())
                << static_cast<int>(i);
    }
    /// A cast of an input names the rule that made it, and the scope keeps its policy.
    void everyCastOfAnInputHasACause() {
        QFETCH(int, index);
        const AutocastCase& given = test::functionCases()[static_cast<size_t>(index)];
        for (const char* table : kTables) {
            const auto policy = autocastTablePolicy(table);
            if (policy->ruleOf(given.name) == CastRule::Banned) continue;
            Graph graph;
            Builder b(graph);
            const std::vector<NodeId> in = inputsOf(b, given);
            const AutocastScope scope(b, &*policy);
            given.emit(b, in);
            QVERIFY(b.policy() == &*policy);
            for (NodeId id = 0; id < graph.size(); ++id) {
                if (graph[id].op != Op::Cast || graph[graph[id].in[0]].op != Op::Input) continue;
                QVERIFY2(graph[id].cause.rule.find(policy->name) != std::string::npos,
                         graph[id].cause.rule.c_str());
            }
        }
    }

    /// A strict node after a function has no decision of autocast left over from that function.
    void decisionsEndWithTheirFunction_data() { everyCastOfAnInputHasACause_data(); }
    void decisionsEndWithTheirFunction() {
        QFETCH(int, index);
        const AutocastCase& given = test::functionCases()[static_cast<size_t>(index)];
        for (const char* table : kTables) {
            const auto policy = autocastTablePolicy(table);
            const CastRule rule = policy->ruleOf(given.name);
            if (rule == CastRule::Banned) continue;
            Graph graph;
            Builder b(graph);
            const std::vector<NodeId> in = inputsOf(b, given);
            const AutocastScope scope(b, &*policy);
            given.emit(b, in);
            const std::string words(nameOf(rule)), name(given.name);
            bool told = false;
            for (NodeId id = 0; id < graph.size(); ++id)
                told = told || graph[id].cause.decision.starts_with(name + ": " + words);
            // cross is dispatched as linalg.cross, which the lists do not name
            QVERIFY(told || rule == CastRule::Follow || name == "cross");
            QVERIFY(graph[b.unary(Op::IsFinite, in[0])].cause.decision.empty());
        }
    }

    /// The lists also contain names that no function here has yet: as many as PyTorch's and Apex's.
    void listsAreWhole() {
        const auto counts = [](const CastPolicy& policy) {
            std::array<int, 6> of{};
            for (const auto& [name, rule] : policy.rules)
                ++of[static_cast<size_t>(rule)];
            return of;
        };
        using Counts = std::array<int, 6>; // follow, lower, full, full by set, widest, banned
        QVERIFY((counts(torchCudaPolicy(DType::F16)) == Counts{0, 28, 51, 9, 11, 1}));
        QVERIFY((counts(torchCpuPolicy(DType::BF16)) == Counts{0, 18, 52, 0, 3, 0}));
        QVERIFY((counts(apexPolicy(DType::F16)) == Counts{0, 18, 53, 0, 11, 1}));
    }

    /// The lists, under the tables' names, agree with the table: a listed function has the dtype
    /// that its rule gives.
    void policyAgreesWithTable() {
        // composed of listed ops, in PyTorch, too
        const std::map<std::string, std::string> parts = {
            {"square", "pow"},      {"rpow", "pow"},       {"pow_tensor", "pow"},
            {"softmin", "softmax"}, {"normalize", "norm"}, {"multilabel_soft_margin_loss", "sum"},
            {"chain_matmul", "mm"}, {"einsum", "bmm"},     {"tensordot", "mm"}};
        for (const char* name : kTables) {
            const CastPolicy policy = *autocastTablePolicy(name);
            for (const auto& [op, row] : goldenDtypes()[name].items()) {
                const auto part = parts.find(op);
                CastRule rule = policy.ruleOf(op);
                if (rule == CastRule::Follow && part != parts.end())
                    rule = policy.ruleOf(part->second);
                if (op == "cross_entropy") rule = CastRule::Full; // decided by its parts on CUDA
                const auto wide = row["all_float32"].get<std::string>();
                const auto narrow = row["all_low"].get<std::string>();
                const std::string lowName(nameOf(policy.low));
                bool fits = false;
                switch (rule) {
                case CastRule::Lower: fits = wide == lowName && narrow == lowName; break;
                case CastRule::Full:
                case CastRule::FullBySet: fits = wide == "float32" && narrow == "float32"; break;
                case CastRule::Widest:
                case CastRule::Follow:
                    fits = wide == "float32" && (narrow == lowName || narrow.starts_with("error"));
                    break;
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
        // x and w are cast once each: the weight's cast is shared, the first result is low already
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
            // a region that is switched off: nothing is cast
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
        const auto refusal = [&](const char* op, NodeId second) {
            return thrownBy<InputError>([&] { castInputs(b, op, std::array{low, second}); });
        };
        const std::string mixture = refusal("addcmul", foreign);
        QVERIFY2(mixture.find("bfloat16") != std::string::npos, mixture.c_str());
        const std::string banned = refusal("binary_cross_entropy", low);
        QVERIFY2(banned.find("binary_cross_entropy_with_logits") != std::string::npos,
                 banned.c_str());
    }
};

} // namespace tst_autocast

QTEST_GUILESS_MAIN(tst_autocast::TestAutocast)
#include "tst_autocast.moc"
