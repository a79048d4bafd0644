// `halfscope-cli bench` from outside: which rows and lanes it times, its JSON, and bad input.
// Figures only have to be present: the speed of a machine is not tested.
#include "tests/support/cli.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

namespace tst_cli_bench {

using namespace halfscope::test;

namespace {

Outcome bench(const QStringList& arguments) {
    return call(QStringList{"bench", "--device", "cpu", "--rounds", "1"} + arguments);
}

QJsonObject firstRow(const Outcome& outcome) {
    return QJsonDocument::fromJson(outcome.out).object()["rows"].toArray()[0].toObject();
}

/// A shell program that replaces Python.
class StandIn {
public:
    explicit StandIn(const char* commands) {
        QFile file(path());
        file.open(QIODevice::WriteOnly);
        file.write(QByteArray("#!/bin/sh\n") + commands);
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    QString path() const { return m_folder.filePath("python"); }

private:
    QTemporaryDir m_folder;
};

/// Answers like PyTorch with two ways to run FP32, and keeps the first request.
constexpr const char* kTwoWays = "echo '{\"version\": \"9.8\"}'\n"
                                 "read -r request\n"
                                 "printf \"%s\" \"$request\" > \"$0.request\"\n"
                                 "echo '{\"ways\": [{\"lane\": \"fp32\", \"way\": \"eager\"}, "
                                 "{\"lane\": \"fp32\", \"way\": \"compiled\"}],\n"
                                 "\"refused\": [{\"lane\": \"fp32\", \"way\": \"channels_last\", "
                                 "\"reason\": \"no kernel\"}]}' | tr -d '\\n'\n"
                                 "echo\n"
                                 "for seconds in '[4.0, 1.0]' '[3.0, 2.0]' '[5.0, 9.0]'; do\n"
                                 "    read -r request\n"
                                 "    echo \"{\\\"seconds\\\": $seconds}\"\n"
                                 "done\n";

} // namespace

class TestCliBench : public QObject {
    Q_OBJECT

private slots:
    void jsonHasEveryLane() {
        const Outcome outcome = bench({"--only", "mlp-10", "--json"});
        QVERIFY2(outcome.code == 0, outcome.error.constData());
        const QJsonObject json = QJsonDocument::fromJson(outcome.out).object();
        QCOMPARE(json["kind"].toString(), QString("cpu"));
        QStringList lanes;
        for (const QJsonValue& value : json["rows"].toArray()) {
            const QJsonObject row = value.toObject();
            QCOMPARE(row["row"].toString(), QString("mlp-10-20-1"));
            lanes << row["lane"].toString();
            for (const char* key : {"ms_per_step", "fastest_ms", "device_ms", "steps_per_second",
                                    "peak_bytes", "matmul_flops_per_step"})
                QVERIFY2(row[key].toDouble() > 0, key);
            // forward and two gradients of 64 x (10 x 20 + 20 x 1), without that of the input
            QCOMPARE(row["matmul_flops_per_step"].toDouble(), 2.0 * 64 * (2 * 200 + 3 * 20));
        }
        QCOMPARE(lanes, (QStringList{"fp32", "amp-fp16", "amp-bf16"}));
    }
    /// In JSON and as a table; in one round, the shares are those of the printed times.
    void dataHasThreeRows() {
        const QStringList parts{"loader alone", "step alone", "both"};
        const Outcome json = bench({"--data", "sample", "--lanes", "fp32", "--json"});
        QVERIFY2(json.code == 0, json.error.constData());
        const QJsonArray rows = QJsonDocument::fromJson(json.out).array();
        QCOMPARE(rows.size(), parts.size());
        const double step = rows[1].toObject()["ms_per_step"].toDouble();
        for (qsizetype i = 0; i < parts.size(); ++i) {
            const QJsonObject row = rows[i].toObject();
            QCOMPARE(row["row"].toString(), parts[i]);
            QCOMPARE(row["lane"].toString(), QString("fp32"));
            const double took = row["ms_per_step"].toDouble();
            QVERIFY2(took > 0, json.out.constData());
            QCOMPARE(row["speed_of_step"].toDouble(), step / took); // a speed, not a time
        }
        const Outcome table = bench({"--data", "sample", "--lanes", "fp32,amp-bf16"});
        QVERIFY2(table.code == 0, table.error.constData());
        const QRegularExpression form("^(.{14}) (fp32|amp-bf16) +(\\d+\\.\\d{4}) ms/step +"
                                      "(\\d+\\.\\d) % of the speed of the step alone$");
        const QStringList lines = QString::fromUtf8(table.out).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 2 * parts.size());
        for (qsizetype i = 0; i < lines.size(); ++i) {
            const QRegularExpressionMatch match = form.match(lines[i]);
            QVERIFY2(match.hasMatch(), qPrintable(lines[i]));
            QCOMPARE(match.captured(1).trimmed(), parts[i % parts.size()]);
            QCOMPARE(match.captured(2), QString(i < parts.size() ? "fp32" : "amp-bf16"));
            QVERIFY(match.captured(3).toDouble() > 0 && match.captured(4).toDouble() > 0);
        }
    }
    /// A preset's network, whose convolutions are among the operations.
    void convolutionsCount() {
        const Outcome outcome = bench({"--only", "mnist-cnn", "--lanes", "fp32", "--json"});
        QVERIFY2(outcome.code == 0, outcome.error.constData());
        const QJsonObject row = firstRow(outcome);
        QCOMPARE(row["row"].toString(), QString("mnist-cnn"));
        // forward and the gradients of weights and inputs, without the gradient of the pictures
        const double first = 25.0 * 6 * 28 * 28, second = 6 * 25.0 * 16 * 10 * 10;
        const double linear = 400 * 120 + 120 * 84 + 84 * 10;
        QCOMPARE(row["matmul_flops_per_step"].toDouble(),
                 2.0 * 64 * (2 * first + 3 * second + 3 * linear));
    }
    void tableAndLanes() {
        const Outcome outcome = bench({"--only", "mlp-10", "--lanes", "fp16,fp32"});
        QVERIFY2(outcome.code == 0, outcome.error.constData());
        QVERIFY2(outcome.out.contains("\nmlp-10-20-1            fp16 "), outcome.out.constData());
        QVERIFY2(!outcome.out.contains("amp-"), outcome.out.constData());
    }
    void interruptKeepsFinishedRows() {
        QProcess process;
        process.setReadChannel(QProcess::StandardError);
        process.start(program(), {"bench", "--device", "cpu", "--only", "mlp", "--rounds", "5",
                                  "--lanes", "fp32", "--json"});
        while (!process.peek(1000).contains("mlp-784-256-10: 5 rounds"))
            QVERIFY(process.waitForReadyRead(kPatience));
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        const Outcome outcome = outcomeOf(process);
        QVERIFY2(outcome.code == 130 && !outcome.crashed, outcome.error);
        const QJsonArray rows = QJsonDocument::fromJson(outcome.out).object()["rows"].toArray();
        QCOMPARE(rows.size(), qsizetype{1});
        QCOMPARE(rows[0].toObject()["row"].toString(), QString("mlp-10-20-1"));
    }

    /// The faster of two ways is in the table; the median of three rounds counts.
    void pytorchStandsBeside() {
        const StandIn python(kTwoWays);
        const QStringList arguments{"bench",   "--device",  "cpu",        "--only",
                                    "mlp-784", "--lanes",   "fp32,fp16",  "--rounds",
                                    "3",       "--pytorch", python.path()};
        const Outcome json = call(arguments + QStringList{"--json"});
        QVERIFY2(json.code == 0, json.error.constData());
        QVERIFY2(json.error.contains("PyTorch: mlp-784-256-10, fp32, channels_last: not timed: "
                                     "no kernel\n"),
                 json.error);
        QCOMPARE(firstRow(json)["pytorch_ms_per_step"].toObject(),
                 (QJsonObject{{"eager", 4000.0}, {"compiled", 2000.0}}));
        QCOMPARE(firstRow(json)["pytorch_fastest_ms"].toObject(),
                 (QJsonObject{{"eager", 3000.0}, {"compiled", 1000.0}}));
        const Outcome table = call(arguments);
        QVERIFY2(table.out.contains(" 2000       1000 compiled "), table.out);
        QVERIFY2(!table.out.contains("not reliable"), table.out); // twice is not more than twice
        QVERIFY2(table.out.contains("\nPyTorch 9.8: "), table.out);
        QFile sent(python.path() + ".request");
        QVERIFY(sent.open(QIODevice::ReadOnly));
        const QJsonObject request = QJsonDocument::fromJson(sent.readAll()).object();
        QVERIFY(request["script"].toString().contains("nn.Linear(784, 256)"));
        QCOMPARE(request["x"].toArray(), (QJsonArray{64, 1, 28, 28}));
        QCOMPARE(request["target"].toArray(), (QJsonArray{64}));
        QCOMPARE(request["classes"].toInt(), 10);
        QCOMPARE(request["optimizer"].toString(),
                 QString("torch.optim.Adam(model.parameters(), lr=0.001)"));
    }
    /// Something slowed most of PyTorch's rounds down.
    void disturbedRoundsAreTold() {
        const StandIn python("echo '{\"version\": \"9.8\"}'\n"
                             "read -r request\n"
                             "echo '{\"ways\": [{\"lane\": \"fp32\", \"way\": \"eager\"}], "
                             "\"refused\": []}'\n"
                             "for seconds in 1.0 3.0 4.0; do\n"
                             "    read -r request\n"
                             "    echo \"{\\\"seconds\\\": [$seconds]}\"\n"
                             "done\n");
        const Outcome table = call({"bench", "--device", "cpu", "--only", "mlp-10", "--lanes",
                                    "fp32", "--rounds", "3", "--pytorch", python.path()});
        QVERIFY2(table.code == 0, table.error.constData());
        QVERIFY2(table.out.contains(" 3000       1000 eager "), table.out);
        QVERIFY2(table.out.contains("\nmlp-10-20-1, fp32: PyTorch's median round took 3 times as "
                                    "long as its fastest: "),
                 table.out);
    }
    /// Something else answers, such as a wrapper that prints.
    void pytorchAnswersSomethingElse_data() {
        QTest::addColumn<QByteArray>("lines");
        const QByteArray ways = "{\"ways\": [{\"lane\": \"fp32\", \"way\": \"eager\"}], "
                                "\"refused\": []}\n",
                         hello = "{\"version\": \"9.8\"}\n";
        QTest::newRow("its version") << QByteArray("{\"version\": 3}\n");
        QTest::newRow("its error") << QByteArray("{\"error\": 5}\n");
        QTest::newRow("no ways") << hello + "{}\n";
        QTest::newRow("ways of text") << hello + "{\"ways\": [\"fp32\"], \"refused\": []}\n";
        QTest::newRow("too few times") << hello + ways + "{\"seconds\": []}\n";
        QTest::newRow("no time") << hello + ways + "{\"seconds\": [null]}\n";
        QTest::newRow("a long text") << hello + "[\"" + QByteArray(100'000, 'x') + "\"]\n";
    }
    void pytorchAnswersSomethingElse() {
        QFETCH(QByteArray, lines);
        const StandIn python(("cat \"$0.answers\"\nwhile read -r request; do :; done\n"));
        QFile answers(python.path() + ".answers");
        QVERIFY(answers.open(QIODevice::WriteOnly) && answers.write(lines) == lines.size());
        answers.close();
        const Outcome outcome =
            bench({"--only", "mlp-10", "--lanes", "fp32", "--pytorch", python.path()});
        QCOMPARE(outcome.code, 3);
        QVERIFY2(outcome.error.contains("PyTorch's process gave no answer that can be used: "),
                 outcome.error);
        QVERIFY2(outcome.error.size() < 600, outcome.error);
    }
    /// No time is spent on a Python before it.
    void unknownRowsBeforePyTorch() {
        const StandIn python("sleep 600\n");
        const Outcome outcome = bench({"--only", "nosuch", "--pytorch", python.path()});
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.error.contains("--only: no row is named like"), outcome.error);
    }
    /// A signal interrupts it, for example while PyTorch compiles.
    void pytorchCanBeInterrupted() {
        const StandIn python("echo '{\"version\": \"9.8\"}'\nexec sleep 1000\n");
        QProcess process;
        process.setReadChannel(QProcess::StandardError);
        process.start(program(), {"bench", "--device", "cpu", "--only", "mlp-10", "--lanes", "fp32",
                                  "--pytorch", python.path()});
        while (!process.peek(1000).contains("mlp-10-20-1: "))
            QVERIFY(process.waitForReadyRead(kPatience));
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        const Outcome outcome = outcomeOf(process);
        QVERIFY2(outcome.code == 130 && !outcome.crashed, outcome.error);
    }
    /// A compiler brings down the process: the other ways are timed in a new one.
    void pytorchMayEnd() {
        const StandIn python("echo '{\"version\": \"9.8\"}'\n"
                             "read -r request\n"
                             "for way in eager compiled; do\n"
                             "    case $request in *\"\\\"$way\\\"\"*) continue ;; esac\n"
                             "    echo \"{\\\"trying\\\": {\\\"lane\\\": \\\"fp32\\\", "
                             "\\\"way\\\": \\\"$way\\\"}}\"\n"
                             "    [ $way != compiled ] || kill -ABRT $$\n"
                             "done\n"
                             "echo '{\"ways\": [{\"lane\": \"fp32\", \"way\": \"eager\"}], "
                             "\"refused\": []}'\n"
                             "read -r request\n"
                             "echo '{\"seconds\": [1.0]}'\n");
        const Outcome outcome =
            bench({"--only", "mlp-10", "--lanes", "fp32", "--json", "--pytorch", python.path()});
        QVERIFY2(outcome.code == 0, outcome.error.constData());
        QCOMPARE(outcome.error.count("not timed"), 1);
        QVERIFY2(outcome.error.contains("PyTorch: mlp-10-20-1, fp32, compiled: not timed: its "
                                        "process has ended (Aborted)\n"),
                 outcome.error);
        QCOMPARE(firstRow(outcome)["pytorch_ms_per_step"].toObject(),
                 (QJsonObject{{"eager", 1000.0}}));
    }
    void pytorchMayEndEarly() {
        const StandIn python("echo '{\"version\": \"9.8\"}'\nexit 7\n");
        const Outcome outcome = bench({"--only", "mlp-10", "--pytorch", python.path()});
        QCOMPARE(outcome.code, 3);
        QVERIFY2(
            outcome.error.endsWith("halfscope-cli: PyTorch's process has ended (exit code 7)\n"),
            outcome.error);
    }
    /// Our own times stay, and each row has a process of its own.
    void pytorchMayEndWhileItIsTimed() {
        const StandIn python("echo '{\"version\": \"9.8\"}'\n"
                             "read -r request\n"
                             "echo '{\"ways\": [{\"lane\": \"fp32\", \"way\": \"eager\"}], "
                             "\"refused\": []}'\n"
                             "read -r request\n"
                             "case $request in *round*) ;; *) echo '{}' ;; esac\n"
                             "kill -KILL $$\n");
        const Outcome outcome =
            bench({"--only", "mlp", "--lanes", "fp32", "--json", "--pytorch", python.path()});
        QVERIFY2(outcome.code == 0, outcome.error.constData());
        for (const char* row : {"mlp-10-20-1", "mlp-784-256-10"})
            QVERIFY2(outcome.error.contains(QByteArray("PyTorch: ") + row +
                                            ": not timed: its process has ended (Killed)\n"),
                     outcome.error);
        QVERIFY(!firstRow(outcome).contains("pytorch_ms_per_step"));
        QVERIFY(firstRow(outcome)["ms_per_step"].toDouble() > 0);
    }
    void pytorchItself() {
        const QString python = qEnvironmentVariable("HALFSCOPE_PYTHON");
        if (python.isEmpty()) QSKIP("HALFSCOPE_PYTHON names no Python with PyTorch");
        // one thread: PyTorch's threads wait for each other at full speed, which takes minutes
        // beside tests
        const Outcome outcome = bench({"--only", "mnist-cnn", "--lanes", "fp32,amp-bf16,fp16",
                                       "--threads", "1", "--json", "--pytorch", python});
        QVERIFY2(outcome.code == 0, outcome.error.constData());
        const QJsonObject json = QJsonDocument::fromJson(outcome.out).object();
        QVERIFY2(!json["pytorch"].toString().isEmpty(), outcome.out.constData());
        for (const QJsonValue& value : json["rows"].toArray()) {
            const QJsonObject times = value.toObject()["pytorch_ms_per_step"].toObject();
            for (const char* way : {"eager", "channels_last"})
                QVERIFY2(times[way].toDouble() > 0, outcome.error.constData());
        }
    }

    void badInput_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QByteArray>("words");
        QTest::newRow("row") << QStringList{"--only", "mpl"}
                             << QByteArray("no row is named like \"mpl\"; rows: checkerboard-64");
        QTest::newRow("lane") << QStringList{"--lanes", "fp4"} << QByteArray("fp4");
        QTest::newRow("no rounds")
            << QStringList{"--rounds", "0"}
            << QByteArray("--rounds: \"0\" is not allowed: a whole number from 1 to 10000\n");
        QTest::newRow("rounds") << QStringList{"--rounds", "1x"} << QByteArray("\"1x\" is not");
        QTest::newRow("threads")
            << QStringList{"--threads", "1025"}
            << QByteArray("--threads: \"1025\" is not allowed: a whole number from 0 to 1024\n");
        QTest::newRow("no Python")
            << QStringList{"--pytorch", "/nowhere/python"}
            << QByteArray("--pytorch: \"/nowhere/python\" cannot be started: No such file");
        QTest::newRow("another program")
            << QStringList{"--pytorch", "/bin/true"}
            << QByteArray("--pytorch: \"/bin/true\" is not Python; it must be a Python that has "
                          "PyTorch\n");
        QTest::newRow("beside data")
            << QStringList{"--pytorch", "python3", "--data", "sample"} << QByteArray("--data");
        for (const char* option : {"--only", "--lanes", "--device", "--pytorch"})
            QTest::newRow((std::string("empty ") + option).c_str())
                << QStringList{option, ""} << QByteArray(option) + ": \"\" is not allowed: ";
    }
    void badInput() {
        QFETCH(QStringList, arguments);
        QFETCH(QByteArray, words);
        const Outcome outcome = bench(arguments);
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.error.contains(words) && outcome.saysOneLine(), outcome.error);
    }
};

} // namespace tst_cli_bench

QTEST_GUILESS_MAIN(tst_cli_bench::TestCliBench)
#include "tst_cli_bench.moc"
