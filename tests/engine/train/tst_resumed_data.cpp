// Runs that go on in the middle of an epoch have the bits of runs that never stopped, whatever data
// they train on and however many threads read them now; and data that cannot be read for a while do
// no harm to a run.
#include "engine/core/error.h"
#include "engine/settings/fields.h"
#include "engine/train/checkpoint.h"
#include "engine/train/experiment.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"
#include "tests/support/resumed_run.h"
#include "tests/support/tar_files.h"
#include "tests/support/thrown.h"
#include "tests/support/training.h"

#include <QDir>
#include <QTest>

#include <algorithm>
#include <string>
#include <utility>

namespace tst_resumed_data {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr int kSteps = 12;

/// Returns a picture that is like no other number's, nor like its own mirror image.
Picture picture(int number, int channels) {
    Picture made{kPictureSide, kPictureSide, channels, {}};
    for (int i = 0; i < kPictureSide * kPictureSide * channels; ++i)
        made.values.push_back(static_cast<float>((37 * i + 53 * number) % 256) / 255.0f);
    return made;
}

int64_t damagedOf(const ResumedRun& run) {
    return std::ranges::count(run.events, EventKind::Damaged, &Event::kind);
}

/// Returns a run of one lane that paints.
RunConfig checkerboard() {
    RunConfig config;
    config.task.kind = TaskKind::Checkerboard;
    config.task.side = 16;
    config.task.samples = 256;
    config.model.width = 12;
    config.model.depth = 1;
    config.steps = kSteps;
    config.device = "cpu";
    config.threads = 1;
    config.lanes.resize(1);
    return config;
}

} // namespace

class TestResumedData : public QObject, PictureFolder {
    Q_OBJECT

private slots:
    void init() { renew(); }
    void goesOnWithOtherReaders_data();
    void goesOnWithOtherReaders();
    void dataVanishForAWhile();
    void picturesTellWhichWeightsMadeThem();
    void theLastPicturesAreKept();

private:
    QString path(const char* name) const { return m_folder->filePath(QLatin1String(name)); }
    void writePictures() const;
    void writeShards() const;
    void writeText() const;
    /// Returns a small run on data of this kind, which it writes.
    RunConfig runOn(const QString& data) const;
    ExperimentState throughAFile(Experiment& experiment) const {
        const std::string file = path("checkpoint.safetensors").toStdString();
        writeCheckpoint(file, experiment.state(), "1.2.3");
        return readCheckpoint(file);
    }
};

/// Writes 16 pictures to train on, one of them damaged, and 4 to validate on.
void TestResumedData::writePictures() const {
    for (int i = 0; i < 20; ++i)
        put(QString("data/%1/%2/%3.png").arg(i < 16 ? "train" : "val").arg(i % 2).arg(i),
            picture(i, 3));
    writeBytes(path("data/train/1/5.png").toStdString(), "\x89PNG\r\n\x1a\nno more");
}

/// Writes two shards with 16 samples of three classes.
void TestResumedData::writeShards() const {
    QVERIFY(QDir().mkpath(path("data")));
    std::string first, second;
    for (int i = 0; i < 16; ++i) {
        const std::string name = std::to_string(100 + i);
        (i < 9 ? first : second) += tarFile(name + ".png", pngBytes(picture(i, 3))) +
                                    tarFile(name + ".cls", std::to_string(i % 3));
    }
    writeBytes(path("data/0.tar").toStdString(), first + tarEnd());
    writeBytes(path("data/1.tar").toStdString(), second + tarEnd());
}

/// Writes 60 characters, five different ones.
void TestResumedData::writeText() const {
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += static_cast<char>('a' + (i * i + i / 3) % 5);
    writeBytes(path("data.txt").toStdString(), text);
}

RunConfig TestResumedData::runOn(const QString& data) const {
    RunConfig config = skippingRegression();
    if (data == "pictures" || data == "shards") {
        const bool shards = data == "shards";
        if (shards)
            writeShards();
        else
            writePictures();
        config = presetNamed("mnist-mlp").config;
        config.task = task(shards ? TaskKind::Shards : TaskKind::Pictures);
        config.task.path = path("data").toStdString();
        config.model.width = 8;
    } else if (data == "text") {
        writeText();
        config = presetNamed("transformer-tiny").config;
        config.task.path = path("data.txt").toStdString();
        config.model.layers = "nn.Sequential(nn.Embedding(5, 4), nn.Flatten(), nn.Linear(32, 5))";
    } else if (data == "digits to draw") {
        config = presetNamed("gan").config;
        config.model.layers =
            "nn.Sequential(nn.Linear(64, 784), nn.BatchNorm1d(784), nn.Sigmoid())";
        config.model.critic =
            "nn.Sequential(nn.Linear(784, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))";
    }
    config.device = "cpu";
    config.threads = 1;
    config.epochs = 0;
    config.steps = kSteps;
    return config;
}

void TestResumedData::goesOnWithOtherReaders_data() {
    QTest::addColumn<QString>("data");
    QTest::addColumn<QStringList>("settings");
    QTest::addColumn<int>("before"); // data.workers
    QTest::addColumn<int>("after");
    QTest::addColumn<int>("damaged");
    const auto rows = [](const char* data, const QStringList& settings, int damaged = 0) {
        for (const auto& [before, after] : {std::pair(3, 0), std::pair(0, 2)})
            QTest::addRow("%s, %d readers, then %d", data, before, after)
                << data << settings << before << after << damaged;
    };
    // epochs of three or four batches, the last of them smaller
    rows("numbers", {"task.samples=100", "task.batch=32"});
    rows("pictures",
         {"data.flip=true", "data.crop=1", "data.damaged=skip", "task.batch=6",
          "validation.steps=5"},
         1);
    rows("shards",
         {"data.flip=true", "data.validation=0.25", "task.batch=5", "validation.steps=5"});
    rows("text", {"data.context=8", "data.validation=0.25", "task.batch=16", "validation.steps=5"});
    rows("digits to draw", {"model.critic_steps=2", "task.samples=40", "task.batch=16"});
}

void TestResumedData::goesOnWithOtherReaders() {
    QFETCH(const QString, data);
    QFETCH(const QStringList, settings);
    QFETCH(const int, before);
    QFETCH(const int, after);
    QFETCH(const int, damaged);
    RunConfig config = runOn(data);
    for (const QString& setting : settings)
        applySetting(config, setting.toStdString());
    config.data.workers = before;
    ResumedRun whole(config);
    whole.to(kSteps);
    QCOMPARE(damagedOf(whole), int64_t{damaged});
    for (const int step : {2, 5, 10}) {
        ResumedRun part(config);
        part.to(step);
        QVERIFY(step % part.experiment->stepsPerEpoch() != 0);
        ExperimentState state = throughAFile(*part.experiment);
        state.recorded.data.workers = after;
        ResumedRun rest(state);
        QCOMPARE(rest.experiment->step(), int64_t{step});
        QCOMPARE(rest.experiment->config().data.workers, int64_t{after});
        rest.to(kSteps);
        compareRest(rest, whole, part);
        if (QTest::currentTestFailed()) return;
    }
}

/// The folder is gone before all of its pictures were read: the step that needs one says so, the
/// run can still be saved as it was before that step, and it goes on with the same bits once the
/// folder is back.
void TestResumedData::dataVanishForAWhile() {
    RunConfig config = runOn("pictures");
    put("data/train/1/5.png", picture(5, 3)); // whole
    config.task.batch = 2;                    // 8 steps an epoch
    config.validation.epochs = 0;
    ResumedRun whole(config), part(config);
    whole.to(kSteps);
    part.to(3);
    QVERIFY(QDir().rename(path("data"), path("away")));
    for (int again = 0; again < 2; ++again) {
        const std::string text =
            thrownBy<InputError>([&] { part.experiment->advance(part.records, part.events); });
        QCOMPARE(text, "data.path: " + path("data").toStdString() +
                           " cannot be read: No such file or directory");
    }
    QCOMPARE(part.experiment->step(), int64_t{3});
    const ExperimentState state = throughAFile(*part.experiment);
    QVERIFY(QDir().rename(path("away"), path("data")));
    ResumedRun rest(state);
    rest.to(kSteps);
    compareRest(rest, whole, part);
    part.to(kSteps);
    QCOMPARE(part.records.size(), whole.records.size());
    for (size_t i = 0; i < part.records.size(); ++i)
        QVERIFY(sameButTimes(part.records[i], whole.records[i]));
}

/// A checkpoint on the way has the weights after its step and none of its outputs, so what is shown
/// of it, also by a lane that is forked there, is what they paint. The next step has outputs again.
void TestResumedData::picturesTellWhichWeightsMadeThem() {
    const RunConfig config = checkerboard();
    ResumedRun first(config);
    QVERIFY(first.experiment->snapshot().made == PicturesMade::InStep); // before step 1
    first.to(3);
    QVERIFY(first.experiment->snapshot().made == PicturesMade::InStep);
    const std::vector<float> before = first.experiment->snapshot().outputs[0].values;
    ResumedRun second(first.experiment->state());
    const Snapshot opened = second.experiment->snapshot();
    QCOMPARE(opened.step, int64_t{3});
    QVERIFY(opened.made == PicturesMade::AfterStep && opened.outputs[0].values != before);
    second.experiment->fork(0, config.lanes[0], second.events);
    QVERIFY(second.experiment->snapshot().made == PicturesMade::AfterStep);
    QVERIFY(!second.experiment->state(LastOutputs::Always).lanes[0].prediction);
    second.to(4);
    QVERIFY(second.experiment->snapshot().made == PicturesMade::InStep);
}

/// One of the last step, or that is asked for it, has the outputs, too: the run that goes on shows
/// the same pictures until its next step.
void TestResumedData::theLastPicturesAreKept() {
    ResumedRun first(checkerboard());
    const auto compare = [&first](const ExperimentState& state) {
        const Snapshot shown = first.experiment->snapshot();
        ResumedRun second(state);
        const Snapshot again = second.experiment->snapshot();
        QVERIFY(again.made == PicturesMade::InStep);
        QCOMPARE(again.step, shown.step);
        QCOMPARE(again.outputs[0].values, shown.outputs[0].values);
        const ExperimentState later = second.experiment->state(LastOutputs::Always);
        QVERIFY(later.lanes[0] == state.lanes[0]);
    };
    first.to(3);
    QVERIFY(!first.experiment->state().lanes[0].prediction);
    compare(first.experiment->state(LastOutputs::Always));
    first.to(kSteps);
    compare(first.experiment->state());
    ExperimentState other = first.experiment->state();
    const int64_t numbers = other.lanes[0].prediction->shape.elements();
    setPrediction(other.lanes[0], std::vector<float>{1, 2, 3});
    QCOMPARE(thrownBy<InputError>([&] { ResumedRun refused(other); }),
             "the state of lane " + first.experiment->laneName(0) +
                 ": the outputs of its last step are 3 numbers; " + std::to_string(numbers) +
                 " are expected");
}

} // namespace tst_resumed_data

QTEST_GUILESS_MAIN(tst_resumed_data::TestResumedData)
#include "tst_resumed_data.moc"
