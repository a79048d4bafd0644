// Networks of presets as ONNX models, and the model of a trained lane.
#include "engine/core/error.h"
#include "engine/io/safetensors.h"
#include "engine/models/emit_model.h"
#include "engine/settings/fields.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_length.h"
#include "engine/step/model_shapes.h"
#include "engine/step/step_graph.h"
#include "engine/train/experiment.h"
#include "engine/train/onnx_file.h"
#include "engine/train/state_dict.h"
#include "tests/support/array_files.h"
#include "tests/support/onnx_cases.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <regex>

namespace tst_onnx_file {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// Networks with few samples, and with pictures of few pixels.
struct SmallNetwork {
    RunConfig config;
    BatchShape batch;

    explicit SmallNetwork(RunConfig given) : config(std::move(given)) {
        config.task.side = 8;
        // sines of 30 times what initial weights give would turn each rounding into any value
        static const std::regex sine("SineLayer\\(([^)]*)\\)");
        config.model.layers =
            std::regex_replace(config.model.layers, sine, "SineLayer($1, omega_0=1.0)");
        batch = batchShape(factsOf(config.task).tensors, epochPlanOf(config).batch);
        if (!infoOf(config.task.kind).wholeSet) batch.rows = std::min<int64_t>(batch.rows, 5);
    }
    Graph graph() const {
        return buildForward(config, planOf(defaultLane(Precision::Fp32)), batch,
                            ModelMode::Evaluate);
    }
    bool isImage() const {
        return seenInput(config, fittingModel(config, batch, DType::F32), batch).pixelRows;
    }
};

/// Makes pixels as rows (h w, channels) into one image (1, channels, h, w).
void makeImage(Values& values, int64_t side) {
    const auto channels = static_cast<size_t>(values.shape[1]);
    const size_t pixels = values.values.size() / channels;
    std::vector<float> planes(values.values.size());
    for (size_t pixel = 0; pixel < pixels; ++pixel)
        for (size_t c = 0; c < channels; ++c)
            planes[c * pixels + pixel] = values.values[pixel * channels + c];
    values = {{1, values.shape[1], side, side}, planes};
}

RunConfig trainedConfig() {
    RunConfig config = presetNamed("fashion-cnn").config;
    config.task.path.clear(); // digits, also where Fashion-MNIST is installed
    config.lanes = parseLanes("fp32,fp16");
    config.optimizer.kind = OptimizerKind::Sgd; // Adam divides by zero in float16
    config.task.batch = 20;
    config.steps = 3;
    config.epochs = 0;
    config.device = "cpu";
    config.threads = 1;
    return config;
}

} // namespace

class TestOnnxFile : public QObject {
    Q_OBJECT

private slots:
    void onnxRuntimeAgreesOnPresets();
    void imagesAndMixtures();
    void critics();
    void trainedLane();
    void predictsInUnits();
    void takesTablesInUnits();
    void refuses();
};

void TestOnnxFile::onnxRuntimeAgreesOnPresets() {
    if (lacksPython()) QSKIP(lacksPython());
    const QTemporaryDir folder;
    int number = 0;
    for (const Preset& preset : presets()) {
        const SmallNetwork network(preset.config);
        Computed about = computed(network.graph());
        QVERIFY2(about.bound < 1e-3 * about.largest, preset.name.c_str());
        if (network.isImage()) {
            makeImage(about.x, 8);
            makeImage(about.y, 8);
        }
        writeCase(folder, QString::fromStdString(preset.name),
                  onnxBytes(network.config, about.weights, {}, "1.2.3"), about);
        ++number;
    }
    QCOMPARE(python(kOnnxRuntime, {folder.path()}), QString::number(number));
}

/// A picture as one image, pictures that a model wants flat, and two networks.
void TestOnnxFile::imagesAndMixtures() {
    if (lacksPython()) QSKIP(lacksPython());
    const QTemporaryDir folder;
    const auto add = [&](const char* name, const RunConfig& config) {
        const SmallNetwork network(config);
        Computed about = computed(network.graph());
        if (network.isImage()) {
            makeImage(about.x, 8);
            makeImage(about.y, 8);
        }
        writeCase(folder, name, onnxBytes(network.config, about.weights, {}, "1"), about);
        return network.isImage();
    };
    RunConfig image = presetNamed("checkerboard").config;
    image.model.layers =
        "nn.Sequential(nn.Conv2d(2, 5, 3, padding=1), nn.BatchNorm2d(5), nn.ReLU(), "
        "nn.Conv2d(5, 1, 1))";
    QVERIFY(add("image", image));
    RunConfig flat = presetNamed("mnist-mlp").config;
    flat.model.layers = "nn.Sequential(nn.Linear(784, 9), nn.GELU(), nn.Linear(9, 10))";
    QVERIFY(!add("flat", flat));
    RunConfig two = presetNamed("mnist-mlp").config;
    two.model.networks = 2;
    two.model.layers = "nn.Sequential(nn.Flatten(), nn.Linear(784, 10))";
    add("two", two);
    QCOMPARE(python(kOnnxRuntime, {folder.path()}), QString("3"));
}

/// Critics are networks of their own, which see rows of numbers.
void TestOnnxFile::critics() {
    if (lacksPython()) QSKIP(lacksPython());
    const QTemporaryDir folder;
    int number = 0;
    for (const char* name : {"gan", "wgan-gp"}) {
        const RunConfig config = presetNamed(name).config;
        Graph graph;
        Builder b(graph);
        const Shape in{5, 784};
        ModelOptions options;
        options.prefix = "critic.";
        options.mode = ModelMode::Evaluate;
        const NodeId x = b.input("x", in, DType::F32);
        const EmittedModel made = emitModel(b, criticOf(config.model, in[1]), {x, in}, options);
        graph.addOutput("prediction", made.output);
        const Computed about = computed(graph);
        QVERIFY(about.weights.count("critic.1.weight") == 1);
        QVERIFY2(about.bound < 1e-3 * about.largest, name);
        writeCase(folder, name, criticOnnxBytes(config, about.weights, {}, "1"), about);
        ++number;
    }
    QCOMPARE(python(kOnnxRuntime, {folder.path()}), QString::number(number));
}

/// The model has the weights and statistics after the last step: PyTorch computes the same from the
/// weights file, in evaluation mode.
void TestOnnxFile::trainedLane() {
    if (lacksPython()) QSKIP(lacksPython());
    const RunConfig config = trainedConfig();
    Experiment experiment(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        experiment.advance(records, events);
    const QTemporaryDir folder;
    for (int i = 0; i < 2; ++i) {
        Trainer& lane = experiment.lane(i);
        const std::string base = folder.filePath(QString::number(i)).toStdString();
        writeBytes(base + ".onnx", onnxBytes(experiment, i, "1.2.3"));
        writeBytes(base + ".safetensors", stateDictBytes(lane, modelShapes(config).text, "1.2.3"));
    }
    const QString script = QStringLiteral(R"(
import json, sys, numpy as np, onnx, onnxruntime, torch
from torch import nn
from safetensors import safe_open
from safetensors.torch import load_file
x = np.random.default_rng(1).random((7, 1, 28, 28), dtype=np.float32)
for lane, name in enumerate(("fp32", "fp16")):
    base = sys.argv[1] + "/%d" % lane
    with safe_open(base + ".safetensors", "pt") as f:
        model = eval(f.metadata()["model"]).double().eval()
    model.load_state_dict(load_file(base + ".safetensors"))
    with torch.no_grad():
        y = model(torch.from_numpy(x).double()).numpy()
    file = onnx.load(base + ".onnx")
    told = {p.key: p.value for p in file.metadata_props}
    assert told["lane"] == name and told["step"] == "3", told
    assert json.loads(told["classes"]) == [str(i) for i in range(10)], told
    assert file.producer_name == "halfscope" and file.producer_version == "1.2.3"
    names = {t.name for t in file.graph.initializer}
    assert "0.weight" in names and "1.running_mean" in names, names
    found = onnxruntime.InferenceSession(base + ".onnx").run(None, {"x": x})[0]
    # 1568 terms in the longest sum
    assert np.abs(found - y).max() <= 1568 * 2.0**-24 * np.abs(y).max(), np.abs(found - y).max()
print("same")
)");
    QCOMPARE(python(script, {folder.path()}), QString("same"));
}

namespace {

/// Trains for a few steps, and writes the model net.onnx and what the lane predicts, made.npy.
/// Returns the numbers of the predicted samples, by commas.
QString trainAndWrite(RunConfig config, const QTemporaryDir& folder) {
    config.task.standardiseTarget = true;
    config.task.validation = 0.25;
    config.task.batch = 10;
    config.lanes = parseLanes("fp32");
    config.epochs = 0;
    config.steps = 3;
    config.device = "cpu";
    Experiment experiment(config);
    Trainer& lane = experiment.lane(0);
    Predictions made;
    lane.evaluate(std::atomic<bool>{false}, &made);
    const auto path = [&](const char* name) { return folder.filePath(name).toStdString(); };
    writeFileAtomically(path("net.onnx"), onnxBytes(experiment, 0, "1"));
    writeFileAtomically(path("made.npy"), npyBytes(made.shape(), made.values));
    QStringList rows;
    for (const int64_t number : made.numbers)
        rows << QString::number(number);
    return rows.join(',');
}

} // namespace

/// Where inputs and targets are standardised, the model takes and makes them in the units of the
/// data, as evaluate writes them.
void TestOnnxFile::predictsInUnits() {
    if (lacksPython()) QSKIP(lacksPython());
    const QTemporaryDir folder;
    const auto path = [&](const char* name) { return folder.filePath(name).toStdString(); };
    const auto array = [](const std::string& values) { return npy("<f4", "(40, 2)", values); };
    std::string x, y;
    for (int i = 0; i < 40; ++i) {
        const auto at = static_cast<float>(0.7 * i);
        x += bytesOfValues<float>({std::sin(at), 2000 + 0.01f * std::cos(at)});
        y += bytesOfValues<float>({3e5f + 1e5f * std::sin(at), 7 + 0.01f * std::cos(at)});
    }
    RunConfig config = presetNamed("regression").config;
    config.task.kind = TaskKind::Arrays;
    config.task.x = writeBytes(path("x.npy"), array(x));
    config.task.y = writeBytes(path("y.npy"), array(y));
    config.task.standardiseX = true;
    config.model.layers = "nn.Linear(2, 2)";
    const QString rows = trainAndWrite(config, folder);
    QCOMPARE(python(R"(
import sys
import numpy as np, onnx, onnxruntime
base = sys.argv[1]
onnx.checker.check_model(onnx.load(base + "/net.onnx"), full_check=True)
x = np.load(base + "/x.npy")[[int(row) for row in sys.argv[2].split(",")]]
found = onnxruntime.InferenceSession(base + "/net.onnx").run(None, {"x": x})[0]
made = np.load(base + "/made.npy")
assert made.shape == (10, 2) and abs(made[:, 0].mean()) > 1e4 and abs(made[:, 1].mean() - 7) < 0.1
assert np.abs(found / made - 1).max() < 1e-5, (found, made)
print("same")
)",
                    {folder.path(), rows}),
             QString("same"));
}

/// The model of a table takes its columns as they are, and names them.
void TestOnnxFile::takesTablesInUnits() {
    if (lacksPython()) QSKIP(lacksPython());
    const QTemporaryDir folder;
    const auto path = [&](const char* name) { return folder.filePath(name).toStdString(); };
    std::string table = "year,\"kind, or so\",same,price\n";
    for (int i = 0; i < 40; ++i)
        table += std::to_string(1990 + i % 7) + (i % 3 == 0 ? ",new" : ",old") + ",5," +
                 std::to_string(100000 + 977 * i) + "\n";
    RunConfig config = presetNamed("regression").config;
    config.task.kind = TaskKind::Csv;
    config.task.path = writeBytes(path("table.csv"), table);
    config.model.layers = "nn.Linear(4, 1)";
    const QString rows = trainAndWrite(config, folder);
    QCOMPARE(python(R"(
import csv, json, sys
import numpy as np, onnx, onnxruntime
base = sys.argv[1]
model = onnx.load(base + "/net.onnx")
onnx.checker.check_model(model, full_check=True)
told = {p.key: p.value for p in model.metadata_props}
assert "classes" not in told  # it predicts numbers
names = json.loads(told["inputs"])
assert names == ["year", "same", "kind, or so_new", "kind, or so_old"], names
table = list(csv.DictReader(open(base + "/table.csv")))
value = lambda line, name: float(line[name]) if name in line else float(name == "kind, or so_" + line["kind, or so"])
x = np.float32([[value(table[int(row)], name) for name in names] for row in sys.argv[2].split(",")])
found = onnxruntime.InferenceSession(base + "/net.onnx").run(None, {"x": x})[0]
made = np.load(base + "/made.npy")
assert made.shape == (10, 1) and made.mean() > 1e5 and made.std() > 100, made
assert np.abs(found / made - 1).max() < 1e-5, (found, made)
print("same")
)",
                    {folder.path(), rows}),
             QString("same"));
}

void TestOnnxFile::refuses() {
    RunConfig config = trainedConfig();
    checkOnnx(config);
    config.model.layers = "nn.Sequential(nn.Flatten(), nn.Linear(784, 1000000), "
                          "nn.Linear(1000000, 10))";
    QCOMPARE(QString::fromStdString(thrownBy<InputError>([&] { checkOnnx(config); })),
             QString("model.layers: 795000010 weights do not fit into an ONNX file of 2 GiB"));
    QCOMPARE(thrownBy<InputError>([&] { criticOnnxBytes(trainedConfig(), {}, {}, "1"); }),
             std::string("model.adversary: this run has no critic"));
    config = presetNamed("gan").config;
    checkOnnx(config);
    config.model.critic = "nn.Sequential(nn.Linear(784, 1000000), nn.Linear(1000000, 1))";
    QVERIFY(
        thrownBy<InputError>([&] { checkOnnx(config); }).starts_with("model.critic: 786000001"));
}

} // namespace tst_onnx_file

QTEST_GUILESS_MAIN(tst_onnx_file::TestOnnxFile)
#include "tst_onnx_file.moc"
