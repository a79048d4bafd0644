// The scaler's rules, PyTorch's and the guards beyond it: the histories that the rules of six
// systems give by hand, limits, layout. The systems' own books and tests are in tst_scaler_systems.
#include "engine/ops/builder.h"
#include "engine/ops/op_info.h"
#include "tests/support/run_program.h"
#include "tests/support/scaler_histories.h"

#include <QTest>

#include <limits>
#include <random>

namespace tst_scaler_rules {

using namespace halfscope;
using namespace halfscope::test;

class TestScalerRules : public QObject {
    Q_OBJECT

private slots:
    void history_data();
    void history();
    void updateOpFollows_data() { history_data(); }
    void updateOpFollows();
    void guards_data();
    void guards();
    void intervalBelowTheTracker();
    void absorbedEndsAtTheHysteresis();
    void countsSaturate();
    void stopsAtTheFloor();
    void slotsHoldEverything();
};

/// Rows are systems, columns are histories.
void TestScalerRules::history_data() {
    QTest::addColumn<RuleSlots>("rules");
    QTest::addColumn<QString>("steps");
    QTest::addColumn<QByteArray>("scales");
    const std::array<const char*, 5> histories{".........", "o........", "o.o.o.o..", "..ooo....",
                                               "..o..o..."};
    const auto rows = [&](const char* system, const ScalerRules& rules,
                          const std::array<const char*, 5>& scales) {
        for (size_t i = 0; i < histories.size(); ++i)
            QTest::addRow("%s %s", system, histories[i])
                << slotsOf(rules) << QString(histories[i]) << QByteArray(scales[i]);
    };
    const std::array<const char*, 5> plain{"64 64 128 128 128 256 256 256 512",
                                           "32 32 32 64 64 64 128 128 128", "32 32 16 16 8 8 4 4 4",
                                           "64 64 32 16 8 8 8 16 16", "64 64 32 32 32 16 16 16 32"};
    for (const char* system : {"pytorch", "apex", "keras", "jmp", "fairseq"})
        rows(system, shortRules(system), plain);
    rows("apex hysteresis kernel", apexKernel(),
         {plain[0], "64 64 64 128 128 128 256 256 256", "64 64 64 64 64 64 64 64 64",
          "64 64 64 32 16 16 16 32 32", "64 64 64 64 64 64 64 64 128"});
    rows("megatron", shortRules("megatron"),
         {plain[0], "64 64 64 128 128 128 256 256 256", "64 64 32 32 16 16 8 8 8",
          "64 64 64 32 16 16 16 32 32", "64 64 64 64 64 32 32 32 64"});
    const char* const slow = "64 64 64 128 128 128 256 256 256";
    const char* const slower = "64 64 64 64 128 128 128 256 256";
    rows("deepspeed", shortRules("deepspeed"),
         {slow, slower, "64 64 32 32 16 16 8 8 8", "64 64 64 32 16 16 16 16 32",
          "64 64 64 64 64 32 32 32 32"});
    rows("deepspeed consecutive", consecutiveDeepspeed(),
         {slow, slower, "64 64 64 64 64 64 64 64 64", "64 64 64 32 16 16 16 16 32",
          "64 64 64 64 64 64 64 64 64"});
    // what an overflow does to its step is another rule: see tst_overflow
    const char* const held = "64 64 64 64 64 64 64 64 64";
    for (const char* system : {"static", "apex-static"})
        rows(system, shortRules(system), {held, held, held, held, held});
}

void TestScalerRules::history() {
    QFETCH(RuleSlots, rules);
    QFETCH(QString, steps);
    QFETCH(QByteArray, scales);
    QCOMPARE(text(scalesOf(64, rulesOf(rules), steps)), scales);
}

void TestScalerRules::updateOpFollows() {
    QFETCH(RuleSlots, rules);
    QFETCH(QString, steps);
    Graph graph;
    Builder b(graph);
    const NodeId state = b.state("scaler", {kScalerSlots}, DType::F64, StateRole::Scaler);
    const NodeId ruleInput = b.input("rules", {kRuleSlots}, DType::F64);
    const NodeId found = b.input("found", {}, DType::F32);
    const NodeId after = b.emit(Op::ScalerUpdate, {state, ruleInput, found});
    graph.setNext(state, after);
    ScalerState now;
    now.scale = 64;
    for (const QChar step : steps) {
        const bool overflow = step == QChar('o');
        const ScalerSlots before = slotsOf(now);
        const std::map<NodeId, RefTensor> leaves{
            {state, {Shape{kScalerSlots}, {before.begin(), before.end()}}},
            {ruleInput, {Shape{kRuleSlots}, {rules.begin(), rules.end()}}},
            {found, {Shape{}, {overflow ? 2.0 : 0.0}}}};
        now = next(now, overflow, rulesOf(rules));
        const ScalerSlots wanted = slotsOf(now);
        const std::vector<double> values(wanted.begin(), wanted.end());
        QCOMPARE(evaluate(graph, leaves, std::array{after}).at(after).values, values);
        QCOMPARE(test::runSteps(graph, leaves, FuseOptions::Full, 2, 1).at("scaler"), values);
    }
}

void TestScalerRules::guards_data() {
    QTest::addColumn<RuleSlots>("rules");
    QTest::addColumn<QString>("steps");
    QTest::addColumn<QByteArray>("scales"); // from 64
    const auto row = [](const char* name, const ScalerRules& rules, const char* steps,
                        const char* scales) {
        QTest::newRow(name) << slotsOf(rules) << QString(steps) << QByteArray(scales);
    };
    ScalerRules rules;
    rules.growthInterval = 2;
    rules.floor = 24;
    row("a backoff ends at the floor", rules, "ooo", "32 24 24");
    rules.floor = 100;
    row("a floor above the scale does not raise it", rules, "oo", "64 64");
    rules.floor = 0;
    rules.ceiling = 100;
    row("a growth ends at the ceiling", rules, "......", "64 100 100 100 100 100");
    rules.ceiling = 10;
    row("a ceiling below the scale does not lower it", rules, "..", "64 64");
    row("and overflows do", rules, "ooo", "32 16 8");
    rules.ceiling = 0;
    rules.growthDelay = 2;
    row("delayed after the start and after overflows", rules, "....o....",
        "64 64 64 128 64 64 64 64 128");
    rules.growthDelay = 0;
    rules.tolerance = 0.5;
    rules.growthInterval = 9;
    // the shares of overflows: 1 of 1; 1 of 2; 1 of 1; 1 of 4 and 2 of 5, then 3 of 6
    row("tolerance", rules, "o.oo...ooo", "32 32 16 8 8 8 8 8 8 4");
}

void TestScalerRules::guards() {
    QFETCH(RuleSlots, rules);
    QFETCH(QString, steps);
    QFETCH(QByteArray, scales);
    QCOMPARE(text(scalesOf(64, rulesOf(rules), steps)), scales);
}

void TestScalerRules::intervalBelowTheTracker() {
    ScalerRules rules;
    rules.growthInterval = 5;
    ScalerState state;
    state.growthTracker = 10;
    QCOMPARE(next(state, false, rules).growthTracker, 11);
    rules.growthTest = GrowthTest::AtLeast;
    const ScalerState grown = next(state, false, rules);
    QVERIFY(grown.scale == 2 * state.scale && grown.growthTracker == 0);
}

/// A hysteresis that is raised during a run takes effect at once: the overflows that are still
/// missing are required.
void TestScalerRules::absorbedEndsAtTheHysteresis() {
    ScalerRules rules;
    rules.hysteresis = 2;
    ScalerState state;
    for (const int absorbed : {1, 2, 2, 2}) {
        state = next(state, true, rules);
        QCOMPARE(state.absorbed, absorbed);
    }
    const float scale = state.scale;
    rules.hysteresis = 4;
    QCOMPARE(next(state, true, rules).scale, scale);
}

/// When no interval is ever reached, counts end at the largest int32 rather than becoming negative.
void TestScalerRules::countsSaturate() {
    constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
    ScalerRules rules;
    rules.growthInterval = int64_t{1} << 40;
    rules.hysteresis = int64_t{1} << 40;
    ScalerState state;
    state.growthTracker = state.absorbed = state.stepsSinceRescale = kMost;
    state.overflowsSinceRescale = kMost;
    const ScalerState clean = next(state, false, rules);
    QVERIFY(clean.growthTracker == kMost && clean.stepsSinceRescale == kMost);
    const ScalerState overflow = next(state, true, rules);
    QVERIFY(overflow.absorbed == kMost && overflow.overflowsSinceRescale == kMost);
    rules.growthDelay = int64_t{1} << 40;
    state.delayed = kMost;
    QCOMPARE(next(state, false, rules).delayed, kMost);
}

void TestScalerRules::stopsAtTheFloor() {
    ScalerRules rules = scalerPresetNamed("deepspeed").rules;
    rules.hysteresis = 2;
    ScalerState state;
    state.scale = 3;
    const char* const steps = "oooo.o";
    const std::vector<float> scales{3, 1.5f, 1, 1, 1, 1};
    const std::vector<bool> stops{false, false, false, true, false, true};
    for (size_t i = 0; i < scales.size(); ++i) {
        state = next(state, steps[i] == 'o', rules);
        QCOMPARE(state.scale, scales[i]);
        QCOMPARE(state.stop, static_cast<bool>(stops[i]));
    }
    rules.atFloor = FloorAction::Continue;
    QVERIFY(!next(state, true, rules).stop);
    // Without a floor the scale ends at 0, from where it cannot recover.
    rules = {};
    rules.atFloor = FloorAction::Stop;
    state = {};
    state.scale = 0x1p-149f;
    state = next(state, true, rules);
    QVERIFY(state.scale == 0 && !state.stop);
    QVERIFY(next(state, true, rules).stop);
}

void TestScalerRules::slotsHoldEverything() {
    std::mt19937_64 random(7);
    for (int i = 0; i < 100; ++i) {
        RuleSlots rules{};
        for (double& slot : rules)
            slot = static_cast<double>(random() % 1000);
        rules[kModeSlot] = static_cast<double>(random() % 3);
        for (const int choice : {kGrowthTestSlot, kClampSlot, kAtFloorSlot, kRefillSlot})
            rules[static_cast<size_t>(choice)] = static_cast<double>(random() % 2);
        QVERIFY(slotsOf(rulesOf(rules)) == rules);
        ScalerSlots state{};
        for (double& slot : state)
            slot = static_cast<double>(random() % 1000);
        state[kStopSlot] = static_cast<double>(random() % 2);
        QVERIFY(slotsOf(stateOf(state)) == state);
    }
}

} // namespace tst_scaler_rules

QTEST_GUILESS_MAIN(tst_scaler_rules::TestScalerRules)
#include "tst_scaler_rules.moc"
