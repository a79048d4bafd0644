// What halfscope-cli says of predictions that cannot be scored, all of them or some: targets that
// do not fit the inputs, and predictions that are no numbers.
#include "engine/io/npy.h"
#include "tests/support/array_files.h"
#include "tests/support/cli.h"
#include "tests/support/file_opens.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <initializer_list>
#include <string>

namespace tst_cli_predict_scores {

using namespace halfscope;
using namespace halfscope::test;

class TestCliPredictScores : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void dataAreReadOnce();
    void samplesAreTold();
    void targetsBesideTheInputs();
    void targetsThatDoNotFit();
    void inputsThatAreNoNumbers();
    void noPredictionIsANumber();
    void judgesPredictionsThatAreNoNumbers();
    void infiniteScoresBesideAFiniteLoss();
    void arraysForDrawnData();

private:
    QString path(const char* name) const { return m_folder.filePath(name); }
    /// Writes arrays of one column and returns their file.
    QString arrays(const char* name, std::initializer_list<float> x,
                   std::initializer_list<float> y) const {
        const auto bytes = [](const std::initializer_list<float>& values) {
            return npy("<f4", "(" + std::to_string(values.size()) + ", 1)", bytesOfValues(values));
        };
        writeBytes(path(name).toStdString(), zipBytes({{"x.npy", bytes(x)}, {"y.npy", bytes(y)}}));
        return path(name);
    }
    Outcome predict(const QString& file) const {
        return call({"evaluate", path("out"), "--predict", file, "--out", path("made")});
    }
    QTemporaryDir m_folder;
};

void TestCliPredictScores::initTestCase() {
    const QString data = arrays("data.npz", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30});
    const Outcome trained =
        call({"run", data, "--device", "cpu", "--steps", "5", "--lanes", "fp32,amp-fp16", "--set",
              "data.validation=0.25", "--out", path("out")});
    QVERIFY2(trained.code == 0, trained.error);
    QVERIFY2(trained.error.contains("\nData: 12 samples to train on, 4 to validate on. Shape of an "
                                    "input: [1], of a target: [1]\n"),
             trained.error);
}

/// Lanes with weights of their own are judged one after the other: a further one may open the file
/// to see whether it is still the same, as in tst_one_reading, but reads it no more.
void TestCliPredictScores::dataAreReadOnce() {
    const std::string table = path("kinds.csv").toStdString();
    std::string rows = "size,kind\n";
    for (int i = 0; i < 200; ++i)
        rows += std::to_string(i) + (i < 100 ? ",small\n" : ",large\n");
    writeBytes(table, rows);
    const auto opensFor = [&](const char* lanes) {
        const QString out = path(lanes);
        const Outcome trained = call({"run", path("kinds.csv"), "--device", "cpu", "--steps", "1",
                                      "--quiet", "--lanes", lanes, "--out", out});
        Outcome judged;
        const int opens = opensOf(table, [&] { judged = call({"evaluate", out, "--quiet"}); });
        return trained.code == 0 && judged.code == 0 ? opens : -1;
    };
    const int one = opensFor("fp32"), three = opensFor("fp32,fp32,fp32");
    if (opensOf(table, [] {}) < 0) QSKIP("this system does not tell which files are opened");
    QVERIFY(one > 0);
    QVERIFY2(three > 0 && three <= one + 2,
             qPrintable(QStringLiteral("%1, %2").arg(one).arg(three)));
}

/// Of classes, their number is told, and of the program's own data nothing.
void TestCliPredictScores::samplesAreTold() {
    const QString table = path("kinds.csv");
    std::string text = "a,b,kind\n";
    for (int i = 0; i < 40; ++i)
        text += std::to_string(i) + "," + std::to_string(i % 7) + (i % 2 ? ",cat\n" : ",dog\n");
    writeBytes(table.toStdString(), text);
    const QStringList brief{"--steps", "1", "--device", "cpu"};
    const Outcome outcome = call(
        QStringList{"run", table, "--set", "data.validation=0.25", "--set", "data.test_share=0.5"} +
        brief);
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.error.contains("\nData: 30 samples to train on, 5 to validate on, 5 for the "
                                    "test at the end. Shape of an input: [2]; 2 classes\n"),
             outcome.error);
    const Outcome own = call(QStringList{"run", "--preset", "moons"} + brief);
    QVERIFY2(own.code == 0 && !own.error.contains("to train on"), own.error);
}

/// Arrays are opened as a pair of files, and so are those to predict.
void TestCliPredictScores::targetsBesideTheInputs() {
    const auto column = [&](const char* name, std::initializer_list<float> values) {
        writeBytes(path(name).toStdString(),
                   npy("<f4", "(" + std::to_string(values.size()) + ", 1)", bytesOfValues(values)));
    };
    column("x.npy", {0, 1, 2});
    column("y.npy", {0, 2, 4});
    const Outcome outcome = predict(path("x.npy"));
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.out.contains(" predicted\nThe targets are from " + path("y.npy").toUtf8() +
                                  ".\nfp32: Mean absolute error over the samples whose y is known "
                                  "(3): "),
             outcome.out);
    QVERIFY(QFile::exists(path("made/scores.json")));
}

void TestCliPredictScores::targetsThatDoNotFit() {
    const QString file = arrays("short.npz", {0, 1, 2, 3, 4}, {0, 2, 4, 6});
    const Outcome outcome = predict(file);
    QVERIFY2(outcome.code == 0, outcome.error);
    QCOMPARE(outcome.out, "5 samples of " + file.toUtf8() +
                              " predicted\nThere are no scores: the length of y is 4, and that of "
                              "the inputs is 5.\nFiles: " +
                              path("made").toUtf8() + "\n");
    QVERIFY(!QFile::exists(path("made/scores.json")));
}

/// An input that is nan is told, and the scores are of the other samples.
void TestCliPredictScores::inputsThatAreNoNumbers() {
    const QString file = arrays("nan.npz", {0, 1, std::nanf(""), 3, 4}, {0, 2, 4, 6, 8});
    const Outcome outcome = predict(file);
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.error.contains("Data: " + file.toUtf8() +
                                    ": inputs that are inf or nan as float32: 1, the first in "
                                    "sample 2 (counted from 0). "),
             outcome.error);
    for (const QByteArray lane : {"fp32", "amp-fp16"}) {
        QVERIFY2(
            outcome.out.contains("\n" + lane + ": inf or nan is predicted for 1 of 5 samples.\n"),
            outcome.out);
        QVERIFY2(outcome.out.contains("\n" + lane +
                                      ": Mean absolute error over the samples whose y is known (4 "
                                      "of 5; inf or nan is predicted for the others): "),
                 outcome.out);
    }
    const QJsonObject scores =
        QJsonDocument::fromJson(contentOf(path("made/scores.json"))).object();
    QCOMPARE(scores["samples"].toInt(), 5);
    const QJsonObject lane = scores["lanes"].toArray()[0].toObject();
    QCOMPARE(lane["not_finite"].toInt(), 1);
    QVERIFY(lane["mae"].isDouble());
}

void TestCliPredictScores::noPredictionIsANumber() {
    const Outcome outcome = predict(arrays("none.npz", {std::nanf("")}, {1}));
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.out.contains("\nfp32: There is no score: inf or nan is predicted for each "
                                  "sample whose y is known.\n"),
             outcome.out);
    QVERIFY2(!outcome.out.contains("not known"), outcome.out);
}

/// The samples of a run are judged in the same words. Those without a class are counted in a column
/// of their own.
void TestCliPredictScores::judgesPredictionsThatAreNoNumbers() {
    writeBytes(path("k.npy").toStdString(),
               npy("<i8", "(4,)", bytesOfValues<int64_t>({0, 1, 0, 1})));
    writeBytes(path("n.npy").toStdString(),
               npy("<f4", "(4, 1)", bytesOfValues<float>({1, 2, 3, std::nanf("")})));
    const auto trained = [this](const QStringList& settings) {
        const Outcome run =
            call(QStringList{"run", path("n.npy"), "--device", "cpu", "--steps", "1", "--lanes",
                             "fp32", "--set", "data.validation=0.5", "--set", "data.held_back=last",
                             "--set", "data.shuffle=false", "--out", path("judged")} +
                 settings);
        return run.code == 0 ? call({"evaluate", path("judged"), "--out", path("scored")}) : run;
    };
    const Outcome classes =
        trained({"--set", "data.y=" + path("k.npy"), "--set", "task.loss=cross-entropy"});
    QVERIFY2(classes.code == 0, classes.error);
    QVERIFY2(classes.out.contains("\nfp32: inf or nan is predicted for 1 of 2 samples.\n"),
             classes.out);
    QVERIFY2(classes.out.contains("      0      1   none\n"), classes.out);
    QVERIFY2(classes.out.contains("\nnone, the last column: samples whose scores are all nan"),
             classes.out);
    const QString scores = contentOf(path("scored/scores.json"));
    QVERIFY2(scores.contains("\"not_finite\": 1"), qPrintable(scores));
    const Outcome numbers = trained({"--set", "data.y=" + path("n.npy")});
    QVERIFY2(numbers.out.contains("\nfp32: inf or nan is predicted for 1 of 2 samples.\n"),
             numbers.out + numbers.error);
}

/// The score of the wrong class is -inf, which cross-entropy takes for a share of 0.
void TestCliPredictScores::infiniteScoresBesideAFiniteLoss() {
    writeBytes(path("c.npy").toStdString(),
               npy("<i8", "(8,)", bytesOfValues<int64_t>({0, 1, 0, 1, 0, 1, 0, 1})));
    writeBytes(path("large.npy").toStdString(),
               npy("<f4", "(8, 1)", bytesOfValues<float>({0, 1, 2, 3, 4, 5, 6, 3e38f})));
    writeBytes(path("w.safetensors").toStdString(),
               safetensorsBytes(R"({"0.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                                R"("0.bias":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
                                bytesOfValues<float>({-10, 0, 0, 0})));
    const Outcome outcome = call({"evaluate",  path("large.npy"),
                                  "--weights", path("w.safetensors"),
                                  "--lanes",   "fp32",
                                  "--device",  "cpu",
                                  "--set",     "data.y=" + path("c.npy"),
                                  "--set",     "task.loss=cross-entropy",
                                  "--set",     "model.layers=nn.Sequential(nn.Linear(1, 2))",
                                  "--set",     "data.standardise_x=false",
                                  "--set",     "data.validation=0.25",
                                  "--set",     "data.held_back=last"});
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.out.contains("\nfp32  30 "), outcome.out); // of the other sample
    QVERIFY2(outcome.out.endsWith("\nfp32: inf or nan is predicted for 1 of 2 samples.\n"),
             outcome.out);
}

/// Data that are drawn are no arrays, but their network takes some.
void TestCliPredictScores::arraysForDrawnData() {
    const QString x = path("x_drawn.npy"), made = path("drawn");
    const auto write = [&](const std::string& shape) {
        writeBytes(x.toStdString(), npy("<f4", shape, bytesOfValues<float>({0, 1, 1, -0.5f})));
    };
    for (const char* preset : {"moons", "checkerboard"}) {
        const QString out = path(preset);
        const auto predictDrawn = [&] {
            return call({"evaluate", out, "--predict", x, "--out", made});
        };
        const Outcome trained = call({"run", "--preset", preset, "--steps", "2", "--lanes", "fp32",
                                      "--device", "cpu", "--out", out});
        QVERIFY2(trained.code == 0, trained.error);
        write("(2, 2)");
        const Outcome outcome = predictDrawn();
        QVERIFY2(outcome.code == 0, outcome.error);
        QVERIFY2(outcome.out.startsWith("2 samples of "), outcome.out);
        QCOMPARE(readNpy((made + "/predictions_fp32.npy").toStdString()).info.shape[0], int64_t{2});
        QCOMPARE(contentOf(made + "/samples.csv").count('\n'), qsizetype{3});
        write("(4,)");
        const Outcome misfit = predictDrawn();
        QVERIFY2(misfit.code == 2 && misfit.saysOneLine() &&
                     misfit.error.contains("the shape (4,) does not fit the network"),
                 misfit.error);
    }
}

} // namespace tst_cli_predict_scores

QTEST_GUILESS_MAIN(tst_cli_predict_scores::TestCliPredictScores)
#include "tst_cli_predict_scores.moc"
