// Lanes given by name in place of an experiment's own: what they keep of its settings, and what is
// lost.
#include "engine/settings/fields.h"
#include "tests/support/thrown.h"

#include <QTest>

namespace tst_named_lanes {

using namespace halfscope;

namespace {

RunConfig presetConfig(const char* name) { return presetNamed(name).config; }

/// Returns the lanes of a preset, replaced by those that `list` names.
std::vector<LaneConfig> named(const char* preset, std::string_view list) {
    return parseLanes(list, presetConfig(preset).lanes);
}

bool same(const LaneConfig& a, const LaneConfig& b) {
    return a.precision == b.precision && a.scaler == b.scaler && a.policyFile == b.policyFile &&
           a.layers == b.layers && a.masterWeights == b.masterWeights &&
           a.keepBatchnormF32 == b.keepBatchnormF32;
}

} // namespace

class TestNamedLanes : public QObject {
    Q_OBJECT

private slots:
    /// In every preset, the lanes given by their own names are the preset's lanes.
    void namedLanesKeepTheirSettings() {
        for (const Preset& preset : presets()) {
            std::string list;
            for (const LaneConfig& lane : preset.config.lanes)
                list += (list.empty() ? "" : ",") + std::string(nameOf(lane.precision));
            const std::vector<LaneConfig> lanes = parseLanes(list, preset.config.lanes);
            QCOMPARE(lanes.size(), preset.config.lanes.size());
            for (size_t i = 0; i < lanes.size(); ++i)
                QVERIFY2(same(lanes[i], preset.config.lanes[i]), preset.name.c_str());
        }
    }

    void commasStandBetweenPrecisions() {
        for (const std::string wrong : {"fp32,", ",fp32", "fp32,,fp16", "fp32, ,fp16", ","})
            QCOMPARE(thrownBy<InputError>([&] { parseLanes(wrong); }),
                     '"' + wrong +
                         "\" has a comma without a precision on each side; write precisions with "
                         "one comma between two, such as fp32,amp-fp16");
    }

    void nthLaneOfAPrecisionIsTheNth() {
        const auto overflow = named("overflow", "amp-fp16,fp32,amp-fp16,apex-o2");
        QCOMPARE(overflow[0].scaler.initScale, 0x1p24);
        QCOMPARE(overflow[0].scaler.rules.growthInterval, int64_t{20});
        QVERIFY(same(overflow[2], overflow[0])); // a further lane is like the last one
        QVERIFY(same(overflow[3], defaultLane(Precision::ApexO2)));
        const auto fixed = named("static-scales", "amp-fp16,amp-fp16,amp-fp16,amp-fp16");
        QCOMPARE(fixed[0].scaler.initScale, 1.0 / 1024);
        QCOMPARE(fixed[1].scaler.initScale, 1.0);
        QCOMPARE(fixed[2].scaler.initScale, 65536.0);
        QVERIFY(same(fixed[3], fixed[2]));
        QVERIFY(same(parseLanes("amp-fp16").front(), defaultLane(Precision::AmpFp16)));
    }

    void aScalerThatIsLostIsTold() {
        const auto lost = [](const char* preset, const char* list) {
            const LostScaler found = lostScaler(presetConfig(preset).lanes, named(preset, list));
            return found.had + ">" + found.has;
        };
        QCOMPARE(lost("overflow", "fp32,torch-cpu-fp16"), std::string("amp-fp16>torch-cpu-fp16"));
        QCOMPARE(lost("overflow", "amp-fp16,torch-cpu-fp16"), std::string(">")); // it is kept
        QCOMPARE(lost("overflow", "fp32"), std::string(">"));               // no lane could have it
        QCOMPARE(lost("overflow", "amp-bf16"), std::string(">"));           // likewise
        QCOMPARE(lost("checkerboard", "torch-cpu-fp16"), std::string(">")); // default settings
    }
};

} // namespace tst_named_lanes

QTEST_GUILESS_MAIN(tst_named_lanes::TestNamedLanes)
#include "tst_named_lanes.moc"
