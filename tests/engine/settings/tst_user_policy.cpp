// A user's own policy: its file as rules, what a lane makes of it, and what is wrong with a file.
// The policies that come with the program are in tst_policies.
#include "engine/core/error.h"
#include "engine/ops/functional.h"
#include "engine/settings/cast_policy_json.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "tests/support/graph_bench.h"
#include "tests/support/step_graphs.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tst_user_policy {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns JSON that is written with ' for ".
std::string quoted(std::string json) {
    std::replace(json.begin(), json.end(), '\'', '"');
    return json;
}

CastPolicy parsed(const std::string& json) { return parseCastPolicy(quoted(json), "p.json"); }

constexpr const char* kMine =
    "{'version': 1, 'name': 'mine', 'low': 'float16', "
    "'base': 'torch cuda float16', 'ops': {'softplus': 'lower'}, 'layers': {'layer 1': 'float32'}}";

} // namespace

class TestUserPolicy : public QObject {
    Q_OBJECT

private slots:
    void fileAndNetwork() {
        const CastPolicy policy = parsed(kMine);
        QCOMPARE(policy.name, std::string("mine"));
        QCOMPARE(policy.ruleOf("softplus"), CastRule::Lower);
        QCOMPARE(policy.ruleOf("exp"), CastRule::Full); // from the base
        const QTemporaryDir folder;
        LaneConfig lane = defaultLane(Precision::User);
        lane.policyFile = folder.filePath("mine.json").toStdString();
        std::ofstream(lane.policyFile) << quoted(kMine);
        const Graph g = graphOf(lane);
        QCOMPARE(layerOutput(g, "layer 0"), DType::F16);
        QCOMPARE(layerOutput(g, "layer 1"), DType::F32);
        QCOMPARE(layerOutput(g, "activation 0"), DType::F16);
        QVERIFY(contains(graphText(g), "[linear: layer 1 in float32 (mine)]"));

        std::ofstream(lane.policyFile) << quoted("{'version': 1, 'name': 'm', 'base': 'apex O1', "
                                                 "'layers': {'layer 7': 'float32'}}");
        const std::string unknown = thrownBy<InputError>([&] { graphOf(lane); });
        QCOMPARE(unknown, lane.policyFile + ": layers: \"layer 7\" is not a layer of this "
                                            "network; the nearest one is layer 0");
        LaneConfig forced = defaultLane(Precision::AmpFp16);
        forced.layers = "output=float32";
        QCOMPARE(thrownBy<InputError>([&] { graphOf(forced); }),
                 std::string("precision.layers: \"output\" is not a layer of this network; the "
                             "nearest one is output layer"));
        lane.policyFile += ".missing";
        QVERIFY(contains(thrownBy<InputError>([&] { graphOf(lane); }), "cannot read"));
    }

    /// A policy of one's own can leave single operations out of FP8.
    void fp8() {
        const QTemporaryDir folder;
        LaneConfig lane = defaultLane(Precision::User);
        lane.policyFile = folder.filePath("eight.json").toStdString();
        for (const bool follows : {false, true}) {
            std::ofstream(lane.policyFile)
                << quoted("{'version': 1, 'name': 'eight', 'base': 'torch cuda bfloat16 with FP8', "
                          "'ops': {'linear': '") +
                       (follows ? "full" : "lower") + quoted("'}}");
            QCOMPARE(contains(graphText(graphOf(lane)), "[linear: FP8 (eight)]"), !follows);
        }
    }

    void everyBaseCanBeNamed() {
        for (const std::string& base : policyBases()) {
            const std::string low = base == "none" ? "'low': 'bfloat16', " : "";
            const CastPolicy policy =
                parsed("{'version': 1, 'name': 'x', " + low + "'base': '" + base + "'}");
            QCOMPARE(policy.name, std::string("x"));
            QVERIFY(isLow(policy.low));
        }
        // the ops that can be named are those that the policies' functions ask for
        const auto& ops = policyOps();
        for (const char* op :
             {"linear", "softmax", "batch_norm", "mse_loss", "relu", "add", "rms_norm", "mish"})
            QVERIFY2(std::find(ops.begin(), ops.end(), op) != ops.end(), op);
    }

    void everyOpCanBeRuled_data() {
        QTest::addColumn<QString>("rule");
        for (const char* rule : {"follow", "lower", "full", "full-result", "widest"})
            QTest::newRow(rule) << rule;
    }
    /// Whatever a file says about an op, a step is built: operands that meet outside the region
    /// have one dtype.
    void everyOpCanBeRuled() {
        QFETCH(QString, rule);
        const QTemporaryDir folder;
        LaneConfig lane = defaultLane(Precision::User);
        lane.policyFile = folder.filePath("rule.json").toStdString();
        for (const std::string& op : policyOps()) {
            std::ofstream(lane.policyFile)
                << quoted("{'version': 1, 'name': 'm', 'base': 'torch cuda float16', 'ops': {'" +
                          op + "': '" + rule.toStdString() + "'}}");
            for (const int64_t networks : {1, 2}) {
                RunConfig config = configOf(lane, networks == 1 ? Norm::LayerNorm : Norm::None);
                config.model.networks = networks;
                config.gradients.penalty = networks == 1 ? 1 : 0;
                config.gradients.clip = ClipKind::Norm2;
                const Graph g = buildStep(config, lane, kShape);
                QCOMPARE(g[g.output("loss")].dtype, DType::F32);
            }
        }
    }

    /// The penalty's norm is part of the region; the gradients from which it is made are not.
    void penaltyIsRuled() {
        const QTemporaryDir folder;
        LaneConfig lane = defaultLane(Precision::User);
        lane.policyFile = folder.filePath("rule.json").toStdString();
        std::ofstream(lane.policyFile)
            << quoted("{'version': 1, 'name': 'm', 'base': 'torch cuda float16', "
                      "'ops': {'sqrt': 'lower', 'mul': 'lower'}}");
        RunConfig config = configOf(lane);
        config.gradients.penalty = 1;
        const Graph g = buildStep(config, lane, kShape);
        int roots = 0, squares = 0, unscaled = 0;
        for (NodeId id = 0; id < g.size(); ++id) {
            const Node& node = g[id];
            if (node.cause.label != "gradient penalty" || node.cause.phase != Phase::Loss) continue;
            const bool isProduct = node.op == Op::Mul, isSquare = node.in[0] == node.in.back();
            roots += node.op == Op::Sqrt && node.dtype == DType::F16;
            squares += isProduct && isSquare && node.dtype == DType::F16;
            unscaled += isProduct && !isSquare && node.dtype == DType::F32;
        }
        QCOMPARE(roots, 1);
        QVERIFY(squares > 0);
        QCOMPARE(unscaled, squares); // one each for a parameter
    }

    /// A training uses the file as it was at the start, whatever happens to it later.
    void trainingKeepsItsPolicy() {
        const QTemporaryDir folder;
        LaneConfig lane = defaultLane(Precision::User);
        lane.policyFile = folder.filePath("mine.json").toStdString();
        std::ofstream(lane.policyFile) << quoted(kMine);
        RunConfig config = configOf(lane);
        config.task.kind = TaskKind::Regression;
        config.task.batch = kShape.rows;
        const auto data = makeTask(config);
        Trainer trainer(config, 0, "lane", *data, makeCpuExecutor(1));
        const std::vector<float> before = trainer.preview();
        QVERIFY(std::filesystem::remove(lane.policyFile));
        QCOMPARE(trainer.preview(), before);
        ScalerConfig scaler = lane.scaler;
        scaler.onOverflow = OverflowAction::Step; // another step, which is compiled anew
        trainer.setScaler(scaler);
        const Graph& graph = trainer.program().graph;
        QVERIFY(contains(graphText(graph), "[linear: layer 1 in float32 (mine)]"));
        std::vector<Event> events;
        QVERIFY(trainer.step(1, events));
    }

    void mistakes_data() {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QByteArray>("message");
        const auto row = [](const char* name, const char* inside, const char* message) {
            const QByteArray head = "{'version': 1, 'name': 'm', 'base': 'torch cuda float16'";
            QTest::newRow(name) << head + inside + "}" << QByteArray(message);
        };
        row("key", ", 'opps': {}", "\"opps\" is an unknown key; the nearest known one is ops");
        row("op", ", 'ops': {'sotfmax': 'lower'}",
            "ops: \"sotfmax\" is an unknown op; the nearest known one is softmax");
        row("rule", ", 'ops': {'softmax': 'lowest'}",
            "ops.softmax: \"lowest\" is not allowed: one of follow, lower, full, full-result, "
            "widest, banned");
        row("rule's type", ", 'ops': {'softmax': 16}", "ops.softmax: 16 is not allowed: one of");
        row("ops' type", ", 'ops': ['softmax']", "ops: a list is not allowed: an object");
        row("layer's dtype", ", 'layers': {'layer 1': 'float64'}",
            "layers.\"layer 1\": \"float64\" is not allowed: one of float32, float16, bfloat16");
        row("low", ", 'low': 'float32'", "low: \"float32\" is not allowed: one of float16, bfloa");
        row("low of another base", ", 'low': 'bfloat16'",
            "low: \"bfloat16\" is not allowed: float16, that of the base torch cuda float16");
        row("twice", ", 'name': 'n'", "name: the key occurs twice in the same object");
        const auto whole = [](const char* name, const char* json, const char* message) {
            QTest::newRow(name) << QByteArray(json) << QByteArray(message);
        };
        whole("version", "{'name': 'm', 'base': 'none'}", "version: missing");
        whole("version 2", "{'version': 2}", "version: 2 is not allowed");
        whole("base", "{'version': 1, 'name': 'm', 'base': 'torch'}",
              "base: \"torch\" is not allowed: one of none, torch cuda float16, ");
        whole("no base", "{'version': 1, 'name': 'm'}", "base: missing; it must be one of none");
        whole("no low", "{'version': 1, 'name': 'm', 'base': 'none'}", "low: missing");
        whole("no name", "{'version': 1, 'base': 'apex O1'}", "name: missing");
        whole("ops of layers",
              "{'version': 1, 'name': 'm', 'base': 'keras mixed_float16', 'ops': {'exp': 'full'}}",
              "ops: exp: operations have no rules when the base works by layers");
        whole("no object", "[1]", "a list is not a policy");
        whole("no JSON", "{", "line 1, column 2: not valid JSON");
    }
    void mistakes() {
        QFETCH(QByteArray, json);
        QFETCH(QByteArray, message);
        const std::string text = thrownBy<InputError>([&] { parsed(json.toStdString()); });
        QVERIFY2(isAbout(text, "p.json", message.toStdString()), text.c_str());
    }

    void bannedByAUser() {
        const CastPolicy policy = parsed("{'version': 1, 'name': 'm', 'low': 'float16', "
                                         "'base': 'none', 'ops': {'exp': 'banned'}}");
        Bench t;
        const AutocastScope scope(t.b, &policy);
        const std::string text = thrownBy<InputError>([&] { fn::unary(t.b, Op::Exp, t.x); });
        QCOMPARE(text, std::string("exp: banned by the policy m"));
    }
};

} // namespace tst_user_policy

QTEST_GUILESS_MAIN(tst_user_policy::TestUserPolicy)
#include "tst_user_policy.moc"
