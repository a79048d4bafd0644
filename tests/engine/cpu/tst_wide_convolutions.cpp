// Convolutions of 16-bit operands with results in f32 on the CPU: each kernel stores the same sums
// as for a result in 16 bits, not yet rounded.
#include "tests/support/gradient_check.h"
#include "tests/support/kernel_rows.h"
#include "tests/support/run_program.h"

#include <QTest>

#include <algorithm>

namespace tst_wide_convolutions {

using namespace halfscope;
using namespace halfscope::test;

namespace {

std::vector<KernelRow> convolutions() {
    std::vector<KernelRow> rows;
    addConvolutions(rows);
    return rows;
}

/// Returns the results of a row whose operands are stored in `type`.
std::vector<double> resultsOf(const KernelRow& row, DType type, bool wide) {
    Graph graph;
    Builder b(graph);
    Leaves leaves;
    std::vector<NodeId> in;
    for (const Shape& shape : row.operands) {
        const auto stream = static_cast<uint64_t>(in.size() + 1);
        in.push_back(b.input("in" + std::to_string(stream), shape, type));
        RefTensor& values = leaves[in.back()] = randomTensor(shape, 4711, stream, -1, 1);
        for (double& v : values.values)
            v = roundTo(type, v);
    }
    ConvAttrs how = std::get<ConvAttrs>(row.attrs);
    how.wide = wide;
    const NodeId out = b.emit(row.op, in, how);
    if (b.dtypeOf(out) != (wide ? DType::F32 : type)) return {};
    graph.addOutput("out", out);
    return runSteps(graph, leaves, FuseOptions::None, 2, 1).at("out");
}

} // namespace

class TestWideConvolutions : public QObject {
    Q_OBJECT

private slots:
    void sameSums_data() {
        QTest::addColumn<int>("index");
        QTest::addColumn<int>("type");
        const std::vector<KernelRow> rows = convolutions();
        for (size_t i = 0; i < rows.size(); ++i)
            for (const DType type : {DType::F16, DType::BF16})
                QTest::addRow("%s, %s", rows[i].name.c_str(), std::string(nameOf(type)).c_str())
                    << static_cast<int>(i) << static_cast<int>(type);
    }
    void sameSums() {
        QFETCH(int, index);
        QFETCH(int, type);
        const KernelRow row = convolutions()[static_cast<size_t>(index)];
        const auto low = static_cast<DType>(type);
        const std::vector<double> wide = resultsOf(row, low, true),
                                  narrow = resultsOf(row, low, false);
        QVERIFY(!wide.empty());
        std::vector<double> rounded = wide;
        for (double& v : rounded)
            v = roundTo(low, v);
        QVERIFY(rounded == narrow);
        QVERIFY(rounded != wide); // the results do need a rounding
    }
};

} // namespace tst_wide_convolutions

QTEST_GUILESS_MAIN(tst_wide_convolutions::TestWideConvolutions)
#include "tst_wide_convolutions.moc"
