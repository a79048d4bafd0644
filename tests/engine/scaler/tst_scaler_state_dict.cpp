// GradScaler's saved states: what they hold, bad ones, states that are loaded in the middle of a
// step, and guards beyond PyTorch's.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/scaler/scaler_presets.h"
#include "tests/support/scaler_calls.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <array>
#include <cmath>

namespace tst_scaler_state_dict {

using namespace halfscope;
using test::configOf;
using test::iterate;
using test::kInfinity;

class TestScalerStateDict : public QObject {
    Q_OBJECT

private slots:
    void stateDicts();
    void badStateDicts();
    void stateDictInTheMiddle();
    void guardsAreSavedToo();
};

void TestScalerStateDict::stateDicts() {
    GradScaler scaler(configOf(128, 4, 0.25, 3));
    iterate(scaler, {1, 1});
    const ScalerStateDict state = scaler.stateDict();
    const ScalerStateDict wanted{{"scale", 128},
                                 {"growth_factor", 4},
                                 {"backoff_factor", .25},
                                 {"growth_interval", 3},
                                 {"_growth_tracker", 2}};
    QVERIFY(state == wanted);
    for (const bool used : {false, true}) { // before and after the first scale()
        GradScaler other(configOf(1));
        if (used) iterate(other, {1});
        other.loadStateDict(state);
        QVERIFY(other.stateDict() == wanted);
        iterate(other, {1});
        QCOMPARE(other.getScale(), 512.0f);
    }
    GradScaler disabled(configOf(1), GradScaler::Enabled::No);
    QVERIFY(disabled.stateDict().empty());
    disabled.loadStateDict(state);
    QVERIFY(disabled.stateDict().empty());
    QCOMPARE(thrownBy<InputError>([&] { scaler.loadStateDict({}); }),
             std::string("The source state dict is empty, possibly because it was saved from a "
                         "disabled instance of GradScaler."));
    ScalerStateDict part = state;
    part.erase("scale");
    QCOMPARE(thrownBy<InputError>([&] { scaler.loadStateDict(part); }),
             std::string("The source state dict has no scale."));
    QVERIFY(scaler.stateDict() == wanted);
}

/// In a file's state, counts beyond int32 change nothing.
void TestScalerStateDict::badStateDicts() {
    GradScaler scaler(configOf(128, 4, 0.25, 3));
    const ScalerStateDict state = scaler.stateDict();
    for (const double count : {1e300, -3e9, 0.5, double{kInfinity}, std::nan("")}) {
        ScalerStateDict bad = state;
        bad["_growth_tracker"] = count;
        bad["scale"] = 2;
        QCOMPARE(thrownBy<InputError>([&] { scaler.loadStateDict(bad); }),
                 "The source state dict has the _growth_tracker " + numberText(count) +
                     ": a whole number from -2147483647 to 2147483647 is allowed.");
        QVERIFY(scaler.stateDict() == state);
    }
    ScalerStateDict endless = state;
    endless["growth_interval"] = double{kInfinity};
    QVERIFY(thrownBy<InputError>([&] {
                scaler.loadStateDict(endless);
            }).starts_with("The source state dict has the growth_interval inf: a whole number"));
    QVERIFY(scaler.stateDict() == state);
}

/// PyTorch sets scale and tracker and keeps what was unscaled: the step is taken with the gradients
/// as they are, and update() continues from the new scale.
void TestScalerStateDict::stateDictInTheMiddle() {
    GradScaler scaler(configOf(4)), saved(configOf(1024));
    ScalerStateDict state = saved.stateDict();
    std::array values{8.0f, 4.0f};
    const std::array gradients{hostTensor(std::span(values))};
    scaler.scale(1.0f);
    scaler.unscale(0, gradients);
    scaler.loadStateDict(state);
    QCOMPARE(scaler.getScale(), 1024.0f);
    QVERIFY(scaler.step(0, gradients, [] {}).stepped);
    QCOMPARE(values[0], 2.0f); // unscaled once, by the scale at that time
    scaler.update();
    QCOMPARE(scaler.growthTracker(), 1);
}

/// When a scaler is saved in the middle of what guards count, it continues as if nothing had
/// happened.
void TestScalerStateDict::guardsAreSavedToo() {
    ScalerConfig config = findScalerPreset("deepspeed")->config;
    config.rules.growthInterval = 3;
    config.rules.tolerance = 0.5;
    const std::vector<float> history{1, kInfinity, 1, 1,         kInfinity, kInfinity, 1,
                                     1, 1,         1, kInfinity, 1,         kInfinity, kInfinity};
    for (size_t cut = 0; cut <= history.size(); ++cut) {
        GradScaler whole(config), first(config), second(config);
        const auto middle = history.begin() + static_cast<std::ptrdiff_t>(cut);
        iterate(first, {history.begin(), middle});
        second.loadStateDict(first.stateDict());
        iterate(second, {middle, history.end()});
        iterate(whole, history);
        QVERIFY(whole.stateDict() == second.stateDict());
    }
}

} // namespace tst_scaler_state_dict

QTEST_GUILESS_MAIN(tst_scaler_state_dict::TestScalerStateDict)
#include "tst_scaler_state_dict.moc"
