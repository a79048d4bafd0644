// Large products compared with double: what an element may be, and that a device which computes one
// of them wrongly fails the case because of it.
#include "engine/verify/judge_product.h"
#include "engine/verify/run_graph.h"

#include <QTest>

#include <algorithm>
#include <cmath>

namespace tst_suite_products {

using namespace halfscope;
using namespace halfscope::recorded;

namespace {

using Numbers = std::vector<double>;

/// A CPU that reads inputs or returns outputs wrongly.
class WrongExecutor final : public Executor {
public:
    using Change = void (*)(const std::string& name, const Node&, Numbers&);
    WrongExecutor(Change inputs, Change outputs) : m_inputs(inputs), m_outputs(outputs) {}

    const DeviceInfo& device() const override { return m_cpu->device(); }
    void load(std::shared_ptr<const Program> program) override {
        m_program = program;
        m_cpu->load(std::move(program));
    }
    RunResult run(RunMode mode, const Visitor& visitor) override {
        return m_cpu->run(mode, visitor);
    }
    void upload(NodeId id, std::span<const std::byte> bytes) override {
        const Node& node = m_program->graph[id];
        Numbers values = fromBytes(node, {bytes.begin(), bytes.end()});
        for (const InputInfo& input : m_program->graph.inputs())
            if (input.node == id && m_inputs != nullptr) m_inputs(input.name, node, values);
        m_cpu->upload(id, toBytes(node, values));
    }
    void download(NodeId id, std::span<std::byte> bytes) override {
        m_cpu->download(id, bytes);
        const Node& node = m_program->graph[id];
        Numbers values = fromBytes(node, {bytes.begin(), bytes.end()});
        for (const OutputInfo& output : m_program->graph.outputs())
            if (output.node == id && m_outputs != nullptr) m_outputs(output.name, node, values);
        const std::vector<std::byte> changed = toBytes(node, values);
        std::copy(changed.begin(), changed.end(), bytes.begin());
    }
    void requestStop() override { m_cpu->requestStop(); }
    double lastStepSeconds() const override { return m_cpu->lastStepSeconds(); }

private:
    Change m_inputs, m_outputs;
    std::unique_ptr<Executor> m_cpu = makeCpuExecutor(2);
    std::shared_ptr<const Program> m_program;
};

struct Flaw {
    const char* name;
    const char* where; ///< the case's name
    WrongExecutor::Change inputs, outputs;
    const char* told; ///< how the difference begins
};

void oneElement(const std::string& name, const Node&, Numbers& values) {
    if (name == "dW") values[199 * 256 + 70] += 1;
}
void lastTerm(const std::string& name, const Node& node, Numbers& values) {
    if (name != "x") return;
    const auto columns = static_cast<size_t>(node.shape.back());
    for (size_t i = columns - 1; i < values.size(); i += columns)
        values[i] = 0;
}
/// Clears the last row of dy: the sum over rows is then wrong, and so is the data's gradient in its
/// last row.
void lastRow(const std::string& name, const Node& node, Numbers& values) {
    if (name == "dy") std::fill(values.end() - node.shape.back(), values.end(), 0.0);
}
/// Rounds towards zero instead of to the nearest.
void cutToTf32(const std::string& name, const Node&, Numbers& values) {
    if (name == "bias") return;
    for (double& x : values) {
        int exponent = 0;
        const double fraction = std::frexp(x, &exponent);
        x = std::ldexp(std::trunc(std::ldexp(fraction, 11)), exponent - 11);
    }
}
void asTf32(const std::string& name, const Node&, Numbers& values) {
    if (name == "dx")
        for (double& x : values) {
            int exponent = 0;
            const double fraction = std::frexp(x, &exponent);
            x = std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
        }
}
void flushed(const std::string&, const Node& node, Numbers& values) {
    for (double& x : values)
        if (std::fabs(x) < formatOf(node.dtype).minNormal) x = 0;
}
void flushedGradient(const std::string& name, const Node& node, Numbers& values) {
    if (name == "dW") flushed(name, node, values);
}
/// Replaces the last value by its neighbour in storage, farther from zero.
void neighbour(const std::string& name, const Node& node, Numbers& values) {
    if (name == "dW") values.back() *= 1 + 2.01 * formatOf(node.dtype).unitRoundoff();
}
void saturated(const std::string&, const Node& node, Numbers& values) {
    for (double& x : values)
        x = std::isnan(x)
                ? x
                : std::clamp(x, -formatOf(node.dtype).maxFinite, formatOf(node.dtype).maxFinite);
}
void nanAsInfinity(const std::string& name, const Node&, Numbers& values) {
    if (name == "dx")
        for (double& x : values)
            x = std::isnan(x) ? INFINITY : x;
}
void nanSomewhere(const std::string& name, const Node&, Numbers& values) {
    if (name == "dW") values[55 * 333 + 201] = NAN;
}

constexpr Flaw kFlaws[] = {
    {"element of a tile", "bf16, 16384 rows, 256 to 256, whole numbers", nullptr, oneElement,
     "dW = dy^T x (256 x 256 x 16384) [199, 70]: "},
    {"last term, odd K", "bf16, 1031 rows, 333 to 77, whole numbers", lastTerm, nullptr,
     "y = x W^T + b (1031 x 77 x 333) ["},
    {"last term, long K", "fp32, 256 rows, 4096 to 128, normal numbers", lastTerm, nullptr,
     "y = x W^T + b (256 x 128 x 4096) ["},
    {"last row of many", "fp16, 16384 rows, 256 to 256, whole numbers", lastRow, nullptr,
     "dx = dy W (16384 x 256 x 256) [16383, "},
    {"operands cut off", "tf32, 1031 rows, 333 to 77, normal numbers", cutToTf32, nullptr,
     "y = x W^T + b (1031 x 77 x 333) ["},
    {"operands cut off, few rows", "tf32, 7 rows, 1025 to 259, normal numbers", cutToTf32, nullptr,
     "y = x W^T + b (7 x 259 x 1025) ["},
    {"results of less precision", "fp32, 1031 rows, 333 to 77, normal numbers", nullptr, asTf32,
     "dx = dy W (1031 x 333 x 77) ["},
    {"subnormals, fp16", "fp16, 1031 rows, 333 to 77, subnormals", flushed, nullptr,
     "y = x W^T + b (1031 x 77 x 333) ["},
    {"subnormals, fp32", "fp32, 7 rows, 1025 to 259, subnormals", flushed, nullptr,
     "y = x W^T + b (7 x 259 x 1025) ["},
    {"subnormal results", "bf16, 7 rows, 1025 to 259, subnormals", nullptr, flushedGradient,
     "dW = dy^T x (259 x 1025 x 7) ["},
    {"rounding of the result", "fp16, 64 rows, 784 to 256, normal numbers", nullptr, neighbour,
     "dW = dy^T x (256 x 784 x 64) [255, 783]: "},
    {"overflow", "fp16, 1031 rows, 333 to 77, large numbers", nullptr, saturated,
     "y = x W^T + b (1031 x 77 x 333) ["},
    {"infinities", "fp32, 7 rows, 1025 to 259, infinities and a NaN", nullptr, saturated,
     "y = x W^T + b (7 x 259 x 1025) ["},
    {"a NaN", "bf16, 1031 rows, 333 to 77, infinities and a NaN", nullptr, nanAsInfinity,
     "dx = dy W (1031 x 333 x 77) ["},
    {"a NaN too many", "tf32, 1031 rows, 333 to 77, infinities and a NaN", nullptr, nanSomewhere,
     "dW = dy^T x (77 x 333 x 1031) [55, 201]: nan instead of "},
};

CaseResult resultOn(std::unique_ptr<Executor> executor, const std::string& name) {
    VerifyDevice device;
    device.executor = std::move(executor);
    for (const VerifyCase& c : productsSuite(device).cases)
        if (c.name == name) return c.run();
    return {0, 0, "no such case", {}};
}

/// A row times a column, as an element of type `type`.
struct OneElement {
    Numbers row, column;
    DType type = DType::F32;
    MathMode math = MathMode::F32;
    Numbers bias = {};
    CaseResult judged(double got, Elements elements = Elements::Sample) const {
        CaseResult result;
        const auto k = static_cast<int64_t>(row.size());
        judgeProduct(result,
                     {"y",
                      1,
                      1,
                      k,
                      {row.data(), k, 1},
                      {column.data(), 1, 1},
                      bias.empty() ? nullptr : bias.data(),
                      type,
                      math},
                     {got}, elements);
        return result;
    }
};

} // namespace

class TestSuiteProducts : public QObject {
    Q_OBJECT

private slots:
    void bound();
    void roundsOnceToStorage();
    void biasIsAddedBeforeRounding();
    void limitsOfNumbers();
    void everyWholeElement();
    void namesItsCases();
    void wrongDeviceFails_data();
    void wrongDeviceFails();
};

/// The bound: (K + 3) roundings of the terms' sizes in f32, and K + 1 of operands that have fewer
/// bits.
void TestSuiteProducts::bound() {
    const OneElement strict{{1, -1, 1}, {1, 1, 1}},
        tf32{{1, -1, 1}, {1, 1, 1}, DType::F32, MathMode::TF32};
    const CaseResult exact = strict.judged(1);
    QVERIFY(exact.passed());
    QCOMPARE(exact.deviation, 0.0);
    QVERIFY(std::fabs(exact.bound / (6 * 0x1p-24) - 1) < 1e-6);
    QVERIFY(std::fabs(tf32.judged(1).bound / (4 * 0x1p-24) - 1) < 1e-6);
    // relative to the three terms; half a unit in the last place of 1 is its rounding
    QVERIFY(strict.judged(1 + 9 * 0x1p-23).passed());
    QVERIFY(!strict.judged(1 + 10 * 0x1p-23).passed());
    QVERIFY(tf32.judged(1 + 6 * 0x1p-23).passed());
    const CaseResult wrong = tf32.judged(1 + 7 * 0x1p-23);
    QVERIFY(wrong.deviation > wrong.bound && wrong.deviation < 1.2 * wrong.bound);
    QVERIFY2(wrong.difference == "y (1 x 1 x 3) [0, 0]: 1.0000008344650269 instead of 1",
             wrong.difference.c_str());
}

void TestSuiteProducts::roundsOnceToStorage() {
    const OneElement tie{{1, 0x1p-11}, {1, 1}, DType::F16}; // between 1 and the next half
    QVERIFY(tie.judged(1).passed() && tie.judged(1 + 0x1p-10).passed());
    QVERIFY(!tie.judged(1 - 0x1p-11).passed() && !tie.judged(1 + 0x1p-9).passed());
    const OneElement above{{1, 0x1.1p-11}, {1, 1}, DType::F16};
    QVERIFY(!above.judged(1).passed() && above.judged(1 + 0x1p-10).passed());
}

void TestSuiteProducts::biasIsAddedBeforeRounding() {
    const OneElement c{{2048, 0.75}, {1, 1}, DType::F16, MathMode::F32, {-2048}};
    QVERIFY(c.judged(0.75).passed() && !c.judged(0).passed() && !c.judged(1).passed());
}

void TestSuiteProducts::limitsOfNumbers() {
    const OneElement beyond{{65504, 16}, {1, 1}, DType::F16}; // the tie at the limit
    QVERIFY(beyond.judged(INFINITY).passed() && beyond.judged(65504).passed());
    QVERIFY(!beyond.judged(-INFINITY).passed() && !beyond.judged(NAN).passed());
    QVERIFY(std::isinf(beyond.judged(NAN).deviation));
    const OneElement infinite{{INFINITY, 1}, {-1, 1}};
    QVERIFY(infinite.judged(-INFINITY).passed());
    for (const double other : {double{INFINITY}, double{NAN}, -3e38})
        QVERIFY(!infinite.judged(other).passed());
    const OneElement none{{INFINITY, 1}, {0, 1}};
    QVERIFY(none.judged(NAN).passed() && !none.judged(INFINITY).passed());
    const OneElement zero{{0, 0}, {1, 1}};
    QVERIFY(zero.judged(0).passed() && !zero.judged(0x1p-149).passed());
}

/// Tests one wrong element anywhere, one that is a NaN, and none.
void TestSuiteProducts::everyWholeElement() {
    constexpr int64_t kM = 20, kN = 30, kK = 3;
    Numbers a, b, exact;
    for (int64_t i = 0; i < kM * kK; ++i)
        a.push_back(static_cast<double>(i * 7 % 3 - 1));
    for (int64_t i = 0; i < kK * kN; ++i)
        b.push_back(static_cast<double>(i * 5 % 7 % 3 - 1));
    for (int64_t i = 0; i < kM; ++i)
        for (int64_t j = 0; j < kN; ++j) {
            exact.push_back(0);
            for (int64_t p = 0; p < kK; ++p)
                exact.back() +=
                    a[static_cast<size_t>(i * kK + p)] * b[static_cast<size_t>(p * kN + j)];
        }
    const ProductTruth truth{"y", kM, kN, kK, {a.data(), kK, 1}, {b.data(), kN, 1}};
    const auto judged = [&](const Numbers& got) {
        CaseResult result;
        judgeProduct(result, truth, got, Elements::All);
        return result;
    };
    QVERIFY(judged(exact).passed());
    for (size_t i = 0; i < exact.size(); ++i)
        for (const double by : {1.0, double{NAN}}) {
            Numbers wrong = exact;
            wrong[i] += by;
            const CaseResult result = judged(wrong);
            const std::string place =
                " [" + std::to_string(i / kN) + ", " + std::to_string(i % kN) + "]: ";
            QVERIFY2(result.difference.find(place) != std::string::npos, place.c_str());
            QCOMPARE(result.deviation, 1.0);
        }
}

void TestSuiteProducts::namesItsCases() {
    VerifyDevice none;
    std::vector<std::string> names;
    for (const VerifyCase& c : productsSuite(none).cases)
        names.push_back(c.name);
    for (const char* precision : {"fp32, ", "tf32, ", "fp16, ", "bf16, "})
        QCOMPARE(std::count_if(names.begin(), names.end(),
                               [&](const std::string& n) { return n.starts_with(precision); }),
                 17);
    std::sort(names.begin(), names.end());
    QVERIFY(std::adjacent_find(names.begin(), names.end()) == names.end());
}

void TestSuiteProducts::wrongDeviceFails_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < std::size(kFlaws); ++i)
        QTest::addRow("%s", kFlaws[i].name) << static_cast<int>(i);
}

void TestSuiteProducts::wrongDeviceFails() {
    QFETCH(int, index);
    const Flaw& flaw = kFlaws[index];
    const CaseResult right =
        resultOn(std::make_unique<WrongExecutor>(nullptr, nullptr), flaw.where);
    QVERIFY2(right.passed(), right.difference.c_str());
    const CaseResult wrong =
        resultOn(std::make_unique<WrongExecutor>(flaw.inputs, flaw.outputs), flaw.where);
    QVERIFY2(wrong.difference.starts_with(flaw.told), wrong.difference.c_str());
    QVERIFY(wrong.deviation > wrong.bound);
}

} // namespace tst_suite_products

QTEST_GUILESS_MAIN(tst_suite_products::TestSuiteProducts)
#include "tst_suite_products.moc"
