// What a list says of the settings of several runs: every run tells first what sets it apart from
// those that are most like it.
#include "engine/runs/setting_differences.h"
#include "engine/settings/fields.h"

#include <QTest>

namespace tst_setting_differences {

using namespace halfscope;

namespace {

/// Makes settings from "preset=overflow;optimizer.lr=0.01"; "title" and "lanes" count as settings.
RunConfig configOf(const QString& settings) {
    RunConfig config = defaultConfig();
    for (const QString& each : settings.split(u';', Qt::SkipEmptyParts)) {
        const std::string value = each.section(u'=', 1).toStdString();
        if (each.startsWith(u"preset="))
            config = presetNamed(value).config;
        else if (each.startsWith(u"title="))
            config.title = value;
        else if (each.startsWith(u"lanes="))
            config.lanes = parseLanes(value, config.lanes);
        else
            applySetting(config, each.toStdString());
    }
    return config;
}

} // namespace

class TestSettingDifferences : public QObject {
    Q_OBJECT
private slots:
    void differences_data();
    void differences();
};

void TestSettingDifferences::differences_data() {
    QTest::addColumn<QStringList>("settings"); // one entry a run, with ; between the settings
    QTest::addColumn<QStringList>("texts");
    const auto row = [](const char* name, const QStringList& settings, const QStringList& texts) {
        QTest::newRow(name) << settings << texts;
    };
    row("one run", {""}, {""});
    row("alike", {"", ""}, {"", ""});
    row("titles do not count", {"title=A", "title=B"}, {"", ""});
    row("nor does the pace", {"run.pace=15", ""}, {"", ""});
    row("a number", {"optimizer.lr=0.01", ""}, {"lr 0.01", "lr 0.001"});
    row("two of three", {"run.seed=1", "run.seed=2", "run.seed=2"}, {"seed 1", "seed 2", "seed 2"});
    row("a lane", {"lanes.1.scaler.init_scale=1024", ""},
        {"B: init_scale 2^10", "B: init_scale 2^16"});
    row("scalers by name", {"lanes.1.scaler.preset=apex", ""},
        {"B: scaler apex", "B: scaler pytorch"});
    row("one of the scalers has no name",
        {"lanes.1.scaler.preset=apex", "", "lanes.1.scaler.growth_interval=9"},
        {"B: scaler apex, B: growth_interval 2000, B: ceiling 2^24",
         "B: scaler pytorch, B: growth_interval 2000", "B: growth_interval 9, B: ceiling 0"});
    row("many", {"run.seed=1;optimizer.lr=0.01;model.width=64;run.steps=7;model.depth=2", ""},
        {"width 64, depth 2, lr 0.01, seed 1, steps 7",
         "width 128, depth 3, lr 0.001, seed 0, steps 300"});
    row("of one kind alone", {"schedule.kind=step;schedule.step_size=9", ""},
        {"kind step, step_size 9", "kind constant"});
    row("other lanes", {"", "lanes=fp32"}, {"fp32 + amp-fp16", "fp32"});
    row("lanes that both have are compared",
        {"lanes.1.scaler.growth_interval=9", "lanes=fp32,amp-fp16,amp-fp16"},
        {"fp32 + amp-fp16, B: growth_interval 9",
         "fp32 + amp-fp16 + amp-fp16, B: growth_interval 2000"});
    row("the most alike first",
        {"optimizer.lr=0.1;model.width=64;run.seed=1", "optimizer.lr=0.1;model.width=64", ""},
        {"seed 1, width 64, lr 0.1", "seed 0, width 64, lr 0.1", "width 128, lr 0.001, seed 0"});
    row("one change each: the rare value first",
        {"optimizer.lr=0.1", "model.width=64", "run.seed=1", "model.depth=2"},
        {"lr 0.1, width 128, depth 3, seed 0", "width 64, depth 3, lr 0.001, seed 0",
         "seed 1, width 128, depth 3, lr 0.001", "depth 2, width 128, lr 0.001, seed 0"});
    row("presets by their names alone", {"preset=overflow", "preset=gan", "preset=languages"},
        {"", "", ""});
    row("and what was changed in one of them",
        {"preset=overflow;optimizer.lr=0.5", "preset=gan", "preset=languages"}, {"lr 0.5", "", ""});
    row("runs of one preset beside others",
        {"preset=overflow", "preset=curve-fit", "preset=overflow;lanes.1.scaler.growth_interval=50",
         "preset=gan"},
        {"B: growth_interval 20", "", "B: growth_interval 50", ""});
    row("the title of no preset tells nothing",
        {"preset=overflow;title=Mine", "preset=overflow;title=Mine too;optimizer.lr=0.5"},
        {"lr 0.001", "lr 0.5"});
}

void TestSettingDifferences::differences() {
    QFETCH(QStringList, settings);
    QFETCH(QStringList, texts);
    std::vector<RunConfig> configs;
    for (const QString& each : settings)
        configs.push_back(configOf(each));
    std::vector<const RunConfig*> pointers;
    for (const RunConfig& each : configs)
        pointers.push_back(&each);
    QStringList found;
    for (const std::vector<std::string>& each : settingDifferences(pointers)) {
        QStringList own;
        for (const std::string& text : each)
            own << QString::fromStdString(text);
        found << own.join(QStringLiteral(", "));
    }
    QCOMPARE(found, texts);
}

} // namespace tst_setting_differences

QTEST_APPLESS_MAIN(tst_setting_differences::TestSettingDifferences)
#include "tst_setting_differences.moc"
