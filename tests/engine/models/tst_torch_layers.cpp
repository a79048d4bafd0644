// Single layers against what PyTorch recorded of them in golden/layers.json: the text of print(),
// the state dict, and outputs and gradients in float64, in 16 bits and under the CPU's autocast.
#include "engine/autocast/cast_policy.h"
#include "engine/core/error.h"
#include "engine/models/emit_model.h"
#include "engine/passes/autodiff.h"
#include "tests/support/recorded_layers.h"
#include "tests/support/recorded_leaves.h"
#include "tests/support/run_program.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace tst_torch_layers {

using namespace halfscope;
using namespace halfscope::test;
using nlohmann::json;

namespace {

NodeId nextOf(const Graph& graph, NodeId state) {
    const auto all = graph.states();
    return std::ranges::find(all, state, &StateInfo::node)->next;
}

double rounded(double x, double parts) { return std::nearbyint(x * parts) / parts; }

/// One of the recorded runs of a layer.
struct Way {
    std::string name; ///< in "results"
    DType storage = DType::F32, input = DType::F32;
    std::optional<CastPolicy> policy{};
};
std::vector<Way> ways() {
    std::vector<Way> all{{"float64", DType::F64, DType::F64}};
    for (const DType low : {DType::F16, DType::BF16}) {
        const std::string name(nameOf(low));
        all.push_back({name, low, low});
        all.push_back({"autocast " + name, DType::F32, low, torchCpuPolicy(low)});
        all.push_back(
            {"autocast " + name + " of float32", DType::F32, DType::F32, torchCpuPolicy(low)});
    }
    return all;
}

/// A layer in a graph of its own, with gradients for the recorded cotangent.
struct Run {
    Run(const json& record, const Way& way)
        : model(readModel(record["source"].get<std::string>())) {
        Builder b(graph);
        const Shape shape = recordedShape(record["input"]);
        const NodeId x = b.input("x", shape, way.input);
        ModelOptions options;
        options.storage = way.storage;
        NodeId y = kNoNode;
        {
            const AutocastScope scope(b, way.policy ? &*way.policy : nullptr);
            const EmittedModel made = emitModel(b, model, {x, shape}, options);
            y = b.reshape(made.output, made.shape);
        }
        dtype = b.dtypeOf(y);
        std::vector<NodeId> by{x};
        for (const NamedParameter& each : parametersOf(model))
            by.push_back(graph.state(each.name));
        const NodeId waves = b.input("waves", b.shapeOf(y), dtype);
        const auto all = gradients(b, b.sumAll(b.mul(y, waves)), by);
        name("output", y);
        name("input", all[0].value());
        for (size_t i = 1; i < by.size(); ++i)
            name(parametersOf(model)[i - 1].name, all[i].value());

        RecordedLeaves leaves(graph);
        leaves.put(x, [](double i) { return rounded(7 * std::sin(0.9 * i), 16); });
        leaves.put(waves, [](double i) { return rounded(std::cos(0.6 * i), 16); });
        leaves.putParameters(model);
        values = leaves.values();
        for (size_t i = 1; i < by.size(); ++i)
            for (double& value : values.at(by[i]).values)
                value = rounded(value, 64);
    }
    void name(const std::string& as, NodeId node) {
        names.push_back(as);
        nodes.push_back(node);
        graph.addOutput("of " + as, node);
    }
    /// Returns the values by the names in the record: float64 by the reference, others by the
    /// executor.
    std::map<std::string, std::vector<double>> computed() const {
        std::map<std::string, std::vector<double>> all;
        if (dtype == DType::F64) {
            const auto found = evaluate(graph, values, nodes, RefRounding::None);
            for (size_t i = 0; i < nodes.size(); ++i)
                all[names[i]] = found.at(nodes[i]).values;
            return all;
        }
        const auto found = runSteps(graph, values, FuseOptions::Full, 1, 1);
        for (const std::string& each : names)
            all[each] = found.at("of " + each);
        return all;
    }

    ModelSpec model;
    Graph graph;
    DType dtype = DType::F32;
    std::vector<std::string> names;
    std::vector<NodeId> nodes;
    std::map<NodeId, RefTensor> values;
};

/// How far values may be from recorded ones: fractions of each of them and of the largest.
struct Bound {
    double ofEach = 0, ofLargest = 0, least = 0;
};
Bound boundOf(const json& record, const Way& way) {
    const std::string source = record["source"];
    const auto isOf = [&](const char* name) {
        return source.starts_with(std::string("nn.") + name);
    };
    if (way.input == DType::F64) // PyTorch multiplies by a sixth in float32
        return {isOf("Hardsigmoid") || isOf("Hardswish") ? 1e-7 : 1e-14, 1e-14, 0};
    // One rounding each, which may fall to the other side. Where PyTorch's kernels for the CPU,
    // unlike those for CUDA, round in between, the largest value counts, and in GLU the inputs, up
    // to 7.
    constexpr std::array kCoarse{"Softmax",   "LogSoftmax",        "Softmin", "GLU",
                                 "Softsign",  "LocalResponseNorm", "AvgPool", "Upsampl",
                                 "BatchNorm", "SyncBatchNorm"};
    const bool coarse = std::any_of(kCoarse.begin(), kCoarse.end(), isOf);
    const double u = formatOf(way.input).unitRoundoff();
    return {2 * u, coarse ? 2 * u : 0, isOf("GLU") ? 7 * u : formatOf(way.input).minSubnormal};
}

/// Says where values are further from the recorded ones than the bound; empty when they are not.
QString firstBeyond(const std::vector<double>& got, const json& recorded, const Bound& bound) {
    if (got.size() != recorded.size()) return "another number of values";
    double largest = 0;
    for (const json& each : recorded)
        largest = std::max(largest, std::fabs(each.get<double>()));
    for (size_t i = 0; i < got.size(); ++i) {
        const double wanted = recorded[i];
        const double most = bound.ofEach * std::fabs(wanted) +
                            bound.ofLargest * std::max(largest, 1.0) + bound.least;
        if (!(std::fabs(got[i] - wanted) <= most))
            return QString("element %1: %2 instead of %3")
                .arg(i)
                .arg(got[i], 0, 'g', 12)
                .arg(wanted, 0, 'g', 12);
    }
    return {};
}

} // namespace

class TestTorchLayers : public QObject {
    Q_OBJECT

private slots:
    void printsAndNames_data();
    void printsAndNames();
    void computes_data();
    void computes();
    void evaluatesRrelu();
    void tracksInstances();
    void averagesOverBatches();
    void keepsInstancesWithoutMomentum();
    void countsBatches();
    void usesTheBatch_data();
    void usesTheBatch();
    void refuses_data();
    void refuses();
};

void TestTorchLayers::printsAndNames_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < recordedLayers().size(); ++i)
        QTest::addRow("%d %s", static_cast<int>(i),
                      recordedLayers()[i]["source"].get<std::string>().c_str())
            << static_cast<int>(i);
}

void TestTorchLayers::printsAndNames() {
    QFETCH(int, index);
    const json& record = recordedLayers()[static_cast<size_t>(index)];
    const ModelSpec model = readModel(record["source"].get<std::string>());
    const std::string printed = record["printed"];
    QCOMPARE(textOf(model), printed);
    QCOMPARE(textOf(readModel(printed)), printed);
    QCOMPARE(textOf(readModel(pythonOf(model, ""))), printed);
    const NodeType in{recordedShape(record["input"]), DType::F32};
    for (const ModelMode mode : {ModelMode::Train, ModelMode::Evaluate}) {
        QCOMPARE(outputOf(model, in, nullptr, mode).shape, recordedShape(record["output"]));
        Graph graph;
        Builder b(graph);
        ModelOptions options;
        options.mode = mode;
        const NodeId x = b.input("x", in.shape, in.dtype);
        const EmittedModel made = emitModel(b, model, {x, in.shape}, options);
        QCOMPARE(b.shapeOf(made.output), recordedShape(record["output"]));
    }
    const auto parameters = parametersOf(model);
    QCOMPARE(parameters.size(), record["state"].size());
    for (const NamedParameter& each : parameters) {
        QVERIFY2(record["state"].contains(each.name), each.name.c_str());
        QCOMPARE(each.info.shape, recordedShape(record["state"][each.name]));
    }
}

void TestTorchLayers::computes_data() { printsAndNames_data(); }

void TestTorchLayers::computes() {
    QFETCH(int, index);
    const json& record = recordedLayers()[static_cast<size_t>(index)];
    if (record["results"].empty()) return; // only its text was recorded
    for (const Way& way : ways()) {
        if (!record["results"].contains(way.name)) continue; // PyTorch's CPU lacks the kernel
        const json& recorded = record["results"][way.name];
        const Run run(record, way);
        QCOMPARE(std::string(nameOf(run.dtype)), recorded["dtype"].get<std::string>());
        if (!recorded.contains("output")) continue;
        for (const auto& [name, values] : run.computed()) {
            const bool gradient = name != "output" && name != "input";
            const json& wanted = gradient ? recorded["gradients"][name] : recorded[name];
            const QString wrong = firstBeyond(values, wanted, boundOf(record, way));
            QVERIFY2(wrong.isEmpty(),
                     qPrintable(QString("%1, %2: %3").arg(way.name.c_str(), name.c_str(), wrong)));
        }
    }
}

/// In evaluation all slopes are the mean of the bounds.
void TestTorchLayers::evaluatesRrelu() {
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {2, 2}, DType::F32);
    ModelOptions options;
    options.mode = ModelMode::Evaluate;
    const NodeId y = emitModel(b, readModel("RReLU(0.25, 0.75)"), {x, {2, 2}}, options).output;
    const std::map<NodeId, RefTensor> values{{x, {{2, 2}, {-2, -1, 0, 3}}}};
    QCOMPARE(evaluate(graph, values, std::vector{y}, RefRounding::None).at(y).values,
             (std::vector<double>{-1, -0.5, 0, 3}));
}

/// Running statistics are means over the samples, of unbiased variances, and evaluation uses them.
/// The values are PyTorch's, whose statistics begin at 0 and 1.
void TestTorchLayers::tracksInstances() {
    const ModelSpec model =
        readModel("InstanceNorm1d(2, eps=0.0, momentum=0.25, track_running_stats=True)");
    const Shape shape{2, 2, 3};
    const std::vector<double> seen{1, 2, 6, 0, 4, 2, 3, 3, 9, -1, 1, 3};
    for (const ModelMode mode : {ModelMode::Train, ModelMode::Evaluate}) {
        Graph graph;
        Builder b(graph);
        ModelOptions options;
        options.mode = mode;
        const NodeId x = b.input("x", shape, DType::F32);
        const EmittedModel made = emitModel(b, model, {x, shape}, options);
        emitModelUpdates(b, made.updates);
        QCOMPARE(graph.states().size(), size_t(2));
        const NodeId mean = graph.state("running_mean"), variance = graph.state("running_var");
        const bool trains = mode == ModelMode::Train;
        const std::map<NodeId, RefTensor> values{
            {x, {shape, seen}},
            {mean, {{2}, trains ? std::vector<double>{0, 0} : std::vector<double>{1, 2}}},
            {variance, {{2}, trains ? std::vector<double>{1, 1} : std::vector<double>{4, 0.25}}}};
        if (trains) {
            const NodeId nextMean = nextOf(graph, mean), nextVariance = nextOf(graph, variance);
            const auto next =
                evaluate(graph, values, std::vector{nextMean, nextVariance}, RefRounding::None);
            QCOMPARE(next.at(nextMean).values, (std::vector<double>{1, 0.375}));
            QCOMPARE(next.at(nextVariance).values, (std::vector<double>{3.125, 1.75}));
        } else {
            QVERIFY(made.updates.empty());
            QCOMPARE(evaluate(graph, values, std::vector{made.output}, RefRounding::None)
                         .at(made.output)
                         .values,
                     (std::vector<double>{0, 0.5, 2.5, -4, 4, 0, 1, 1, 4, -6, -2, 2}));
        }
    }
}

/// The third batch of a norm without a momentum counts one third. The values are PyTorch's, for
/// batches [[1, 2], [3, 5]], [[4, 2], [0, -5]] and [[2, 1], [2, 4]].
void TestTorchLayers::averagesOverBatches() {
    const ModelSpec model = readModel("BatchNorm1d(2, momentum=None)");
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {2, 2}, DType::F32);
    const EmittedModel made = emitModel(b, model, {x, {2, 2}});
    emitModelUpdates(b, made.updates);
    const std::array<NodeId, 3> states{graph.state("running_mean"), graph.state("running_var"),
                                       graph.state("num_batches_tracked")};
    std::vector<NodeId> next;
    for (const NodeId state : states)
        next.push_back(nextOf(graph, state));
    std::map<NodeId, RefTensor> values{
        {states[0], {{2}, {0, 0}}}, {states[1], {{2}, {1, 1}}}, {states[2], {{}, {0}}}};
    for (const NamedParameter& each : parametersOf(model))
        if (each.info.role != ParameterRole::RunningStatistic)
            values[graph.state(each.name)] = {{2}, {1, 0}};
    const std::vector<std::vector<double>> batches{{1, 2, 3, 5}, {4, 2, 0, -5}, {2, 1, 2, 4}};
    const std::vector<std::vector<double>> means{{2, 3.5}, {2, 1}, {2, 1.5}};
    const std::vector<std::vector<double>> variances{{2, 4.5}, {5, 14.5}, {10.0 / 3, 33.5 / 3}};
    for (size_t i = 0; i < batches.size(); ++i) {
        values[x] = {{2, 2}, batches[i]};
        const auto found = evaluate(graph, values, next, RefRounding::None);
        for (size_t k = 0; k < states.size(); ++k)
            values[states[k]] = found.at(next[k]);
        for (size_t k = 0; k < 2; ++k) { // a few roundings of float64
            QVERIFY(std::fabs(found.at(next[0]).values[k] - means[i][k]) < 1e-14);
            QVERIFY(std::fabs(found.at(next[1]).values[k] - variances[i][k]) < 1e-14);
        }
        QCOMPARE(found.at(next[2]).values, std::vector{static_cast<double>(i + 1)});
    }
    Graph judged;
    Builder judge(judged);
    ModelOptions options;
    options.mode = ModelMode::Evaluate;
    QVERIFY(emitModel(judge, model, {judge.input("x", {1, 2}, DType::F32), {1, 2}}, options)
                .updates.empty());
    QCOMPARE(judged.states().size(), size_t(4));
}

/// PyTorch takes None as a momentum of 0 there: statistics stay as they are.
void TestTorchLayers::keepsInstancesWithoutMomentum() {
    const ModelSpec model = readModel("InstanceNorm1d(2, momentum=None, track_running_stats=True)");
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {1, 2, 2}, DType::F32);
    const EmittedModel made = emitModel(b, model, {x, {1, 2, 2}});
    emitModelUpdates(b, made.updates);
    const NodeId mean = graph.state("running_mean"), variance = graph.state("running_var");
    const std::vector<NodeId> next{nextOf(graph, mean), nextOf(graph, variance)};
    const std::map<NodeId, RefTensor> values{
        {x, {{1, 2, 2}, {1, 4, 2, 2}}}, {mean, {{2}, {0.5, -1}}}, {variance, {{2}, {3, 0.25}}}};
    const auto found = evaluate(graph, values, next, RefRounding::None);
    QCOMPARE(found.at(next[0]).values, (std::vector<double>{0.5, -1}));
    QCOMPARE(found.at(next[1]).values, (std::vector<double>{3, 0.25}));
}

/// Instance norms have a count that stays as it is; norms without running statistics have none.
void TestTorchLayers::countsBatches() {
    const ModelSpec model =
        readModel("Sequential(BatchNorm1d(4), InstanceNorm1d(4, track_running_stats=True), "
                  "Residual(SyncBatchNorm(4)), BatchNorm1d(4, track_running_stats=False))");
    QCOMPARE(batchCountsOf(model),
             (std::vector<std::string>{"0.num_batches_tracked", "2.0.num_batches_tracked"}));
    QCOMPARE(batchCountsOf(readModel("BatchNorm1d(4)")),
             std::vector<std::string>{"num_batches_tracked"});
    QCOMPARE(layerPathOf("2.0.running_mean", "running_mean").value(), std::string("2.0"));
    QCOMPARE(layerPathOf("running_mean", "running_mean").value(), std::string());
    QVERIFY(!layerPathOf("2.my_running_mean", "running_mean"));
}

void TestTorchLayers::usesTheBatch_data() {
    QTest::addColumn<QByteArray>("layer");
    QTest::addColumn<bool>("uses");
    const auto row = [](const char* layer, bool uses) {
        QTest::newRow(layer) << QByteArray(layer) << uses;
    };
    row("BatchNorm1d(4, track_running_stats=False)", true);
    row("Sequential(ReLU(), Residual(SyncBatchNorm(4, track_running_stats=False)))", true);
    row("BatchNorm2d(4)", false);
    row("InstanceNorm2d(4)", false);
    row("Sequential(Linear(2, 4), Dropout())", false);
}

void TestTorchLayers::usesTheBatch() {
    QFETCH(QByteArray, layer);
    QFETCH(bool, uses);
    QCOMPARE(usesBatch(readModel(layer.constData())), uses);
}

void TestTorchLayers::refuses_data() {
    QTest::addColumn<QByteArray>("layer");
    QTest::addColumn<QString>("sentence"); // after the place and the layer
    const auto row = [](const char* layer, const char* sentence) {
        QTest::newRow(layer) << QByteArray(layer) << QString(sentence);
    };
    row("Softmax(4)", "dim is not an axis of the input, (2, 3, 5, 6)");
    row("GLU(1)", "the axis has 3 values, and only an even number can be halved");
    row("CELU(0)", "alpha must not be 0");
    row("RMSNorm(5)", "the input, (2, 3, 5, 6), does not end in this shape");
    row("Dropout1d()", "the input is (2, 3, 5, 6); sequences (samples, channels, length) are "
                       "expected");
    row("Sequential(Flatten(), LocalResponseNorm(2))", "the input is (2, 90); (samples, channels, "
                                                       "...) is expected");
    row("ReflectionPad2d((0, 0, 5, 1))",
        "the border must be narrower than the input, (2, 3, 5, 6), "
        "which it reflects");
    row("ReflectionPad2d((0, 6, 0, 0))",
        "the border must be narrower than the input, (2, 3, 5, 6), "
        "which it reflects");
    row("Hardtanh(1, 1)", "max_val must be above min_val");
    row("Sequential(Flatten(0), PReLU(3))", "the input has the shape (180,); with 3 slopes, its "
                                            "axis 1 must have as many");
    row("Unflatten(1, (-1, -1))",
        "each of unflattened_size must be at least 1, and one of them may be -1");
    row("Unflatten(1, (1, 3, 1, 1))", "the result has more than 6 axes");
    row("MaxPool2d(2, padding=(0, 2))", "the padding must be at most half of kernel_size");
    row("MaxPool2d(3, padding=2)", "the padding must be at most half of kernel_size");
    row("ZeroPad2d((1, 2))", "padding=(1, 2) is not allowed: a whole number from 0 to 4096, or "
                             "four of them such as (1, 1, 2, 2)");
    row("ZeroPad2d(-1)", "padding=-1 is not allowed: a whole number from 0 to 4096, or four of "
                         "them such as (1, 1, 2, 2)");
    row("CircularPad2d((0, 0, 6, 1))",
        "the border must not be wider than the input, (2, 3, 5, 6), which it repeats");
    row("CircularPad2d(6)",
        "the border must not be wider than the input, (2, 3, 5, 6), which it repeats");
    row("RReLU(0.5, 0.25)", "upper must not be below lower");
    row("Sequential(Flatten(0), FeatureAlphaDropout())", "the input is (180,); (samples, channels, "
                                                         "...) is expected");
    row("MaxPool2d(3, dilation=3)", "the window is larger than the input, (2, 3, 5, 6)");
    row("MaxPool2d(3, padding=2, dilation=2)", "the padding must be at most half of kernel_size");
    row("ReplicationPad1d(1)", "the input is (2, 3, 5, 6); sequences (samples, channels, length) "
                               "are expected");
    row("PixelShuffle(2)", "the input has 3 channels, and a multiple of 4 is needed");
    row("PixelUnshuffle(2)", "height and width of the input, (2, 3, 5, 6), must be multiples of 2");
    row("ChannelShuffle(2)", "the input has 3 channels, and a multiple of 2 is needed");
    row("Upsample(scale_factor=2, align_corners=True)",
        "align_corners goes with mode='linear', 'bilinear' or 'bicubic'");
    row("Upsample(scale_factor=2, mode='nearest-exact')",
        "mode='nearest-exact' is not supported: only 'nearest' or 'linear' or 'bilinear' or "
        "'bicubic' is");
    row("Upsample(scale_factor=2, mode='linear')",
        "the input is (2, 3, 5, 6); sequences (samples, channels, length) are expected");
    row("Sequential(Flatten(2), Upsample(scale_factor=2, mode='bilinear'))",
        "the input is (2, 3, 30); images (samples, channels, height, width) are expected");
    row("Upsample(scale_factor=(1, 0.125))", "of the input, (2, 3, 5, 6), no pixel would be left");
    row("Upsample((9,))", "size has one number in brackets, which is for sequences, and the input "
                          "is (2, 3, 5, 6)");
    row("UpsamplingNearest2d(scale_factor=[2])",
        "scale_factor has one number in brackets, which is for sequences, and the input is (2, 3, "
        "5, 6)");
    row("Sequential(Flatten(2), Upsample((9, 9)))",
        "size has two numbers, which is for images, and the input is (2, 3, 30)");
    row("Sequential(Flatten(2), Upsample(scale_factor=(1, 2), mode='linear'))",
        "scale_factor has two numbers, which is for images, and the input is (2, 3, 30)");
    row("Upsample((1, 2, 3))", "size=(1, 2, 3) is not allowed: a whole number from 1 to 65536, or "
                               "a tuple of one or two of them");
    row("SyncBatchNorm(3, process_group=workers)",
        "process_group=workers is not supported: only None is");
    row("MaxPool2d(9, 3, ceil_mode=True)", "the window is larger than the input, (2, 3, 5, 6)");
    row("Conv2d(3, 2, 3, padding=(5, 1), padding_mode='reflect')",
        "the border must be narrower than the input, (2, 3, 5, 6), which it reflects");
    row("Conv2d(3, 2, 3, padding=(0, 7), padding_mode='circular')",
        "the border must not be wider than the input, (2, 3, 5, 6), which it repeats");
    row("ConvTranspose2d(3, 2, 3, padding_mode='reflect')",
        "padding_mode='reflect' is not supported: only 'zeros' is");
    row("Conv2d(3, 2, 3, padding_mode='mirror')",
        "padding_mode='mirror' is not supported: only 'zeros' or 'reflect' or 'replicate' or "
        "'circular' is");
    row("ConvTranspose1d(3, 2, 3)", "the input is (2, 3, 5, 6); sequences (samples, channels, "
                                    "length) are expected");
    row("Sequential(Flatten(2), ConvTranspose1d(3, 2, 3, padding=20))",
        "with this padding, nothing is left of the result for the input (2, 3, 30)");
    row("Sequential(Flatten(0), Unflatten(0, (1, 180)), BatchNorm1d(180, "
        "track_running_stats=False))",
        "the input, (1, 180), has one value a channel, and a variance needs at least two");
    row("Softplus(0)", "beta must not be 0");
    row("Embedding(16777217, 1)",
        "num_embeddings=16777217 is not allowed: a whole number from 1 to 16777216");
    row("EmbeddingBag(16777217, 1)",
        "num_embeddings=16777217 is not allowed: a whole number from 1 to 16777216");
    row("Embedding(16777216, 1)", "the input holds floating-point numbers, and indices are "
                                  "expected: this layer must be the first one, and the samples "
                                  "characters, texts or an array of whole numbers "
                                  "(x.astype('int64'))");
    row("Bilinear(3, 3, 2)", "\"Bilinear\" is not a layer of this program; it takes several "
                             "inputs, and each layer here gets only the result of the one before "
                             "it");
    row("MaxUnpool1d(2)", "\"MaxUnpool1d\" is not a layer of this program; it takes several "
                          "inputs, and each layer here gets only the result of the one before it");
    row("MaxUnpool3d(2)", "\"MaxUnpool3d\" is not a layer of this program; it takes several "
                          "inputs, and each layer here gets only the result of the one before it");
    row("AdaptiveMaxPool2d(2, return_indices=True)", "return_indices=True is not supported: only "
                                                     "False is");
    row("Sequential(ZeroPad2d(100), LocalResponseNorm(1048576))",
        "its input with a border, (2, 1048578, 205, 206), has more than 2147483648 values");
    row("Sequential(ZeroPad2d(4096), ZeroPad2d(4096), MaxPool2d(4096, 4096, ceil_mode=True))",
        "its input with a border, (2, 3, 20480, 20480), has more than 2147483648 values");
    row("Softshrink(-1)", "lambd=-1 is not allowed: a number from 0 to 1000000000");
    row("Threshold(1)", "value is missing: a number from -1000000000 to 1000000000");
}

/// For images (2, 3, 5, 6).
void TestTorchLayers::refuses() {
    QFETCH(QByteArray, layer);
    QFETCH(QString, sentence);
    const std::string told = thrownBy<InputError>([&] {
        outputOf(readModel(layer.constData()), {{2, 3, 5, 6}, DType::F32});
    });
    QVERIFY2(QString::fromStdString(told).endsWith(": " + sentence), told.c_str());
}

} // namespace tst_torch_layers

QTEST_GUILESS_MAIN(tst_torch_layers::TestTorchLayers)
#include "tst_torch_layers.moc"
