// The programs as which experiments are copied, run by the real PyTorch: from our weights their
// float32 lanes follow ours, and their loss scalers move alike. ./dev clients runs this.
#include "engine/io/picture.h"
#include "engine/settings/fields.h"
#include "engine/train/experiment.h"
#include "tests/support/array_files.h"
#include "tests/support/pytorch_program.h"

#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_pytorch_runs {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int64_t kSteps = 100;

/// Prints what is said of the validation samples after the last step of the first lane.
const QString kJudgingDriver = kImport + R"(
_, held = program.samples()
lane = next(iter(program.LANES.values()))
model, _ = program.train(lane, data, int(sys.argv[3]), weights)
print(program.evaluate(lane, model, *held))
)";

/// Trains the first lane and prints the first row of the first layer's weight, before and after.
const QString kPaddingDriver = kImport + R"(
lane = next(iter(program.LANES.values()))
model, _ = program.train(lane, data, int(sys.argv[3]), weights)
print(*map(repr, model[0].weight[0].tolist()))
)";

/// Returns a network for characters() to which one of the 21 is padding.
QString padded() {
    return "nn.Sequential(PaddedSequential(nn.Embedding(21, 16, padding_idx=2), "
           "PositionalEmbedding(8, 16), nn.Linear(16, 16), nn.TransformerEncoderLayer(16, 4, 24, "
           "0.0, batch_first=True), nn.LayerNorm(16), MaskedMean()), nn.Linear(16, 21))";
}

} // namespace

class TestPyTorchRuns : public QObject {
    Q_OBJECT
private slots:
    void follows_data();
    void follows();
    void judgesInUnits();
    void paddingDecays_data();
    void paddingDecays();
    void masksUnderAutocast_data();
    void masksUnderAutocast();
    void missingFilesAreTold_data();
    void missingFilesAreTold();
    void takesTheDigitsOfTheSample();

private:
    /// Makes a table whose last column has three classes, in an order that does not repeat.
    QString table() const;
    /// Makes a table as Excel writes it in Europe, with an index, words, truth values and a column
    /// too many.
    QString wordTable() const;
    /// Makes an archive that holds the same columns as table(), and names.
    QString archive() const;
    /// Makes a table without names, of prices in the 100,000s, with spaces between them.
    QString prices() const;
    /// Makes an archive of 60 samples with two large numbers as targets, and of a test part.
    QString parts() const;
    /// Small pictures of three classes, of the size in which they are learnt.
    QString pictures() const;
    /// Makes a text with 21 characters, some of which take two bytes.
    QString text() const;
    QString sentences() const; ///< arrays of tokens, with a test part
    QString texts() const;     ///< a table of texts and classes, with semicolons
    QStringList characters() const;

    /// Writes the lane's weights and the run as a program, and returns what a driver prints about
    /// them.
    QString printedBy(const QString& driver, const RunConfig&, Trainer& lane, int64_t steps) const;

    QTemporaryDir m_folder;
};

QString TestPyTorchRuns::table() const {
    std::string text = "a,b,c,kind\n";
    for (int i = 0; i < 60; ++i) {
        const double at = 0.7 * i;
        text += std::to_string(std::sin(at)) + "," + std::to_string(std::cos(1.3 * at)) + "," +
                std::to_string(i % 7) + "," +
                (i % 3 == 0   ? "low"
                 : i % 3 == 1 ? "mid"
                              : "high") +
                "\n";
    }
    const QString path = m_folder.filePath("table.csv");
    writeFileAtomically(path.toStdString(), text);
    return path;
}

QString TestPyTorchRuns::wordTable() const {
    std::string text = "\xEF\xBB\xBF;colour;a;dry;\"d;e,,,,,,,,\";kind;size\r\n";
    for (int i = 0; i < 60; ++i) {
        const std::string number = std::to_string(i), place = std::to_string(i % 7);
        text += number + ";" +
                (i % 3 == 0   ? "red"
                 : i % 3 == 1 ? "blue"
                              : "green") +
                ";" + place + ",5;" + (i % 4 < 2 ? "Yes;" : "no;") + "\"x;\n" + number + "\";" +
                (i % 3 == 0 ? "low;" : "high;") + (i % 5 ? "L" : "NA") + "\r\n;;;;;;\r\n";
    }
    const QString path = m_folder.filePath("words.csv");
    writeFileAtomically(path.toStdString(), text);
    return path;
}

QString TestPyTorchRuns::archive() const {
    std::string x, y;
    for (int i = 0; i < 60; ++i) {
        const auto at = static_cast<float>(0.7 * i);
        x += bytesOfValues<float>({std::sin(at), std::cos(at), static_cast<float>(i % 7) / 7});
        y += bytesOfValues<int64_t>({i % 3});
    }
    const QString path = m_folder.filePath("data.npz");
    writeBytes(path.toStdString(),
               zipBytes({{"names.npy", npy("<U1", "(1,)", bytesOfValues<char32_t>({U'a'}))},
                         {"x.npy", npy("<f4", "(60, 3)", x), true},
                         {"y_train.npy", npy("<i8", "(60,)", y)}}));
    return path;
}

QString TestPyTorchRuns::sentences() const {
    std::string x, y;
    for (int i = 0; i < 70; ++i) {
        for (int at = 0; at < 5; ++at)
            x += bytesOfValues<uint16_t>({static_cast<uint16_t>((3 * i + 7 * at + i * at) % 40)});
        y += bytesOfValues<int64_t>({i % 3});
    }
    const size_t row = 5 * sizeof(uint16_t);
    const QString path = m_folder.filePath("sentences.npz");
    writeBytes(path.toStdString(),
               zipBytes({{"x_train.npy", npy("<u2", "(60, 5)", x.substr(0, 60 * row))},
                         {"y_train.npy", npy("<i8", "(60,)", y.substr(0, 60 * 8))},
                         {"x_test.npy", npy("<u2", "(10, 5)", x.substr(60 * row))},
                         {"y_test.npy", npy("<i8", "(10,)", y.substr(60 * 8))}}));
    return path;
}

QString TestPyTorchRuns::prices() const {
    std::string text; // area, rooms, price
    for (int i = 0; i < 60; ++i)
        text += std::to_string(60 + 7 * (i % 23)) + "  " + std::to_string(i % 5) + " " +
                std::to_string(250000 + 2500 * (i % 23) + 15000 * (i % 5) + 300 * (i % 7)) + "\n";
    const QString path = m_folder.filePath("prices.csv");
    writeFileAtomically(path.toStdString(), text);
    return path;
}

QString TestPyTorchRuns::parts() const {
    std::string x, y;
    for (int i = 0; i < 70; ++i) {
        const auto at = static_cast<float>(0.7 * i);
        x += bytesOfValues<float>({1900 + 9 * std::sin(at), 50 * std::cos(at)});
        y += bytesOfValues<float>({1e5f * std::sin(at), 7 + 0.01f * std::cos(at)});
    }
    constexpr size_t kTrained = 60 * 2 * sizeof(float);
    const QString path = m_folder.filePath("parts.npz");
    writeBytes(path.toStdString(),
               zipBytes({{"x_train.npy", npy("<f4", "(60, 2)", x.substr(0, kTrained))},
                         {"y_train.npy", npy("<f4", "(60, 2)", y.substr(0, kTrained))},
                         {"x_test.npy", npy("<f4", "(10, 2)", x.substr(kTrained))},
                         {"y_test.npy", npy("<f4", "(10, 2)", y.substr(kTrained))}}));
    return path;
}

QString TestPyTorchRuns::pictures() const {
    for (int i = 0; i < 24; ++i) {
        Picture made{8, 8, 3, {}};
        for (int value = 0; value < 3 * 64; ++value)
            made.values.push_back(static_cast<float>((31 * i + 7 * value) % 256) / 255);
        const QString folder = m_folder.filePath("pictures/") + "abc"[i % 3];
        QDir().mkpath(folder);
        writePng(made, (folder + QString("/%1.png").arg(i)).toStdString());
    }
    QDir().mkpath(m_folder.filePath("pictures/__empty")); // is no class
    return m_folder.filePath("pictures");
}

QString TestPyTorchRuns::text() const {
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += i % 3 == 0 ? "a bird sang, " : i % 3 == 1 ? "gr\u00fcn\r\n" : "the \u20ac: lamp ";
    const QString path = m_folder.filePath("text.txt");
    writeFileAtomically(path.toStdString(), text);
    return path;
}

QString TestPyTorchRuns::texts() const {
    const char* parts[] = {"Don't \"\"stop\"\", B\u00e4r!", "the rock'n'roll 3.5",
                           "LONG and longer than twelve words, as this text is: 'cut' it", "the"};
    std::string table = "id;mood;text\n";
    for (int i = 0; i < 48; ++i)
        table += std::to_string(i) + ";" + std::to_string(i % 3 * 5) + ";\"" + parts[i % 4] + " " +
                 parts[(i + i / 4) % 4] + "\"\n";
    table += "48;;no class\n49;5;\n";
    const QString path = m_folder.filePath("texts.csv");
    writeFileAtomically(path.toStdString(), table);
    return path;
}

QStringList TestPyTorchRuns::characters() const {
    return {"data.kind=text", "data.path=" + text(), "data.context=8",      "data.shuffle=false",
            "task.batch=16",  "run.epochs=5",        "data.validation=0.2", "optimizer.lr=3e-4"};
}

QString TestPyTorchRuns::printedBy(const QString& driver, const RunConfig& config, Trainer& lane,
                                   int64_t steps) const {
    return printedByProgram(m_folder, driver, config, lane, steps);
}

void TestPyTorchRuns::follows_data() {
    QTest::addColumn<QStringList>("settings");
    const QString small = "model.width=16";
    const auto row = [&](const char* name, const QStringList& settings) {
        QTest::newRow(name) << QStringList{small, "task.side=16"} + settings;
    };
    row("plain", {});
    row("scaler", {"scaler.init_scale=2^24", "scaler.growth_interval=9"});
    row("static scale", {"lanes.1.scaler.mode=static", "scaler.init_scale=8"});
    row("accumulation", {"gradients.accumulate=3", "scaler.init_scale=2^22"});
    row("clipping", {"gradients.clip=norm", "gradients.clip_limit=0.05"});
    row("largest", {"gradients.clip=norm-inf", "gradients.clip_limit=0.05", "optimizer.lr=3e-4"});
    row("values", {"gradients.clip=value", "gradients.clip_limit=0.01"});
    row("penalty", {"gradients.penalty=0.01", "gradients.penalty_eps=1e-3", "model.norm=none"});
    row("one cycle",
        {"schedule.kind=one-cycle", "schedule.max_lr=0.005", "schedule.cycle_momentum=true"});
    row("cosine", {"schedule.kind=cosine", "schedule.min_lr=1e-5"});
    row("warm-up", {"schedule.kind=cosine", "schedule.min_lr=1e-5", "schedule.warmup_steps=30"});
    row("warm-up, then down to zero, beyond its end",
        {"schedule.kind=linear", "schedule.start_factor=1", "schedule.end_factor=0",
         "schedule.warmup_steps=20", "schedule.total_steps=60"});
    row("milestones after a warm-up", {"schedule.kind=multi-step", "schedule.milestones=20, 60",
                                       "schedule.gamma=0.1", "schedule.warmup_steps=10"});
    row("polynomial, beyond its end",
        {"schedule.kind=polynomial", "schedule.power=0.9", "schedule.total_steps=70"});
    row("warm restarts", {"schedule.kind=warm-restarts", "schedule.period=15",
                          "schedule.period_factor=2", "schedule.min_lr=1e-5"});
    row("waits", {"schedule.kind=exponential", "schedule.gamma=0.97", "scaler.hold_schedule=true",
                  "scaler.init_scale=2^24"});
    row("sgd", {"optimizer.kind=sgd", "optimizer.lr=0.01", "optimizer.dampening=0.1"});
    // With a small eps, a centred variance near zero would magnify the differences of sums in
    // another order.
    row("rmsprop", {"optimizer.kind=rmsprop", "optimizer.lr=1e-4", "optimizer.centered=true",
                    "optimizer.eps=1e-2"});
    row("adamw", {"optimizer.kind=adamw", "optimizer.weight_decay=0.1", "optimizer.amsgrad=true"});
    row("two networks",
        {"model.networks=2", "optimizer.second_kind=sgd", "optimizer.second_lr=1e-4"});
    row("huber", {"task.loss=huber", "task.loss_delta=0.3"});
    row("images", {"model.layers=nn.Sequential(first=nn.Conv2d(2, 8, 3, padding=1), "
                   "rest=nn.Sequential(nn.BatchNorm2d(8), Residual(nn.Conv2d(8, 8, 1), "
                   "nn.Sine()), nn.GroupNorm(2, 8), nn.Conv2d(8, 1, 1)))"});
    row("transposed",
        {"model.layers=nn.Sequential(nn.Conv2d(2, 8, 4, stride=2, padding=1), nn.ReLU(), "
         "nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(), "
         "nn.ConvTranspose2d(16, 8, 3, 2, padding=2, output_padding=1, groups=4, dilation=2), "
         "nn.ReLU(), nn.ConvTranspose2d(8, 1, 4, 2, 1))"});
    row("instance norms",
        {"model.layers=nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.InstanceNorm2d(8), "
         "nn.ReLU(), nn.Conv2d(8, 8, 3, 1, 2, 2, 8), nn.InstanceNorm2d(8, affine=True), nn.Tanh(), "
         "nn.Conv2d(8, 1, 1))"});
    row("sequences",
        {"model.layers=nn.Sequential(nn.Unflatten(1, (1, 2)), nn.Conv1d(1, 8, 2, padding=1), "
         "nn.InstanceNorm1d(8, affine=True), nn.ReLU(), nn.Conv1d(8, 4, 3, 2, 1, groups=2), "
         "nn.Flatten(), nn.Linear(8, 1))"});
    row("sequences in pools",
        {"model.layers=nn.Sequential(nn.Unflatten(1, (1, 2)), nn.Conv1d(1, 8, 2, padding=7), "
         "nn.ReLU(), nn.MaxPool1d(3, stride=2, padding=1), nn.Conv1d(8, 4, 1), nn.AvgPool1d(2), "
         "nn.AdaptiveAvgPool1d(2), nn.Flatten(), nn.Linear(8, 1))"});
    row("siren", {"data.kind=image", "model.layers=nn.Sequential(SineLayer(2, 16, is_first=True), "
                                     "SineLayer(16, 16), SineLayer(16, 3, is_last=True))"});
    row("fourier",
        {"data.kind=image", "model.layers=nn.Sequential(FourierFeatures(2, 8, 4.), "
                            "nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3), nn.Sigmoid())"});
    const QString generator = "model.layers=nn.Sequential(nn.Linear(2, 16), nn.ReLU(), "
                              "nn.Linear(16, 3), nn.Sigmoid())";
    const QStringList waits{
        "data.kind=image",         "model.adversary=gan",      generator,
        "model.critic_steps=3",    "optimizer.second_lr=3e-4", "scaler.init_scale=2^24",
        "scaler.growth_interval=9"};
    row("critic steps", waits);
    row("critic steps, accumulated", waits + QStringList{"gradients.accumulate=2"});
    row("gan", {"data.kind=image", "model.adversary=gan", generator, "optimizer.second_lr=3e-4"});
    // with a linear critic: its slope is taken at a random place, but is the same everywhere
    row("wgan-gp",
        {"data.kind=image", "model.adversary=wgan-gp", generator, "model.critic=nn.Linear(3, 1)",
         "optimizer.second_kind=adam", "optimizer.second_lr=3e-3", "gradients.critic_penalty=3"});
    for (const char* points : {"moons", "spirals", "circles"}) // without what is drawn at random
        row(points, {QStringLiteral("data.kind=") + points, "task.noise=0", "task.samples=61",
                     "task.batch=20", "data.validation=0", "data.shuffle=false", "model.norm=none",
                     "model.activation=tanh"});
    row("pictures", {"data.kind=pictures", "data.path=" + pictures(), "data.validation=0",
                     "data.shuffle=false", "data.side=8", "task.batch=16",
                     "task.loss=cross-entropy", "run.epochs=50", "model.norm=none"});
    row("encoder",
        characters() + QStringList{"model.layers=nn.Sequential(nn.Embedding(30, 16), "
                                   "PositionalEmbedding(8, 16), nn.TransformerEncoderLayer(16, 4, "
                                   "dim_feedforward=24, dropout=0.0, batch_first=True), "
                                   "nn.Flatten(), nn.Linear(128, 21))"});
    row("parts of an encoder",
        characters() +
            QStringList{"model.layers=nn.Sequential(nn.Embedding(30, 16), "
                        "nn.TransformerEncoderLayer(16, 4, 24, 0.0, batch_first=True), "
                        "nn.Flatten(), nn.Linear(128, 21))",
                        "lanes.1.precision.layers=TransformerEncoderLayer 1.linear1=float32, "
                        "TransformerEncoderLayer 1.norm2=float32"});
    row("causal",
        characters() +
            QStringList{"model.layers=nn.Sequential(nn.Embedding(30, 16, padding_idx=-28), "
                        "PositionalEmbedding(8, 16), CausalTransformerEncoderLayer(16, 4, "
                        "24, 0.0, batch_first=True), CausalTransformerEncoderLayer(16, 2, "
                        "24, 0.0, 'gelu', 1e-3, True, True), nn.Flatten(), "
                        "nn.Linear(128, 21))"});
    row("padded", characters() + QStringList{"model.layers=" + padded()}); // by a character
    const QString embedded = "model.layers=nn.Sequential(nn.Embedding(21, 16), ";
    const QString positions = embedded + "PositionalEmbedding(8, 16), ";
    for (const char* tokens : {"words", "characters"})
        row(qPrintable(QStringLiteral("texts of %1").arg(tokens)),
            {"data.kind=text-classes", "data.path=" + texts(), "data.context=12",
             QStringLiteral("data.tokens=") + tokens, "data.shuffle=false", "task.batch=16",
             "run.epochs=40", "data.validation=0", "optimizer.lr=3e-4",
             "model.layers=PaddedSequential(nn.Embedding(40, 16, padding_idx=0), "
             "PositionalEmbedding(12, 16), nn.TransformerEncoderLayer(16, 4, dim_feedforward=24, "
             "dropout=0.0, batch_first=True), MaskedMean(), nn.Linear(16, 3))"});
    std::string layers = presetNamed("languages").config.model.layers; // dropout would differ
    layers.replace(layers.find("dropout=0.1"), 11, "dropout=0.0");
    row("languages",
        {"data.kind=text-classes", "data.tokens=characters", "data.context=12",
         "data.path=" HALFSCOPE_SOURCE_DIR "/resources/data/words/words.csv", "data.shuffle=false",
         "data.validation=0", "run.epochs=3", QString::fromStdString("model.layers=" + layers)});
    row("every character",
        characters() +
            QStringList{"data.predict=every", "run.epochs=30", "task.label_smoothing=0.1",
                        positions + "CausalTransformerEncoderLayer(16, 2, 24, 0.0, "
                                    "batch_first=True, norm_first=True), nn.Linear(16, 21))"});
    const RunConfig lm = presetNamed("transformer-lm").config;
    for (const char* context : {"16", "64"}) // 64 is the preset's own
        row(qPrintable(QStringLiteral("transformer-lm, %1").arg(context)),
            {"data.kind=text", "data.path=" + QStringLiteral(HALFSCOPE_SOURCE_DIR "/LICENSE"),
             "data.predict=every", QStringLiteral("data.context=") + context, "task.batch=2",
             "data.shuffle=false", "run.epochs=1",
             QStringLiteral("optimizer.lr=%1").arg(lm.optimizer.lr),
             "model.layers=" + QString::fromStdString(lm.model.layers)});
    row("norms first",
        characters() +
            QStringList{"model.layers=nn.Sequential(nn.Embedding(21, 16), "
                        "PositionalEmbedding(10, 16), nn.TransformerEncoderLayer(16, 2, 24, 0.0, "
                        "'gelu', 1e-3, True, True, False), nn.LayerNorm(16), nn.Flatten(), "
                        "nn.Linear(128, 21))"});
    row("table",
        {"data.kind=csv", "data.path=" + table(), "data.validation=0", "data.shuffle=false",
         "task.batch=16", "task.loss=cross-entropy", "task.label_smoothing=0.1", "run.epochs=25",
         "scaler.init_scale=1024"}); // the usual one skips where gradients are close to 1
    row("archive",
        {"data.kind=arrays", "data.x=" + archive(), "data.validation=0", "data.shuffle=false",
         "task.batch=16", "task.loss=cross-entropy", "run.epochs=25", "scaler.init_scale=1024"});
    row("array of indices",
        {"data.kind=arrays", "data.x=" + sentences(), "data.test=true", "data.shuffle=false",
         "task.batch=16", "task.loss=cross-entropy", "run.epochs=25", "scaler.init_scale=1024",
         "model.layers=nn.Sequential(nn.Embedding(40, 8), nn.Flatten(), nn.Linear(40, 16), "
         "nn.Tanh(), nn.Linear(16, 3))"});
    row("standardised table",
        {"data.kind=csv", "data.path=" + prices(), "data.header=false", "data.validation=0",
         "data.shuffle=false", "data.standardise_target=true", "task.batch=16", "run.epochs=25",
         "scaler.init_scale=1024"});
    row("test arrays",
        {"data.kind=arrays", "data.x=" + parts(), "data.test=true", "data.shuffle=false",
         "data.standardise_x=true", "data.standardise_target=true", "task.batch=16",
         "run.epochs=25", "scaler.init_scale=1024"});
    // an epoch has four batches, of the 48 lines without a gap and of all 60 lines
    for (const auto& [missing, batch] : {std::pair{"drop", "12"}, {"mean", "16"}})
        row(missing, {"data.kind=csv", "data.path=" + wordTable(), "data.target=kind",
                      "data.drop=\"d;e,,,,,,,,\"", QString("data.missing=") + missing,
                      "data.validation=0", "data.shuffle=false", QString("task.batch=") + batch,
                      "task.loss=cross-entropy", "run.epochs=25"});
}

/// The loss agrees to 1e-4 in float32, where sums have another order; scale and skips agree to the
/// last bit.
void TestPyTorchRuns::follows() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QStringList, settings);
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32,torch-cpu-fp16");
    config.steps = kSteps;
    for (const QString& setting : settings)
        applySetting(config, setting.toStdString());
    Experiment experiment(config);
    const QString printed = printedBy(kDriver, config, experiment.lane(0), kSteps);
    const auto ours = train(experiment);
    const QStringList lines = printed.split('\n');
    QVERIFY2(lines.size() == 2 * kSteps, qPrintable(printed));
    for (int lane = 0; lane < 2; ++lane) {
        for (int step = 0; step < kSteps; ++step) {
            const StepRecord& record = ours[static_cast<size_t>(lane)][static_cast<size_t>(step)];
            const QStringList theirs = lines[lane * kSteps + step].split(' ');
            const std::string where =
                "lane " + std::to_string(lane) + ", step " + std::to_string(step + 1) + ": " +
                theirs.join(' ').toStdString() + " against " + std::to_string(record.loss);
            const double loss = theirs[0].toDouble();
            const double bound = lane == 0 ? 1e-4 : 5e-2;
            QVERIFY2(std::abs(record.loss - loss) <= bound * std::max(loss, 1.0), where.c_str());
            QVERIFY2(theirs[1].toDouble() == double{record.scale}, where.c_str());
            QVERIFY2((theirs[2] == "1") == ((record.flags & kSkipped) != 0), where.c_str());
        }
    }
}

/// The error of a program is in the units of the data, as ours is, and measured on the test part.
void TestPyTorchRuns::judgesInUnits() {
    if (lacksPython()) QSKIP(lacksPython());
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32");
    constexpr int64_t kFew = 10; // many would magnify the differences of sums in another order
    config.steps = kFew;
    for (const QString& setting :
         {QString("data.kind=arrays"), "data.x=" + parts(), QString("data.test=true"),
          QString("data.standardise_x=true"), QString("data.standardise_target=true"),
          QString("data.shuffle=false"), QString("task.batch=60"), QString("model.width=16")})
        applySetting(config, setting.toStdString());
    Experiment experiment(config);
    const QString printed = printedBy(kJudgingDriver, config, experiment.lane(0), kFew);
    const auto ours = train(experiment);
    const Validation found = ours[0].back().validation.value();
    const QStringList words = printed.split(' ');
    QVERIFY2(words.size() > 6, qPrintable(printed));
    QVERIFY2(printed.endsWith(" in the units of the data"), qPrintable(printed));
    const double loss = words[2].chopped(1).toDouble(), error = words[6].toDouble();
    QVERIFY2(std::abs(found.loss - loss) <= 1e-3 * loss, qPrintable(printed));
    QVERIFY2(std::abs(found.error.value() - error) <= 1e-3 * error, qPrintable(printed));
    QVERIFY(error > 1000); // not in standard deviations
}

void TestPyTorchRuns::paddingDecays_data() {
    QTest::addColumn<QStringList>("settings");
    const auto row = [](const char* name, const QStringList& settings) {
        QTest::newRow(name) << settings;
    };
    row("sgd", {"optimizer.kind=sgd", "optimizer.momentum=0.9", "optimizer.weight_decay=0.1"});
    row("adam", {"optimizer.kind=adam", "optimizer.weight_decay=0.1"});
    row("adamw", {"optimizer.kind=adamw", "optimizer.weight_decay=0.1"});
    row("rmsprop", {"optimizer.kind=rmsprop", "optimizer.weight_decay=0.1"});
    row("no decay", {"optimizer.kind=adam"});
}

/// The row of padding has a gradient of zero, not none, so that weight decay acts on it: as in
/// PyTorch, up to a few roundings for each step.
void TestPyTorchRuns::paddingDecays() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QStringList, settings);
    constexpr int64_t kFew = 20, kWidth = 16;
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32");
    for (const QString& setting :
         characters() + settings +
             QStringList{"optimizer.lr=1e-2",
                         "model.layers=nn.Sequential(nn.Embedding(21, 16, padding_idx=0), "
                         "nn.Flatten(), nn.Linear(128, 21))"})
        applySetting(config, setting.toStdString());
    Experiment experiment(config);
    Weights weights = experiment.lane(0).weights();
    std::vector<float> row(kWidth);
    for (size_t i = 0; i < row.size(); ++i)
        row[i] = 0.3f * static_cast<float>(i) - 2;
    std::copy(row.begin(), row.end(), weights["0.weight"].begin());
    experiment.lane(0).setWeights(weights);
    const QStringList theirs =
        printedBy(kPaddingDriver, config, experiment.lane(0), kFew).split(' ');
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (experiment.step() < kFew)
        experiment.advance(records, events);
    const std::vector<float> ours = experiment.lane(0).weights()["0.weight"];
    QVERIFY2(theirs.size() == kWidth, qPrintable(theirs.join(' ')));
    const bool decays = settings.size() > 1;
    for (size_t i = 0; i < row.size(); ++i) {
        const double wanted = theirs[static_cast<qsizetype>(i)].toDouble();
        const double bound = kFew * 0x1p-23 * std::abs(double{row[i]});
        const double off = std::abs(double{ours[i]} - wanted);
        QVERIFY2(off <= bound, qPrintable(QString("%1 is %2 instead of %3, %4 of its bound")
                                              .arg(i)
                                              .arg(double{ours[i]})
                                              .arg(wanted)
                                              .arg(off / bound)));
        QCOMPARE(ours[i] != row[i], decays);
    }
}

void TestPyTorchRuns::masksUnderAutocast_data() {
    QTest::addColumn<QString>("model");
    QTest::newRow("causal") << "nn.Sequential(nn.Embedding(21, 16), nn.Linear(16, 16), "
                               "CausalTransformerEncoderLayer(16, 4, 24, 0.0, batch_first=True), "
                               "nn.Flatten(), nn.Linear(128, 21))";
    QTest::newRow("padding") << padded();
}
/// From the same weights the first losses differ by roundings alone; attention that sees what is
/// hidden would give another loss.
void TestPyTorchRuns::masksUnderAutocast() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(QString, model);
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32,torch-cpu-fp16,torch-cpu-bf16");
    for (const QString& setting : characters() + QStringList{"model.layers=" + model})
        applySetting(config, setting.toStdString());
    Experiment experiment(config);
    const QStringList theirs = printedBy(kDriver, config, experiment.lane(0), 1).split('\n');
    std::vector<StepRecord> ours;
    std::vector<Event> events;
    experiment.advance(ours, events);
    QVERIFY2(theirs.size() == 3, qPrintable(theirs.join(' ')));
    for (const auto& [lane, unit] : {std::pair{0, 0x1p-24}, {1, 0x1p-11}, {2, 0x1p-8}}) {
        const double loss = theirs[lane].section(' ', 0, 0).toDouble();
        const double off = std::abs(double{ours[static_cast<size_t>(lane)].loss} - loss) / loss;
        qInfo("lane %d: %.2g units apart", lane, off / unit);
        QVERIFY(off <= 4 * unit);
    }
}

void TestPyTorchRuns::missingFilesAreTold_data() {
    QTest::addColumn<QByteArray>("said");
    QTest::newRow("mnist-mlp") << QByteArray("This program needs MNIST");
    QTest::newRow("gan") << QByteArray("This program needs MNIST");
    QTest::newRow("transformer-tiny") << QByteArray("There is no file ");
    QTest::newRow("languages") << QByteArray("There is no file ");
}

/// A stranger pasted the program into an empty folder.
void TestPyTorchRuns::missingFilesAreTold() {
    QFETCH(const QByteArray, said);
    if (lacksPython()) QSKIP(lacksPython());
    const QTemporaryDir folder;
    const QString program = folder.filePath("program.py");
    writeFileAtomically(program.toStdString(),
                        "import sys\nsys.modules[\"torchvision\"] = None  # is not installed\n" +
                            pytorchScript(presetNamed(QTest::currentDataTag()).config));
    QProcess run;
    run.setWorkingDirectory(folder.path());
    run.start(qEnvironmentVariable("HALFSCOPE_PYTHON"), {program});
    QVERIFY(run.waitForFinished(-1));
    const QByteArray error = run.readAllStandardError();
    QCOMPARE(run.exitCode(), 1);
    QVERIFY2(error.startsWith(said) && !error.contains("Traceback"), error.constData());
}

/// Of MNIST's files, the program takes the digits that Halfscope trains on. Here each class has two
/// more behind them.
void TestPyTorchRuns::takesTheDigitsOfTheSample() {
    if (lacksPython()) QSKIP(lacksPython());
    const QTemporaryDir folder;
    QDir().mkpath(folder.filePath("MNIST/raw"));
    const std::string program = folder.filePath("program.py").toStdString();
    writeFileAtomically(program, pytorchScript(presetNamed("mnist-mlp").config));
    for (const QString name : {"train", "t10k"}) {
        constexpr int kSide = 28;
        const int classes = 10, samples = ((name == "train" ? 200 : 50) + 2) * classes;
        const auto word = [](int value) {
            return std::string{0, 0, static_cast<char>(value >> 8), static_cast<char>(value)};
        };
        std::string labels = std::string("\0\0\x08\x01", 4) + word(samples);
        std::string images =
            std::string("\0\0\x08\x03", 4) + word(samples) + word(kSide) + word(kSide);
        for (int i = 0; i < samples; ++i) {
            labels += static_cast<char>(i % classes);
            images += std::string(kSide * kSide, static_cast<char>(i / classes));
        }
        const QString raw = folder.filePath("MNIST/raw/" + name);
        writeFileAtomically((raw + "-labels-idx1-ubyte").toStdString(), labels);
        writeFileAtomically((raw + "-images-idx3-ubyte").toStdString(), images);
    }
    const QString printed = python(R"(
import importlib.util, os, sys
os.chdir(os.path.dirname(sys.argv[1]))
spec = importlib.util.spec_from_file_location("program", sys.argv[1])
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)
for x, target in program.samples():
    print(len(x), *target.bincount().unique().tolist(), round(255 * x.max().item()))
)",
                                   {QString::fromStdString(program)});
    QCOMPARE(printed.simplified(), QString("2000 200 199 500 50 49"));
}

} // namespace tst_pytorch_runs

QTEST_GUILESS_MAIN(tst_pytorch_runs::TestPyTorchRuns)
#include "tst_pytorch_runs.moc"
