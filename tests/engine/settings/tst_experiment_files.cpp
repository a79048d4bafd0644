// Experiment files: every kind of mistake gets its one line, whatever bytes a file holds; what
// absent keys and presets mean. Values of fields are in tst_fields.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "engine/settings/fields.h"
#include "tests/support/processor_time.h"
#include "tests/support/thrown.h"
#include "tests/support/under_sanitizer.h"

#include <QtTest>

#include <nlohmann/json.hpp>

#include <random>

namespace tst_experiment_files {

using namespace halfscope;

namespace {

constexpr int kSlower = test::kUnderSanitizer ? 20 : 1;

RunConfig parsed(const QByteArray& json) {
    return parseConfig({json.data(), static_cast<size_t>(json.size())}, "f.json");
}

QByteArray parseError(const QByteArray& json) {
    return QByteArray::fromStdString(thrownBy<InputError>([&] { parsed(json); }));
}

bool isOneLine(const std::string& text) {
    return isAbout(text, "f.json", "") && text.size() < 1000;
}

using Json = nlohmann::ordered_json;

/// Collects every value below a node, lists and objects, too.
void collect(Json& node, std::vector<Json*>& to) {
    for (Json& value : node) {
        to.push_back(&value);
        if (value.is_structured()) collect(value, to);
    }
}

} // namespace

class TestExperimentFiles : public QObject {
    Q_OBJECT

private slots:
    void mistakes_data();
    void mistakes();
    void everyTruncationIsRefused();
    void changedBytes();
    void changedValues_data();
    void changedValues();
    void deepNestingIsRefused();
    void manyKeysAreRefused();
    void longListsTakeLinearTime_data();
    void longListsTakeLinearTime();
    void sizesAreLimited();
    void manyEditsAreRead();
    void textAfterNulIsRefused();
    void readingCanBeCancelled();
    void laneDefaults();
    void scalerPresets();
    void unreadableFile();
    void relativePictures();
};

void TestExperimentFiles::mistakes_data() {
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QByteArray>("message");
    const auto row = [](const char* name, const char* json, const std::string& message) {
        QTest::newRow(name) << QByteArray(json) << "f.json: " + QByteArray::fromStdString(message);
    };
    const std::string precisions = allowedText(*findField("precision")).english();
    row("empty file", "", "the file is empty");
    row("only spaces", " \n\t", "the file is empty");
    row("truncated", "{\"version\": 1,\n \"task\": {\"side\": 6",
        "line 2, column 20: not valid JSON: unexpected end of input; expected '}'");
    row("comma", "{\"version\": 1,\n}",
        "line 2, column 1: not valid JSON: unexpected '}'; expected string literal");
    row("bad UTF-8", "{\"version\": 1, \"title\": \"\xFF\"}",
        "line 1, column 26: not valid JSON: invalid string: ill-formed UTF-8 byte");
    row("bad UTF-8 after the library's word", "{\"a; expected b\xFF\"}",
        "line 1, column 16: not valid JSON: invalid string: ill-formed UTF-8 byte; expected string "
        "literal");
    row("number too large", "{\"version\": 1, \"optimizer\": {\"lr\": 1e999}}",
        "optimizer.lr: \"1e999\" is a number that is too large");
    row("number too large in a list", "{\"version\": 1, \"lanes\": [{\"scaler\": [1e999]}]}",
        "lanes.0.scaler: \"1e999\" is a number that is too large");
    row("number too large in a lane",
        "{\"version\": 1, \"lanes\": [{}, {\"scaler\": {\"init_scale\": 1e400}}]}",
        "lanes.1.scaler.init_scale: \"1e400\" is a number that is too large");
    row("number too large at the root", ("[1" + QByteArray(400, '0') + "]").constData(),
        "\"1" + std::string(199, '0') + "...\" is a number that is too large");
    row("empty key", "{\"version\": 1, \"\": 1}",
        "\"\": unknown key; there are: version, title, lanes, forks, edits, data, task, "
        "validation, model, optimizer, schedule, gradients, run");
    row("empty key in a section", "{\"version\": 1, \"task\": {\"\": 1}}",
        "\"task.\": unknown key; the nearest known one is task.side");
    row("nan is no JSON", "{\"version\": 1, \"optimizer\": {\"lr\": nan}}",
        "line 1, column 37: not valid JSON: invalid literal");
    row("a list", "[1]",
        "a list is not an experiment: it must be an object with version, task, model, optimizer, "
        "schedule, gradients, run and lanes");
    row("no version", "{\"x\": [1, 2]}",
        "this is not an experiment of Halfscope: its version is missing; it must be 1");
    row("newer version", "{\"version\": 2}",
        "version: 2 is not allowed: 1, the version that this program reads");
    row("version as text", "{\"version\": \"1\"}",
        "version: \"1\" is not allowed: 1, the version that this program reads");
    row("unknown section", "{\"version\": 1, \"optimiser\": {}}",
        "optimiser: unknown key; the nearest known one is optimizer");
    row("unknown key", "{\"version\": 1, \"task\": {\"sides\": 64}}",
        "task.sides: unknown key; the nearest known one is task.side");
    row("key of another section", "{\"version\": 1, \"run\": {\"lr\": 1}}",
        "run.lr: unknown key; the nearest known one is optimizer.lr");
    row("lane section in the root", "{\"version\": 1, \"scaler\": {}}",
        "scaler: not allowed here: it belongs in the objects of lanes");
    row("section of wrong type", "{\"version\": 1, \"task\": 3}",
        "task: 3 is not allowed: an object with keys of task");
    row("text for a number", "{\"version\": 1, \"task\": {\"side\": \"64\"}}",
        "task.side: \"64\" is not allowed: a whole number from 2 to 4096");
    row("null", "{\"version\": 1, \"task\": {\"side\": null}}",
        "task.side: null is not allowed: a whole number from 2 to 4096");
    row("list for a number", "{\"version\": 1, \"task\": {\"side\": [64]}}",
        "task.side: a list is not allowed: a whole number from 2 to 4096");
    row("half a pixel", "{\"version\": 1, \"task\": {\"side\": 64.5}}",
        "task.side: 64.5 is not allowed: a whole number from 2 to 4096");
    row("too small", "{\"version\": 1, \"task\": {\"side\": 1}}",
        "task.side: 1 is not allowed: a whole number from 2 to 4096");
    row("above 64 bits", "{\"version\": 1, \"run\": {\"seed\": 9223372036854775808}}",
        "run.seed: 9223372036854775808 is not allowed: a whole number from 0 to "
        "9223372036854775807");
    row("unknown choice", "{\"version\": 1, \"model\": {\"norm\": \"Batch\"}}",
        "model.norm: \"Batch\" is not allowed: one of none, batch, layer");
    row("more devices than lanes", "{\"version\": 1, \"run\": {\"device\": \"cpu,cpu,cuda:1\"}}",
        "run.device: \"cpu,cpu,cuda:1\" is not allowed: 3 devices for 2 lanes");
    row("unknown device", "{\"version\": 1, \"run\": {\"device\": \"gpu\"}}",
        "run.device: \"gpu\" is not allowed: auto, cpu, cuda or cuda:INDEX, or one for each "
        "lane with commas between");
    for (const char* device : {"", ",", "cpu,", ",cpu", "auto,cpu", "cpu,auto", "cuda,,cpu",
                               "cuda:", "cuda:0;cuda:1", "cuda:0, cuda:1"})
        row((std::string("devices ") + device).c_str(),
            (std::string("{\"version\": 1, \"run\": {\"device\": \"") + device + "\"}}").c_str(),
            (std::string("run.device: \"") + device +
             "\" is not allowed: auto, cpu, cuda or cuda:INDEX, or one for each "
             "lane with commas between")
                .c_str());
    row("twice", "{\"version\": 1, \"task\": {\"side\": 8, \"side\": 9}}",
        "task.side: the key occurs twice in the same object");
    row("twice in a lane",
        "{\"version\": 1, \"lanes\": [{\"precision\": \"fp32\", \"precision\": \"fp16\"}]}",
        "lanes.0.precision: the key occurs twice in the same object");
    row("title too long or not one line", "{\"version\": 1, \"title\": \"a\\nb\"}",
        "title: \"a\\nb\" is not allowed: one line of text, at most 200 bytes");
    row("no lanes", "{\"version\": 1, \"lanes\": []}", "lanes: 0 lanes are not allowed: 1 to 6");
    row("seven lanes", "{\"version\": 1, \"lanes\": [1,2,3,4,5,6,7]}",
        "lanes: 7 lanes are not allowed: 1 to 6");
    row("lanes of wrong type", "{\"version\": 1, \"lanes\": \"fp32\"}",
        "lanes: \"fp32\" is not allowed: a list of 1 to 6 lanes");
    row("lane of wrong type", "{\"version\": 1, \"lanes\": [\"fp32\"]}",
        "lanes.0: \"fp32\" is not allowed: an object such as {\"precision\": \"fp32\"}");
    row("lane without precision", "{\"version\": 1, \"lanes\": [{}]}",
        "lanes.0.precision: missing; it must be " + precisions);
    row("wrong precision", "{\"version\": 1, \"lanes\": [{\"precision\": \"fp4\"}]}",
        "lanes.0.precision: \"fp4\" is not allowed: " + precisions);
    row("unknown key in a lane",
        "{\"version\": 1, \"lanes\": [{\"precision\": \"fp32\", \"scalar\": {}}]}",
        "lanes.0.scalar: unknown key; the nearest known one is scaler");
    row("wrong value in a lane",
        "{\"version\": 1, \"lanes\": [{\"precision\": \"fp32\"}, {\"precision\": \"amp-fp16\", "
        "\"scaler\": {\"init_scale\": -1}}]}",
        "lanes.1.scaler.init_scale: -1 is not allowed: a number above 0 and at most 3.4e+38");
    row("a number that devices round to the end of its range",
        "{\"version\": 1, \"optimizer\": {\"beta1\": 0.99999999999}}",
        "optimizer.beta1: 0.99999999999 is not allowed: a number from 0 and below 1; as float32 it "
        "is 1");
    row("unknown scaler key",
        "{\"version\": 1, \"lanes\": [{\"precision\": \"fp32\", \"scaler\": {\"growth_intervall\": "
        "1}}]}",
        "lanes.0.scaler.growth_intervall: unknown key; the nearest known one is "
        "scaler.growth_interval");
    row("batch above samples",
        "{\"version\": 1, \"task\": {\"kind\": \"regression\", \"samples\": 8, \"batch\": 9}}",
        "task.batch: 9 is not allowed: at most task.samples, 8");
}

void TestExperimentFiles::mistakes() {
    QFETCH(const QByteArray, json);
    QFETCH(const QByteArray, message);
    QCOMPARE(parseError(json), message);
}

void TestExperimentFiles::everyTruncationIsRefused() {
    const QByteArray whole = QByteArray::fromStdString(configText(defaultConfig())).trimmed();
    parsed(whole);
    for (qsizetype length = 0; length < whole.size(); ++length) {
        const QByteArray error = parseError(whole.left(length));
        QVERIFY2(error.startsWith("f.json: ") && !error.contains('\n'), QByteArray::number(length));
    }
}

void TestExperimentFiles::changedBytes() {
    // Whatever a file holds gives a configuration that can be written again, or one line.
    const QByteArray whole = QByteArray::fromStdString(configText(defaultConfig()));
    for (qsizetype at = 0; at < whole.size(); ++at) {
        for (const char byte : {'\0', '"', '{', '}', ',', '9', '-', '.', '\\', '\xFF'}) {
            QByteArray json = whole;
            json[at] = byte;
            try {
                QVERIFY(!configText(parsed(json)).empty());
            } catch (const InputError& error) {
                QVERIFY2(isOneLine(error.what()), error.what());
            }
        }
    }
}

void TestExperimentFiles::changedValues_data() {
    QTest::addColumn<QByteArray>("name");
    for (const Preset& preset : presets())
        QTest::newRow(preset.name.c_str()) << QByteArray::fromStdString(preset.name);
}

/// Values and keys of a whole file are changed at random: what is accepted is written again
/// unchanged, and what is not gets one line that begins with a place in the file.
void TestExperimentFiles::changedValues() {
    QFETCH(const QByteArray, name);
    const Json whole = Json::parse(configText(presetNamed(name.toStdString()).config));
    const Json odd[] = {nullptr,
                        true,
                        0,
                        -1,
                        2,
                        0.5,
                        -0.0,
                        65504,
                        1e308,
                        -1e308,
                        1e-320,
                        3e38,
                        1u << 31,
                        INT64_MAX,
                        UINT64_MAX,
                        "",
                        "x",
                        "adam",
                        "\u00fc",
                        "\n",
                        Json::array(),
                        Json::object(),
                        {1, 2},
                        std::string(5000, 'a')};
    std::mt19937 random(20); // the standard defines its numbers
    const auto below = [&](size_t n) { return random() % n; };
    int taken = 0, refused = 0;
    for (int round = 0; round < 600; ++round) {
        Json file = whole;
        for (size_t changes = 1 + below(2); changes > 0; --changes) {
            std::vector<Json*> values;
            collect(file, values);
            Json& at = *values[below(values.size())];
            if (at.is_object() && !at.empty() && below(2) == 0)
                at[std::string("x").substr(below(2))] = 1; // a key of no field
            else
                at = odd[below(std::size(odd))];
        }
        const QByteArray json = QByteArray::fromStdString(file.dump());
        try {
            const std::string text = configText(parsed(json));
            QCOMPARE(configText(parseConfig(text, "again")), text);
            ++taken;
        } catch (const InputError& error) {
            QVERIFY2(isOneLine(error.what()), error.what());
            ++refused;
        }
    }
    QVERIFY2(taken > 5 && refused > 5, "both happen");
}

void TestExperimentFiles::deepNestingIsRefused() {
    for (const char* open : {"[", "{\"a\":"}) {
        const QByteArray json = QByteArray(open).repeated(1'000'000);
        QCOMPARE(parseError(json), QByteArray("f.json: nested deeper than 8 levels"));
    }
}

/// Each key is searched among those before it, which took minutes for a hundred thousand.
void TestExperimentFiles::manyKeysAreRefused() {
    QByteArray json = "{\"version\": 1";
    for (int i = 0; i < 200'000; ++i)
        json += ", \"k" + QByteArray::number(i) + "\": 1";
    QCOMPARE(parseError(json + "}"), QByteArray("f.json: k999: more than 1000 keys in one object"));
}

void TestExperimentFiles::longListsTakeLinearTime_data() {
    QTest::addColumn<QByteArray>("start");
    QTest::addColumn<QByteArray>("entry");
    QTest::addColumn<QByteArray>("message");
    QTest::newRow("lanes") << QByteArray("{\"version\":1,\"lanes\":[") << QByteArray("{}")
                           << QByteArray("lanes are not allowed: 1 to 6");
    QTest::newRow("lanes with keys")
        << QByteArray("{\"version\":1,\"lanes\":[") << QByteArray("{\"precision\":\"fp32\"}")
        << QByteArray("lanes are not allowed: 1 to 6");
    QTest::newRow("lists") << QByteArray("{\"version\":1,\"lanes\":[") << QByteArray("[]")
                           << QByteArray("lanes are not allowed: 1 to 6");
    QTest::newRow("forks") << QByteArray("{\"version\":1,\"forks\":[") << QByteArray("{}")
                           << QByteArray("entries is not allowed: at most 5");
    QTest::newRow("edits") << QByteArray("{\"version\":1,\"edits\":[") << QByteArray("{}")
                           << QByteArray("entries is not allowed: at most 100000");
}

/// A megabyte took half a minute when each end of an object searched everything before it.
void TestExperimentFiles::longListsTakeLinearTime() {
    QFETCH(QByteArray, start);
    QFETCH(QByteArray, entry);
    QFETCH(QByteArray, message);
    QByteArray json = start + entry;
    while (json.size() < 1'000'000)
        json += ',' + entry;
    const double began = test::processorMs();
    const QByteArray error = parseError(json + "]}");
    QVERIFY2(error.contains(message), error);
    const double took = test::processorMs() - began;
    QVERIFY2(took < 10'000 * kSlower, QByteArray::number(took));
}

void TestExperimentFiles::sizesAreLimited() {
    const QByteArray large(static_cast<qsizetype>(17) << 20, ' ');
    QCOMPARE(parseError("{\"version\": 1}" + large),
             QByteArray("f.json: 17825806 bytes are not allowed: at most 16777216"));
    QByteArray many = "{\"version\":1,\"lanes\":[0";
    for (int i = 0; i < 1'100'000; ++i)
        many += ",0";
    QCOMPARE(parseError(many + "]}"), QByteArray("f.json: lanes: more than 1000000 values"));
}

/// Reads as many edits as an experiment may hold, in the form in which they are written.
void TestExperimentFiles::manyEditsAreRead() {
    RunConfig config = defaultConfig();
    for (int i = 0; i < 100'000; ++i)
        config.edits.push_back({1000 + i, 1, "scaler.growth_interval", int64_t{1 + i % 5}});
    const std::string text = configText(config);
    const double start = test::processorMs();
    const RunConfig again = parseConfig(text, "f.json");
    QCOMPARE(again.edits.size(), config.edits.size());
    QCOMPARE(configText(again), text);
    const double took = test::processorMs() - start;
    QVERIFY2(took < 30'000 * kSlower, QByteArray::number(took));
}

void TestExperimentFiles::textAfterNulIsRefused() {
    const QByteArray json("{\"version\": 1}\n\0{\"version\": 7}", 31);
    QCOMPARE(parseError(json), QByteArray("f.json: line 2, column 1: not valid JSON: a NUL byte"));
    QVERIFY(parseError(QByteArray("{\"version\": 1}\0", 15)).contains("a NUL byte"));
    QVERIFY(parseError(QByteArray("{\"version\": \0 1}", 17)).contains("not valid JSON"));
}

void TestExperimentFiles::readingCanBeCancelled() {
    std::stop_source stop;
    const Cancellable scope(stop.get_token());
    const std::string text = configText(defaultConfig());
    QCOMPARE(configText(parseConfig(text, "f.json")), text);
    stop.request_stop();
    QByteArray many = "{\"version\":1,\"lanes\":[0";
    for (int i = 0; i < 5000; ++i)
        many += ",0";
    QVERIFY_THROWS_EXCEPTION(Cancelled, parsed(many + "]}"));
}

void TestExperimentFiles::laneDefaults() {
    const RunConfig config = parseConfig(
        "{\"version\": 1, \"lanes\": [{\"precision\": \"fp32\"}, {\"precision\": \"amp-fp16\"}, "
        "{\"precision\": \"amp-bf16\"}, {\"precision\": \"fp16\"}, "
        "{\"scaler\": {\"mode\": \"dynamic\"}, \"precision\": \"amp-bf16\"}, "
        "{\"precision\": \"amp-fp16\", \"scaler\": {\"mode\": \"static\", \"init_scale\": 8}}]}",
        "f.json");
    using enum ScalerMode;
    const ScalerMode modes[] = {Off, Dynamic, Off, Off, Dynamic, Static};
    for (size_t i = 0; i < 6; ++i) {
        QCOMPARE(static_cast<int>(config.lanes[i].scaler.rules.mode), static_cast<int>(modes[i]));
    }
    QCOMPARE(config.lanes[1].scaler.initScale, 65536.0);
    QCOMPARE(config.lanes[5].scaler.initScale, 8.0);
    const std::vector<std::string> names{"fp32", "amp-fp16",   "amp-bf16",
                                         "fp16", "amp-bf16-2", "amp-fp16-2"};
    QCOMPARE(laneNames(config), names);
    // Absent sections keep the defaults.
    QCOMPARE(configText(parseConfig("{\"version\": 1}", "f")), configText(defaultConfig()));
}

/// A preset fills the other fields wherever it stands in the file; a changed field makes it custom.
void TestExperimentFiles::scalerPresets() {
    const RunConfig config = parseConfig(
        "{\"version\": 1, \"lanes\": ["
        "{\"precision\": \"amp-fp16\", \"scaler\": {\"init_scale\": 8, \"preset\": \"megatron\"}}, "
        "{\"precision\": \"amp-fp16\", \"scaler\": {\"preset\": \"static\", \"init_scale\": 4}}, "
        "{\"precision\": \"amp-bf16\", \"scaler\": {\"preset\": \"keras\"}}, "
        "{\"precision\": \"amp-bf16\", \"scaler\": {\"mode\": \"dynamic\", \"preset\": "
        "\"keras\"}}]}",
        "f.json");
    const Field& preset = *findField("scaler.preset");
    const std::vector<std::string> names{"custom", "static", "keras", "keras"};
    const std::vector<ScalerMode> modes{ScalerMode::Dynamic, ScalerMode::Static, ScalerMode::Off,
                                        ScalerMode::Dynamic};
    for (int lane = 0; lane < 4; ++lane) {
        const auto i = static_cast<size_t>(lane);
        QVERIFY2(preset.get(config, lane) == FieldValue(names[i]), names[i].c_str());
        QVERIFY(config.lanes[i].scaler.rules.mode == modes[i]);
    }
    QCOMPARE(config.lanes[0].scaler.initScale, 8.0);
    QCOMPARE(config.lanes[0].scaler.rules.hysteresis, int64_t{2});
    QCOMPARE(configText(parseConfig(configText(config), "f")), configText(config));
    RunConfig edited = defaultConfig();
    applySetting(edited, "lanes.1.scaler.preset=deepspeed");
    QCOMPARE(edited.lanes[1].scaler.rules.floor, 1.0);
    applySetting(edited, "lanes.1.scaler.floor=0.5");
    QVERIFY(preset.get(edited, 1) == FieldValue(std::string("custom")));
}

void TestExperimentFiles::unreadableFile() {
    QVERIFY(isAbout(thrownBy<InputError>([] { readConfig("no/such/file.json"); }),
                    "no/such/file.json", "cannot read: "));
}

void TestExperimentFiles::relativePictures() {
    QTemporaryDir folder;
    QVERIFY(folder.isValid());
    QFile file(folder.filePath("e.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"version\": 1, \"task\": {\"kind\": \"image\", \"image\": \"./p/a.png\"}}");
    file.close();
    const RunConfig config = readConfig(file.fileName().toStdString());
    QCOMPARE(QString::fromStdString(config.task.image), folder.filePath("p/a.png"));
}

} // namespace tst_experiment_files

QTEST_GUILESS_MAIN(tst_experiment_files::TestExperimentFiles)
#include "tst_experiment_files.moc"
