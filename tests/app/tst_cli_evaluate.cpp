// What halfscope-cli evaluate tells of two classes as one output, and for which data it has nothing
// to judge by. Other evaluations stand beside what they judge: tst_cli_resume, tst_cli_best.
#include "engine/data/dataset.h"
#include "tests/support/cli_folder.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

namespace tst_cli_evaluate {

using namespace halfscope;
using namespace halfscope::test;

class TestCliEvaluate : public CliFolderTest {
    Q_OBJECT
private slots:
    void twoClassesAsOneOutput();
    void nothingToJudgeBy();
    void drawnToJudgeBy();
};

/// The run, evaluate and its files count the lines of samples.csv on whose side of 0 the logit is.
void TestCliEvaluate::twoClassesAsOneOutput() {
    std::string text = "a,b,y\n";
    for (int i = 0; i < 200; ++i)
        text += std::to_string(i % 17) + "," + std::to_string(i * 7 % 23) + "," +
                (i % 17 + i % 5 > 9 ? "1\n" : "0\n");
    const Outcome run = call({"run", file("sides.csv", text), "--device", "cpu", "--lanes", "fp32",
                              "--set", "task.loss=bce-with-logits", "--set", "data.validation=0.5",
                              "--steps", "40", "--out", path("run")});
    QVERIFY2(run.code == 0 && run.out.contains("lane  accuracy  val. loss"), run.out + run.error);
    const Outcome judged = call({"evaluate", path("run"), "--out", path("judged")});
    QVERIFY2(judged.code == 0, judged.error);
    QList<QByteArray> lines = contentOf(path("judged/samples.csv")).trimmed().split('\n');
    QCOMPARE(lines.takeFirst(), QByteArray("sample,target,fp32"));
    int counts[2][2]{};
    for (const QByteArray& line : lines) {
        const QList<QByteArray> fields = line.split(',');
        ++counts[fields[1] == "1"][fields[2].toDouble() > 0];
    }
    const double accuracy = (counts[0][0] + counts[1][1]) / 100.0;
    QCOMPARE(lines.size(), qsizetype{100});
    const QJsonValue scores = firstLaneIn(path("judged/scores.json"));
    QCOMPARE(scores["accuracy"].toDouble(), accuracy);
    QCOMPARE(scores["confusion"], QJsonValue(QJsonArray{QJsonArray{counts[0][0], counts[0][1]},
                                                        QJsonArray{counts[1][0], counts[1][1]}}));
    QCOMPARE(QJsonDocument::fromJson(contentOf(path("judged/scores.json")))["classes"].toArray(),
             (QJsonArray{"0", "1"}));
    QCOMPARE(firstLaneIn(path("run/summary.json"))["accuracy"].toDouble(), accuracy);
    const auto line = [&counts](int row) {
        return QByteArray::number(row) + "," + QByteArray::number(counts[row][0] + counts[row][1]) +
               "," + QByteArray::number(counts[row][0]) + "," + QByteArray::number(counts[row][1]) +
               "\n";
    };
    QCOMPARE(contentOf(path("run/classes_fp32.csv")), "true,samples,0,1\n" + line(0) + line(1));
    QVERIFY2(judged.out.contains("accuracy\n") && judged.out.contains("\ntrue      0      1\n0"),
             judged.out);
    // new samples are predicted as numbers, as before
    const Outcome more =
        call({"evaluate", path("run"), "--predict", path("sides.csv"), "--out", path("predicted")});
    QVERIFY2(more.code == 0, more.error);
    QVERIFY(contentOf(path("predicted/samples.csv")).startsWith("a,b,y,y_predicted\n"));
}

/// The sentence names all data that can be judged.
void TestCliEvaluate::nothingToJudgeBy() {
    const QString weights = file("w.safetensors", "");
    for (const char* preset : {"checkerboard", "picture", "gan"}) {
        const Outcome refused = call({"evaluate", "--preset", preset, "--weights", weights});
        QVERIFY2(refused.code == 2 && refused.saysOneLine(), refused.error);
        const QByteArray named = refused.error.mid(refused.error.indexOf("these have: "));
        for (const DataSetInfo& info : dataSets()) {
            const bool isNamed = named.contains(QByteArray(" ") + info.name + ",") ||
                                 named.endsWith(QByteArray(" ") + info.name + "\n");
            QVERIFY2(isNamed == info.validates, refused.error);
        }
    }
}

/// Samples that are drawn to validate on change no bit of the training, and evaluate judges the
/// lanes by them as the run did.
void TestCliEvaluate::drawnToJudgeBy() {
    const auto train = [&](const char* out, const QStringList& more) {
        return call(QStringList{"run", "--preset", "regression", "--device", "cpu", "--lanes",
                                "fp32", "--steps", "20", "--quiet", "--out", path(out)} +
                    more);
    };
    const Outcome plain = train("plain", {});
    const Outcome held = train("held", {"--set", "task.validation_samples=200"});
    QVERIFY2(plain.code == 0 && held.code == 0 && held.error.isEmpty(), held.error);
    const QJsonValue without = firstLaneIn(path("plain/summary.json"));
    const QJsonValue with = firstLaneIn(path("held/summary.json"));
    QCOMPARE(with["final_loss"].toDouble(), without["final_loss"].toDouble());
    QVERIFY(with["validation_loss"].isDouble() && without["validation_loss"].isUndefined());
    const Outcome judged = call({"evaluate", path("held"), "--out", path("by drawn")});
    QVERIFY2(judged.code == 0 && judged.out.startsWith("200 validation samples\n"), judged.error);
    QCOMPARE(firstLaneIn(path("by drawn/scores.json"))["loss"].toDouble(),
             with["validation_loss"].toDouble());
    const Outcome one = call({"evaluate", path("held"), "--set", "task.validation_samples=1"});
    QVERIFY2(one.code == 0 && one.out.startsWith("1 validation sample\n"), one.error);
    const Outcome none = call({"evaluate", path("plain")});
    QCOMPARE(none.error, QByteArray("halfscope-cli: task.validation_samples: 0 is not allowed: "
                                    "there are no samples to judge by\n"));
}

} // namespace tst_cli_evaluate

QTEST_GUILESS_MAIN(tst_cli_evaluate::TestCliEvaluate)
#include "tst_cli_evaluate.moc"
