// What a list says of the settings of several runs: every run tells first what sets it apart from
// those that are most like it.
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/runs/nearest_rows.h"
#include "engine/runs/setting_differences.h"
#include "engine/settings/fields.h"
#include "tests/support/plain_differences.h"

#include <QTest>

#include <algorithm>
#include <iterator>

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

/// Numbers that follow from a seed.
class Chance {
public:
    explicit Chance(uint64_t seed) : m_random(seed, 0) {}
    size_t below(size_t bound) { return static_cast<size_t>(m_random.below(m_index++, bound)); }
    template <class List>
    const auto& oneOf(const List& list) {
        return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(std::size(list))));
    }

private:
    Philox m_random;
    uint64_t m_index = 0;
};

/// Returns settings such as those of a sweep, or of presets that were changed here and there.
RunConfig randomConfig(Chance& chance, bool sweep) {
    using Settings = std::vector<std::string>;
    RunConfig config = sweep ? defaultConfig() : chance.oneOf(presets()).config;
    const std::vector<Settings> changes{
        {"optimizer.lr=0.1", "optimizer.lr=0.01"},
        {"run.seed=" + std::to_string(chance.below(10'000))},
        {"run.steps=" + std::to_string(10 + chance.below(10'000))},
        {"model.width=64", "model.width=32"},
        {"model.depth=2"},
        {"schedule.kind=step"},
        {"schedule.step_size=9", "schedule.step_size=5"},
        {"lanes.1.scaler.init_scale=1024", "lanes.1.scaler.init_scale=64"},
        {"lanes.1.scaler.preset=apex"},
        {"lanes.1.scaler.growth_interval=9", "lanes.1.scaler.growth_interval=50"}};
    for (const Settings& each : changes)
        if (chance.below(sweep ? 2 : 4) == 0) {
            try {
                applySetting(config, chance.oneOf(each));
            } catch (const InputError&) {
                continue; // a preset of one lane
            }
        }
    if (chance.below(4) == 0)
        config.title = chance.below(2) == 0 ? "Mine" : chance.oneOf(presets()).config.title;
    if (!sweep && chance.below(4) == 0)
        config.lanes = parseLanes(
            chance.oneOf(Settings{"fp32", "fp32,amp-fp16,amp-fp16", "amp-bf16,amp-fp16"}),
            config.lanes);
    return config;
}

/// Returns cells of which some have values of their own, as those of a seed; those of a kind may be
/// comparable with only some of the others.
std::vector<SlotCells> randomCells(Chance& chance, size_t rows, size_t places) {
    std::vector<SlotCells> all(places);
    for (SlotCells& cells : all) {
        const size_t values = chance.below(3) == 0 ? 1000 : 1 + chance.below(4);
        const size_t kinds = 1 + chance.below(3);
        const bool silent = chance.below(3) == 0, absent = chance.below(4) == 0;
        for (size_t row = 0; row < rows; ++row) {
            const bool has = !absent || chance.below(5) > 0;
            cells.values.push_back(has ? static_cast<int>(chance.below(values)) : -1);
            cells.kinds.push_back(static_cast<int>(chance.below(kinds)));
            cells.silent.push_back(silent && chance.below(3) == 0 ? 1 : 0);
        }
    }
    return all;
}

/// Does the same as nearestRows(), pair by pair.
std::vector<std::vector<uint32_t>> plainNearest(const std::vector<SlotCells>& places, size_t rows,
                                                const ComparableKinds& comparable) {
    std::vector<std::vector<uint32_t>> nearest(rows,
                                               std::vector<uint32_t>(places.size(), kNoneDiffers));
    for (size_t a = 0; a < rows; ++a)
        for (size_t b = 0; b < rows; ++b) {
            std::vector<size_t> apart;
            for (size_t slot = 0; slot < places.size(); ++slot) {
                const SlotCells& cells = places[slot];
                if (cells.values[a] != cells.values[b] && cells.values[a] >= 0 &&
                    cells.values[b] >= 0 && !(cells.silent[a] && cells.silent[b]) &&
                    comparable(slot, cells.kinds[a], cells.kinds[b]))
                    apart.push_back(slot);
            }
            for (const size_t slot : apart)
                nearest[a][slot] = std::min(nearest[a][slot], static_cast<uint32_t>(apart.size()));
        }
    return nearest;
}

} // namespace

class TestSettingDifferences : public QObject {
    Q_OBJECT
private slots:
    void differences_data();
    void differences();
    void asPairByPair();
    void nearestAsPairByPair();
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
    const char* table = "data.kind=csv;data.drop=";
    const auto without = [table](const char* columns) {
        return QLatin1String(table) + QLatin1String(columns);
    };
    row("columns of a table", {without("a,b,c"), without("b"), without("")},
        {"drop a and 2 more", "drop b", ""});
    row("as many as tell them apart", {without("a,b,c"), without("a,d,c"), without("a,b")},
        {"drop a + b and 1 more", "drop a + d and 1 more", "drop a + b"});
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
        {"fp32 + amp-fp16, B: growth_interval 9", "fp32 + 2 × amp-fp16, B: growth_interval 2000"});
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
    row("presets by their former names",
        {"preset=master-weights;title=Why float32 weights", "preset=gan"}, {"", ""});
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

/// Whatever runs are in the list, it says the same as if every pair of them were compared.
void TestSettingDifferences::asPairByPair() {
    size_t told = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        Chance chance(seed);
        std::vector<RunConfig> configs;
        for (size_t left = 1 + chance.below(45); left > 0; --left)
            configs.push_back(randomConfig(chance, seed % 2 == 0));
        std::vector<const RunConfig*> pointers;
        for (const RunConfig& each : configs)
            pointers.push_back(&each);
        const auto found = settingDifferences(pointers);
        QVERIFY2(found == test::plainDifferences(pointers), qPrintable(QString::number(seed)));
        for (const std::vector<std::string>& each : found)
            told += each.size();
    }
    QVERIFY(told > 1000);
}

/// Likewise where rows of a kind can be compared with those of two others that cannot be compared
/// with each other.
void TestSettingDifferences::nearestAsPairByPair() {
    const ComparableKinds comparable = [](size_t slot, int a, int b) {
        return slot % 3 == 0 || a == b || (slot % 3 == 1 && (a == 2 || b == 2));
    };
    for (uint64_t seed = 0; seed < 200; ++seed) {
        Chance chance(seed);
        const size_t rows = 1 + chance.below(70), places = 1 + chance.below(12);
        const std::vector<SlotCells> cells = randomCells(chance, rows, places);
        QVERIFY2(nearestRows(cells, rows, comparable) == plainNearest(cells, rows, comparable),
                 qPrintable(QString::number(seed)));
    }
}

} // namespace tst_setting_differences

QTEST_APPLESS_MAIN(tst_setting_differences::TestSettingDifferences)
#include "tst_setting_differences.moc"
