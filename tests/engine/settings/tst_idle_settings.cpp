// Settings that were given and do nothing.
#include "engine/settings/idle_settings.h"

#include "engine/settings/precision.h"

#include <QTest>

namespace tst_idle_settings {

using namespace halfscope;

namespace {

using Keys = std::vector<std::string>;

RunConfig with(RunConfig config, const std::vector<std::string>& settings) {
    for (const std::string& each : settings)
        applySetting(config, each);
    return config;
}

Keys idleOf(const std::vector<std::string>& settings) {
    const RunConfig start = with(defaultConfig(), {"data.kind=csv", "task.loss=mse"});
    std::vector<Assignment> given;
    for (const std::string& each : settings)
        given.push_back(parseAssignment(each));
    return idleSettings(with(start, settings), given);
}

} // namespace

class TestIdleSettings : public QObject {
    Q_OBJECT
private slots:
    void given() {
        QCOMPARE(idleOf({"data.gap=3"}), Keys{"data.gap"}); // chance chooses
        QCOMPARE(idleOf({"data.gap=3", "data.held_back=last"}), Keys{});
        QCOMPARE(idleOf({"data.held_back=last", "data.gap=3", "data.held_back=random"}),
                 Keys{"data.gap"});
        QCOMPARE(idleOf({"task.side=8", "run.steps=8"}), Keys{"task.side"});
        QCOMPARE(idleOf({"task.class_weights=balanced"}), Keys{"task.class_weights"}); // numbers
        QCOMPARE(idleOf({"task.loss=cross-entropy", "task.class_weights=balanced"}), Keys{});
        QCOMPARE(idleOf({"scaler.init_scale=8"}), Keys{}); // of the second lane
        QCOMPARE(idleOf({"lanes.0.scaler.init_scale=8", "lanes.1.scaler.init_scale=8"}),
                 Keys{"lanes.0.scaler.init_scale"});
        QCOMPARE(idleOf({"data.gap=3", "data.gap=4"}), Keys{"data.gap"}); // once
        const Keys unscaled{"lanes.1.precision=fp32", "lanes.0.scaler.init_scale=8",
                            "scaler.init_scale=4"};
        QCOMPARE(idleOf(unscaled), Keys{"scaler.init_scale"}); // in no lane
    }

    /// Why a scaler's settings have no effect, and which precision has one.
    void precisionsWithoutAScaler() {
        const auto told = [](const Keys& settings, const Keys& idle) {
            return withoutScaler(with(defaultConfig(), settings), idle).english();
        };
        const Keys fp16{"lanes.1.precision=fp16"}; // beside fp32
        QCOMPARE(told(fp16, {"lanes.1.scaler.mode", "lanes.1.scaler.init_scale"}),
                 std::string("Precisions without a loss scaler: fp16. The precision amp-fp16 has "
                             "one, and so has apex-o3, which is float16 throughout; its "
                             "scaler.mode is off at first."));
        QCOMPARE(told({}, {"lanes.0.scaler.mode"}),
                 std::string("Precisions without a loss scaler: fp32. The precision amp-fp16 has "
                             "one."));
        QVERIFY(told(fp16, {"scaler.mode"})
                    .starts_with("Precisions without a loss scaler: fp32, "
                                 "fp16. "));
        QCOMPARE(told({}, {"scaler.growth_interval"}), std::string()); // amp-fp16 is there
        QCOMPARE(told(fp16, {"data.gap"}), std::string());
        QCOMPARE(told({"scaler.mode=static"}, {"lanes.1.scaler.growth_interval"}), std::string());
        const LaneConfig apex = with(defaultConfig(), {"lanes.1.precision=apex-o3"}).lanes[1];
        QVERIFY(presetOf(apex.precision).mayScale && apex.scaler.rules.mode == ScalerMode::Off);
    }

    /// What was given and is in the file, too, is told once. A file has the width of its preset or
    /// its data beside layers of its own, and nobody gave that.
    void besideAFile() {
        const auto idleOfBoth = [](const Keys& inFile, const Keys& settings) {
            std::vector<Assignment> given;
            for (const std::string& each : settings)
                given.push_back(parseAssignment(each));
            return idleBesideFile(with(with(defaultConfig(), inFile), settings), given);
        };
        const Keys scaler{"lanes.1.precision=fp32", "scaler.init_scale=8"};
        QCOMPARE(idleOfBoth(scaler, {}),
                 (Keys{"lanes.0.scaler.init_scale", "lanes.1.scaler.init_scale"}));
        QCOMPARE(idleOfBoth(scaler, {"scaler.init_scale=4"}), Keys{"scaler.init_scale"});
        QCOMPARE(idleOfBoth({"scaler.init_scale=8"}, {"scaler.growth_interval=20"}), Keys{});
        const Keys layers{"data.gap=3", "model.width=20", "model.depth=0", "model.norm=none",
                          "model.layers=nn.Linear(2, 3)"};
        QCOMPARE(idleOfBoth(layers, {}), Keys{"data.gap"});
        QCOMPARE(idleOfBoth(layers, {"model.width=30"}), (Keys{"model.width", "data.gap"}));
    }

    /// A file has every key; those that were left alone are not told.
    void fromAFile() {
        const auto idleIn = [](const RunConfig& config) {
            return idleSettings(parseConfig(configText(config), "a.json"));
        };
        const RunConfig start = with(defaultConfig(), {"data.kind=csv", "data.gap=3"});
        QCOMPARE(idleIn(start), Keys{"data.gap"});
        QCOMPARE(idleIn(with(start, {"data.held_back=last"})), Keys{});
        QCOMPARE(idleIn(with(start, {"data.held_back=last", "lanes.0.scaler.init_scale=8"})),
                 Keys{"lanes.0.scaler.init_scale"});
        for (const Preset& preset : presets())
            QCOMPARE(idleIn(preset.config), Keys{});
    }

    void areTakenOut() {
        const Keys heeded{"data.kind=csv", "data.held_back=last", "lanes.1.scaler.init_scale=8"};
        Keys all = heeded;
        all.insert(all.end(), {"task.label_smoothing=0.1", "task.class_weights=balanced",
                               "lanes.0.scaler.init_scale=8"});
        const auto textOf = [](const Keys& settings) {
            return configText(with(defaultConfig(), settings));
        };
        QCOMPARE(configText(withoutIdle(with(defaultConfig(), all))), textOf(heeded));
        QCOMPARE(configText(withoutIdle(with(defaultConfig(), heeded))), textOf(heeded));
        for (const Preset& preset : presets())
            QCOMPARE(configText(withoutIdle(preset.config)), configText(preset.config));
    }
};

} // namespace tst_idle_settings

QTEST_GUILESS_MAIN(tst_idle_settings::TestIdleSettings)
#include "tst_idle_settings.moc"
