// Checkpoints: an experiment that continues from one has the same rows, events and states as one
// that never stopped; a checkpoint that is damaged, cut off or belongs to something else is
// refused.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/core/sha256.h"
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/runs/gradient_file.h"
#include "engine/runs/run_folder.h"
#include "engine/runs/run_past.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/step_record.h"
#include "engine/settings/fields.h"
#include "engine/train/checkpoint.h"
#include "engine/train/experiment.h"
#include "engine/train/run_info.h"
#include "engine/train/saved_run.h"
#include "engine/train/state_dict.h"
#include "tests/support/resumed_run.h"
#include "tests/support/thrown.h"
#include "tests/support/training.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <stop_token>
#include <string>
#include <thread>

namespace tst_checkpoint {

using namespace halfscope;
using namespace halfscope::test;

namespace {

using Run = ResumedRun;

RunConfig small(const QStringList& settings = {}) {
    RunConfig config = skippingRegression();
    config.task.samples = 100;
    config.task.batch = 32; // the last batch of an epoch has 4 samples
    for (const QString& setting : settings)
        applySetting(config, setting.toStdString());
    return config;
}

QByteArray contentOf(const std::string& path) {
    QFile file(QString::fromStdString(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void write(const std::string& path, const QByteArray& content) {
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(content) == content.size());
}

qsizetype openFiles() {
    return QDir("/proc/self/fd").entryList(QDir::AllEntries | QDir::System).size();
}

/// Returns the bytes that this process wrote, to files of any kind; 0 when the system does not
/// tell.
qint64 bytesWritten() {
    for (const QByteArray& line : contentOf("/proc/self/io").split('\n'))
        if (line.startsWith("wchar: ")) return line.mid(7).toLongLong();
    return 0;
}

/// A small run after three steps, with its rows and the bytes of its checkpoint.
struct ThreeSteps {
    Run run{small()};
    RunBatch batch;
    std::string bytes;

    ThreeSteps() {
        run.to(3);
        for (const StepRecord& record : run.records)
            batch.rows.push_back(rowOf(record));
        bytes = checkpointBytes(run.experiment->state(), "1");
    }
    /// Returns the run as a window keeps it, with this checkpoint.
    std::shared_ptr<halfscope::Run> keptWith(std::shared_ptr<const RunCheckpoint> checkpoint) {
        const auto kept =
            std::make_shared<halfscope::Run>(runInfo(*run.experiment, "1"), lanesOf(small()));
        batch.checkpoint = std::move(checkpoint);
        kept->append(std::move(batch));
        return kept;
    }
};

} // namespace

class TestCheckpoint : public QObject {
    Q_OBJECT

private slots:
    void goesOnWithTheSameBits_data();
    void goesOnWithTheSameBits();
    void waitsCount();
    void forksAndEdits();
    void editInTheMiddleOfAStep();
    void keepsTheFloor();
    void everyByteIsChecked();
    void cutAnywhere();
    void refusesOthers();
    void refusesWhatNoTrainingWrites_data();
    void refusesWhatNoTrainingWrites();
    void aHeldScheduleIsBehind();
    void refusesNumbersOfItsHeader();
    void claimsMoreThanItHas();
    void canBeCancelled();
    void aLargeOneInMemory();
    void anotherDataSet();
    void offersTheOneBefore();
    void savedWithoutOne_data();
    void savedWithoutOne();
    void savedOverItsOwn();

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    ExperimentState throughAFile(Experiment& experiment) const {
        writeCheckpoint(path("checkpoint.safetensors"), experiment.state(), "1.2.3");
        return readCheckpoint(path("checkpoint.safetensors"));
    }
    /// Compares a run that continues from the file with one that never stopped.
    void compare(Run& whole, const Run& part, int64_t from, int64_t end) const;
    QTemporaryDir m_folder;
};

void TestCheckpoint::compare(Run& whole, const Run& part, int64_t from, int64_t end) const {
    Run rest(throughAFile(*part.experiment));
    QCOMPARE(rest.experiment->step(), from);
    rest.to(end);
    whole.to(end);
    compareRest(rest, whole, part);
    QCOMPARE(configText(rest.experiment->recorded()), configText(whole.experiment->recorded()));
}

void TestCheckpoint::goesOnWithTheSameBits_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<QList<int>>("after");
    QTest::addColumn<int>("steps");
    const auto row = [](const char* name, const char* preset, const QStringList& settings,
                        const QList<int>& after,
                        int steps) { QTest::newRow(name) << preset << settings << after << steps; };
    // epochs of four steps: after their ends, in their middle, before and after the smaller batch
    row("skips and growth", "", {}, {0, 1, 2, 3, 4, 6, 23}, 24);
    row("dropout", "",
        {"model.layers=nn.Sequential(nn.Linear(10, 16), nn.BatchNorm1d(16), nn.Dropout(0.5), "
         "nn.Linear(16, 1))"},
        {1, 5}, 12);
    row("readers", "", {"data.workers=3"}, {5}, 12);
    row("one cycle", "",
        {"schedule.kind=one-cycle", "schedule.cycle_momentum=true", "scaler.hold_schedule=true"},
        {7}, 24);
    row("accumulation", "", {"gradients.accumulate=3"}, {4}, 12);
    row("checkerboard", "checkerboard", {"task.side=8", "model.width=8"}, {6}, 12);
    row("overflow", "overflow", {"task.side=8", "model.width=8"}, {6}, 12);
    row("digits, mid-epoch", "mnist-mlp", {"model.width=16", "validation.steps=4"}, {2, 33}, 40);
    for (const char* recipe :
         {"recipe-two-optimizers", "recipe-penalty", "recipe-onecycle", "recipe-schedule-cosine",
          "recipe-adam-amsgrad", "recipe-sgd-nesterov", "recipe-rmsprop", "recipe-clip"})
        row(recipe, recipe, {}, {3, 11}, 20);
    // the event comes after, at, and before the checkpoint, and is told once
    row("underflow", "", {"lanes.1.scaler.init_scale=2^-40", "scaler.growth_interval=9"},
        {0, 1, 2, 15}, 24);
    // the tensor that became inf first is named in every step of the stretch
    row("lost loss", "",
        {"optimizer.kind=sgd", "optimizer.lr=100", "lanes.1.scaler.init_scale=0.01"}, {5, 10}, 12);
    row("every precision", "",
        {"lanes.0.precision=fp16", "lanes.1.precision=bf16", "model.norm=layer"}, {5}, 12);
}

void TestCheckpoint::goesOnWithTheSameBits() {
    QFETCH(QString, preset);
    QFETCH(QStringList, settings);
    QFETCH(QList<int>, after);
    QFETCH(int, steps);
    RunConfig config = preset.isEmpty() ? small() : presetNamed(preset.toStdString()).config;
    for (const QString& setting : settings)
        applySetting(config, setting.toStdString());
    config.device = "cpu";
    config.steps = steps;
    config.epochs = 0;
    for (const int step : after) {
        Run part(config), whole(config);
        part.to(step);
        compare(whole, part, step, steps);
    }
}

/// Earlier forks and edits, those of the next step, and those still to come.
/// The waits of a slow pace are time of the training, also of one that goes on.
void TestCheckpoint::waitsCount() {
    const auto secondsOfAStep = [](Experiment& experiment) {
        std::vector<StepRecord> records;
        std::vector<Event> events;
        experiment.advance(records, events);
        return records.at(0).wallSeconds;
    };
    Experiment first(small());
    first.addWait(1000);
    const double begins = secondsOfAStep(first);
    QVERIFY2(begins > 1000 && begins < 1500, qPrintable(QString::number(begins)));
    const ExperimentState state = throughAFile(first);
    Experiment second(state.recorded);
    second.resume(state);
    second.addWait(1000);
    const double goesOn = secondsOfAStep(second);
    QVERIFY2(goesOn > begins + 1000 && goesOn < 2500, qPrintable(QString::number(goesOn)));
}

void TestCheckpoint::forksAndEdits() {
    RunConfig config = small();
    LaneConfig fork = config.lanes[1];
    fork.scaler.initScale = 1024;
    config.forks = {{5, 1, 0, fork}, {15, 0, 2, fork}};
    config.edits = {{3, -1, "optimizer.lr", 0.002},
                    {9, 1, kLiveScale, 256.0},
                    {9, -1, "gradients.clip_limit", 0.5},
                    {20, -1, "run.steps", int64_t{22}}};
    config.gradients.clip = ClipKind::Norm2;
    for (const int64_t step : {2, 4, 8, 14, 19}) {
        Run part(config), whole(config);
        part.to(step);
        compare(whole, part, step, 22);
        QVERIFY(whole.experiment->finished());
    }
}

/// An edit that comes during a step waits for the next one; so does a checkpoint.
void TestCheckpoint::editInTheMiddleOfAStep() {
    RunConfig config = small({"task.samples=4000", "task.batch=4000"});
    config.steps = 100000;
    Run part(config);
    part.to(1); // the first step takes longer than the others
    const auto start = std::chrono::steady_clock::now();
    part.to(5);
    const auto ofAStep = (std::chrono::steady_clock::now() - start) / 4;
    for (int tried = 0; part.experiment->atStepBoundary(); ++tried) {
        QVERIFY(tried < 1000);
        std::thread other([&] { // one of the requests comes before the second lane has finished
            std::this_thread::sleep_for(ofAStep * (tried * 37 % 100) / 50);
            part.experiment->requestStop();
        });
        while (part.experiment->advance(part.records, part.events)) {
        }
        other.join();
        part.experiment->clearStop();
    }
    QVERIFY(thrownBy<RunError>([&] {
                part.experiment->state();
            }).starts_with("a checkpoint is written between two steps only: step "));
    part.experiment->setLive(1, kLiveScale, 64.0, part.events);
    part.experiment->setLive(-1, "optimizer.lr", 0.5, part.events);
    const int64_t step = part.experiment->step() + 1;
    part.to(step);
    Run rest(throughAFile(*part.experiment));
    part.records.clear();
    for (Run* run : {&part, &rest})
        run->to(step + 4);
    QCOMPARE(rest.records.size(), part.records.size());
    for (size_t i = 0; i < rest.records.size(); ++i)
        QVERIFY(sameButTimes(rest.records[i], part.records[i]));
    QCOMPARE(rest.records[1].scale, 64.0f);
    QCOMPARE(rest.records[0].learningRate, 0.5f);
}

void TestCheckpoint::keepsTheFloor() {
    RunConfig config = small(
        {"scaler.at_floor=stop", "scaler.floor=2^21", "optimizer.kind=sgd", "optimizer.lr=1000"});
    Run run(config);
    while (run.experiment->stopReason().empty() && !run.experiment->finished())
        QVERIFY(run.experiment->advance(run.records, run.events));
    QVERIFY(!run.experiment->stopReason().empty());
    const Run again(throughAFile(*run.experiment));
    QCOMPARE(again.experiment->stopReason(), run.experiment->stopReason());
}

void TestCheckpoint::everyByteIsChecked() {
    RunConfig config = small();
    config.model = {2, 0, Norm::None, Activation::Relu};
    config.lanes.resize(1);
    Run run(config);
    run.to(2);
    writeCheckpoint(path("whole.safetensors"), run.experiment->state(), "1");
    const QByteArray whole = contentOf(path("whole.safetensors"));
    readCheckpoint(path("whole.safetensors"));
    const std::string damaged = path("damaged.safetensors");
    int named = 0;
    for (qsizetype at = 0; at < whole.size(); ++at) {
        if (at > 200 && at < whole.size() - 1500 && at % 7 != 0) continue;
        QByteArray bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ 1);
        write(damaged, bytes);
        const std::string text = thrownBy<InputError>([&] { readCheckpoint(damaged); });
        QVERIFY2(isAbout(text, damaged, ""),
                 qPrintable(QString("byte %1: %2").arg(at).arg(text.c_str())));
        named += text.find("it is damaged: the values of 0/") != std::string::npos;
    }
    QVERIFY(named > 100);
}

void TestCheckpoint::cutAnywhere() {
    Run run(small());
    writeCheckpoint(path("whole.safetensors"), run.experiment->state(), "1");
    const QByteArray whole = contentOf(path("whole.safetensors"));
    for (qsizetype length = 0; length < whole.size(); length += 997) {
        write(path("cut.safetensors"), whole.left(length));
        const std::string text =
            thrownBy<InputError>([&] { readCheckpoint(path("cut.safetensors")); });
        QVERIFY2(isAbout(text, path("cut.safetensors"), ""), text.c_str());
    }
}

void TestCheckpoint::refusesOthers() {
    Run run(small());
    const std::string weights = path("weights.safetensors");
    write(weights, QByteArray::fromStdString(stateDictBytes(run.experiment->lane(0), "", "1")));
    QVERIFY(!isCheckpoint(weights));
    QVERIFY(isAbout(thrownBy<InputError>([&] { readCheckpoint(weights); }), weights,
                    "weights are the setting model.weights, or --weights FILE"));
    ExperimentState state = throughAFile(*run.experiment);
    QVERIFY(isCheckpoint(path("checkpoint.safetensors")));
    QCOMPARE(state.device, run.experiment->device().name);
    state.lanes.pop_back();
    QVERIFY(thrownBy<InputError>([&] {
                Run other(state);
            }).starts_with("the checkpoint has 1 lanes, its experiment has 2"));
    state = throughAFile(*run.experiment);
    state.lanes[1].states.erase("scaler");
    QCOMPARE(thrownBy<InputError>([&] { Run other(state); }),
             "the state of lane " + run.experiment->laneName(1) + ": scaler is missing");
}

void TestCheckpoint::refusesWhatNoTrainingWrites_data() {
    QTest::addColumn<QString>("state");
    QTest::addColumn<int>("place");
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("allowed"); ///< empty where a training can come to the value
    const auto row = [](const char* state, int place, double value, const char* allowed) {
        QTest::addRow("%s %d %g", state, place, value)
            << QString(state) << place << value << QString(allowed);
    };
    constexpr double kInf = std::numeric_limits<double>::infinity();
    row("scaler", kScaleSlot, std::nan(""), "a number from 0 to inf");
    row("scaler", kScaleSlot, -1e300, "a number from 0 to inf");
    row("scaler", kScaleSlot, 1e300, "a number from 0 to 3.40282");
    row("scaler", kScaleSlot, kInf, ""); // with GrowthClamp::None
    row("scaler", kScaleSlot, 0, "");    // without a floor
    row("scaler", kTrackerSlot, 0.5, "a whole number from 0 to 5");
    row("scaler", kTrackerSlot, 6, "a whole number from 0 to 5");
    row("scaler", kStepsSlot, -1e300, "a whole number from 0 to 5");
    row("scaler", kStopSlot, 2, "a whole number from 0 to 1");
    row("scaler.rules", kGrowthFactorSlot, std::nan(""), "a number from 1 to ");
    row("scaler.rules", kBackoffFactorSlot, -1e300, "a number from 0 to 1");
    row("scaler.rules", kGrowthIntervalSlot, 1e300, "a whole number from 0 to 1000000000");
    row("scaler.rules", kModeSlot, 3, "a whole number from 0 to 2");
    row("scaler.rules", kCeilingSlot, kInf, "a number from 0 to 3.40282");
    row("schedule.table", 0, std::nan(""), "a number from 0 to 3.40282");
    row("schedule.table", 0, -1, "a number from 0 to 3.40282");
    row("schedule.tick", 0, -1, "a whole number from 0 to 5");
    row("schedule.tick", 0, 6, "a whole number from 0 to 5");
    row("schedule.tick", 0, 4, "5 after step 5");
}

/// The checksums of such a file are right.
void TestCheckpoint::refusesWhatNoTrainingWrites() {
    QFETCH(const QString, state);
    QFETCH(const int, place);
    QFETCH(const double, value);
    QFETCH(const QString, allowed);
    Run run(small());
    run.to(5);
    ExperimentState changed = throughAFile(*run.experiment);
    Run whole(changed); // it can be read
    QCOMPARE(whole.experiment->step(), int64_t{5});
    TypedBytes& values = changed.lanes[1].states.at(state.toStdString());
    const bool isDouble = values.dtype == DType::F64;
    const auto single = static_cast<float>(value);
    const void* from = isDouble ? static_cast<const void*>(&value) : &single;
    const size_t size = bytesOf(values.dtype);
    std::memcpy(values.bytes.data() + static_cast<size_t>(place) * size, from, size);
    writeCheckpoint(path("changed.safetensors"), changed, "1.2.3");
    const ExperimentState read = readCheckpoint(path("changed.safetensors"));
    const QString reason = QString::fromStdString(thrownBy<InputError>([&] { Run other(read); }));
    if (allowed.isEmpty()) {
        QCOMPARE(reason, QString("nothing thrown"));
        return;
    }
    const QString start = QString("the state of lane %1: %2, value %3: ")
                              .arg(QString::fromStdString(run.experiment->laneName(1)), state)
                              .arg(place + 1);
    QVERIFY2(reason.startsWith(start), qPrintable(reason));
    QVERIFY2(reason.contains(" is not allowed: " + allowed), qPrintable(reason));
}

/// A lane whose skips hold its schedule is behind the others.
void TestCheckpoint::aHeldScheduleIsBehind() {
    Run run(small({"lanes.1.scaler.hold_schedule=true", "lanes.1.scaler.init_scale=2^40"}));
    run.to(5);
    const ExperimentState state = throughAFile(*run.experiment);
    const TypedBytes& tick = state.lanes.at(1).states.at("schedule.tick");
    float at = -1;
    std::memcpy(&at, tick.bytes.data(), sizeof at);
    QVERIFY(state.lanes[1].skipped > 0);
    QCOMPARE(at, static_cast<float>(5 - state.lanes[1].skipped));
    QCOMPARE(Run(state).experiment->step(), int64_t{5});
}

void TestCheckpoint::refusesNumbersOfItsHeader() {
    Run run(small());
    run.to(5);
    const ExperimentState good = throughAFile(*run.experiment);
    const std::string file = path("numbers.safetensors");
    const auto refused = [&](const ExperimentState& state) {
        writeCheckpoint(file, state, "1.2.3");
        return thrownBy<InputError>([&] { readCheckpoint(file); });
    };
    ExperimentState bad = good;
    bad.wallSeconds = -1;
    QVERIFY(isAbout(refused(bad), file, "state.seconds: -1.0 is not allowed: a number from 0 to"));
    bad = good;
    bad.lanes[0].plateau.rate = -1;
    QVERIFY(isAbout(refused(bad), file, "state.lanes.0.plateau_rate: -1.0 is not allowed"));
    bad = good;
    bad.lanes[0].atFloor = FloorStop{1, -1};
    QVERIFY(isAbout(refused(bad), file, "state.lanes.0.floor_scale: -1.0 is not allowed"));
}

/// No memory is allocated for what the file does not have.
void TestCheckpoint::claimsMoreThanItHas() {
    const std::string header = R"({"0/w":{"dtype":"F32","shape":[1099511627776],)"
                               R"("data_offsets":[0,4398046511104]}})";
    const uint64_t length = header.size();
    QByteArray bytes(reinterpret_cast<const char*>(&length), sizeof length);
    bytes += QByteArray::fromStdString(header) + QByteArray(1000, '\0');
    const std::string file = path("claims.safetensors");
    write(file, bytes);
    const std::string words = "bytes 0 to 4398046511104 are outside the 1000 bytes of values";
    QVERIFY(isAbout(thrownBy<InputError>([&] { readCheckpoint(file); }), file, words));
    QVERIFY(isAbout(thrownBy<InputError>([&] { checkpointInFile(file, 1); }), file, words));
    QVERIFY(!isCheckpoint(file));
}

/// A checkpoint of gigabytes: reading, writing to memory and checking can be cancelled between
/// parts.
void TestCheckpoint::canBeCancelled() {
    const std::string large(size_t{40} << 20, 'x');
    const std::string file = path("large");
    write(file, QByteArray::fromStdString(large));
    std::string into(large.size(), '\0');
    QVERIFY(InputFile(file).read(into) <= into.size() / 2);

    Run run(small());
    const std::string bytes = checkpointBytes(run.experiment->state(), "1");
    std::stop_source stop;
    const Cancellable scope(stop.get_token());
    const RunCheckpoint kept(1, [&] {
        stop.request_stop(); // once it is in memory
        return bytes;
    });
    const qsizetype open = openFiles();
    const qint64 written = bytesWritten();
    QVERIFY_THROWS_EXCEPTION(Cancelled, readKept(kept, "run"));
    QCOMPARE(openFiles(), open);
    QVERIFY(bytesWritten() - written < static_cast<qint64>(bytes.size()));
    QVERIFY_THROWS_EXCEPTION(Cancelled, sha256(large));
    QCOMPARE(sha256("").size(), size_t{64}); // a short text is done before anyone could wait
}

/// A checkpoint is written to memory in parts of 16 MiB, and is the same after the last of them.
void TestCheckpoint::aLargeOneInMemory() {
    Run run(small());
    run.to(2);
    ExperimentState state = run.experiment->state();
    TypedBytes& large = state.lanes[0].states["large"];
    large.shape = {(int64_t{40} << 20) / 4 + 3};
    large.bytes.resize(static_cast<size_t>(large.shape[0]) * 4);
    for (size_t i = 0; i < large.bytes.size(); ++i)
        large.bytes[i] = static_cast<std::byte>(i * 31 + i / 4096);
    const auto expected = state.lanes;
    const ExperimentState again = readKept(*keptCheckpoint(std::move(state), "1"), "run");
    QCOMPARE(again.step, int64_t{2});
    QCOMPARE(again.lanes.size(), expected.size());
    for (size_t lane = 0; lane < expected.size(); ++lane)
        QVERIFY(again.lanes[lane].states == expected[lane].states);
}

void TestCheckpoint::anotherDataSet() {
    Run run(small());
    ExperimentState state = run.experiment->state();
    state.recorded.task.samples = 101;
    QCOMPARE(
        thrownBy<InputError>([&] { Run other(state); }),
        std::string("the data set has 101 samples in batches of 32 now; when the checkpoint "
                    "was written it had 100 in batches of 32, and a run goes on only with as many, "
                    "in the same order"));
}

void TestCheckpoint::offersTheOneBefore() {
    Run run(small());
    const std::string now = path(run_file::kCheckpoint),
                      before = path(run_file::kEarlierCheckpoint);
    run.to(3);
    writeCheckpoint(before, run.experiment->state(), "1");
    write(now, "damaged");
    const auto refusal = [&] { return thrownBy<InputError>([&] { readCheckpoint(now); }); };
    QVERIFY(isAbout(refusal(), now, ". The one before it is whole: " + before + ", after step 3"));
    QFile::remove(QString::fromStdString(now));
    QVERIFY(isAbout(refusal(), now, "The one before it is whole"));
    write(before, "damaged too");
    QVERIFY(isAbout(refusal(), now, "; nor can the one before it be read: " + before + ": "));
}

void TestCheckpoint::savedWithoutOne_data() {
    QTest::addColumn<QString>("fault");
    for (const char* fault : {"damaged", "gone", "no memory", "none"})
        QTest::newRow(fault) << fault;
}

/// A run whose checkpoint cannot be read is saved without it, and says why.
void TestCheckpoint::savedWithoutOne() {
    QFETCH(QString, fault);
    ThreeSteps made;
    const auto kept = made.keptWith(std::make_shared<const RunCheckpoint>(3, [&]() -> std::string {
        if (fault == "gone") throw RunError(Message::data("it is gone"));
        if (fault == "no memory") throw std::bad_alloc();
        return fault == "damaged" ? made.bytes.substr(0, made.bytes.size() / 2) : made.bytes;
    }));
    const QTemporaryDir folder;
    const std::string place = folder.path().toStdString();
    const SavedFiles saved = saveWithCheckpoint(kept->snapshot(), place, "Mine", "1");
    const std::map<QString, std::string> words{
        {"damaged", "Mine: its checkpoint after step 3 is damaged"},
        {"gone", "it is gone"},
        {"no memory", "there is no memory for it"},
    };
    const auto told = words.find(fault);
    QCOMPARE(saved.checkpointError.english(),
             told == words.end() ? "" : "Saved without a checkpoint: " + told->second);
    QCOMPARE(QFile::exists(folder.filePath(run_file::kCheckpoint)), told == words.end());
    QCOMPARE(readRun(place)->step(), int64_t{3});
    if (told != words.end()) return;
    const std::string id = readCheckpoint(checkpointAt(place)).run;
    QCOMPARE(readPast(place, id, 3, small()).step, int64_t{3});
    // gradients that were counted later belong to the steps to come
    std::array<std::string, 3> lines;
    for (size_t i = 0; i < lines.size(); ++i) {
        GradientRange range;
        range.step = static_cast<int64_t>(i) + 1;
        range.outputs.buckets[0] = 1;
        lines[i] = gradientLine(range, kept->lanes()[0].name);
    }
    writeFileAtomically(folder.filePath(run_file::kGradients).toStdString(),
                        gradientHeader() + lines[0] + lines[1] + lines[2]);
    QCOMPARE(readPast(place, id, 2, small()).gradients, lines[0] + lines[1]);
}

/// A run that was opened is saved into its own folder again and again, and elsewhere.
void TestCheckpoint::savedOverItsOwn() {
    ThreeSteps made;
    int reads = 0; // of the file that was opened: saving needs no more than one
    const auto kept = made.keptWith(std::make_shared<const RunCheckpoint>(
        3,
        [&made, &reads]() -> std::string {
            if (++reads > 1) throw std::bad_alloc();
            return made.bytes;
        },
        RunCheckpoint::Lies::InFile));
    const QTemporaryDir own, other;
    const auto checkpoint = [&kept] { return kept->snapshot().checkpoint()->bytes(); };
    for (const QTemporaryDir* folder : {&own, &own, &other}) {
        const std::string place = folder->path().toStdString();
        QVERIFY(saveWithCheckpoint(kept->snapshot(), place, "Mine", "1").checkpointError.empty());
        QCOMPARE(reads, 1);
        QCOMPARE(QByteArray::fromStdString(checkpoint()), contentOf(checkpointAt(place)));
    }
    QVERIFY(QFile::remove(QString::fromStdString(checkpointAt(other.path().toStdString()))));
    const std::string before = checkpointAt(own.path().toStdString());
    QCOMPARE(QByteArray::fromStdString(checkpoint()), contentOf(before));
    QVERIFY(QFile::remove(QString::fromStdString(before))); // no older one is kept: newest is told
    const std::string told = thrownBy<InputError>([&] { (void)checkpoint(); });
    QVERIFY2(told.starts_with(other.path().toStdString()), told.c_str());
}

} // namespace tst_checkpoint

QTEST_GUILESS_MAIN(tst_checkpoint::TestCheckpoint)
#include "tst_checkpoint.moc"
