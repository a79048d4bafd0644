// State dicts: weights that come from a file and go to one, under PyTorch's names. PyTorch itself
// opens them when HALFSCOPE_PYTHON names a Python (./dev clients).
#include "engine/core/dtype.h"
#include "engine/core/error.h"
#include "engine/io/safetensors.h"
#include "engine/models/layer.h"
#include "engine/models/model_spec.h"
#include "engine/settings/fields.h"
#include "engine/step/model_shapes.h"
#include "engine/step/step_graph.h"
#include "engine/train/experiment.h"
#include "engine/train/state_dict.h"
#include "tests/support/array_files.h"
#include "tests/support/lane.h"
#include "tests/support/python.h"
#include "tests/support/thrown.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_state_dict {

using namespace halfscope;
using namespace halfscope::test;

namespace {

/// A model of 10 features, with a layer that has running statistics and one that acts only in
/// training.
constexpr const char* kModel = "nn.Sequential(nn.Linear(10, 7), nn.BatchNorm1d(7), nn.ReLU(), "
                               "nn.Dropout(0.25), nn.LayerNorm(7), nn.GELU(), nn.Linear(7, 1))";

RunConfig config(const std::string& lanes = "fp32,amp-fp16") {
    RunConfig config = defaultConfig();
    config.task.kind = TaskKind::Regression;
    config.task.samples = 64;
    config.task.batch = 64;
    config.model.layers = kModel;
    config.lanes = parseLanes(lanes);
    config.seed = 3;
    config.steps = 6;
    config.device = "cpu";
    config.threads = 1;
    return config;
}

void train(Experiment& experiment) {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (!experiment.finished())
        experiment.advance(records, events);
}

struct Named {
    const char* name;
    ElementType type;
    std::vector<int64_t> shape;
};

/// Writes a file of zeros.
std::string zeros(const std::string& path, const std::vector<Named>& arrays) {
    std::vector<std::vector<std::byte>> values;
    std::vector<ArrayView> views;
    for (const Named& each : arrays) {
        values.emplace_back(static_cast<size_t>(*checkedBytes(each.type, each.shape)));
        views.push_back({each.name, each.type, each.shape, values.back()});
    }
    writeSafetensors(path, views, {});
    return path;
}

} // namespace

class TestStateDict : public QObject {
    Q_OBJECT

private slots:
    void laneBecomesAFile_data();
    void laneBecomesAFile();
    void lanesStartFromIt();
    void holdsBothNetworks_data();
    void holdsBothNetworks();
    void valuesAreRoundedOnce_data();
    void valuesAreRoundedOnce();
    void refuses_data();
    void refuses();
    void namesOfAClass();
    void picklesAreRefused_data();
    void picklesAreRefused();
    void isASettingThatRepeats();
    void opensInPyTorch_data();
    void opensInPyTorch();
    void anyTextOpensInPyTorch_data();
    void anyTextOpensInPyTorch();
    void comesFromPyTorch();
    void causalLayersTakePlainOnes();
    void firstWeightsAreFinite();
    void theLineForPicklesWorks();

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    /// Returns what the message says is wrong with the file, without its path.
    std::string refusal(const std::string& file) const {
        RunConfig from = config("fp32");
        from.model.weights = file;
        const std::string text = thrownBy<InputError>([&] { Experiment experiment(from); });
        const std::string start = "model.weights: " + file + ": ";
        return text.starts_with(start) ? text.substr(start.size()) : "elsewhere: " + text;
    }
    QTemporaryDir m_folder;
};

/// No training comes back from weights that are not finite in float32.
void TestStateDict::firstWeightsAreFinite() {
    Experiment experiment(config("fp32"));
    const std::string file =
        writeBytes(path("odd.safetensors"), stateDictBytes(experiment.lane(0), kModel, "1.2.3"));
    const SafetensorsInfo info = safetensorsInfo(file);
    for (const double bad : {double{NAN}, double{INFINITY}, 1e300}) {
        std::vector<std::vector<double>> values;
        std::vector<ArrayView> arrays;
        for (const ArrayInfo& each : info.arrays) {
            const Array array = readSafetensor(file, each);
            std::vector<double>& own = values.emplace_back();
            for (int64_t i = 0; i < array.info.elements(); ++i)
                own.push_back(array.at(i));
            if (each.name == "0.weight") own[1] = own[2] = bad;
        }
        for (size_t i = 0; i < values.size(); ++i)
            arrays.push_back({info.arrays[i].name, ElementType::F64, info.arrays[i].shape,
                              std::as_bytes(std::span(values[i]))});
        const std::string odd = path("wrong.safetensors");
        writeSafetensors(odd, arrays, {});
        const std::string text = refusal(odd);
        QVERIFY2(text.starts_with("2 of the ") &&
                     text.ends_with(" numbers in 0.weight are inf, nan or beyond what float32 "
                                    "holds; a training must begin with finite weights"),
                 text.c_str());
    }
}

void TestStateDict::laneBecomesAFile_data() {
    QTest::addColumn<QString>("lane");
    QTest::addColumn<int>("weight");
    QTest::addColumn<int>("norm");
    const auto row = [](const char* lane, ElementType weight, ElementType norm) {
        QTest::newRow(lane) << lane << static_cast<int>(weight) << static_cast<int>(norm);
    };
    row("fp32", ElementType::F32, ElementType::F32);
    row("amp-fp16", ElementType::F32, ElementType::F32);
    row("fp16", ElementType::F16, ElementType::F16);
    row("bf16", ElementType::BF16, ElementType::BF16);
}

void TestStateDict::laneBecomesAFile() {
    QFETCH(QString, lane);
    QFETCH(int, weight);
    QFETCH(int, norm);
    Experiment experiment(config(lane.toStdString()));
    train(experiment);
    const std::string file =
        writeBytes(path("lane.safetensors"), stateDictBytes(experiment.lane(0), kModel, "1.2.3"));
    const SafetensorsInfo info = safetensorsInfo(file);
    QCOMPARE(info.metadata.at("format"), std::string("pt"));
    QCOMPARE(textOf(readModel(info.metadata.at("model"))), textOf(readModel(kModel)));
    QCOMPARE(info.metadata.at("step"), std::string("6"));
    QCOMPARE(info.arrays.size(), size_t{11});
    QCOMPARE(static_cast<int>(info.find("0.weight")->type), weight);
    QCOMPARE(static_cast<int>(info.find("4.weight")->type), norm);
    const ArrayInfo* tracked = info.find("1.num_batches_tracked");
    QVERIFY(tracked && tracked->shape.empty() && tracked->type == ElementType::I64);
    QCOMPARE(readSafetensor(file, *tracked).at(0), 6.0);
    const LaneState state = experiment.lane(0).state();
    for (const ArrayInfo& each : info.arrays)
        if (&each != tracked)
            QVERIFY2(readSafetensor(file, each).bytes == state.states.at(each.name).bytes,
                     each.name.c_str());
}

void TestStateDict::lanesStartFromIt() {
    Experiment trained(config());
    train(trained);
    RunConfig from = config("fp32,amp-fp16,fp16");
    from.seed = 77;
    from.model.weights =
        writeBytes(path("start.safetensors"), stateDictBytes(trained.lane(0), kModel, "1"));
    Experiment experiment(from);
    const Weights wanted = trained.lane(0).weights();
    QCOMPARE(differentWeights(experiment.lane(0).weights(), wanted), 0);
    QCOMPARE(differentWeights(experiment.lane(1).weights(), wanted), 0);
    for (const auto& [name, values] : experiment.lane(2).weights())
        for (size_t i = 0; i < values.size(); ++i)
            QCOMPARE(values[i], roundTo(DType::F16, wanted.at(name)[i]));
    // moments and counters are those of a new run
    QCOMPARE(experiment.lane(0).state().step, int64_t{0});
}

void TestStateDict::holdsBothNetworks_data() {
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QByteArray>("name"); // a name of the second network
    QTest::newRow("two networks") << QStringList{"model.networks=2"} << QByteArray("second.0.bias");
    QTest::newRow("critic") << QStringList{"model.adversary=gan"} << QByteArray("critic.0.bias");
}

void TestStateDict::holdsBothNetworks() {
    QFETCH(const QStringList, settings);
    QFETCH(const QByteArray, name);
    RunConfig both = config();
    for (const QString& setting : settings)
        applySetting(both, setting.toStdString());
    Experiment trained(both);
    train(trained);
    const std::string file =
        writeBytes(path("both.safetensors"), stateDictBytes(trained.lane(0), kModel, "1"));
    QVERIFY(safetensorsInfo(file).find(name.toStdString()));
    checkStateDict(file, both); // throws
    both.seed = 77;
    both.model.weights = file;
    Experiment experiment(both);
    QCOMPARE(differentWeights(experiment.lane(0).weights(), trained.lane(0).weights()), 0);
}

void TestStateDict::valuesAreRoundedOnce_data() {
    QTest::addColumn<int>("type");
    for (const ElementType type :
         {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64})
        QTest::newRow(nameOf(type)) << static_cast<int>(type);
}

void TestStateDict::valuesAreRoundedOnce() {
    QFETCH(int, type);
    const auto element = static_cast<ElementType>(type);
    RunConfig from = config("fp32");
    from.model.layers = "nn.Linear(10, 1)";
    constexpr std::array kNumbers{1.0, -2.5, 0.1, 1 + 0x1p-24 + 0x1p-50, 1e-40, 65504.0, 6e4,
                                  0.0, -0.0, 3.0};
    std::vector<std::byte> bytes(kNumbers.size() * bytesOf(element));
    std::vector<float> wanted;
    for (size_t i = 0; i < kNumbers.size(); ++i) {
        std::byte* at = bytes.data() + i * bytesOf(element);
        const uint16_t half = element == ElementType::F16 ? halfFromDouble(kNumbers[i])
                                                          : bfloat16FromDouble(kNumbers[i]);
        const auto single = static_cast<float>(kNumbers[i]);
        if (bytesOf(element) == 2) std::memcpy(at, &half, 2);
        if (bytesOf(element) == 4) std::memcpy(at, &single, 4);
        if (bytesOf(element) == 8) std::memcpy(at, &kNumbers[i], 8);
        wanted.push_back(element == ElementType::F16    ? floatFromHalf(half)
                         : element == ElementType::BF16 ? floatFromBfloat16(half)
                                                        : single);
    }
    const std::vector<std::byte> bias(bytesOf(element));
    const ArrayView arrays[] = {{"weight", element, {1, 10}, bytes}, {"bias", element, {1}, bias}};
    from.model.weights = path("typed.safetensors");
    writeSafetensors(from.model.weights, arrays, {});
    Experiment experiment(from);
    QCOMPARE(differentBits(experiment.lane(0).weights().at("weight"), wanted), 0);
}

void TestStateDict::refuses_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("about");
    QTest::newRow("another model")
        << "another"
        << "its arrays are not those of the network: missing: 0.bias, 1.weight, 1.bias, "
           "1.running_mean, 1.running_var, 4.weight, 4.bias, 6.weight and 1 more; unexpected: "
           "0.num_batches_tracked, fc1.weight; 0.weight has the shape (10, 7), the network (7, 10)";
    QTest::newRow("wrapped")
        << "wrapped"
        << "its arrays are not those of the network: all its names begin with module.; this "
           "prefix is ignored; missing: 0.bias, 1.weight, ";
    QTest::newRow("whole numbers") << "whole"
                                   << "its arrays are not those of the network: 6.weight is int64: "
                                      "float16, bfloat16, float32 and float64 are allowed";
    QTest::newRow("no file") << "none"
                             << "cannot read: No such file or directory";
    QTest::newRow("a text") << "text"
                            << "cannot be read as a safetensors file, because ";
    QTest::newRow("a folder") << "folder"
                              << "cannot read: ";
}

void TestStateDict::refuses() {
    QFETCH(QString, kind);
    QFETCH(QString, about);
    const ElementType f32 = ElementType::F32;
    std::string file = path("refused.safetensors");
    if (kind == "another") {
        zeros(file, {{"0.num_batches_tracked", ElementType::I64, {}}, // from a Linear
                     {"fc1.weight", f32, {3}},
                     {"0.weight", f32, {10, 7}}});
    } else if (kind == "wrapped") {
        zeros(file, {{"module.0.weight", f32, {7, 10}}, {"module.1.bias", f32, {7}}});
    } else if (kind == "whole") {
        zeros(file, {{"0.weight", f32, {7, 10}},
                     {"0.bias", f32, {7}},
                     {"1.weight", f32, {7}},
                     {"1.bias", f32, {7}},
                     {"1.running_mean", f32, {7}},
                     {"1.running_var", f32, {7}},
                     {"1.num_batches_tracked", ElementType::I64, {}},
                     {"4.weight", f32, {7}},
                     {"4.bias", f32, {7}},
                     {"6.weight", ElementType::I64, {1, 7}},
                     {"6.bias", f32, {1}}});
    } else if (kind == "text") {
        writeBytes(file, "0.weight = 1, 2, 3 and so on");
    } else if (kind == "folder") {
        file = m_folder.path().toStdString();
    } else {
        file = path("nothing.safetensors");
    }
    const std::string text = refusal(file);
    QVERIFY2(text.starts_with(about.toStdString()), text.c_str());
    // the same error before anything is built, but for what a part of the tensors would do
    const std::string early = thrownBy<InputError>([&] {
        const StateDictFit fit = stateDictFit(file, config());
        if (!fit.problem.empty()) throw InputError(fit.problem);
    });
    const size_t advice =
        text.find("; with model.partial_weights (--partial on the command line), ");
    QCOMPARE(early, "model.weights: " + file + ": " + text.substr(0, advice));
}

/// Weights under the names that a class gave its layers, two of which no shape tells apart: the
/// message says what makes them fit, and that works. Not where shapes differ, too.
void TestStateDict::namesOfAClass() {
    const ElementType f32 = ElementType::F32;
    std::vector<Named> arrays{
        {"bn.bias", f32, {7}},         {"bn.num_batches_tracked", ElementType::I64, {}},
        {"bn.running_mean", f32, {7}}, {"bn.running_var", f32, {7}},
        {"bn.weight", f32, {7}},       {"fc1.bias", f32, {7}},
        {"fc1.weight", f32, {7, 10}},  {"fc2.bias", f32, {1}},
        {"fc2.weight", f32, {1, 7}},   {"mean.weight", f32, {7, 7}},
        {"mix.weight", f32, {7, 7}}};
    RunConfig from = config("fp32");
    from.model.layers = "Sequential(Linear(10, 7), BatchNorm1d(7), Linear(7, 7, bias=False), "
                        "Linear(7, 7, bias=False), ReLU(), Linear(7, 1))";
    const std::string file = zeros(path("class.safetensors"), arrays);
    const std::string advice = "; the shapes are the network's, so only the names differ: paste "
                               "print(model) as the network (model.layers), with Sequential in "
                               "place of the class's name and with what its forward() adds, such "
                               "as (act): ReLU(), and the names match";
    const StateDictFit fit = stateDictFit(file, from);
    QCOMPARE(fit.taken, size_t{0});
    for (const Message& problem : {fit.problem, fit.partialProblem})
        QVERIFY2(problem.english().ends_with(advice), problem.english().c_str());
    from.model.layers = "Sequential(\n  (fc1): Linear(in_features=10, out_features=7, bias=True)\n"
                        "  (bn): BatchNorm1d(7)\n  (mean): Linear(7, 7, bias=False)\n"
                        "  (mix): Linear(7, 7, bias=False)\n  (act): ReLU()\n"
                        "  (fc2): Linear(in_features=7, out_features=1, bias=True)\n)";
    checkStateDict(file, from); // throws
    from.model.layers = "Sequential(Linear(10, 8), BatchNorm1d(8), Linear(8, 8, bias=False), "
                        "Linear(8, 8, bias=False), ReLU(), Linear(8, 1))";
    const std::string other = stateDictFit(file, from).problem.english();
    QVERIFY2(other.find("only the names differ") == other.npos, other.c_str());
}

void TestStateDict::picklesAreRefused_data() {
    QTest::addColumn<QByteArray>("start");
    QTest::newRow("torch.save") << QByteArray("PK\x03\x04 archive/data.pkl");
    QTest::newRow("torch.save, old") << QByteArray("\x80\x02\x8a\x0al\xfc\x9c");
    QTest::newRow("pickle") << QByteArray("\x80\x04\x95\x0b");
}

/// Refused whatever the file is called.
void TestStateDict::picklesAreRefused() {
    QFETCH(QByteArray, start);
    for (const char* name : {"model.pt", "model.pth", "model.safetensors"}) {
        const std::string file = writeBytes(path(name), start.toStdString());
        const std::string text = refusal(file);
        QVERIFY2(text.find("can run any code, so it is not opened. To convert it, run: ") !=
                     std::string::npos,
                 text.c_str());
        QVERIFY2(text.find("python3 -c \"import sys, torch") != std::string::npos, text.c_str());
        QVERIFY(text.find('\n') == std::string::npos);
    }
    const std::string onnx = writeBytes(path("model.onnx"), "\x08\x08\x12\x09halfscope");
    QVERIFY2(refusal(onnx).find("ONNX files are written but not opened") != std::string::npos,
             refusal(onnx).c_str());
}

/// experiment.json contains the setting, with a path that is valid from anywhere.
void TestStateDict::isASettingThatRepeats() {
    RunConfig from = config();
    applySetting(from, "model.weights=start.safetensors");
    QCOMPARE(from.model.weights, std::string("start.safetensors"));
    const std::string file = writeBytes(path("experiment.json"), configText(from));
    QCOMPARE(readConfig(file).model.weights, path("start.safetensors"));
}

void TestStateDict::opensInPyTorch_data() {
    QTest::addColumn<QString>("lane");
    QTest::addColumn<double>("bound"); // of a difference, in float64 against the lane's rounding
    QTest::newRow("fp32") << "fp32" << 1e-5;
    QTest::newRow("amp-fp16") << "amp-fp16" << 5e-2;
    QTest::newRow("fp16") << "fp16" << 5e-2;
}

/// Model text, names and values of a trained lane give its outputs on the samples of a step. In
/// training mode batch norm uses the batch's statistics, and a dropout of 0 removes nothing.
void TestStateDict::opensInPyTorch() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(QString, lane);
    QFETCH(double, bound);
    RunConfig trained = config(lane.toStdString());
    trained.model.layers = "nn.Sequential(nn.Linear(10, 7), nn.BatchNorm1d(7), nn.ReLU(), "
                           "nn.Dropout(0.0), nn.LayerNorm(7), nn.GELU(), nn.Linear(7, 1))";
    trained.optimizer.kind = OptimizerKind::Sgd; // Adam divides by zero in float16
    Lane one(trained, {64, 10, 1});
    for (int64_t step = 1; step <= 6; ++step)
        one.step(step);
    const std::string file = writeBytes(path("lane.safetensors"),
                                        stateDictBytes(one.trainer, trained.model.layers, "1"));
    const std::vector<float> y = one.trainer.preview(); // of the weights in the file
    std::vector<float> x(640), target(64);
    QVERIFY(one.data.batch(1, x, target));
    const ArrayView arrays[] = {{"x", ElementType::F32, {64, 10}, std::as_bytes(std::span(x))},
                                {"y", ElementType::F32, {64, 1}, std::as_bytes(std::span(y))}};
    writeSafetensors(path("values.safetensors"), arrays, {});
    const QString script = QStringLiteral(R"(
import sys, torch
from torch import nn
from safetensors import safe_open
from safetensors.torch import load_file
with safe_open(sys.argv[1], "pt") as f:
    model = eval(f.metadata()["model"])
model.load_state_dict(load_file(sys.argv[1]), strict=True)
assert model[1].num_batches_tracked == 6
values = load_file(sys.argv[2])
with torch.no_grad():
    y = model.double().train()(values["x"].double())
print((y - values["y"]).abs().max().item())
)");
    const QString found = python(
        script, {m_folder.filePath("lane.safetensors"), m_folder.filePath("values.safetensors")});
    bool number = false;
    const double difference = found.toDouble(&number);
    QVERIFY2(number && difference <= bound, qPrintable(found));
}

void TestStateDict::anyTextOpensInPyTorch_data() {
    QTest::addColumn<QString>("model");
    QTest::newRow("residuals")
        << "nn.Sequential(nn.Linear(10, 6), Residual(nn.Linear(6, 6), nn.Tanh()), "
           "Residual(nn.Linear(6, 8), nn.Tanh(), shortcut=nn.Linear(6, 8)), nn.Linear(8, 1))";
    QTest::newRow("names") << "nn.Sequential(first=nn.Linear(10, 6), rest=nn.Sequential(nn.ReLU(), "
                              "nn.Linear(6, 1)))";
    QTest::newRow("as printed") << "Sequential(\n  (0): Linear(in_features=10, out_features=4, "
                                   "bias=True)\n  (1): ReLU()\n  (2): Linear(in_features=4, "
                                   "out_features=1, bias=True)\n)";
}

/// However a model was written, the text in its file makes the network in Python, with the classes
/// that a program gets for layers that PyTorch lacks.
void TestStateDict::anyTextOpensInPyTorch() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(QString, model);
    RunConfig trained = config("fp32");
    trained.model.layers = model.toStdString();
    Lane one(trained, {64, 10, 1});
    one.step(1);
    const std::string text = modelShapes(trained).text;
    writeBytes(path("lane.safetensors"), stateDictBytes(one.trainer, text, "1"));
    const std::vector<float> y = one.trainer.preview();
    std::vector<float> x(640), target(64);
    QVERIFY(one.data.batch(1, x, target));
    const ArrayView arrays[] = {{"x", ElementType::F32, {64, 10}, std::as_bytes(std::span(x))},
                                {"y", ElementType::F32, {64, 1}, std::as_bytes(std::span(y))}};
    writeSafetensors(path("values.safetensors"), arrays, {});
    const QString script = QStringLiteral("import sys, torch\nfrom collections import OrderedDict\n"
                                          "from torch import nn\n"
                                          "from safetensors import safe_open\n"
                                          "from safetensors.torch import load_file\n") +
                           QString::fromStdString(std::string(findLayer("Residual")->python)) +
                           QStringLiteral(R"(
with safe_open(sys.argv[1], "pt") as f:
    model = eval(f.metadata()["model"])
model.load_state_dict(load_file(sys.argv[1]), strict=True)
values = load_file(sys.argv[2])
with torch.no_grad():
    print((model(values["x"]) - values["y"]).abs().max().item())
)");
    const QString found = python(
        script, {m_folder.filePath("lane.safetensors"), m_folder.filePath("values.safetensors")});
    bool number = false;
    const double difference = found.toDouble(&number);
    QVERIFY2(number && difference <= 1e-5, qPrintable(found));
}

void TestStateDict::comesFromPyTorch() {
    if (lacksPython()) QSKIP(lacksPython());
    const QString file = m_folder.filePath("made.safetensors");
    const QString script = QStringLiteral(R"(
import sys, torch
from torch import nn
from safetensors.torch import save_file
torch.manual_seed(1)
model = eval(sys.argv[1])
save_file(model.state_dict(), sys.argv[2])
print(model[0].weight[2, 3].item().hex(), model[6].bias[0].item().hex())
)");
    const QString found = python(script, {kModel, file});
    RunConfig from = config();
    from.model.weights = file.toStdString();
    Experiment experiment(from);
    const Weights weights = experiment.lane(1).weights();
    const QStringList numbers = found.split(' ');
    QCOMPARE(numbers.size(), 2);
    QCOMPARE(double{weights.at("0.weight").at(23)}, std::strtod(qPrintable(numbers[0]), nullptr));
    QCOMPARE(double{weights.at("6.bias").at(0)}, std::strtod(qPrintable(numbers[1]), nullptr));
    train(experiment);
}

/// A network of PyTorch's encoder layers, which get their mask in forward(), is a network of causal
/// layers here.
void TestStateDict::causalLayersTakePlainOnes() {
    if (lacksPython()) QSKIP(lacksPython());
    const QString file = m_folder.filePath("causal.safetensors");
    const QString script = QStringLiteral(R"(
import sys, torch
from torch import nn
from safetensors.torch import save_file
model = nn.Sequential(nn.Unflatten(1, (5, 6)),
                      nn.TransformerEncoderLayer(6, 2, 4, 0.0, batch_first=True),
                      nn.Flatten(), nn.Linear(30, 1)).double()
for i, value in enumerate(model.state_dict().values()):
    value.copy_((torch.arange(value.numel()) + i).sin().reshape(value.shape))
save_file({name: value.float() for name, value in model.state_dict().items()}, sys.argv[1])
x = (0.3 * torch.arange(60)).cos().reshape(2, 5, 6)
mask = nn.Transformer.generate_square_subsequent_mask(5, dtype=torch.float64)
y = model[3](model[2](model[1](x.double(), src_mask=mask)))
print(*y.flatten().tolist())
)");
    const QStringList wanted = python(script, {file}).split(' ');
    RunConfig from = config("fp32");
    from.model.layers = "nn.Sequential(nn.Unflatten(1, (5, 6)), CausalTransformerEncoderLayer(6, "
                        "2, 4, 0., batch_first=True), nn.Flatten(), nn.Linear(30, 1))";
    FixedDataset::Batch batch{std::vector<float>(60), {0, 0}};
    for (size_t i = 0; i < batch.x.size(); ++i)
        batch.x[i] = static_cast<float>(std::cos(0.3 * static_cast<double>(i)));
    Lane lane(from, {{2, 30, 1}, {batch}});
    const Graph step = buildStep(from, from.lanes[0], lane.data.shape());
    lane.trainer.setWeights(readStateDict(file.toStdString(), step));
    const std::vector<float> found = lane.trainer.preview();
    QCOMPARE(wanted.size(), 2);
    for (size_t i = 0; i < found.size(); ++i)
        QVERIFY(std::abs(double{found[i]} - wanted[static_cast<qsizetype>(i)].toDouble()) < 1e-5);
}

/// Runs the line that the refusal recommends.
void TestStateDict::theLineForPicklesWorks() {
    if (lacksPython()) QSKIP(lacksPython());
    const QString pickle = m_folder.filePath("model.pt"), made = m_folder.filePath("m.safetensors");
    const QString save = QStringLiteral("import sys, torch; from torch import nn; "
                                        "torch.save(eval(sys.argv[1]).state_dict(), sys.argv[2])");
    QCOMPARE(python(save, {kModel, pickle}), QString());
    const QString text = QString::fromStdString(refusal(pickle.toStdString()));
    const QString line = text.section("python3 -c \"", 1).section('"', 0, 0);
    QCOMPARE(python(line, {pickle, made}), QString());
    RunConfig from = config();
    from.model.weights = made.toStdString();
    Experiment experiment(from);
    const QString saveMore = QStringLiteral(
        "import sys, torch; from torch import nn; "
        "torch.save({sys.argv[3]: eval(sys.argv[1]).state_dict(), 'epoch': 3}, sys.argv[2])");
    for (const char* entry :
         {"model", "state_dict", "model_state_dict", "net"}) { // training checkpoints
        QCOMPARE(python(saveMore, {kModel, pickle, entry}), QString());
        QVERIFY(QFile::remove(made));
        QCOMPARE(python(line, {pickle, made}), QString());
        checkStateDict(made.toStdString(), config()); // throws
    }
}

} // namespace tst_state_dict

QTEST_GUILESS_MAIN(tst_state_dict::TestStateDict)
#include "tst_state_dict.moc"
