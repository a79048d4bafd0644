// halfscope-cli verify from outside: exit codes, the table, JSON, and its one-line errors. What the
// suites compare is tested with the engine.
#include "engine/verify/verify.h"
#include "tests/support/cli.h"
#include "tests/support/ill_posed_run.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <sys/types.h>

#include <csignal>

namespace tst_cli_verify {

using namespace halfscope::test;

namespace {

Outcome verified(const QStringList& arguments, const QString& workingFolder = {}) {
    return call(QStringList{"verify", "--device", "cpu"} + arguments, workingFolder);
}

const QString kGolden = QStringLiteral(HALFSCOPE_SOURCE_DIR "/tests/golden/");

/// Copies a golden file with one text replaced by another.
bool changeFile(const QString& from, const QString& to, const char* old, const char* with) {
    QFile source(from), copy(to);
    if (!source.open(QIODevice::ReadOnly) || !copy.open(QIODevice::WriteOnly)) return false;
    QByteArray content = source.readAll();
    const qsizetype at = content.indexOf(old);
    if (at < 0) return false;
    content.replace(at, static_cast<qsizetype>(qstrlen(old)), with);
    return copy.write(content) == content.size();
}

} // namespace

class TestCliVerify : public QObject {
    Q_OBJECT

private slots:
    /// The files are in the program: it needs no folder and no source tree.
    void allSuitesPass() {
        const QTemporaryDir elsewhere;
        const Outcome run = verified({}, elsewhere.path());
        QVERIFY2(run.code == 0, run.out + run.error);
        QVERIFY(run.error.isEmpty()); // no progress into a pipe
        const QList<QByteArray> lines = run.out.trimmed().split('\n');
        const std::vector<std::string> suites = halfscope::verifySuites();
        QCOMPARE(static_cast<size_t>(lines.size()), 2 + suites.size());
        QVERIFY(lines[0].startsWith("Verified on "));
        QVERIFY(lines[1].startsWith("suite ") && lines[1].contains("passed"));
        for (int i = 2; i < lines.size(); ++i)
            QVERIFY2(lines[i].startsWith(suites[static_cast<size_t>(i) - 2].c_str()), lines[i]);
    }

    void helpNamesSuites() {
        const QByteArray help = verified({"--help"}).out.simplified();
        QByteArray names;
        for (const std::string& suite : halfscope::verifySuites())
            names += (names.isEmpty() ? "" : ", ") + QByteArray::fromStdString(suite);
        QVERIFY2(help.contains("Suites: " + names + ";"), help);
    }

    void json() {
        const Outcome run = verified({"--json", "--only", "ops,optim", "--only", "autocast"});
        QCOMPARE(run.code, 0);
        const QJsonObject report = QJsonDocument::fromJson(run.out).object();
        QVERIFY(!report["device"].toString().isEmpty());
        const QJsonArray suites = report["suites"].toArray();
        QCOMPARE(suites.size(), 3);
        for (const QJsonValue& suite : suites) {
            QCOMPARE(suite["passed"].toInt(-1), suite["cases"].toInt(-2));
            QVERIFY(suite["worst"].isDouble() && suite["bound"].isDouble());
            QVERIFY(suite["worst"].toDouble() <= suite["bound"].toDouble());
            QVERIFY(suite["failed"].isArray() && suite["failed"].toArray().isEmpty());
        }
        QCOMPARE(suites[1]["name"].toString(), QString("optim"));
    }

    void failureExitsWithOne() {
        const QTemporaryDir folder;
        QVERIFY(changeFile(kGolden + "autocast_dtypes.json",
                           folder.filePath("autocast_dtypes.json"), "\"float16\"", "\"float32\""));
        const Outcome table = verified({"--golden", folder.path()});
        QCOMPARE(table.code, 1);
        QVERIFY2(table.out.contains("autocast failed: cuda_float16 matmul all_float32: float16 "
                                    "instead of float32"),
                 table.out);
        QVERIFY(table.out.contains("Skipped: runs: no training_runs.json in the folder"));
        const Outcome json = verified({"--golden", folder.path(), "--json"});
        QCOMPARE(json.code, 1);
        const QJsonObject report = QJsonDocument::fromJson(json.out).object();
        QCOMPARE(report["suites"][0]["failed"].toArray().size(), 1);
        QCOMPARE(report["left_out"].toArray().size(), 4);
    }

    /// Of many failures it prints only ten, and their number.
    void manyFailuresAreCut() {
        QFile source(kGolden + "autocast_dtypes.json");
        QVERIFY(source.open(QIODevice::ReadOnly));
        nlohmann::json tables = nlohmann::json::parse(source.readAll().toStdString());
        int changed = 0;
        for (auto& [op, row] : tables["cuda_float16"].items())
            if (changed < 12 && row["all_float32"] == "float16") {
                row["all_float32"] = "bfloat16";
                ++changed;
            }
        QCOMPARE(changed, 12);
        const QTemporaryDir folder;
        QFile file(folder.filePath("autocast_dtypes.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(tables.dump()));
        file.close();
        const Outcome outcome = verified({"--golden", folder.path(), "--only", "autocast"});
        QCOMPARE(outcome.code, 1);
        QCOMPARE(outcome.out.count("autocast failed: "), 10);
        QVERIFY2(outcome.out.contains("autocast: 2 more failed (--json lists all)"), outcome.out);
    }

    /// A single loss is off by half more than its bound, in the run that one rounding moves.
    void wrongLossExitsWithOne() {
        QFile source(kGolden + "training_runs.json");
        QVERIFY(source.open(QIODevice::ReadOnly));
        // infinite penalties, which nothing reads, are not valid JSON
        const QByteArray text = source.readAll().replace("Infinity", "null");
        nlohmann::json kept = nlohmann::json::array();
        nlohmann::json all = nlohmann::json::parse(text.toStdString());
        for (nlohmann::json& run : all["cases"])
            if (run["kind"] == "checkerboard" && run["seed"] == 1 && run["amp"].is_null() &&
                run["compute"] == "float64")
                kept.push_back(std::move(run));
        QCOMPARE(kept.size(), size_t{1});
        nlohmann::json& loss = kept[0]["trace"][41]["loss"];
        const double recorded = loss.get<double>();
        const auto withLoss = [&](double value) {
            loss = value;
            const QTemporaryDir folder;
            QFile file(folder.filePath("training_runs.json"));
            if (!file.open(QIODevice::WriteOnly)) return Outcome{};
            file.write(QByteArray::fromStdString(kept.dump()));
            file.close();
            return verified({"--golden", folder.path(), "--only", "runs"});
        };
        QCOMPARE(withLoss(recorded).code, 0);
        const Outcome run = withLoss(recorded * (1 + 3e-6));
        QCOMPARE(run.code, 1);
        QVERIFY2(run.out.contains("runs failed: checkerboard seed 1 float64: step 42: loss "),
                 run.out);
    }

    void interruptTellsWhatWasCompared_data() {
        QTest::addColumn<bool>("json");
        QTest::newRow("table") << false;
        QTest::newRow("json") << true;
    }

    /// Every run here is wrong, and judging a wrong one takes dozens of trainings in float64.
    void interruptTellsWhatWasCompared() {
        QFETCH(const bool, json);
        QFile source(kGolden + "training_runs.json");
        QVERIFY(source.open(QIODevice::ReadOnly));
        const QByteArray text = source.readAll().replace("Infinity", "null");
        nlohmann::json runs = nlohmann::json::parse(text.toStdString())["cases"];
        for (nlohmann::json& run : runs)
            if (nlohmann::json& loss = run["trace"].back()["loss"]; loss.is_number())
                loss = 1.01 * loss.get<double>();
        const QTemporaryDir folder;
        QFile file(folder.filePath("training_runs.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(runs.dump()));
        file.close();
        QStringList arguments{"verify", "--device", "cpu", "--golden", folder.path()};
        if (json) arguments << "--json";
        Outcome outcome;
        int done = 0;
        for (int wait = 300; done == 0; wait *= 2) { // nothing tells that a case has been compared
            QVERIFY(wait < kPatience);
            QProcess process;
            process.start(program(), arguments);
            QVERIFY(process.waitForStarted(kPatience));
            QTRY_VERIFY_WITH_TIMEOUT(takesSignal(process, SIGINT), kPatience);
            QTest::qWait(wait);
            QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
            outcome = outcomeOf(process);
            QVERIFY2(outcome.code == 130 && !outcome.crashed, outcome.error);
            if (outcome.error.isEmpty()) continue; // it had not begun to compare
            static const QRegularExpression told("^Interrupted in runs after (\\d+) of (\\d+) "
                                                 "cases; the results so far were printed\n$");
            const QRegularExpressionMatch match = told.match(outcome.error);
            QVERIFY2(match.hasMatch(), outcome.error);
            done = match.captured(1).toInt();
            QCOMPARE(match.captured(2).toInt(), static_cast<int>(runs.size()));
            QVERIFY(done < match.captured(2).toInt());
        }
        if (!json) {
            QVERIFY2(outcome.out.contains("\nruns   " + QByteArray::number(done) + " "),
                     outcome.out);
            return;
        }
        const QJsonObject report = QJsonDocument::fromJson(outcome.out).object();
        QCOMPARE(report["stopped"].toBool(), true);
        QCOMPARE(report["suites"][0]["cases"].toInt(), done);
    }

    /// Such a case has neither passed nor failed, and the output says so.
    void illPosedExitsWithZero() {
        const QTemporaryDir folder;
        QFile file(folder.filePath("training_runs.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(nlohmann::json::array({illPosed().run}).dump()));
        file.close();
        const Outcome run = verified({"--golden", folder.path(), "--only", "runs"});
        QVERIFY2(run.code == 0, run.out + run.error);
        const QList<QByteArray> lines = run.out.trimmed().split('\n');
        QCOMPARE(lines.size(), 5);
        QVERIFY(lines[1].simplified().startsWith("suite cases passed ill-posed worst bound"));
        QVERIFY(lines[2].simplified().startsWith("runs 1 0 1 "));
        QVERIFY(lines[3].startsWith("runs ill-posed: checkerboard seed 0 float64: cannot be "
                                    "decided in float32 from step "));
        QCOMPARE(
            lines[4],
            QByteArray("Nothing failed; 1 case is ill-posed: this precision cannot decide them."));
    }

    void badInputExitsWithTwo_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QByteArray>("told");
        QTest::newRow("folder") << QStringList{"--golden", "/nowhere"}
                                << QByteArray("/nowhere: cannot read this folder: No such file");
        QTest::newRow("suite") << QStringList{"--only", "opz"}
                               << QByteArray(
                                      "suite: \"opz\" is not known; the nearest one is ops\n");
        QTest::newRow("device") << QStringList{"--device", "abacus"}
                                << QByteArray("device: \"abacus\" is not known");
        QTest::newRow("empty suite")
            << QStringList{"--only", "autocast,"}
            << QByteArray("suite: \"\" is not known; there are: autocast, scaler, ");
        QTest::newRow("empty folder") << QStringList{"--golden", ""}
                                      << QByteArray("--golden: \"\" is not allowed: the path of");
        QTest::newRow("argument") << QStringList{"more"}
                                  << QByteArray("\"more\" is one argument too many for verify");
    }
    void badInputExitsWithTwo() {
        QFETCH(QStringList, arguments);
        QFETCH(QByteArray, told);
        const Outcome run = verified(arguments);
        QCOMPARE(run.code, 2);
        QVERIFY2(run.error.contains(told) && run.saysOneLine(), run.error);
        QVERIFY(run.out.isEmpty());
    }

    void truncatedFile() {
        const QTemporaryDir folder;
        const QString path = folder.filePath("op_values.json");
        QVERIFY(QFile::copy(kGolden + "op_values.json", path));
        QVERIFY(QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner));
        QVERIFY(QFile::resize(path, 5000));
        const Outcome run = verified({"--golden", folder.path()});
        QCOMPARE(run.code, 2);
        QVERIFY2(run.error.contains("op_values.json: byte 5001: the JSON is cut off"), run.error);
        QVERIFY(QFile::remove(path));
        QVERIFY(QDir(folder.path()).mkdir("op_values.json")); // a folder in its place
        QCOMPARE(verified({"--golden", folder.path()}).code, 2);
    }

    void emptyFolder() {
        const QTemporaryDir folder;
        const Outcome run = verified({"--golden", folder.path()});
        QCOMPARE(run.code, 2);
        QVERIFY2(run.error.contains("this folder contains none of the files"), run.error);
    }
};

} // namespace tst_cli_verify

QTEST_GUILESS_MAIN(tst_cli_verify::TestCliVerify)
#include "tst_cli_verify.moc"
