// Files that are no golden files: each is refused with its place; and the words that Python writes
// for values that JSON does not have.
#include "engine/core/error.h"
#include "tests/support/golden_folder.h"
#include "tests/support/thrown.h"

#include <QTest>

#include <cmath>

namespace tst_golden_files {

using namespace halfscope;
using namespace halfscope::test;
using nlohmann::json;
using recorded::Golden;

class TestGoldenFiles : public QObject {
    Q_OBJECT

private slots:
    void refusesBadInput_data();
    void refusesBadInput();
    void pythonWords();
    void places();
};

void TestGoldenFiles::refusesBadInput_data() {
    QTest::addColumn<QString>("suite");
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("told"); // after the path
    const auto row = [](const char* suite, const QByteArray& content, const char* told) {
        QTest::newRow(told) << suite << content << told;
    };
    const auto bytes = [](const json& value) { return QByteArray::fromStdString(value.dump()); };
    row("ops", bytes(shipped("ops")).left(100'000), "byte 100001: the JSON is cut off");
    row("ops", "", "byte 1: the JSON is cut off");
    row("ops", "[{\"op\": tanh}]", "byte 10: this is not JSON");
    row("ops", QByteArray("[]\0{", 4), "byte 3: this is not JSON");
    row("ops", QByteArray(100, '['), "byte 65: more than 64 lists in lists");
    row("ops", "[1e999]", "it contains a number that does not fit a double");
    row("ops", "{}", "a list is expected, not an object");
    row("ops", "[]", "there is no case in this file");
    row("ops", "[3]", "[0]: an object is expected, not \"3\"");
    row("ops", R"({"torch": "2.11.0", "cases": [3]})",
        "cases[0]: an object is expected, not \"3\"");
    row("ops", R"({"torch": "2.11.0", "cases": []})", "there is no case in this file");
    const auto op = [&](const char* name, void (*change)(json&), const char* told) {
        row("ops", bytes(wrongOp(name, change)), told);
    };
    op(
        "tanh", [](json& r) { r["op"] = "tan h"; }, "[0].op: the engine has no such operation");
    op(
        "tanh", [](json& r) { r.erase("cotangent"); }, "[0]: \"cotangent\" is missing");
    op(
        "tanh", [](json& r) { r["inputs"][0]["data"].erase(0); },
        "[0].inputs[0].data: 11 numbers, where the shape [3, 4] wants 12");
    op(
        "tanh", [](json& r) { r["inputs"][0]["data"].push_back(0); },
        "[0].inputs[0].data: 13 numbers");
    op(
        "tanh", [](json& r) { r["inputs"][0]["data"][2] = "x"; },
        "[0].inputs[0].data: numbers are expected; value 2 (from 0) is \"x\"");
    op(
        "tanh", [](json& r) { r["inputs"][0]["shape"][0] = 1e9; }, "[0].inputs[0].shape[0]: this");
    op(
        "matmul", [](json& r) { r["inputs"][1] = r["inputs"][0]; },
        "[0]: these inputs and attributes make no graph");
    op(
        "matmul", [](json& r) { r["inputs"].erase(1); }, "[0].inputs: the op wants at least 2");
    op(
        "cross_entropy", [](json& r) { r["attrs"]["labels"][1] = 5; },
        "[0].attrs.labels: indices from 0 to 4 are expected");
    op(
        "batch_gather", [](json& r) { r["attrs"]["indices"][1] = -1; }, "[0].attrs.indices: ind");
    op(
        "softmax", [](json& r) { r["attrs"]["dim"] = 2; }, "[0].attrs.dim: the input has no such");
    op(
        "slice", [](json& r) { r["attrs"]["end"] = 99; }, "[0]: these inputs and attributes make");
    row("autocast", R"({"cuda_float16": {"exp": {"most_low": "float32"}}})",
        "cuda_float16.exp.most_low: no such combination");
    row("autocast", R"({"cuda_float16": {"exp": {"all_low": 3}}})",
        "cuda_float16.exp.all_low: a text is expected, not \"3\"");
    const auto trace = [&](void (*change)(json & step), const char* told) {
        row("scaler", bytes(oneTrace(change)), told);
    };
    trace([](json& s) { s["found_inf"][0] = "infinite"; }, "[0].steps[7].found_inf[0]: null");
    trace([](json& s) { s["growth_tracker"] = 0.5; }, "[0].steps[7].growth_tracker: a whole");
    json slow = json::array({shipped("scaler").at(0)});
    slow[0]["config"]["growth_factor"] = 1;
    row("scaler", bytes(slow), "[0].config: The growth factor must be > 1.0.");
    trace([](json& s) { s["stepped"] = json::array(); }, "[0].steps[7].stepped: a list of 0");
    const auto run = [&](void (*change)(json & run), const char* told) {
        json runs = oneRun("mlp_ce", "float16");
        change(runs[0]);
        row("runs", bytes(runs), told);
    };
    run([](json& r) { r["kind"] = "mlp"; }, "[0].kind: checkerboard, mlp_ce or mlp_mse");
    run([](json& r) { r["amp"] = "float8"; }, "[0].amp: null, float16 or bfloat16 is expected");
    run([](json& r) { r["extra"] = "clop"; }, "[0].extra: null, grad_penalty, clip or onecycle");
    run([](json& r) { r["optimizer"] = "Lion"; }, "[0].optimizer: no such optimizer is known");
    run([](json& r) { r["trace"].erase(3); }, "[0].trace: 59 steps, where steps says 60");
    run([](json& r) { r["target"][0] = 99; }, "[0].target: labels from 0 to ");
    run([](json& r) { r["start"]["2.weight"].erase(0); }, "[0].start: weights: 2.weight has ");
    run([](json& r) { r["start"]["4.weight"] = {1}; }, "[0].start: \"4.bias\" is missing");
    run([](json& r) { r["start"]["weight"] = {1}; }, "[0].start.weight: a name like 0.weight");
    run([](json& r) { r["input"][0].erase(0); }, "[0].input: ");
}

void TestGoldenFiles::refusesBadInput() {
    QFETCH(QString, suite);
    QFETCH(QByteArray, content);
    QFETCH(QString, told);
    const GoldenFolder folder(suite.toStdString(), content.toStdString());
    const std::string text = thrownBy<InputError>([&] { folder.verified(); });
    const std::string path = folder.path() + "/" + recorded::goldenFileOf(suite.toStdString());
    QVERIFY2(text.starts_with(path + ": " + told.toStdString()), text.c_str());
    QVERIFY2(isAbout(text, path, told.toStdString()), text.c_str());
}

void TestGoldenFiles::pythonWords() {
    const Golden list =
        Golden::parse("f", R"([NaN, Infinity, -Infinity, -1, "NaN -Infinity \" NaN", null])");
    QVERIFY(std::isnan(list.at(0).number()) && list.at(0).isNumber());
    QCOMPARE(list.at(1).number(), HUGE_VAL);
    QCOMPARE(list.at(2).number(), -HUGE_VAL);
    QCOMPARE(list.at(3).number(), -1.0);
    QVERIFY(list.at(4).text() == "NaN -Infinity \" NaN" && !list.at(4).isNumber());
    QVERIFY(list.at(5).isNull());
    QCOMPARE(Golden::parse("f", "[[1, 2], [Infinity]]").numbers().size(), size_t{3});
    QVERIFY(thrownBy<InputError>([] { Golden::parse("f", "[NaN, -Infinity, x]"); }) ==
            "f: byte 18: this is not JSON");
}

void TestGoldenFiles::places() {
    const Golden root = Golden::parse("f.json", R"({"a": [{"b": 1.5}], "c": null})");
    const auto told = [](const auto& call) { return thrownBy<InputError>(call); };
    QVERIFY(told([&] { root.at("x"); }) == "f.json: \"x\" is missing");
    QVERIFY(told([&] { root.at("a").at(1); }) ==
            "f.json: a: a list of 1 values, where number 1 (from 0) is expected");
    QVERIFY(told([&] { root.at("a").at(0).at("b").integer(); }) ==
            "f.json: a[0].b: a whole number is expected, not \"1.5\"");
    QVERIFY(told([&] { root.at("a").at(0).at("b").flag(); }) ==
            "f.json: a[0].b: true or false is expected, not \"1.5\"");
    QVERIFY(!root.find("c") && !root.find("d") && root.find("a"));
    QCOMPARE(root.integerOr("c", 7), int64_t{7});
    QVERIFY(told([&] { root.numberOr("a", 0); }) == "f.json: a: a number is expected, not a list");
    QVERIFY(told([] { Golden::parse("f", "3").at("x"); }) == "f: an object is expected, not \"3\"");
}

} // namespace tst_golden_files

QTEST_GUILESS_MAIN(tst_golden_files::TestGoldenFiles)
#include "tst_golden_files.moc"
