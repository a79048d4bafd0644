// Training what model.layers describes: the template's own text gives the template's numbers, 1x1
// convolutions over a picture run on the kernels of linear layers over its pixels, and wrong models
// are refused with line and column.
#include "engine/core/philox.h"
#include "engine/exec/executor.h"
#include "engine/exec/reference.h"
#include "engine/models/emit_model.h"
#include "engine/ops/functional.h"
#include "engine/passes/autodiff.h"
#include "engine/passes/compile.h"
#include "engine/settings/fields.h"
#include "engine/settings/layers.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_task.h"
#include "engine/step/penalty.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"
#include "tests/support/lane.h"

#include <QTest>

#include <set>

namespace tst_model_steps {

using namespace halfscope;
using namespace halfscope::test;

namespace {

RunConfig pictureConfig(const std::string& layers, Precision precision = Precision::AmpFp16) {
    RunConfig config = presetNamed("checkerboard").config;
    config.task.side = 32;
    config.model.width = 64;
    config.model.depth = 1;
    config.model.layers = layers;
    config.lanes = {defaultLane(precision)};
    config.device = "cpu";
    config.threads = 2;
    return config;
}

/// Returns a network without statistics, and its critic.
RunConfig judgedConfig() {
    RunConfig config = pictureConfig("");
    config.model.adversary = Adversary::Gan;
    config.model.critic = "Sequential(Linear(1, 16), Tanh(), Linear(16, 1))";
    config.model.norm = Norm::None;
    config.second = {OptimizerKind::Adam, 1e-2};
    return config;
}

/// Returns losses, gradient norms and the last picture of some steps.
std::vector<float> trained(const RunConfig& config, int steps = 6) {
    const auto data = makeTask(config);
    Trainer trainer(config, 0, "lane", *data, makeCpuExecutor(2));
    std::vector<Event> events;
    std::vector<float> seen;
    for (int64_t step = 1; step <= steps; ++step) {
        const StepRecord record = trainer.step(step, events).value();
        seen.insert(seen.end(), {record.loss, record.gradientNorm});
    }
    const std::vector<float> picture = trainer.prediction();
    seen.insert(seen.end(), picture.begin(), picture.end());
    return seen;
}

Program programOf(const RunConfig& config) {
    const auto data = makeTask(config);
    return compile(buildStep(config, config.lanes[0], data->shape()),
                   makeCpuExecutor(2)->compileOptions());
}

/// Returns what each kernel computes in forward and backward, in order: the ops of its nodes except
/// views. The optimizer sees weights (out, c, 1, 1), whose loops may be cut elsewhere.
std::vector<std::string> kernelsOf(const Program& program) {
    std::vector<std::string> kernels;
    for (const Kernel& kernel : program.kernels) {
        std::string ops;
        for (const NodeId id : kernel.members) {
            const Node& node = program.graph[id];
            if (node.op != Op::Reshape && node.cause.phase <= Phase::Backward)
                ops += std::string(nameOf(node.op)) + " ";
        }
        if (!ops.empty()) kernels.push_back(ops);
    }
    return kernels;
}

/// A network over the pixels of a picture as convolutions, or as linear layers.
std::string pixelNetwork(const char* layer, const char* kernel, const char* norm,
                         const char* bias) {
    const auto product = [&](const char* sizes) {
        return std::string("nn.") + layer + "(" + sizes + kernel + bias + ")";
    };
    return "nn.Sequential(" + product("2, 64") + ", nn." + norm + "(64), nn.ReLU(), " +
           product("64, 64") + ", nn." + norm + "(64), nn.ReLU(), " + product("64, 1") + ")";
}
std::string pixels(const char* bias) { return pixelNetwork("Conv2d", ", 1", "BatchNorm2d", bias); }
std::string linear(const char* bias) { return pixelNetwork("Linear", "", "BatchNorm1d", bias); }

QString refusalOf(const RunConfig& config) {
    try {
        const auto data = makeTask(config);
        buildStep(config, config.lanes[0], data->shape());
        return {};
    } catch (const InputError& error) {
        return QString::fromStdString(error.what());
    }
}

} // namespace

class TestModelSteps : public QObject {
    Q_OBJECT

private slots:
    void templateTextGivesTheTemplatesBits_data() {
        QTest::addColumn<int>("norm");
        QTest::addColumn<int>("activation");
        QTest::newRow("batch relu")
            << static_cast<int>(Norm::BatchNorm) << static_cast<int>(Activation::Relu);
        QTest::newRow("layer gelu")
            << static_cast<int>(Norm::LayerNorm) << static_cast<int>(Activation::Gelu);
        QTest::newRow("none sine")
            << static_cast<int>(Norm::None) << static_cast<int>(Activation::Sin);
    }
    void templateTextGivesTheTemplatesBits() {
        QFETCH(int, norm);
        QFETCH(int, activation);
        RunConfig config = pictureConfig("");
        config.model.norm = static_cast<Norm>(norm);
        config.model.activation = static_cast<Activation>(activation);
        const std::vector<float> wanted = trained(config);
        config.model.layers = templateText(config.model, 2, 1);
        QCOMPARE(differentBits(trained(config), wanted), 0);
        const ModelSpec model = modelOf(config.model, 2, 1);
        config.model.layers = textOf(model); // as PyTorch prints it
        QCOMPARE(differentBits(trained(config), wanted), 0);
    }

    void pointwiseConvolutionsAreProductsOverPixels_data() {
        QTest::addColumn<int>("precision");
        for (const Precision p : {Precision::Fp32, Precision::AmpFp16, Precision::Fp16})
            QTest::newRow(nameOf(p)) << static_cast<int>(p);
    }
    /// The values are the same to the last bit, because the products and the kernels are the same;
    /// only a bias is added before a linear layer rounds, and after a convolution has rounded.
    void pointwiseConvolutionsAreProductsOverPixels() {
        QFETCH(int, precision);
        const auto with = [&](const std::string& layers) {
            RunConfig config = pictureConfig("", static_cast<Precision>(precision));
            config.model.layers = layers;
            return config;
        };
        constexpr const char* kNoBias = ", bias=False";
        QCOMPARE(differentBits(trained(with(pixels(kNoBias))), trained(with(linear(kNoBias)))), 0);
        const auto wanted = kernelsOf(programOf(with(linear(kNoBias)))),
                   found = kernelsOf(programOf(with(pixels(kNoBias))));
        QVERIFY(wanted.size() > 10);
        QCOMPARE(found, wanted);
        const int different = differentBits(trained(with(pixels(""))), trained(with(linear(""))));
        if (static_cast<Precision>(precision) == Precision::Fp32)
            QCOMPARE(different, 0);
        else
            QVERIFY(different > 0);
    }

    /// This holds on batches of images in planes, too: the values are those of a true convolution.
    void pointwiseLayersKeepImagesApart() {
        const ModelSpec model = readModel("Sequential(Conv2d(3, 4, 1), ReLU(), Conv2d(4, 2, 1))");
        Graph graph;
        Builder b(graph);
        const Shape in{2, 3, 3, 5};
        const NodeId x = b.input("x", in, DType::F32);
        const EmittedModel made = emitModel(b, model, {x, in});
        const NodeId hidden = fn::unary(
            b, Op::Relu, fn::conv2d(b, x, graph.state("0.weight"), graph.state("0.bias"), {}));
        const NodeId wanted =
            fn::conv2d(b, hidden, graph.state("2.weight"), graph.state("2.bias"), {});
        std::map<NodeId, RefTensor> leaves;
        uint64_t stream = 1;
        for (const NodeId id : {x, graph.state("0.weight"), graph.state("0.bias"),
                                graph.state("2.weight"), graph.state("2.bias")}) {
            RefTensor tensor{graph[id].shape, {}};
            const Philox random(3, stream++);
            for (uint64_t i = 0; i < static_cast<uint64_t>(tensor.shape.elements()); ++i)
                tensor.values.push_back(static_cast<double>(random.uniform(i)) - 0.5);
            leaves.emplace(id, std::move(tensor));
        }
        const auto values =
            evaluate(graph, leaves, std::array{made.output, wanted}, RefRounding::None);
        QCOMPARE(values.at(made.output).shape, values.at(wanted).shape);
        for (size_t i = 0; i < values.at(wanted).values.size(); ++i)
            QVERIFY(std::abs(values.at(made.output).values[i] - values.at(wanted).values[i]) <
                    1e-14);
    }

    /// A single 1x1 convolution among other layers stays one; several in a row become products.
    void singlePointwiseLayersStayConvolutions_data() {
        QTest::addColumn<QByteArray>("layers");
        QTest::addColumn<int>("convolutions");
        QTest::newRow("alone") << QByteArray("Conv2d(3, 4, 1)") << 1;
        QTest::newRow("two") << QByteArray("Conv2d(3, 4, 1), ReLU(), Conv2d(4, 4, 1)") << 0;
        QTest::newRow("blocks") << QByteArray("Sequential(Conv2d(3, 4, 1), BatchNorm2d(4)),"
                                              "Sequential(Tanh(), Conv2d(4, 4, 1))")
                                << 0;
        QTest::newRow("among") << QByteArray("Conv2d(3, 4, 3), Conv2d(4, 4, 1), MaxPool2d(2),"
                                             "Conv2d(4, 4, 1)")
                               << 3;
        QTest::newRow("two among") << QByteArray("Conv2d(3, 4, 3), Conv2d(4, 4, 1), ReLU(),"
                                                 "Conv2d(4, 4, 1), Conv2d(4, 4, 3)")
                                   << 2;
        QTest::newRow("beside") << QByteArray("Residual(Conv2d(3, 3, 1)), Conv2d(3, 4, 1)") << 2;
    }
    void singlePointwiseLayersStayConvolutions() {
        QFETCH(QByteArray, layers);
        QFETCH(int, convolutions);
        const ModelSpec model = readModel("Sequential(" + layers.toStdString() + ")");
        Graph graph;
        Builder b(graph);
        const Shape in{2, 3, 8, 8};
        emitModel(b, model, {b.input("x", in, DType::F32), in});
        int found = 0;
        for (NodeId id = 0; id < graph.size(); ++id)
            found += graph[id].op == Op::Conv2d;
        QCOMPARE(found, convolutions);
    }

    /// Convolutions over neighbours, norms, shortcuts and dropout learn the picture.
    void deepModelsLearn() {
        RunConfig config = pictureConfig(R"(Sequential(
            Conv2d(2, 16, 3, padding=1), BatchNorm2d(16), SiLU(),
            Residual(Conv2d(16, 16, 3, padding=1, bias=False), GroupNorm(4, 16), Hardswish(),
                     Dropout(0.1)),
            Residual(MaxPool2d(2), Conv2d(16, 16, 1), Upsample(scale_factor=2),
                     shortcut=Conv2d(16, 16, 1)),
            LeakyReLU(), Conv2d(16, 1, 1)))");
        const std::vector<float> seen = trained(config, 30);
        QVERIFY(std::isfinite(seen[0]));
        QVERIFY2(seen[58] < 0.8f * seen[0],
                 qPrintable(QString("%1 %2").arg(double{seen[0]}).arg(double{seen[58]})));
    }

    /// Each step has a dropout mask of its own, and a run repeats it.
    void dropoutDrawsAnewEachStep() {
        RunConfig config = pictureConfig("Sequential(Linear(2, 1), Dropout(0.5))");
        config.optimizer.lr = 0;
        const std::vector<float> seen = trained(config, 3);
        QVERIFY(seen[0] != seen[2] && seen[2] != seen[4]);
        QCOMPARE(differentBits(trained(config, 3), seen), 0);
    }

    void eachNetworkLearnsFromItsOwnLoss_data() {
        QTest::addColumn<int>("adversary");
        for (const Adversary each : {Adversary::Gan, Adversary::WganGp})
            QTest::newRow(nameOf(each)) << static_cast<int>(each);
    }
    /// While only the critic trains, it tells the two kinds apart better: its loss falls, or the
    /// distance that it measures grows. While only the network trains, the opposite happens.
    void eachNetworkLearnsFromItsOwnLoss() {
        QFETCH(int, adversary);
        RunConfig config = judgedConfig();
        config.model.adversary = static_cast<Adversary>(adversary);
        constexpr int kSteps = 20;
        const auto losses = [&](double lr, double second) {
            config.optimizer.lr = lr;
            config.second = {OptimizerKind::Adam, second};
            const std::vector<float> seen = trained(config, kSteps);
            return std::array{seen[0], seen[2 * kSteps - 2]};
        };
        const auto alone = losses(0, 1e-2), deceived = losses(1e-2, 0);
        QCOMPARE(deceived[0], alone[0]);
        const float better = config.model.adversary == Adversary::Gan ? -1.0f : 1.0f;
        const float found = better * (alone[1] - alone[0]);
        const float lost = better * (alone[0] - deceived[1]);
        QVERIFY2(found > 1e-3f, qPrintable(QString::number(double{found})));
        QVERIFY2(lost > 1e-3f, qPrintable(QString::number(double{lost})));
    }

    void theFirstNetworkWaitsForItsTurn_data() {
        QTest::addColumn<int>("accumulated");
        for (const int batches : {1, 2})
            QTest::addRow("batches of an update: %d", batches) << batches;
    }
    /// The critic takes 4 steps for each step of the first network; a number that the batches of an
    /// update do not divide would come out right by counting batches, too.
    void theFirstNetworkWaitsForItsTurn() {
        QFETCH(int, accumulated);
        RunConfig config = judgedConfig();
        config.model.criticSteps = 4;
        config.gradients.accumulate = accumulated;
        const auto data = makeTask(config);
        Trainer trainer(config, 0, "lane", *data, makeCpuExecutor(2));
        std::vector<Event> events;
        for (int64_t step = 1; step <= 8 * accumulated; ++step) {
            const Weights before = trainer.weights();
            QVERIFY(trainer.step(step, events).has_value());
            bool first = false, critic = false;
            for (const auto& [name, values] : trainer.weights())
                (name.starts_with("critic.") ? critic : first) |= values != before.at(name);
            QCOMPARE(critic, step % accumulated == 0);
            QCOMPARE(first, step % (4 * accumulated) == 0);
        }
    }

    /// Float32 cannot count past 2^24: the counter of random draws begins again instead of giving
    /// every later step the same ones.
    void countersBeginAgain() {
        Graph graph;
        Builder b(graph);
        const NodeId counter = b.state("count", {}, DType::F32, StateRole::Counter);
        graph.addOutput("count", b.shift(counter, 0));
        emitModelUpdates(b, {{counter, kNoNode, "count", 0}});
        const auto executor = makeCpuExecutor(1);
        const auto program = std::make_shared<const Program>(compile(graph));
        executor->load(program);
        uploadFloats(*executor, program->graph, program->graph.state("count"),
                     std::vector<float>{0x1p24f - 2});
        for (const float count : {0x1p24f - 2, 0x1p24f - 1, 0.0f, 1.0f}) {
            QVERIFY(executor->run(RunMode::Captured) == RunResult::Done);
            QCOMPARE(downloadFloats(*executor, program->graph, program->graph.output("count"))[0],
                     count);
        }
    }

    /// The first network's gradients between its turns are not shown and skip no step.
    void gradientsOutOfTurnDoNotCount() {
        RunConfig config = judgedConfig();
        const float together = trained(config, 1)[1];
        config.model.criticSteps = 3;
        const float alone = trained(config, 1)[1];
        QVERIFY2(alone > 0 && alone < together, qPrintable(QString::number(double{alone})));
        config.lanes[0].scaler.initScale = 1e30; // both overflow at every step
        const auto data = makeTask(config);
        Trainer trainer(config, 0, "lane", *data, makeCpuExecutor(2));
        for (int64_t step = 1; step <= 6; ++step) {
            std::vector<Event> events;
            QVERIFY((trainer.step(step, events).value().flags & kSkipped) != 0);
            const bool second = std::any_of(events.begin(), events.end(), [](const Event& event) {
                return event.text.english().find("the critic's optimizer") != std::string::npos;
            });
            QCOMPARE(second, step % 3 != 0);
        }
    }

    /// The penalty of w x with w = (3, 4) is (5 - 1)^2 everywhere, whatever the scale.
    void slopesOfACriticAreHeldNearOne() {
        for (const double scale : {0.0, 1024.0}) {
            Graph graph;
            Builder b(graph);
            const NodeId at = b.input("at", {3, 2}, DType::F32);
            const NodeId weight = b.input("weight", {1, 2}, DType::F32);
            const bool scaled = scale != 0;
            const NodeId penalty =
                emitSlopePenalty(b, at, fn::linear(b, at, weight, kNoNode),
                                 scaled ? b.constant(scale, {}, DType::F32) : kNoNode,
                                 scaled ? b.constant(1 / scale, {}, DType::F32) : kNoNode);
            const std::map<NodeId, RefTensor> leaves{{at, {{3, 2}, {1, 2, 3, 4, 5, 6}}},
                                                     {weight, {{1, 2}, {3, 4}}}};
            const auto values = evaluate(graph, leaves, std::array{penalty}, RefRounding::None);
            // what keeps the root's slope finite changes it by less than 1e-12
            QVERIFY(std::fabs(values.at(penalty).values[0] - 16) < 1e-12);
        }
    }

    /// The root of zero has an infinite slope: a critic whose units are all off must not become
    /// NaN.
    void criticsWithoutSlopeStayFinite() {
        Graph graph;
        Builder b(graph);
        const NodeId at = b.input("at", {3, 2}, DType::F32);
        const NodeId weight = b.input("weight", {1, 2}, DType::F32);
        const NodeId penalty =
            emitSlopePenalty(b, at, fn::linear(b, at, weight, kNoNode), kNoNode, kNoNode);
        const NodeId slope = gradients(b, penalty, std::array{weight})[0].value();
        const std::map<NodeId, RefTensor> leaves{{at, {{3, 2}, {1, 2, 3, 4, 5, 6}}},
                                                 {weight, {{1, 2}, {0, 0}}}};
        const auto values =
            evaluate(graph, leaves, std::array{penalty, slope}, RefRounding::Storage);
        QVERIFY(std::fabs(values.at(penalty).values[0] - 1) < 1e-5);
        for (const double each : values.at(slope).values)
            QVERIFY(std::isfinite(each));
    }

    void wrongCriticsAreRefused() {
        RunConfig config = pictureConfig("");
        config.model.adversary = Adversary::Gan;
        config.model.critic = "Linear(2, 1)";
        QCOMPARE(refusalOf(config), QString("model.critic, line 1, column 1: Linear(2, 1): the "
                                            "input has 1 features"));
        config.model.critic = "Linear(1, 3)";
        QCOMPARE(refusalOf(config),
                 QString("model.critic: the critic makes (2048, 3) of (2048, 1), where one score "
                         "for each sample, (2048, 1), is expected"));
        config.model.critic.clear();
        config.gradients.penalty = 1;
        QVERIFY_EXCEPTION_THROWN(checkConfig(config), InputError);
        config.gradients.penalty = 0;
        config.task.kind = TaskKind::Mnist;
        config.task.loss.kind = LossKind::CrossEntropy;
        QVERIFY_EXCEPTION_THROWN(checkConfig(config), InputError);
    }

    void layersAreNamedByKindAndPath() {
        RunConfig config = pictureConfig("Sequential(Conv2d(2, 8, 1), ReLU(), Flatten(0, 0),"
                                         "Residual(Conv2d(8, 8, 1)), Conv2d(8, 1, 1))");
        const std::vector<std::string> wanted{"Conv2d 0",   "ReLU 1",   "Conv2d 3.0",
                                              "Residual 3", "Conv2d 4", "loss"};
        QCOMPARE(layersOf(config), wanted);
        config.lanes[0].layers = "Conv2d 3.0=float32";
        const auto data = makeTask(config);
        const Graph g = buildStep(config, config.lanes[0], data->shape());
        for (NodeId id = 0; id < g.size(); ++id) {
            if (g[id].op != Op::Matmul || g[id].cause.phase != Phase::Forward) continue;
            QCOMPARE(g[id].dtype == DType::F32, g[id].cause.label == "Conv2d 3.0");
        }
        RunConfig judged = config;
        judged.model.layers = "Linear(2, 1)";
        judged.model.adversary = Adversary::Gan;
        const std::vector<std::string> both{"Linear", "critic Linear 0", "critic LeakyReLU 1",
                                            "critic Linear 2", "loss"};
        QCOMPARE(layersOf(judged), both);
        config.lanes[0].layers = "layer 1=float32";
        QVERIFY(refusalOf(config).startsWith("precision.layers: \"layer 1\" is not a layer of"));
    }

    /// A type of the whole layer is one of each part that has none of its own.
    void partsOfALayerAreNamed() {
        RunConfig config = defaultConfig();
        config.task.kind = TaskKind::Regression;
        config.model.layers = "Sequential(Unflatten(1, (5, 2)), TransformerEncoderLayer(2, 1, 4, "
                              "0.1, batch_first=True), Flatten(), Linear(10, 1))";
        const std::string whole = "TransformerEncoderLayer 1";
        const std::vector<std::string> wanted{whole,
                                              whole + ".self_attn",
                                              whole + ".self_attn.out_proj",
                                              whole + ".norm1",
                                              whole + ".linear1",
                                              whole + ".linear2",
                                              whole + ".norm2",
                                              "Linear 3",
                                              "loss"};
        QCOMPARE(layersOf(config), wanted);
        const auto lowProducts = [&](const std::string& layers) {
            config.lanes[0].precision = Precision::AmpFp16;
            config.lanes[0].layers = layers;
            const Graph g = buildStep(config, config.lanes[0], makeTask(config)->shape());
            std::set<std::string> labels;
            for (NodeId id = 0; id < g.size(); ++id)
                if (g[id].op == Op::Matmul && g[id].cause.phase == Phase::Forward &&
                    g[id].dtype == DType::F16)
                    labels.insert(g[id].cause.label);
            return labels;
        };
        const std::set<std::string> all{whole + ".linear1", whole + ".linear2", "Linear 3",
                                        whole + ".self_attn.out_proj", whole + ".self_attn"};
        const auto without = [&](std::initializer_list<const char*> parts) {
            std::set<std::string> left = all;
            for (const char* part : parts)
                left.erase(whole + part);
            return left;
        };
        QCOMPARE(lowProducts(""), all);
        QCOMPARE(lowProducts(whole + ".linear1=float32"), without({".linear1"}));
        QCOMPARE(lowProducts(whole + ".self_attn=float32"),
                 without({".self_attn", ".self_attn.out_proj"}));
        QCOMPARE(lowProducts(whole + "=float32"),
                 without({".linear1", ".linear2", ".self_attn", ".self_attn.out_proj"}));
        QCOMPARE(lowProducts(whole + "=float32, " + whole + ".linear2=float16"),
                 without({".linear1", ".self_attn", ".self_attn.out_proj"}));
    }

    void wrongModelsAreRefused() {
        QCOMPARE(refusalOf(pictureConfig("Sequential(\n  Linear(2, 8),\n  Linear(4, 1))")),
                 QString("model.layers, line 3, column 3: Linear(4, 1): the input has 8 features"));
        QCOMPARE(
            refusalOf(pictureConfig("Linear(2, 3)")),
            QString("model.layers: the model turns (1024, 2) into (1024, 3), but this task needs "
                    "(1024, 1): change the last Linear(2, 3) to Linear(2, 1)"));
        QCOMPARE(refusalOf(pictureConfig("Conv2d(2, 1, 3)")),
                 QString("model.layers: the model turns (1, 2, 32, 32) into (1, 1, 30, 30), but "
                         "this task needs (1, 1, 32, 32)"));
    }

    /// The text comes from the command line and from a file, and keeps its line breaks.
    void theSettingTakesText() {
        const std::string text = "nn.Sequential(\n    nn.Conv2d(2, 64, 1), nn.ReLU(),\n"
                                 "    nn.Conv2d(64, 1, 1))";
        RunConfig config = defaultConfig();
        applySetting(config, "model.layers=" + text);
        QCOMPARE(config.model.layers, text);
        const RunConfig again = parseConfig(configText(config), "experiment.json");
        QCOMPARE(again.model.layers, text);
        QVERIFY(!findField("model.width")->applies(again, -1));
        const auto refused = [&](const auto& call) {
            try {
                call();
                return std::string();
            } catch (const InputError& error) {
                return std::string(error.what());
            }
        };
        const std::string why = "model.layers, line 2, column 1: \"Linar\" is not a layer of this "
                                "program; the nearest one is Linear";
        QCOMPARE(refused([&] { applySetting(config, "model.layers=Sequential(\nLinar(2, 1))"); }),
                 why);
        QCOMPARE(refused([&] {
                     parseConfig("{\"version\": 1, \"model\": {\"layers\": \"A(Linar(2, 1))\"}}",
                                 "f");
                 }),
                 std::string("f: model.layers, line 1, column 1: \"A\" is not a layer of this "
                             "program; the page Models of the manual lists all layers"));
    }
};

} // namespace tst_model_steps

QTEST_APPLESS_MAIN(tst_model_steps::TestModelSteps)
#include "tst_model_steps.moc"
