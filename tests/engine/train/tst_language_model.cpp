// Texts whose every character is predicted: loss and gradients of one step compared with PyTorch's
// (recorded by tests/golden/record_language_model.py), what is counted at each position, and a run
// that continues from a checkpoint.
#include "engine/core/philox.h"
#include "engine/data/dataset.h"
#include "engine/data/gallery.h"
#include "engine/data/losses.h"
#include "engine/models/emit_model.h"
#include "engine/passes/autodiff.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_task.h"
#include "engine/train/experiment.h"
#include "engine/train/run_info.h"
#include "engine/train/text_writer.h"
#include "tests/support/array_files.h"
#include "tests/support/recorded_leaves.h"

#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <list>
#include <thread>

namespace tst_language_model {

using namespace halfscope;
using nlohmann::json;

namespace {

const json& recordedCases() {
    static const json file = [] {
        std::ifstream stream(HALFSCOPE_SOURCE_DIR "/tests/golden/language_model.json");
        return json::parse(stream);
    }();
    return file["cases"];
}

/// Returns a run of six steps, each on 4 samples of the licence.
RunConfig smallRun() {
    RunConfig config = presetNamed("transformer-lm").config;
    config.task.context = 8;
    config.task.batch = 4;
    config.epochs = 0;
    config.steps = 6;
    config.validation.steps = 3;
    config.device = "cpu";
    config.threads = 1;
    config.model.layers = "nn.Sequential(nn.Embedding(76, 8), PositionalEmbedding(8, 8), "
                          "CausalTransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True), "
                          "nn.Linear(8, 76))";
    return config;
}

std::vector<StepRecord> train(Experiment& experiment, int64_t until) {
    std::vector<StepRecord> records;
    std::vector<Event> events;
    while (experiment.step() < until)
        experiment.advance(records, events);
    return records;
}

} // namespace

class TestLanguageModel : public QObject {
    Q_OBJECT

private slots:
    void lossAndGradients_data();
    void lossAndGradients();
    void countsEveryPosition();
    void validationNeedsLittleMemory();
    void goesOnWithTheSameBits();
    void draws();
    void lanesWrite();
    void stopsWriting();
};

void TestLanguageModel::lossAndGradients_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < recordedCases().size(); ++i)
        QTest::addRow("smoothing %g", recordedCases()[i]["smoothing"].get<double>())
            << static_cast<int>(i);
}

/// Computes in float64, from the numbers that the recording script describes.
void TestLanguageModel::lossAndGradients() {
    QFETCH(const int, index);
    const json& r = recordedCases()[static_cast<size_t>(index)];
    const int64_t samples = r["samples"], length = r["length"];
    const double classes = r["classes"];
    const ModelSpec model = readModel(r["source"].get<std::string>());
    Graph graph;
    Builder b(graph);
    const NodeId x = b.input("x", {samples, length}, DType::I32);
    const NodeId target = b.input("target", {samples, length}, DType::I32);
    ModelOptions options;
    options.storage = DType::F64;
    const NodeId output = emitModel(b, model, {x, b.shapeOf(x)}, options).output;
    const LossSpec spec{.kind = LossKind::CrossEntropy, .labelSmoothing = r["smoothing"]};
    const NodeId loss = infoOf(spec.kind).emit(b, spec, output, target);

    RecordedLeaves leaves(graph);
    leaves.put(x, [&](double i) { return std::fmod(5 * i, classes); });
    leaves.put(target, [&](double i) { return std::fmod(3 * i + 1, classes); });
    const std::vector<NodeId> parameters = leaves.putParameters(model);
    std::vector<NodeId> wanted{loss};
    for (const auto& gradient : gradients(b, loss, parameters))
        wanted.push_back(gradient.value());
    const auto values = evaluate(graph, leaves.values(), wanted, RefRounding::None);
    constexpr double kBound = 1e-12;
    const double ours = values.at(loss).values.at(0), theirs = r["loss"];
    QVERIFY2(std::abs(ours - theirs) < kBound, qPrintable(QString::number(ours)));
    for (size_t i = 0; i < parameters.size(); ++i) {
        const std::string name = parametersOf(model)[i].name;
        const auto recorded = r["gradients"][name].get<std::vector<double>>();
        const std::vector<double>& found = values.at(wanted[i + 1]).values;
        QCOMPARE(found.size(), recorded.size());
        for (size_t at = 0; at < found.size(); ++at)
            QVERIFY2(std::abs(found[at] - recorded[at]) < kBound, name.c_str());
    }
}

/// Accuracies, tables and predictions count each position of each sample once.
void TestLanguageModel::countsEveryPosition() {
    RunConfig config = smallRun();
    config.task.context = 4;
    Experiment experiment(config);
    Trainer& lane = experiment.lane(0);
    const auto task = makeTask(config);
    std::vector<StepRecord> records;
    std::vector<Event> events;
    int64_t right = 0;
    for (int64_t step = 1; step <= 3; ++step) { // of 4 samples
        experiment.advance(records, events);
        const std::shared_ptr<const Batch> batch = task->load(step);
        const std::vector<float> scores = lane.prediction();
        QCOMPARE(scores.size(), size_t{4 * 4 * 76});
        auto first = scores.begin();
        for (const int32_t label : batch->labels(kTarget)) {
            right += std::max_element(first, first + 76) - first == label;
            first += 76;
        }
    }
    QCOMPARE(records[4].trainingAccuracy.value(), static_cast<double>(right) / (3 * 4 * 4));
    const int64_t samples = lane.judgedSamples(), positions = samples * 4;
    QCOMPARE(samples, int64_t{(3515 - 1) / 4}); // a batch of 500, and a smaller one
    QCOMPARE(lane.judged().counts.samples(), positions);

    Predictions all;
    const std::atomic<bool> stop{false};
    const Validation found = lane.evaluate(stop, &all).value();
    QCOMPARE(found.accuracy, records[4].validation->accuracy);
    QCOMPARE(found.perplexity, std::optional(std::exp(found.loss)));
    QCOMPARE(rowOf(records[4])[metric::Perplexity], *found.perplexity);
    QCOMPARE(extraMetrics(experiment).back(), MetricId{metric::Perplexity});
    config.task.loss.labelSmoothing = 0.1; // its loss is not that of the text
    Experiment smoothed(config);
    QVERIFY(!smoothed.lane(0).evaluate(std::atomic<bool>{false})->perplexity);
    QVERIFY(extraMetrics(smoothed).back() != metric::Perplexity);
    QCOMPARE(all.shape(), (std::vector<int64_t>{samples, 4, 76}));
    QCOMPARE(all.values.size(), static_cast<size_t>(positions * 76));
    QCOMPARE(all.targets.size(), static_cast<size_t>(positions));
    double loss = 0;
    for (size_t at = 0; at < all.targets.size(); ++at) {
        double sum = 0;
        const float* scores = &all.values[at * 76];
        for (size_t c = 0; c < 76; ++c)
            sum += std::exp(double{scores[c]});
        loss += std::log(sum) - double{scores[static_cast<size_t>(all.targets[at])]};
    }
    QVERIFY(std::abs(loss / static_cast<double>(positions) - found.loss) < 1e-5);
}

/// A forward pass over as many characters as a training step has keeps less than the step does, and
/// it has not more of them, however many samples are judged.
void TestLanguageModel::validationNeedsLittleMemory() {
    QTemporaryDir folder;
    std::string text;
    while (text.size() < 300'000)
        text += "abcd efgh\n";
    RunConfig config = smallRun();
    config.lanes.resize(1);
    config.task.path = writeBytes(folder.filePath("t.txt").toStdString(), text);
    config.task.context = 256;
    config.task.batch = 32;
    config.model.layers = "nn.Sequential(nn.Embedding(10, 8), PositionalEmbedding(256, 8), "
                          "CausalTransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), "
                          "nn.Linear(8, 10))";
    const auto peak = [&](double validation) {
        config.task.validation = validation;
        Experiment experiment(config);
        return experiment.lane(0).memory().peakBytes;
    };
    const size_t alone = peak(0), both = peak(0.5);
    QVERIFY2(both > alone && both < 2 * alone, std::to_string(both).c_str());
}

void TestLanguageModel::goesOnWithTheSameBits() {
    Experiment whole(smallRun());
    train(whole, 3);
    const ExperimentState state = whole.state();
    const std::vector<StepRecord> rest = train(whole, 6);
    Experiment second(smallRun());
    second.resume(state);
    const std::vector<StepRecord> again = train(second, 6);
    QCOMPARE(again.size(), rest.size());
    for (size_t i = 0; i < rest.size(); ++i) {
        QCOMPARE(again[i].loss, rest[i].loss);
        QCOMPARE(again[i].trainingAccuracy, rest[i].trainingAccuracy);
    }
    for (int lane = 0; lane < 2; ++lane)
        QVERIFY(whole.lane(lane).weights() == second.lane(lane).weights());
}

/// The chance of a class is in proportion to e to the power of its score divided by the
/// temperature.
void TestLanguageModel::draws() {
    const std::vector<float> scores{0, 0.8f, std::nanf(""), -INFINITY, 1.6f};
    const double e = std::exp(1.0), sum = 1 + e + e * e;
    const auto at = [&](double share) { return drawnClass(scores, share / sum); };
    constexpr double kNear = 1e-6;
    QCOMPARE(drawnClass(scores, 0), 0);
    QCOMPARE(at(1 - kNear), 0);
    QCOMPARE(at(1 + kNear), 1);
    QCOMPARE(at(1 + e - kNear), 1);
    QCOMPARE(at(1 + e + kNear), 4);
    QCOMPARE(drawnClass(scores, 1), 4);
    QCOMPARE(drawnClass(std::vector{1.0f, INFINITY, INFINITY}, 0.99), 1);
    QCOMPARE(drawnClass(std::vector{std::nanf(""), std::nanf("")}, 0.5), 2);
    QCOMPARE(drawnClass(std::vector{-INFINITY, std::nanf(""), -INFINITY}, 0.5), 3);
}

/// Each character is drawn from the last ones alone, with random numbers that all lanes share;
/// training is not affected.
void TestLanguageModel::lanesWrite() {
    RunConfig config = smallRun();
    config.lanes = parseLanes("fp32,fp32,amp-fp16");
    Experiment experiment(config), untouched(config);
    train(experiment, 2);
    train(untouched, 2);
    const std::vector<int32_t> prompt{1, 2, 3, 4, 5, 6, 7, 8};
    const auto a = experiment.lane(0).write(prompt, 20).value();
    QCOMPARE(a.size(), size_t{20});
    QVERIFY(experiment.lane(1).write(prompt, 20).value() == a);
    QVERIFY(experiment.lane(0).write(prompt, 20).value() == a);
    const Philox chances(config.seed, 32);
    std::vector<int32_t> all = prompt;
    std::list<Batch> windows; // the batch of a probe must exist until the next one
    for (const int32_t character : a) {
        windows.push_back(Batch::of(factsOf(config.task).tensors, 1));
        std::copy(all.end() - 8, all.end(), windows.back().labels(kX).begin());
        const auto scores = experiment.lane(0).probe(windows.back()).value();
        QCOMPARE(scores.size(), size_t{8 * 76});
        const double chance{chances.uniform(all.size() - prompt.size())};
        QCOMPARE(character, drawnClass(std::span(scores).last(76), chance));
        all.push_back(character);
    }
    Snapshot shot = experiment.snapshot();
    experiment.addGalleries(shot);
    QCOMPARE(shot.galleries.size(), size_t{4});
    QVERIFY(shot.galleries[0].values == shot.galleries[1].values);
    const auto rest = train(experiment, 4), same = train(untouched, 4);
    for (size_t i = 0; i < rest.size(); ++i)
        QCOMPARE(rest[i].loss, same[i].loss);
    // what another network writes is compared with the text of lane A
    Weights reversed = experiment.lane(1).weights();
    for (auto& [name, values] : reversed)
        std::reverse(values.begin(), values.end());
    experiment.lane(1).setWeights(reversed);
    experiment.addGalleries(shot);
    const auto gallery = galleryOf(*makeDataset(config.task, config.seed));
    const auto textOf = [&](int lane) {
        return experiment.lane(lane).write(gallery->prompt, writtenCharacters(*gallery)).value();
    };
    QVERIFY(textOf(1) != textOf(0));
    const auto scores = experiment.lane(1).probe(gallery->samples).value();
    QVERIFY(
        shot.galleries[1].values ==
        galleryWithText(*gallery, scores, experiment.view().classes, textOf(1), textOf(0)).values);
    // a lane whose weights are not numbers writes nothing
    Weights lost = experiment.lane(0).weights();
    std::fill(lost.begin()->second.begin(), lost.begin()->second.end(), std::nanf(""));
    experiment.lane(0).setWeights(lost);
    QVERIFY(experiment.lane(0).write(prompt, 3).value() == (std::vector<int32_t>{76, 76, 76}));
}

/// A request to stop ends a text that would take hours.
void TestLanguageModel::stopsWriting() {
    Experiment experiment(smallRun());
    Trainer& lane = experiment.lane(0);
    std::atomic<bool> done = false;
    std::jthread stopper([&] {
        while (!done) { // a request before the first character would stop nothing
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            lane.requestStop();
        }
    });
    const auto written = lane.write(std::vector<int32_t>(8), 100'000'000);
    done = true;
    QVERIFY(!written.has_value());
}

} // namespace tst_language_model

QTEST_GUILESS_MAIN(tst_language_model::TestLanguageModel)
#include "tst_language_model.moc"
