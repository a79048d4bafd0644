// Lanes made from lists of a setting's values. tst_named_lanes tests lists of precisions.
#include "engine/core/error.h"
#include "engine/settings/sweep.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <cmath>

namespace tst_sweep {

using namespace halfscope;

namespace {

RunConfig presetConfig(const char* name) { return presetNamed(name).config; }

void sweepBy(RunConfig& config, std::initializer_list<const char*> texts) {
    std::vector<Sweep> sweeps;
    for (const char* text : texts)
        sweeps.push_back(parseSweep(text));
    applySweeps(config, sweeps);
    checkConfig(config);
}

std::vector<double> firstScales(const RunConfig& config) {
    std::vector<double> scales;
    for (const LaneConfig& lane : config.lanes)
        scales.push_back(lane.scaler.initScale);
    return scales;
}

} // namespace

class TestSweep : public QObject {
    Q_OBJECT

private slots:
    void valuesBecomeLanes() {
        RunConfig config = presetConfig("overflow");
        sweepBy(config, {"scaler.init_scale=2^10, 2^16,1048576"});
        QCOMPARE(firstScales(config), (std::vector<double>{65536, 1024, 65536, 0x1p20}));
        QVERIFY(config.lanes[0].precision == Precision::Fp32); // unchanged: it has no scale
        for (size_t i = 1; i < config.lanes.size(); ++i)
            QCOMPARE(config.lanes[i].scaler.rules.growthInterval, int64_t{20}); // of the preset
    }

    /// Other values of the same setting take the place of those that were tried before.
    void anotherSweepMakesNoLanesTwice() {
        RunConfig config = presetConfig("overflow");
        sweepBy(config, {"scaler.init_scale=2^10,2^16,2^20,2^24,2^28"});
        const Sweep next = parseSweep("scaler.init_scale=2^12,2^16");
        QCOMPARE(applySweeps(config, {&next, 1}), (std::vector<size_t>{0, 1, 1}));
        QCOMPARE(firstScales(config), (std::vector<double>{65536, 4096, 65536}));
        config.lanes[2].scaler.rules.growthInterval = 30; // a lane of its own
        sweepBy(config, {"scaler.init_scale=2^8,2^9"});
        QCOMPARE(firstScales(config), (std::vector<double>{65536, 256, 512, 256, 512}));
    }

    void severalSweepsMultiply() {
        RunConfig config = presetConfig("overflow");
        config.lanes = parseLanes("amp-fp16", config.lanes);
        const std::vector<Sweep> sweeps{parseSweep("scaler.growth_interval=100,1000"),
                                        parseSweep("scaler.init_scale=2^10,2^16,2^24")};
        applySweeps(config, sweeps);
        QCOMPARE(config.lanes.size(), size_t{6});
        QCOMPARE(sweptText(config, 0, sweeps), std::string("growth_interval 100, init_scale 2^10"));
        QCOMPARE(sweptText(config, 5, sweeps),
                 std::string("growth_interval 1000, init_scale 2^24"));
        checkConfig(config);
    }

    /// A list of powers of two is not written in two ways.
    void powersAreWrittenAlike() {
        RunConfig config = presetConfig("overflow");
        config.lanes = parseLanes("amp-fp16", config.lanes);
        const auto first = [&](const char* values) {
            const Sweep sweep = parseSweep(values);
            RunConfig swept = config;
            applySweeps(swept, {&sweep, 1});
            return sweptText(swept, 0, {&sweep, 1});
        };
        QCOMPARE(first("scaler.init_scale=16,2^12"), std::string("init_scale 2^4"));
        QCOMPARE(first("scaler.init_scale=8,16"), std::string("init_scale 8"));
        QCOMPARE(first("scaler.init_scale=10,2^12"), std::string("init_scale 10"));
    }

    /// A growth interval means nothing where the scale is fixed, so there it makes no lanes.
    void combinationsWithoutMeaningAreLeftOut() {
        RunConfig config = defaultConfig();
        const std::vector<Sweep> sweeps{parseSweep("scaler.mode=static,dynamic"),
                                        parseSweep("scaler.growth_interval=10,20,30")};
        QCOMPARE(applySweeps(config, sweeps), (std::vector<size_t>{0, 1, 1, 1, 1}));
        QCOMPARE(config.lanes.size(), size_t{1 + 1 + 3});
        QCOMPARE(sweptText(config, 0, sweeps), std::string());
        QCOMPARE(sweptText(config, 1, sweeps), std::string("mode static"));
        QCOMPARE(sweptText(config, 4, sweeps), std::string("mode dynamic, growth_interval 30"));
    }

    void scalersOfOtherSystems() {
        RunConfig config = defaultConfig();
        sweepBy(config, {"scaler.preset=pytorch,keras,apex,megatron"});
        QCOMPARE(config.lanes.size(), size_t{5});
        QVERIFY(config.lanes[2].scaler != config.lanes[1].scaler);
    }

    /// Trainings of their own can also differ in settings of the run, but not in data and length.
    void whatTrainingsCanDifferIn() {
        RunConfig config = presetConfig("overflow");
        std::vector<std::string> keys;
        for (const Field* field : sweptFields(config, SweptBy::Trainings)) {
            keys.push_back(field->key);
            const Sweep sweep =
                parseSweep(field->key + "=" + valueText(field->get(config, 1)), SweptBy::Trainings);
            QCOMPARE(sweep.field, field);
        }
        for (const char* key : {"scaler.init_scale", "precision", "optimizer.lr", "model.width",
                                "gradients.clip", "schedule.kind"})
            QVERIFY2(std::count(keys.begin(), keys.end(), key) == 1, key);
        for (const std::string& key : keys)
            QVERIFY2(!key.starts_with("data.") && !key.starts_with("task.") &&
                         !key.starts_with("run.") && key != "model.layers",
                     key.c_str());
        QCOMPARE(parseSweep("run.seed=1,2", SweptBy::Trainings).values.size(), size_t{2});
        for (const char* other : {"task.batch=8,16", "run.steps=10,20"})
            QVERIFY(thrownBy<InputError>([&] { parseSweep(other, SweptBy::Trainings); })
                        .ends_with("is the same in all trainings of a map, which share their data "
                                   "and their length"));
    }

    void whatCanBeSwept() {
        const auto keys = [](const RunConfig& config) {
            std::vector<std::string> all;
            for (const Field* field : sweptFields(config))
                all.push_back(field->key);
            return all;
        };
        const auto has = [&](const RunConfig& config, const char* key) {
            const std::vector<std::string> all = keys(config);
            return std::find(all.begin(), all.end(), key) != all.end();
        };
        RunConfig config = presetConfig("overflow");
        for (const std::string& key : keys(config)) // none that parseSweep() refuses
            parseSweep(key + "=" + valueText(findField(key)->get(config, 1)));
        QVERIFY(has(config, "scaler.init_scale") && has(config, "scaler.growth_interval"));
        QVERIFY(!has(config, "precision") && !has(config, "precision.layers"));
        QVERIFY(!has(config, "optimizer.lr"));
        config.lanes = parseLanes("fp32", config.lanes);
        QVERIFY(!has(config, "scaler.init_scale")); // means nothing there
    }

    void whatHappenedToOtherLanesIsForgotten() {
        RunConfig config = presetConfig("overflow");
        config.forks.push_back({5, 1, 0, config.lanes[1]});
        config.edits.push_back({6, 1, kLiveScale, 8.0});
        config.edits.push_back({6, 1, "scaler.growth_interval", int64_t{7}});
        config.edits.push_back({7, -1, "optimizer.lr", 0.5});
        sweepBy(config, {"scaler.init_scale=4,8"});
        QVERIFY(config.forks.empty());
        QCOMPARE(config.edits.size(), size_t{1});
        QCOMPARE(config.edits[0].key, std::string("optimizer.lr"));
    }

    void refusals_data() {
        QTest::addColumn<QStringList>("sweeps");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const QStringList& sweeps, const char* message) {
            QTest::newRow(name) << sweeps << QString::fromUtf8(message);
        };
        const QString scale = QStringLiteral("scaler.init_scale=");
        row("no list", {QStringLiteral("scaler.init_scale")},
            "\"scaler.init_scale\" is not a sweep: KEY=VALUE,VALUE");
        row("unknown", {QStringLiteral("scaler.init_scal=1,2")},
            "\"scaler.init_scal\" is an unknown setting; the nearest known one is "
            "scaler.init_scale");
        row("of the run", {QStringLiteral("optimizer.lr=1,2")},
            "--sweep: optimizer.lr is the same in all lanes of a run; only settings of a lane can "
            "be swept (scaler.*). halfscope-cli sweep trains once for each value of this one");
        row("seed", {QStringLiteral("run.seed=1,2")},
            "--sweep: run.seed is the same in all lanes of a run; only settings of a lane can be "
            "swept (scaler.*). halfscope-cli sweep trains once for each value of this one");
        row("precision", {QStringLiteral("precision=fp32,fp16")},
            "--sweep: precision is not swept: --lanes names precisions");
        row("text", {QStringLiteral("precision.layers=a,b")},
            "--sweep: precision.layers is not swept: it is a text");
        row("value", {scale + QStringLiteral("1,-2")}, "scaler.init_scale: -2 is not allowed");
        row("no value", {scale + QStringLiteral("1,")},
            "scaler.init_scale: an empty value is not allowed");
        row("twice", {scale + QStringLiteral("2^4,16")},
            "scaler.init_scale has the value 16 twice");
        row("two lists", {scale + QStringLiteral("1,2"), scale + QStringLiteral("3,4")},
            "--sweep: scaler.init_scale is given twice");
        row("six and one", {scale + QStringLiteral("1,2,4,8,16,32")},
            "These values make 7 lanes, and a run has at most 6: give fewer values, or remove "
            "lanes first. More of them make a map: halfscope-cli sweep, or Edit > Map of two "
            "settings… in the window");
        row("a product", {scale + QStringLiteral("1,2,4"), QStringLiteral("scaler.floor=0.5,1")},
            "These values make 7 lanes");
        row("moot", {QStringLiteral("scaler.mode=off"), scale + QStringLiteral("1,2")},
            "scaler.init_scale means nothing in any lane of this run");
    }

    void refusals() {
        QFETCH(const QStringList, sweeps);
        QFETCH(const QString, message);
        RunConfig config = presetConfig("overflow");
        const std::string text = thrownBy<InputError>([&] {
            std::vector<Sweep> parsed;
            for (const QString& each : sweeps)
                parsed.push_back(parseSweep(each.toStdString()));
            applySweeps(config, parsed);
        });
        QVERIFY2(text.starts_with(message.toStdString()), text.c_str());
    }
};

} // namespace tst_sweep

QTEST_GUILESS_MAIN(tst_sweep::TestSweep)
#include "tst_sweep.moc"
