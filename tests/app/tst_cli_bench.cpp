// `halfscope-cli bench` from outside: which rows and lanes it times, its JSON, and bad input.
// Figures are only checked for being there: how fast a machine is, is no test.
#include "tests/support/cli.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <csignal>

namespace tst_cli_bench {

using namespace halfscope::test;

namespace {

Outcome bench(const QStringList& arguments) {
    return call(QStringList{"bench", "--device", "cpu", "--rounds", "1"} + arguments);
}

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
    /// A preset's network, with its convolutions among the operations.
    void convolutionsCount() {
        const Outcome outcome = bench({"--only", "mnist-cnn", "--lanes", "fp32", "--json"});
        QVERIFY2(outcome.code == 0, outcome.error.constData());
        const QJsonObject row =
            QJsonDocument::fromJson(outcome.out).object()["rows"].toArray()[0].toObject();
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

    void badInput_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<QByteArray>("words");
        QTest::newRow("row") << QStringList{"--only", "mpl"}
                             << QByteArray("no row is named like \"mpl\"; rows: checkerboard-64");
        QTest::newRow("lane") << QStringList{"--lanes", "fp8"} << QByteArray("fp8");
        QTest::newRow("no rounds")
            << QStringList{"--rounds", "0"}
            << QByteArray("--rounds: \"0\" is not allowed: a whole number from 1 to 10000\n");
        QTest::newRow("rounds") << QStringList{"--rounds", "1x"} << QByteArray("\"1x\" is not");
        QTest::newRow("threads")
            << QStringList{"--threads", "1025"}
            << QByteArray("--threads: \"1025\" is not allowed: a whole number from 0 to 1024\n");
        for (const char* option : {"--only", "--lanes", "--device"})
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
