// The golden suites: they pass on the files in the program, and a wrong value in any of them is
// caught. Files that are no golden files are in tst_golden_files.
#include "engine/core/error.h"
#include "tests/support/golden_folder.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <cmath>

namespace tst_verify {

using namespace halfscope;
using namespace halfscope::test;
using nlohmann::json;

namespace {

QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("(missing)");
}

void scaleBy(json& value, double factor) { value = value.get<double>() * factor; }

struct Wrong {
    const char* name;
    const char* suite;
    json (*content)();
    const char* told; ///< a part of the failed case's line
};

json wrongDtype() {
    json tables = shipped("autocast");
    tables["cpu_bfloat16"]["softmax"]["all_low"] = "float16";
    return tables;
}
json wrongRefusal() {
    json tables = shipped("autocast");
    tables["cuda_float16"]["binary_cross_entropy"]["all_low"] = "float16";
    return tables;
}
json missingRefusal() {
    json tables = shipped("autocast");
    tables["cuda_float16"]["matmul"]["all_low"] = "error: something";
    return tables;
}
json wrongScale() {
    return oneTrace([](json& step) {
        const auto scale = static_cast<float>(step["scale"].get<double>());
        step["scale"] = static_cast<double>(std::nextafterf(scale, 0)); // the last bit
    });
}
json wrongTracker() {
    return oneTrace(
        [](json& step) { step["growth_tracker"] = step["growth_tracker"].get<int>() + 1; });
}
json wrongStepped() {
    return oneTrace([](json& step) { step["stepped"][1] = !step["stepped"][1].get<bool>(); });
}
json wrongParameter() {
    json file = shipped("optim");
    scaleBy(file["optimizers"][5]["params"][24][3], 1 + 1e-5);
    return file;
}
json wrongRate() {
    json file = shipped("optim");
    scaleBy(file["schedules"][2]["lr"][10], 1 + 1e-5);
    return file;
}
json wrongMomentum() {
    json file = shipped("optim");
    scaleBy(file["schedules"][3]["beta1"][10], 1 + 1e-5);
    return file;
}
json wrongClipped() {
    json file = shipped("optim");
    scaleBy(file["clipping"][3]["clipped"][2][0], 1 + 1e-5);
    return file;
}
json wrongNorm() {
    json file = shipped("optim");
    scaleBy(file["clipping"][7]["total_norm"], 1 + 1e-5);
    return file;
}
json wrongValue() {
    return wrongOp("tanh", [](json& row) { scaleBy(row["output"]["data"][5], 1 + 1e-4); });
}
json wrongGradient() {
    return wrongOp("gelu", [](json& row) { scaleBy(row["grads"][0][2], 1.01); });
}
json wrongSecondOrder() {
    return wrongOp("silu", [](json& row) { scaleBy(row["second_order"][0][2], 1.01); });
}
json zeroSecondOrder() {
    return wrongOp("exp", [](json& row) { row["second_order"][0] = nullptr; });
}
json wrongFloatLoss() {
    json runs = oneRun("mlp_ce", nullptr, 65536, "float64");
    scaleBy(runs[0]["trace"][30]["loss"], 1 + 4e-6);
    return runs;
}
/// Returns a float64 run whose losses of some steps are off by half more than the bound.
json wrongLosses(const std::string& kind, int seed, size_t first, size_t last) {
    json runs = onlyRows(shipped("runs"), [&](const json& run) {
        return run["kind"] == kind && run["seed"] == seed && run["amp"].is_null() &&
               run["compute"] == "float64";
    });
    for (size_t step = first; step <= last; ++step)
        scaleBy(runs.at(0)["trace"].at(step - 1)["loss"], 1 + 3e-6);
    return runs;
}
json wrongHalfLoss() {
    json runs = oneRun("mlp_mse", "float16");
    scaleBy(runs[0]["trace"][39]["loss"], 1.002);
    return runs;
}
json wrongPictureLoss() {
    json runs = oneRun("checkerboard", "bfloat16");
    scaleBy(runs[0]["trace"][0]["loss"], 1.03);
    return runs;
}
json wrongRunScale() {
    json runs = oneRun("mlp_mse", "float16");
    runs[0]["trace"][20]["scale_before"] = 4096.0;
    return runs;
}
json wrongLastScale() {
    json runs = oneRun("mlp_mse", "float16");
    scaleBy(runs[0]["trace"].back()["scale_after"], 2);
    return runs;
}
json wrongSkips() {
    json runs = oneRun("checkerboard", "float16", 0x1p30);
    int changed = 0;
    for (json& step : runs[0]["trace"]) {
        if (changed == 3 || step["scale_after"] >= step["scale_before"]) continue;
        step["scale_after"] = step["scale_before"]; // as if PyTorch had stepped
        ++changed;
    }
    return runs;
}

constexpr Wrong kWrong[] = {
    {"dtype", "autocast", wrongDtype, "cpu_bfloat16 softmax all_low: "},
    {"refusal", "autocast", wrongRefusal, "cuda_float16 binary_cross_entropy all_low: refused"},
    {"no refusal", "autocast", missingRefusal, "matmul all_low: float16 instead of error"},
    {"last bit of a scale", "scaler", wrongScale, "step 8: scale "},
    {"tracker", "scaler", wrongTracker, "step 8: scale "},
    {"who stepped", "scaler", wrongStepped, "calls: step 8: optimizer 1 "},
    {"parameter", "optim", wrongParameter, "step 25, element 3: "},
    {"rate", "optim", wrongRate, "lr before step 11: "},
    {"momentum", "optim", wrongMomentum, "beta1 before step 11: "},
    {"clipped", "optim", wrongClipped, "clip norm2 3: g2 [0]: "},
    {"norm", "optim", wrongNorm, "clip norminf 7: norm [0]: "},
    {"value", "ops", wrongValue, "tanh: output [5]: "},
    {"gradient", "ops", wrongGradient, "gelu: gradient 0 [2]: "},
    {"second order", "ops", wrongSecondOrder, "silu: second order 0 [2]: "},
    {"zero second order", "ops", zeroSecondOrder, "exp: second order 0 ["},
    {"float32 loss", "runs", wrongFloatLoss, "mlp_ce seed 0 float64: step 31: loss "},
    {"half loss", "runs", wrongHalfLoss, "step 40: loss "},
    {"picture's loss", "runs", wrongPictureLoss, "step 1: loss "},
    {"run's scale", "runs", wrongRunScale, "step 21: scale "},
    {"last scale", "runs", wrongLastScale, "scale after the last step "},
    {"skips", "runs", wrongSkips, "skipped steps "},
};

} // namespace

class TestVerify : public QObject {
    Q_OBJECT

private slots:
    void shippedFilesAreTheSources();
    void shippedSuitesPass_data();
    void shippedSuitesPass();
    void wrongValueIsCaught_data();
    void wrongValueIsCaught();
    void strictAtEveryStep_data();
    void strictAtEveryStep();
    void refusesWrongFolder();
    void oneFileIsEnough();
    void manualListsSuites();
    void leavesOutWhatItDoesNotKnow();
    void jsonForm();
    void stops();
};

void TestVerify::shippedFilesAreTheSources() {
    for (const auto& [suite, file] : recorded::kGoldenFiles) {
        const QByteArray source = contentOf(QString(HALFSCOPE_SOURCE_DIR "/tests/golden/") + file);
        const std::string_view data = recorded::goldenData(file);
        QVERIFY2(data == std::string_view(source.data(), static_cast<size_t>(source.size())), file);
    }
    QVERIFY_THROWS_EXCEPTION(std::logic_error, recorded::goldenData("other.json"));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, recorded::goldenFileOf("other"));
}

void TestVerify::shippedSuitesPass_data() {
    QTest::addColumn<QString>("suite");
    QTest::addColumn<int>("cases");
    QTest::newRow("autocast") << "autocast" << 1432;
    QTest::newRow("scaler") << "scaler" << 3 * 60; // by the rules, by calls, on the device
    QTest::newRow("optim") << "optim" << 17 + 18 + 12;
    QTest::newRow("ops") << "ops" << 45;
    QTest::newRow("runs") << "runs" << 52;
    QTest::newRow("products") << "products" << 4 * 17; // precisions
}

void TestVerify::shippedSuitesPass() {
    QFETCH(QString, suite);
    QFETCH(int, cases);
    VerifyOptions options;
    options.device = "cpu";
    options.threads = 2;
    options.suites = {suite.toStdString()};
    const VerifyReport report = verify(options);
    QCOMPARE(report.suites.size(), size_t{1});
    const SuiteResult& result = report.suites[0];
    for (const std::string& failure : result.failed)
        qInfo("%s", failure.c_str());
    QVERIFY(report.passed() && !report.stopped && report.leftOut.empty());
    QVERIFY(result.name == suite.toStdString() && result.notes.empty());
    QCOMPARE(result.cases, static_cast<size_t>(cases));
    QCOMPARE(result.passed, result.cases);
    QVERIFY(result.worst <= result.bound);
    // rounding is visible where there is any
    QCOMPARE(result.worst > 0, suite != "autocast" && suite != "scaler");
    QVERIFY(report.device.find("thread") != std::string::npos);
}

void TestVerify::wrongValueIsCaught_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < std::size(kWrong); ++i)
        QTest::addRow("%s: %s", kWrong[i].suite, kWrong[i].name) << static_cast<int>(i);
}

void TestVerify::wrongValueIsCaught() {
    QFETCH(int, index);
    const Wrong& wrong = kWrong[index];
    const VerifyReport report = GoldenFolder(wrong.suite, wrong.content()).verified();
    QCOMPARE(report.suites.size(), size_t{1});
    const SuiteResult& result = report.suites[0];
    QVERIFY(!report.passed());
    QCOMPARE(result.cases - result.passed, result.failed.size());
    // all three ways of a history fail, and one case in any other suite
    QVERIFY(result.failed.size() ==
            (std::string(wrong.suite) == "scaler" && std::string(wrong.name) != "who stepped"
                 ? size_t{3}
                 : size_t{1}));
    QVERIFY2(result.failed[0].find(wrong.told) != std::string::npos, result.failed[0].c_str());
    QVERIFY(result.worst > result.bound);
}

void TestVerify::strictAtEveryStep_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<int>("seed");
    QTest::addColumn<int>("first");
    QTest::addColumn<int>("last");
    const auto row = [](const char* kind, int seed, int first, int last) {
        QTest::addRow("%s seed %d, steps %d to %d", kind, seed, first, last)
            << kind << seed << first << last;
    };
    // seed 1 of the pictures is the run that one rounding moves: that is no excuse for it either
    for (const int step : {1, 17, 60})
        row("checkerboard", 1, step, step);
    row("checkerboard", 1, 20, 60);
    row("checkerboard", 0, 60, 60);
    row("mlp_ce", 0, 1, 1);
    row("mlp_ce", 1, 30, 40);
    row("mlp_mse", 0, 40, 40);
}

/// One loss beyond the bound fails, and so do many in a row, as in a training that took another
/// course.
void TestVerify::strictAtEveryStep() {
    QFETCH(QString, kind);
    QFETCH(int, seed);
    QFETCH(int, first);
    QFETCH(int, last);
    const json file = wrongLosses(kind.toStdString(), seed, static_cast<size_t>(first),
                                  static_cast<size_t>(last));
    const VerifyReport report = GoldenFolder("runs", file).verified();
    const SuiteResult& result = report.suites.at(0);
    QVERIFY(!report.passed() && result.notes.empty());
    QCOMPARE(result.cases - result.passed, size_t{1});
    const QString told =
        QString("%1 seed %2 float64: step %3: loss ").arg(kind).arg(seed).arg(first);
    QVERIFY2(result.failed.at(0).starts_with(told.toStdString()), result.failed[0].c_str());
    QVERIFY(result.worst > result.bound && result.bound == 2e-6);
}

void TestVerify::refusesWrongFolder() {
    const GoldenFolder empty("", std::string());
    QVERIFY(isAbout(thrownBy<InputError>([&] { empty.verified(); }), empty.path(),
                    "none of the files autocast_dtypes.json, gradscaler_traces.json"));
    QVERIFY(isAbout(thrownBy<InputError>([&] { empty.verified({"ops"}); }), empty.path(),
                    "none of the files op_values.json"));
    QVERIFY(isAbout(thrownBy<InputError>([&] {
                        empty.verified({"ops", "products"});
                    }),
                    empty.path(), "none of the files op_values.json"));
    VerifyOptions options;
    options.device = "cpu";
    options.folder = empty.path() + "/missing";
    QVERIFY(isAbout(thrownBy<InputError>([&] { verify(options); }), options.folder,
                    "cannot read this folder: No such file"));
    options.folder = "";
    options.suites = {"opz"};
    QVERIFY(
        isAbout(thrownBy<InputError>([&] { verify(options); }), "suite", "the nearest one is ops"));
    options.suites = {"optim"};
    options.device = "abacus";
    QVERIFY(isAbout(thrownBy<InputError>([&] { verify(options); }), "device", "\"abacus\""));
}

void TestVerify::oneFileIsEnough() {
    const VerifyReport report = GoldenFolder("optim", shipped("optim")).verified(verifySuites());
    QVERIFY(report.passed());
    QCOMPARE(report.suites.size(), size_t{2});
    QVERIFY(report.suites[0].name == "optim" && report.suites[1].name == "products"); // needs none
    QCOMPARE(report.leftOut.size(), size_t{4});
    QVERIFY(report.leftOut[3].english() == "runs: no training_runs.json in the folder");
}

/// The manual's page has a row for each suite.
void TestVerify::manualListsSuites() {
    const QByteArray page = contentOf(HALFSCOPE_SOURCE_DIR "/resources/manual/en/verify.md");
    for (const std::string& suite : verifySuites())
        QVERIFY2(page.contains(("| `" + suite + "` |").c_str()), suite.c_str());
}

void TestVerify::leavesOutWhatItDoesNotKnow() {
    const json file = json::parse(R"({"torch": "3", "mps_float16": {"exp": {"all_low": "x"}},
        "cuda_float16": {"exp": {"all_low": "float32"}, "istft": {"all_low": "float32"}}})");
    const VerifyReport report = GoldenFolder("autocast", file).verified();
    QVERIFY(report.passed());
    QCOMPARE(report.suites[0].cases, size_t{1});
    QCOMPARE(report.suites[0].notes.size(), size_t{2});
    QVERIFY(report.suites[0].notes[0].find("mps_float16") != std::string::npos);
    QVERIFY(report.suites[0].notes[1].find("istft") != std::string::npos);
}

void TestVerify::jsonForm() {
    VerifyReport report;
    report.device = "a \"device\"\xff";
    SuiteResult suite;
    suite.name = "ops";
    suite.cases = 3;
    suite.passed = 2;
    suite.worst = INFINITY;
    suite.bound = 0.5;
    suite.failed = {"tanh: x"};
    report.suites = {suite};
    const json parsed = json::parse(verifyJson(report));
    QVERIFY(parsed["suites"][0]["name"] == "ops" && parsed["suites"][0]["cases"] == 3);
    QVERIFY(parsed["suites"][0]["passed"] == 2 && parsed["suites"][0]["bound"] == 0.5);
    QVERIFY(parsed["suites"][0]["worst"].is_null());
    QVERIFY(parsed["suites"][0]["failed"] == json::array({"tanh: x"}));
    QVERIFY(parsed["device"].get<std::string>().starts_with("a \"device\""));
}

void TestVerify::stops() {
    VerifyOptions options;
    options.device = "cpu";
    std::vector<size_t> done;
    options.progress = [&](const VerifyProgress& progress) {
        done.push_back(progress.done);
        return progress.done < 5;
    };
    const VerifyReport report = verify(options);
    QVERIFY(report.stopped);
    QCOMPARE(report.suites.size(), size_t{1});
    QVERIFY((done == std::vector<size_t>{1, 2, 3, 4, 5}));
}

} // namespace tst_verify

QTEST_GUILESS_MAIN(tst_verify::TestVerify)
#include "tst_verify.moc"
