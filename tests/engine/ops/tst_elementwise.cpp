// The f32 loops of the elementwise rows compared with the double references: ordinary numbers,
// special values, odd lengths, results written over an input. Storage and threads belong to the
// executor.
#include "engine/core/philox.h"
#include "engine/cpu/op_table.h"
#include "engine/graph/op.h"
#include "engine/ops/families.h"
#include "tests/support/elementwise_attrs.h"
#include "tests/support/library_ops.h"

#include <QtTest>
#include <bit>
#include <cmath>
#include <limits>

namespace tst_elementwise {

using namespace halfscope;

namespace {

constexpr uint64_t kSeed = 987;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Whether an op is rounded once, to the last bit; other ops may err by 2 ulp.
bool isExact(Op op) { return !test::isLibraryFunction(op) && op != Op::Rsqrt; }

/// Returns the distance in units in the last place of the wanted value; subnormals use the smallest
/// normal's.
double ulpsOff(float found, double wanted) {
    if (std::isnan(wanted)) return std::isnan(found) ? 0 : kInf;
    const auto nearest = static_cast<float>(wanted);
    if (found == nearest) return 0;
    if (!std::isfinite(nearest) || !std::isfinite(found)) return kInf;
    int exponent = 0;
    std::frexp(wanted, &exponent);
    return std::fabs(found - wanted) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

using Columns = std::array<std::vector<float>, 3>;

/// Returns n values for each operand, masks where the op needs them: uniform ones, then ones over
/// many magnitudes.
Columns operandsFor(const OpInfo& row, size_t n, uint64_t seed) {
    const bool logical =
        row.op == Op::LogicalNot || row.op == Op::LogicalAnd || row.op == Op::LogicalOr;
    Columns columns;
    for (size_t k = 0; k < static_cast<size_t>(row.arity); ++k) {
        const Philox random(seed, k);
        for (size_t i = 0; i < n; ++i) {
            const float u = random.uniform(2 * i), v = random.uniform(2 * i + 1);
            float x = i % 2 == 0 ? 8 * u - 4 : std::ldexp(2 * u - 1, static_cast<int>(60 * v) - 30);
            if (logical || (row.op == Op::Where && k == 0)) x = u < 0.5f ? 0.0f : 1.0f;
            columns[k].push_back(x);
        }
    }
    return columns;
}

Attrs attrsFor(Op op) { return test::elementwiseAttrs(op, {-1, 2}); }

std::vector<float> runLoop(const OpInfo& row, const Columns& columns, float* out) {
    const size_t n = columns[0].size();
    std::vector<float> own(n);
    LoopArgs args;
    for (size_t k = 0; k < 3; ++k)
        args.in[k] = columns[k].data();
    args.out = out != nullptr ? out : own.data();
    args.n = n;
    const Attrs attrs = attrsFor(row.op);
    args.attrs = &attrs;
    cpuOpOf(row.op).loop(args);
    return {args.out, args.out + n};
}

std::vector<double> runReference(const OpInfo& row, const Columns& columns) {
    const size_t n = columns[0].size();
    const Shape shape{static_cast<int64_t>(n)};
    std::vector<RefTensor> in;
    for (size_t k = 0; k < static_cast<size_t>(row.arity); ++k)
        in.push_back({shape, {columns[k].begin(), columns[k].end()}});
    RefTensor out{shape, std::vector<double>(n)};
    row.reference(in, attrsFor(row.op), out);
    return out.values;
}

std::string firstDifference(const OpInfo& row, const Columns& columns) {
    const auto found = runLoop(row, columns, nullptr);
    const auto wanted = runReference(row, columns);
    for (size_t i = 0; i < found.size(); ++i) {
        const double off = ulpsOff(found[i], wanted[i]);
        if (off <= (isExact(row.op) ? 0 : 2)) continue;
        std::string text = std::string(row.name) + "(";
        for (size_t k = 0; k < static_cast<size_t>(row.arity); ++k)
            text += std::to_string(columns[k][i]) + " ";
        return text + ") at " + std::to_string(i) + ": " + std::to_string(found[i]) + ", wanted " +
               std::to_string(wanted[i]) + ", ulps " + std::to_string(off) + ", seed " +
               std::to_string(kSeed);
    }
    return {};
}

} // namespace

class TestElementwise : public QObject {
    Q_OBJECT

private slots:
    void ordinary_data();
    void ordinary();
    void special_data() { ordinary_data(); }
    void special();
    void overAnInput_data() { ordinary_data(); }
    void overAnInput();
    void conventions_data();
    void conventions();
};

void TestElementwise::ordinary_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < elementwiseOps().size(); ++i)
        QTest::newRow(std::string(elementwiseOps()[i].name).c_str()) << static_cast<int>(i);
}

void TestElementwise::ordinary() {
    QFETCH(int, index);
    const OpInfo& row = elementwiseOps()[static_cast<size_t>(index)];
    for (const size_t n : {1u, 31u, 33u, 257u, 20000u}) {
        const std::string wrong = firstDifference(row, operandsFor(row, n, kSeed));
        QVERIFY2(wrong.empty(), wrong.c_str());
    }
}

void TestElementwise::special() {
    QFETCH(int, index);
    const OpInfo& row = elementwiseOps()[static_cast<size_t>(index)];
    const std::vector<float> odd = {
        0.0f,       -0.0f,     1.0f,      -1.0f,   2.0f,     kInf,  -kInf, kNan,    0x1p-149f,
        -0x1p-149f, 0x1p-126f, 0x1p-130f, 3.4e38f, -3.4e38f, 20.0f, 20.5f, -87.0f,  88.5f,
        -103.0f,    89.0f,     -0x1p-24f, -100.0f, 1e-20f,   0.5f,  -0.5f, 65504.0f};
    const bool masks =
        row.op == Op::LogicalNot || row.op == Op::LogicalAnd || row.op == Op::LogicalOr;
    Columns columns;
    for (const float a : odd) {
        for (const float c : odd) {
            columns[0].push_back(masks || row.op == Op::Where ? float(a > c) : a);
            columns[1].push_back(masks ? float(a > 0) : c);
            columns[2].push_back(a);
        }
    }
    const std::string wrong = firstDifference(row, columns);
    QVERIFY2(wrong.empty(), wrong.c_str());
}

void TestElementwise::overAnInput() {
    QFETCH(int, index);
    const OpInfo& row = elementwiseOps()[static_cast<size_t>(index)];
    const Columns columns = operandsFor(row, 257, kSeed + 1);
    const auto apart = runLoop(row, columns, nullptr);
    for (size_t k = 0; k < static_cast<size_t>(row.arity); ++k) {
        Columns reused = columns;
        const auto over = runLoop(row, reused, reused[k].data());
        for (size_t i = 0; i < apart.size(); ++i)
            QCOMPARE(std::bit_cast<uint32_t>(over[i]), std::bit_cast<uint32_t>(apart[i]));
    }
}

void TestElementwise::conventions_data() {
    QTest::addColumn<int>("op");
    QTest::addColumn<QList<float>>("in");
    QTest::addColumn<float>("wanted");
    const auto row = [](const char* name, Op op, QList<float> in, float wanted) {
        QTest::newRow(name) << static_cast<int>(op) << in << wanted;
    };
    row("relu nan", Op::Relu, {kNan}, kNan);
    row("relu -0", Op::Relu, {-0.0f}, 0.0f);
    row("relu inf", Op::Relu, {kInf}, kInf);
    row("sign 0", Op::Sign, {0}, 0);
    row("sign nan", Op::Sign, {kNan}, 0);
    row("sign", Op::Sign, {-3}, -1);
    row("clamp nan", Op::Clamp, {kNan}, kNan);
    row("clamp inf", Op::Clamp, {kInf}, 2);
    row("clamp -inf", Op::Clamp, {-kInf}, -1);
    row("maximum nan first", Op::Maximum, {kNan, 1}, kNan);
    row("maximum nan second", Op::Maximum, {1, kNan}, kNan);
    row("minimum nan first", Op::Minimum, {kNan, 1}, kNan);
    row("minimum nan second", Op::Minimum, {1, kNan}, kNan);
    row("nan is not itself", Op::Equal, {kNan, kNan}, 0);
    row("zeros are equal", Op::Equal, {0, -0.0f}, 1);
    row("inf is not finite", Op::IsFinite, {kInf}, 0);
    row("nan is not finite", Op::IsFinite, {kNan}, 0);
    row("largest is finite", Op::IsFinite, {-std::numeric_limits<float>::max()}, 1);
    row("x^0", Op::Pow, {kNan, 0}, 1);
    row("neg 0", Op::Neg, {0}, -0.0f);
    row("sqrt -0", Op::Sqrt, {-0.0f}, -0.0f);
    row("where takes no nan from the other side", Op::Where, {0, kNan, 3}, 3);
    row("softplus above the threshold", Op::Softplus, {21}, 21);
    row("sigmoid far left", Op::Sigmoid, {-100}, 3.783506e-44f);
    row("round half to even", Op::Round, {2.5f}, 2);
    row("round half up to even", Op::Round, {-3.5f}, -4);
    row("round -0.5", Op::Round, {-0.5f}, -0.0f);
    row("ceil", Op::Ceil, {-1.5f}, -1);
    row("trunc", Op::Trunc, {-1.5f}, -1);
    row("trunc nan", Op::Trunc, {kNan}, kNan);
    row("erfinv 1", Op::Erfinv, {1}, kInf);
    row("erfinv -1", Op::Erfinv, {-1}, -kInf);
    row("erfinv beyond", Op::Erfinv, {1.5f}, kNan);
    row("erfinv smallest", Op::Erfinv, {0x1p-149f}, 0x1p-149f);
    row("atan2 of zeros", Op::Atan2, {-0.0f, 0.0f}, -0.0f);
    row("log2", Op::Log2, {0x1p-149f}, -149);
    row("log1p small", Op::Log1p, {0x1p-40f}, 0x1p-40f);
    row("expm1 -0", Op::Expm1, {-0.0f}, -0.0f);
    row("log1p -0", Op::Log1p, {-0.0f}, -0.0f);
    row("tanh -0", Op::Tanh, {-0.0f}, -0.0f);
}

void TestElementwise::conventions() {
    QFETCH(int, op);
    QFETCH(QList<float>, in);
    QFETCH(float, wanted);
    const OpInfo& info = infoOf(static_cast<Op>(op));
    // a full vector of the same value: the vector code follows the convention, too
    Columns columns;
    for (qsizetype k = 0; k < in.size(); ++k)
        columns[static_cast<size_t>(k)].assign(67, in[k]);
    for (const float found : runLoop(info, columns, nullptr)) {
        if (std::isnan(wanted))
            QVERIFY(std::isnan(found));
        else
            QCOMPARE(std::bit_cast<uint32_t>(found), std::bit_cast<uint32_t>(wanted));
    }
}

} // namespace tst_elementwise

QTEST_GUILESS_MAIN(tst_elementwise::TestElementwise)
#include "tst_elementwise.moc"
