// Recorded optimizers that float32 cannot decide: the sign of a sum that cancels, the root of a
// difference of equal numbers. They are told apart from a wrong optimizer and a wrong file.
#include "engine/core/error.h"
#include "engine/core/random_rounding.h"
#include "engine/verify/float64_optimizer.h"
#include "engine/verify/judge_optimizer.h"
#include "tests/support/thrown.h"
#include "tests/support/training.h"

#include <QTest>

#include <cmath>

namespace tst_optimizer_conditioning {

using namespace halfscope;
using namespace halfscope::recorded;
using nlohmann::json;

namespace {

double exactly(double value) { return value; }

/// Returns a row as in the file, with the parameters of float64.
json rowOf(const char* optimizer, const json& args, const std::vector<double>& start,
           const Trace& gradients) {
    json row{{"optimizer", optimizer}, {"args", args}, {"start", start}, {"grads", gradients}};
    const OptimizerConfig config = optimizerOf(Golden::parse("row", row.dump()));
    row["params"] = optimizerTrace(config, start, gradients, exactly);
    return row;
}

/// Adam without a second moment steps by the sign of gradient + decay * p, which is zero here
/// except for roundings; then it steps as the other parameter does.
json cancelling() {
    const double p = double{1.1f};
    Trace gradients{{-(0.1 * p), 1}};
    for (int i = 1; i < 6; ++i)
        gradients.push_back({0.5 * i, 1});
    const json args{{"lr", 0.01}, {"betas", {0.9, 0}}, {"eps", 1e-8}, {"weight_decay", 0.1}};
    return rowOf("Adam", args, {p, 1}, gradients);
}

json plain() {
    Trace gradients;
    for (int i = 0; i < 25; ++i)
        gradients.push_back({std::sin(i), 0.3 * std::cos(i)});
    return rowOf("SGD", {{"lr", 0.1}, {"momentum", 0.9}}, {1, -2}, gradients);
}

CaseResult compared(const json& row) {
    const auto executor = makeCpuExecutor(1);
    return compareOptimizer(Golden::parse("row", row.dump()), *executor, Skipping::Never);
}

bool told(const std::string& text, const char* part) { return text.find(part) != text.npos; }

} // namespace

class TestOptimizerConditioning : public QObject {
    Q_OBJECT

private slots:
    /// The rules in double are PyTorch's: 25 steps of some ten roundings of 2^-53 each.
    void rulesArePyTorchs() {
        const Golden file = test::goldenOf("optim");
        for (const Golden& row : file.at("optimizers").items()) {
            const RecordedOptimizer recorded = recordedOptimizer(row);
            const Trace trace =
                optimizerTrace(optimizerOf(row), recorded.start, recorded.gradients, exactly);
            for (size_t step = 0; step < trace.size(); ++step)
                for (size_t i = 0; i < trace[step].size(); ++i)
                    QVERIFY2(deviationOf(trace[step][i], recorded.parameters[step][i],
                                         recorded.magnitude[step][i]) <= 250 * 0x1p-53,
                             row.dump().substr(0, 80).c_str());
        }
    }

    void drawsAreNeighbours() {
        RandomRounding rounding(1, 0, 1);
        bool below = false, above = false;
        for (int i = 0; i < 100; ++i) {
            const double drawn = rounding(0.1);
            below = below || drawn < 0.1;
            above = above || drawn > 0.1;
            QVERIFY(std::fabs(drawn - 0.1) <= 0.1 * 0x1p-23 + 0x1p-28); // and half its last bit
            QCOMPARE(double{static_cast<float>(drawn)}, drawn);
        }
        QVERIFY(below && above);
        QCOMPARE(rounding(0.25), 0.25);
        QVERIFY(std::isinf(rounding(1e300)) && std::isnan(rounding(std::nan(""))));
    }

    void cancelledSumIsIllPosed() {
        const CaseResult result = compared(cancelling());
        QCOMPARE(result.difference, std::string());
        QVERIFY2(told(result.illPosed,
                      "cannot be decided in float32 from step 1, element 0 on: even float64 is "),
                 result.illPosed.c_str());
    }

    /// PyTorch's own value is nan, because a multiply-add rounds less often than a product and a
    /// sum.
    void rootOfZeroIsIllPosed() {
        const json args{{"lr", 0.01}, {"alpha", 0}, {"centered", true}};
        json row = rowOf("RMSprop", args, {1, 2}, {{0.1, 0.7}, {0.3, 0.5}});
        QVERIFY(compared(row).passed());
        row["params"][0][1] = row["params"][1][1] = "nan";
        std::string text = row.dump();
        for (size_t at; (at = text.find("\"nan\"")) != text.npos;)
            text.replace(at, 5, "NaN");
        const auto executor = makeCpuExecutor(1);
        const CaseResult result =
            compareOptimizer(Golden::parse("row", text), *executor, Skipping::Never);
        QVERIFY2(told(result.illPosed, "step 1, element 1 on: even float64 is inf off"),
                 (result.illPosed + result.difference).c_str());
    }

    /// A value that no rounding makes: in the decided element, and before and after the undecided
    /// one diverges.
    void wrongFileFails_data() {
        QTest::addColumn<int>("step");
        QTest::addColumn<int>("element");
        QTest::addColumn<double>("factor");
        QTest::newRow("decided") << 3 << 1 << 1 + 1e-8;
        QTest::newRow("undecided, too far") << 5 << 0 << 1.5;
    }
    void wrongFileFails() {
        QFETCH(int, step);
        QFETCH(int, element);
        QFETCH(double, factor);
        json row = cancelling();
        json& value = row["params"][static_cast<size_t>(step)][static_cast<size_t>(element)];
        value = value.get<double>() * factor;
        const CaseResult result = compared(row);
        QCOMPARE(result.illPosed, std::string());
        const std::string place = " at step " + std::to_string(step + 1) + ", element " +
                                  std::to_string(element) + " where float64 here has ";
        QVERIFY2(told(result.difference, place.c_str()), result.difference.c_str());
    }

    void wrongOptimizerFails_data() {
        QTest::addColumn<int>("element");
        QTest::addColumn<double>("offset");
        QTest::newRow("decided") << 1 << 2e-6;
        QTest::newRow("undecided, too far") << 0 << 0.5;
        QTest::newRow("not a number") << 0 << std::nan("");
    }
    void wrongOptimizerFails() {
        QFETCH(int, element);
        QFETCH(double, offset);
        const Golden row = Golden::parse("row", cancelling().dump());
        const RecordedOptimizer recorded = recordedOptimizer(row);
        Trace got = recorded.parameters;
        got[2][static_cast<size_t>(element)] += offset;
        const CaseResult failed = compareParameters(recorded, got);
        QVERIFY(!failed.passed());
        const CaseResult result = judgeOptimizer(optimizerOf(row), recorded, got, failed);
        QCOMPARE(result.illPosed, std::string());
        QCOMPARE(result.difference, failed.difference);
    }

    void wellPosedStaysStrict() {
        json row = plain();
        QVERIFY(compared(row).passed());
        row["params"][24][0] = row["params"][24][0].get<double>() + 1e-5;
        const CaseResult result = compared(row);
        QVERIFY(result.illPosed.empty());
        QVERIFY2(told(result.difference, "; the file has "), result.difference.c_str());
    }

    void countsOfStepsMustAgree() {
        json row = plain();
        row["params"].erase(24);
        const std::string error = thrownBy<InputError>([&] { compared(row); });
        QCOMPARE(error, std::string("row: params: 25 steps are expected, as many as of grads"));
    }
};

} // namespace tst_optimizer_conditioning

QTEST_GUILESS_MAIN(tst_optimizer_conditioning::TestOptimizerConditioning)
#include "tst_optimizer_conditioning.moc"
