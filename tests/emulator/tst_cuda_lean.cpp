// Products with fewer instructions around their elements (ChainWay::lean): the bits of the usual
// way, the same lines of memory asked for ahead, and tests that see where they are not.
#include "tests/support/chain_plans.h"
#include "tests/support/chained_step.h"
#include "tests/support/one_product.h"

#include <QtTest>

namespace tst_cuda_lean {

using namespace halfscope;
using cuda::ChainWay;
using cuda::ElementForm;
using test::outcomeOf;
using test::traitsFor;
using Case = test::ProductCase;
using Outcome = test::ProductOutcome;

namespace {

constexpr size_t kShared = test::kH200Shared;

constexpr ChainWay kLean{.lean = true};

constexpr MatmulAttrs kAlong{false, true}, kDeep{true, false};
/// Several steps of several tiles in each part: what is asked for ahead is asked for.
Case longCase() { return {.m = 700, .n = 128, .k = 200, .attrs = kAlong}; }
Case longDeepCase() { return {.m = 130, .n = 128, .k = 500, .attrs = kDeep}; }

} // namespace

class TestCudaLean : public QObject {
    Q_OBJECT
private slots:
    void products_data();
    void products();
    void plantedFaults_data();
    void plantedFaults();
    void strayLines();
    void steps_data();
    void steps();
};

void TestCudaLean::products_data() {
    QTest::addColumn<Case>("product");
    const struct {
        const char* name;
        DType dtype;
        MathMode math;
    } types[] = {{"f16", DType::F16, MathMode::F32FromHalf},
                 {"bf16", DType::BF16, MathMode::F32FromHalf},
                 {"tf32", DType::F32, MathMode::TF32},
                 {"f32", DType::F32, MathMode::F32}};
    for (const auto& type : types) {
        const auto row = [&](const char* what, int m, int n, int k, MatmulAttrs attrs,
                             size_t sharedBytes = kShared, int capability = 90) {
            QTest::addRow("%s, %s", type.name, what)
                << Case{type.dtype, type.math, m, n, k, attrs, sharedBytes, capability};
        };
        row("whole tiles", 768, 128, 128, kAlong);
        row("odd, two tiles across", 531, 301, 17, {});
        row("b from memory", 700, 128, 70, kAlong, 72000);
        row("deep", 64, 256, 517, kDeep);
        if (type.dtype != DType::F16) continue; // as for it
        row("b not transposed", 400, 72, 40, {});
        row("odd", 1057, 33, 31, kAlong);
        row("deep, odd", 33, 31, 657, kDeep);
        row("small tiles", 531, 301, 70, kAlong, 50000, 80);
        row("deep, small tiles", 130, 200, 457, kDeep, 30000, 80);
    }
}

void TestCudaLean::products() {
    QFETCH(Case, product);
    const Outcome usual = outcomeOf(product, {});
    const Outcome other = outcomeOf(product, kLean);
    QVERIFY(usual.arena == other.arena);
    QVERIFY(usual.asked == other.asked);
}

/// Of each mechanism what would be wrong if it were: the comparison sees it.
void TestCudaLean::plantedFaults_data() {
    QTest::addColumn<Case>("product");
    QTest::addColumn<QString>("part");
    QTest::addColumn<QString>("by");
    const auto row = [](const char* what, const Case& product, const char* part, const char* by) {
        QTest::newRow(what) << product << part << by;
    };
    row("lines of other threads", longCase(), "first + threadIdx.x", "first + (threadIdx.x & ~1u)");
    row("lines of another row", longDeepCase(), "row0 + i / kLines", "row0 + i % kLines");
    row("place of a group", longDeepCase(), "i % kCycle * kStep", "0 * kStep");
    row("rows of operand a", longCase(), "16 * i * A::kRowBytes", "8 * i * A::kRowBytes");
    row("rows of operand b", longCase(), "8 * j * B::kRowBytes", "4 * j * B::kRowBytes");
    row("inner index of a", longDeepCase(), "+ k * A::kRowBytes", "");
    row("inner index of b", longDeepCase(), "+ k * B::kRowBytes", "");
    row("sums of the tile before", longCase(), "if (C::kLean && k == 0) clear(sums);", "");
    row("a step that stays", longDeepCase(), "x += By;", "");
}

void TestCudaLean::plantedFaults() {
    if (test::emulatedCapability() != 0) QSKIP("the words replaced are the emulator's");
    QFETCH(Case, product);
    QFETCH(QString, part);
    QFETCH(QString, by);
    const Outcome usual = outcomeOf(product, {});
    const Outcome right = outcomeOf(product, kLean);
    QVERIFY(!usual.asked.empty());
    QVERIFY(usual.arena == right.arena && usual.asked == right.asked);
    const Outcome wrong = outcomeOf(product, kLean, part.toStdString(), by.toStdString());
    QVERIFY(wrong.arena != usual.arena || wrong.asked != usual.asked);
}

/// A line that is not the step's memory is asked for by mistake, if without harm.
void TestCudaLean::strayLines() {
    try {
        Case whole = longCase(); // else a row is compared with their count
        whole.m = 768;
        (void)outcomeOf(whole, kLean, "row0 + i / kLines", "row0 + 100000 + i / kLines");
        QFAIL("nobody minds");
    } catch (const std::runtime_error& error) {
        const std::string words = error.what();
        QVERIFY2(words.find("ahead") != std::string::npos ||
                     words.find("outside every area") != std::string::npos,
                 words.c_str());
    }
}

void TestCudaLean::steps_data() {
    QTest::addColumn<int>("precision");
    QTest::addColumn<ElementForm>("form");
    const auto row = [](const char* name, Precision precision, ElementForm form) {
        QTest::newRow(name) << static_cast<int>(precision) << form;
    };
    row("amp-fp16", Precision::AmpFp16, ElementForm::AsWritten);
    row("amp-fp16, collected", Precision::AmpFp16, ElementForm::Collected);
    row("amp-bf16, collected", Precision::AmpBf16, ElementForm::Collected);
    row("tf32, collected", Precision::Tf32, ElementForm::Collected);
}

/// Whole steps: the states' bits, and every chain's stores within the bounds of its members.
void TestCudaLean::steps() {
    QFETCH(int, precision);
    QFETCH(ElementForm, form);
    ChainWay way{.form = form};
    const auto step = [&] {
        return test::stepInTiles(static_cast<Precision>(precision), test::traitsFor(way));
    };
    const test::TiledStep before = step();
    way.lean = true;
    const test::TiledStep after = step();
    QVERIFY2(after.fault.empty(), after.fault.c_str());
    QVERIFY(std::any_of(after.states.begin(), after.states.end(), [](double x) { return x != 0; }));
    QVERIFY(before.states == after.states);
}

} // namespace tst_cuda_lean

QTEST_GUILESS_MAIN(tst_cuda_lean::TestCudaLean)
#include "tst_cuda_lean.moc"
