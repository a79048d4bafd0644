// The scaler's presets compared with the systems that they stand for: models of the systems written
// in the way they count themselves, what their own tests assert, and defaults.
#include "tests/support/scaler_histories.h"

#include <QTest>

#include <limits>
#include <memory>
#include <random>

namespace tst_scaler_systems {

using namespace halfscope;
using namespace halfscope::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Each system's own way to count: in iterations rather than in clean steps.
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
        rules = scalerPresetNamed("fairseq").rules;
        rules.tolerance = 0.25;
        rules.floor = 0;
    } else {
        rules = scalerPresetNamed(system == "megatron" ? "megatron" : "deepspeed").rules;
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

class TestScalerSystems : public QObject {
    Q_OBJECT

private slots:
    void booksAgree_data();
    void booksAgree();
    void presetDefaults_data();
    void presetDefaults();
    void presetsAreRecognised();
    void knownTests_data();
    void knownTests();
    void fairseqEndsAboveItsMinimum();
};

void TestScalerSystems::booksAgree_data() {
    QTest::addColumn<QString>("system");
    for (const char* system : {"deepspeed", "deepspeed consecutive", "megatron", "fairseq"})
        QTest::newRow(system) << QString(system);
}

void TestScalerSystems::booksAgree() {
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
            // float32 holds powers of two only down to 2^-149
            if (books->scale < 0x1p-140 || books->scale > 0x1p120) break;
            QVERIFY2(static_cast<double>(state.scale) == books->scale,
                     qPrintable(QString("seed %1, step %2").arg(seed).arg(i)));
        }
    }
}

void TestScalerSystems::presetDefaults_data() {
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

void TestScalerSystems::presetDefaults() {
    QFETCH(QList<double>, values);
    QFETCH(bool, keepsFinite);
    QFETCH(bool, stopsAtFloor);
    QFETCH(bool, holdsSchedule);
    const ScalerConfig config = scalerPresetNamed(QTest::currentDataTag());
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

void TestScalerSystems::presetsAreRecognised() {
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
    ScalerConfig fixed = scalerPresetNamed("static");
    fixed.initScale = 8;
    QCOMPARE(presetOf(fixed), "static");
    fixed = scalerPresetNamed("apex-static");
    fixed.initScale = 128;
    QCOMPARE(presetOf(fixed), "apex-static");
    ScalerConfig growing;
    growing.initScale = 8;
    QCOMPARE(presetOf(growing), kCustomScaler);
}

/// What the systems' own tests assert.
void TestScalerSystems::knownTests_data() {
    QTest::addColumn<RuleSlots>("rules");
    QTest::addColumn<float>("start");
    QTest::addColumn<QString>("steps");
    QTest::addColumn<float>("end");
    const auto row = [](const char* name, const ScalerRules& rules, float start, QString steps,
                        float end) {
        QTest::newRow(name) << slotsOf(rules) << start << steps << end;
    };
    ScalerRules rules = scalerPresetNamed("pytorch").rules;
    rules.growthFactor = 16;
    rules.growthInterval = 1;
    row("pytorch: grad scale will not overflow", rules, 1e38f, ".", 1e38f);
    rules = scalerPresetNamed("keras").rules;
    row("keras: 4 infs", rules, 400, "oooo", 25);
    rules.growthInterval = 2;
    row("keras: 8 clean steps", rules, 2, "........", 32);
    row("keras: inf stays inf", rules, 0x1p127f, "..ooo..", kInfinity);
    rules = scalerPresetNamed("jmp").rules;
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
    rules = scalerPresetNamed("apex").rules;
    rules.growthInterval = 1;
    row("apex: ceiling", rules, 0x1p23f, "....", 0x1p24f);
}

void TestScalerSystems::knownTests() {
    QFETCH(RuleSlots, rules);
    QFETCH(float, start);
    QFETCH(QString, steps);
    QFETCH(float, end);
    QCOMPARE(scalesOf(start, rulesOf(rules), steps).back(), end);
}

/// fairseq's check_overflow: a scale that would fall to min_loss_scale, 1e-4, or below is restored
/// and ends the training.
void TestScalerSystems::fairseqEndsAboveItsMinimum() {
    const ScalerConfig config = scalerPresetNamed("fairseq");
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

} // namespace tst_scaler_systems

QTEST_GUILESS_MAIN(tst_scaler_systems::TestScalerSystems)
#include "tst_scaler_systems.moc"
