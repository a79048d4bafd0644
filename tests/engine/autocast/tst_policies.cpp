// Precisions: which dtypes a lane's parameters, activations, norms and gradients have; regions and
// forced layers. A user's own policy is in tst_user_policy.
#include "engine/core/error.h"
#include "engine/ops/cast_report.h"
#include "engine/ops/functional.h"
#include "engine/ops/inspect.h"
#include "engine/settings/fields.h"
#include "engine/settings/precision_plan.h"
#include "engine/step/step_graph.h"
#include "engine/train/trainer.h"
#include "tests/support/graph_bench.h"
#include "tests/support/step_graphs.h"
#include "tests/support/thrown.h"
#include "tests/support/training.h"

#include <QTest>

#include <cmath>
#include <set>

namespace tst_policies {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Returns the dtype in which a parameter's gradient reaches the optimizer.
DType gradientDType(const Graph& graph, const std::string& parameter) {
    for (NodeId id = 0; id < graph.size(); ++id)
        if (graph[id].cause.label == parameter + " gradient" && !graph[id].in.empty())
            return graph[graph[id].in[0]].dtype;
    return DType::Bool;
}

/// Returns the dtypes of the forward products' operands.
std::set<DType> productDTypes(const Graph& graph) {
    std::set<DType> found;
    for (NodeId id = 0; id < graph.size(); ++id)
        if (graph[id].op == Op::Matmul && graph[id].cause.phase == Phase::Forward)
            for (const NodeId in : graph[id].in)
                found.insert(graph[in].dtype);
    return found;
}

QString named(DType dtype) {
    const std::string_view name = nameOf(dtype);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

Precision precisionNamed(const QString& name) {
    for (const PrecisionPreset& preset : precisionPresets())
        if (name == preset.name) return preset.precision;
    failInvariant("no such precision");
}

} // namespace

class TestPolicies : public QObject {
    Q_OBJECT

private slots:
    void dtypes_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<QString>("wanted");
        // parameters, norm parameters | products, norm, softplus, prediction | gradients of both
        const auto row = [](const char* lane, const char* wanted) {
            QTest::newRow(lane) << QString(lane) << QString(wanted);
        };
        const char* const wide = "32 32 | 32 32 32 32 | 32 32";
        row("fp32", wide);
        row("tf32", wide);
        row("apex-o0", wide);
        row("amp-fp16", "32 32 | 16 16 32 16 | 32 32");
        row("amp-bf16", "32 32 | b16 b16 32 b16 | 32 32");
        row("fp8", "32 32 | b16 b16 32 b16 | 32 32");
        row("torch-cpu-fp16", "32 32 | 16 16 16 16 | 32 32");
        row("torch-cpu-bf16", "32 32 | b16 b16 b16 b16 | 32 32");
        row("fp16", "16 16 | 16 16 16 16 | 16 16");
        row("bf16", "b16 b16 | b16 b16 b16 b16 | b16 b16");
        row("apex-o1", "32 32 | 16 16 32 16 | 32 32");
        row("apex-o2", "32 32 | 16 16 16 32 | 32 32");
        row("apex-o3", "16 16 | 16 16 16 32 | 16 16");
        row("keras-mixed-float16", "32 32 | 16 16 16 16 | 32 32");
        row("keras-mixed-bfloat16", "32 32 | b16 b16 b16 b16 | 32 32");
        row("fp16 master", "32 32 | 16 16 16 16 | 32 32");
        row("fp16 keep", "16 32 | 16 16 16 16 | 16 32");
        row("apex-o3 keep", "16 32 | 16 16 16 32 | 16 32");
        row("apex-o3 master", "32 32 | 16 16 16 32 | 32 32");
        row("apex-o2 no-master", "16 32 | 16 16 16 32 | 16 32");
        row("apex-o2 no-master no-keep", "16 16 | 16 16 16 32 | 16 16");
    }
    void dtypes() {
        QFETCH(QString, lane);
        QFETCH(QString, wanted);
        const QStringList words = lane.split(' ');
        LaneConfig config = defaultLane(precisionNamed(words[0]));
        if (words.contains("master")) config.masterWeights = Override::On;
        if (words.contains("no-master")) config.masterWeights = Override::Off;
        if (words.contains("keep")) config.keepBatchnormF32 = Override::On;
        if (words.contains("no-keep")) config.keepBatchnormF32 = Override::Off;
        const Graph g = graphOf(config);
        const auto stored = [&](const char* name) { return g[g.state(name)].dtype; };
        const std::set<DType> products = productDTypes(g);
        QCOMPARE(products.size(), size_t{1});
        QString found;
        for (const QString& each :
             {named(stored("0.weight")), named(stored("1.weight")), QString("|"),
              named(*products.begin()), named(layerOutput(g, "norm 0")),
              named(layerOutput(g, "activation 0")), named(g[g.output("prediction")].dtype),
              QString("|"), named(gradientDType(g, "0.weight")),
              named(gradientDType(g, "1.weight"))})
            found += (found.isEmpty() ? "" : " ") + each;
        found.replace("bfloat", "b").replace("float", "");
        QCOMPARE(found, wanted);
        // the loss is taken in float32, and all other parameters are stored like these
        QCOMPARE(g[g.output("loss")].dtype, DType::F32);
        QCOMPARE(stored("6.bias"), stored("0.weight"));
        // Buffers have the dtype in which the norms see their parameters.
        const NodeId scale = g.state("1.weight");
        DType seen = g[scale].dtype;
        for (NodeId id = 0; id < g.size(); ++id)
            if (g[id].op == Op::Cast && g[id].in[0] == scale && isLow(g[id].dtype))
                seen = g[id].dtype;
        QCOMPARE(stored("1.running_var"), seen);
    }

    /// Rounding a float32 master to the network's dtype is a cast of its own before norms.
    void normsSeeTheirMastersRounded() {
        LaneConfig lane = defaultLane(Precision::ApexO2);
        const auto rounded = [&] {
            const Graph g = graphOf(lane);
            const NodeId weight = g.state("1.weight");
            for (NodeId id = 0; id < g.size(); ++id)
                if (g[id].op == Op::Cast && g[id].in[0] == weight && g[id].dtype == DType::F16)
                    return g[id].cause.rule;
            return std::string();
        };
        QCOMPARE(rounded(), std::string());
        lane.keepBatchnormF32 = Override::Off;
        QCOMPARE(rounded(), std::string("network cast to float16"));
    }

    void layerNorm_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<QString>("wanted");
        const auto row = [](const char* lane, const char* wanted) {
            QTest::newRow(lane) << QString(lane) << QString(wanted);
        };
        row("amp-fp16", "float32");
        row("apex-o1", "float32");
        row("apex-o2", "float16");
        row("keras-mixed-float16", "float16");
        row("keras-mixed-bfloat16", "bfloat16");
        row("fp16", "float16");
    }
    void layerNorm() {
        QFETCH(QString, lane);
        QFETCH(QString, wanted);
        const Graph g = graphOf(defaultLane(precisionNamed(lane)), Norm::LayerNorm);
        QCOMPARE(named(layerOutput(g, "norm 0")), wanted);
    }

    void normsKeepTheirParameters_data() {
        QTest::addColumn<int>("norm");
        int norm = 0;
        for (const char* name : {"batch_norm", "layer_norm", "group_norm", "instance_norm"})
            QTest::newRow(name) << norm++;
    }
    /// In layers with a forced dtype the result has it, and weight and bias enter as they are.
    void normsKeepTheirParameters() {
        QFETCH(int, norm);
        Graph graph;
        Builder b(graph);
        const CastPolicy policy = layerPolicy("keras mixed_float16", DType::F16);
        const AutocastScope scope(b, &policy);
        const LabelScope label(b, "norm 0");
        const NodeId x = b.input("x", {3, 4, 4}, DType::F32);
        const NodeId weight = b.input("weight", {4}, DType::F32),
                     bias = b.input("bias", {4}, DType::F32);
        const auto emitted = [&] {
            switch (norm) {
            case 0: return fn::batchNorm(b, x, weight, bias, 1, 1e-3).y;
            case 1: return fn::layerNorm(b, x, weight, bias, 1e-3);
            case 2: return fn::groupNorm(b, x, 2, weight, bias, 1e-3);
            default: return fn::instanceNorm(b, x, weight, bias, 1e-3);
            }
        };
        QCOMPARE(b.dtypeOf(emitted()), DType::F16);
        std::set<NodeId> rounded; // what is cast to float16, including reshapes in between
        for (NodeId id = 0; id < graph.size(); ++id) {
            if (graph[id].op != Op::Cast || graph[id].dtype != DType::F16) continue;
            NodeId from = graph[id].in[0];
            while (graph[from].op == Op::Reshape || graph[from].op == Op::Expand)
                from = graph[from].in[0];
            rounded.insert(from);
        }
        QVERIFY(rounded.contains(x));
        QVERIFY(!rounded.contains(weight) && !rounded.contains(bias));
        validate(graph);
    }

    void everyPrecision_data() {
        QTest::addColumn<int>("precision");
        for (const PrecisionPreset& preset : precisionPresets())
            if (preset.precision != Precision::User)
                QTest::newRow(preset.name) << static_cast<int>(preset.precision);
    }

    /// One cast of a parameter to a dtype serves the whole step, second order included.
    void weightsAreCastOnce_data() { everyPrecision_data(); }
    void weightsAreCastOnce() {
        QFETCH(int, precision);
        const LaneConfig lane = defaultLane(static_cast<Precision>(precision));
        RunConfig config = configOf(lane);
        config.gradients.penalty = 1;
        const Graph g = buildStep(config, lane, kShape);
        std::map<std::pair<NodeId, DType>, int> casts;
        int low = 0;
        for (NodeId id = 0; id < g.size(); ++id) {
            if (g[id].op != Op::Cast) continue;
            NodeId from = g[id].in[0];
            if (g[from].op == Op::QuantizeFp8) from = g[from].in[0];
            if (g[from].op != Op::State) continue;
            QCOMPARE((++casts[{from, g[id].dtype}]), 1);
            low += isLow(g[id].dtype) ? 1 : 0;
        }
        const PrecisionPlan plan = planOf(lane);
        const bool casting = plan.policy && plan.storage.weights == DType::F32;
        QCOMPARE(low, casting ? 6 : 0); // three layers' weights and biases
    }

    void everyPrecisionTrains_data() { everyPrecision_data(); }
    void everyPrecisionTrains() {
        QFETCH(int, precision);
        RunConfig config = configOf(defaultLane(static_cast<Precision>(precision)));
        config.optimizer.kind = OptimizerKind::Sgd; // Adam divides by zero in float16
        config.optimizer.lr = 0.01;
        const FixedDataset data = randomRegression(kShape, 1, config.seed);
        Trainer trainer(config, 0, "lane", data, makeCpuExecutor(1));
        std::vector<Event> events;
        const float first = trainer.step(1, events)->loss;
        float last = first;
        for (int64_t step = 2; step <= 40; ++step)
            last = trainer.step(step, events)->loss;
        QVERIFY2(std::isfinite(last) && last < first, qPrintable(QString::number(last)));
        QVERIFY(scalesLoss(config.lanes[0]) ==
                (presetOf(config.lanes[0].precision).scalerMode != ScalerMode::Off));
        RunConfig wide = config;
        wide.threads = 3;
        Trainer other(wide, 0, "lane", data, makeCpuExecutor(3));
        for (int64_t step = 1; step <= 40; ++step)
            last = other.step(step, events)->loss;
        for (const auto& [name, values] : trainer.weights())
            QCOMPARE(differentBits(values, other.weights().at(name)), 0);
        // the picture before the run is computed as the steps compute it
        QCOMPARE(trainer.preview().size(), static_cast<size_t>(kShape.rows));
    }

    /// Without master weights, updates below half the spacing of float16 are lost.
    void masterWeightsKeepSmallUpdates() {
        const auto changed = [](Override master) {
            LaneConfig lane = defaultLane(Precision::Fp16);
            lane.masterWeights = master;
            RunConfig config = configOf(lane, Norm::None);
            config.optimizer.kind = OptimizerKind::Sgd;
            config.optimizer.momentum = 0;
            config.optimizer.lr = 1e-7;
            const FixedDataset data = randomRegression(kShape, 1, config.seed);
            Trainer trainer(config, 0, "lane", data, makeCpuExecutor(1));
            const std::vector<float> before = trainer.weights().at("2.weight");
            std::vector<Event> events;
            for (int64_t step = 1; step <= 3; ++step)
                trainer.step(step, events);
            return differentBits(before, trainer.weights().at("2.weight"));
        };
        QCOMPARE(changed(Override::Off), 0);
        QVERIFY(changed(Override::On) > 0);
    }

    /// A policy that lowers to float32 would cast nothing and still count as one.
    void lowIsAHalf() {
        for (const DType type : {DType::F32, DType::F64, DType::I32}) {
            QVERIFY_THROWS_EXCEPTION(std::logic_error, torchCudaPolicy(type));
            QVERIFY_THROWS_EXCEPTION(std::logic_error, torchCpuPolicy(type));
        }
    }

    void regionsNestAndCanBeOff() {
        const CastPolicy half = torchCudaPolicy(DType::F16), brain = torchCudaPolicy(DType::BF16);
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {4, 4}, DType::F32);
        const auto product = [&] { return b.dtypeOf(fn::matmul(b, x, x)); };
        const AutocastScope outer(b, &half);
        QCOMPARE(product(), DType::F16);
        {
            const AutocastScope inner(b, &brain);
            QCOMPARE(product(), DType::BF16);
            {
                const AutocastScope off(b, nullptr);
                QCOMPARE(product(), DType::F32);
                const AutocastScope again(b, &half);
                QCOMPARE(product(), DType::F16);
            }
            QCOMPARE(product(), DType::BF16);
        }
        QCOMPARE(product(), DType::F16);
        // an explicit dtype stays until an op's rule asks for another one
        const NodeId wide = b.cast(fn::matmul(b, x, x), DType::F32);
        QCOMPARE(b.dtypeOf(fn::unary(b, Op::Relu, wide)), DType::F32);
        QCOMPARE(b.dtypeOf(fn::matmul(b, wide, x)), DType::F16);
    }

    void forcedLayers() {
        CastPolicy policy = torchCudaPolicy(DType::F16);
        policy.layers["wide"] = DType::F32;
        policy.layers["brain"] = DType::BF16;
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {4, 4}, DType::F32);
        const NodeId d = b.input("d", {4, 4}, DType::F64), i = b.input("i", {4, 4}, DType::I32);
        const AutocastScope scope(b, &policy);
        const NodeId low = fn::matmul(b, x, x);
        QCOMPARE(b.dtypeOf(low), DType::F16);
        {
            const LabelScope label(b, "wide");
            const NodeId y = fn::matmul(b, low, x);
            QCOMPARE(b.dtypeOf(y), DType::F32);
            QCOMPARE(b[y].cause.decision,
                     std::string("matmul: wide in float32 (torch cuda float16)"));
            // composites, too, and listed ones whose rule says otherwise
            QCOMPARE(b.dtypeOf(fn::softmax(b, low, 1)), DType::F32);
            QCOMPARE(b.dtypeOf(fn::unary(b, Op::Relu, low)), DType::F32);
        }
        const LabelScope label(b, "brain");
        QCOMPARE(b.dtypeOf(fn::softmax(b, x, 1)), DType::BF16);
        QCOMPARE(b.dtypeOf(fn::matmul(b, x, low)), DType::BF16);
        QCOMPARE(b.dtypeOf(fn::unary(b, Op::Exp, d)), DType::F64);
        const NodeId kept[] = {d, i};
        QVERIFY(castInputs(b, "add", kept) == (std::vector<NodeId>{d, i}));
    }

    /// Every node of the forward pass that a function emitted under autocast records what was
    /// decided.
    void nodesKnowTheirRule() {
        const Graph g = graphOf(defaultLane(Precision::AmpFp16));
        int products = 0, casts = 0;
        for (NodeId id = 0; id < g.size(); ++id) {
            const Cause& cause = g[id].cause;
            if (g[id].op == Op::Matmul && cause.phase == Phase::Forward) {
                ++products;
                QCOMPARE(cause.decision,
                         std::string("linear: lower precision (torch cuda float16)"));
            }
            if (g[id].op == Op::Softplus && cause.phase == Phase::Forward)
                QCOMPARE(cause.decision, std::string("softplus: float32 (torch cuda float16)"));
            if (cause.phase != Phase::Forward && cause.phase != Phase::Loss)
                QCOMPARE(cause.decision, std::string());
            if (g[id].op == Op::Cast) {
                ++casts;
                QVERIFY2(!castReason(g, id).empty(), nodeText(g, id).c_str());
            }
        }
        QCOMPARE(products, 3);
        int counted = 0, byLinear = 0;
        for (const CastCount& kind : castCounts(g)) {
            counted += kind.count;
            if (kind.reason == "linear: lower precision (torch cuda float16)")
                byLinear += kind.count;
        }
        QCOMPARE(counted, casts);
        // three weights, three biases, the input, and two activations that softplus left in float32
        QCOMPARE(byLinear, 9);
        QVERIFY(contains(graphText(g), "casts: " + std::to_string(casts) + "\n"));
        const auto json = nlohmann::json::parse(graphJson(g));
        QCOMPARE(json["casts"].size(), castCounts(g).size());
    }

    void tf32Lane() {
        const Graph tf32 = graphOf(defaultLane(Precision::Tf32));
        const Graph plain = graphOf(defaultLane(Precision::Fp32));
        QCOMPARE(tf32.size(), plain.size());
        int products = 0;
        for (NodeId id = 0; id < tf32.size(); ++id) {
            const bool product = tf32[id].op == Op::Matmul;
            QCOMPARE(tf32[id].math, product ? MathMode::TF32 : MathMode::F32);
            QCOMPARE(tf32[id].dtype, plain[id].dtype);
            products += product ? 1 : 0;
        }
        QVERIFY(products >= 8); // three layers in the forward pass, three weight and two input
                                // gradients
    }

    void layersOfALane_data() {
        QTest::addColumn<QString>("lane");
        QTest::addColumn<QString>("others");
        QTest::newRow("autocast") << "amp-fp16"
                                  << "float16";
        QTest::newRow("no policy") << "fp32"
                                   << "float32";
        QTest::newRow("by layers") << "keras-mixed-float16"
                                   << "float16";
        QTest::newRow("a cast network") << "fp16"
                                        << "float16";
    }
    void layersOfALane() {
        QFETCH(QString, lane);
        QFETCH(QString, others);
        LaneConfig config = defaultLane(precisionNamed(lane));
        config.layers = " layer 1 = bfloat16,norm 1=float32 ";
        const Graph g = graphOf(config);
        QCOMPARE(named(layerOutput(g, "layer 0")), others);
        QCOMPARE(layerOutput(g, "layer 1"), DType::BF16);
        QCOMPARE(layerOutput(g, "norm 1"), DType::F32);
        for (const char* wrong : {"layer 1", "layer 1=float64", "=float32", "layer 1=float32,,x",
                                  "norm 0=float32,norm 0=float16"}) {
            RunConfig run = configOf(config);
            const std::string text = thrownBy<InputError>(
                [&] { applySetting(run, std::string("precision.layers=") + wrong); });
            QVERIFY2(contains(text, "precision.layers: ") && contains(text, "pairs such as"),
                     text.c_str());
        }
    }

    void settings() {
        RunConfig config = defaultConfig();
        applySetting(config, "lanes.1.precision=apex-o2");
        QCOMPARE(config.lanes[1].scaler, defaultLane(Precision::ApexO2).scaler);
        QCOMPARE(config.lanes[1].scaler.rules.ceiling, 0x1p24);
        applySetting(config, "lanes.1.precision.master_weights=off");
        applySetting(config, "lanes.0.precision=user");
        const std::string missing = thrownBy<InputError>([&] { checkConfig(config); });
        QVERIFY2(contains(missing, "lanes.0.precision.policy: missing"), missing.c_str());
        applySetting(config, "lanes.0.precision.policy=mine.json");
        checkConfig(config);
        const RunConfig read = parseConfig(configText(config), "e.json");
        QCOMPARE(read.lanes[0].policyFile, std::string("mine.json"));
        QCOMPARE(read.lanes[1].masterWeights, Override::Off);
        QCOMPARE(configText(read), configText(config));
        // a new precision brings its own properties, as Apex's levels do
        applySetting(config, "lanes.1.precision=apex-o3");
        QCOMPARE(config.lanes[1].masterWeights, Override::Default);
        applySetting(config, "lanes.1.precision=apex-o1");
        applySetting(config, "lanes.1.precision.keep_batchnorm_fp32=on");
        const std::string refused = thrownBy<InputError>([&] { checkConfig(config); });
        QVERIFY2(contains(refused, "lanes.1.precision.keep_batchnorm_fp32: on is not allowed with "
                                   "precision apex-o1"),
                 refused.c_str());
        // edited rules survive a new precision
        RunConfig edited = defaultConfig();
        applySetting(edited, "lanes.1.scaler.growth_interval=5");
        applySetting(edited, "lanes.1.precision=apex-o1");
        QCOMPARE(edited.lanes[1].scaler.rules.growthInterval, int64_t{5});
        QCOMPARE(edited.lanes[1].scaler.rules.ceiling, 0.0);
    }
};

} // namespace tst_policies

QTEST_GUILESS_MAIN(tst_policies::TestPolicies)
#include "tst_policies.moc"
