// Products of whole warpgroups (kernels/warpgroup.cuh): the bits of the usual way, in the emulator
// and in the PTX that NVRTC makes; that the interpreter refuses what the ISA leaves undefined; and
// that ptxas neither spills nor waits for each product.
#include "tests/emulator/ptx_probe.h"
#include "tests/support/chained_step.h"
#include "tests/support/one_product.h"

#include <QtTest>

namespace tst_cuda_warpgroups {

using namespace halfscope;
using cuda::ChainWay;
using cuda::ElementForm;
using test::kH200Shared;
using test::outcomeOf;
using Case = test::ProductCase;
using Outcome = test::ProductOutcome;

namespace {

constexpr ChainWay kGrouped{.lean = true, .warpgroups = true};

constexpr MatmulAttrs kAlong{false, true}, kDeep{true, false};
/// Several steps of several tiles in each part, two tiles across.
Case longCase() { return {.m = 700, .n = 300, .k = 100, .attrs = kAlong}; }
Case plainCase() { return {.m = 400, .n = 200, .k = 100, .attrs = {}}; }
Case deepCase() { return {.m = 200, .n = 256, .k = 300, .attrs = kDeep}; }

/// A product of a warpgroup, d (64, 64) = a (64, 32) b (32, 64), by the prelude's own functions;
/// `between` its begin and its end. A fault where a value is wrong.
std::string productBody(const std::string& begins = "if (thread >= 128) return;",
                        const std::string& between = "", const std::string& a = "area") {
    return "HS_GROUP_SHARED(area);\nusing Rows = GroupArea<2, 64, 32, true, true>;\n"
           "for (int i = thread; i < 4096; i += 256)\n"
           "*(F16*)(area + i / 2048 * 4096 + Rows::byteOf(i / 32 % 64, i % 32 * 2)) = "
           "stored<F16>((float)(i % 13 - i / 32 % 7));\n"
           "showToGroups();\n__syncthreads();\n" +
           begins +
           "\nfloat d[1][8][4];\nHS_UNROLL\nfor (int i = 0; i < 32; ++i) d[0][i / 4][i % 4] = "
           "1000;\n"
           "GroupProduct<HalfMath<F16>, Rows, Rows, 8, true, true> product;\nproduct.begin(" +
           a + ", area + 4096, false, d);\n" + between +
           "\nproduct.end(d);\nconst int lane = thread % 32;\n"
           "HS_UNROLL\nfor (int j = 0; j < 8; ++j)\nHS_UNROLL\nfor (int e = 0; e < 4; ++e) {\n"
           "const int row = thread / 32 * 16 + lane / 4 + e / 2 * 8, "
           "column = 8 * j + 2 * (lane % 4) + e % 2;\nfloat sum = 0;\n"
           "for (int k = 0; k < 32; ++k) sum += (float)((32 * row + k) % 13 - row % 7) * "
           "(float)((2048 + 32 * column + k) % 13 - (64 + column) % 7);\n"
           "if (sum != d[0][j][e]) values[1024] = 1;\n}"; // outside the arena
}
std::string failureOfProduct(const std::string& body,
                             const std::string& prelude = cuda::prelude()) {
    return test::failureOf(body, prelude, 8192);
}
bool has(const std::string& text, const char* words) {
    if (text.find(words) != std::string::npos) return true;
    qWarning("%s", text.c_str());
    return false;
}
std::string replaced(std::string text, const std::string& part, const std::string& by) {
    const size_t at = text.find(part);
    if (at == std::string::npos) throw std::runtime_error("the text has no " + part);
    for (size_t next = at; next != std::string::npos; next = text.find(part, next + by.size()))
        text.replace(next, part.size(), by);
    return text;
}

} // namespace

class TestCudaWarpgroups : public QObject {
    Q_OBJECT
private slots:
    void cleanup() { test::emulatePtx(m_capability); }
    void products_data();
    void products();
    void onlyWhereTheyExist();
    void plantedFaults_data();
    void plantedFaults();
    void interpreted_data();
    void interpreted();
    void instructionsByTheIsa();
    void fragmentsInRegisters();
    void steps_data();
    void steps();
    void compilesWithoutWaits_data();
    void compilesWithoutWaits();

private:
    int m_capability = test::emulatedCapability();
};

void TestCudaWarpgroups::products_data() {
    QTest::addColumn<Case>("product");
    const auto row = [](const char* what, DType dtype, int m, int n, int k, MatmulAttrs attrs,
                        size_t sharedBytes = kH200Shared) {
        QTest::addRow("%s", what) << Case{dtype,      MathMode::F32FromHalf, m, n, k, attrs,
                                          sharedBytes};
    };
    row("whole tiles", DType::F16, 768, 128, 128, kAlong);
    row("odd, two tiles across", DType::F16, 531, 301, 17, {});
    row("b from memory", DType::BF16, 700, 128, 70, kAlong, 72000);
    // Weight gradients take steps twice as deep: a part has the same rows where the usual steps
    // are even in number.
    row("deep", DType::BF16, 64, 256, 573, kDeep);
    row("b not transposed", DType::BF16, 400, 72, 40, {});
    row("rows of 128 bytes", DType::F16, 300, 256, 200, kAlong);
    row("deep, one part", DType::F16, 130, 64, 400, kDeep);
    row("narrow", DType::F16, 257, 33, 31, kAlong);
    row("deep, odd", DType::F16, 33, 31, 757, kDeep);
}

void TestCudaWarpgroups::products() {
    QFETCH(Case, product);
    const Outcome usual = outcomeOf(product, {});
    const Outcome other = outcomeOf(product, kGrouped, "kWarpgroups = true",
                                    "kWarpgroups = true"); // the text has it
    QVERIFY(usual.arena == other.arena);
}

/// Other devices and other arithmetic take the usual products.
void TestCudaWarpgroups::onlyWhereTheyExist() {
    const auto textFor = [](int capability, const Case& product, const ChainWay& way) {
        Graph graph;
        Builder b(graph);
        const NodeId left = b.input("a", {product.m, product.k}, product.dtype);
        const NodeId right = b.input("b", {product.n, product.k}, product.dtype);
        if (product.math == MathMode::TF32) b.setMathMode(MathMode::TF32);
        graph.addOutput("c", b.matmul(left, right, kAlong));
        cuda::DeviceTraits traits = test::traitsFor(way, kH200Shared, capability);
        return cuda::writeChain({compile(graph), 0, "product", 1000, 0, 0}, traits)[0];
    };
    QVERIFY(textFor(90, longCase(), kGrouped).warpgroups);
    QVERIFY(!textFor(90, longCase(), {}).warpgroups);
    for (const int other : {80, 100, 120})
        QVERIFY(!textFor(other, longCase(), kGrouped).warpgroups);
    for (const MathMode math : {MathMode::TF32, MathMode::F32}) {
        Case product = longCase();
        product.dtype = DType::F32;
        product.math = math;
        QVERIFY(!textFor(90, product, kGrouped).warpgroups);
    }
}

/// Of each mechanism what would be wrong if it were: the comparison, or the search for races, sees
/// it.
void TestCudaWarpgroups::plantedFaults_data() {
    QTest::addColumn<Case>("product");
    QTest::addColumn<QString>("part");
    QTest::addColumn<QString>("by");
    const auto row = [](const char* what, const Case& product, const char* part, const char* by) {
        QTest::newRow(what) << product << part << by;
    };
    row("units as they come", longCase(), "(unit ^ (kUnits == 4 ? (row >> 1) & 3 : row & 7))",
        "unit");
    row("another swizzle", deepCase(), "kSwizzle = kUnits == 8 ? 1 : 2", "kSwizzle = 2");
    row("8 rows on", longCase(), "kStride = 8 * kRowBytes", "kStride = 4 * kRowBytes");
    row("8 inner indices on", deepCase(), "kStride = 8 * kRowBytes", "kStride = 4 * kRowBytes");
    row("blocks of b", plainCase(), "AlongK ? 16 : Outer * kRowBytes", "16");
    row("rows of a group", longCase(), "group * kGroupRows", "0");
    row("blocks of a group", deepCase(), "outer / 64 * Outer", "0");
    row("inner index along rows", longCase(), "(AlongK ? 16 * Bytes", "(AlongK ? 16");
    row("inner index across rows", deepCase(), ": 16 * kRowBytes) >> 4", ": 8 * kRowBytes) >> 4");
    row("sums of the tile before", longCase(), "k > 0,\n", "true,\n");
    row("staged rows", longCase(), "T::kWarpRows * Sink::kStagedRow", "8 * Sink::kStagedRow");
    row("the area that is read", longCase(), "innerOf(step), areaA(shared, step),",
        "innerOf(step), areaA(shared, step + 1),");
}

void TestCudaWarpgroups::plantedFaults() {
    QFETCH(Case, product);
    QFETCH(QString, part);
    QFETCH(QString, by);
    const Outcome usual = outcomeOf(product, {});
    bool isRefused = false;
    Outcome wrong;
    try {
        wrong = outcomeOf(product, kGrouped, part.toStdString(), by.toStdString());
    } catch (const std::runtime_error& error) {
        const std::string words = error.what();
        isRefused = words.find("race") != std::string::npos || words.starts_with("PTX: ");
        QVERIFY2(isRefused, words.c_str());
    }
    QVERIFY(isRefused || wrong.arena != usual.arena);
}

/// The PTX of products: the emulator's bits, and what it must not leave out.
void TestCudaWarpgroups::interpreted_data() {
    QTest::addColumn<Case>("product");
    QTest::newRow("along both") << longCase();
    QTest::newRow("plain") << plainCase();
    QTest::newRow("deep") << deepCase();
    Case narrow = plainCase();
    narrow.n = 40;
    narrow.dtype = DType::BF16;
    QTest::newRow("narrow, bf16") << narrow;
    Case deepNarrow = deepCase();
    deepNarrow.n = 128;
    QTest::newRow("deep, narrow") << deepNarrow;
}

void TestCudaWarpgroups::interpreted() {
    if (!test::compiler().unavailable().empty()) QSKIP(test::compiler().unavailable().c_str());
    QFETCH(Case, product);
    const Outcome emulated = outcomeOf(product, {});
    test::emulatePtx(90);
    QVERIFY(emulated.arena == outcomeOf(product, kGrouped).arena);
    const auto without = [&](const char* part, const char* words) {
        try {
            (void)outcomeOf(product, kGrouped, part, "");
        } catch (const std::runtime_error& error) {
            return has(error.what(), words);
        }
        return false;
    };
    QVERIFY(without("asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");",
                    "no fence.proxy.async"));
    QVERIFY(
        without("asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");", "no wgmma.fence"));
    QVERIFY(without("asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");",
                    "has not been waited for"));
    QVERIFY(without("asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");",
                    "has not been waited for"));
}

/// What the ISA says of one product, and what it leaves undefined.
void TestCudaWarpgroups::instructionsByTheIsa() {
    if (!test::compiler().unavailable().empty()) QSKIP(test::compiler().unavailable().c_str());
    const std::string all = "if (thread >= 128) return;";
    const std::string what = failureOfProduct(productBody());
    QVERIFY2(what.empty(), what.c_str());
    const auto says = [](const std::string& body, const char* words,
                         const std::string& prelude = cuda::prelude()) {
        return has(failureOfProduct(body, prelude), words);
    };
    const char* const wrong = "outside every area"; // of the wrong value
    QVERIFY(says(productBody(), wrong,
                 replaced(cuda::prelude(), "kStride = 8 * kRowBytes", "kStride = 4 * kRowBytes")));
    QVERIFY(says(productBody(), wrong, replaced(cuda::prelude(), "(row >> 1) & 3", "row & 3")));
    QVERIFY(says(productBody(), wrong,
                 replaced(cuda::prelude(), "adds || i > 0 ? 1 : 0", "1"))); // what was there
    QVERIFY(says(productBody(all, "values[512] = d[0][0][0];"), "has not been waited for"));
    // written too early: what is read is what is there when its warp waits
    QVERIFY(says(productBody(all, "if (thread % 32 > 0) *(F16*)(area + Rows::byteOf(thread / 2, "
                                  "0)) = stored<F16>(1.0f);"),
                 wrong));
    QVERIFY(says(productBody("if (thread >= 96) return;"), "do not all begin"));
    QVERIFY(says(productBody("if (thread >= 128 || thread % 32 > 15) return;"), "never meet"));
    const std::string apart = productBody(all, "", "area + thread / 32 * 1024");
    QVERIFY(says(replaced(apart, "values[1024] = 1;", ";"), "do not all begin"));
    QVERIFY(says(productBody(all, "", "area + thread % 32 / 16 * 1024"), "not the same"));
    QVERIFY(says(productBody(all, "", "area + 8192"), "outside shared memory"));
    QVERIFY(says(productBody(all, "", "area + 128"), wrong)); // not where its pattern begins
    const std::string late = "__syncthreads();\n";
    QVERIFY(says(replaced(productBody(), late, ""), "nobody wrote")); // yet
    // after the barrier its writer shows nothing of before
    QVERIFY(says(replaced(productBody(), "showToGroups();\n" + late, late), "no fence.proxy"));
    QVERIFY(says(replaced(productBody(), "i < 4096", "i < 4000"), "nobody wrote"));
}

/// Operand a in registers is as mma's, and stays untouched until the wait.
void TestCudaWarpgroups::fragmentsInRegisters() {
    if (!test::compiler().unavailable().empty()) QSKIP(test::compiler().unavailable().c_str());
    const auto body = [](const std::string& then) {
        return "HS_GROUP_SHARED(area);\nusing Rows = GroupArea<2, 64, 32, true, true>;\n"
               "for (int i = thread; i < 2048; i += 256)\n"
               "*(F16*)(area + Rows::byteOf(i / 32, i % 32 * 2)) = stored<F16>((float)(i % 13));\n"
               "showToGroups();\n__syncthreads();\nif (thread >= 128) return;\n"
               "const int lane = thread % 32;\nu32 a[4];\nfor (int w = 0; w < 4; ++w) {\n"
               "const int row = thread / 32 * 16 + lane / 4 + w % 2 * 8, k = lane % 4 * 2 + w / 2 "
               "* 8;\na[w] = pack2<F16>((float)(row % 5 + k), (float)(row % 5 + k + 1));\n}\n"
               "float d[4] = {1, 1, 1, 1};\n"
               "asm volatile(\"{\\n.reg .pred p;\\nsetp.ne.b32 p, %9, 0;\\n"
               "wgmma.fence.sync.aligned;\\n"
               "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, "
               "{%4, %5, %6, %7}, %8, p, 1, 1, 0;\\n" +
               then +
               "wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned 0;\\n}\"\n"
               ": \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]), \"+r\"(a[0]), "
               "\"+r\"(a[1]), \"+r\"(a[2]), \"+r\"(a[3])\n"
               ": \"l\"(Rows::descriptor(area, 0)), \"r\"(1) : \"memory\");\n"
               "for (int e = 0; e < 4; ++e) {\nconst int row = thread / 32 * 16 + lane / 4 + "
               "e / 2 * 8, column = 2 * (lane % 4) + e % 2;\nfloat sum = 1;\n"
               "for (int k = 0; k < 16; ++k) sum += (float)(row % 5 + k) * (float)((32 * column + "
               "k) % 13);\nif (sum != d[e]) values[1024] = 1;\n}";
    };
    const std::string what = failureOfProduct(body(""));
    QVERIFY2(what.empty(), what.c_str());
    QVERIFY(has(failureOfProduct(body("mov.b32 %4, 0;\\n")), "has not been waited for"));
    QVERIFY(has(failureOfProduct(replaced(body(""), "wgmma.fence.sync.aligned;\\n", "")),
                "no wgmma.fence"));
}

void TestCudaWarpgroups::steps_data() {
    QTest::addColumn<int>("precision");
    QTest::addColumn<ElementForm>("form");
    const auto row = [](const char* name, Precision precision, ElementForm form) {
        QTest::newRow(name) << static_cast<int>(precision) << form;
    };
    row("amp-fp16, collected", Precision::AmpFp16, ElementForm::Collected);
    row("amp-bf16, collected", Precision::AmpBf16, ElementForm::Collected);
}

/// Whole steps: every chain's stores within the bounds of its members. Weight gradients that run
/// backwards add up twice as many rows at once, and so may have other bits than the usual way's.
void TestCudaWarpgroups::steps() {
    QFETCH(int, precision);
    QFETCH(ElementForm, form);
    ChainWay way = kGrouped;
    way.form = form;
    const test::TiledStep step =
        test::stepInTiles(static_cast<Precision>(precision), test::traitsFor(way));
    QVERIFY2(step.fault.empty(), step.fault.c_str());
    QVERIFY(std::any_of(step.states.begin(), step.states.end(), [](double x) { return x != 0; }));
}

void TestCudaWarpgroups::compilesWithoutWaits_data() {
    QTest::addColumn<int>("precision");
    QTest::addColumn<ElementForm>("form");
    const auto row = [](const char* name, Precision precision, ElementForm form) {
        QTest::newRow(name) << static_cast<int>(precision) << form;
    };
    row("fp16, collected", Precision::AmpFp16, ElementForm::Collected);
    row("bf16, collected", Precision::AmpBf16, ElementForm::Collected);
}

/// All launches of the large step: no register in memory but a word of a pass, of which three
/// blocks share the registers, and no product that ptxas waits for.
void TestCudaWarpgroups::compilesWithoutWaits() {
    QFETCH(int, precision);
    QFETCH(ElementForm, form);
    if (!test::compiler().unavailable().empty()) QSKIP(test::compiler().unavailable().c_str());
    cuda::SourceOptions options;
    options.chainWay = kGrouped;
    options.chainWay.form = form;
    const cuda::StepSource source = cuda::writeStep(
        test::stepOf(test::checkerboard(512, 256), static_cast<Precision>(precision)), test::h200(),
        options);
    const auto count = [&](const char* words) {
        int found = 0;
        for (size_t at = 0; (at = source.text.find(words, at)) != std::string::npos; ++at)
            ++found;
        return found;
    };
    QCOMPARE(count("kWarpgroups = true"), 6); // F1, F2, B3, W3, B2, W2
    QCOMPARE(count("HS_GROUP_SHARED(shared);"), 6);
    for (const auto& [name, cost] : test::compiler().compile(source.text, 90)) {
        QVERIFY2(cost.spillBytes <= 8 && (cost.registers <= 80 || cost.stackBytes == 0),
                 name.c_str());
        QVERIFY(!cost.isSerialized);
    }
}

} // namespace tst_cuda_warpgroups

QTEST_GUILESS_MAIN(tst_cuda_warpgroups::TestCudaWarpgroups)
#include "tst_cuda_warpgroups.moc"
