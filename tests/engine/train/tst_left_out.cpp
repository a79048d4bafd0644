// Validation samples that cannot be read: they are left out of loss and accuracy, and have no
// predictions. Those and training samples are named once, also by a run that goes on.
#include "engine/core/error.h"
#include "engine/settings/fields.h"
#include "engine/train/checkpoint.h"
#include "engine/train/experiment.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"
#include "tests/support/thrown.h"

#include <QFile>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace tst_left_out {

using namespace halfscope;
using namespace halfscope::test;

class TestLeftOut : public QObject, PictureFolder {
    Q_OBJECT
private slots:
    void init() { renew(); }
    void damagedFilesAreNotJudged();
    void aLoneSampleIsJoined();
    void allJudgedAreDamaged();
    void manyNumbersTakeTheMemoryOfOne();
    void stoppedWhileSomeAreLeftOut();
    void namedOnceByARunThatGoesOn();
    void aLostClassIsNamed();

private:
    static constexpr int kFew = 8;
    static QString nameOf(int i) { return QString("val/%1/%2.png").arg(i % 2).arg(i); }
    void mend(int i) const { put(nameOf(i), plain(0, 0, 1)); }
    /// Writes pictures to train on and as many to validate on; all but the first of the latter are
    /// damaged.
    void putDamaged() const {
        for (int i = 0; i < kFew; ++i) {
            put(QString("train/%1/%2.png").arg(i % 2).arg(i), plain(0, 1, 0));
            mend(i);
            if (i > 0) writeBytes(m_folder->filePath(nameOf(i)).toStdString(), "no picture");
        }
    }
    struct Found {
        std::optional<Validation> validation;
        Predictions predictions;
        int64_t counted = 0;
        size_t leftOut = 0;
        std::vector<Mistake> mistakes;
    };
    /// Trains a lane and judges it.
    static Found evaluated(const RunConfig& config) {
        Experiment experiment(config);
        std::vector<StepRecord> records;
        std::vector<Event> events;
        while (!experiment.finished())
            experiment.advance(records, events);
        Found found;
        const std::atomic<bool> stop{false};
        Trainer& lane = experiment.lane(0);
        found.validation = lane.evaluate(stop, &found.predictions);
        found.counted = lane.judged().counts.samples();
        found.mistakes = lane.judged().mistakes;
        found.leftOut = lane.skippedSamples().size();
        return found;
    }
    /// Leaves damaged pictures out.
    RunConfig skipping() const {
        RunConfig config = presetNamed("mnist-mlp").config;
        config.task = task();
        config.task.damaged = Damaged::Skip;
        config.task.batch = 4;
        config.device = "cpu";
        config.epochs = 0;
        return config;
    }
};

namespace {

/// All rows are where their samples are, and those of missing samples are nan.
void compareRest(const Predictions& with, const std::set<int>& missing,
                 const Predictions& without) {
    QCOMPARE(with.outputs, without.outputs);
    QCOMPARE(with.samples, without.samples + static_cast<int64_t>(missing.size()));
    const auto outputs = static_cast<size_t>(with.outputs);
    for (size_t i = 0, left = 0; i < with.values.size(); ++i) {
        if (missing.contains(static_cast<int>(i / outputs)))
            QVERIFY(std::isnan(with.values[i]));
        else
            QCOMPARE(with.values[i], without.values.at(left++));
    }
}

/// The same samples are wrong, by their numbers in the folder with the missing ones.
void compareMistakes(const std::vector<Mistake>& with, const std::set<int>& missing,
                     const std::vector<Mistake>& without) {
    QVERIFY(!without.empty() && without.back().sample > *missing.begin());
    QCOMPARE(with.size(), without.size());
    for (size_t i = 0; i < with.size(); ++i) {
        int64_t number = without[i].sample;
        for (const int each : missing) // in ascending order
            number += each <= number;
        QCOMPARE(with[i].sample, number);
        QCOMPARE(with[i].taken, without[i].taken);
    }
}

} // namespace

/// Loss, accuracy and other predictions equal those of a folder without the damaged files; 520
/// samples are two batches, of which the second is then smaller.
void TestLeftOut::damagedFilesAreNotJudged() {
    constexpr int kJudged = 520;
    for (int i = 0; i < 8; ++i)
        put(QString("train/%1/%2.png").arg(i % 2).arg(i), plain(0.1f * float(i), 0, 0));
    const auto judged = [](int i) {
        return QString("val/%1/%2.png").arg(i % 2).arg(i, 3, 10, QChar('0'));
    };
    for (int i = 0; i < kJudged; ++i)
        put(judged(i), plain(float(i % 100) / 100, float(i % 7) / 7, 0.5f));
    const std::set<int> damaged{4, 5, 300, kJudged - 1};
    for (const int i : damaged)
        writeBytes(m_folder->filePath(judged(i)).toStdString(), "no picture");
    RunConfig config = skipping();
    config.steps = 3;
    const Found with = evaluated(config);
    for (const int i : damaged)
        QVERIFY(QFile::remove(m_folder->filePath(judged(i))));
    const Found without = evaluated(config);
    QCOMPARE(with.leftOut, damaged.size());
    QCOMPARE(without.leftOut, size_t{0});
    QCOMPARE(with.counted, int64_t{kJudged} - 4);
    QCOMPARE(with.validation->loss, without.validation->loss);
    QCOMPARE(with.validation->accuracy, without.validation->accuracy);
    std::set<int> missing;
    for (const int i : damaged)
        missing.insert(i % 2 * (kJudged / 2) + i / 2); // samples are ordered by class
    QCOMPARE(with.predictions.samples, int64_t{kJudged});
    compareRest(with.predictions, missing, without.predictions);
    compareMistakes(with.mistakes, missing, without.mistakes);
}

/// Of eight samples two batches of four are read, the second of which has only one sample left: a
/// batch norm without running statistics takes it into the first. A batch of that size was not
/// compiled before.
void TestLeftOut::aLoneSampleIsJoined() {
    const auto judged = [](int i) { return QString("val/%1/%2.png").arg(i % 2).arg(i); };
    for (int i = 0; i < kFew; ++i) {
        put(QString("train/%1/%2.png").arg(i % 2).arg(i), plain(0.1f * float(i), 0.5f, 0.2f));
        put(judged(i), plain(float(i) / kFew, float(i * i % 5) / 5, float(i % 3) / 3));
    }
    const std::set<int> damaged{3, 5, 7}; // the last ones of the second class
    for (const int i : damaged)
        writeBytes(m_folder->filePath(judged(i)).toStdString(), "no picture");
    RunConfig config = skipping();
    config.steps = 3;
    config.model.layers = "nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), "
                          "nn.BatchNorm1d(3, track_running_stats=False), nn.Linear(3, 2))";
    const Found with = evaluated(config);
    for (const int i : damaged)
        QVERIFY(QFile::remove(m_folder->filePath(judged(i))));
    const Found without = evaluated(config);
    QCOMPARE(with.leftOut, damaged.size());
    QCOMPARE(with.counted, int64_t{5});
    QCOMPARE(without.counted, int64_t{5});
    QCOMPARE(with.validation->loss, without.validation->loss);
    compareRest(with.predictions, {5, 6, 7}, without.predictions);
}

void TestLeftOut::allJudgedAreDamaged() {
    for (const char* name : {"train/a/1.png", "train/b/1.png"})
        put(name, plain(0, 1, 0));
    put("val/a/1.png", plain(0, 1, 0));
    writeBytes(m_folder->filePath("val/a/1.png").toStdString(), "no picture");
    RunConfig config = skipping();
    config.task.batch = 2; // there are no more
    config.epochs = 1;
    Experiment experiment(config);
    const std::atomic<bool> stop{false};
    const std::string error = thrownBy<RunError>([&] { experiment.lane(0).evaluate(stop); });
    QVERIFY2(error.find("val/a/1.png: neither") != std::string::npos, error.c_str());
}

/// Each validation leaves out another number of samples.
void TestLeftOut::manyNumbersTakeTheMemoryOfOne() {
    putDamaged();
    RunConfig config = skipping();
    Experiment many(config);
    Trainer& lane = many.lane(0);
    const std::atomic<bool> stop{false};
    for (int damaged = kFew - 1; damaged > 0; --damaged) {
        QVERIFY(lane.evaluate(stop));
        QCOMPARE(lane.skippedSamples().size(), static_cast<size_t>(damaged));
        if (damaged > 1) mend(damaged);
    }
    Experiment one(config);
    QVERIFY(one.lane(0).evaluate(stop));
    QCOMPARE(lane.memory().bytes, one.lane(0).memory().bytes);
}

/// A request to stop may come while an executor for another number of samples is made.
void TestLeftOut::stoppedWhileSomeAreLeftOut() {
    putDamaged();
    Experiment experiment(skipping());
    Trainer& lane = experiment.lane(0);
    const std::atomic<bool> stop{false};
    {
        const std::jthread window([&](const std::stop_token& end) {
            while (!end.stop_requested()) {
                lane.requestStop();
                std::this_thread::yield();
            }
        });
        for (int damaged = kFew - 1; damaged > 1; --damaged) {
            for (int i = 0; i < 10; ++i)
                (void)lane.evaluate(stop);
            mend(damaged);
        }
    }
    while (!lane.evaluate(stop)) { // an evaluation that was stopped forgets the request
    }
    QCOMPARE(lane.skippedSamples().size(), size_t{1});
}

/// Epochs have two steps and end with a validation, so that every sample is met before and after
/// the break.
void TestLeftOut::namedOnceByARunThatGoesOn() {
    putDamaged();
    writeBytes(m_folder->filePath("train/0/2.png").toStdString(), "no picture");
    RunConfig config = skipping();
    config.steps = 8;
    const auto named = [](Experiment& experiment, int64_t step) {
        std::vector<StepRecord> records;
        std::vector<Event> events;
        while (experiment.step() < step)
            experiment.advance(records, events);
        return static_cast<int>(std::count_if(events.begin(), events.end(), [](const Event& each) {
            return each.kind == EventKind::Damaged;
        }));
    };
    Experiment first(config);
    QCOMPARE(named(first, 2), kFew); // of the samples to validate on one is whole
    const std::string file = m_folder->filePath("checkpoint.safetensors").toStdString();
    writeCheckpoint(file, first.state(), "1");
    const ExperimentState state = readCheckpoint(file);
    QCOMPARE(state.damaged.size(), static_cast<size_t>(kFew));
    Experiment rest(state.recorded);
    rest.resume(state);
    QCOMPARE(named(rest, 8), 0);
}

/// A class whose pictures are all damaged is told before these, by a run that begins, and one that
/// has a single one left is none.
void TestLeftOut::aLostClassIsNamed() {
    for (int i = 0; i < kFew; ++i) {
        put(QString("train/%1/%2.png").arg(i % 2).arg(i), plain(0, 1, 0));
        mend(i);
    }
    for (int i = 1; i < kFew; i += 2)
        writeBytes(m_folder->filePath(QString("train/1/%1.png").arg(i)).toStdString(), "");
    RunConfig config = skipping();
    config.steps = 8;
    const auto lost = [](Experiment& experiment, int64_t step) {
        std::vector<StepRecord> records;
        std::vector<Event> events;
        while (experiment.step() < step)
            experiment.advance(records, events);
        QStringList texts;
        for (const Event& each : events)
            if (each.kind == EventKind::Damaged)
                texts << QString::fromStdString(each.text.english());
        // all samples of the first epoch are told behind it
        const bool first = texts.size() == 5 && texts[0].contains("no sample");
        return first ? texts.filter("no sample") : texts;
    };
    Experiment begun(config);
    const QStringList told = lost(begun, 4);
    QCOMPARE(told.size(), 1);
    QVERIFY2(
        told[0].endsWith(": no sample to train on of the class \"1\" can be read (it has 4). So "
                         "the network cannot learn this class."),
        qPrintable(told[0]));
    Experiment rest(config);
    rest.resume(begun.state());
    QCOMPARE(lost(rest, 8), QStringList());
    put("train/1/3.png", plain(1, 0, 0));
    Experiment other(config);
    for (const QString& text : lost(other, 4))
        QVERIFY2(text.contains("train/1/"), qPrintable(text));
}

} // namespace tst_left_out

QTEST_GUILESS_MAIN(tst_left_out::TestLeftOut)
#include "tst_left_out.moc"
