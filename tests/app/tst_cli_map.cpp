// halfscope-cli sweep from outside: the map that it prints, its table against single runs, the
// choice of the lane, refusals, and an interruption.
#include "engine/settings/fields.h"
#include "tests/support/array_files.h"
#include "tests/support/cli.h"
#include "tests/support/ordinary_user.h"

#include <QtTest>

#include <cmath>
#include <csignal>
#include <string>
#include <vector>

namespace tst_cli_map {

using namespace halfscope;
using namespace halfscope::test;

namespace {

QStringList overflowMap(const QStringList& more) {
    return QStringList{"sweep", "--preset", "overflow", "--steps", "30", "--device", "cpu"} + more;
}

const QStringList kTwo{"--sweep", "scaler.init_scale=2^10,2^24", "--sweep",
                       "scaler.growth_interval=20,2000"};

/// Returns the fields of a csv file, line by line.
QList<QStringList> tableOf(const QString& path) {
    QList<QStringList> lines;
    for (const QString& line : QString::fromUtf8(contentOf(path)).trimmed().split('\n'))
        lines << line.split(',');
    return lines;
}

} // namespace

class TestCliMap : public QObject {
    Q_OBJECT

private slots:
    void mapAndRanking() {
        const Outcome outcome = call(overflowMap(kTwo));
        QVERIFY2(outcome.code == 0, outcome.error);
        const QStringList lines = QString::fromUtf8(outcome.out).split('\n');
        QCOMPARE(lines[0], QString("Median of the last 25 losses, in parentheses the skipped "
                                   "steps; > marks the first of 2 equal cells; columns: "
                                   "growth_interval"));
        QCOMPARE(lines[1].simplified(), QString("init_scale 20 2000"));
        QVERIFY2(lines[2].startsWith("2^10 ") && lines[3].startsWith("2^24 "), outcome.out);
        QCOMPARE(outcome.out.count("> "), qsizetype{2}); // in the words about it, and at the best
        QVERIFY2(lines[2].contains("(0)") && !lines[3].contains("(0)"), outcome.out);
        QVERIFY2(lines[5].simplified().startsWith("lane loss last loss skipped scale zero ms/step"),
                 outcome.out);
        QVERIFY2(lines[6].startsWith("1  amp-fp16 ") && lines[6].contains("init_scale 2^10"),
                 outcome.out);
        QVERIFY2(outcome.out.contains("as behind a ReLU (the median of up to 9 counts near the "
                                      "end)\n"),
                 outcome.out);
        QVERIFY2(outcome.error.contains("Overflow: 4 trainings of 30 steps\n"), outcome.error);
        QVERIFY2(outcome.error.contains("cell 4 of 4  step 30/30\n"), outcome.error);
        const Outcome quiet = call(overflowMap(kTwo + QStringList{"--quiet"}));
        QVERIFY(quiet.code == 0 && quiet.out.isEmpty() && quiet.error.isEmpty());
    }

    /// After a single step all losses are the same, and the first cell is the best: one in which
    /// most gradients are zero.
    void zerosOfTheBestCell() {
        const Outcome outcome = call({"sweep", "--preset", "overflow", "--steps", "1", "--device",
                                      "cpu", "--sweep", "scaler.init_scale=2^-20,2^10"});
        static const QRegularExpression s_mark("\n2\\^-20 +> ");
        QVERIFY2(s_mark.match(QString::fromUtf8(outcome.out)).hasMatch(), outcome.out);
        static const QRegularExpression s_words(
            "\nIn the best cell, \\d\\d % of the gradients are zero, in others as few as \\d\\d %: "
            "that it does best may be chance\\.\n$");
        QVERIFY2(s_words.match(QString::fromUtf8(outcome.out)).hasMatch(), outcome.out);
    }

    /// The table has the bits of runs with the same settings, also of those beside other lanes.
    void tableEqualsRuns() {
        QTemporaryDir folder;
        const QString csv = folder.filePath("map.csv");
        const Outcome outcome = call(overflowMap(kTwo + QStringList{"--csv", csv}));
        QVERIFY2(outcome.code == 0 && outcome.out.endsWith("Table: " + csv.toUtf8() + "\n"),
                 outcome.out);
        const QList<QStringList> table = tableOf(csv);
        QCOMPARE(table.size(), qsizetype{5});
        QCOMPARE(table[0].join(','),
                 QString("scaler.init_scale,scaler.growth_interval,loss,last_loss,validation_loss,"
                         "accuracy,skipped_steps,final_scale,zero_gradients,gradient_error,steps,"
                         "outcome,reason"));
        QSet<QString> losses;
        for (int line = 1; line <= 4; ++line) {
            const QStringList& cell = table[line];
            const QString out = folder.filePath(QString::number(line));
            QVERIFY(call({"run", "--preset", "overflow", "--steps", "30", "--device", "cpu",
                          "--quiet", "--set", "scaler.init_scale=" + cell[0], "--set",
                          "scaler.growth_interval=" + cell[1], "--out", out})
                        .code == 0);
            const QJsonArray lanes = QJsonDocument::fromJson(contentOf(out + "/summary.json"))
                                         .object()["lanes"]
                                         .toArray();
            const QJsonObject lane = lanes[1].toObject();
            QCOMPARE(lane["name"].toString(), QString("amp-fp16"));
            QCOMPARE(cell[3].toDouble(), lane["final_loss"].toDouble());
            QCOMPARE(cell[6].toInt(), lane["skipped_steps"].toInt());
            QCOMPARE(cell[7].toDouble(), lane["final_scale"].toDouble());
            QVERIFY(cell[8].toDouble() < 1 && cell[9].toDouble() > 0);
            QCOMPARE(cell[10], QString("30"));
            QCOMPARE(cell[11], QString("finished"));
            losses.insert(cell[3]);
        }
        QVERIFY(losses.size() >= 2);
    }

    /// Each cell has the bits of a run with its seed, also where the data are random. Precisions
    /// need no --lane. It fails when cells of other seeds share the data of the first.
    void seedsAndPrecisions() {
        QTemporaryDir folder;
        const QStringList small{"--preset", "moons", "--steps", "20", "--device", "cpu"};
        const QString csv = folder.filePath("map.csv");
        const Outcome outcome = call(QStringList{"sweep"} + small +
                                     QStringList{"--sweep", "precision=fp32,amp-fp16", "--sweep",
                                                 "run.seed=1,2,3", "--csv", csv});
        QVERIFY2(outcome.code == 0, outcome.error);
        const QList<QStringList> table = tableOf(csv);
        QCOMPARE(table.size(), qsizetype{7});
        double sum = 0, squares = 0;
        for (int line = 1; line <= 3; ++line) { // of fp32
            const QString out = folder.filePath(table[line][1]);
            QVERIFY(call(QStringList{"run"} + small +
                         QStringList{"--quiet", "--seed", table[line][1], "--out", out})
                        .code == 0);
            const QJsonArray lanes = QJsonDocument::fromJson(contentOf(out + "/summary.json"))
                                         .object()["lanes"]
                                         .toArray();
            QCOMPARE(table[line][3].toDouble(), lanes[0].toObject()["final_loss"].toDouble());
            const double loss = table[line][2].toDouble();
            sum += loss;
            squares += loss * loss;
        }
        const double mean = sum / 3, deviation = std::sqrt((squares - 3 * mean * mean) / 2);
        QVERIFY(deviation > 0);
        const QString told = QString::number(mean, 'g', 4) + QStringLiteral(" ± ") +
                             QString::number(deviation, 'g', 2);
        const QString out = QString::fromUtf8(outcome.out);
        QVERIFY2(out.contains("mean ± standard deviation\nprecision  ") && out.contains(told),
                 outcome.out);
        QVERIFY2(QString(out).contains(QRegularExpression("\nfp32 .* 3\namp-fp16 .* 3\n")),
                 outcome.out);
        const Outcome rows = call(QStringList{"sweep"} + small +
                                  QStringList{"--sweep", "run.seed=1,2,3", "--lane", "fp32"});
        QVERIFY2(rows.code == 0 && QString::fromUtf8(rows.out).contains(told), rows.out);
    }

    /// Values that are equal have no spread, and one that is nan leaves no mean.
    void spreadOverSeeds() {
        const QTemporaryDir folder;
        constexpr int kSamples = 80;
        std::vector<float> x;
        for (int i = 0; i < kSamples; ++i)
            x.push_back(static_cast<float>(i % 7));
        const QString data = folder.filePath("x.npy"), labels = folder.filePath("y.npy");
        const auto table = [&](const QStringList& more) {
            const std::string bytes(reinterpret_cast<const char*>(x.data()),
                                    x.size() * sizeof(float));
            writeBytes(data.toStdString(), npy("<f4", "(80, 1)", bytes));
            const Outcome outcome = call(
                QStringList{"sweep", data, "--lane", "fp32", "--device", "cpu", "--sweep"} + more);
            return QString::fromUtf8(outcome.code == 0 ? outcome.out : outcome.error);
        };
        writeBytes(labels.toStdString(), npy("|u1", "(80,)", std::string(kSamples, '\0')));
        const QString same = table({"run.seed=1,2,3,4,5,6", "--steps", "2"});
        QVERIFY2(same.contains(QRegularExpression("\nfp32  100 % ± 0 %  0 ± 0 .* 6\n")),
                 qPrintable(same));
        // targets of halves are numbers; the only step of one seed takes the sample that is nan
        std::string targets;
        for (int i = 0; i < kSamples; ++i) {
            const float y = 0.5F * static_cast<float>(i % 9);
            targets.append(reinterpret_cast<const char*>(&y), sizeof y);
        }
        writeBytes(labels.toStdString(), npy("<f4", "(80, 1)", targets));
        x[40] = NAN;
        const QString odd = table({"run.seed=1,2,3,4", "--steps", "1", "--set", "task.batch=8",
                                   "--set", "data.validation=0"});
        QCOMPARE(odd.count(QRegularExpression("\n\\d +nan \\(")), qsizetype{1});
        QVERIFY2(odd.contains(QRegularExpression("\nfp32  nan   0 ± 0    4\n")), qPrintable(odd));
    }

    void cellsWithoutEffect() {
        const Outcome outcome =
            call({"sweep", "--preset", "overflow", "--steps", "2", "--device", "cpu", "--sweep",
                  "scaler.mode=static,dynamic", "--sweep", "scaler.growth_interval=20,2000"});
        QVERIFY2(outcome.error.contains("trainings of 2 steps\nWithout effect in 2 of 4 cells: "
                                        "scaler.growth_interval\n"),
                 outcome.error);
    }

    void oneSetting() {
        const Outcome outcome = call(overflowMap({"--sweep", "scaler.init_scale=2^10,2^24"}));
        QVERIFY2(outcome.code == 0, outcome.error);
        QVERIFY2(outcome.out.contains("\ninit_scale  loss (skipped)\n"), outcome.out);
    }

    /// What marks the best cell is named, and shown in the cells. An axis has values of one form.
    void marks() {
        const QStringList few{"--steps", "4", "--device", "cpu", "--lanes", "amp-fp16"};
        const Outcome classes =
            call(QStringList{"sweep", "--preset", "moons", "--sweep", "optimizer.lr=0.0001,0.001"} +
                 few);
        QVERIFY2(classes.code == 0, classes.error);
        QVERIFY2(classes.out.contains("> marks the highest accuracy\n"), classes.out);
        QVERIFY2(classes.out.contains("loss, accuracy (skipped)\n0.0001  ") &&
                     classes.out.contains("\n0.001   ") && classes.out.contains(" % ("),
                 classes.out);
        const Outcome alike = call(
            QStringList{"sweep", "--preset", "moons", "--sweep", "optimizer.lr=0.001,0.00101"} +
            few);
        QVERIFY2(alike.out.contains("> marks the lowest validation loss of 2 cells with equal "
                                    "accuracy\n"),
                 alike.out + alike.error);
        const Outcome scales = call(overflowMap({"--sweep", "scaler.init_scale=16,2^16"}));
        QVERIFY2(scales.out.contains("\n2^4   ") && scales.out.contains("\n2^16  "), scales.out);
        const Outcome mixed = call(overflowMap({"--sweep", "scaler.init_scale=1000,2^16"}));
        QVERIFY2(mixed.out.contains("\n1000 ") && mixed.out.contains("\n65536 "), mixed.out);
    }

    /// Inputs that fp16 does not hold make every loss nan, which is no lowest loss.
    void cellsThatAreNotFinite() {
        QTemporaryDir folder;
        QFile file(folder.filePath("large.csv"));
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("x,y\n");
        for (int i = 1; i <= 60; ++i)
            file.write(QStringLiteral("%1,%2.5\n").arg(i * 1'000'000).arg(i % 7).toUtf8());
        file.close();
        const QStringList large{"sweep",    file.fileName(),
                                "--set",    "data.standardise=false",
                                "--lanes",  "amp-fp16",
                                "--steps",  "30",
                                "--device", "cpu"};
        const Outcome none = call(large + QStringList{"--sweep", "scaler.init_scale=2,2^10"});
        QVERIFY2(none.code == 0 && none.out.contains("skipped steps; no cell has a finite loss\n"),
                 none.out + none.error);
        QVERIFY2(!none.out.contains("> ") && !none.out.contains("\n1  "), none.out);
        const Outcome one = call(large + QStringList{"--sweep", "precision=amp-fp16,fp32"});
        QVERIFY2(one.out.contains("\nfp32") && one.out.contains("> marks the "), one.out);
        QVERIFY2(one.out.contains("\n1  ") && one.out.contains("\n-  "), one.out);
        QCOMPARE(one.out.count("> "), qsizetype{2});
        for (const char* line :
             {"\n1  fp32 .* precision fp32\n", "\n-  amp-fp16 .* precision amp-fp16\n"})
            QVERIFY2(QString::fromUtf8(one.out).contains(QRegularExpression(line)), one.out);
    }

    /// A training that has stopped may have a finite loss, but is not marked.
    void cellsThatAllStop() {
        const Outcome outcome = call(
            overflowMap({"--set", "scaler.init_scale=2^30", "--set", "scaler.floor=2^30", "--set",
                         "scaler.at_floor=stop", "--sweep", "scaler.init_scale=2^30,2^31"}));
        QVERIFY2(outcome.out.contains("; no finished cell has a finite loss\n"),
                 outcome.out + outcome.error);
        QVERIFY2(!outcome.out.contains("> "), outcome.out);
    }

    /// The tables of gradients speak of a loss scale only where a lane has one.
    void gradientsWithoutAScale() {
        const Outcome outcome = call({"run", "--preset", "regression", "--lanes", "fp32,fp8",
                                      "--steps", "7", "--gradients", "5", "--device", "cpu"});
        QVERIFY2(outcome.out.contains("Gradients after step 7:\n"), outcome.out + outcome.error);
    }

    /// A share below 100 % is never written as it, and a layer without a number of its own says
    /// why.
    void sharesAndRoom() {
        const auto tables = [](const QString& scale) {
            const Outcome outcome =
                call({"run", "--preset", "static-scales", "--lanes", "amp-fp16", "--device", "cpu",
                      "--steps", "3", "--gradients", "3", "--set", "scaler.init_scale=" + scale});
            return QString::fromUtf8(outcome.out).section("Gradients after step 3", 1);
        };
        const auto has = [](const QString& text, const char* pattern) {
            return QRegularExpression(QString::fromLatin1(pattern)).match(text).hasMatch();
        };
        const QString small = tables("2^-12"); // where only the last layer has any
        QVERIFY2(has(small, "\nlane +dtype +zero +subnormal in dtype +inf or nan"),
                 qPrintable(small));
        QVERIFY2(has(small, "\nlayer +lane +dtype +zero +small for fp16 +"), qPrintable(small));
        QVERIFY2(has(small, "\namp-fp16 +float16 +>99\\.9 % "), qPrintable(small));
        QVERIFY2(has(small, "\nlayer 0 +amp-fp16 +float16 +100 % .* all zero "), qPrintable(small));
        const QString large = tables("2^40");
        QVERIFY2(has(large, "\nlayer 0 +amp-fp16 +float16 .* 100 % +none "), qPrintable(large));
        QVERIFY2(!large.contains("all zero"), qPrintable(large));
    }

    /// Among other powers of two, 1 is one, too.
    void scalesOfOneForm() {
        const Outcome outcome =
            call(overflowMap({"--set", "scaler.mode=static", "--sweep", "scaler.init_scale=1,4"}));
        QVERIFY2(outcome.code == 0, outcome.error);
        const QString out = QString::fromUtf8(outcome.out);
        for (const char* line : {" 2\\^0 .*init_scale 1\n", " 2\\^2 .*init_scale 4\n"})
            QVERIFY2(out.contains(QRegularExpression(line)), outcome.out);
    }

    void lanes() {
        const QStringList two{"--lanes", "amp-fp16,apex-o2", "--sweep", "scaler.init_scale=1,2"};
        const Outcome unclear = call(overflowMap(two));
        QCOMPARE(unclear.code, 2);
        QVERIFY2(unclear.saysOneLine() &&
                     unclear.error.contains("--lane is missing: these settings mean something in "
                                            "the lanes amp-fp16, apex-o2"),
                 unclear.error);
        for (const char* lane : {"apex-o2", "1"}) {
            const Outcome named = call(overflowMap(two + QStringList{"--lane", lane}));
            QVERIFY2(named.code == 0 && named.out.contains("1  apex-o2 "), named.error);
        }
        const Outcome unknown = call(overflowMap(two + QStringList{"--lane", "apex"}));
        QVERIFY2(unknown.code == 2 &&
                     unknown.error.contains("--lane: \"apex\" is not a lane of this experiment"),
                 unknown.error);
        const Outcome none =
            call(overflowMap({"--lanes", "fp32", "--sweep", "scaler.init_scale=1,2"}));
        QVERIFY2(none.code == 2 &&
                     none.error.contains("scaler.init_scale means nothing in lane fp32"),
                 none.error);
    }

    void refusals_data() {
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<QByteArray>("message");
        QTest::newRow("none") << QStringList{}
                              << QByteArray("--sweep: 0 settings are given: a map has one or two");
        QTest::newRow("three") << kTwo + QStringList{"--sweep", "scaler.floor=0,1"}
                               << QByteArray("--sweep: 3 settings are given: a map has one or two");
        QTest::newRow("twice") << QStringList{"--sweep", "scaler.init_scale=1", "--sweep",
                                              "scaler.init_scale=2"}
                               << QByteArray("scaler.init_scale is given twice");
        QTest::newRow("folder") << kTwo + QStringList{"--csv", "/no/such/folder/map.csv"}
                                << QByteArray("--csv: \"/no/such/folder/map.csv\" is not allowed: "
                                              "there is no folder");
    }

    void refusals() {
        QFETCH(const QStringList, options);
        QFETCH(const QByteArray, message);
        const Outcome outcome = call(overflowMap(options));
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.saysOneLine() && outcome.error.contains(message), outcome.error);
    }

    /// Before the trainings, not after them.
    void aFolderThatCannotBeWritten() {
        const OrdinaryUser user;
        if (!user.holds()) QSKIP("cannot become an ordinary user");
        // root's home, for example, where root may have built it
        if (!user.canRun(program().toUtf8().constData()))
            QSKIP("an ordinary user cannot reach the program in this folder");
        const Outcome outcome = call(overflowMap(kTwo + QStringList{"--csv", "/usr/map.csv"}));
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.error.contains("no file can be written into \"/usr\""), outcome.error);
    }

    void aCellThatFails() {
        QTemporaryDir folder;
        const QString csv = folder.filePath("map.csv");
        const Outcome outcome = call(overflowMap(
            {"--set", "scaler.floor=16", "--sweep", "scaler.init_scale=2^10,4", "--csv", csv}));
        QCOMPARE(outcome.code, 1);
        QVERIFY2(outcome.out.contains("failed: init_scale 2^2: "), outcome.out);
        const QList<QStringList> table = tableOf(csv);
        QCOMPARE(table.size(), qsizetype{3});
        QCOMPARE(table[1][10], QString("finished"));
        QCOMPARE(table[2][10], QString("failed"));
    }

    /// What is there is printed and written.
    void interrupted() {
        QTemporaryDir folder;
        const QString csv = folder.filePath("map.csv");
        QProcess process;
        process.setReadChannel(QProcess::StandardError);
        process.start(program(),
                      {"sweep", "--preset", "overflow", "--device", "cpu", "--steps", "20000",
                       "--sweep", "scaler.init_scale=1,2,4,8,16,32,64,128,256", "--sweep",
                       "scaler.growth_interval=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20",
                       "--csv", csv});
        QByteArray told;
        static const QRegularExpression s_second("cell ([2-9]|\\d\\d+) of 180");
        while (!s_second.match(QString::fromUtf8(told)).hasMatch()) {
            QVERIFY2(process.waitForReadyRead(kPatience), told);
            told += process.readAllStandardError();
        }
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        const Outcome outcome = outcomeOf(process);
        QVERIFY2(outcome.code == 130 && !outcome.crashed, outcome.error);
        QVERIFY2(outcome.out.startsWith("Interrupted after "), outcome.out);
        QVERIFY2(outcome.out.contains("Median of the last 25 losses"), outcome.out);
        const qsizetype lines = tableOf(csv).size();
        QVERIFY2(lines > 1 && lines < 181, qPrintable(QString::number(lines)));
    }
};

} // namespace tst_cli_map

QTEST_GUILESS_MAIN(tst_cli_map::TestCliMap)
#include "tst_cli_map.moc"
