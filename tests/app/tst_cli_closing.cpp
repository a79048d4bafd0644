// What halfscope-cli says of a lane below the table that ends a run.
#include "engine/runs/run_reader.h"
#include "tests/support/array_files.h"
#include "tests/support/cli.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace tst_cli_closing {

using namespace halfscope;
using namespace halfscope::test;

namespace {

std::string bytesOf(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// Trains on 300 samples, of which some have nan as their input, and one may have a value that
/// fp16 cannot hold. The run lies in "out" then.
Outcome train(const QTemporaryDir& folder, const QList<int>& faults, const QString& words,
              int large = -1) {
    std::vector<float> x, y;
    for (int i = 0; i < 300; ++i) {
        const float usual = i == large ? 1e6f : std::sin(static_cast<float>(i));
        x.push_back(faults.contains(i) ? std::nanf("") : usual);
        y.push_back(std::cos(static_cast<float>(i)));
    }
    const QString data = folder.filePath("x.npy");
    writeBytes(data.toStdString(), npy("<f4", "(300, 1)", bytesOf(x)));
    writeBytes(folder.filePath("y.npy").toStdString(), npy("<f4", "(300,)", bytesOf(y)));
    return call(QStringList{"run", data, "--device", "cpu", "--out", folder.filePath("out")} +
                words.split(' '));
}

std::shared_ptr<const Run> runIn(const QTemporaryDir& folder) {
    return readRun(folder.filePath("out").toStdString());
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
        const QTemporaryDir folder;
        constexpr int kBatch = 4;
        QList<int> bad(faults);
        std::iota(bad.begin(), bad.end(), fault);
        const QString words = "--lanes amp-fp16 --steps 65 --set data.validation=0 "
                              "--set data.shuffle=false --set scaler.init_scale=" +
                              scale + " --set task.batch=" + QString::number(kBatch);
        const Outcome outcome = train(folder, bad, words);
        QVERIFY2(outcome.code == 0, outcome.error);
        const auto run = runIn(folder);
        const LaneTotals& totals = run->now().totals(0);
        QCOMPARE(totals.underflowStep(), int64_t{lost});
        QCOMPARE(totals.skips().dataFault().step, int64_t{fault / kBatch + 1});
        const QByteArray note = "\namp-fp16: Step " + QByteArray::number(lost) +
                                ": all gradients rounded to zero at loss scale ";
        QVERIFY2(outcome.out.contains(note) == told, outcome.out);
    }

    /// A learning rate that no precision survives is no fault of fp16.
    void divergenceOfAllLanes() {
        for (const bool diverges : {true, false}) {
            const Outcome outcome = call(
                {"run", "--preset", "mnist-mlp", "--lanes", "fp32,amp-fp16", "--device", "cpu",
                 "--steps", "12", "--set", diverges ? "optimizer.lr=1000" : "optimizer.lr=1e-3"});
            QVERIFY2(outcome.code == 0, outcome.error);
            const QByteArray told =
                "\namp-fp16: 11 of 12 steps were skipped. That is not normal: fp32 diverged as "
                "well, so the precision is not the cause. Lower the learning rate first, ";
            QVERIFY2(outcome.out.contains(diverges ? told : QByteArray("diverged")) == diverges,
                     outcome.out);
        }
    }

    /// What every network knows is no success: that is said once, before the run, and below what is
    /// judged later.
    void oneClass() {
        const QTemporaryDir folder;
        const std::string zeros(40 * sizeof(float), '\0'), labels(40, '\0');
        writeBytes(folder.filePath("x.npy").toStdString(), npy("<f4", "(40, 1)", zeros));
        writeBytes(folder.filePath("y.npy").toStdString(), npy("|u1", "(40,)", labels));
        const QString out = folder.filePath("out");
        const Outcome outcome = call({"run", folder.filePath("x.npy"), "--device", "cpu", "--steps",
                                      "4", "--lanes", "fp32", "--out", out});
        QVERIFY2(outcome.code == 0, outcome.error);
        const QByteArray all = outcome.error + outcome.out;
        const QByteArray told =
            "All samples have the same class, so there is nothing to learn: any "
            "network has an accuracy of 100 %.\n";
        QVERIFY2(all.contains("; 1 class\nData: " + told), all);
        QCOMPARE(all.count("nothing to learn"), qsizetype{1});
        QVERIFY2(all.contains("loss 0") && !all.contains(" -0"), all);
        const Outcome judged = call({"evaluate", out});
        QVERIFY2(judged.code == 0 && judged.out.endsWith('\n' + told), judged.error + judged.out);
    }

    /// Arrays that settings name are opened as a folder with them is: few whole numbers are classes
    /// unless the loss is given.
    void arraysBySettings() {
        const QTemporaryDir folder;
        std::vector<float> x;
        std::string labels;
        for (int i = 0; i < 80; ++i) {
            x.push_back(static_cast<float>(i % 7));
            labels += static_cast<char>(i % 4);
        }
        const QString images = folder.filePath("images.npy"), y = folder.filePath("labels.npy");
        writeBytes(images.toStdString(), npy("<f4", "(80, 1)", bytesOf(x)));
        writeBytes(y.toStdString(), npy("|u1", "(80,)", labels));
        const auto told = [&](const QStringList& more) {
            const Outcome outcome =
                call(QStringList{"run", "--set", "data.kind=arrays", "--set", "data.x=" + images,
                                 "--set", "data.y=" + y, "--device", "cpu", "--steps", "2"} +
                     more);
            return outcome.code == 0 ? outcome.error + outcome.out : outcome.error;
        };
        const QByteArray classes = told({});
        QVERIFY2(classes.contains("; 4 classes\n") && classes.contains("accuracy"), classes);
        const QByteArray numbers = told({"--set", "task.loss=mse"});
        QVERIFY2(numbers.contains("y has the whole numbers from 0 to 3, which are learnt as "
                                  "numbers. If they are classes, set task.loss to cross-entropy."),
                 numbers);
        QVERIFY2(!numbers.contains("accuracy"), numbers);
        // a preset that is named brings its own loss
        const QByteArray preset = told({"--preset", "checkerboard"});
        QVERIFY2(preset.contains("which are learnt as numbers"), preset);
    }

    void heldBackFault_data() {
        QTest::addColumn<QList<int>>("faults");
        QTest::addColumn<QString>("share"); // of the samples that are held back, for the test
        QTest::addColumn<QByteArray>("told");
        QTest::newRow("validation") << QList{299} << QStringLiteral("0") << QByteArray("299");
        QTest::newRow("training") << QList{0} << QStringLiteral("0") << QByteArray();
        QTest::newRow("test") << QList{0, 299} << QStringLiteral("0.5") << QByteArray();
    }

    /// No step sees such a sample, so no event names it. In training, it makes the weights of an
    /// FP32 lane nan, and the validation loss with them. The end of the run, written anew from its
    /// checkpoint, says the same.
    void heldBackFault() {
        QFETCH(const QList<int>, faults);
        QFETCH(const QString, share);
        QFETCH(const QByteArray, told);
        const QTemporaryDir folder;
        const Outcome trained = train(folder, faults,
                                      "--lanes fp32 --steps 75 --checkpoint-every 75 --set "
                                      "data.held_back=last --set task.batch=4 --set "
                                      "data.test_share=" +
                                          share);
        const auto loss = runIn(folder)->now().totals(0).validationLoss();
        QVERIFY(loss && std::isnan(*loss));
        const QByteArray line = "\nThe validation data hold inf or nan: the input of sample " +
                                told + " (counted from 0). Such values can make the";
        const QString out = folder.filePath("out");
        for (const Outcome& each :
             {trained, call({"run", "--resume", out, "--out", folder.filePath("again")})}) {
            QVERIFY2(each.code == 0, each.error);
            QVERIFY2(each.out.contains(told.isEmpty() ? "\nThe validation data hold" : line) !=
                         told.isEmpty(),
                     each.out);
        }
    }

    void faultOfTheTest_data() {
        QTest::addColumn<QList<int>>("faults");
        QTest::addColumn<int>("large"); // the validation sample that is too large for fp16
        QTest::addColumn<QByteArray>("told");
        QTest::newRow("none") << QList<int>() << -1 << QByteArray();
        QTest::newRow("in all lanes") << QList{299} << -1 << QByteArray("\nThe validation ");
        QTest::newRow("one has diverged")
            << QList{299} << 275 << QByteArray("\nfp32: The validation ");
    }

    /// Of samples that only the test sees, its loss is the only sign, at the end of a run and in
    /// an evaluation.
    void faultOfTheTest() {
        QFETCH(const QList<int>, faults);
        QFETCH(const int, large);
        QFETCH(const QByteArray, told);
        const QTemporaryDir folder;
        const Outcome outcome =
            train(folder, faults,
                  "--lanes fp32,amp-fp16 --steps 5 --set data.held_back=last --set "
                  "data.test_share=0.5",
                  large);
        QVERIFY2(outcome.code == 0, outcome.error);
        const auto loss = runIn(folder)->now().totals(1).validationLoss();
        QVERIFY(loss && std::isfinite(*loss) == (large < 0));
        const QByteArray sentence = "The test data hold inf or nan: the input of sample 299 "
                                    "(counted from 0).\n";
        const QByteArray line = "loss is finite, but the test loss is not. " + sentence;
        QVERIFY2(outcome.out.contains(told + line) != told.isEmpty(), outcome.out);
        const Outcome judged = call({"evaluate", folder.filePath("out"), "--test"});
        QVERIFY2(judged.code == 0 && judged.out.endsWith(sentence) != told.isEmpty(),
                 judged.out + judged.error);
        QCOMPARE(outcome.out.contains("Test: loss nan (fp32), nan (amp-fp16)\n"), !told.isEmpty());
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

    /// The last batch of each epoch has only four samples, with targets far from the others: the
    /// loss of the last step tells little of the training.
    void lossesAsInOtherTables() {
        const QTemporaryDir folder;
        std::string text = "x,y\n";
        for (int i = 0; i < 36; ++i)
            text += std::to_string(i % 7) + "," + (i < 32 ? std::to_string(i % 7) : "900") + "\n";
        const QString data =
            QString::fromStdString(writeBytes(folder.filePath("data.csv").toStdString(), text));
        const Outcome run = call({"run", data, "--device", "cpu", "--lanes", "fp32", "--epochs",
                                  "10", "--set", "task.batch=8", "--set", "data.validation=0",
                                  "--set", "data.shuffle=false", "--out", folder.filePath("out")});
        QVERIFY2(run.code == 0, run.error);
        const auto wordsOf = [](const QByteArray& line) {
            return QString::fromUtf8(line).simplified().split(' ');
        };
        const QStringList shown = wordsOf(run.out.split('\n').value(1));
        QVERIFY2(run.out.simplified().startsWith("lane loss last loss skipped scale "), run.out);
        QVERIFY2(run.out.contains("\nloss: the median of the last steps, up to 25\n"), run.out);
        QVERIFY2(shown.value(2).toDouble() > 2 * shown.value(1).toDouble(), run.out);
        const Outcome runs = call({"runs", folder.path()});
        QCOMPARE(shown.mid(1, 2), wordsOf(runs.out.split('\n').value(1)).mid(4, 2));
    }

    /// The line of progress and the table have the losses of both networks, and no others have two.
    void bothLossesOfAGan() {
        const QTemporaryDir folder;
        const auto trained = [&](const QStringList& more) {
            return call(smallRun(folder.filePath("out"), more));
        };
        const Outcome gan = trained({"--set", "model.adversary=gan"});
        QVERIFY2(gan.code == 0, gan.error);
        QVERIFY2(gan.out.simplified().startsWith("lane loss last loss generator skipped scale "),
                 gan.out);
        QVERIFY2(gan.out.contains("; generator: the last loss of the network that learns from the "
                                  "critic\n"),
                 gan.out);
        const QList<QByteArray> rows = contentOf(folder.filePath("out/steps.csv")).split('\n');
        const qsizetype place = rows[0].split(',').indexOf("generator_loss");
        QVERIFY(place > 0);
        const double last = rows[rows.size() - 3].split(',')[place].toDouble(); // of fp32
        const QStringList words = QString::fromUtf8(gan.out.split('\n')[1]).simplified().split(' ');
        QVERIFY2(std::abs(words[3].toDouble() - last) <= 1e-5 * last, gan.out);
        const QString line = QString::fromUtf8(gan.error).section("100 %  step 12/12", 1);
        const double told = line.section(" generator ", 1, 1).section(' ', 0, 0).toDouble();
        QVERIFY2(std::abs(told - last) <= 1e-2 * last, gan.error);
        const Outcome plain = trained({});
        QVERIFY2(!plain.out.contains("generator") && !plain.error.contains("generator"), plain.out);
        QVERIFY(!contentOf(folder.filePath("out/steps.csv")).contains("generator"));
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
