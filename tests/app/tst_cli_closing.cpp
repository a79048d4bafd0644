// What halfscope-cli says of a lane below the table that ends a run.
#include "engine/runs/run_reader.h"
#include "tests/support/array_files.h"
#include "tests/support/cli.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <string>
#include <vector>

namespace tst_cli_closing {

using namespace halfscope;
using namespace halfscope::test;

namespace {

std::string bytesOf(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

} // namespace

class TestCliClosing : public QObject {
    Q_OBJECT

private slots:
    void underflowBesideAFault_data() {
        QTest::addColumn<int>("fault"); // the first sample with nan
        QTest::addColumn<int>("faults");
        QTest::addColumn<QString>("scale");
        QTest::addColumn<int>("lost"); // the step of the underflow
        QTest::addColumn<bool>("told");
        QTest::newRow("before") << 50 << 1 << QStringLiteral("2^-40") << 1 << true;
        // the scale was too small anyway: one nan only halves it
        QTest::newRow("behind one") << 0 << 1 << QStringLiteral("2^-40") << 2 << true;
        // 60 steps with nan bring the scale down from 2^16 to 2^-44
        QTest::newRow("behind many") << 0 << 240 << QStringLiteral("2^16") << 61 << false;
    }

    /// A loss scale that was too small by itself is no consequence of nan in the data.
    void underflowBesideAFault() {
        QFETCH(const int, fault);
        QFETCH(const int, faults);
        QFETCH(const QString, scale);
        QFETCH(const int, lost);
        QFETCH(const bool, told);
        QTemporaryDir folder;
        constexpr int kSamples = 300, kBatch = 4;
        std::vector<float> x, y;
        for (int i = 0; i < kSamples; ++i) {
            const bool bad = i >= fault && i < fault + faults;
            x.push_back(bad ? std::nanf("") : std::sin(static_cast<float>(i)));
            y.push_back(std::cos(static_cast<float>(i)));
        }
        const QString data = folder.filePath("x.npy"), out = folder.filePath("out");
        writeBytes(data.toStdString(), npy("<f4", "(300, 1)", bytesOf(x)));
        writeBytes(folder.filePath("y.npy").toStdString(), npy("<f4", "(300,)", bytesOf(y)));
        const QString words = "--device cpu --lanes amp-fp16 --steps 65 --set data.validation=0 "
                              "--set data.shuffle=false --set scaler.init_scale=" +
                              scale + " --set task.batch=" + QString::number(kBatch);
        const Outcome outcome = call(QStringList{"run", data, "--out", out} + words.split(' '));
        QVERIFY2(outcome.code == 0, outcome.error);
        const auto run = readRun(out.toStdString());
        const LaneTotals& totals = run->now().totals(0);
        QCOMPARE(totals.underflowStep(), int64_t{lost});
        QCOMPARE(totals.skips().dataFault().step, int64_t{fault / kBatch + 1});
        const QByteArray note = "\namp-fp16: Step " + QByteArray::number(lost) +
                                ": all gradients rounded to zero at loss scale ";
        QVERIFY2(outcome.out.contains(note) == told, outcome.out);
    }

    /// One of 30,000 samples is predicted wrongly: that is not 100 %.
    void nearlyAllRight() {
        const QTemporaryDir folder;
        const auto table = [&](const char* name, int rows, const std::string& last) {
            std::string text = "size,kind\n";
            for (int i = 0; i < rows; ++i)
                text += i % 2 ? "1,large\n" : "0,small\n";
            return QString::fromStdString(
                writeBytes(folder.filePath(name).toStdString(), text + last));
        };
        const QString own = table("own.csv", 200, ""), out = folder.filePath("out");
        const QString judged = table("judged.csv", 29999, "1,small\n");
        const QString tested = table("tested.csv", 29999, "1,small\n");
        const Outcome trained =
            call({"run", own, "--device", "cpu", "--lanes", "fp32", "--steps", "200", "--set",
                  "optimizer.lr=0.01", "--set", "data.validation_path=" + judged, "--set",
                  "data.test_path=" + tested, "--out", out});
        QVERIFY2(trained.code == 0, trained.error);
        QVERIFY2(trained.out.contains(" >99.99 %  ") &&
                     trained.out.contains("Test: accuracy >99.99 % (fp32)\n"),
                 trained.out);
        const Outcome scores = call({"evaluate", out}), runs = call({"runs", folder.path()});
        QVERIFY2(scores.out.contains(">99.99 %\n"), scores.out + scores.error);
        QVERIFY2(runs.out.contains(" >99.99%"), runs.out + runs.error);
    }

    /// Gradients that are lost in part skip nothing and have no event.
    void gradientsLostInPart() {
        const QStringList words{"run",
                                "--preset",
                                "overflow",
                                "--device",
                                "cpu",
                                "--lanes",
                                "fp32,amp-fp16",
                                "--gradients",
                                "20",
                                "--steps",
                                "20",
                                "--set",
                                "lanes.1.scaler.mode=static",
                                "--set",
                                "lanes.1.scaler.init_scale=2^-22"};
        const Outcome outcome = call(words);
        QVERIFY2(outcome.code == 0, outcome.error);
        QVERIFY2(outcome.out.contains(" % of its gradients are zero (fp32: 4") &&
                     outcome.out.contains(": its loss scale is too small.\n"),
                 outcome.out);
        QCOMPARE(outcome.out.count("of its gradients are zero"), 1);
    }
};

} // namespace tst_cli_closing

QTEST_GUILESS_MAIN(tst_cli_closing::TestCliClosing)
#include "tst_cli_closing.moc"
