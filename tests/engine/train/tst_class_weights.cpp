// Cross entropy whose classes have weights: loss and gradient compared with PyTorch's (recorded by
// tests/golden/record_class_weights.py), steps and validations with the definition in double, and
// the weights that balance the samples to train on.
#include "engine/data/class_weights.h"
#include "engine/data/dataset.h"
#include "engine/data/losses.h"
#include "engine/data/targets.h"
#include "engine/exec/reference.h"
#include "engine/passes/autodiff.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/experiment.h"
#include "tests/support/all_samples.h"
#include "tests/support/picture_folder.h"
#include "tests/support/recorded_leaves.h"
#include "tests/support/thrown.h"
#include "tests/support/training.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <fstream>

namespace tst_class_weights {

using namespace halfscope;
using namespace halfscope::test;
using nlohmann::json;

namespace {

const json& recordedCases() {
    static const json file = [] {
        std::ifstream stream(HALFSCOPE_SOURCE_DIR "/tests/golden/class_weights.json");
        return json::parse(stream);
    }();
    return file["cases"];
}

/// Returns the weighted mean of the losses of scores (labels, classes), and PyTorch's definition of
/// their smoothing.
template <class Label>
double lossOf(std::span<const float> scores, std::span<const Label> labels,
              std::span<const float> weights, double smoothing) {
    const size_t classes = weights.size();
    double sum = 0, all = 0, total = 0;
    for (size_t row = 0; row < labels.size(); ++row) {
        const std::span<const float> own = scores.subspan(row * classes, classes);
        const auto label = static_cast<size_t>(labels[row]);
        double exponentials = 0;
        for (const float score : own)
            exponentials += std::exp(double{score});
        for (size_t c = 0; c < classes; ++c) {
            const double loss = double{weights[c]} * (std::log(exponentials) - double{own[c]});
            all += loss;
            if (c == label) sum += loss;
        }
        total += double{weights[label]};
    }
    return ((1 - smoothing) * sum + smoothing / static_cast<double>(classes) * all) / total;
}

} // namespace

class TestClassWeights : public QObject, private PictureFolder {
    Q_OBJECT

private slots:
    void init() { renew(); }
    void asPyTorch_data();
    void asPyTorch();
    void refused_data();
    void refused();
    void wrongCount();
    void unweightedStepIsTheSame();
    void steps_data();
    void steps();
    void validation_data();
    void validation();
    void balancesSamplesToTrainOn();
    void picturesNeedNotBeRead();
    void everyCharacter();
    void goesOnWithTheSameBits();

private:
    /// Returns a run of one epoch of ten batches of 64 and one of 10, on a table with three classes
    /// of which "a few" is rare and "later" is only among the 650 samples to validate on; most of
    /// these are in the second one of two batches.
    RunConfig tableRun(const QStringList& settings) const;
};

RunConfig TestClassWeights::tableRun(const QStringList& settings) const {
    constexpr int kLines = 1300, kLate = 140;
    QByteArray text = "x,y,kind\n";
    for (int i = 0; i < kLines; ++i) {
        const bool late = i >= kLines - kLate && i % 3 != 0;
        const char* kind = late ? "later" : i % 11 == 0 ? "a few" : "many";
        text += QByteArray::number(std::sin(0.7 * i)) + "," + QByteArray::number(i % 17) + "," +
                kind + "\n";
    }
    const QString path = m_folder->filePath("table.csv");
    QFile file(path);
    [&] { QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size()); }();
    file.close();
    RunConfig config = defaultConfig();
    config.device = "cpu";
    config.threads = 1;
    const QStringList table{
        "data.kind=csv",       "data.path=" + path,    "task.loss=cross-entropy",
        "data.held_back=last", "data.validation=0.5",  "data.shuffle=false",
        "task.batch=64",       "data.last_batch=keep", "model.width=8",
        "model.norm=none",     "run.epochs=1"};
    for (const QString& setting : table + settings)
        applySetting(config, setting.toStdString());
    return config;
}

void TestClassWeights::asPyTorch_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < recordedCases().size(); ++i)
        QTest::addRow("smoothing %g", recordedCases()[i]["smoothing"].get<double>())
            << static_cast<int>(i);
}

/// Computes in float64, from the numbers that the recording script describes.
void TestClassWeights::asPyTorch() {
    QFETCH(const int, index);
    const json& r = recordedCases()[static_cast<size_t>(index)];
    const auto weights = r["weights"].get<std::vector<double>>();
    const int64_t samples = r["samples"];
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {samples, static_cast<int64_t>(weights.size())}, DType::F64);
    const NodeId target = b.input("target", {samples}, DType::I32);
    const LossSpec spec{.kind = LossKind::CrossEntropy,
                        .labelSmoothing = r["smoothing"],
                        .classWeights = "balanced"}; // the numbers are in a state
    const NodeId loss = infoOf(spec.kind).emit(b, spec, x, target);
    const NodeId gradient = gradients(b, loss, std::array{x}).front().value();
    const std::array wanted{loss, gradient};

    RecordedLeaves leaves(graph);
    leaves.put(x, [](double i) { return 3 * std::sin(0.7 * i + 1); });
    leaves.put(target, [](double i) { return std::fmod(3 * i + 1, 4); });
    leaves.put(graph.state(kClassWeightsState),
               [&](double i) { return weights[static_cast<size_t>(i)]; });
    const auto values = evaluate(graph, leaves.values(), wanted, RefRounding::None);
    constexpr double kBound = 1e-12;
    const double ours = values.at(loss).values.at(0), theirs = r["loss"];
    QVERIFY2(std::abs(ours - theirs) < kBound, qPrintable(QString::number(ours)));
    const auto recorded = r["gradient"].get<std::vector<double>>();
    const std::vector<double>& found = values.at(gradient).values;
    QCOMPARE(found.size(), recorded.size());
    for (size_t at = 0; at < found.size(); ++at)
        QVERIFY(std::abs(found[at] - recorded[at]) < kBound);
}

void TestClassWeights::refused_data() {
    QTest::addColumn<QString>("value");
    for (const char* value : {"auto", "balanced, 1", "1;2", "1,,2", "1,2,", "0,1", "-1,1", "nan,1",
                              "inf,1", "1e7,1", "1e-7,1", "0x2,1", ","})
        QTest::newRow(value) << value;
}
void TestClassWeights::refused() {
    QFETCH(const QString, value);
    RunConfig config = defaultConfig();
    const std::string said = thrownBy<InputError>(
        [&] { applySetting(config, ("task.class_weights=" + value).toStdString()); });
    QCOMPARE(QString::fromStdString(said),
             "task.class_weights: \"" + value +
                 "\" is not allowed: a number from 0.000001 to 1000000 for each class, separated "
                 "by commas, balanced, or nothing");
}

void TestClassWeights::wrongCount() {
    const RunConfig config = tableRun({"task.class_weights=1, 2"});
    const std::string wanted = "task.class_weights: \"1, 2\" is not allowed: one number for each "
                               "of the 3 classes, separated by commas, balanced, or nothing";
    QCOMPARE(thrownBy<InputError>([&] { checkConfig(config); }), wanted);
    QCOMPARE(thrownBy<InputError>([&] { Experiment experiment(config); }), wanted);
    checkConfig(tableRun({"task.class_weights=1, 2", "task.class_weights= 1 ,2, 3e1 "}));
    checkConfig(tableRun({"task.class_weights=1, 2", "task.loss=mse", "data.target=y"}));
}

/// Spaces are no weights, and losses without classes ignore them.
void TestClassWeights::unweightedStepIsTheSame() {
    const auto states = [&](const QStringList& settings) {
        RunConfig config = tableRun(settings);
        std::vector<std::string> names;
        const Graph graph = buildStep(config, config.lanes[0], makeTask(config)->shape());
        for (const StateInfo& each : graph.states())
            names.push_back(each.name);
        return names;
    };
    const std::string name(kClassWeightsState);
    const auto plain = states({});
    QVERIFY(std::find(plain.begin(), plain.end(), name) == plain.end());
    QCOMPARE(states({"task.class_weights= "}), plain);
    const QStringList numbers{"task.loss=mse", "data.target=y"};
    QCOMPARE(states(numbers + QStringList{"task.class_weights=balanced"}), states(numbers));
    QCOMPARE(states({"task.class_weights=balanced"}).size(), plain.size() + 1);
}

void TestClassWeights::steps_data() {
    QTest::addColumn<QString>("weights");
    QTest::addColumn<double>("smoothing");
    QTest::newRow("numbers") << "5, 0.5, 40" << 0.0;
    QTest::newRow("numbers, smoothed") << "5, 0.5, 40" << 0.2;
    QTest::newRow("balanced") << "balanced" << 0.0;
}

/// Every batch, also the smaller one at the end, has the mean with the weights of its own labels.
/// Under autocast too, the loss is computed in float32 from the float16 outputs.
void TestClassWeights::steps() {
    QFETCH(const QString, weights);
    QFETCH(const double, smoothing);
    const RunConfig config =
        tableRun({"task.class_weights=" + weights,
                  QString("task.label_smoothing=%1").arg(smoothing), "scaler.init_scale=64"});
    Experiment experiment(config);
    const std::vector<float> numbers = experiment.config().task.loss.weights;
    QCOMPARE(numbers.size(), size_t{3});
    const auto task = makeTask(config);
    QCOMPARE(experiment.config().steps, int64_t{11});
    QCOMPARE(task->rows(11), int64_t{10});
    std::vector<StepRecord> records;
    std::vector<Event> events;
    for (int64_t step = 1; step <= 11; ++step) {
        records.clear();
        experiment.advance(records, events);
        const std::shared_ptr<const Batch> batch = task->load(step);
        for (int lane = 0; lane < 2; ++lane) {
            const std::vector<float> scores = experiment.lane(lane).prediction();
            const double wanted =
                lossOf(std::span(scores), batch->labels(kTarget), numbers, smoothing);
            const double found = records[static_cast<size_t>(lane)].loss;
            QVERIFY2(std::abs(found / wanted - 1) < 2e-6, qPrintable(QString::number(found)));
        }
    }
}

void TestClassWeights::validation_data() { steps_data(); }

/// It is the weighted mean over all samples, not a mean over its two batches.
void TestClassWeights::validation() {
    QFETCH(const QString, weights);
    QFETCH(const double, smoothing);
    Experiment experiment(tableRun({"task.class_weights=" + weights, "run.epochs=1",
                                    QString("task.label_smoothing=%1").arg(smoothing)}));
    const std::vector<float> numbers = experiment.config().task.loss.weights;
    for (int lane = 0; lane < 2; ++lane) {
        Predictions all;
        const std::atomic<bool> stop{false};
        const Validation found = experiment.lane(lane).evaluate(stop, &all).value();
        QCOMPARE(all.targets.size(), size_t{650});
        const double wanted = lossOf(std::span<const float>(all.values),
                                     std::span<const float>(all.targets), numbers, smoothing);
        QVERIFY2(std::abs(found.loss / wanted - 1) < 2e-6,
                 qPrintable(QString("%1 %2").arg(found.loss).arg(wanted)));
    }
}

void TestClassWeights::balancesSamplesToTrainOn() {
    const RunConfig config = tableRun({"task.class_weights=balanced"});
    const auto data = makeDataset(config.task, config.seed);
    std::array<double, 3> counts{};
    const Batch train = allOf(*data, Split::Train);
    for (const int32_t label : train.labels(kTarget))
        ++counts[static_cast<size_t>(label)];
    const std::vector<float> found = weightsFor(config.task.loss, *data);
    QCOMPARE(found.size(), counts.size());
    QCOMPARE(std::count(counts.begin(), counts.end(), 0), 1); // of the class "later"
    for (size_t c = 0; c < counts.size(); ++c)
        QCOMPARE(found[c], counts[c] == 0 ? 1.0f : static_cast<float>(650 / (3 * counts[c])));
}

void TestClassWeights::picturesNeedNotBeRead() {
    for (int i = 0; i < 7; ++i)
        put(QString(i < 5 ? "many/%1.png" : "few/%1.png").arg(i), plain(0.1F, 0.2F, 0.3F));
    TaskConfig config = task();
    config.loss.classWeights = "balanced";
    const auto data = makeDataset(config, 1);
    QCOMPARE(data->classCounts(), (std::vector<int64_t>{2, 5}));
    QCOMPARE(data->Dataset::classCounts(), data->classCounts());
    QCOMPARE(weightsFor(config.loss, *data), (std::vector<float>{7.0F / 4, 7.0F / 10}));
}

/// Where every character is predicted, the labels of all positions count, and e to the power of the
/// loss is no perplexity.
void TestClassWeights::everyCharacter() {
    RunConfig config = presetNamed("transformer-lm").config;
    config.task.context = 8;
    QVERIFY(measuresPerplexity(config.task));
    config.task.loss.classWeights = "balanced";
    QVERIFY(!measuresPerplexity(config.task));
    const auto data = makeDataset(config.task, 1);
    std::vector<int64_t> counts(76);
    const Batch train = allOf(*data, Split::Train);
    for (const int32_t label : train.labels(kTarget))
        ++counts[static_cast<size_t>(label)];
    QCOMPARE(data->classCounts(), counts);
}

void TestClassWeights::goesOnWithTheSameBits() {
    const RunConfig config = tableRun({"task.class_weights=balanced", "optimizer.lr=1e-2"});
    Experiment whole(config), first(config);
    std::vector<StepRecord> wanted, found;
    std::vector<Event> events;
    for (int step = 0; step < 6; ++step)
        whole.advance(wanted, events);
    for (int step = 0; step < 3; ++step)
        first.advance(found, events);
    const ExperimentState state = first.state();
    Experiment second(state.recorded);
    second.resume(state);
    for (int step = 0; step < 3; ++step)
        second.advance(found, events);
    QCOMPARE(found.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i)
        QVERIFY(sameButTimes(found[i], wanted[i]));
}

} // namespace tst_class_weights

QTEST_GUILESS_MAIN(tst_class_weights::TestClassWeights)
#include "tst_class_weights.moc"
