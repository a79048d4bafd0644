// GradScaler's calls: every history recorded from PyTorch, the order of calls and its errors,
// arithmetic to the bit, independent skips, and the reason of a skip. Saved states are in
// tst_scaler_state_dict.
#include "engine/core/error.h"
#include "engine/scaler/scaler_api.h"
#include "engine/scaler/scaler_presets.h"
#include "engine/verify/golden_scaler.h"
#include "tests/support/scaler_calls.h"
#include "tests/support/thrown.h"
#include "tests/support/training.h"

#include <QTest>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace tst_scaler_api {

using namespace halfscope;
using test::configOf;
using test::iterate;
using test::kInfinity;
using test::Parameter;

namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();

} // namespace

class TestScalerApi : public QObject {
    Q_OBJECT

private slots:
    void recordedHistory_data();
    void recordedHistory();
    void callsInWrongOrder_data();
    void callsInWrongOrder();
    void constructorChecks();
    void arithmetic_data();
    void arithmetic();
    void tensorsOfAllTypes();
    void oneBadTensorIsEnough();
    void saysWhyItSkipped();
    void halfGradientsAreRefused();
    void tinyScaleWritesNan();
    void stepsOnAnOverflow();
    void gradientsSpoiledAfterUnscale();
    void recordedGraphTest();
    void severalOptimizers_data();
    void severalOptimizers();
    void newScaleKeepsTheTracker();
    void settersAndGetters();
    void stopsAtTheFloor();
};

void TestScalerApi::recordedHistory_data() {
    QTest::addColumn<int>("index");
    const recorded::Golden traces = test::goldenOf("scaler");
    for (size_t i = 0; i < traces.size(); ++i)
        QTest::addRow("seed %d", static_cast<int>(traces.at(i).at("seed").integer()))
            << static_cast<int>(i);
}

void TestScalerApi::recordedHistory() {
    QFETCH(int, index);
    static const recorded::Golden traces = test::goldenOf("scaler");
    const auto result = recorded::replayCalls(traces.at(static_cast<size_t>(index)));
    QVERIFY2(result.passed(), result.difference.c_str());
}

/// The letters: s scale, u unscale_, t step, n step without gradients, U update, V
/// update(new_scale).
void TestScalerApi::callsInWrongOrder_data() {
    QTest::addColumn<QString>("calls");
    QTest::addColumn<QString>("error"); // of the last call; empty: none
    const auto row = [](const char* calls, const QString& error) {
        QTest::newRow(calls) << QString(calls) << error;
    };
    const QString noScale =
        "Attempted %1 but _scale is None.  This may indicate your script did not use "
        "scaler.scale(loss or outputs) earlier in the iteration.";
    row("u", noScale.arg("unscale_"));
    row("t", noScale.arg("step"));
    row("U", noScale.arg("update"));
    row("V", noScale.arg("update"));
    const QString unscaled =
        "unscale_() has already been called on this optimizer since the last update().";
    row("suu", unscaled);
    row("stu", "unscale_() is being called after step().");
    row("stt", "step() has already been called since the last update().");
    row("sutt", "step() has already been called since the last update().");
    row("sn", "No inf checks were recorded for this optimizer.");
    row("sU", "No inf checks were recorded prior to update.");
    row("sV", "");
    row("suU", "");
    row("stUstU", "");
    row("sutUsutU", "");
    row("stUt", ""); // the scale stays in force without a new scale()
    row("suUu", "");
    row("stUU", "No inf checks were recorded prior to update.");
    row("stVt", "");
}

void TestScalerApi::callsInWrongOrder() {
    QFETCH(QString, calls);
    QFETCH(QString, error);
    GradScaler scaler(configOf(8));
    GradScaler disabled(configOf(8), GradScaler::Enabled::No);
    const auto call = [](GradScaler& on, QChar letter) {
        Parameter p{{1}};
        switch (letter.toLatin1()) {
        case 's': on.scale(1.0f); break;
        case 'u': p.unscale(on, 0); break;
        case 't': p.step(on, 0); break;
        case 'n': on.step(0, {}, [] {}); break;
        case 'U': on.update(); break;
        default: on.update(2); break;
        }
    };
    for (qsizetype i = 0; i < calls.size(); ++i) {
        const bool last = i + 1 == calls.size();
        const std::string text = thrownBy<InputError>([&] { call(scaler, calls[i]); });
        const QString wanted = last && !error.isEmpty() ? error : "nothing thrown";
        QCOMPARE(QString::fromStdString(text), wanted);
        call(disabled, calls[i]); // never complains
    }
}

void TestScalerApi::constructorChecks() {
    const auto made = [](const ScalerConfig& config) {
        return thrownBy<InputError>([&] { GradScaler scaler(config); });
    };
    QCOMPARE(made(configOf(1, 1)), std::string("The growth factor must be > 1.0."));
    QCOMPARE(made(configOf(1, 2, 1)), std::string("The backoff factor must be < 1.0."));
    // PyTorch checks nothing else
    QCOMPARE(made(configOf(-3, 2, -1, 0)), std::string("nothing thrown"));
    GradScaler disabled(configOf(1, 0, 7), GradScaler::Enabled::No);
    QVERIFY(!disabled.isEnabled());
    QCOMPARE(disabled.getScale(), 1.0f);
    QCOMPARE(disabled.scale(3.0f), 3.0f);
    Parameter p{{kNan}};
    QVERIFY(p.step(disabled, 0).stepped);
    QCOMPARE(p.steps, 1);
}

void TestScalerApi::arithmetic_data() {
    QTest::addColumn<float>("scale");
    for (const float scale : {1.0f, 65536.0f, 3.7f, 0.1f, 1e30f, 0x1p-126f, 1e-40f, 3.4e38f})
        QTest::addRow("%g", static_cast<double>(scale)) << scale;
}

void TestScalerApi::arithmetic() {
    QFETCH(float, scale);
    GradScaler scaler(configOf(static_cast<double>(scale)));
    QCOMPARE(scaler.scale(0.3f), 0.3f * scale);
    Parameter p{{1, -0.3f, 1e-38f, 3e38f, 1e-45f, 0, 7}};
    const std::vector<float> before = p.gradient;
    p.unscale(scaler, 0);
    const auto inverse = static_cast<float>(1 / static_cast<double>(scale));
    for (size_t i = 0; i < before.size(); ++i)
        QCOMPARE(std::bit_cast<uint32_t>(p.gradient[i]),
                 std::bit_cast<uint32_t>(before[i] * inverse));
}

void TestScalerApi::tensorsOfAllTypes() {
    GradScaler scaler(configOf(3));
    std::vector<uint16_t> half{halfFromFloat(0.1f), halfFromFloat(30000)};
    scaler.scale(hostTensor(DType::F16, half));
    // a product in float32, rounded once; beyond 65504 it is inf
    QCOMPARE(half[0], halfFromFloat(floatFromHalf(halfFromFloat(0.1f)) * 3));
    QVERIFY(std::isinf(floatFromHalf(half[1])));
    std::vector<double> wide{0.1, 1e300};
    scaler.scale(hostTensor(wide));
    QCOMPARE(wide[0], 0.1 * 3);
    QCOMPARE(wide[1], 1e300 * 3);
    std::vector<uint16_t> low{bfloat16FromFloat(6), bfloat16FromFloat(-1.5f)};
    scaler.unscale(0, std::array{hostTensor(DType::BF16, low)});
    QCOMPARE(floatFromBfloat16(low[0]), 2.0f);
    // a double beyond float32's range counts as inf, as on the device
    scaler.scale(1.0f);
    const StepOutcome outcome = scaler.step(1, std::array{hostTensor(wide)}, [] {});
    QVERIFY(!outcome.stepped);
    for (const double value : {3.4e38, 3.5e38}) { // float32 ends at 3.403e38
        std::vector<double> edge{value};
        QCOMPARE(scaler.step(value < 3.45e38 ? 2 : 3, std::array{hostTensor(edge)}, [] {}).stepped,
                 value < 3.45e38);
    }
}

/// The bad tensor may stand anywhere among the gradients: the clean ones after it do not clear it.
void TestScalerApi::oneBadTensorIsEnough() {
    for (size_t bad = 0; bad < 3; ++bad) {
        GradScaler scaler(configOf(4));
        std::array<std::array<float, 2>, 3> values{{{1, 2}, {3, 4}, {5, 6}}};
        values[bad][0] = kInfinity;
        std::vector<HostTensor> gradients;
        for (auto& each : values)
            gradients.push_back(hostTensor(std::span(each)));
        scaler.scale(1.0f);
        scaler.unscale(0, gradients);
        QVERIFY(!scaler.step(0, gradients, [] {}).stepped);
        scaler.update();
        QCOMPARE(scaler.getScale(), 2.0f);
    }
}

void TestScalerApi::saysWhyItSkipped() {
    GradScaler scaler(configOf(65536));
    scaler.scale(1.0f);
    std::vector<float> first(20, 1.0f), second(20, 1.0f);
    second[17] = -kInfinity;
    second[18] = kNan;
    const auto step = [&](int optimizer) {
        return scaler.step(optimizer,
                           std::array{hostTensor(std::span(first)), hostTensor(std::span(second))},
                           [] {});
    };
    QCOMPARE(step(0).why, std::string("gradient 1 holds inf at element 17 (loss scale 65536)"));
    first[0] = kNan;
    QCOMPARE(step(1).why, std::string("gradient 0 holds nan at element 0 (loss scale 65536)"));
    first[0] = second[17] = second[18] = 1;
    const StepOutcome stepped = step(2);
    QVERIFY(stepped && stepped.why.empty());
}

void TestScalerApi::halfGradientsAreRefused() {
    GradScaler scaler(configOf(4));
    scaler.scale(1.0f);
    std::vector<float> first{8};
    std::vector<uint16_t> second{halfFromFloat(8)};
    const std::array tensors{hostTensor(std::span(first)), hostTensor(DType::F16, second)};
    const auto unscale = [&] { scaler.unscale(0, tensors); };
    QCOMPARE(thrownBy<InputError>(unscale), std::string("Attempting to unscale FP16 gradients."));
    QCOMPARE(first[0], 8.0f);
    const auto step = [&] { scaler.step(0, tensors, [] {}); };
    QCOMPARE(thrownBy<InputError>(step), std::string("Attempting to unscale FP16 gradients."));
}

/// PyTorch checks only before the multiplication: with an inverse scale of inf the optimizer steps
/// on inf and nan. The second check prevents that.
void TestScalerApi::tinyScaleWritesNan() {
    for (const bool check : {false, true}) {
        ScalerConfig config = configOf(0x1p-130);
        config.checkUnscaled = check;
        GradScaler scaler(config);
        scaler.scale(1.0f);
        Parameter p{{0, 1e-30f}};
        const StepOutcome outcome = p.step(scaler, 0);
        QVERIFY(std::isnan(p.gradient[0]) && std::isinf(p.gradient[1]));
        QCOMPARE(outcome.stepped, !check);
        if (check)
            QVERIFY(outcome.why.starts_with("gradient 0 holds nan at element 0 once unscal"));
        scaler.update();
        QCOMPARE(scaler.getScale(), check ? 0x1p-131f : 0x1p-130f);
    }
}

/// Apex at a static scale: the step is taken with whatever the gradients hold, and the scale stays.
void TestScalerApi::stepsOnAnOverflow() {
    ScalerConfig config = findScalerPreset("apex-static")->config;
    config.initScale = 4;
    GradScaler scaler(config);
    scaler.scale(1.0f);
    Parameter p{{kInfinity, 8}};
    const StepOutcome outcome = p.step(scaler, 0);
    QVERIFY(outcome.stepped && outcome.why.empty());
    QCOMPARE(p.steps, 1);
    QVERIFY(p.gradient[0] == kInfinity && p.gradient[1] == 2);
    scaler.update();
    QCOMPARE(scaler.getScale(), 4.0f);
}

void TestScalerApi::gradientsSpoiledAfterUnscale() {
    GradScaler scaler(configOf(4));
    scaler.scale(1.0f);
    Parameter p{{1}};
    p.unscale(scaler, 0);
    p.gradient[0] = kInfinity;
    QVERIFY(p.step(scaler, 0).stepped); // as a test of PyTorch asserts
}

/// PyTorch's test of a captured graph: gradients are 5 times the scale, in float16.
void TestScalerApi::recordedGraphTest() {
    GradScaler scaler(configOf(4, 2, 0.5, 2));
    const std::vector<float> inputs{5, 20000, 5, 40000}, scales{4, 2, 2, 1},
        grads{20, kInfinity, 10, kInfinity};
    const std::vector<int> trackers{1, 0, 1, 0};
    for (size_t i = 0; i < inputs.size(); ++i) {
        uint16_t bits = halfFromFloat(inputs[i]);
        scaler.scale(hostTensor(DType::F16, std::span(&bits, 1)));
        Parameter p{{floatFromHalf(bits)}};
        QCOMPARE(p.gradient[0], grads[i]);
        QCOMPARE(p.step(scaler, 0).stepped, std::isfinite(grads[i]));
        scaler.update();
        QCOMPARE(scaler.getScale(), scales[i]);
        QCOMPARE(scaler.growthTracker(), trackers[i]);
    }
}

void TestScalerApi::severalOptimizers_data() {
    QTest::addColumn<bool>("unscaleFirst");
    QTest::newRow("step alone") << false;
    QTest::newRow("unscale_ first") << true;
}

/// Of two optimizers, the second has inf at step 2 of 4: it alone skips; the scale that they share
/// backs off once and grows three times.
void TestScalerApi::severalOptimizers() {
    QFETCH(bool, unscaleFirst);
    GradScaler scaler(configOf(128, 2, 0.5, 1));
    std::array<int, 2> steps{};
    for (int i = 0; i < 4; ++i) {
        scaler.scale(1.0f);
        for (int optimizer = 0; optimizer < 2; ++optimizer) {
            Parameter p{{i == 2 && optimizer == 1 ? kInfinity : 1}};
            if (unscaleFirst) p.unscale(scaler, optimizer);
            p.step(scaler, optimizer);
            steps[static_cast<size_t>(optimizer)] += p.steps;
        }
        scaler.update();
    }
    QCOMPARE(steps[0], 4);
    QCOMPARE(steps[1], 3);
    QCOMPARE(scaler.getScale(), 128.0f * 8 / 2);
    // both at once: still one backoff
    scaler.scale(1.0f);
    for (int optimizer = 0; optimizer < 2; ++optimizer)
        Parameter{{kInfinity}}.step(scaler, optimizer);
    scaler.update();
    QCOMPARE(scaler.getScale(), 256.0f);
}

void TestScalerApi::newScaleKeepsTheTracker() {
    GradScaler scaler(configOf(128, 2, 0.5, 3));
    iterate(scaler, {1, 1});
    scaler.update(7);
    QCOMPARE(scaler.getScale(), 7.0f);
    QCOMPARE(scaler.growthTracker(), 2);
    iterate(scaler, {1});
    QCOMPARE(scaler.getScale(), 14.0f);
}

void TestScalerApi::settersAndGetters() {
    GradScaler scaler(configOf(128, 4, 0.25, 3));
    QCOMPARE(scaler.getScale(), 128.0f);
    QCOMPARE(scaler.growthFactor(), 4.0);
    QCOMPARE(scaler.backoffFactor(), 0.25);
    QCOMPARE(scaler.growthInterval(), int64_t{3});
    scaler.setGrowthFactor(8);
    scaler.setBackoffFactor(0.5);
    scaler.setGrowthInterval(1);
    iterate(scaler, {1});
    QCOMPARE(scaler.getScale(), 1024.0f);
    iterate(scaler, {kInfinity});
    QCOMPARE(scaler.getScale(), 512.0f);
    // below the tracker: no growth until the next overflow
    scaler.setGrowthInterval(10);
    iterate(scaler, {1, 1, 1});
    scaler.setGrowthInterval(2);
    iterate(scaler, {1, 1, 1, 1});
    QCOMPARE(scaler.getScale(), 512.0f);
}

void TestScalerApi::stopsAtTheFloor() {
    ScalerConfig config = findScalerPreset("deepspeed")->config;
    config.initScale = 2;
    GradScaler scaler(config);
    iterate(scaler, {kInfinity, kInfinity});
    QVERIFY(scaler.getScale() == 1 && !scaler.stopped());
    iterate(scaler, {kInfinity});
    QVERIFY(scaler.getScale() == 1 && scaler.stopped());
    scaler.loadStateDict(GradScaler(config).stateDict()); // a training that begins again
    QVERIFY(scaler.getScale() == 2 && !scaler.stopped());
}

} // namespace tst_scaler_api

QTEST_GUILESS_MAIN(tst_scaler_api::TestScalerApi)
#include "tst_scaler_api.moc"
