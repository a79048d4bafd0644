// What halfscope-cli makes of a saved run whose data are no longer those that it was trained on.
#include "tests/support/cli_folder.h"

#include <QTest>

namespace tst_cli_changed_data {

using namespace halfscope;
using namespace halfscope::test;

class TestCliChangedData : public CliFolderTest {
    Q_OBJECT

private slots:
    void fewerSamplesThanABatch();
    void judgedInBatchesOfTheTraining();
    void anotherValidation();
    void classesNamedAsGaps();
    void aWiderTableIsTold();
    void otherSettings_data();
    void otherSettings();
    void otherSplitWithoutMeans();
    void otherSplitOfTexts();
    void otherTable();
    void classesInAnotherOrder();
    void namesThatAreNoUtf8();

private:
    /// Writes a table of so many numbers, each with what is in its row.
    QString table(const char* name, int rows, std::string (*row)(int)) const {
        std::string text = "size,kind\n";
        for (int i = 0; i < rows; ++i)
            text += std::to_string(i) + "," + row(i) + "\n";
        return file(name, text);
    }
    static std::string evenOrOdd(int i) { return i % 2 == 0 ? "even" : "odd"; }
    Outcome train(const QString& data, const QByteArray& out, const QStringList& more = {}) const {
        return call(QStringList{"run", data, "--device", "cpu", "--lanes", "fp32", "--steps", "3",
                                "--out", path(out)} +
                    more);
    }
};

/// The run is listed, judged, and trained again with another batch.
void TestCliChangedData::fewerSamplesThanABatch() {
    const QString data = table("shrinks.csv", 100, evenOrOdd);
    const Outcome trained = train(data, "run", {"--set", "task.batch=64"});
    QVERIFY2(trained.code == 0, trained.error);
    QCOMPARE(table("shrinks.csv", 40, evenOrOdd), data);
    const Outcome listed = call({"runs", path(".")});
    QVERIFY2(listed.code == 0 && !listed.out.contains("cannot be read"), listed.out + listed.error);
    const QStringList weights{"--weights", path("run") + "/weights_fp32.safetensors"};
    for (const QStringList& more :
         {QStringList{}, weights, QStringList{"--predict", data, "--out", path("predicted")}}) {
        const Outcome judged = call(QStringList{"evaluate", path("run")} + more);
        QVERIFY2(judged.code == 0 && judged.error.contains(" other data than "), judged.error);
    }
    const Outcome again = call(
        {"run", path("run"), "--set", "task.batch=10", "--steps", "3", "--out", path("again")});
    QVERIFY2(again.code == 0, again.error);
}

/// A norm that uses the batch sees as many samples as in the training, even where one is left to
/// train on.
void TestCliChangedData::judgedInBatchesOfTheTraining() {
    const auto line = [](int i) { return std::to_string(i * i % 17); };
    const QString data = table("fades.csv", 100, line);
    const QString judged = table("stays.csv", 30, line);
    const Outcome trained =
        train(data, "norm",
              {"--set", "task.batch=64", "--set", "task.loss=mse", "--set",
               "data.validation_path=" + judged, "--set", "data.standardise=false", "--set",
               "model.layers=nn.Sequential(nn.Linear(1, 8), "
               "nn.BatchNorm1d(8, track_running_stats=False), "
               "nn.Linear(8, 1))"});
    QVERIFY2(trained.code == 0, trained.error);
    const Outcome before = call({"evaluate", path("norm")});
    QVERIFY2(before.code == 0, before.error);
    for (const int left : {10, 1}) {
        table("fades.csv", left, line);
        const Outcome after = call({"evaluate", path("norm")});
        QVERIFY2(after.code == 0, after.error);
        QCOMPARE(after.out, before.out);
    }
}

/// Scores are of other samples than those of the training.
void TestCliChangedData::anotherValidation() {
    const QString data = table("train.csv", 100, evenOrOdd);
    const QString validation = table("validation.csv", 20, evenOrOdd);
    const Outcome trained = train(data, "own", {"--set", "data.validation_path=" + validation});
    QVERIFY2(trained.code == 0, trained.error);
    const char* told =
        "validation.csv holds other data than the training began with; these are "
        "used now. So the samples that are judged may not be those that the training "
        "held back.";
    const QStringList weights{"evaluate", path("own") + "/experiment.json", "--weights",
                              path("own") + "/weights_fp32.safetensors"};
    for (const QStringList& judge : {QStringList{"evaluate", path("own")}, weights}) {
        const Outcome same = call(judge);
        QVERIFY2(same.code == 0 && !same.error.contains("other data"), same.error);
    }
    table("validation.csv", 30, evenOrOdd);
    for (const QStringList& judge : {QStringList{"evaluate", path("own")}, weights}) {
        const Outcome changed = call(judge);
        QVERIFY2(changed.code == 0 && changed.error.contains(told), changed.error);
    }
}

/// NA is a gap among numbers, and a name among classes that have it.
void TestCliChangedData::classesNamedAsGaps() {
    const auto kind = [](int i) { return std::string(i % 2 == 0 ? "NA" : "ok"); };
    const QString data = table("na.csv", 100, kind);
    const Outcome trained = train(data, "gaps");
    QVERIFY2(trained.code == 0, trained.error);
    const Outcome judged =
        call({"evaluate", path("gaps"), "--predict", data, "--out", path("judged")});
    QVERIFY2(judged.code == 0, judged.error);
    const QByteArray scores = contentOf(path("judged/scores.json"));
    QCOMPARE(QJsonDocument::fromJson(scores)["samples"].toInt(), 100);
}

/// The network for a table with one more column has one more input: the weights do not fit it, and
/// the reason comes first.
void TestCliChangedData::aWiderTableIsTold() {
    std::string narrow = "a,b,y\n", wide = "c,a,b,y\n";
    for (int i = 0; i < 60; ++i) {
        const std::string line = std::to_string(i * i % 7) + "," + std::to_string(i * 3 % 11) +
                                 "," + std::to_string(i * 5 % 13) + "\n";
        narrow += line;
        wide += std::to_string(i * 7 % 17) + "," + line;
    }
    const QString table = file("widened.csv", narrow), folder = path("widened");
    const Outcome run =
        call({"run", table, "--device", "cpu", "--steps", "2", "--quiet", "--out", folder});
    QVERIFY2(run.code == 0, run.error);
    file("widened.csv", wide);
    const QStringList asks[] = {{}, {"--predict", table, "--out", path("widened scores")}};
    for (const QStringList& more : asks) {
        const Outcome misfit = call(QStringList{"evaluate", folder} + more);
        QVERIFY2(misfit.code == 2 && misfit.saysOneLine(), misfit.error);
        QVERIFY2(misfit.error.startsWith(
                     "halfscope-cli: " + table.toUtf8() +
                     " holds other data than the training began with: model.weights: " +
                     folder.toUtf8() +
                     "/weights_fp32.safetensors: its arrays are not those of "
                     "the network: "),
                 misfit.error);
    }
}

void TestCliChangedData::otherSettings_data() {
    QTest::addColumn<QString>("setting");
    QTest::addColumn<QString>("told");
    const QString numbers = " The networks learnt from other numbers, so the results may be wrong.";
    const QString samples = " Samples that the networks were trained on may be among those that "
                            "judge them.";
    const QString means = " Means and deviations may be those of other samples than in the "
                          "training.";
    QTest::newRow("none") << QString() << QString();
    QTest::newRow("the same column by name") << "data.target=kind" << QString();
    QTest::newRow("of training alone") << "data.workers=2" << QString();
    QTest::newRow("inputs") << "data.standardise=false"
                            << "Data: data.standardise is false (true in the training)." + numbers;
    QTest::newRow("target") << "data.target=size"
                            << "data.target is \"size\" (\"kind\" in the training): ";
    QTest::newRow("a table to validate on")
        << "data.validation_path=" + table("judge.csv", 20, evenOrOdd)
        << "Data: data.validation is 0 (0.1 in the training)." + means + "\n";
    QTest::newRow("split") << "data.validation=0.5"
                           << "Data: data.validation is 0.5 (0.1 in the training)." + means +
                                  samples;
    QTest::newRow("last ones") << "data.held_back=last"
                               << "Data: data.held_back is last (random in the training)." + means +
                                      samples;
    QTest::newRow("missing values") << "data.missing=mean" << QString();
}

/// Of a run and of its weights alone: settings with which a network was not trained.
void TestCliChangedData::otherSettings() {
    QFETCH(const QString, setting);
    QFETCH(const QString, told);
    const QString data = table("set.csv", 100, evenOrOdd);
    const QString out = QString("set ") + QTest::currentDataTag();
    const Outcome trained = train(data, out.toUtf8());
    QVERIFY2(trained.code == 0, trained.error);
    const QStringList weights{"--weights", path(out.toUtf8()) + "/weights_fp32.safetensors"};
    for (const QStringList& more : {QStringList{}, weights}) {
        QStringList judge = QStringList{"evaluate", path(out.toUtf8())} + more;
        if (!setting.isEmpty()) judge += {"--set", setting};
        const Outcome judged = call(judge);
        QCOMPARE(judged.code, told.contains("data.target") ? 2 : 0);
        QVERIFY2(told.isEmpty() ? !judged.error.contains("Data: ")
                                : judged.error.contains(told.toUtf8()),
                 judged.error);
        if (judged.code == 0) // the table is as it was
            QVERIFY2(!judged.error.contains("other data"), judged.error);
    }
}

/// Where no means are taken of the samples to train on, only samples that are held back differ.
void TestCliChangedData::otherSplitWithoutMeans() {
    const QString data = table("plain.csv", 100, evenOrOdd);
    const Outcome trained = train(data, "plain", {"--set", "data.standardise=false"});
    QVERIFY2(trained.code == 0, trained.error);
    const Outcome split = call({"evaluate", path("plain"), "--set", "data.validation=0.2"});
    QVERIFY2(split.code == 0 &&
                 split.error.contains("(0.1 in the training). Samples that the networks were "),
             split.error);
    const Outcome own = call({"evaluate", path("plain"), "--set",
                              "data.validation_path=" + table("own.csv", 20, evenOrOdd)});
    QVERIFY2(own.code == 0 && !own.error.contains("Data: "), own.error);
}

/// The words of texts have numbers by how often the samples to train on have them.
void TestCliChangedData::otherSplitOfTexts() {
    std::string texts = "text,kind\n";
    for (int i = 0; i < 100; ++i)
        texts += "w" + std::to_string(i * i % 31) + " it,k" + std::to_string(i % 2) + "\n";
    const QString data = file("texts.csv", texts);
    const QStringList split{"--set", "data.validation=0.2"};
    for (const char* tokens : {"words", "characters"}) {
        const Outcome trained =
            train(data, tokens,
                  {"--set", "data.kind=text-classes", "--set", QString("data.tokens=") + tokens,
                   "--set", "data.validation=0.3"});
        QVERIFY2(trained.code == 0, trained.error);
        const QByteArray told =
            "(0.3 in the training). " +
            QByteArray(tokens).replace(0, 1, *tokens == 'w' ? "W" : "C") +
            " may have other numbers than in the training, so the results may be wrong.";
        const Outcome judged = call(QStringList{"evaluate", path(tokens)} + split);
        QVERIFY2(judged.error.contains(told + " Samples that the networks were trained on may "),
                 judged.error);
        const Outcome predicted = call(QStringList{"evaluate", path(tokens), "--predict", data,
                                                   "--out", path(tokens) + " out"} +
                                       split);
        QVERIFY2(predicted.error.contains(told + "\n"), predicted.error);
    }
}

/// The file has not changed: it is another one.
void TestCliChangedData::otherTable() {
    const QString data = table("first.csv", 100, evenOrOdd);
    const QString other =
        table("second.csv", 100, [](int i) { return std::string(i % 3 == 0 ? "third" : "other"); });
    const Outcome trained = train(data, "first");
    QVERIFY2(trained.code == 0, trained.error);
    const Outcome judged = call({"evaluate", path("first"), "--set", "data.path=" + other});
    QVERIFY2(judged.code == 0 && judged.error.contains(
                                     "second.csv holds other data than the training began with. "),
             judged.error);
    QVERIFY2(judged.error.contains("Classes: class 0 is \"other\" in " + other.toUtf8() +
                                   ", and was \"even\" in the training.\n"),
             judged.error);
    // also where a setting differs that says nothing of the file
    for (const char* setting : {"data.held_back=last", "data.standardise=false"}) {
        const Outcome both =
            call({"evaluate", path("first"), "--set", "data.path=" + other, "--set", setting});
        QVERIFY2(
            both.code == 0 && both.error.contains(" in the training).") &&
                both.error.contains("second.csv holds other data than the training began with. "),
            both.error);
    }
    QFile::copy(data, path("copy.csv"));
    const Outcome moved =
        call({"evaluate", path("first"), "--set", "data.path=" + path("copy.csv")});
    QVERIFY2(moved.code == 0 && !moved.error.contains("other data") &&
                 !moved.error.contains("Classes: "),
             moved.error);
}

/// A training does not go on with numbers that stand for other classes.
void TestCliChangedData::classesInAnotherOrder() {
    const QString data = table("order.csv", 100, evenOrOdd);
    const Outcome trained = train(data, "order", {"--checkpoint-every", "1"});
    QVERIFY2(trained.code == 0, trained.error);
    const QString other = table("other order.csv", 100,
                                [](int i) { return std::string(i % 2 == 0 ? "odd" : "zero"); });
    const Outcome refused = call({"run", "--resume", path("order"), "--out", path("order on"),
                                  "--steps", "6", "--set", "data.path=" + other});
    QCOMPARE(refused.code, 2);
    QVERIFY2(refused.error.contains("class 0 is \"odd\" in " + other.toUtf8() +
                                    ", and was \"even\" in the training, and a run goes on only "
                                    "with the same classes, in the same order"),
             refused.error);
    const Outcome same =
        call({"run", "--resume", path("order"), "--out", path("order on"), "--steps", "6"});
    QVERIFY2(same.code == 0, same.error);
}

/// Files have other bytes in their place, which does not make them other names.
void TestCliChangedData::namesThatAreNoUtf8() {
    std::string column = "size,gr\xf6\xdf"
                         "e\n";
    for (int i = 0; i < 60; ++i)
        column += std::to_string(i) + "," + std::to_string(2 * i) + "\n";
    const QString numbers = file("latin.csv", column);
    const Outcome trained = train(numbers, "latin");
    QVERIFY2(trained.code == 0, trained.error);
    const Outcome judged = call({"evaluate", path("latin")});
    QVERIFY2(judged.code == 0 && !judged.error.contains("Data: "), judged.error);

    const QString words =
        table("words.csv", 60, [](int i) { return std::string(i % 2 == 0 ? "caf\xe9" : "tea"); });
    const Outcome begun = train(words, "words", {"--checkpoint-every", "1"});
    QVERIFY2(begun.code == 0, begun.error);
    const Outcome on =
        call({"run", "--resume", path("words"), "--out", path("words on"), "--steps", "6"});
    QVERIFY2(on.code == 0, on.error);
}

} // namespace tst_cli_changed_data

QTEST_GUILESS_MAIN(tst_cli_changed_data::TestCliChangedData)
#include "tst_cli_changed_data.moc"
