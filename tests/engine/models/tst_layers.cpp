// The layer table, one row a case: what PyTorch prints of a layer, the shape that it makes, its
// parameters, and what it refuses. Sources: the documentation of torch.nn, and golden/models.json,
// which records what PyTorch itself prints.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/models/emit_model.h"
#include "engine/passes/autodiff.h"
#include "tests/support/mutations.h"
#include "tests/support/recorded_layers.h"
#include "tests/support/recorded_leaves.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace tst_layers {

using namespace halfscope;
using nlohmann::json;

namespace {

QString text(const std::string& s) { return QString::fromStdString(s); }

QString refusalOf(const char* model, const Shape& in) {
    try {
        outputOf(readModel(model), {in, DType::F32});
        return {};
    } catch (const InputError& error) {
        return text(error.what());
    }
}

constexpr const char* kNet = R"(nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True),
    Residual(nn.Conv2d(8, 8, (3, 3), padding=(1, 1)), nn.GroupNorm(2, 8), SiLU(),
             shortcut=torch.nn.Conv2d(8, 8, 1)),
    nn.MaxPool2d(2), nn.Upsample(scale_factor=2), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(),
    nn.Sequential(OrderedDict([("head", nn.Linear(2*4, 10)), ("out", nn.Dropout(0.1))])),
))";
constexpr const char* kNetPrinted = R"(Sequential(
  (0): Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), bias=False)
  (1): BatchNorm2d(8, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
  (2): ReLU(inplace=True)
  (3): Residual(
    (0): Conv2d(8, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
    (1): GroupNorm(2, 8, eps=1e-05, affine=True, bias=True)
    (2): SiLU()
    (shortcut): Conv2d(8, 8, kernel_size=(1, 1), stride=(1, 1))
  )
  (4): MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
  (5): Upsample(scale_factor=2.0, mode='nearest')
  (6): AdaptiveAvgPool2d(output_size=(1, 1))
  (7): Flatten(start_dim=1, end_dim=-1)
  (8): Sequential(
    (head): Linear(in_features=8, out_features=10, bias=True)
    (out): Dropout(p=0.1, inplace=False)
  )
))";

/// One layer of each row: as written, as printed, an input and the output's shape.
struct Case {
    const char *written, *printed;
    Shape in, out;
    DType dtype = DType::F32; ///< of the input
};
const Case kCases[] = {
    {"Linear(4, 5)", "Linear(in_features=4, out_features=5, bias=True)", {2, 3, 4}, {2, 3, 5}},
    {"Conv1d(2, 6, (3,), stride=2, padding=1)",
     "Conv1d(2, 6, kernel_size=(3,), stride=(2,), padding=(1,))",
     {2, 2, 9},
     {2, 6, 5}},
    {"Conv2d(2, 6, (3, 5), stride=2, padding=(1, 0))",
     "Conv2d(2, 6, kernel_size=(3, 5), stride=(2, 2), padding=(1, 0))",
     {2, 2, 9, 8},
     {2, 6, 5, 2}},
    {"Conv1d(2, 6, 5, padding='same')",
     "Conv1d(2, 6, kernel_size=(5,), stride=(1,), padding=same)",
     {2, 2, 9},
     {2, 6, 9}},
    {"Conv2d(2, 6, (3, 5), padding='same')",
     "Conv2d(2, 6, kernel_size=(3, 5), stride=(1, 1), padding=same)",
     {2, 2, 9, 8},
     {2, 6, 9, 8}},
    {"Conv2d(2, 6, (3, 4), stride=2, padding='valid')",
     "Conv2d(2, 6, kernel_size=(3, 4), stride=(2, 2), padding=valid)",
     {2, 2, 9, 8},
     {2, 6, 4, 3}},
    {"Conv2d(2, 6, 1)",
     "Conv2d(2, 6, kernel_size=(1, 1), stride=(1, 1))",
     {2, 2, 3, 4},
     {2, 6, 3, 4}},
    {"ConvTranspose2d(2, 6, (3, 4), stride=2, padding=(1, 0), output_padding=1, bias=False)",
     "ConvTranspose2d(2, 6, kernel_size=(3, 4), stride=(2, 2), padding=(1, 0), "
     "output_padding=(1, 1), bias=False)",
     {2, 2, 4, 3},
     {2, 6, 8, 9}},
    {"BatchNorm1d(4, momentum=0.2)",
     "BatchNorm1d(4, eps=1e-05, momentum=0.2, affine=True, bias=True, track_running_stats=True)",
     {6, 4},
     {6, 4}},
    {"BatchNorm2d(2, affine=False)",
     "BatchNorm2d(2, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=True)",
     {2, 2, 3, 3},
     {2, 2, 3, 3}},
    {"LayerNorm([3, 4])",
     "LayerNorm((3, 4), eps=1e-05, elementwise_affine=True, bias=True)",
     {2, 3, 4},
     {2, 3, 4}},
    {"GroupNorm(2, 4)", "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)", {2, 4, 3}, {2, 4, 3}},
    {"InstanceNorm1d(4, affine=True)",
     "InstanceNorm1d(4, eps=1e-05, momentum=0.1, affine=True, bias=True, "
     "track_running_stats=False)",
     {2, 4, 3},
     {2, 4, 3}},
    {"InstanceNorm2d(2)",
     "InstanceNorm2d(2, eps=1e-05, momentum=0.1, affine=False, bias=False, "
     "track_running_stats=False)",
     {1, 2, 3, 3},
     {1, 2, 3, 3}},
    {"ReLU()", "ReLU()", {2, 3}, {2, 3}},
    {"LeakyReLU(0.2)", "LeakyReLU(negative_slope=0.2)", {2, 3}, {2, 3}},
    {"PReLU()", "PReLU(num_parameters=1)", {2, 3}, {2, 3}},
    {"PReLU(3, init=0.1)", "PReLU(num_parameters=3)", {2, 3, 4, 5}, {2, 3, 4, 5}},
    {"ELU()", "ELU(alpha=1.0)", {2, 3}, {2, 3}},
    {"GELU()", "GELU(approximate='none')", {2, 3}, {2, 3}},
    {"GELU('tanh')", "GELU(approximate='tanh')", {2, 3}, {2, 3}},
    {"SiLU()", "SiLU()", {2, 3}, {2, 3}},
    {"Tanh()", "Tanh()", {2, 3}, {2, 3}},
    {"Sigmoid()", "Sigmoid()", {2, 3}, {2, 3}},
    {"EmbeddingBag(7, 4)", "EmbeddingBag(7, 4, mode='mean')", {2, 5}, {2, 4}, DType::I32},
    {"Hardtanh(0, 6)", "Hardtanh(min_val=0, max_val=6)", {2, 3}, {2, 3}},
    {"Hardswish()", "Hardswish()", {2, 3}, {2, 3}},
    {"Sine()", "Sine()", {2, 3}, {2, 3}},
    {"MaxPool1d(3, 2, 1)",
     "MaxPool1d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)",
     {1, 2, 8},
     {1, 2, 4}},
    {"AvgPool1d((3,))",
     "AvgPool1d(kernel_size=(3,), stride=(3,), padding=(0,))",
     {1, 2, 8},
     {1, 2, 2}},
    {"AdaptiveAvgPool1d(3)", "AdaptiveAvgPool1d(output_size=3)", {1, 2, 8}, {1, 2, 3}},
    {"MaxPool2d(3, 2, 1)",
     "MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)",
     {1, 2, 8, 7},
     {1, 2, 4, 4}},
    {"AvgPool2d((2, 1))",
     "AvgPool2d(kernel_size=(2, 1), stride=(2, 1), padding=0)",
     {1, 2, 8, 7},
     {1, 2, 4, 7}},
    {"AdaptiveAvgPool2d(3)", "AdaptiveAvgPool2d(output_size=3)", {1, 2, 8, 7}, {1, 2, 3, 3}},
    {"Upsample(scale_factor=(2, 3.0))",
     "Upsample(scale_factor=(2.0, 3.0), mode='nearest')",
     {1, 2, 4, 3},
     {1, 2, 8, 9}},
    {"Upsample(size=8)", "Upsample(size=8, mode='nearest')", {1, 2, 4, 2}, {1, 2, 8, 8}},
    {"Flatten()", "Flatten(start_dim=1, end_dim=-1)", {2, 3, 4, 5}, {2, 60}},
    {"Flatten(0, 1)", "Flatten(start_dim=0, end_dim=1)", {2, 3, 4, 5}, {6, 4, 5}},
    {"Flatten(1, 1)", "Flatten(start_dim=1, end_dim=1)", {2, 3, 4}, {2, 3, 4}},
    {"Unflatten(1, (2, -1))", "Unflatten(dim=1, unflattened_size=(2, -1))", {2, 6}, {2, 2, 3}},
    {"Dropout()", "Dropout(p=0.5, inplace=False)", {2, 3}, {2, 3}},
    {"Identity()", "Identity()", {2, 3}, {2, 3}},
    {"SineLayer(2, 5, is_first=True)",
     "SineLayer(in_features=2, out_features=5, bias=True, is_first=True, omega_0=30)",
     {3, 2},
     {3, 5}},
    {"FourierFeatures(2, 5)",
     "FourierFeatures(in_features=2, mapping_size=5, scale=10.0)",
     {3, 2},
     {3, 10}},
    {"Embedding(13, 4)", "Embedding(13, 4)", {2, 5}, {2, 5, 4}, DType::I32},
    {"Embedding(13, 4, 0)", "Embedding(13, 4, padding_idx=0)", {2, 5}, {2, 5, 4}, DType::I32},
    {"Embedding(13, 4, padding_idx=-1)",
     "Embedding(13, 4, padding_idx=12)",
     {2, 5},
     {2, 5, 4},
     DType::I32},
    {"PositionalEmbedding(6, 4)",
     "PositionalEmbedding(num_positions=6, embedding_dim=4)",
     {2, 5, 4},
     {2, 5, 4}},
    {"TransformerEncoderLayer(8, 2, 16, activation=\"gelu\", batch_first=True)",
     "TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, dropout=0.1, "
     "activation='gelu', layer_norm_eps=1e-05, batch_first=True, norm_first=False, bias=True)",
     {2, 5, 8},
     {2, 5, 8}},
    {"CausalTransformerEncoderLayer(8, 2, batch_first=True, bias=False)",
     "CausalTransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=2048, dropout=0.1, "
     "activation='relu', layer_norm_eps=1e-05, batch_first=True, norm_first=False, bias=False)",
     {2, 5, 8},
     {2, 5, 8}},
    {"PaddedSequential(Embedding(13, 4, padding_idx=-13), Tanh(), MaskedMean())",
     "PaddedSequential(\n  (0): Embedding(13, 4, padding_idx=0)\n  (1): Tanh()\n  (2): "
     "MaskedMean()\n)",
     {2, 5},
     {2, 4},
     DType::I32},
    {"Sequential()", "Sequential()", {2, 3}, {2, 3}},
    {"Residual(Tanh())", "Residual(\n  (0): Tanh()\n)", {2, 3}, {2, 3}},
};

Shape shapeOf(const json& list) {
    Shape shape;
    for (const json& extent : list)
        shape.push(extent.get<int64_t>());
    return shape;
}

/// Returns the dtype of a recorded model's input.
DType inputOf(const json& record) {
    return record.value("indices", 0) > 0 ? DType::I32 : DType::F32;
}

/// Returns tests/golden/models.json.
const json& recordedModels() {
    static const json models = [] {
        std::ifstream file(std::string(HALFSCOPE_SOURCE_DIR) + "/tests/golden/models.json");
        return json::parse(file).at("models");
    }();
    return models;
}

} // namespace

class TestLayers : public QObject {
    Q_OBJECT

private slots:
    void everyRowPrintsShapesAndEmits_data() {
        QTest::addColumn<int>("index");
        int index = 0;
        for (const Case& c : kCases)
            QTest::newRow(c.written) << index++;
    }
    void everyRowPrintsShapesAndEmits() {
        QFETCH(int, index);
        const Case& c = kCases[index];
        const ModelSpec model = readModel(c.written);
        QCOMPARE(text(textOf(model)), QString(c.printed));
        QCOMPARE(text(textOf(readModel(c.printed))), QString(c.printed));
        QCOMPARE(outputOf(model, {c.in, c.dtype}).shape, c.out);
        for (const ModelMode mode : {ModelMode::Train, ModelMode::Evaluate}) {
            Graph graph;
            Builder b(graph);
            ModelOptions options;
            options.mode = mode;
            const NodeId x = b.input("x", c.in, c.dtype);
            const EmittedModel made = emitModel(b, model, {x, c.in}, options);
            QCOMPARE(b.shapeOf(made.output), c.out);
            QCOMPARE(made.shape, c.out);
        }
    }

    /// Every row has a case or is recorded: it would be untested otherwise.
    void everyRowHasACase() {
        for (const LayerInfo& info : layerTable()) {
            const auto names = [&info](const Case& c) {
                const size_t at = std::string_view(c.written).find(std::string(info.name) + "(");
                return info.padding == Padding::Needs ? at != std::string_view::npos : at == 0;
            };
            QVERIFY2(test::isRecorded(info) ||
                         std::any_of(std::begin(kCases), std::end(kCases), names),
                     std::string(info.name).c_str());
        }
    }

    /// PyTorch before 2.15 has no bias in norms, and prints none.
    void readsWhatOlderOnesPrint() {
        const char* old = "BatchNorm2d(8, eps=1e-05, momentum=0.1, affine=False, "
                          "track_running_stats=True)";
        QCOMPARE(text(textOf(readModel(old))), text(textOf(readModel("BatchNorm2d(8, "
                                                                     "affine=False)"))));
        QCOMPARE(text(pythonOf(readModel("GroupNorm(2, 8, 0.1, False, bias=False)"), "")),
                 QString("nn.GroupNorm(2, 8, eps=0.1, affine=False)"));
        QCOMPARE(text(pythonOf(readModel("BatchNorm2d(8, bias=False)"), "")),
                 QString("nn.BatchNorm2d(8, bias=False)"));
        QCOMPARE(parametersOf(readModel("BatchNorm1d(8, bias=False)")).size(), size_t(3));
        QCOMPARE(refusalOf("GroupNorm(2, 8, 0.1, True, False)", {4, 8}),
                 QString("line 1, column 28: GroupNorm takes at most 4 arguments, found False as "
                         "another one"));
    }

    void printsWhatPyTorchPrintsAndReadsIt() {
        QCOMPARE(text(textOf(readModel(kNet))), QString(kNetPrinted));
        QCOMPARE(text(textOf(readModel(kNetPrinted))), QString(kNetPrinted));
    }

    void agreesWithPyTorch_data() {
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < recordedModels().size(); ++i)
            QTest::newRow(std::to_string(i).c_str()) << static_cast<int>(i);
    }
    /// Checks what PyTorch printed, its state dict, its shapes, and the bounds of its initial
    /// values: the largest of 200 draws comes close to the bound.
    void agreesWithPyTorch() {
        QFETCH(int, index);
        const json& r = recordedModels()[static_cast<size_t>(index)];
        const ModelSpec model = readModel(r["source"].get<std::string>());
        const std::string printed =
            r["printed"].is_null() ? textOf(model) : r["printed"].get<std::string>();
        QCOMPARE(text(textOf(model)), text(printed));
        QCOMPARE(text(textOf(readModel(printed))), text(printed));
        QCOMPARE(outputOf(model, {shapeOf(r["input"]), inputOf(r)}).shape, shapeOf(r["output"]));
        const auto parameters = parametersOf(model);
        QCOMPARE(parameters.size(), r["state"].size());
        for (const NamedParameter& p : parameters) {
            QVERIFY2(r["state"].contains(p.name), p.name.c_str());
            QCOMPARE(p.info.shape, shapeOf(r["state"][p.name]));
            const json cleared = r.value("cleared", json::object()).value(p.name, json::array());
            QCOMPARE(p.info.start.zeroRow, cleared.empty() ? -1 : cleared.at(0).get<int64_t>());
            if (p.info.start.kind != InitialValue::Kind::Uniform) continue;
            const double largest = r["largest"][p.name], bound = p.info.start.value;
            QVERIFY2(largest <= bound * (1 + 1e-6) && largest > bound * 0.97, p.name.c_str());
        }
    }

    void computesWhatPyTorchComputes_data() {
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < recordedModels().size(); ++i)
            if (recordedModels()[i].contains("values"))
                QTest::newRow(recordedModels()[i]["source"].get<std::string>().c_str())
                    << static_cast<int>(i);
    }
    /// Outputs and gradients in float64, from the numbers that tests/golden/record_models.py
    /// describes.
    void computesWhatPyTorchComputes() {
        QFETCH(int, index);
        const json& r = recordedModels()[static_cast<size_t>(index)];
        const ModelSpec model = readModel(r["source"].get<std::string>());
        Graph graph;
        Builder b(graph);
        const bool floats = inputOf(r) == DType::F32;
        const NodeId x = b.input("x", shapeOf(r["input"]), floats ? DType::F64 : DType::I32);
        ModelOptions options;
        options.storage = DType::F64; // constants, too
        const EmittedModel made = emitModel(b, model, {x, b.shapeOf(x)}, options);
        RecordedLeaves leaves(graph);
        const double indices = r["indices"];
        leaves.put(x, [&](double i) {
            return indices > 0 ? std::fmod(5 * i, indices) : std::sin(0.9 * i);
        });
        const std::vector<NodeId> parameters = leaves.putParameters(model);
        const NodeId waves = b.input("waves", b.shapeOf(made.output), DType::F64);
        leaves.put(waves, [](double i) { return std::cos(0.6 * i); });
        const NodeId sum = b.sumAll(b.mul(made.output, waves));
        std::vector<NodeId> wanted{made.output};
        for (const auto& gradient : gradients(b, sum, parameters))
            wanted.push_back(gradient.value());
        const auto values = evaluate(graph, leaves.values(), wanted, RefRounding::None);
        const auto agree = [&](NodeId node, const json& recorded) {
            const std::vector<double>& ours = values.at(node).values;
            if (ours.size() != recorded.size()) return false;
            for (size_t i = 0; i < ours.size(); ++i)
                if (!(std::abs(ours[i] - recorded[i].get<double>()) < 1e-12)) return false;
            return true;
        };
        QVERIFY(agree(made.output, r["values"]["output"]));
        for (size_t i = 0; i < parameters.size(); ++i) {
            const std::string name = parametersOf(model)[i].name;
            QVERIFY2(agree(wanted[i + 1], r["values"]["gradients"][name]), name.c_str());
        }
    }

    void namesParametersAsTheStateDict() {
        std::vector<std::string> names;
        for (const NamedParameter& p : parametersOf(readModel(kNet)))
            names.push_back(p.name + " " + shapeText(p.info.shape));
        const std::vector<std::string> wanted{
            "0.weight (8, 3, 3, 3)", "1.weight (8,)",
            "1.bias (8,)",           "1.running_mean (8,)",
            "1.running_var (8,)",    "3.0.weight (8, 8, 3, 3)",
            "3.0.bias (8,)",         "3.1.weight (8,)",
            "3.1.bias (8,)",         "3.shortcut.weight (8, 8, 1, 1)",
            "3.shortcut.bias (8,)",  "8.head.weight (10, 8)",
            "8.head.bias (10,)"};
        QCOMPARE(names, wanted);
        QCOMPARE(parametersOf(readModel("Linear(2, 1)"))[0].name, std::string("weight"));
    }

    /// reset_parameters() of torch.nn: weight and bias are uniform within 1 / sqrt(fan in); norms
    /// and their statistics are 1 and 0.
    void startsParametersAsPyTorchDoes() {
        for (const NamedParameter& p : parametersOf(readModel(kNet))) {
            const InitialValue& start = p.info.start;
            const bool uniform = start.kind == InitialValue::Kind::Uniform;
            QCOMPARE(uniform,
                     p.info.role == ParameterRole::Weight || p.info.role == ParameterRole::Bias);
            double wanted = p.name.ends_with("weight") || p.name.ends_with("var") ? 1 : 0;
            if (p.name == "0.weight") wanted = 1 / std::sqrt(27.0);
            if (p.name.starts_with("3.0.")) wanted = 1 / std::sqrt(72.0);
            if (p.name.starts_with("3.shortcut.") || p.name.starts_with("8.head."))
                wanted = 1 / std::sqrt(8.0);
            QCOMPARE(start.value, wanted);
        }
    }

    /// Parameters start as in the authors' programs: see engine/models/layers_coordinates.cpp.
    void startsCoordinateNetworksAsTheirAuthorsDo() {
        const auto all = parametersOf(readModel(
            "Sequential(SineLayer(2, 24, is_first=True), SineLayer(24, 24), SineLayer(24, 1, "
            "bias=False, omega_0=10., is_last=True), FourierFeatures(1, 3, scale=4))"));
        const auto root = [](double x) { return std::sqrt(x); };
        const std::vector<std::pair<std::string, double>> wanted{
            {"0.linear.weight", 0.5},      {"0.linear.bias", 1 / root(2)},
            {"1.linear.weight", 0.5 / 30}, {"1.linear.bias", 1 / root(24)},
            {"2.linear.weight", 0.05},     {"3.B", 4}};
        QCOMPARE(all.size(), wanted.size());
        for (size_t i = 0; i < all.size(); ++i) {
            QCOMPARE(text(all[i].name), text(wanted[i].first));
            QCOMPARE(all[i].info.start.value, wanted[i].second);
            const bool normal = all[i].info.start.kind == InitialValue::Kind::Normal;
            QCOMPARE(normal, all[i].info.role == ParameterRole::Buffer);
        }
    }

    void tellsShapesAsFarAsTheyGo() {
        std::vector<LayerShape> seen;
        outputOf(readModel(kNet), {{2, 3, 6, 6}, DType::F32}, &seen);
        QStringList lines;
        for (const LayerShape& s : seen)
            lines << text(s.label + " " + shapeText(s.shape) + " " + std::to_string(s.parameters));
        const QStringList wanted{"Conv2d 0 (2, 8, 6, 6) 216",
                                 "BatchNorm2d 1 (2, 8, 6, 6) 16",
                                 "ReLU 2 (2, 8, 6, 6) 0",
                                 "Conv2d 3.0 (2, 8, 6, 6) 584",
                                 "GroupNorm 3.1 (2, 8, 6, 6) 16",
                                 "SiLU 3.2 (2, 8, 6, 6) 0",
                                 "Conv2d 3.shortcut (2, 8, 6, 6) 72",
                                 "Residual 3 (2, 8, 6, 6) 0",
                                 "MaxPool2d 4 (2, 8, 3, 3) 0",
                                 "Upsample 5 (2, 8, 6, 6) 0",
                                 "AdaptiveAvgPool2d 6 (2, 8, 1, 1) 0",
                                 "Flatten 7 (2, 8) 0",
                                 "Linear 8.head (2, 10) 90",
                                 "Dropout 8.out (2, 10) 0",
                                 "Sequential 8 (2, 10) 0",
                                 "Sequential (2, 10) 0"};
        QCOMPARE(lines, wanted);
        seen.clear();
        const ModelSpec wrong = readModel("Sequential(Linear(2, 3), ReLU(), Linear(4, 1))");
        QVERIFY_EXCEPTION_THROWN(outputOf(wrong, {{5, 2}, DType::F32}, &seen), InputError);
        QCOMPARE(seen.size(), size_t(2));
    }

    void refuses_data() {
        QTest::addColumn<QByteArray>("model");
        QTest::addColumn<QString>("sentence");
        const auto row = [](const char* model, const char* sentence) {
            QTest::newRow(model) << QByteArray(model) << QString::fromUtf8(sentence);
        };
        row("nn.Linear(400, 10)", "line 1, column 1: Linear(400, 10): the input has 8 features");
        row("Sequential(\n  Linear(8, 3),\n  Linear(2, 1))",
            "line 3, column 3: Linear(2, 1): the input has 3 features");
        row("Liner(8, 3)", "line 1, column 1: \"Liner\" is not a layer of this program; the "
                           "nearest one is Linear");
        row("Sequential(Linear)", "line 1, column 12: found Linear, where a layer such as "
                                  "Linear(2, 16) is allowed; are its brackets missing?");
        row("Sequential(F.relu)", "line 1, column 12: found F.relu, where a layer such as "
                                  "Linear(2, 16) is allowed; functions are written as layers: "
                                  "ReLU()");
        row("nn.LazyLinear(3)", "line 1, column 1: \"nn.LazyLinear\" is not a layer of this "
                                "program; write Linear with all of its sizes");
        row("torch.relu(x)", "line 1, column 1: \"torch.relu\" is not a layer of this program; the "
                             "nearest one is ReLU");
        row("nn.LSTM(8, 3)",
            "line 1, column 1: \"nn.LSTM\" is not a layer of this program; there are no recurrent "
            "layers: for sequences there is TransformerEncoderLayer");
        row("Sequential(3)",
            "line 1, column 12: found 3, where a layer such as Linear(2, 16) is allowed");
        row("Linear(8)", "line 1, column 1: Linear(8): out_features is missing: a whole number "
                         "from 1 to 1048576");
        row("Linear(8, 0)", "line 1, column 11: Linear: out_features=0 is not allowed: a whole "
                            "number from 1 to 1048576");
        row("Linear(8, 2.5)", "line 1, column 11: Linear: out_features=2.5 is not allowed: a "
                              "whole number from 1 to 1048576");
        row("Linear(8, 2, bais=True)", "line 1, column 14: Linear has no argument \"bais\"; the "
                                       "nearest one is bias");
        row("Linear(8, 2, out_features=3)",
            "line 1, column 14: Linear: out_features is given twice");
        row("Linear(in_features=8, 2)", "line 1, column 23: Linear: 2 needs a name, because it "
                                        "follows a named argument");
        row("Linear(8, 2, True, 4)",
            "line 1, column 20: Linear takes at most 3 arguments, found 4 as another one");
        row("Tanh(1)", "line 1, column 6: Tanh takes no arguments, found 1");
        row("GELU('exact')", "line 1, column 6: GELU: approximate='exact' is not supported: only "
                             "'none' or 'tanh' is");
        row("Conv2d(8, 2, 3, groups=3)", "line 1, column 1: Conv2d(8, 2, 3, groups=3): in_channels "
                                         "must be divisible by groups");
        row("ConvTranspose2d(8, 2, 3, stride=2, output_padding=2)",
            "line 1, column 1: ConvTranspose2d(8, 2, 3, stride=2, output_padding=2): "
            "output_padding must be smaller than stride or dilation");
        row("Conv1d(8, 2, (3, 3))", "line 1, column 14: Conv1d: kernel_size=(3, 3) is not allowed: "
                                    "a whole number from 1 to 4096");
        row("Conv1d(8, 2, 3)", "line 1, column 1: Conv1d(8, 2, 3): the input is (4, 8); sequences "
                               "(samples, channels, length) are expected");
        row("nn.Conv3d(8, 2, 3)", "line 1, column 1: \"nn.Conv3d\" is not a layer of this program; "
                                  "there are: Conv1d, Conv2d");
        row("BatchNorm1d(8, momentum=2)", "line 1, column 25: BatchNorm1d: momentum=2 is not "
                                          "allowed: a number from 0 to 1, or None");
        row("Conv2d(8, 2, 3)", "line 1, column 1: Conv2d(8, 2, 3): the input is (4, 8); images "
                               "(samples, channels, height, width) are expected");
        row("BatchNorm1d(4)", "line 1, column 1: BatchNorm1d(4): the input has 8 features");
        row("LayerNorm(4)",
            "line 1, column 1: LayerNorm(4): the input, (4, 8), does not end in this shape");
        row("GroupNorm(3, 8)",
            "line 1, column 1: GroupNorm(3, 8): num_channels must be a multiple of num_groups");
        row("Unflatten(1, (3, -1))", "line 1, column 1: Unflatten(1, (3, -1)): the axis has 8 "
                                     "values, which do not fit into this size");
        row("Residual(Linear(8, 2))",
            "line 1, column 1: Residual: its layers make (4, 2) of (4, 8), which cannot be added "
            "to (4, 8); shortcut=Conv2d(...) can change that");
        row("Sequential(a=Tanh(), a=Tanh())",
            "line 1, column 22: Sequential has two layers with the name \"a\"");
        row("Sequential(OrderedDict([('a.b', Tanh())]))",
            "line 1, column 26: \"a.b\" is not a layer's name: letters, digits, _ and -, at most "
            "100 of them");
        row("Sequential(OrderedDict(1))",
            "line 1, column 12: OrderedDict wants a list such as [(\"first\", Linear(2, 1))]");
        row("Sequential(Linear(60000, 60000))",
            "line 1, column 12: Linear(60000, 60000): up to here the model has 3600060000 "
            "parameters: at most 2147483648 are allowed");
    }
    void refuses() {
        QFETCH(QByteArray, model);
        QFETCH(QString, sentence);
        QCOMPARE(refusalOf(model.constData(), {4, 8}), sentence);
    }

    void refusesOfImages() {
        const Shape image{1, 3, 5, 5};
        QCOMPARE(refusalOf("Conv2d(4, 2, 3)", image),
                 QString("line 1, column 1: Conv2d(4, 2, 3): the input has 3 channels"));
        QCOMPARE(refusalOf("Conv2d(3, 2, 9, padding=1)", image),
                 QString("line 1, column 1: Conv2d(3, 2, 9, padding=1): the kernel is larger than "
                         "the input, (1, 3, 5, 5), with its padding"));
        QCOMPARE(refusalOf("ConvTranspose2d(4, 2, 3)", image),
                 QString("line 1, column 1: ConvTranspose2d(4, 2, 3): the input has 3 channels"));
        QCOMPARE(refusalOf("ConvTranspose2d(3, 2, 3, padding=4)", image),
                 QString("line 1, column 1: ConvTranspose2d(3, 2, 3, padding=4): with this "
                         "padding, nothing is left of the result for the input (1, 3, 5, 5)"));
        QCOMPARE(refusalOf("Conv1d(3, 2, 9, padding=1)", {1, 3, 5}),
                 QString("line 1, column 1: Conv1d(3, 2, 9, padding=1): the kernel is larger than "
                         "the input, (1, 3, 5), with its padding"));
        QCOMPARE(refusalOf("InstanceNorm2d(4)", image),
                 QString("line 1, column 1: InstanceNorm2d(4): the input has 3 channels"));
        QCOMPARE(refusalOf("InstanceNorm2d(3)", {2, 3, 1, 1}),
                 QString("line 1, column 1: InstanceNorm2d(3): the input, (2, 3, 1, 1), has one "
                         "value in each channel of a sample, and a variance needs at least two"));
        QCOMPARE(refusalOf("MaxPool2d(6)", image),
                 QString("line 1, column 1: MaxPool2d(6): the window is larger than the input, "
                         "(1, 3, 5, 5)"));
        QCOMPARE(refusalOf("MaxPool1d(6)", {1, 3, 5}),
                 QString("line 1, column 1: MaxPool1d(6): the window is larger than the input, "
                         "(1, 3, 5)"));
        QCOMPARE(refusalOf("MaxPool2d(2, padding=2)", image),
                 QString("line 1, column 1: MaxPool2d(2, padding=2): the padding must be at most "
                         "half of kernel_size"));
        QCOMPARE(refusalOf("BatchNorm2d(3)", {1, 3, 1, 1}),
                 QString("line 1, column 1: BatchNorm2d(3): the input, (1, 3, 1, 1), has one value "
                         "a channel, and a variance needs at least two"));
        const NodeType one{{1, 3, 1, 1}, DType::F32}; // enough where running statistics are used
        const ModelSpec norm = readModel("BatchNorm2d(3)");
        QCOMPARE(outputOf(norm, one, nullptr, ModelMode::Evaluate).shape, one.shape);
        QVERIFY(refusalOf("Upsample(scale_factor=4096)", {1, 999, 99, 99})
                    .endsWith("has more than 2147483648 values"));
    }

    /// A mutated model is either read and printed so that it reads back, or refused in one plain
    /// sentence.
    void takesOrRefusesAnything() {
        int taken = 0, refused = 0;
        for (int i = 0; i < test::mutationCases(10'000); ++i) {
            test::Mutations mutations(static_cast<uint64_t>(i) + 1);
            const std::string changed = mutations.json(i % 2 == 0 ? kNet : kNetPrinted);
            try {
                const ModelSpec model = readModel(changed);
                const std::string printed = textOf(model);
                QCOMPARE(textOf(readModel(printed)), printed);
                outputOf(model, {{2, 3, 8, 8}, DType::F32});
                ++taken;
            } catch (const InputError& error) {
                ++refused;
                const std::string sentence = error.what();
                QVERIFY2(isPlainText(sentence) && sentence.size() < 1000, sentence.c_str());
                QVERIFY2(sentence.starts_with("line "), sentence.c_str());
            }
        }
        QVERIFY2(taken > 100 && refused > 1000, qPrintable(QString::number(taken)));
    }
};

} // namespace tst_layers

QTEST_APPLESS_MAIN(tst_layers::TestLayers)
#include "tst_layers.moc"
