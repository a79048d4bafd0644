// Damaged files and random settings: whatever comes in, the engine either takes it or refuses it
// with one plain line. The tests of the readers say which line belongs to which mistake.
#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/settings/cast_policy_json.h"
#include "engine/train/experiment.h"
#include "tests/support/golden_folder.h"
#include "tests/support/mutations.h"
#include "tests/support/picture_files.h"

#include <QTest>

#include <cmath>
#include <fstream>

namespace tst_mutations {

using namespace halfscope;
using namespace halfscope::test;
using nlohmann::json;

namespace {

/// Returns what is wrong with the sentence of a refusal; empty when nothing is. A long path and a
/// list of everything known fit into 3000 bytes.
std::string flawOf(const std::string& sentence) {
    if (sentence.empty()) return "an empty sentence";
    if (sentence.size() > 3000) return "a sentence of " + std::to_string(sentence.size());
    if (!isPlainText(sentence)) return "no plain line: " + sentence;
    return {};
}

/// Runs call() and returns what is wrong with how it ended; empty when nothing is.
template <class Call>
std::string flawOfCall(const Call& call) {
    try {
        call();
        return {};
    } catch (const InputError& error) {
        return flawOf(error.what());
    } catch (const EngineError& error) {
        return flawOf(error.what());
    } catch (const RunError& error) {
        return flawOf(error.what());
    } catch (const std::exception& error) {
        return std::string("another exception: ") + error.what();
    }
}

constexpr const char* kPolicy =
    R"({"version": 1, "name": "mine", "low": "float16", "base": "torch cuda float16",)"
    R"( "ops": {"softmax": "lower", "exp": "follow"}, "layers": {"layer 1": "float32"}})";

/// Makes a configuration small enough to build thousands of them.
void makeSmall(RunConfig& config) {
    config.task.side = 2 + config.task.side % 7;
    config.task.samples = 1 + config.task.samples % 40;
    config.task.validationSamples %= 9;
    config.task.batch = 1 + config.task.batch % config.task.samples;
    config.model.width = 1 + config.model.width % 17;
    config.model.depth %= 4;
    config.gradients.accumulate = std::min(config.gradients.accumulate, config.task.samples);
    config.steps = 3;
    config.epochs = 0;
    config.data.workers %= 3;
    config.device = "cpu";
    config.threads = 1;
}

FieldValue randomValue(const Field& field, Mutations& random) {
    switch (field.kind) {
    case FieldKind::Bool: return random.below(2) == 1;
    case FieldKind::Choice: return field.choices[random.below(field.choices.size())];
    case FieldKind::Path: return std::string();
    case FieldKind::Text:
        if (field.key == "schedule.milestones")
            return std::string(random.below(2) == 0 ? "1" : "2, 5, 40");
        if (field.key == "task.class_weights")
            return std::string(random.below(2) == 0 ? "" : "balanced");
        if (field.check)
            return std::string(random.below(2) == 0
                                   ? ""
                                   : "Sequential(Linear(2, 4), BatchNorm1d(4), Linear(4, 1))");
        return std::string(random.below(2) == 0 ? "" : "layer 0=float32, layer 1=float16");
    case FieldKind::Integer:
    case FieldKind::Real: break;
    }
    double x = field.minimum + (field.maximum - field.minimum) * random.uniform();
    switch (random.below(5)) {
    case 0: x = field.minimum; break;
    case 1: x = field.maximum; break;
    case 2: break;
    default: // of any size: ranges cover many powers of ten
        x = std::clamp(std::exp2(60 * random.uniform() - 30), field.minimum, field.maximum);
    }
    if (field.kind == FieldKind::Real) return x;
    return x >= 0x1p62 ? INT64_MAX : static_cast<int64_t>(x);
}

} // namespace

class TestMutations : public QObject {
    Q_OBJECT

private slots:
    void experiments();
    void policies();
    void settings();
    void golden_data();
    void golden();
    void pictures_data();
    void pictures();
    void trainings();
};

void TestMutations::experiments() {
    int taken = 0;
    for (int seed = 0; seed < mutationCases(1500); ++seed) {
        Mutations random(static_cast<uint64_t>(seed));
        const RunConfig& preset = presets()[random.below(presets().size())].config;
        const std::string text = random.json(configText(preset));
        const std::string flaw = flawOfCall([&] {
            const RunConfig config = parseConfig(text, "f.json");
            ++taken;
            const std::string written = configText(config);
            require(configText(parseConfig(written, "f.json")) == written, "it reads differently");
        });
        QVERIFY2(flaw.empty(), (std::to_string(seed) + ": " + flaw).c_str());
    }
    QVERIFY(taken > 0);
}

void TestMutations::policies() {
    int taken = 0;
    for (int seed = 0; seed < mutationCases(500); ++seed) {
        const std::string text = Mutations(static_cast<uint64_t>(seed)).json(kPolicy);
        const std::string flaw = flawOfCall([&] {
            parseCastPolicy(text, "p.json");
            ++taken;
        });
        QVERIFY2(flaw.empty(), (std::to_string(seed) + ": " + flaw).c_str());
    }
    QVERIFY(taken > 0);
}

void TestMutations::settings() {
    int taken = 0;
    for (int seed = 0; seed < mutationCases(1500); ++seed) {
        Mutations random(static_cast<uint64_t>(seed));
        const Field& field = fieldTable()[random.below(fieldTable().size())];
        RunConfig config = presets()[random.below(presets().size())].config;
        const std::string plain = field.key + "=" + valueText(field.get(config, 0));
        const std::string text = random.bytes(random.below(3) == 0 ? "lanes.1." + plain : plain);
        const std::string lanes = random.bytes("fp32,amp-fp16,amp-bf16");
        for (const std::string& flaw : {flawOfCall([&] {
                                            applySetting(config, text);
                                            ++taken;
                                            checkConfig(config);
                                        }),
                                        flawOfCall([&] { parseLanes(lanes); })})
            QVERIFY2(flaw.empty(), (std::to_string(seed) + ": " + flaw).c_str());
    }
    QVERIFY(taken > 0);
}

void TestMutations::golden_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<int>("cases");
    const auto bytes = [](const json& value) { return QByteArray::fromStdString(value.dump()); };
    json table = json::object(), ops = json::array(), optim = shipped("optim");
    for (const char* name : {"matmul", "exp", "softmax", "cat"})
        table["cuda_float16"][name] = shipped("autocast")["cuda_float16"][name];
    for (const char* name : {"tanh", "slice", "batch_gather", "cross_entropy", "conv2d"}) {
        const json rows =
            onlyRows(shipped("ops"), [&](const json& row) { return row["op"] == name; });
        if (!rows.empty()) ops.push_back(rows[0]);
    }
    QTest::newRow("autocast") << bytes(table) << 200;
    QTest::newRow("scaler") << bytes(json::array({shipped("scaler").at(0)})) << 200;
    QTest::newRow("optim") << bytes(optim) << 60;
    QTest::newRow("ops") << bytes(ops) << 200;
    json run = oneRun("mlp_ce", "float16");
    run[0]["trace"].erase(run[0]["trace"].begin() + 4, run[0]["trace"].end());
    run[0]["steps"] = 4;
    QTest::newRow("runs") << bytes(run) << 100;
}

void TestMutations::golden() {
    QFETCH(QByteArray, content);
    QFETCH(int, cases);
    int ran = 0;
    for (int seed = 0; seed < mutationCases(cases); ++seed) {
        Mutations random(static_cast<uint64_t>(seed));
        const GoldenFolder folder(QTest::currentDataTag(), random.json(content.toStdString()));
        const std::string flaw = flawOfCall([&] {
            const VerifyReport report = folder.verified();
            ++ran;
            for (const SuiteResult& suite : report.suites) {
                for (const auto& lines : {suite.failed, suite.illPosed, suite.notes}) {
                    for (const std::string& line : lines)
                        require(flawOf(line).empty(), flawOf(line));
                }
            }
            verifyJson(report);
        });
        QVERIFY2(flaw.empty(), (std::to_string(seed) + ": " + flaw).c_str());
    }
    QVERIFY(ran > 0);
}

void TestMutations::pictures_data() {
    QTest::addColumn<QByteArray>("content");
    const auto row = [](const char* name, const std::string& file) {
        QTest::newRow(name) << QByteArray::fromStdString(file);
    };
    const std::vector<uint16_t> samples(size_t{16 * 16 * 3}, 100);
    const std::vector<uint8_t> bytes(size_t{16 * 16 * 4}, 100);
    row("grey PNG", encodePng({}, 16, 16, samples));
    PngKind colours{PNG_COLOR_TYPE_RGB, 16};
    colours.interlaced = colours.transparentColour = true;
    row("interlaced PNG", encodePng(colours, 16, 16, samples));
    PngKind palette{PNG_COLOR_TYPE_PALETTE, 8};
    palette.palette.resize(101);
    palette.paletteAlpha.resize(50);
    row("palette PNG", encodePng(palette, 16, 16, samples));
    row("JPEG", encodeJpeg({}, 16, 16, bytes));
    row("progressive JPEG", encodeJpeg({JCS_RGB, 3, true}, 16, 16, bytes));
    row("CMYK JPEG", encodeJpeg({JCS_CMYK, 4}, 16, 16, bytes));
}

void TestMutations::pictures() {
    QFETCH(QByteArray, content);
    const QTemporaryDir folder;
    const std::string path = folder.filePath("p").toStdString();
    int taken = 0;
    for (int seed = 0; seed < mutationCases(150); ++seed) {
        std::ofstream(path, std::ios::binary)
            << Mutations(static_cast<uint64_t>(seed)).bytes(content.toStdString());
        const std::string flaw = flawOfCall([&] {
            const Picture picture = readPicture(path);
            ++taken;
            require(picture.values.size() ==
                        size_t(picture.width) * size_t(picture.height) * size_t(picture.channels),
                    "a picture with holes");
            for (const float value : picture.values)
                require(value >= 0 && value <= 1, "a value outside 0 to 1");
        });
        QVERIFY2(flaw.empty(), (std::to_string(seed) + ": " + flaw).c_str());
    }
    QVERIFY(taken > 0);
}

void TestMutations::trainings() {
    int steps = 0;
    for (int seed = 0; seed < mutationCases(60); ++seed) {
        Mutations random(static_cast<uint64_t>(seed));
        RunConfig config = presets()[random.below(presets().size())].config;
        const auto randomField = [&]() -> const Field& {
            return fieldTable()[random.below(fieldTable().size())];
        };
        const auto anyLane = [&] { return static_cast<int>(random.below(config.lanes.size())); };
        for (uint64_t left = 1 + random.below(8); left > 0; --left) {
            const Field& field = randomField();
            if (field.key == "run.device") continue;
            field.set(config, anyLane(), randomValue(field, random));
        }
        makeSmall(config);
        const std::string flaw = flawOfCall([&] {
            checkConfig(config);
            Experiment experiment(config);
            std::vector<StepRecord> records;
            std::vector<Event> events;
            while (!experiment.finished() && experiment.stopReason().empty()) {
                experiment.advance(records, events);
                ++steps;
                const Field& field = randomField();
                if (field.apply == FieldApply::Length || field.effect != FieldEffect::Live)
                    continue;
                const int lane = field.scope == FieldScope::Run ? -1 : anyLane();
                experiment.setLive(lane, field.key, randomValue(field, random), events);
            }
            experiment.snapshot();
        });
        QVERIFY2(flaw.empty(), (std::to_string(seed) + ": " + flaw).c_str());
    }
    QVERIFY(steps > 0);
}

} // namespace tst_mutations

QTEST_GUILESS_MAIN(tst_mutations::TestMutations)
#include "tst_mutations.moc"
