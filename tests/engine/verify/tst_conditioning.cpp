// Cases of whole trainings that float32 cannot decide: float64 finds them, tells them apart from
// wrong values before, at and after the step in question, and they count as neither passed nor
// failed.
#include "engine/verify/judge_run.h"
#include "engine/verify/verify.h"
#include "tests/support/ill_posed_run.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

namespace tst_conditioning {

using namespace halfscope;
using namespace halfscope::recorded;
using namespace halfscope::test;
using nlohmann::json;

namespace {

CaseResult judged(const json& run, const TrainedRun& outcome) {
    const Golden golden = goldenFrom(run);
    const CaseResult compared = compareRun(golden, outcome);
    return compared.passed() ? compared : judgeRun(golden, outcome, compared);
}

void clear(json& value) {
    if (value.is_structured())
        for (json& each : value)
            clear(each);
    else
        value = 0;
}

void scaleLoss(json& run, size_t step, double factor) {
    json& loss = run["trace"][step]["loss"];
    loss = loss.get<double>() * factor;
}

VerifyReport verified(const json& runs) {
    QTemporaryDir folder;
    QFile file(folder.filePath(goldenFileOf("runs")));
    const std::string text = runs.dump();
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(text.data(), static_cast<qint64>(text.size()));
    file.close();
    VerifyOptions options;
    options.folder = folder.path().toStdString();
    options.device = "cpu";
    options.suites = {"runs"};
    return verify(options);
}

} // namespace

class TestConditioning : public QObject {
    Q_OBJECT

private slots:
    /// The graph of a training, run in float64, gives PyTorch's training.
    void float64IsPyTorchs() {
        const std::string file(goldenData(goldenFileOf("runs")));
        int runs = 0;
        for (const Golden& run : casesOf(Golden::parse("runs", file)).items()) {
            if (kindOf(run) != RunKind::Float64) continue;
            const size_t steps = run.at("trace").size();
            const std::vector<double> losses = referenceLosses(run, RefRounding::None, steps);
            QCOMPARE(losses.size(), steps);
            for (size_t i = 0; i < steps; ++i) {
                const double wanted = run.at("trace").at(i).at("loss").number();
                QVERIFY2(deviationOf(losses[i], wanted, wanted) <= float64Bound(run),
                         qPrintable(QString("%1, step %2").arg(runName(run).c_str()).arg(i + 1)));
            }
            ++runs;
        }
        QVERIFY(runs > 5);
    }

    /// One over a number of rows is computed in float64, where float32 would round it: a network of
    /// zeros moves only its last bias, by twice the mean of the targets times the rate, to 13/6.
    void meansAreFloat64s() {
        json run = shipped("mlp_mse", "float64");
        run["optimizer"] = "SGD";
        run["lr"] = 0.25;
        clear(run["start"]);
        run["input"].erase(run["input"].begin() + 3, run["input"].end());
        run["target"] = json::array({{3}, {4}, {6}});
        const std::vector<double> losses = referenceLosses(goldenFrom(run), RefRounding::None, 2);
        QCOMPARE(losses.size(), size_t{2});
        QVERIFY(deviationOf(losses[0], 61.0 / 3, 61.0 / 3) <= 8 * 0x1p-53);
        QVERIFY(deviationOf(losses[1], 6.25, 61.0 / 3) <= 8 * 0x1p-53);
    }

    void illPosedIsNoFailure() {
        QVERIFY2(!illPosed().run.is_null(), "no start of an ill-posed training was found");
        const CaseResult result = judged(illPosed().run, illPosed().outcome);
        QCOMPARE(result.difference, std::string());
        QVERIFY2(QString::fromStdString(result.illPosed)
                     .contains(QRegularExpression(
                         "^cannot be decided in float32 from step \\d+ on: even float64 is "
                         "[0-9.e-]+ off there .*, of 2e-06 allowed$")),
                 result.illPosed.c_str());
        QVERIFY(!result.passed() && result.deviation <= kFloat32Bound);

        const json good = shipped("mlp_mse", "float64");
        const VerifyReport report = verified(json::array({illPosed().run, good}));
        QVERIFY(report.passed());
        QCOMPARE(report.illPosed(), size_t{1});
        const SuiteResult& suite = report.suites.at(0);
        QCOMPARE(suite.cases, size_t{2});
        QCOMPARE(suite.passed, size_t{1});
        QCOMPARE(json::parse(verifyJson(report))["suites"][0]["ill_posed"].size(), size_t{1});
    }

    /// A wrong value in the file fails, wherever it stands.
    void wrongFileFails_data() {
        QTest::addColumn<int>("step");
        QTest::newRow("first") << 0;
        QTest::newRow("last") << 59;
    }
    void wrongFileFails() {
        QFETCH(int, step);
        json run = illPosed().run;
        scaleLoss(run, static_cast<size_t>(step), 1 + 1e-8);
        const CaseResult result = judged(run, illPosed().outcome);
        QCOMPARE(result.illPosed, std::string());
        const std::string told =
            " at step " + std::to_string(step + 1) + " where float64 here has ";
        QVERIFY2(result.difference.find(told) != std::string::npos, result.difference.c_str());
    }

    /// Wrong losses of the engine fail: before rounding could have moved them, or too far
    /// afterwards.
    void wrongEngineFails_data() {
        QTest::addColumn<int>("step");
        QTest::addColumn<float>("factor");
        QTest::newRow("early") << 0 << 1 + 1e-5f;
        QTest::newRow("far") << 59 << 1.05f;
        QTest::newRow("not a number") << 59 << std::nanf("");
    }
    void wrongEngineFails() {
        QFETCH(int, step);
        QFETCH(float, factor);
        TrainedRun outcome = illPosed().outcome;
        outcome.losses[static_cast<size_t>(step)] *= factor;
        const CaseResult result = judged(illPosed().run, outcome);
        QCOMPARE(result.illPosed, std::string());
        QVERIFY(!result.passed());
    }

    /// In half precision two trainings diverge by other roundings; a third tells how far.
    void halfIsIllPosed() {
        QVERIFY2(!illPosedHalf().run.is_null(), "no ill-posed training was found");
        const CaseResult result = judged(illPosedHalf().run, illPosedHalf().outcome);
        QCOMPARE(result.difference, std::string());
        QVERIFY2(QString::fromStdString(result.illPosed)
                     .contains(QRegularExpression(
                         "^cannot be decided in half precision from step \\d+ on: starts that "
                         "differ by 4e-06 are [0-9.e-]+ apart there, of 0.01 allowed$")),
                 result.illPosed.c_str());
    }
    void wrongHalfFails_data() {
        QTest::addColumn<int>("step");
        QTest::addColumn<float>("factor");
        QTest::addColumn<float>("scaleFactor");
        QTest::newRow("early") << 1 << 1.03f << 1.0f;
        QTest::newRow("not a number") << 50 << std::nanf("") << 1.0f;
        QTest::newRow("scale") << 1 << 1.0f << 0.5f;
    }
    void wrongHalfFails() {
        QFETCH(int, step);
        QFETCH(float, factor);
        QFETCH(float, scaleFactor);
        TrainedRun outcome = illPosedHalf().outcome;
        outcome.losses[static_cast<size_t>(step)] *= factor;
        outcome.scales[static_cast<size_t>(step)] *= scaleFactor;
        const CaseResult result = judged(illPosedHalf().run, outcome);
        QCOMPARE(result.illPosed, std::string());
        QVERIFY(!result.passed());
    }

    /// Nothing exact is known about what a half-precision file should contain.
    void wrongHalfFileFails() {
        json run = illPosedHalf().run;
        scaleLoss(run, 1, 1.03);
        const CaseResult compared = compareRun(goldenFrom(run), illPosedHalf().outcome);
        const CaseResult result = judged(run, illPosedHalf().outcome);
        QCOMPARE(result.illPosed, std::string());
        QCOMPARE(result.difference, compared.difference);
        QVERIFY(!result.passed());
    }

    /// A picture whose values would fill the memory is not repeated.
    void largeStaysStrict() {
        json run = illPosed().run;
        run["side"] = 2048;
        const Golden golden = goldenFrom(run);
        const CaseResult compared = compareRun(golden, illPosed().outcome);
        const CaseResult result = judgeRun(golden, illPosed().outcome, compared);
        QCOMPARE(result.difference,
                 compared.difference + "; the training is too large to be repeated in float64");
    }

    /// A training whose units keep away from zero stays decided to its end.
    void wellPosedStaysStrict_data() {
        QTest::addColumn<QString>("compute");
        QTest::addColumn<int>("step");
        QTest::addColumn<double>("factor");
        QTest::newRow("float64 early") << QString("float64") << 2 << 1 + 1e-5;
        QTest::newRow("float64 late") << QString("float64") << 59 << 1 + 1e-5;
        QTest::newRow("float32 early") << QString("float32") << 2 << 1 + 1e-5;
        QTest::newRow("float32 late") << QString("float32") << 59 << 1 + 1e-3;
    }
    void wellPosedStaysStrict() {
        QFETCH(QString, compute);
        QFETCH(int, step);
        QFETCH(double, factor);
        json run = shipped("mlp_mse", compute.toStdString());
        const TrainedRun outcome = trained(goldenFrom(run));
        QVERIFY(judged(run, outcome).passed());
        scaleLoss(run, static_cast<size_t>(step), factor);
        const CaseResult result = judged(run, outcome);
        QVERIFY(!result.difference.empty() && result.illPosed.empty());
        QVERIFY(!verified(json::array({run})).passed());
    }
};

} // namespace tst_conditioning

QTEST_GUILESS_MAIN(tst_conditioning::TestConditioning)
#include "tst_conditioning.moc"
