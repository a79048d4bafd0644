// Every op of the golden file: value, gradients, and gradients of sum(gradient * vector), against
// PyTorch's float64. The reference evaluator in double, then the CPU executor in float32.
#include "engine/verify/golden_ops.h"
#include "tests/support/training.h"

#include <QTest>

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
};

QTEST_GUILESS_MAIN(TestOpValues)
#include "tst_op_values.moc"
