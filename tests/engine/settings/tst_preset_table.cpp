// What every preset trains, a row for each: the network, the optimizer, the batch and the length. A
// number that changes by accident fails here; whoever changes one on purpose changes its row, and
// the preset's sentence where that names it.
#include "engine/models/model_spec.h"
#include "engine/settings/fields.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"

#include <QTest>

#include <string>
#include <vector>

namespace tst_preset_table {

using namespace halfscope;

namespace {

/// Returns the text of linear layers between these numbers of units, with others between them.
std::string linear(const std::vector<int>& units, const char* norm, const char* activation) {
    std::string text = "nn.Sequential(";
    for (size_t i = 0; i + 1 < units.size(); ++i) {
        const std::string to = std::to_string(units[i + 1]);
        text += "nn.Linear(" + std::to_string(units[i]) + ", " + to + ")";
        if (i + 2 == units.size()) break;
        text += ", " + (*norm ? std::string(norm) + "(" + to + "), " : std::string()) + activation +
                "(), ";
    }
    return text + ")";
}

std::string relu(const std::vector<int>& units) { return linear(units, "", "nn.ReLU"); }
std::string painter(const std::vector<int>& units) {
    return linear(units, "nn.BatchNorm1d", "nn.ReLU");
}

constexpr const char* kLeNet = R"(nn.Sequential(
    nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
    nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)))";

constexpr const char* kClothes = R"(nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Dropout(0.25), nn.Linear(1568, 128), nn.ReLU(), nn.Linear(128, 10)))";

/// Returns a block of two convolutions that halves the sides where it has more channels.
std::string block(int from, int to) {
    const std::string in = std::to_string(from), out = std::to_string(to);
    const std::string norm = "nn.BatchNorm2d(" + out + ")";
    const std::string stride = from == to ? "" : "stride=2, ";
    return "Residual(nn.Conv2d(" + in + ", " + out + ", 3, " + stride + "padding=1, bias=False), " +
           norm + ", nn.ReLU(), nn.Conv2d(" + out + ", " + out + ", 3, padding=1, bias=False), " +
           norm +
           (from == to ? ")"
                       : ", shortcut=nn.Sequential(nn.Conv2d(" + in + ", " + out +
                             ", 1, stride=2, bias=False), " + norm + "))");
}

std::string resNet() {
    return "nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), "
           "nn.ReLU(), nn.MaxPool2d(2), " +
           block(16, 16) + ", nn.ReLU(), " + block(16, 32) + ", nn.ReLU(), " + block(32, 64) +
           ", nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))";
}

// The text has 76 different characters.
constexpr const char* kEncoder = R"(nn.Sequential(
    nn.Embedding(76, 64), PositionalEmbedding(32, 64),
    nn.TransformerEncoderLayer(64, 4, 256, 0.0, batch_first=True, norm_first=True),
    nn.TransformerEncoderLayer(64, 4, 256, 0.0, batch_first=True, norm_first=True),
    nn.LayerNorm(64), nn.Flatten(), nn.Linear(2048, 76)))";

constexpr const char* kLanguageModel = R"(nn.Sequential(
    nn.Embedding(76, 64), PositionalEmbedding(64, 64),
    CausalTransformerEncoderLayer(64, 4, 256, 0.0, batch_first=True, norm_first=True),
    CausalTransformerEncoderLayer(64, 4, 256, 0.0, batch_first=True, norm_first=True),
    nn.LayerNorm(64), nn.Linear(64, 76)))";

constexpr const char* kWords = R"(PaddedSequential(
    nn.Embedding(28, 64, padding_idx=0), PositionalEmbedding(12, 64),
    nn.TransformerEncoderLayer(64, 4, 128, 0.1, batch_first=True, norm_first=True),
    MaskedMean(), nn.Linear(64, 6)))";

constexpr const char* kSiren = R"(nn.Sequential(
    SineLayer(2, 128, is_first=True), SineLayer(128, 128), SineLayer(128, 128),
    SineLayer(128, 3, is_last=True)))";

constexpr const char* kFourier = R"(nn.Sequential(
    FourierFeatures(2, 128, scale=10.0), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 128),
    nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 3), nn.Sigmoid()))";

constexpr const char* kGenerator = R"(nn.Sequential(
    nn.Linear(64, 3136), nn.Unflatten(1, (64, 7, 7)), nn.BatchNorm2d(64), nn.ReLU(),
    nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
    nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1), nn.Sigmoid(), nn.Flatten()))";

constexpr const char* kNormedCritic = R"(nn.Sequential(
    nn.Unflatten(1, (1, 28, 28)), nn.Conv2d(1, 32, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
    nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.BatchNorm2d(64), nn.LeakyReLU(0.2),
    nn.Flatten(), nn.Linear(3136, 1)))";

constexpr const char* kCritic = R"(nn.Sequential(
    nn.Unflatten(1, (1, 28, 28)), nn.Conv2d(1, 32, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
    nn.Conv2d(32, 64, 4, stride=2, padding=1), nn.LeakyReLU(0.2),
    nn.Flatten(), nn.Linear(3136, 1)))";

struct Row {
    const char* preset;
    std::string network;
    const char* optimizer;
    const char* batch; ///< "all": every step sees all samples
    const char* length;
    std::string critic{};
};

std::vector<Row> rows() {
    const std::string squares = painter({2, 128, 128, 128, 128, 1});
    const std::string small = relu({10, 20, 1}), recipe = relu({10, 20, 20, 1});
    const char* const adam = "Adam(lr=0.001, betas=(0.9, 0.999))";
    const char* const faster = "Adam(lr=0.01, betas=(0.9, 0.999))";
    const char* const descent = "SGD(lr=0.2, momentum=0)";
    return {
        {"checkerboard", squares, adam, "all", "300 steps"},
        {"checkerboard-seed", painter({2, 256, 256, 256, 1}), adam, "all", "500 steps"},
        {"regression", small, adam, "64", "10 epochs"},
        {"one-cycle", small, adam, "64", "10 epochs"},
        {"curve-fit", "nn.Linear(3, 1, bias=False)", "Adam(lr=0.1, betas=(0.9, 0.999))", "100",
         "1000 steps"},
        {"line-fit", "nn.Linear(1, 1)", "SGD(lr=0.01, momentum=0)", "all", "10000 steps"},
        {"moons", linear({2, 16, 16, 2}, "", "nn.Tanh"), faster, "64", "100 epochs"},
        {"spirals", relu({2, 32, 32, 32, 2}), faster, "50", "300 epochs"},
        {"mnist-mlp", relu({784, 256, 10}), adam, "64", "2 epochs"},
        {"mnist-cnn", kLeNet, adam, "64", "20 epochs"},
        {"fashion-cnn", kClothes, adam, "64", "1 epoch"},
        {"resnet-small", resNet(), adam, "64", "10 epochs"},
        {"transformer-tiny", kEncoder, adam, "64", "2 epochs"},
        {"transformer-lm", kLanguageModel, "Adam(lr=0.002, betas=(0.9, 0.999))", "16", "15 epochs"},
        {"languages", kWords, adam, "64", "20 epochs"},
        {"picture", painter({2, 128, 128, 128, 128, 3}), adam, "all", "500 steps"},
        {"siren", kSiren, adam, "all", "500 steps"},
        {"fourier", kFourier, adam, "all", "500 steps"},
        {"gan", kGenerator, "Adam(lr=0.001, betas=(0.5, 0.999)) and Adam(lr=0.0002)", "64",
         "2 epochs", kNormedCritic},
        {"wgan-gp", kGenerator, "Adam(lr=0.0005, betas=(0, 0.9)) and Adam(lr=0.001)", "64",
         "1 epoch", kCritic},
        {"checkerboard-bf16", squares, adam, "all", "300 steps"},
        {"pure-fp16", squares, adam, "all", "300 steps"},
        {"master-weights", squares, "Adam(lr=0.0001, betas=(0.9, 0.999))", "all", "300 steps"},
        {"fp8", squares, adam, "all", "300 steps"},
        {"policies", squares, adam, "all", "300 steps"},
        {"apex-levels", squares, adam, "all", "300 steps"},
        {"overflow", recipe, adam, "64", "300 steps"},
        {"static-scales", squares, adam, "all", "300 steps"},
        {"recipe-plain", recipe, adam, "64", "300 steps"},
        {"recipe-accumulate", recipe, adam, "16", "1200 steps"},
        {"recipe-penalty", recipe, adam, "64", "300 steps"},
        {"recipe-two-optimizers", recipe, "Adam(lr=0.001, betas=(0.9, 0.999)) and SGD(lr=1e-05)",
         "64", "300 steps"},
        {"recipe-clip", recipe, descent, "64", "300 steps"},
        {"recipe-clip-inf", recipe, descent, "64", "300 steps"},
        {"recipe-clip-value", recipe, descent, "64", "300 steps"},
        {"recipe-onecycle", recipe, adam, "64", "300 steps"},
        {"recipe-onecycle-linear", recipe, "SGD(lr=0.001, momentum=0.9)", "64", "300 steps"},
        {"recipe-onecycle-three-phase", recipe, adam, "64", "300 steps"},
        {"recipe-schedule-step", recipe, faster, "64", "300 steps"},
        {"recipe-schedule-exponential", recipe, faster, "64", "300 steps"},
        {"recipe-schedule-cosine", recipe, faster, "64", "300 steps"},
        {"recipe-schedule-warmup", recipe, faster, "64", "300 steps"},
        {"recipe-schedule-linear", recipe, faster, "64", "300 steps"},
        {"recipe-adam-amsgrad", recipe, "Adam(lr=0.01, betas=(0.9, 0.95))", "64", "300 steps"},
        {"recipe-adamw", recipe, "AdamW(lr=0.01, betas=(0.9, 0.999))", "64", "300 steps"},
        {"recipe-sgd-nesterov", recipe, "SGD(lr=0.003, momentum=0.9)", "64", "300 steps"},
        {"recipe-sgd-dampening", recipe, "SGD(lr=0.03, momentum=0.9)", "64", "300 steps"},
        {"recipe-rmsprop", recipe, "RMSprop(lr=0.003, momentum=0)", "64", "300 steps"},
        {"recipe-adagrad", recipe, "Adagrad(lr=0.05)", "64", "300 steps"},
        {"recipe-adadelta", recipe, "Adadelta(lr=1)", "64", "300 steps"},
    };
}

QString number(double value) { return QString::number(value); }

/// Writes the optimizers; the second one has its own kind and rate alone.
QString optimizersOf(const RunConfig& config) {
    const OptimizerConfig& first = config.optimizer;
    const OptimizerInfo& info = infoOf(first.kind);
    QString text = QString("%1(lr=%2").arg(info.torch.name, number(first.lr));
    if (info.has.betas)
        text += QString(", betas=(%1, %2)").arg(number(first.beta1), number(first.beta2));
    if (info.has.momentum) text += ", momentum=" + number(first.momentum);
    text += ")";
    if (networksOf(config.model) == 1) return text;
    return text + QString(" and %1(lr=%2)")
                      .arg(infoOf(config.second.kind).torch.name, number(config.second.lr));
}

/// Returns a model's text in one form, however it was written; empty for no text.
QString oneForm(const std::string& text) {
    return text.empty() ? QString() : QString::fromStdString(textOf(readModel(text)));
}

} // namespace

class TestPresetTable : public QObject {
    Q_OBJECT

private slots:
    void everyPresetHasARow();
    void trains_data();
    void trains();
};

void TestPresetTable::everyPresetHasARow() {
    QStringList named, wanted;
    for (const Row& row : rows())
        named << row.preset;
    for (const Preset& preset : presets())
        wanted << QString::fromStdString(preset.name);
    QCOMPARE(named, wanted);
}

void TestPresetTable::trains_data() {
    QTest::addColumn<QString>("network");
    QTest::addColumn<QString>("critic");
    QTest::addColumn<QString>("optimizers");
    QTest::addColumn<QString>("batch");
    QTest::addColumn<QString>("length");
    for (const Row& row : rows())
        QTest::newRow(row.preset) << oneForm(row.network) << oneForm(row.critic) << row.optimizer
                                  << row.batch << row.length;
}

void TestPresetTable::trains() {
    const RunConfig config = presetNamed(QTest::currentDataTag()).config;
    const EpochPlan plan = epochPlanOf(config);
    const BatchShape batch = batchShape(factsOf(taskOf(config)).tensors, plan.batch);
    const ModelSpec model = modelOf(config.model, batch.inputs, batch.outputs);
    QTEST(QString::fromStdString(textOf(model)), "network");
    QTEST(oneForm(config.model.critic), "critic");
    QTEST(optimizersOf(config), "optimizers");
    QTEST(plan.hasBatches() ? QString::number(plan.batch) : QStringLiteral("all"), "batch");
    const QString ending = config.epochs == 1 ? " epoch" : config.epochs > 1 ? " epochs" : " steps";
    QTEST(QString::number(config.epochs > 0 ? config.epochs : config.steps) + ending, "length");
}

} // namespace tst_preset_table

QTEST_GUILESS_MAIN(tst_preset_table::TestPresetTable)
#include "tst_preset_table.moc"
