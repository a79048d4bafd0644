// The guards beyond PyTorch's scaler, and the presets: the histories that the rules of six systems
// give by hand, models of those systems written the way they count themselves, defaults, limits.
#include "engine/graph/builder.h"
#include "engine/train/scaler_presets.h"
#include "tests/support/run_program.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <random>

using namespace halfscope;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

ScalerConfig presetNamed(const char* name) { return findScalerPreset(name)->config; }

/// The scales after each step of a history: '.' clean, 'o' overflow.
std::vector<float> scalesOf(float start, const ScalerRules& rules, const QString& steps) {
    ScalerState state;
    state.scale = start;
    std::vector<float> scales;
    for (const QChar step : steps) {
        state = next(state, step == QChar('o'), rules);
        scales.push_back(state.scale);
    }
    return scales;
}

QByteArray text(const std::vector<float>& scales) {
    QByteArray line;
    for (const float scale : scales)
        line += QByteArray::number(static_cast<double>(scale)) + " ";
    return line.trimmed();
}

/// Start 64, interval 3, hysteresis 2 where a system has it.
ScalerRules shortRules(const char* preset) {
    ScalerRules rules = presetNamed(preset).rules;
    rules.growthInterval = 3;
    return rules;
}
ScalerRules apexKernel() {
    ScalerRules rules = shortRules("apex");
    rules.hysteresis = 2;
    rules.refill = HysteresisRefill::AtCleanStep;
    return rules;
}
ScalerRules consecutiveDeepspeed() {
    ScalerRules rules = shortRules("deepspeed");
    rules.refill = HysteresisRefill::AtCleanStep;
    return rules;
}

/// Each system as it keeps its own books, in iterations rather than counts.
struct Books {
    virtual ~Books() = default;
    virtual void step(bool overflow) = 0;
    double scale = 64;
    int iteration = 0, lastOverflow = -1;
};
struct DeepspeedBooks final : Books {
    explicit DeepspeedBooks(bool consecutive) : m_consecutive(consecutive) {}
    void step(bool overflow) override {
        if (overflow) {
            if (m_left == 1)
                scale = std::max(scale / 2, 1.0);
            else
                --m_left;
            lastOverflow = iteration;
        } else {
            if (m_consecutive) m_left = 3;
            const int stable = iteration - lastOverflow - 1;
            if (stable > 0 && stable % 4 == 0) {
                scale *= 2;
                m_left = 3;
            }
        }
        ++iteration;
    }

private:
    bool m_consecutive;
    int m_left = 3;
};
struct MegatronBooks final : Books {
    void step(bool overflow) override {
        if (overflow) {
            m_growth = 0;
            if (--m_left <= 0) scale = std::max(scale * 0.5, 1.0);
        } else if (++m_growth == 4) {
            m_growth = 0;
            m_left = 3;
            scale *= 2;
        }
    }

private:
    int m_left = 3, m_growth = 0;
};
struct FairseqBooks final : Books {
    void step(bool overflow) override {
        if (overflow) {
            lastOverflow = iteration;
            ++m_overflows;
            if (m_overflows / static_cast<double>(iteration - m_lastRescale) >= 0.25) {
                scale /= 2;
                m_lastRescale = iteration;
                m_overflows = 0;
            }
        } else if ((iteration - lastOverflow) % 9 == 0) {
            scale *= 2;
            m_lastRescale = iteration;
        }
        ++iteration;
    }

private:
    int m_lastRescale = -1, m_overflows = 0;
};

std::unique_ptr<Books> booksOf(const QString& system, ScalerRules& rules) {
    if (system == "fairseq") {
        rules = presetNamed("fairseq").rules;
        rules.tolerance = 0.25;
        rules.floor = 0;
    } else {
        rules = presetNamed(system == "megatron" ? "megatron" : "deepspeed").rules;
        rules.hysteresis = 3;
    }
    rules.growthInterval = system == "fairseq" ? 9 : 4;
    rules.atFloor = FloorAction::Continue;
    if (system == "fairseq") return std::make_unique<FairseqBooks>();
    if (system == "megatron") return std::make_unique<MegatronBooks>();
    const bool consecutive = system == "deepspeed consecutive";
    if (consecutive) rules.refill = HysteresisRefill::AtCleanStep;
    return std::make_unique<DeepspeedBooks>(consecutive);
}

} // namespace

class TestScalerRules : public QObject {
    Q_OBJECT

private slots:
    void history_data();
    void history();
    void updateOpFollows_data() { history_data(); }
    void updateOpFollows();
    void booksAgree_data();
    void booksAgree();
    void presetDefaults_data();
    void presetDefaults();
    void presetsAreRecognised();
    void knownTests_data();
    void knownTests();
    void guards_data();
    void guards();
    void intervalBelowTheTracker();
    void stopsAtTheFloor();
    void fairseqEndsAboveItsMinimum();
    void slotsHoldEverything();
};

/// Systems by rows, histories by columns.
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

void TestScalerRules::booksAgree_data() {
    QTest::addColumn<QString>("system");
    for (const char* system : {"deepspeed", "deepspeed consecutive", "megatron", "fairseq"})
        QTest::newRow(system) << QString(system);
}

void TestScalerRules::booksAgree() {
    QFETCH(QString, system);
    for (uint32_t seed = 0; seed < 40; ++seed) {
        ScalerRules rules;
        const std::unique_ptr<Books> books = booksOf(system, rules);
        std::mt19937 random(seed);
        const uint32_t rate = 2 + seed % 7; // one step in `rate` overflows
        ScalerState state;
        state.scale = 64;
        for (int i = 0; i < 200; ++i) {
            const bool overflow = random() % rate == 0;
            books->step(overflow);
            state = next(state, overflow, rules);
            // float32 holds the powers of two of a double down to 2^-149 only
            if (books->scale < 0x1p-140 || books->scale > 0x1p120) break;
            QVERIFY2(static_cast<double>(state.scale) == books->scale,
                     qPrintable(QString("seed %1, step %2").arg(seed).arg(i)));
        }
    }
}

void TestScalerRules::presetDefaults_data() {
    QTest::addColumn<QList<double>>("values"); // init, growth, backoff, interval, delay, floor,
                                               // ceiling, hysteresis
    QTest::addColumn<bool>("keepsFinite");
    QTest::addColumn<bool>("stopsAtFloor");
    QTest::addColumn<bool>("holdsSchedule");
    const auto row = [](const char* name, QList<double> values, bool keeps, bool stops,
                        bool holds) { QTest::newRow(name) << values << keeps << stops << holds; };
    row("pytorch", {65536, 2, .5, 2000, 0, 0, 0, 1}, true, false, false);
    row("apex", {65536, 2, .5, 2000, 0, 0, 16777216, 1}, true, false, false);
    row("keras", {32768, 2, .5, 2000, 0, 0, 0, 1}, false, false, true);
    row("deepspeed", {65536, 2, .5, 1000, 1, 1, 0, 2}, false, true, true);
    row("megatron", {4294967296, 2, .5, 1000, 0, 1, 0, 2}, false, false, true);
    row("jmp", {32768, 2, .5, 2000, 0, 1, 0, 1}, true, false, false);
    row("fairseq", {128, 2, .5, 16384, 0, 0x1p-13, 0, 1}, false, true, true);
    row("static", {65536, 2, .5, 2000, 0, 0, 0, 1}, true, false, false);
    row("apex-static", {1, 2, .5, 2000, 0, 0, 16777216, 1}, true, false, false);
}

void TestScalerRules::presetDefaults() {
    QFETCH(QList<double>, values);
    QFETCH(bool, keepsFinite);
    QFETCH(bool, stopsAtFloor);
    QFETCH(bool, holdsSchedule);
    const ScalerConfig config = presetNamed(QTest::currentDataTag());
    const ScalerRules& r = config.rules;
    const QList<double> given{config.initScale,
                              r.growthFactor,
                              r.backoffFactor,
                              static_cast<double>(r.growthInterval),
                              static_cast<double>(r.growthDelay),
                              r.floor,
                              r.ceiling,
                              static_cast<double>(r.hysteresis)};
    QCOMPARE(given, values);
    QCOMPARE(r.clamp == GrowthClamp::Keep, keepsFinite);
    QCOMPARE(r.atFloor == FloorAction::Stop, stopsAtFloor);
    QCOMPARE(config.holdSchedule, holdsSchedule);
    QVERIFY(!config.checkUnscaled && r.tolerance == 0 && r.growthTest == GrowthTest::Exact);
    const QString name = QTest::currentDataTag();
    QCOMPARE(r.mode == ScalerMode::Static, name == "static" || name == "apex-static");
    QCOMPARE(config.onOverflow == OverflowAction::Step, name == "apex-static");
}

void TestScalerRules::presetsAreRecognised() {
    QCOMPARE(scalerPresets().size(), size_t{9});
    QCOMPARE(presetOf(ScalerConfig{}), "pytorch");
    for (const ScalerPreset& preset : scalerPresets()) {
        ScalerConfig config;
        applyScalerPreset(config, preset.name);
        QVERIFY(config == preset.config);
        QCOMPARE(presetOf(config), preset.name);
        applyScalerPreset(config, kCustomScaler);
        QVERIFY(config == preset.config);
        ScalerConfig changed = config;
        changed.rules.hysteresis += 1;
        QCOMPARE(presetOf(changed), kCustomScaler);
        changed = config;
        changed.checkUnscaled = true;
        QCOMPARE(presetOf(changed), kCustomScaler);
        changed = config;
        changed.onOverflow =
            config.onOverflow == OverflowAction::Skip ? OverflowAction::Step : OverflowAction::Skip;
        QCOMPARE(presetOf(changed), kCustomScaler);
        ScalerConfig off;
        off.rules.mode = ScalerMode::Off;
        applyScalerPreset(off, preset.name);
        QVERIFY(off.rules.mode == ScalerMode::Off);
    }
    ScalerConfig fixed = presetNamed("static");
    fixed.initScale = 8;
    QCOMPARE(presetOf(fixed), "static");
    fixed = presetNamed("apex-static");
    fixed.initScale = 128;
    QCOMPARE(presetOf(fixed), "apex-static");
    ScalerConfig growing;
    growing.initScale = 8;
    QCOMPARE(presetOf(growing), kCustomScaler);
}

/// What the systems' own tests assert.
void TestScalerRules::knownTests_data() {
    QTest::addColumn<RuleSlots>("rules");
    QTest::addColumn<float>("start");
    QTest::addColumn<QString>("steps");
    QTest::addColumn<float>("end");
    const auto row = [](const char* name, const ScalerRules& rules, float start, QString steps,
                        float end) {
        QTest::newRow(name) << slotsOf(rules) << start << steps << end;
    };
    ScalerRules rules = presetNamed("pytorch").rules;
    rules.growthFactor = 16;
    rules.growthInterval = 1;
    row("pytorch: grad scale will not overflow", rules, 1e38f, ".", 1e38f);
    rules = presetNamed("keras").rules;
    row("keras: 4 infs", rules, 400, "oooo", 25);
    rules.growthInterval = 2;
    row("keras: 8 clean steps", rules, 2, "........", 32);
    row("keras: inf stays inf", rules, 0x1p127f, "..ooo..", kInf);
    rules = presetNamed("jmp").rules;
    row("jmp: not before the period", rules, 32768, QString(1999, '.'), 32768);
    row("jmp: at the period", rules, 32768, QString(2000, '.'), 65536);
    row("jmp: 100 infs reach the minimum", rules, 32768, QString(100, 'o'), 1);
    rules = apexKernel();
    rules.hysteresis = 3;
    row("apex kernel: hysteresis - 1 infs", rules, 64, "oo", 64);
    row("apex kernel: then interval - 1 clean", rules, 64, "oo..", 64);
    row("apex kernel: one backoff for each further inf", rules, 64, "ooooo", 8);
    row("apex kernel: may reach 0", rules, 0x1p-149f, "ooo", 0);
    rules = shortRules("deepspeed");
    rules.growthInterval = 2;
    rules.hysteresis = 1;
    row("deepspeed: window clean steps", rules, 64, "o..", 32);
    row("deepspeed: window + 1 clean steps", rules, 64, "o...", 64);
    rules = presetNamed("apex").rules;
    rules.growthInterval = 1;
    row("apex: ceiling", rules, 0x1p23f, "....", 0x1p24f);
}

void TestScalerRules::knownTests() {
    QFETCH(RuleSlots, rules);
    QFETCH(float, start);
    QFETCH(QString, steps);
    QFETCH(float, end);
    QCOMPARE(scalesOf(start, rulesOf(rules), steps).back(), end);
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
    // overflows 1 of 1; 1 of 2; 1 of 1; 1 of 4 and 2 of 5, then 3 of 6
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

void TestScalerRules::stopsAtTheFloor() {
    ScalerRules rules = presetNamed("deepspeed").rules;
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
    // Without a floor the scale ends at 0, from where nothing can be tried.
    rules = {};
    rules.atFloor = FloorAction::Stop;
    state = {};
    state.scale = 0x1p-149f;
    state = next(state, true, rules);
    QVERIFY(state.scale == 0 && !state.stop);
    QVERIFY(next(state, true, rules).stop);
}

/// fairseq's check_overflow: a scale that would fall to min_loss_scale, 1e-4, or below is put back
/// and ends the training.
void TestScalerRules::fairseqEndsAboveItsMinimum() {
    const ScalerConfig config = presetNamed("fairseq");
    double scale = config.initScale;
    ScalerState state;
    state.scale = static_cast<float>(scale);
    int overflows = 0;
    for (bool ends = false; !ends; ++overflows) {
        ends = scale / 2 <= 1e-4;
        if (!ends) scale /= 2;
        state = next(state, true, config.rules);
        QVERIFY(static_cast<double>(state.scale) == scale);
        QCOMPARE(state.stop, ends);
    }
    QCOMPARE(overflows, 21); // 2^7 to 2^-13, and one more
    // tolerance 0: a clean step in between changes nothing
    state = next(next({}, false, config.rules), true, config.rules);
    QCOMPARE(state.scale, ScalerState{}.scale / 2);
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

QTEST_GUILESS_MAIN(TestScalerRules)
#include "tst_scaler_rules.moc"
