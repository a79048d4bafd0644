// The loss scaler: its rules by hand-made cases, the update op compared with next(), and every
// history that was recorded from PyTorch's GradScaler.
#include "engine/ops/builder.h"
#include "engine/ops/op_info.h"
#include "engine/scaler/grad_scaler.h"
#include "engine/verify/golden_scaler.h"
#include "tests/support/run_program.h"
#include "tests/support/training.h"

#include <QTest>

#include <limits>

namespace tst_scaler {

using namespace halfscope;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T>
std::vector<double> stored(const T& value) {
    const auto numbers = slotsOf(value);
    return {numbers.begin(), numbers.end()};
}

QByteArray text(const ScalerState& s) {
    return QByteArray::number(static_cast<double>(s.scale), 'g', 9) + ", tracker " +
           QByteArray::number(s.growthTracker);
}

/// The update op in a graph of its own, from state to next state.
struct UpdateGraph {
    Graph graph;
    NodeId state, rules, found;
    UpdateGraph() {
        Builder b(graph);
        state = b.state("scaler", {kScalerSlots}, DType::F64, StateRole::Scaler);
        rules = b.input("rules", {kRuleSlots}, DType::F64);
        found = b.input("found", {}, DType::F32);
        graph.setNext(state, b.emit(Op::ScalerUpdate, {state, rules, found}));
    }
    std::map<NodeId, RefTensor> leaves(const ScalerState& s, const ScalerRules& r,
                                       double foundInf) const {
        return {{state, {Shape{kScalerSlots}, stored(s)}},
                {rules, {Shape{kRuleSlots}, stored(r)}},
                {found, {Shape{}, {foundInf}}}};
    }
};

} // namespace

class TestScaler : public QObject {
    Q_OBJECT

private slots:
    void rule_data() {
        QTest::addColumn<float>("scale");
        QTest::addColumn<int>("tracker");
        QTest::addColumn<QList<double>>("rules"); // growth, backoff, interval, mode
        QTest::addColumn<QString>("steps");       // '.' clean, 'X' overflow
        QTest::addColumn<QList<float>>("scales");
        QTest::addColumn<QList<int>>("trackers");
        const auto row = [](const char* name, float scale, int tracker, QList<double> rules,
                            const char* steps, QList<float> scales, QList<int> trackers) {
            QTest::newRow(name) << scale << tracker << rules << QString(steps) << scales
                                << trackers;
        };
        // scale 4, growth 2, backoff 1/4, interval 2: PyTorch's own test of the rule
        row("pytorch's test", 4, 0, {2, .25, 2, 0}, "..X", {4, 8, 2}, {1, 0, 0});
        row("grows at the n-th step", 64, 0, {2, .5, 3, 0}, "....", {64, 64, 128, 128},
            {1, 2, 0, 1});
        row("an overflow starts the count again", 64, 0, {2, .5, 3, 0}, "..X...",
            {64, 64, 32, 32, 32, 64}, {1, 2, 0, 1, 2, 0});
        row("refused growth keeps the scale", 0x1p127f, 0, {2, .5, 2, 0}, "...",
            {0x1p127f, 0x1p127f, 0x1p127f}, {1, 0, 1});
        row("does not clamp to the largest float", 1e38f, 0, {16, .5, 1, 0}, ".", {1e38f}, {0});
        row("interval below the tracker", 64, 10, {2, .5, 5, 0}, "...X.....",
            {64, 64, 64, 32, 32, 32, 32, 32, 64}, {11, 12, 13, 0, 1, 2, 3, 4, 0});
        row("interval 0 never grows", 64, 0, {2, .5, 0, 0}, "...", {64, 64, 64}, {1, 2, 3});
        row("reaches 0 and stays", 0x1p-148f, 0, {2, .5, 1, 0}, "XX..", {0x1p-149f, 0, 0, 0},
            {0, 0, 0, 0});
        // 3 * 0.7 in double is just below a float; it is rounded once
        row("rounded once from double", 3, 0, {2, .7, 9, 0}, "X", {static_cast<float>(3 * 0.7)},
            {0});
        row("static never changes", 64, 2, {2, .5, 3, 1}, ".X.", {64, 64, 64}, {2, 2, 2});
        row("off never changes", 64, 2, {2, .5, 3, 2}, ".X.", {64, 64, 64}, {2, 2, 2});
        row("infinite scale backs off to infinity", kInfinity, 0, {2, .5, 3, 0}, "X", {kInfinity},
            {0});
    }
    void rule() {
        QFETCH(float, scale);
        QFETCH(int, tracker);
        QFETCH(QList<double>, rules);
        QFETCH(QString, steps);
        QFETCH(QList<float>, scales);
        QFETCH(QList<int>, trackers);
        const ScalerRules r{rules[0], rules[1], static_cast<int64_t>(rules[2]),
                            static_cast<ScalerMode>(static_cast<int>(rules[3]))};
        ScalerState state{scale, tracker};
        const UpdateGraph op;
        for (qsizetype i = 0; i < steps.size(); ++i) {
            const bool found = steps[i] == QChar('X');
            // any number of non-finite values is an overflow
            const auto leaves = op.leaves(state, r, found ? 3 : 0);
            state = next(state, found, r);
            const QByteArray at = "step " + QByteArray::number(i) + ": " + text(state);
            QVERIFY2(state.scale == scales[i] && state.growthTracker == trackers[i],
                     at.constData());
            const NodeId after = op.graph.states()[0].next;
            const auto reference = evaluate(op.graph, leaves, std::array{after});
            QCOMPARE(reference.at(after).values, stored(state));
            const auto run = test::runSteps(op.graph, leaves, FuseOptions::Full, 2, 1);
            QCOMPARE(run.at("scaler"), stored(state));
        }
    }

    void recordedHistory_data() {
        QTest::addColumn<int>("index");
        const recorded::Golden traces = test::goldenOf("scaler");
        for (size_t i = 0; i < traces.size(); ++i)
            QTest::addRow("seed %d", static_cast<int>(traces.at(i).at("seed").integer()))
                << static_cast<int>(i);
    }
    void recordedHistory() {
        QFETCH(int, index);
        static const recorded::Golden traces = test::goldenOf("scaler");
        const recorded::Golden trace = traces.at(static_cast<size_t>(index));
        QCOMPARE(trace.at("steps").size(), size_t{120});
        const recorded::CaseResult rules = recorded::replayRules(trace);
        QVERIFY2(rules.passed(), rules.difference.c_str());
        const auto device = recorded::replayOnDevice(trace, *makeCpuExecutor(1));
        QVERIFY2(device.passed(), device.difference.c_str());
    }

    void countsNonFinite_data() {
        QTest::addColumn<int>("type");
        QTest::addColumn<int>("elements");
        for (const DType type : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
            for (const int n : {1, 31, 33, 257, 200001})
                QTest::addRow("%s %d", nameOf(type).data(), n) << static_cast<int>(type) << n;
        }
    }
    void countsNonFinite() {
        QFETCH(int, type);
        QFETCH(int, elements);
        const auto dtype = static_cast<DType>(type);
        Graph graph;
        Builder b(graph);
        const NodeId x = b.input("x", {elements}, dtype);
        graph.addOutput("count", b.emit(Op::CountNonFinite, {x}));
        const double bad[] = {std::numeric_limits<double>::infinity(),
                              -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()};
        for (const size_t every : {size_t{17}, size_t{1}}) {
            std::vector<double> values(static_cast<size_t>(elements), formatOf(dtype).maxFinite);
            double count = 0;
            for (size_t i = 0; i < values.size(); i += every, ++count)
                values[i] = bad[i % 3];
            const std::map<NodeId, RefTensor> leaves{{x, {Shape{elements}, values}}};
            const NodeId out = graph.output("count");
            QCOMPARE(evaluate(graph, leaves, std::array{out}).at(out).values[0], count);
            QCOMPARE(test::runSteps(graph, leaves, FuseOptions::Full, 2, 1).at("count")[0], count);
        }
    }
};

} // namespace tst_scaler

QTEST_GUILESS_MAIN(tst_scaler::TestScaler)
#include "tst_scaler.moc"
