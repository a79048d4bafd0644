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
    void anotherValidation();
    void classesNamedAsGaps();

private:
    /// Writes a table of so many numbers, each with what is in its row.
    QString table(const char* name, int rows, std::string (*row)(int)) const {
        std::string text = "size,kind\n";
        for (int i = 0; i < rows; ++i)
            text += std::to_string(i) + "," + row(i) + "\n";
        return file(name, text);
    }
    static std::string evenOrOdd(int i) { return i % 2 == 0 ? "even" : "odd"; }
    Outcome train(const QString& data, const char* out, const QStringList& more = {}) const {
        return call(QStringList{"run", data, "--device", "cpu", "--lanes", "fp32", "--steps", "3",
                                "--out", path(out)} +
                    more);
    }
};

/// The run is listed, and trained again with another batch; judged, it says why it cannot be.
void TestCliChangedData::fewerSamplesThanABatch() {
    const QString data = table("shrinks.csv", 100, evenOrOdd);
    const Outcome trained = train(data, "run", {"--set", "task.batch=64"});
    QVERIFY2(trained.code == 0, trained.error);
    QCOMPARE(table("shrinks.csv", 40, evenOrOdd), data);
    const Outcome listed = call({"runs", path(".")});
    QVERIFY2(listed.code == 0 && !listed.out.contains("cannot be read"), listed.out + listed.error);
    const Outcome judged = call({"evaluate", path("run")});
    QCOMPARE(judged.code, 2);
    QVERIFY2(judged.error.contains("task.batch: 64 is not allowed: at most 36, the samples"),
             judged.error);
    const Outcome again = call(
        {"run", path("run"), "--set", "task.batch=10", "--steps", "3", "--out", path("again")});
    QVERIFY2(again.code == 0, again.error);
}

/// Scores are of other samples than those of the training.
void TestCliChangedData::anotherValidation() {
    const QString data = table("train.csv", 100, evenOrOdd);
    const QString validation = table("validation.csv", 20, evenOrOdd);
    const Outcome trained = train(data, "own", {"--set", "data.validation_path=" + validation});
    QVERIFY2(trained.code == 0, trained.error);
    const char* told = "validation.csv has changed since the training began, and is used as it is "
                       "now. So the samples that are judged may not be those that the training "
                       "held back.";
    const QStringList weights{"evaluate", path("own") + "/experiment.json", "--weights",
                              path("own") + "/weights_fp32.safetensors"};
    for (const QStringList& judge : {QStringList{"evaluate", path("own")}, weights}) {
        const Outcome same = call(judge);
        QVERIFY2(same.code == 0 && !same.error.contains("has changed"), same.error);
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

} // namespace tst_cli_changed_data

QTEST_GUILESS_MAIN(tst_cli_changed_data::TestCliChangedData)
#include "tst_cli_changed_data.moc"
