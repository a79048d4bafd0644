// Runs halfscope-cli with many settings at once: lanes given by name that keep a preset's settings,
// values that become lanes, the table that ranks them, and the sentence about a scale that would
// have fitted.
#include "engine/settings/fields.h"
#include "tests/support/cli.h"

#include <QtTest>

namespace tst_cli_sweep {

using namespace halfscope;
using namespace halfscope::test;

namespace {

QStringList overflowRun(const QString& out, const QStringList& more) {
    return QStringList{"run",      "--preset", "overflow", "--steps", "30",
                       "--device", "cpu",      "--out",    out} +
           more;
}

RunConfig experimentIn(const QString& folder) {
    return readConfig((folder + "/experiment.json").toStdString());
}

} // namespace

class TestCliSweep : public QObject {
    Q_OBJECT

private slots:
    void namedLanesKeepThePreset() {
        QTemporaryDir folder;
        const QString out = folder.filePath("o");
        const Outcome kept = call(overflowRun(out, {"--lanes", "amp-fp16,apex-o2"}));
        QVERIFY2(kept.code == 0 && !kept.error.contains("own loss scaler"), kept.error);
        QCOMPARE(experimentIn(out).lanes[0].scaler.initScale, 0x1p24);
        QVERIFY(contentOf(out + "/events.csv").contains("1,amp-fp16,overflow,16777216,8388608,"));
        const Outcome other = call(overflowRun(out, {"--lanes", "fp32,torch-cpu-fp16"}));
        QVERIFY2(other.error.contains("Lane torch-cpu-fp16 starts with its own loss scaler, not "
                                      "with the settings that amp-fp16 has in this experiment "
                                      "(--set changes them)\n"),
                 other.error);
        const Outcome quiet = call(overflowRun(out, {"--lanes", "torch-cpu-fp16", "--quiet"}));
        QCOMPARE(quiet.error, QByteArray());
    }

    void valuesAreRanked() {
        QTemporaryDir folder;
        const QString out = folder.filePath("o");
        const Outcome outcome =
            call(overflowRun(out, {"--sweep", "scaler.init_scale=2^24,2^10", "--sweep",
                                   "scaler.growth_interval=20,2000"}));
        QVERIFY2(outcome.code == 0, outcome.error);
        const RunConfig config = experimentIn(out);
        QCOMPARE(config.lanes.size(), size_t{5}); // fp32 stays
        QCOMPARE(config.lanes[4].scaler.rules.growthInterval, int64_t{2000});
        const QStringList lines = QString::fromUtf8(outcome.out).split('\n');
        QVERIFY2(lines[0].simplified() == "lane loss last loss skipped scale zero ms/step settings",
                 qPrintable(lines[0]));
        QSet<QString> settings;
        double before = 0;
        for (int rank = 1; rank <= 5; ++rank) {
            const QStringList words = lines[rank].simplified().split(' ');
            QCOMPARE(words[0], QString::number(rank));
            QVERIFY2(words[2].toDouble() >= before, qPrintable(outcome.out)); // the loss
            before = words[2].toDouble();
            settings.insert(words.mid(9).join(' '));
        }
        QCOMPARE(settings, (QSet<QString>{"", "init_scale 2^10, growth_interval 20",
                                          "init_scale 2^10, growth_interval 2000",
                                          "init_scale 2^24, growth_interval 20",
                                          "init_scale 2^24, growth_interval 2000"}));
        // those that began at 2^24 lost steps on the way down
        for (const QString& line : lines.mid(1, 5))
            QCOMPARE(line.simplified().split(' ')[4] == "0", !line.contains("2^24"));
        QVERIFY2(lines[6].startsWith("loss: the median of the last steps, up to 25; zero: ") &&
                     lines[6].endsWith("as behind a ReLU (with the weights at the end)"),
                 qPrintable(lines[6]));
    }

    /// What --set gives counts beside each preset, as it does beside a preset of --set; so do the
    /// values of another sweep, wherever it stands.
    void presetsLeaveWhatIsGiven() {
        QTemporaryDir folder;
        const QString out = folder.filePath("o");
        const QStringList given{"--lanes", "amp-fp16,apex-o2",
                                "--set",   "scaler.growth_interval=7",
                                "--set",   "lanes.1.scaler.floor=2"};
        const Outcome outcome =
            call(overflowRun(out, given + QStringList{"--sweep", "scaler.init_scale=2^9", "--sweep",
                                                      "scaler.preset=keras,megatron"}));
        QVERIFY2(outcome.code == 0, outcome.error);
        for (const char* preset : {"keras", "megatron"}) // not "custom"
            QCOMPARE(outcome.out.count("init_scale 512, scaler " + QByteArray(preset)), 2);
        const RunConfig config = experimentIn(out);
        QCOMPARE(config.lanes.size(), size_t{4});
        for (size_t i = 0; i < 4; ++i) {
            const ScalerConfig& scaler = config.lanes[i].scaler;
            QCOMPARE(scaler.rules.growthInterval, int64_t{7});
            QCOMPARE(scaler.initScale, 512.0);
            QCOMPARE(scaler.rules.hysteresis, int64_t{i % 2 ? 2 : 1});
            QCOMPARE(scaler.rules.floor, i > 1 ? 2.0 : i == 0 ? 0.0 : 1.0);
        }
    }

    /// A sweep decides only what the lanes are: the saved experiment, run without it, gives the
    /// same bits.
    void aSweepIsAnExperimentLikeOthers() {
        QTemporaryDir folder;
        const QString out = folder.filePath("o"), again = folder.filePath("again");
        QVERIFY(call(overflowRun(out,
                                 {"--lanes", "amp-fp16", "--sweep", "scaler.init_scale=2^10,2^24"}))
                    .code == 0);
        QVERIFY(call({"run", out, "--out", again}).code == 0);
        for (const char* file : {"/steps.csv", "/events.csv", "/experiment.json"})
            QCOMPARE(contentOf(again + file), contentOf(out + file));
    }

    /// When the lanes have an accuracy, they are ranked by it first.
    void accuracyRanksFirst() {
        QTemporaryDir folder;
        const Outcome outcome =
            call({"run", "--preset", "moons", "--epochs", "2", "--device", "cpu", "--lanes",
                  "amp-fp16", "--sweep", "scaler.init_scale=2^60,2^10"});
        QVERIFY2(outcome.code == 0, outcome.error);
        const QStringList lines = QString::fromUtf8(outcome.out).split('\n');
        QVERIFY2(lines[0].simplified().startsWith("lane accuracy val. loss loss "),
                 qPrintable(outcome.out));
        QVERIFY2(lines[1].contains("init_scale 2^10"), qPrintable(outcome.out));
    }

    void tooManyLanes() {
        const Outcome outcome = call({"run", "--sweep", "scaler.init_scale=1,2,4,8,16,32"});
        QCOMPARE(outcome.code, 2);
        QVERIFY2(outcome.saysOneLine() &&
                     outcome.error.contains("7 lanes, and a run has at most 6"),
                 outcome.error);
        const Outcome resumed = call({"run", "--resume", "x", "--sweep", "scaler.init_scale=1,2"});
        QCOMPARE(resumed.code, 2);
        QVERIFY2(resumed.error.contains("--sweep and --resume: give one of them"), resumed.error);
    }

    void theScaleThatFits() {
        QTemporaryDir folder;
        const QString out = folder.filePath("o");
        const Outcome outcome = call(overflowRun(out, {}));
        const QByteArray fits = " The step would have fitted at 2048 (2^11) or below.";
        QVERIFY2(outcome.out.contains("fp16: 13 of 30 steps were skipped"), outcome.out);
        QVERIFY2(outcome.out.contains("Step 13 skipped: ") && outcome.out.contains(fits),
                 outcome.out);
        QVERIFY(contentOf(out + "/events.csv").contains(fits));
    }
};

} // namespace tst_cli_sweep

QTEST_GUILESS_MAIN(tst_cli_sweep::TestCliSweep)
#include "tst_cli_sweep.moc"
