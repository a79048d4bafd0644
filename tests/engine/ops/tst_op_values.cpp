// Every op of the golden file: value, gradients, and gradients of sum(gradient * vector), compared
// with PyTorch's float64. First the reference evaluator in double, then the CPU executor in
// float32.
#include "engine/verify/golden_ops.h"
#include "tests/support/training.h"

#include <QTest>

#include <cmath>

namespace tst_op_values {

using namespace halfscope;

namespace {

const recorded::Golden& goldenCases() {
    static const recorded::Golden cases = test::goldenOf("ops");
    return cases;
}

void addCases() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < goldenCases().size(); ++i)
        QTest::newRow(recorded::opCaseName(goldenCases().at(i), i).c_str()) << static_cast<int>(i);
}

} // namespace

class TestOpValues : public QObject {
    Q_OBJECT

private slots:
    void reference_data() { addCases(); }
    void reference() {
        QFETCH(int, index);
        const auto row = goldenCases().at(static_cast<size_t>(index));
        const recorded::CaseResult result = recorded::compareReference(row);
        QVERIFY2(result.passed(), result.difference.c_str());
    }

    void cpu_data() { addCases(); }
    void cpu() {
        QFETCH(int, index);
        const auto row = goldenCases().at(static_cast<size_t>(index));
        const auto executor = makeCpuExecutor(2);
        for (const FuseOptions fuse : {FuseOptions::Full, FuseOptions::None}) {
            const auto result = recorded::compareOnDevice(row, *executor, {fuse});
            QVERIFY2(result.passed(), result.difference.c_str());
        }
    }

    /// The device has inputs rounded to float32, and an exponential of 24 multiplies that error by
    /// 24: just that much is allowed.
    void inputsAreRounded() {
        const double x = 24.3; // 24.3 in float32 is 7.6e-7 less
        const double rounded = std::exp(double{24.3f});
        QVERIFY(std::fabs(rounded / std::exp(x) - 1) > 5 * 0x1p-24);
        const auto judged = [&](double output) {
            const nlohmann::json tensor{{"shape", {1}}, {"data", {x}}};
            const nlohmann::json row{{"op", "exp"},
                                     {"attrs", nlohmann::json::object()},
                                     {"inputs", {tensor}},
                                     {"output", {{"shape", {1}}, {"data", {output}}}},
                                     {"cotangent", {1}},
                                     {"grads", {{std::exp(x)}}},
                                     {"second_order_vectors", {{1}}},
                                     {"second_order", {{std::exp(x)}}}};
            const auto executor = makeCpuExecutor(1);
            const auto golden = recorded::Golden::parse("row", row.dump());
            return recorded::compareOnDevice(golden, *executor, {}).passed();
        };
        QVERIFY(judged(std::exp(x)));
        QVERIFY(!judged(rounded + 3 * (rounded - std::exp(x))));
    }
};

} // namespace tst_op_values

QTEST_GUILESS_MAIN(tst_op_values::TestOpValues)
#include "tst_op_values.moc"
