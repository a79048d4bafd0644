// The programs as which presets are copied, run by the real PyTorch from our weights on the batches
// that our steps take: their float32 lanes follow ours, their loss scalers move alike, and they
// judge as we do. ./dev clients runs this.
#include "engine/data/dataset.h"
#include "engine/io/safetensors.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/train/step_samples.h"
#include "tests/support/pytorch_program.h"

#include <QRegularExpression>
#include <QTest>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace tst_pytorch_samples {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int64_t kSteps = 100;
constexpr int64_t kFew = 20; // in which sums in another order make little difference in float16

/// Prints a line for each step of each lane: loss, scale, skipped and, where a critic judges, the
/// generator's loss. The program draws no samples: for some, it would look
/// for MNIST.
const QString kFedDriver = kProgram + R"(
feed = program.fed(4)
for lane, steps in zip(program.LANES.values(), (sys.argv[3], sys.argv[5])):
    for loss, scale, skipped, *more in program.train(lane, None, int(steps), weights, feed=feed)[1]:
        print(repr(loss), repr(scale), int(skipped), *map(repr, more))
)";

/// Trains the first lane and prints its losses, then those of trainings like it, whose first
/// weights and samples are the next floats up or down, as if they had been rounded in another way.
const QString kShakenDriver = kProgram + R"(
import torch
feed = program.fed(4)
lane = next(iter(program.LANES.values()))

def shaken(each):
    if not each.is_floating_point():
        return each
    ends = torch.full_like(each, torch.inf)
    return torch.nextafter(each, torch.where(torch.rand_like(each) < 0.5, ends, -ends))

for seed in range(int(sys.argv[5]) + 1):
    torch.manual_seed(seed)
    start, given = weights, feed
    if seed:
        start = {name: shaken(each) for name, each in weights.items()}
        given = {**feed, "x": shaken(feed["x"])}
    for loss, *_ in program.train(lane, None, int(sys.argv[3]), start, feed=given)[1]:
        print(repr(loss))
)";
constexpr int kShaken = 3;

/// Runs the whole program, which cannot draw samples.
const QString kJudgingDriver = kProgram + R"(
del program.samples
sys.argv[1:] = [sys.argv[2], sys.argv[4]]
program.main()
)";

bool convolves(const RunConfig& config) {
    return config.model.layers.find("Conv") != std::string::npos;
}

/// Sets the share of every dropout to 0: PyTorch drops other values than we do.
void dropNothing(std::string& layers) {
    for (const std::string_view word : {"Dropout(0.25", "dropout=0.1"})
        for (size_t at; (at = layers.find(word)) != std::string::npos;)
            layers.replace(at, word.size(), std::string(word.substr(0, word.find('0'))) + ".0");
}

/// Whether a preset magnifies roundings at its own rate: spirals those of float16 alone.
bool magnifies(const RunConfig& config) {
    return convolves(config) || config.task.kind == TaskKind::Spirals ||
           config.gradients.clip == ClipKind::NormInf;
}

/// Returns a preset, shortened, as two lanes that PyTorch runs on a CPU.
RunConfig shortened(const QString& preset) {
    RunConfig config = presetNamed(preset.toStdString()).config;
    const ScalerConfig scaler = config.lanes.back().scaler;
    config.lanes = parseLanes("fp32,torch-cpu-fp16");
    config.lanes[1].scaler = scaler;
    config.device = "cpu";
    config.epochs = 0;
    config.steps = kSteps;
    dropNothing(config.model.layers);
    return config;
}

/// Returns such a preset with a rate at which roundings stay small.
RunConfig tamed(const QString& preset) {
    RunConfig config = shortened(preset);
    if (!magnifies(config)) return config;
    config.optimizer.lr /= 100;
    config.second.lr /= 100;
    config.optimizer.eps = 1e-3;
    return config;
}

/// What the last column of a table holds.
enum class Column { Words, Sides, Numbers };

/// Returns 300 lines of a table: three columns of numbers, then classes that nothing tells, as
/// words or as 0 and 1, or numbers far from these.
std::string tableOf(Column column) {
    std::string text = "a,b,c,d\n";
    for (int i = 0; i < 300; ++i) {
        text += std::to_string(std::sin(0.7 * i)) + "," + std::to_string(i % 7) + "," +
                std::to_string(std::cos(1.3 * i * i)) + ",";
        const bool positive = std::sin(2.9 * i * i) > 0;
        text += column == Column::Words ? (positive ? "yes" : "no")
                : column == Column::Sides
                    ? (positive ? "1" : "0")
                    : std::to_string(1000 + 50 * std::cos(0.3 * i) + 10 * (i % 7));
        text += "\n";
    }
    return text;
}

/// Returns 60 steps on such a table; SGD does not divide a gradient by its size, so that roundings
/// stay small. Half of what chance holds back is the test.
RunConfig onTable(const std::string& path, Column column) {
    const char* const loss = column == Column::Words   ? "task.loss=cross-entropy"
                             : column == Column::Sides ? "task.loss=bce-with-logits"
                                                       : "task.loss=mse";
    RunConfig config = presetNamed("checkerboard").config;
    config.lanes = parseLanes("fp32");
    config.device = "cpu";
    config.epochs = 0;
    config.steps = 60;
    for (const std::string& setting :
         {std::string("data.kind=csv"), "data.path=" + path, std::string(loss),
          std::string("task.batch=64"), std::string("model.norm=none"),
          std::string("model.width=16"), std::string("optimizer.kind=sgd"),
          std::string("optimizer.lr=0.05"), std::string("data.validation=0.2"),
          std::string("data.test_share=0.5")})
        applySetting(config, setting);
    if (column == Column::Numbers) applySetting(config, "data.standardise_target=true");
    return config;
}

/// Returns the path of a new file with what the steps take.
QString writtenSamples(const QTemporaryDir& folder, const RunConfig& config) {
    const QString path = folder.filePath("samples.safetensors");
    writeStepSamples(path.toStdString(), config, *makeTask(config), "test");
    return path;
}

} // namespace

class TestPyTorchSamples : public QObject {
    Q_OBJECT
private slots:
    void follows_data();
    void follows();
    void followsAtItsRate_data();
    void followsAtItsRate();
    void followsClassWeights();
    void holdsWhatStepsTake_data();
    void holdsWhatStepsTake();
    void judgesAsWeDo_data();
    void judgesAsWeDo();
    void holdsWhatIsJudged();
    void fits();

private:
    RunConfig table(Column column) const {
        const std::string path = m_folder.filePath("table.csv").toStdString();
        writeFileAtomically(path, tableOf(column));
        return onTable(path, column);
    }
    void compare(const RunConfig&);
    QTemporaryDir m_folder;
};

/// Every preset whose samples are drawn, or come in an order that is, and one whose steps each see
/// all samples.
void TestPyTorchSamples::follows_data() {
    QTest::addColumn<QString>("preset");
    for (const Preset& preset : presets())
        if (!infoOf(preset.config.task.kind).wholeSet || preset.name == "siren")
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
}

void TestPyTorchSamples::follows() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QString, preset);
    compare(tamed(preset));
}

void TestPyTorchSamples::followsAtItsRate_data() {
    QTest::addColumn<QString>("preset");
    for (const Preset& preset : presets()) // the others have the same FP32 lanes, or are small
        if (std::string_view(preset.group.text()) == "Examples" && preset.config.task.side < 512)
            QTest::newRow(preset.name.c_str()) << QString::fromStdString(preset.name);
}

/// Where a training magnifies roundings, two of PyTorch's own part after some steps. Ours stays as
/// close to PyTorch as PyTorch stays to itself, within a factor that covers the few samples of that
/// distance; until they part, within 1e-4.
void TestPyTorchSamples::followsAtItsRate() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const QString, preset);
    RunConfig config = shortened(preset);
    config.lanes.resize(1);
    Experiment experiment(config);
    const QStringList lines =
        printedByProgram(m_folder, kShakenDriver, config, experiment.lane(0), kSteps,
                         {writtenSamples(m_folder, config), QString::number(kShaken)})
            .split('\n');
    QVERIFY2(lines.size() == (1 + kShaken) * kSteps, qPrintable(lines.join('\n')));
    const auto ours = train(experiment).front();
    double parted = 0; // PyTorch's trainings from each other, so far
    int together = 0;  // steps
    for (int step = 0; step < kSteps; ++step) {
        const double theirs = lines[step].toDouble(), size = std::max(std::abs(theirs), 1.0);
        for (int other = 1; other <= kShaken; ++other)
            parted =
                std::max(parted, std::abs(lines[other * kSteps + step].toDouble() - theirs) / size);
        if (parted < 1e-4) together = step + 1;
        const double loss = double{ours[static_cast<size_t>(step)].loss};
        const double away = std::abs(loss - theirs) / size;
        QVERIFY2(away <= 1e-4 + 10 * parted,
                 qPrintable(QString("step %1: %2 against %3; PyTorch's are %4 apart")
                                .arg(step + 1)
                                .arg(loss)
                                .arg(theirs)
                                .arg(parted)));
    }
    QVERIFY2(together >= 5, qPrintable(QString::number(together))); // else it says little
}

/// They are counted among the samples to train on, which are others in PyTorch.
void TestPyTorchSamples::followsClassWeights() {
    if (lacksPython()) QSKIP(lacksPython());
    RunConfig config = shortened("moons");
    config.task.validation = 0.37;
    config.task.loss.classWeights = "balanced";
    compare(config);
}

/// Losses, of a generator too, agree to 1e-4 in float32, where sums have another order; scale and
/// skips agree to the last bit.
void TestPyTorchSamples::compare(const RunConfig& config) {
    Experiment experiment(config);
    // PyTorch has no fast convolutions in float16 for CPUs
    const int64_t steps[] = {kSteps, convolves(config) ? kFew : kSteps};
    const QStringList lines =
        printedByProgram(m_folder, kFedDriver, config, experiment.lane(0), steps[0],
                         {writtenSamples(m_folder, config), QString::number(steps[1])})
            .split('\n');
    QVERIFY2(lines.size() == steps[0] + steps[1], qPrintable(lines.join('\n')));
    const auto ours = train(experiment);
    for (int lane = 0; lane < 2; ++lane) {
        for (int step = 0; step < steps[lane]; ++step) {
            const StepRecord& record = ours[static_cast<size_t>(lane)][static_cast<size_t>(step)];
            const QStringList theirs = lines[lane * kSteps + step].split(' ');
            const std::string where =
                "lane " + std::to_string(lane) + ", step " + std::to_string(step + 1) + ": " +
                theirs.join(' ').toStdString() + " against " + std::to_string(record.loss) + ", " +
                std::to_string(record.scale);
            const double loss = theirs[0].toDouble();
            if (lane == 0 || step < kFew) {
                const double bound = lane == 0 ? 1e-4 : 5e-2;
                QVERIFY2(std::abs(record.loss - loss) <= bound * std::max(std::abs(loss), 1.0),
                         where.c_str());
            }
            QCOMPARE(theirs.size(), qsizetype{record.generatorLoss ? 4 : 3});
            if (record.generatorLoss && (lane == 0 || step < kFew)) {
                const double other = theirs[3].toDouble();
                const double away = std::abs(double{*record.generatorLoss} - other);
                QVERIFY2(away <= (lane == 0 ? 1e-4 : 5e-2) * std::max(std::abs(other), 1.0),
                         where.c_str());
            }
            QVERIFY2(theirs[1].toDouble() == double{record.scale}, where.c_str());
            QVERIFY2((theirs[2] == "1") == ((record.flags & kSkipped) != 0), where.c_str());
        }
    }
}

void TestPyTorchSamples::holdsWhatStepsTake_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<int>("written"); // batches
    QTest::newRow("numbers, smaller last batches")
        << "regression" << QStringList{"task.samples=150"} << int(kSteps);
    QTest::newRow("classes") << "moons" << QStringList{} << int(kSteps);
    QTest::newRow("indices") << "languages" << QStringList{} << int(kSteps);
    QTest::newRow("pictures that change")
        << "mnist-cnn" << QStringList{"data.flip=true", "data.crop=2"} << int(kSteps);
    QTest::newRow("the same batch in every step") << "line-fit" << QStringList{} << 1;
}

/// Each step's batch is in the file, bit for bit.
void TestPyTorchSamples::holdsWhatStepsTake() {
    QFETCH(const QString, preset);
    QFETCH(const QStringList, settings);
    QFETCH(const int, written);
    RunConfig config = shortened(preset);
    for (const QString& setting : settings)
        applySetting(config, setting.toStdString());
    const std::unique_ptr<Task> task = makeTask(config);
    const std::string path = writtenSamples(m_folder, config).toStdString();
    const SafetensorsInfo file = safetensorsInfo(path);
    const auto read = [&](const char* name) { return readSafetensor(path, *file.find(name)); };
    const Array x = read("x"), target = read("target"), rows = read("rows"), batch = read("batch");
    QCOMPARE(rows.info.elements(), int64_t{written});
    QCOMPARE(batch.info.elements(), kSteps);
    std::vector<int64_t> firsts{0}; // samples before each batch
    for (int64_t i = 0; i < written; ++i)
        firsts.push_back(firsts.back() + static_cast<int64_t>(rows.at(i)));
    QCOMPARE(x.info.shape[0], firsts.back());
    QCOMPARE(target.info.shape[0], firsts.back());
    for (int64_t step = 1; step <= kSteps; ++step) {
        const auto taken = task->load(step);
        const int64_t first = firsts[static_cast<size_t>(batch.at(step - 1))];
        for (const size_t tensor : {kX, kTarget}) {
            const Array& stored = tensor == kX ? x : target;
            const TypedBytes& values = taken->tensors[tensor];
            const int64_t size = values.shape.elements() / taken->rows();
            for (int64_t i = 0; i < values.shape.elements(); ++i) {
                const auto at = static_cast<size_t>(i);
                const double wanted = values.dtype == DType::F32
                                          ? double{taken->floats(tensor)[at]}
                                          : static_cast<double>(taken->labels(tensor)[at]);
                if (stored.at(first * size + i) != wanted)
                    QFAIL(qPrintable(QString("step %1, tensor %2").arg(step).arg(tensor)));
            }
        }
    }
}

void TestPyTorchSamples::judgesAsWeDo_data() {
    QTest::addColumn<Column>("column");
    QTest::addColumn<QStringList>("settings");
    // lanes learn them by heart, so those that are trained on have a far smaller loss
    QTest::newRow("labels at random") << Column::Words << QStringList{};
    QTest::newRow("two classes as one output") << Column::Sides << QStringList{};
    QTest::newRow("a rate that follows the validation")
        << Column::Words
        << QStringList{"schedule.kind=plateau", "schedule.gamma=0.5", "schedule.patience=0",
                       "validation.epochs=1", "task.class_weights=balanced"};
    QTest::newRow("numbers with a unit") << Column::Numbers << QStringList{};
}

/// On its own samples the program would be trained on some of those that it is judged on. Losses
/// agree to 1e-4, as in compare(), and so do errors relative to their size.
void TestPyTorchSamples::judgesAsWeDo() {
    if (lacksPython()) QSKIP(lacksPython());
    QFETCH(const Column, column);
    QFETCH(const QStringList, settings);
    RunConfig config = table(column);
    for (const QString& setting : settings)
        applySetting(config, setting.toStdString());
    Experiment experiment(config);
    const QString printed = printedByProgram(m_folder, kJudgingDriver, config, experiment.lane(0),
                                             0, {writtenSamples(m_folder, config)});
    const StepRecord ours = train(experiment).front().back();
    QVERIFY(ours.validation && ours.test);
    const auto agrees = [&printed](const char* words, double wanted) {
        bool number = false;
        const QString text = printed.section(words, 1).section(QRegularExpression("[ ,\n]"), 0, 0);
        const double theirs = text.toDouble(&number);
        return number && std::abs(theirs - wanted) <= 1e-4 * std::max(wanted, 1.0);
    };
    QVERIFY2(agrees("fp32: loss ", double{ours.loss}), qUtf8Printable(printed));
    QVERIFY2(agrees("fp32: validation loss ", ours.validation->loss), qUtf8Printable(printed));
    QVERIFY2(agrees("fp32: test loss ", ours.test->loss), qUtf8Printable(printed));
    for (const auto& [words, found] :
         {std::pair("validation", ours.validation), {"test", ours.test}}) {
        QVERIFY(found->accuracy.has_value() == (column != Column::Numbers));
        const QString wanted =
            QString(", accuracy %1 %").arg(100 * found->accuracy.value_or(0), 0, 'f', 2);
        const QString line =
            printed.section(QString("fp32: %1 loss ").arg(words), 1).section('\n', 0, 0);
        QVERIFY2(line.contains(found->accuracy ? wanted : QString("mean absolute error")),
                 qUtf8Printable(printed));
    }
    if (column == Column::Numbers)
        QVERIFY2(agrees("mean absolute error ", ours.validation->error.value()),
                 qUtf8Printable(printed));
}

/// What the run validates on and keeps for the test is in the file, bit for bit.
void TestPyTorchSamples::holdsWhatIsJudged() {
    RunConfig config = table(Column::Numbers);
    const std::unique_ptr<Task> task = makeTask(config);
    const std::string path = writtenSamples(m_folder, config).toStdString();
    const SafetensorsInfo file = safetensorsInfo(path);
    const auto read = [&](const std::string& name) {
        return readSafetensor(path, *file.find(name));
    };
    QCOMPARE(read("epoch").at(0), 4.0); // of 240 samples, 64 a step
    QCOMPARE(read("deviation").at(0), task->dataset().targetScale().spreadAt(0).deviation);
    QCOMPARE(judgedSamples(config, *task), int64_t{60});
    const std::pair<const char*, const Dataset*> parts[] = {{"val_", task->validation()},
                                                            {"test_", task->test()}};
    for (const auto& [prefix, data] : parts) {
        const Array x = read(std::string(prefix) + "x"), y = read(std::string(prefix) + "target");
        QCOMPARE(x.info.shape, (std::vector<int64_t>{30, 3}));
        QCOMPARE(y.info.shape, (std::vector<int64_t>{30, 1}));
        for (int64_t i = 0; i < 30; ++i) {
            Batch one = Batch::of(data->tensors(), 1);
            QVERIFY(data->read(Split::Validation, {&i, 1}, one).empty());
            for (int64_t j = 0; j < 3; ++j)
                QCOMPARE(x.at(3 * i + j), double{one.floats(kX)[static_cast<size_t>(j)]});
            QCOMPARE(y.at(i), double{one.floats(kTarget)[0]});
        }
    }
}

/// A batch that all steps take counts once, and so do the samples that lanes are judged on.
void TestPyTorchSamples::fits() {
    const auto stepsThatFit = [](RunConfig config, int64_t steps) {
        config.steps = steps;
        return stepsWhoseSamplesFit(config, *makeTask(config));
    };
    const RunConfig config = shortened("regression");
    const int64_t sample = 10 * sizeof(float) + sizeof(float), batch = 64 * sample;
    const int64_t fit = stepsThatFit(config, 10'000'000);
    QVERIFY(fit * batch < kMostSampleBytes);
    QVERIFY((fit + 1) * (batch + 16) > kMostSampleBytes); // with its number and its place
    QCOMPARE(stepsThatFit(config, fit), fit);
    QCOMPARE(stepsThatFit(shortened("line-fit"), 1'000'000), int64_t{1'000'000});
    const auto task = makeTask(shortened("gan")); // digits, but two networks are not judged
    QCOMPARE(judgedSamples(shortened("gan"), *task), int64_t{0});
    // a batch has the shares of its samples where a critic is penalised
    QVERIFY(stepsThatFit(shortened("wgan-gp"), 1'000'000) <
            stepsThatFit(shortened("gan"), 1'000'000));
}

} // namespace tst_pytorch_samples

QTEST_GUILESS_MAIN(tst_pytorch_samples::TestPyTorchSamples)
#include "tst_pytorch_samples.moc"
