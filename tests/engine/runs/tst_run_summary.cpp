// What summary.json says about the machine that trained a run: it is read back as it was written,
// and there is one sentence for each thing that no run writes.
#include "engine/core/error.h"
#include "engine/io/input_file.h"
#include "engine/io/strict_json.h"
#include "engine/runs/run_saving.h"
#include "engine/runs/run_summary.h"
#include "tests/support/run_tables.h"
#include "tests/support/thrown.h"
#include "tests/support/train_into.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_run_summary {

using namespace halfscope;

namespace {

const std::vector<std::string> kLanes{"fp32", "amp-fp16"};
constexpr int64_t kSteps = 60;

Json goodSummary() {
    return Json::parse(R"({
        "version": 1, "outcome": "finished", "steps": 60, "wall_seconds": 1.5,
        "device": {"name": "NVIDIA H200", "kind": "cuda", "libraries": "cuDNN 9.7",
                   "memory_bytes": 150754820096},
        "lanes": [{"name": "fp32", "peak_bytes": 123456}, {"name": "amp-fp16", "peak_bytes": 0}]
    })");
}

} // namespace

class TestRunSummary : public QObject {
    Q_OBJECT
private slots:
    void ofARun();
    void medianOfTheLatestTimes();
    void comparesPictures();
    void ofAFork();
    void ofALaneOfNan();
    void lostSamples();
    void ofAnotherMachine();
    void isNotAlwaysThere();
    void refusesValues_data();
    void refusesValues();
    void refusesOtherFiles_data();
    void refusesOtherFiles();
};

void TestRunSummary::medianOfTheLatestTimes() {
    RecentTimes times;
    QCOMPARE(times.median(), 0.0);
    for (const double seconds : {4.0, 1.0, 2.0})
        times.add(seconds);
    QCOMPARE(times.median(), 2.0);
    for (const double seconds : {3.0, 5.0}) {
        for (int64_t i = 0; i < RecentTimes::kMost; ++i)
            times.add(seconds);
        QCOMPARE(times.median(), seconds); // the earlier ones are forgotten
    }
}

void TestRunSummary::ofARun() {
    const QTemporaryDir folder;
    RunConfig config = presetNamed("overflow").config;
    config.task.side = 8;
    config.model.width = 8;
    config.steps = 3;
    config.device = "cpu";
    trainInto(folder.path().toStdString(), config);
    Experiment experiment(config);
    const auto run = readRun(folder.path().toStdString());
    const RunInfo& info = run->info();
    QVERIFY(info.device && info.outcome == RunOutcome::Finished);
    QCOMPARE(info.program, std::string("test"));
    QCOMPARE(info.device->name, experiment.device().name);
    QCOMPARE(info.device->kind, experiment.device().kind);
    QCOMPARE(info.device->libraries, experiment.device().libraries);
    QCOMPARE(info.device->memoryBytes, experiment.device().memoryBytes);
    QCOMPARE(info.memory.size(), static_cast<size_t>(experiment.lanes()));
    for (int lane = 0; lane < experiment.lanes(); ++lane) {
        const MemoryUse& memory = info.memory[static_cast<size_t>(lane)];
        QCOMPARE(memory.peakBytes, experiment.lane(lane).memory().peakBytes);
        QVERIFY(memory.peakByCause == experiment.lane(lane).memory().peakByCause);
    }
    QCOMPARE(info.summary, readFile(folder.filePath("summary.json").toStdString()));
}

/// A painted picture is compared with its target, in a run's folder as in a saved copy. A scatter
/// of predictions is no such picture.
void TestRunSummary::comparesPictures() {
    const QTemporaryDir folder, copy;
    RunConfig config = presetNamed("checkerboard").config;
    config.task.side = 8;
    config.model.width = 8;
    config.steps = 3;
    config.device = "cpu";
    const auto run = trainInto(folder.path().toStdString(), config);
    saveRun(run->now(), copy.path().toStdString());
    for (const QTemporaryDir* each : {&folder, &copy}) {
        const auto lanes =
            Json::parse(readFile(each->filePath("summary.json").toStdString()))["lanes"];
        QCOMPARE(lanes.size(), size_t{2});
        for (size_t lane = 0; lane < lanes.size(); ++lane) {
            const PictureError error =
                errorBetween(run->now().pictures()->outputs[lane], *run->now().target());
            QVERIFY(error.comparable && error.notFinite == 0 && error.meanAbsolute > 0);
            QCOMPARE(lanes[lane]["mae"].get<double>(), error.meanAbsolute);
            QCOMPARE(lanes[lane]["psnr"].get<double>(), -10 * std::log10(error.meanSquare));
        }
    }
    RunInfo info = run->info();
    const LanePictures pictures = *run->now().pictures();
    QCOMPARE(pictureErrors(info, pictures, *run->now().target()).size(), size_t{2});
    LanePictures cutOff = pictures;
    cutOff.fromFiles = true;
    QVERIFY(pictureErrors(info, cutOff, *run->now().target()).empty());
    info.config.task.kind = TaskKind::Regression;
    QVERIFY(pictureErrors(info, pictures, *run->now().target()).empty());
}

/// Accuracies of a lane whose outputs are nan are nan, as its losses are; that of the training
/// counts samples of the epoch's sound beginning.
void TestRunSummary::ofALaneOfNan() {
    const float nan = std::nanf("");
    const std::vector<LaneInfo> lanes{{"fp16", "fp16", -1, 0}};
    const std::vector<double> seconds{0.25};
    const auto told = [&](float loss, float accuracy) {
        LaneTotals totals;
        totals.add(StepRow(60, 0)
                       .set(metric::Loss, loss)
                       .set(metric::ValidationLoss, loss)
                       .set(metric::Accuracy, accuracy)
                       .set(metric::TrainingAccuracy, 0.25f)
                       .set(metric::TestLoss, loss)
                       .set(metric::TestAccuracy, accuracy));
        const Json lane =
            Json::parse(summaryText(RunInfo{}, lanes, {&totals, 1}, seconds, {}))["lanes"][0];
        return std::vector<Json>{lane["accuracy"], lane["test_accuracy"],
                                 lane["training_accuracy"]};
    };
    QVERIFY(told(nan, 0) == (std::vector<Json>{"nan", "nan", "nan"}));
    QVERIFY(told(1, 0) == (std::vector<Json>{0.0, 0.0, 0.25}));
    QVERIFY(told(nan, 0.5f) == (std::vector<Json>{0.5, 0.5, "nan"})); // nan for some samples
}

/// A fork counts its parent's steps, too, as it does those that were skipped. It ends with the
/// scale that its last step left, and has no mean over a picture that is not finite everywhere.
void TestRunSummary::ofAFork() {
    LaneTotals totals;
    totals.add(StepRow(60, 0).set(metric::Loss, 0.5f).set(metric::Scale, 8.0f));
    totals.add(Event{EventKind::Backoff, 60, 0, 8, 4, {}, {}});
    const std::vector<LaneInfo> lanes{{"amp-fp16-2", "fork", 0, 40}};
    const std::vector<double> seconds{0.25};
    PictureError error{true, 0.125, 0.25, 1};
    const auto laneOf = [&] {
        return Json::parse(
            summaryText(RunInfo{}, lanes, {&totals, 1}, seconds, {&error, 1}))["lanes"][0];
    };
    QCOMPARE(laneOf()["steps"].get<int>(), 60);
    QCOMPARE(laneOf()["final_scale"].get<double>(), 4.0);
    QVERIFY(!laneOf().contains("mae") && !laneOf().contains("psnr"));
    error.notFinite = 0;
    QCOMPARE(laneOf()["mae"].get<double>(), 0.125);
}

/// Events of a saved run have only the English words.
void TestRunSummary::lostSamples() {
    LostSamples lost;
    QVERIFY(lost.sentence().empty());
    const auto add = [&lost](const Message& text, EventKind kind = EventKind::Damaged) {
        Event event;
        event.kind = kind;
        event.text = text;
        lost.add(event);
        event.text = Message::data(text.english());
        lost.add(event);
    };
    const auto summary = [&lost] {
        return Json::parse(summaryText(RunInfo{}, {}, {}, {}, {}, lost));
    };
    add({kLostClass, 1, "b"});
    add(phrase("Events", "Step 1: x. So there is no validation."));
    add({kReplacedSample, 1, "a.png: cut off"}, EventKind::Edit);
    QVERIFY(lost.all() == 0 && !summary().contains("lost_samples"));
    add({kReplacedSample, 1, "a.png: cut off"});
    QCOMPARE(lost.sentence().english(),
             std::string("Samples that could not be read and were left out: 2."));
    add({kNotValidatedOn, 1, "b.png: cut off"});
    add({kNotTestedOn, 1, "c.png: cut off"});
    QCOMPARE(lost.sentence().english(),
             std::string("Samples that could not be read and were left out: 6 (of those to "
                         "validate or test on: 4)."));
    QCOMPARE(summary()["lost_samples"].get<int>(), 6);
    QCOMPARE(summary()["lost_validation_samples"].get<int>(), 2);
    QCOMPARE(summary()["lost_test_samples"].get<int>(), 2);
}

void TestRunSummary::ofAnotherMachine() {
    const TrainedOn trained = trainedOnOf(goodSummary().dump(), "f", kLanes, kSteps);
    QCOMPARE(trained.device.name, std::string("NVIDIA H200"));
    QCOMPARE(trained.device.kind, std::string("cuda"));
    QCOMPARE(trained.device.libraries, std::string("cuDNN 9.7"));
    QCOMPARE(trained.device.memoryBytes, size_t{150754820096});
    QCOMPARE(trained.memory[0].peakBytes, size_t{123456});
    QCOMPARE(trained.memory[1].peakBytes, size_t{0});
}

void TestRunSummary::isNotAlwaysThere() {
    const QTemporaryDir folder;
    writeFileAtomically(folder.filePath("steps.csv").toStdString(), table::kSteps);
    const auto run = readRun(folder.path().toStdString(), defaultConfig());
    QVERIFY(run && !run->info().device);
    QCOMPARE(run->info().summary, std::string());
}

void TestRunSummary::refusesValues_data() {
    QTest::addColumn<QByteArray>("place"); // a JSON pointer
    QTest::addColumn<QByteArray>("value"); // empty: the value is removed
    QTest::addColumn<QByteArray>("sentence");
    const auto row = [](const char* name, const char* place, const QByteArray& value,
                        const char* sentence) {
        QTest::newRow(name) << QByteArray(place) << value << QByteArray(sentence);
    };
    row("another version", "/version", "2",
        "version: 2 is not allowed: 1, the version that this program reads");
    row("no version", "/version", "",
        "version: missing; it must be 1, the version that this program reads");
    row("another run", "/steps", "59", "steps: 59 is not allowed: 60, as in steps.csv");
    row("half a step", "/steps", "60.5", "steps: 60.5 is not allowed: 60, as in steps.csv");
    row("huge steps", "/steps", "18446744073709551615",
        "steps: 18446744073709551615 is not allowed: 60, as in steps.csv");
    row("no device", "/device", "",
        "device: missing; it must be an object with name, kind, libraries and memory_bytes");
    row("a name for a device", "/device", "\"NVIDIA H200\"",
        "device: \"NVIDIA H200\" is not allowed: an object with name, kind, libraries and "
        "memory_bytes");
    row("no name", "/device/name", "",
        "device.name: missing; it must be one line of text, 1 to 200 bytes");
    row("an empty name", "/device/name", "\"\"",
        "device.name: \"\" is not allowed: one line of text, 1 to 200 bytes");
    row("a number for a name", "/device/name", "5",
        "device.name: 5 is not allowed: one line of text, 1 to 200 bytes");
    row("a name of two lines", "/device/name", R"("a\nb")",
        "device.name: \"a\\nb\" is not allowed: one line of text, 1 to 200 bytes");
    row("a long name", "/device/name", '"' + QByteArray(201, 'x') + '"',
        " is not allowed: one line of text, 1 to 200 bytes");
    row("another kind", "/device/kind", "\"tpu\"",
        "device.kind: \"tpu\" is not allowed: cpu or cuda");
    row("libraries", "/device/libraries", "null",
        "device.libraries: null is not allowed: one line of text, 0 to 200 bytes");
    row("memory", "/device/memory_bytes", "-1",
        "device.memory_bytes: -1 is not allowed: a whole number of bytes from 0");
    row("no lanes", "/lanes", "",
        "lanes: missing; it must be a list of 2 lanes, as in experiment.json");
    row("lanes by name", "/lanes", "{}",
        "lanes: an object is not allowed: a list of 2 lanes, as in experiment.json");
    row("one lane", "/lanes", R"([{"name": "fp32", "peak_bytes": 1}])",
        "lanes: 1 lanes are not allowed: a list of 2 lanes, as in experiment.json");
    row("a number for a lane", "/lanes/1", "7",
        "lanes.1: 7 is not allowed: an object with name and peak_bytes");
    row("another lane", "/lanes/1/name", "\"amp-bf16\"",
        "lanes.1.name: \"amp-bf16\" is not allowed: amp-fp16, as in experiment.json");
    row("peak in words", "/lanes/0/peak_bytes", "\"much\"",
        "lanes.0.peak_bytes: \"much\" is not allowed: a whole number of bytes from 0");
    row("no peak", "/lanes/0/peak_bytes", "",
        "lanes.0.peak_bytes: missing; it must be a whole number of bytes from 0");
}

void TestRunSummary::refusesValues() {
    QFETCH(const QByteArray, place);
    QFETCH(const QByteArray, value);
    QFETCH(const QByteArray, sentence);
    Json summary = goodSummary();
    const Json::json_pointer at(place.toStdString());
    if (value.isEmpty())
        summary[at.parent_pointer()].erase(at.back());
    else
        summary[at] = Json::parse(value.toStdString());
    const std::string text = thrownBy<InputError>(
        [&] { trainedOnOf(summary.dump(), "a/summary.json", kLanes, kSteps); });
    QVERIFY2(text.starts_with("a/summary.json: "), text.c_str());
    QVERIFY2(text.ends_with(sentence.toStdString()), text.c_str());
    QVERIFY2(text.size() < 400, text.c_str());
}

void TestRunSummary::refusesOtherFiles_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("sentence");
    QTest::newRow("cut off") << QByteArray("{\"version\": 1,\n")
                             << QByteArray("line 2, column 1: not valid JSON: ");
    QTest::newRow("a list") << QByteArray("[]")
                            << QByteArray("a list is not a summary: it must be an object ");
    QTest::newRow("no summary's length")
        << QByteArray((1 << 20) + 1, ' ') << QByteArray("cannot read: it has more than 1 MiB");
    QTest::newRow("a key twice") << QByteArray("{\"steps\": 1, \"steps\": 60}")
                                 << QByteArray("steps: the key occurs twice in the same object");
}

void TestRunSummary::refusesOtherFiles() {
    QFETCH(const QByteArray, text);
    QFETCH(const QByteArray, sentence);
    const QTemporaryDir folder;
    const std::string path = folder.filePath("summary.json").toStdString();
    writeFileAtomically(folder.filePath("steps.csv").toStdString(), table::kSteps);
    writeFileAtomically(path, text.toStdString());
    const std::string thrown = thrownBy<InputError>(
        [&] { static_cast<void>(readRun(folder.path().toStdString(), defaultConfig())); });
    QVERIFY2(thrown.starts_with(path + ": " + sentence.toStdString()), thrown.c_str());
}

} // namespace tst_run_summary

QTEST_GUILESS_MAIN(tst_run_summary::TestRunSummary)
#include "tst_run_summary.moc"
