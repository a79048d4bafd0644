// The field table: every field survives a round trip, and every wrong value and setting gets its
// one line. Files are in tst_experiment_files; the parts that use the fields test their meaning.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/data/dataset.h"
#include "engine/settings/fields.h"
#include "engine/settings/run_length.h"
#include "tests/support/thrown.h"

#include <QtTest>

#include <cmath>
#include <limits>
#include <set>

namespace tst_fields {

using namespace halfscope;
using namespace std::string_literals;

namespace {

template <class Action>
QByteArray errorOf(const Action& action) {
    return QByteArray::fromStdString(thrownBy<InputError>(action));
}

/// Returns allowed values that differ from each other: ends of the range, and values that need all
/// digits.
std::vector<FieldValue> valuesOf(const Field& field) {
    std::vector<FieldValue> values;
    switch (field.kind) {
    case FieldKind::Bool: return {true, false};
    case FieldKind::Integer:
        values = {static_cast<int64_t>(field.minimum)};
        values.emplace_back(field.maximum > 9e18 ? std::numeric_limits<int64_t>::max()
                                                 : static_cast<int64_t>(field.maximum));
        return values;
    case FieldKind::Real: {
        const double third = field.minimum + (std::min(field.maximum, 1000.0) - field.minimum) / 3;
        values = {third, std::nextafter(third, field.maximum)};
        if (!field.exclusiveMinimum) values.emplace_back(field.minimum);
        if (!field.exclusiveMaximum) values.emplace_back(field.maximum);
        return values;
    }
    case FieldKind::Choice: return {field.choices.begin(), field.choices.end()};
    case FieldKind::Path: return {std::string("a/b \"c\".png"), std::string("/\xC3\xBC.jpg")};
    case FieldKind::Text:
        if (field.key == "precision.layers")
            return {std::string("layer 1=float32, x=bfloat16"), std::string()};
        if (field.key == "model.layers" || field.key == "model.critic")
            return {std::string("Sequential( # \xC3\xBC\n\tLinear(2, 1))"), std::string()};
        if (field.key == "data.mean" || field.key == "data.std")
            return {std::string("0.5, 1,2e-3"), std::string("auto"), std::string()};
        if (field.key == "schedule.milestones")
            return {std::string("7"), std::string("1, 20, 10000000")};
        if (field.key == "task.class_weights")
            return {std::string("0.5, 1,2e-3"), std::string("balanced"), std::string()};
        return {std::string("cuda:3"), std::string("cpu")};
    }
    return values;
}

} // namespace

class TestFields : public QObject {
    Q_OBJECT

private slots:
    void tableIsWhole();
    void settingsOfDataSets();
    void roundTrip_data();
    void roundTrip();
    void everythingAtOnce();
    void limits_data();
    void limits();
    void settings();
    void wrongSettings_data();
    void wrongSettings();
    void wrongTexts();
    void absurdValues();
    void severalFields();
    void forksAndEdits();
    void stepsOfEpochs();
    void presetsAreValid();
    void presetNames();
    void lanes();
    void numbers_data();
    void numbers();
};

void TestFields::tableIsWhole() {
    std::set<std::string> keys;
    for (const Field& field : fieldTable()) {
        QVERIFY2(keys.insert(field.key).second, field.key.c_str());
        QVERIFY2(!field.group.empty() && !field.label.empty() && field.help.english().size() > 20,
                 field.key.c_str());
        QVERIFY2(field.get && field.set && field.applies, field.key.c_str());
        QCOMPARE(field.kind == FieldKind::Choice, !field.choices.empty());
        if (!field.meanings.empty()) QCOMPARE(field.meanings.size(), field.choices.size());
        for (size_t i = 0; i < field.meanings.size(); ++i)
            QVERIFY2(field.meanings[i].english().starts_with(field.choices[i] + ": "),
                     field.key.c_str());
        if (field.kind == FieldKind::Integer || field.kind == FieldKind::Real) {
            QVERIFY2(field.minimum < field.maximum, field.key.c_str());
        }
        const RunConfig config = defaultConfig();
        checkValue(field, field.get(config, 0));
        QCOMPARE(findField(field.key), &field);
        const bool between = field.key == "data.y"; // "data.yx" is as near to data.x
        QCOMPARE(nearestKey(field.key + "x"), between ? "data.x" : field.key);
    }
    QCOMPARE(keys.size(), fieldTable().size());
    const std::set<std::string> live{"run.epochs",
                                     "optimizer.beta1",
                                     "optimizer.beta2",
                                     "optimizer.eps",
                                     "optimizer.weight_decay",
                                     "optimizer.momentum",
                                     "optimizer.dampening",
                                     "optimizer.alpha",
                                     "optimizer.second_lr",
                                     "gradients.clip_limit",
                                     "gradients.penalty",
                                     "gradients.penalty_eps",
                                     "optimizer.lr",
                                     "run.steps",
                                     "run.pace",
                                     "run.patience",
                                     "scaler.growth_factor",
                                     "scaler.backoff_factor",
                                     "scaler.growth_interval",
                                     "scaler.growth_test",
                                     "scaler.growth_delay",
                                     "scaler.clamp",
                                     "scaler.ceiling",
                                     "scaler.floor",
                                     "scaler.at_floor",
                                     "scaler.hysteresis",
                                     "scaler.refill",
                                     "scaler.tolerance",
                                     "scaler.preset",
                                     "scaler.mode",
                                     "scaler.on_overflow",
                                     "scaler.check_unscaled",
                                     "scaler.hold_schedule"};
    for (const Field& field : fieldTable()) {
        QCOMPARE(field.effect == FieldEffect::Live, live.contains(field.key));
        QCOMPARE(field.apply != FieldApply::Nothing, live.contains(field.key));
    }
}

/// The settings that a data set's row names are in the table and apply to that data set.
void TestFields::settingsOfDataSets() {
    for (const DataSetInfo& info : dataSets()) {
        RunConfig config;
        applySetting(config, std::string("data.kind=") + info.name);
        for (const std::string_view setting : info.settings) {
            if (setting.empty()) continue;
            const bool stratifies = setting == "data.stratify";
            config.task.held = stratifies ? Held::Random : Held::Last; // else there is no gap
            config.task.loss.kind = stratifies ? LossKind::CrossEntropy : LossKind::Mse;
            config.task.xVal = setting == "data.y_val" ? "own.npy" : "";
            config.task.xTest = setting == "data.y_test" ? "own.npy" : "";
            const std::string row = std::string(info.name) + ": " + std::string(setting);
            const Field* field = findField(setting);
            QVERIFY2(field, row.c_str());
            QVERIFY2(field->applies(config, 0), row.c_str());
        }
    }
}

void TestFields::roundTrip_data() {
    QTest::addColumn<QByteArray>("key");
    for (const Field& field : fieldTable()) {
        QTest::newRow(field.key.c_str()) << QByteArray::fromStdString(field.key);
    }
}

void TestFields::roundTrip() {
    QFETCH(const QByteArray, key);
    const Field& field = *findField(key.toStdString());
    for (const FieldValue& value : valuesOf(field)) {
        RunConfig config = defaultConfig();
        if (value == FieldValue(std::string("cross-entropy")))
            config.task.kind = TaskKind::Mnist; // it has classes
        if (value == FieldValue(std::string("plateau")))
            config.task.kind = TaskKind::Csv; // it has samples to validate on
        config.task.samples = 1'000'000;      // any batch fits
        if (field.key == "task.samples") config.task.batch = 1;
        const int lane = field.scope == FieldScope::Lane ? 1 : -1;
        if (field.key == "scaler.preset" && value == FieldValue(std::string("custom")))
            config.lanes[1].scaler.rules.hysteresis = 3; // no preset has it
        if (field.key == "scaler.floor")
            config.lanes[1].scaler.initScale = std::max(1.0, std::get<double>(value));
        if (field.key == "scaler.ceiling") config.lanes[1].scaler.initScale = 1;
        if (field.key == "precision") config.lanes[1].policyFile = "p.json"; // what user needs
        if (field.key == "precision.master_weights" || field.key == "precision.keep_batchnorm_fp32")
            config.lanes[1] = defaultLane(Precision::ApexO2);
        setField(config, lane, field.key, value);
        QVERIFY2(field.get(config, lane) == value, valueText(value).c_str());
        // From text, as on the command line and in the window.
        QVERIFY2(parseValue(field, valueText(value)) == value, valueText(value).c_str());
        // From a file, bit for bit, and the file's text is the same again.
        const std::string text = configText(config);
        const RunConfig back = parseConfig(text, "f.json");
        QVERIFY2(field.get(back, lane) == value, text.c_str());
        QCOMPARE(configText(back), text);
        if (field.scope == FieldScope::Lane) {
            QVERIFY2(field.get(back, 0) == field.get(defaultConfig(), 0), "the other lane changed");
        }
    }
}

void TestFields::everythingAtOnce() {
    RunConfig config = defaultConfig();
    config.title = "\xC3\x9C"
                   "ber \"alles\"";
    for (const Field& field : fieldTable()) {
        if (field.key == "task.batch") continue;        // at most the number of samples
        if (field.key == "task.loss") continue;         // follows the task
        if (field.key == "gradients.penalty") continue; // not together with a critic
        std::vector<FieldValue> values = valuesOf(field);
        if (field.key == "data.kind") values = {std::string("generate")}; // numbers for a critic
        if (field.key == "precision") values = {std::string("apex-o2")};  // has the most of its own
        if (field.key == "schedule.kind") values.pop_back(); // a critic is not validated
        setField(config, field.scope == FieldScope::Lane ? 1 : -1, field.key, values.back());
    }
    config.task.samples = 10'000'000;
    config.epochs = 4; // not as many as fewer samples would allow
    const RunConfig back = parseConfig(configText(config), "f.json");
    QCOMPARE(back.title, config.title);
    QCOMPARE(configText(back), configText(config));
    for (const Field& field : fieldTable()) {
        for (int lane = 0; lane < 2; ++lane) {
            QVERIFY2(field.get(back, lane) == field.get(config, lane), field.key.c_str());
        }
    }
}

void TestFields::limits_data() { roundTrip_data(); }

void TestFields::limits() {
    QFETCH(const QByteArray, key);
    const Field& field = *findField(key.toStdString());
    std::vector<FieldValue> wrong{std::string("no such word \n"), true};
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    switch (field.kind) {
    case FieldKind::Integer:
        wrong.emplace_back(static_cast<int64_t>(field.minimum) - 1);
        if (field.maximum < 9e18) wrong.emplace_back(static_cast<int64_t>(field.maximum) + 1);
        wrong.insert(wrong.end(), {field.minimum + 0.5, 1e300, kInfinity, std::nan("")});
        break;
    case FieldKind::Real:
        if (field.exclusiveMinimum) wrong.emplace_back(field.minimum);
        if (field.exclusiveMaximum) wrong.emplace_back(field.maximum);
        wrong.emplace_back(std::nextafter(field.minimum, -kInfinity));
        wrong.emplace_back(std::nextafter(field.maximum, kInfinity));
        wrong.insert(wrong.end(), {kInfinity, -kInfinity, std::nan("")});
        break;
    case FieldKind::Choice: wrong.insert(wrong.end(), {std::string(), int64_t{0}}); break;
    case FieldKind::Path:
    case FieldKind::Text:
        wrong.insert(wrong.end(), {int64_t{1}, 0.5, std::string("\xFF"), std::string("a\0b", 3),
                                   std::string(5000, 'a')});
        break;
    case FieldKind::Bool: wrong.erase(wrong.begin() + 1); break;
    }
    for (const FieldValue& value : wrong) {
        RunConfig config = defaultConfig();
        const QByteArray error = errorOf([&] { setField(config, -1, field.key, value); });
        QVERIFY2(!error.contains('\n') && error.size() < 400, error);
        if (field.check && std::holds_alternative<std::string>(value)) { // its message says where
            const bool model = field.key == "model.layers" || field.key == "model.critic";
            QVERIFY2(error.startsWith(key + (model ? ", line 1, column " : ": ")), error);
            continue;
        }
        QVERIFY2(error.startsWith(key + ": "), valueText(value).c_str());
        QVERIFY2(error.contains(" is not allowed: "), error);
        const std::string end = allowedText(field).english();
        QVERIFY2(error.endsWith(QByteArray::fromStdString(end)) || error.endsWith("it has 5000") ||
                     error.endsWith("control characters"),
                 error);
    }
}

void TestFields::settings() {
    RunConfig config = defaultConfig();
    applySetting(config, "scaler.init_scale=1024");
    QCOMPARE(config.lanes[0].scaler.initScale, 1024.0);
    QCOMPARE(config.lanes[1].scaler.initScale, 1024.0);
    applySetting(config, " lanes.1.scaler.init_scale = 1e3 ");
    QCOMPARE(config.lanes[0].scaler.initScale, 1024.0);
    QCOMPARE(config.lanes[1].scaler.initScale, 1000.0);
    applySetting(config, "run.steps=1e3");
    QCOMPARE(config.steps, int64_t{1000});
    applySetting(config, "run.seed=9223372036854775807");
    QCOMPARE(config.seed, uint64_t{9223372036854775807U});
    applySetting(config, "task.image=a=b.png");
    QCOMPARE(config.task.image, std::string("a=b.png"));
    applySetting(config, "lanes.0.precision=amp-fp16");
    QVERIFY(config.lanes[0].scaler.rules.mode == ScalerMode::Dynamic);
}

void TestFields::wrongSettings_data() {
    QTest::addColumn<QByteArray>("setting");
    QTest::addColumn<QByteArray>("message");
    const auto row = [](const char* setting, const char* message) {
        QTest::newRow(setting) << QByteArray(setting) << QByteArray(message);
    };
    row("scaler.init_scale",
        "\"scaler.init_scale\" is not a setting: KEY=VALUE, such as scaler.init_scale=2^10");
    row("=3", "\"=3\" is not a setting: KEY=VALUE, such as scaler.init_scale=2^10");
    row("scaler.initscale=1",
        "\"scaler.initscale\" is an unknown setting; the nearest known one is scaler.init_scale");
    row("lr=1", "\"lr\" is an unknown setting; the nearest known one is optimizer.lr");
    row("scaler.init_scale=-1", "scaler.init_scale: -1 is not allowed: a number above 0 and at "
                                "most 3.4e+38, also as a power such "
                                "as 2^10");
    row("scaler.init_scale=nan", "scaler.init_scale: nan is not allowed: a number above 0 and at "
                                 "most 3.4e+38, also as a power such "
                                 "as 2^10");
    row("scaler.init_scale=1e-60",
        "scaler.init_scale: 1e-60 is not allowed: a number above 0 and at most 3.4e+38; as float32 "
        "it is 0");
    row("optimizer.beta1=0.99999999999",
        "optimizer.beta1: 0.99999999999 is not allowed: a number from 0 and below 1; as float32 it "
        "is 1");
    row("scaler.backoff_factor=1",
        "scaler.backoff_factor: 1 is not allowed: a number above 0 and below 1");
    row("scaler.hysteresis=0",
        "scaler.hysteresis: 0 is not allowed: a whole number from 1 to 1000000000");
    row("scaler.tolerance=1.5", "scaler.tolerance: 1.5 is not allowed: a number from 0 to 1");
    row("scaler.floor=-1",
        "scaler.floor: -1 is not allowed: a number from 0 to 3.4e+38, also as a power such "
        "as 2^10");
    row("scaler.at_floor=exit", "scaler.at_floor: \"exit\" is not allowed: one of continue, stop");
    row("scaler.check_unscaled=1", "scaler.check_unscaled: \"1\" is not allowed: true or false");
    row("scaler.preset=tensorflow",
        "scaler.preset: \"tensorflow\" is not allowed: one of pytorch, apex, keras, deepspeed, "
        "megatron, jmp, fairseq, static, apex-static, custom");
    row("scaler.init_scale=2^", "scaler.init_scale: \"2^\" is not allowed: a number above 0 and at "
                                "most 3.4e+38, also as a power such as 2^10");
    row("scaler.init_scale=3^2", "scaler.init_scale: \"3^2\" is not allowed: a number above 0 and "
                                 "at most 3.4e+38, also as a power such as 2^10");
    row("scaler.init_scale=2^9999", "scaler.init_scale: inf is not allowed: a number above 0 and "
                                    "at most 3.4e+38, also as a power such "
                                    "as 2^10");
    row("model.width=2^-1", "model.width: 0.5 is not allowed: a whole number from 1 to 4096");
    row("run.steps=", "run.steps: an empty value is not allowed: a whole number from 1 to "
                      "1000000000");
    row("run.steps=12x", "run.steps: \"12x\" is not allowed: a whole number from 1 to 1000000000");
    row("run.steps=99999999999999999999",
        "run.steps: 1e+20 is not allowed: a whole number from 1 to 1000000000");
    const auto milestones = [&](const char* setting, const char* text) {
        QTest::newRow(setting) << QByteArray(setting)
                               << QByteArray("schedule.milestones: \"") + text +
                                      "\" is not allowed: whole numbers from 1 to 10000000, each "
                                      "above the one before, separated by commas";
    };
    milestones("schedule.milestones=", "");
    milestones("schedule.milestones=30,", "30,");
    milestones("schedule.milestones=30, 30", "30, 30");
    milestones("schedule.milestones=0, 30", "0, 30");
    milestones("schedule.milestones=30, 10000001", "30, 10000001");
    milestones("schedule.milestones=[30, 80]", "[30, 80]");
    milestones("schedule.milestones=1.5", "1.5");
    row("lanes.2.scaler.mode=off", "lanes.2: there is no such lane: 0 to 1");
    for (const std::string key : {"lanes", "lanes.x.scaler.mode", "lanes.1", "lanes.1.",
                                  "lanes[1].scaler.mode", "lanes.-1.scaler.mode"})
        row((key + "=off").c_str(), ("\"" + key +
                                     "\" is not a lane's setting: lanes.INDEX.KEY, "
                                     "such as lanes.1.scaler.init_scale")
                                        .c_str());
    row("lanes.1.run.steps=3",
        "run.steps belongs to the whole run, not to a lane: set run.steps=VALUE");
}

void TestFields::wrongSettings() {
    QFETCH(const QByteArray, setting);
    QFETCH(const QByteArray, message);
    RunConfig config = defaultConfig();
    QCOMPARE(errorOf([&] { applySetting(config, setting.toStdString()); }), message);
    QCOMPARE(configText(config), configText(defaultConfig()));
}

/// What is wrong with a text is told, not what all texts are.
void TestFields::wrongTexts() {
    const auto refused = [](const std::string& setting) {
        return errorOf([&] { parseAssignment(setting); });
    };
    QCOMPARE(refused("data.target=" + std::string(4096, 'q')), QByteArray("nothing thrown"));
    for (const char* key : {"data.target=", "data.path="})
        QVERIFY(refused(key + std::string(4097, 'q'))
                    .endsWith(" is not allowed: at most 4096 bytes; it has 4097"));
    QVERIFY(refused("data.path=a\nb.csv")
                .endsWith("allowed: text without line breaks and other control characters"));
    QVERIFY(refused("data.path=a\xFF").endsWith("allowed: a path in plain UTF-8, or nothing"));
}

/// Two forks may begin at the same step. An edit is of a lane that is there when it is made.
void TestFields::forksAndEdits() {
    RunConfig config = defaultConfig();
    config.forks = {{5, 0, 0, defaultLane(Precision::AmpFp16)},
                    {5, 2, 0, defaultLane(Precision::AmpFp16)}};
    config.edits = {{5, 3, "scaler.growth_interval", int64_t{100}}};
    checkConfig(config);
    config.forks[1].afterEdits = 1;
    QCOMPARE(errorOf([&] { checkConfig(config); }),
             QByteArray("edits.0.lane: 3 is not allowed: a lane that is there, 0 to 2, or none for "
                        "all"));
    config.edits[0].lane = 2;
    checkConfig(config);
    config.forks[1].step = 4;
    QVERIFY(errorOf([&] { checkConfig(config); }).startsWith("forks.1.step: 4 is not allowed"));
    config = defaultConfig(); // a double this large stands for many whole numbers
    QVERIFY_THROWS_EXCEPTION(InputError, setField(config, -1, "run.seed", 0x1p60));
}

void TestFields::stepsOfEpochs() {
    const Field& steps = *findField("run.steps");
    const auto stepsIn = [&](const RunConfig& of) { return std::get<int64_t>(steps.get(of, -1)); };
    RunConfig config = presetNamed("regression").config;
    QCOMPARE(config.epochs, int64_t{10});
    QCOMPARE(stepsOf(config), int64_t{1570}); // 10,000 samples in batches of 64
    QCOMPARE(stepsIn(config), int64_t{1570});
    QCOMPARE(stepsOf(parseConfig(configText(config), "f.json")), int64_t{1570});
    setField(config, -1, "task.batch", int64_t{5000});
    QCOMPARE(stepsIn(config), int64_t{20});
    setField(config, -1, "run.steps", int64_t{300});
    QCOMPARE(config.epochs, int64_t{0});
    QCOMPARE(stepsIn(config), int64_t{300});
    setField(config, -1, "run.epochs", int64_t{4});
    QCOMPARE(stepsIn(config), int64_t{8});
    setField(config, -1, "run.steps", int64_t{1});
    QCOMPARE(scheduleOf(config).totalSteps, int64_t{2}); // its end differs from its start
    config.task.batch = 20000;
    config.data.lastBatch = LastBatch::Drop; // no batch at all: refused, but can be examined
    QCOMPARE(stepsIn(config), int64_t{1});
    QVERIFY_THROWS_EXCEPTION(InputError, checkConfig(config));
}

/// Whatever stands where a value should, it is taken as one that is allowed, or refused in a short
/// line about its key; in a file, the line begins with the file's name.
void TestFields::absurdValues() {
    const std::string huge(1'000'000, 'x'), digits(100'000, '9');
    const std::vector<std::string> texts{
        "",    "nan", "-inf", "-1",   "1e400", "-1e-400", "0x10", "99999999999999999999",
        "1 2", "\n",  "true", "\xFF", "a\0b"s, huge,      digits, "2^-99999"};
    const std::vector<std::string> json{"null", "[1]",  R"({"a":1})", "-1",    "1e308",
                                        "true", "-0.5", R"("nan")",   R"("")", '"' + huge + '"'};
    const auto isShort = [](const QByteArray& line, const std::string& start) {
        const QByteArray next = line.mid(static_cast<qsizetype>(start.size()), 1);
        return line.startsWith(start.c_str()) && (next == ":" || next == ",") &&
               line.size() < 1000 && !line.contains('\n');
    };
    for (const Field& field : fieldTable()) {
        for (const std::string& text : texts) {
            try {
                checkValue(field, parseValue(field, text));
            } catch (const InputError& error) {
                QVERIFY2(isShort(error.what(), field.key), error.what());
            }
        }
        const bool lane = field.scope == FieldScope::Lane;
        const size_t dot = field.key.find('.');
        const bool flat = field.key.starts_with("precision");
        const std::string group = field.key.substr(0, dot), name = field.key.substr(dot + 1);
        for (const std::string& value : json) {
            std::string entry = flat ? '"' + field.key + "\":" + value
                                     : '"' + group + "\":{\"" + name + "\":" + value + '}';
            if (lane && field.key != "precision") entry = R"("precision":"amp-fp16",)" + entry;
            if (lane) entry = "\"lanes\":[{" + entry + "}]";
            try {
                parseConfig("{\"version\":1," + entry + '}', "e.json");
            } catch (const InputError& error) {
                const std::string key = (lane ? "lanes.0." : "") + field.key;
                QVERIFY2(isShort(error.what(), "e.json: " + key), error.what());
            }
        }
    }
}

void TestFields::severalFields() {
    RunConfig config = defaultConfig();
    config.lanes.clear();
    QCOMPARE(errorOf([&] { checkConfig(config); }),
             QByteArray("lanes: 0 lanes are not allowed: 1 to 6"));
    config.lanes.assign(7, defaultLane(Precision::Fp32));
    QCOMPARE(errorOf([&] { checkConfig(config); }),
             QByteArray("lanes: 7 lanes are not allowed: 1 to 6"));
    config.lanes.resize(6);
    checkConfig(config);
    config.lanes[5].scaler.rules.growthInterval = 0; // bypasses the table, as code can
    QVERIFY(errorOf([&] { checkConfig(config); }).startsWith("scaler.growth_interval: 0 is not"));
    config = defaultConfig();
    config.lanes[1].scaler.rules.floor = 65537;
    QCOMPARE(errorOf([&] { checkConfig(config); }),
             QByteArray("lanes.1.scaler.init_scale: 65536 is not allowed: at least scaler.floor, "
                        "65537"));
    config.lanes[1].scaler.rules.floor = 1;
    config.lanes[1].scaler.rules.ceiling = 1024;
    QCOMPARE(errorOf([&] { checkConfig(config); }),
             QByteArray("lanes.1.scaler.init_scale: 65536 is not allowed: at most scaler.ceiling, "
                        "1024"));
    config.lanes[1].scaler.rules.floor = 2048; // whatever the first scale is
    for (const double scale : {1.0, 65536.0}) {
        config.lanes[1].scaler.initScale = scale;
        QVERIFY(errorOf([&] {
                    checkConfig(config);
                }).endsWith("floor: 2048 is not allowed: at most 1024, scaler.ceiling"));
    }
    config.lanes[1].scaler.rules.mode = ScalerMode::Static; // it does not use guards
    checkConfig(config);
    config = defaultConfig();
    config.schedule.kind = ScheduleKind::OneCycle;
    config.schedule.cycleMomentum = true;
    config.second.kind = OptimizerKind::Adadelta; // there is no second network
    checkConfig(config);
    config.optimizer.kind = OptimizerKind::Adagrad;
    QCOMPARE(errorOf([&] { checkConfig(config); }),
             QByteArray("schedule.cycle_momentum: true is not allowed with optimizer.kind adagrad, "
                        "which has no momentum: only false is"));
    config = defaultConfig();
    config.task.batch = 1;
    checkConfig(config); // a checkerboard has no batch
    config.task.kind = TaskKind::Regression;
    QVERIFY(errorOf([&] { checkConfig(config); }).startsWith("task.batch: 1 is not allowed with"));
}

void TestFields::presetsAreValid() {
    std::set<std::string> names, titles, groups;
    std::string group;
    for (const Preset& preset : presets()) {
        QVERIFY2(names.insert(preset.name).second, preset.name.c_str());
        QVERIFY2(titles.insert(preset.title.text()).second, preset.title.text());
        QVERIFY(!preset.group.empty() && !preset.title.empty() && !preset.about.empty());
        // presets of a group stand together
        QVERIFY2(preset.group.text() == group || groups.insert(preset.group.text()).second,
                 preset.name.c_str());
        group = preset.group.text();
        QCOMPARE(preset.config.title, std::string(preset.titleHere().text()));
        checkConfig(preset.config);
        const std::string text = configText(preset.config);
        QCOMPARE(configText(parseConfig(text, preset.name)), text);
    }
    QCOMPARE(presets().front().name, std::string("checkerboard"));
}

void TestFields::presetNames() {
    QCOMPARE(presetNamed("overflow").config.lanes[1].scaler.initScale, 16777216.0);
    QCOMPARE(errorOf([] { presetNamed("Chekerboard"); }),
             QByteArray("\"Chekerboard\" is not a preset; the nearest one is checkerboard"));
}

void TestFields::lanes() {
    const std::vector<LaneConfig> lanes = parseLanes("fp32, amp-fp16,fp16");
    QCOMPARE(lanes.size(), size_t{3});
    QVERIFY(lanes[1].precision == Precision::AmpFp16);
    QVERIFY(lanes[1].scaler.rules.mode == ScalerMode::Dynamic);
    QVERIFY(lanes[2].scaler.rules.mode == ScalerMode::Off);
    for (const char* wrong : {"", "fp32;fp16", "amp"}) {
        const QByteArray error = errorOf([&] { parseLanes(wrong); });
        QVERIFY2(error.startsWith("precision: ") && error.contains("one of fp32, amp-fp16"), error);
    }
}

void TestFields::numbers_data() {
    QTest::addColumn<double>("number");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("tenth") << 0.1 << QByteArray("0.1");
    QTest::newRow("needs 17 digits") << 0.1 + 0.2 << QByteArray("0.30000000000000004");
    QTest::newRow("whole") << 65536.0 << QByteArray("65536");
    QTest::newRow("minus zero") << -0.0 << QByteArray("-0");
    QTest::newRow("smallest") << 5e-324 << QByteArray("5e-324");
    QTest::newRow("inf") << -HUGE_VAL << QByteArray("-inf");
    QTest::newRow("nan") << -std::nan("") << QByteArray("nan");
}

void TestFields::numbers() {
    QFETCH(const double, number);
    QFETCH(const QByteArray, text);
    QCOMPARE(numberText(number), text.toStdString());
    // The same under a locale with a decimal comma, in files, too.
    RunConfig config = defaultConfig();
    config.optimizer.lr = 0.1 + 0.2;
    const std::string before = configText(config);
    for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8"}) {
        if (!std::setlocale(LC_ALL, locale)) continue;
        QCOMPARE(numberText(number), text.toStdString());
        QCOMPARE(configText(config), before);
        QCOMPARE(configText(parseConfig(before, "f.json")), before);
    }
    std::setlocale(LC_ALL, "C");
}

} // namespace tst_fields

QTEST_GUILESS_MAIN(tst_fields::TestFields)
#include "tst_fields.moc"
