// What users are told about predictions that look better or worse than they are.
#include "engine/core/error.h"
#include "engine/io/npy.h"
#include "engine/runs/run_folder.h"
#include "engine/settings/data_experiment.h"
#include "engine/train/known_targets.h"
#include "engine/train/lane_file.h"
#include "engine/train/predicted_samples.h"
#include "engine/train/state_dict.h"
#include "tests/support/array_files.h"
#include "tests/support/picture_folder.h"

#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tst_notes_on_predicted {

using namespace halfscope;

class TestNotesOnPredicted : public QObject {
    Q_OBJECT
private slots:
    void untrainedNetworks();
    void untrainedNetworksThatWereSaved();
    void dataThatWereTrainedOn();
    void targetsInAFileOfTheirOwn();
    void classesThatAreNotKnown();
    void theChosenLaneIsNamed();
    void samplesWithAnOutputThatIsNotFinite();
    void logitsThatAreNotFinite();
    void nearlyAllRight();
    void aTableThatHasShrunk();

private:
    /// Returns an experiment on the file that has trained for so many steps.
    static std::unique_ptr<Experiment> trained(const std::string& path, int64_t steps) {
        RunConfig config = *experimentOn(path);
        config.epochs = 0;
        config.steps = steps + 1;
        auto experiment = std::make_unique<Experiment>(config);
        std::vector<StepRecord> records;
        std::vector<Event> events;
        while (experiment->step() < steps)
            experiment->advance(records, events);
        return experiment;
    }
    static std::string notes(Experiment& experiment, int lane, const std::string& samples) {
        std::string text;
        const auto predicted = predictedSamples(experiment, lane, samples);
        for (const Message& note : predicted->notes)
            text += note.english() + "\n";
        return text;
    }
    std::string write(const char* name, const std::string& bytes) {
        return writeBytes(m_folder.filePath(QLatin1String(name)).toStdString(), bytes);
    }
    /// Writes a table of so many lines with two classes.
    std::string kinds(int lines = 200) {
        std::string text = "size,kind\n";
        for (int i = 0; i < lines; ++i)
            text += std::to_string(i) + (i < lines / 2 ? ",small\n" : ",large\n");
        return write("kinds.csv", text);
    }
    /// Writes the weights of all lanes into a folder, as a run does.
    static void save(Experiment& experiment, const std::string& folder) {
        std::filesystem::create_directories(folder);
        for (int lane = 0; lane < experiment.lanes(); ++lane)
            writeBytes(folder + "/" + run_file::weights(experiment.laneName(lane)),
                       stateDictBytes(experiment.lane(lane), "", "1", experiment.dataRecord()));
    }
    /// Returns the sentence on predictions of samples whose targets are `y`.
    std::string scored(const Predictions& all, const std::vector<float>& y,
                       const std::vector<std::string>* classes, LossKind loss = LossKind::Mse) {
        TaskConfig task;
        task.kind = TaskKind::Arrays;
        task.loss.kind = loss;
        const auto each = static_cast<int64_t>(y.size()) / all.samples;
        const std::string array = npyBytes(std::vector<int64_t>{all.samples, each}, y);
        task.predictFile = write("y.npz", zipBytes({{"x.npy", array}, {"y.npy", array}}));
        const std::vector<LanePredictions> lanes{{"fp32", all}};
        const TargetScores scores = knownTargets(task, lanes, classes);
        return scores.known ? scores.known->sentence(0).english() : std::string();
    }
    QTemporaryDir m_folder;
};

/// What weights that were drawn predict is no result, whichever samples these are.
void TestNotesOnPredicted::untrainedNetworks() {
    const std::string path = kinds(), other = write("other.csv", "size\n1\n2\n");
    const auto experiment = trained(path, 0);
    QCOMPARE(notes(*experiment, 0, other), std::string("The network had not been trained yet.\n"));
    const std::string own = notes(*experiment, 0, path);
    QVERIFY2(own.starts_with("The network had not been trained yet.\nfp32: Predicted right: "),
             own.c_str());
    QCOMPARE(notes(*experiment, kEveryLane, other),
             std::string("The networks had not been trained yet.\n"));
    QCOMPARE(notes(*trained(path, 1), 0, other), std::string());
}

/// A saved network tells by its step, unless the run began with weights of another training.
void TestNotesOnPredicted::untrainedNetworksThatWereSaved() {
    const std::string path = kinds(), other = write("other.csv", "size\n1\n2\n");
    const std::string folder = m_folder.filePath(QStringLiteral("saved")).toStdString();
    const auto told = [&](int64_t steps, const char* weights) {
        const auto experiment = trained(path, steps);
        RunConfig recorded = experiment->config();
        recorded.model.weights = weights;
        save(*experiment, folder);
        std::string text;
        const auto predicted = predictedSamples(RunWeights(folder, recorded), "fp32", other);
        for (const Message& note : predicted->notes)
            text += note.english() + "\n";
        return text;
    };
    QCOMPARE(told(0, ""), std::string("The network had not been trained yet.\n"));
    QCOMPARE(told(1, ""), std::string());
    QCOMPARE(told(0, "first.safetensors"), std::string());
}

/// The accuracy of these samples says little: the network has seen their targets.
void TestNotesOnPredicted::dataThatWereTrainedOn() {
    const std::string path = kinds();
    const auto table = trained(path, 1);
    const std::string around = m_folder.path().toStdString() + "/./kinds.csv";
    const std::string told = notes(*table, 0, around);
    QVERIFY2(told.starts_with(around + " is the table that the network was trained on.\nfp32: "),
             told.c_str());
    const std::string ofAll = notes(*table, kEveryLane, around);
    QVERIFY2(ofAll.starts_with(around + " is the table that the networks were trained on.\nfp32: "),
             ofAll.c_str());
    QVERIFY(notes(*table, 0, write("copy.csv", "size,kind\n1,small\n")).starts_with("fp32: "));

    std::vector<float> x;
    for (int i = 0; i < 40; ++i)
        x.push_back(static_cast<float>(i) / 20);
    const std::string array = npyBytes(std::vector<int64_t>{40, 1}, x);
    const std::string archive = write("all.npz", zipBytes({{"x.npy", array}, {"y.npy", array}}));
    const std::string ofArrays = notes(*trained(archive, 1), 0, archive);
    QVERIFY2(ofArrays.starts_with(archive + " has the samples that the network was trained on.\n"),
             ofArrays.c_str());

    for (int i = 0; i < 8; ++i)
        for (const float grey : {0.1f, 0.9f}) {
            const QString file = m_folder.filePath(
                QStringLiteral("shades/%1/%2.png").arg(grey > 0.5f ? "light" : "dark").arg(i));
            QDir().mkpath(QFileInfo(file).path());
            writePng(test::plain(grey, grey, grey), file.toStdString());
        }
    const std::string folder = m_folder.filePath(QStringLiteral("shades")).toStdString();
    const std::string ofPictures = notes(*trained(folder, 1), 0, folder);
    QVERIFY2(
        ofPictures.starts_with(folder + " has the pictures that the network was trained on.\n"),
        ofPictures.c_str());
}

/// They are found as they are where arrays are opened, and a sentence names their file.
void TestNotesOnPredicted::targetsInAFileOfTheirOwn() {
    const auto column = [](int64_t count) {
        return npyBytes(std::vector<int64_t>{count, 1},
                        std::vector<float>(static_cast<size_t>(count), 0.5f));
    };
    const auto experiment =
        trained(write("pair.npz", zipBytes({{"x.npy", column(40)}, {"y.npy", column(40)}})), 1);
    const std::string x = write("X_new.npy", column(3));
    QCOMPARE(notes(*experiment, 0, x), std::string());
    const std::string y = write("y_new.npy", column(3));
    const std::string told = notes(*experiment, 0, x);
    QVERIFY2(told.starts_with("The targets are from " + y +
                              ".\nfp32: Mean absolute error over the samples whose y is known "
                              "(3): "),
             told.c_str());
    write("y_new.npy", column(4));
    QCOMPARE(notes(*experiment, 0, x),
             "There are no scores: the length of " + y + " is 4, and that of the inputs is 3.\n");
    write("y_new.npy", "no array");
    QCOMPARE(notes(*experiment, 0, x), std::string());
}

/// They count as wrong, which nobody would guess of a name that is spelt otherwise.
void TestNotesOnPredicted::classesThatAreNotKnown() {
    const auto experiment = trained(kinds(), 300);
    const auto told = [&](const char* lines) {
        const std::string all =
            notes(*experiment, kEveryLane, write("odd.csv", std::string("size,kind\n") + lines));
        return all.substr(all.find("\namp-fp16: ") + 1); // behind the sentence of the last lane
    };
    QCOMPARE(told("1,Small\n,small\n180,large\n3,rose\n4,rose\n"),
             std::string("amp-fp16: Predicted right: 1 of 4 samples whose kind is known, an "
                         "accuracy of 25 %.\n3 samples have a class that the network was not "
                         "trained on: Small, rose.\n"));
    QVERIFY(told("1,rose\n180,large\n")
                .ends_with("\n1 sample has a class that the network was not trained on: rose.\n"));
    QVERIFY(told("1,a\n2,b\n3,c\n4,d\n5,e\n")
                .ends_with("\n5 samples have a class that the network was not trained on: a, b, c, "
                           "\u2026.\n"));
    QVERIFY(told("1,small\n180,large\n").ends_with("an accuracy of 100 %.\n"));
    QCOMPARE(told("1,small\n2,k.A.\n180,large\n"), told("1,small\n2,\n180,large\n"));
}

/// Of several lanes the sentence names the one that was chosen.
void TestNotesOnPredicted::theChosenLaneIsNamed() {
    const auto experiment = trained(kinds(), 1);
    const std::string known = write("known.csv", "size,kind\n1,small\n");
    for (int lane = 0; lane < 2; ++lane) {
        const std::string told = notes(*experiment, lane, known);
        QVERIFY2(told.starts_with(experiment->laneName(lane) + ": Predicted right: "),
                 told.c_str());
    }
    RunConfig alone = *experimentOn(kinds());
    alone.lanes.resize(1);
    Experiment single(alone);
    const std::string told = notes(single, 0, known);
    QVERIFY2(told.find("\nPredicted right: ") != std::string::npos, told.c_str());
}

/// Such a sample is left out as a whole, as the note on it counts samples.
void TestNotesOnPredicted::samplesWithAnOutputThatIsNotFinite() {
    Predictions all;
    all.samples = 4;
    all.outputs = 2;
    all.values = {INFINITY, 1, 1, NAN, 3, 1, 1, 1};
    all.targets.assign(8, 0);
    all.numbers = {0, 1, 2, 3};
    QCOMPARE(scored(all, std::vector<float>(8, 1), nullptr),
             std::string("Mean absolute error over the samples whose y is known (2 of 4; inf or "
                         "nan is predicted for the others): 0.5."));
    QCOMPARE(notFiniteNote({"fp32", all})->english(),
             std::string("fp32: inf or nan is predicted for 2 of 4 samples."));
}

/// A value that is not finite is wrong, but has no error: the two figures are of other counts.
void TestNotesOnPredicted::logitsThatAreNotFinite() {
    Predictions all;
    all.samples = 4;
    all.outputs = 1;
    all.values = {0, 0, NAN, -INFINITY};
    all.targets.assign(4, 0);
    all.numbers = {0, 1, 2, 3};
    const std::vector<float> y{0, 1, 1, 0};
    const auto told = [&] { return scored(all, y, nullptr, LossKind::BceWithLogits); };
    const std::string lead =
        "The predictions are logits, right where they are above 0 for 1 and not "
        "above 0 for 0: ";
    const std::string error = "Mean absolute error of their sigmoid over the samples whose y is "
                              "known ";
    QCOMPARE(told(), lead + "1 of 4 values of y that are known, an accuracy of 25 %. " + error +
                         "(2 of 4; inf or nan is predicted for the others): 0.5.");
    all.values = {0, 0, 0, 0};
    QCOMPARE(told(), lead + "2 of 4 values of y that are known, an accuracy of 50 %. " + error +
                         "(4): 0.5.");
}

/// One of 30,000 samples is predicted wrongly: that is not 100 %.
void TestNotesOnPredicted::nearlyAllRight() {
    constexpr int64_t kSamples = 30000;
    Predictions all;
    all.samples = kSamples;
    all.outputs = 2;
    for (int64_t i = 0; i < kSamples; ++i) {
        all.values.insert(all.values.end(), {1, 0});
        all.numbers.push_back(i);
    }
    all.targets.assign(kSamples, 0);
    std::vector<float> y(kSamples, 0);
    const std::vector<std::string> classes{"0", "1"};
    QVERIFY(scored(all, y, &classes).ends_with("an accuracy of 100 %."));
    y.back() = 1;
    const std::string text = scored(all, y, &classes);
    QVERIFY2(text.ends_with("29999 of 30000 samples whose y is known, an accuracy of >99.99 %."),
             text.c_str());
}

/// Its samples are fewer than a batch of the training, which does not matter to a network that is
/// not trained: in memory, and saved, also where the facts of the longer table are remembered.
void TestNotesOnPredicted::aTableThatHasShrunk() {
    const auto experiment = trained(kinds(), 1);
    const std::string other = write("other.csv", "size\n1\n2\n");
    const std::string folder = m_folder.filePath(QStringLiteral("shrunk")).toStdString();
    save(*experiment, folder);
    const std::string changed = kinds(20) + " holds other data than the training began with. ";
    QVERIFY(experiment->config().task.batch > 20);
    const RunWeights run(folder, experiment->config());
    const auto judged = laneFileBytes(run, LaneFile::Samples, "fp32", "1", "");
    QVERIFY2(judged->note.english().starts_with(changed), judged->note.english().c_str());
    const auto saved = predictedSamples(run, "fp32", other);
    QVERIFY(saved->notes.front().english().starts_with(changed));
    const std::string live = notes(*experiment, 0, other);
    QVERIFY2(live.starts_with(changed), live.c_str());
}

} // namespace tst_notes_on_predicted

QTEST_GUILESS_MAIN(tst_notes_on_predicted::TestNotesOnPredicted)
#include "tst_notes_on_predicted.moc"
