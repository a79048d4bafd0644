// Samples that come as an array of what the network takes, whatever it was trained on: they are
// predicted as the samples of the data are.
#include "engine/data/predicted_inputs.h"

#include "engine/core/error.h"
#include "engine/io/npy.h"
#include "engine/settings/data_experiment.h"
#include "engine/settings/fields.h"
#include "engine/train/known_targets.h"
#include "engine/train/predicted_samples.h"
#include "tests/support/all_samples.h"
#include "tests/support/array_files.h"
#include "tests/support/thrown.h"
#include "tests/support/trained_experiment.h"

#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <functional>
#include <vector>

namespace tst_predicted_inputs {

using namespace halfscope;

class TestPredictedInputs : public QObject {
    Q_OBJECT
private slots:
    void predictsAsItJudges_data();
    void predictsAsItJudges();
    void shapes_data();
    void shapes();
    void indicesThatAreNotKnown();
    void bytesAreTold();
    void classesByTheirNumbers();
    void onlyArraysInTheWindow();

private:
    std::string write(const char* name, const std::string& bytes) const {
        return writeBytes(m_folder.filePath(QLatin1String(name)).toStdString(), bytes);
    }
    /// Writes zeros.
    std::string zeros(const std::vector<int64_t>& shape) const {
        int64_t elements = 1;
        for (const int64_t extent : shape)
            elements *= extent;
        // facts of a file are looked up once
        return write(qPrintable(QString("zeros-%1.npy").arg(m_written++)),
                     npyBytes(shape, std::vector<float>(static_cast<size_t>(elements))));
    }
    /// Returns the settings of a preset, on the CPU, or those of a table whose numbers are large.
    RunConfig configOf(const std::string& name) const;
    QTemporaryDir m_folder;
    mutable int m_written = 0;
};

RunConfig TestPredictedInputs::configOf(const std::string& name) const {
    RunConfig config;
    if (name == "table") {
        std::string text = "size,colour,price\n";
        for (int i = 0; i < 60; ++i)
            text += std::to_string(1000 + i * 7 % 60) + (i % 2 ? ",red," : ",blue,") +
                    std::to_string(50'000 + 100 * i) + "\n";
        config = *experimentOn(write("prices.csv", text));
    } else {
        config = presetNamed(name).config;
    }
    config.device = "cpu";
    config.lanes.resize(1);
    return config;
}

/// Returns what the first lane predicts for the samples to judge by, with the weights of the seed.
Predictions judged(const RunConfig& config) {
    Experiment experiment(config);
    Predictions all;
    const std::atomic<bool> stop{false};
    require(experiment.lane(0).evaluate(stop, &all).has_value(), "nobody asked it to stop");
    return all;
}

void TestPredictedInputs::predictsAsItJudges_data() {
    QTest::addColumn<std::string>("name");
    QTest::addColumn<bool>("normalises");
    QTest::addColumn<bool>("rows");
    QTest::newRow("moons") << std::string("moons") << false << false;
    QTest::newRow("regression") << std::string("regression") << false << false;
    QTest::newRow("a table") << std::string("table") << false << false;
    QTest::newRow("digits") << std::string("mnist-cnn") << false << false;
    QTest::newRow("digits, by mean and deviation") << std::string("mnist-cnn") << true << false;
    QTest::newRow("digits in rows") << std::string("mnist-cnn") << false << true;
    QTest::newRow("digits in rows, no convolution") << std::string("mnist-mlp") << false << true;
}

/// The array has the values as they are before any mean and deviation.
void TestPredictedInputs::predictsAsItJudges() {
    QFETCH(const std::string, name);
    QFETCH(const bool, normalises);
    QFETCH(const bool, rows);
    RunConfig config = configOf(name);
    config.task.validationSamples = 40; // of a regression
    TaskConfig plain = config.task;
    plain.standardise = false;
    const auto data = makeDataset(plain, config.seed);
    const Batch batch = allOf(*data, Split::Validation);
    std::vector<int64_t> shape{batch.rows()};
    const Shape& sample = data->tensors()[kX].shape;
    if (rows)
        shape.push_back(sample.elements());
    else
        shape.insert(shape.end(), sample.begin(), sample.end());
    if (normalises) config.task.mean = config.task.deviation = "auto";
    const Predictions known = judged(config);
    config.task.predictFile = write("x.npy", npyBytes(shape, batch.floats(kX)));
    const Predictions predicted = judged(config);
    QCOMPARE(predicted.samples, known.samples);
    QCOMPARE(predicted.values, known.values);
    QVERIFY(predicted.values.front() != predicted.values.back());
    QCOMPARE(predicted.numbers.back(), known.samples - 1);
    QCOMPARE(factsOf(config.task).validation, known.samples);
    QCOMPARE(notesOnPredicted(config.task).size(), size_t{0});
}

void TestPredictedInputs::shapes_data() {
    QTest::addColumn<std::string>("name");
    QTest::addColumn<std::vector<int64_t>>("shape");
    QTest::addColumn<QString>("wanted"); // empty where it fits
    const auto row = [](const char* name, std::vector<int64_t> shape, const char* wanted = "") {
        std::string title = name;
        for (const int64_t extent : shape)
            title += " " + std::to_string(extent);
        QTest::newRow(title.c_str()) << std::string(name) << std::move(shape) << QString(wanted);
    };
    row("moons", {3, 2});
    row("moons", {2},
        "the shape (2,) does not fit the network: axis 0 counts samples, and each of "
        "them must have the shape (2,)");
    row("moons", {2, 2, 2}, "the shape (2, 2, 2) does not fit");
    row("checkerboard", {5, 2});
    row("mnist-cnn", {2, 1, 28, 28});
    row("mnist-cnn", {2, 28, 28});
    row("mnist-cnn", {2, 784});
    row("mnist-cnn", {28, 28}, "must have the shape (1, 28, 28)");
    row("mnist-cnn", {1, 28, 28, 3}, "must have the shape (1, 28, 28)");
}

void TestPredictedInputs::shapes() {
    QFETCH(const std::string, name);
    QFETCH(const std::vector<int64_t>, shape);
    QFETCH(const QString, wanted);
    RunConfig config = configOf(name);
    config.task.predictFile = zeros(shape);
    if (wanted.isEmpty()) {
        QCOMPARE(judged(config).samples, shape[0]);
        return;
    }
    for (const auto& ask : {std::function<void()>([&] { factsOf(config.task); }),
                            std::function<void()>([&] { makeDataset(config.task, 0); })}) {
        const std::string error = thrownBy<InputError>(ask);
        QVERIFY2(isAbout(error, config.task.predictFile, wanted.toStdString()), error.c_str());
    }
}

void TestPredictedInputs::indicesThatAreNotKnown() {
    TaskConfig task;
    task.kind = TaskKind::Text;
    task.loss.kind = LossKind::CrossEntropy;
    task.context = 2;
    task.validation = 0.2;
    task.path = write("text.txt", "abcabcabcabcabcabcabc");
    task.predictFile = write("indices.npy", npy("<i4", "(1, 2)", bytesOfValues<int32_t>({2, 1})));
    const auto data = makeDataset(task, 0);
    const Batch batch = allOf(*data, Split::Validation);
    QCOMPARE(batch.labels(kX)[0], 2);
    QCOMPARE(batch.labels(kX)[1], 1);
    QCOMPARE(batch.labels(kTarget)[0], 0);
    write("indices.npy", npy("<i4", "(1, 2)", bytesOfValues<int32_t>({2, 3})));
    const std::string error = thrownBy<InputError>([&] { makeDataset(task, 0); });
    QVERIFY2(
        isAbout(error, task.predictFile, "sample 0 has the index 3: whole numbers from 0 to 2"),
        error.c_str());
}

/// The pixels of the training lie between 0 and 1.
void TestPredictedInputs::bytesAreTold() {
    TaskConfig task = configOf("mnist-cnn").task;
    task.predictFile = write("bytes.npy", npy("|u1", "(1, 28, 28)", std::string(28 * 28, '\xff')));
    makeDataset(task, 0);
    const std::vector<Message> notes = notesOnPredicted(task);
    QCOMPARE(notes.size(), size_t{1});
    const std::string note = notes[0].english();
    QVERIFY2(isAbout(note, task.predictFile, "values reach 255, "), note.c_str());
}

/// Where the classes have names, an array has their numbers; where they are numbers, these.
void TestPredictedInputs::classesByTheirNumbers() {
    TaskConfig task;
    task.kind = TaskKind::Csv;
    const std::string x = npy("<f4", "(3, 1)", bytesOfValues<float>({0, 0, 0}));
    const std::string y = npy("<i8", "(3,)", bytesOfValues<int64_t>({1, 2, 7}));
    task.predictFile = write("known.npz", zipBytes({{"x.npy", x}, {"y.npy", y}}));
    Predictions all;
    all.samples = all.outputs = 3;
    all.values = {0, 9, 0, 0, 0, 9, 0, 0, 9};
    all.targets = {0, 0, 0};
    all.numbers = {0, 1, 2};
    const LanePredictions lane{"fp32", all};
    const auto known = [&](const std::vector<std::string>& classes) {
        return *knownTargets(task, std::span(&lane, 1), &classes).known;
    };
    const KnownTargets named = known({"cat", "dog", "owl"}); // 7 is none of them
    QCOMPARE(named.right, std::vector<int64_t>{2});
    QCOMPARE(named.unknown, int64_t{1});
    const KnownTargets numbered = known({"1", "2", "7"});
    QCOMPARE(numbered.right, std::vector<int64_t>{1}); // the third one
    QCOMPARE(numbered.unknown, int64_t{0});
}

void TestPredictedInputs::onlyArraysInTheWindow() {
    const auto experiment = trainedFor(1, configOf("table"));
    const std::string x = zeros({2, 3});
    const std::string error = thrownBy<InputError>([&] { predictedSamples(*experiment, 0, x); });
    QVERIFY2(isAbout(error, x, "halfscope-cli evaluate --predict"), error.c_str());
}

} // namespace tst_predicted_inputs

QTEST_GUILESS_MAIN(tst_predicted_inputs::TestPredictedInputs)
#include "tst_predicted_inputs.moc"
