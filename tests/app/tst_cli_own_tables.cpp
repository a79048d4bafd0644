// A folder of tables from outside: halfscope-cli trains on one, validates on another and tests on a
// third, and tells when what it is judged by has changed.
#include "tests/support/cli_folder.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

namespace tst_cli_own_tables {

using namespace halfscope;
using namespace halfscope::test;

class TestCliOwnTables : public QObject {
    Q_OBJECT

private slots:
    void init();
    void trainsOnAFolder();
    void settingsNameThem();
    void goesOn();

private:
    QString path(const char* name) const { return m_folder->filePath(QLatin1String(name)); }
    /// Writes a table whose classes are told by whether `a` is below 20, or by the contrary.
    void write(const char* name, int lines, bool contrary) const;
    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestCliOwnTables::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(QDir().mkpath(path("data")));
    write("data/train.csv", 40, false);
    write("data/val.csv", 20, false);
    write("data/test.csv", 10, true);
}

void TestCliOwnTables::write(const char* name, int lines, bool contrary) const {
    std::string text = "kind,a\n"; // the target first, so that it must be found by its name
    for (int i = 0; i < lines; ++i) {
        const int a = (i * 7) % 40;
        text += std::string((a < 20) == contrary ? "high," : "low,") + std::to_string(a) + "\n";
    }
    writeBytes(path(name).toStdString(), text);
}

/// The tables are recognised by their names, and each is judged for itself.
void TestCliOwnTables::trainsOnAFolder() {
    const Outcome run =
        call({"run", path("data"), "--set", "data.target=kind", "--device", "cpu", "--lanes",
              "fp32", "--epochs", "200", "--set", "optimizer.lr=0.01", "--out", path("run")});
    QVERIFY2(run.code == 0, run.error);
    QVERIFY2(run.error.contains("/data/val.csv, 20, are validated on; none of the others are held "
                                "back."),
             run.error);
    QVERIFY2(run.error.contains("/data/test.csv, 10, are kept for the test at the end"), run.error);
    const QJsonValue lane = firstLaneIn(path("run/summary.json"));
    QVERIFY2(lane["accuracy"].toDouble() > 0.8, run.out);
    QVERIFY2(lane["test_accuracy"].toDouble() < 0.4, run.out); // learned the contrary
    QVERIFY2(run.out.contains("Test: accuracy "), run.out);
    const Outcome judged = call({"evaluate", path("run"), "--test", "--out", path("scores")});
    QVERIFY2(judged.code == 0, judged.error);
    QVERIFY2(judged.out.startsWith("10 test samples\n"), judged.out);
    const auto scores = QJsonDocument::fromJson(contentOf(path("scores/scores.json")));
    QCOMPARE(scores["lanes"].toArray().at(0)["loss"].toDouble(), lane["test_loss"].toDouble());
}

/// Paths start where the program does; shares beside them do nothing, which is told.
void TestCliOwnTables::settingsNameThem() {
    const QStringList run{"run",      "train.csv",
                          "--set",    "data.validation_path=val.csv",
                          "--set",    "data.target=kind",
                          "--device", "cpu",
                          "--steps",  "2",
                          "--lanes",  "fp32",
                          "--set",    "data.validation=0.5",
                          "--out",    path("run")};
    const Outcome outcome = call(run, path("data"));
    QVERIFY2(outcome.code == 0, outcome.error);
    QVERIFY2(outcome.error.contains("Without effect beside the other settings: data.validation\n"),
             outcome.error);
    QVERIFY2(outcome.error.contains("val.csv, 20, are validated on"), outcome.error);
    QVERIFY2(!outcome.out.contains("Test:"), outcome.out);
    writeBytes(path("data/val.csv").toStdString(), "kind,a\nlow,1\nhgh,2\n");
    const Outcome refused = call(run, path("data"));
    QCOMPARE(refused.code, 2);
    QVERIFY2(refused.saysOneLine(), refused.error);
    QVERIFY2(refused.error.contains("val.csv, line 3: the class \"hgh\" in the column \"kind\" is "
                                    "not among those to train on"),
             refused.error);
}

/// A run that goes on tells that the table it is judged by has changed; the test may change.
void TestCliOwnTables::goesOn() {
    const Outcome first = call({"run", path("data"), "--set", "data.target=kind", "--device", "cpu",
                                "--steps", "4", "--checkpoint-every", "2", "--out", path("run")});
    QVERIFY2(first.code == 0, first.error);
    const auto goOn = [this](const char* steps) {
        return call({"run", "--resume", path("run"), "--out", path("run"), "--steps", steps,
                     "--checkpoint-every", "2"});
    };
    const QByteArray said = "holds other data than the training began with; these are used now.";
    write("data/test.csv", 12, true);
    const Outcome same = goOn("6");
    QVERIFY2(same.code == 0 && !same.error.contains(said), same.error);
    write("data/val.csv", 24, false);
    const Outcome other = goOn("8");
    QVERIFY2(other.code == 0 && other.error.contains("/data/val.csv " + said), other.error);
}

} // namespace tst_cli_own_tables

QTEST_GUILESS_MAIN(tst_cli_own_tables::TestCliOwnTables)
#include "tst_cli_own_tables.moc"
