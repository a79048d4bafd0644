// What makes a training of small matrices repeat to the bit on every processor: the order of the
// small matrix product on each instruction set, and exponentials, logarithms, sines and error
// functions without the C library's.
#include "engine/cpu/elementwise_loops.h"
#include "engine/cpu/small_gemm.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tst_same_bits {

using namespace halfscope;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kGuard = 0x1.234p100f; ///< a value that no product reaches

using Random = std::mt19937; // the standard defines its numbers

/// Returns whole numbers over 2^12 in +-8: they are the same everywhere, unlike the standard's
/// distributions.
std::vector<float> numbers(Random& random, int64_t count) {
    std::vector<float> values(static_cast<size_t>(std::max<int64_t>(count, 0)));
    for (float& value : values)
        value = static_cast<float>(static_cast<int>(random() % 65536) - 32768) * 0x1p-12f;
    return values;
}

/// The operands of a product, with gaps between rows.
struct Product {
    GemmShape shape;
    std::vector<float> a, b, c;

    Product(GemmShape wanted, Random& random) : shape(wanted) {
        GemmShape& s = shape;
        s.lda = (s.transposeA ? s.m : s.k) + 3;
        s.ldb = (s.transposeB ? s.k : s.n) + 1;
        s.ldc = s.n + 2;
        a = numbers(random, (s.transposeA ? s.k : s.m) * s.lda - 3); // ends with the last row
        b = numbers(random, (s.transposeB ? s.n : s.k) * s.ldb - 1);
        c = numbers(random, s.m * s.ldc);
        for (int64_t i = 0; i < s.m; ++i)
            for (int64_t j = s.n; j < s.ldc; ++j)
                c[static_cast<size_t>(i * s.ldc + j)] = kGuard;
        if (s.k > 2) cancel();
    }
    /// Makes the first and last term large and opposite: the terms in between are rounded at their
    /// size, so that another order shows in the result.
    void cancel() {
        for (int64_t i = 0; i < shape.m; ++i) {
            a[aIndex(i, 0)] = 0x1p30f;
            a[aIndex(i, shape.k - 1)] = -0x1p30f;
        }
        for (int64_t j = 0; j < shape.n; ++j)
            b[bIndex(shape.k - 1, j)] = b[bIndex(0, j)];
    }
    size_t aIndex(int64_t i, int64_t k) const {
        return static_cast<size_t>(shape.transposeA ? k * shape.lda + i : i * shape.lda + k);
    }
    size_t bIndex(int64_t k, int64_t j) const {
        return static_cast<size_t>(shape.transposeB ? j * shape.ldb + k : k * shape.ldb + j);
    }
    /// Returns the result in the order that small_gemm.h states, word for word.
    std::vector<float> wanted() const {
        std::vector<float> out = c;
        for (int64_t i = 0; i < shape.m; ++i) {
            for (int64_t j = 0; j < shape.n; ++j) {
                double sum = 0;
                for (int64_t k = 0; k < shape.k; ++k)
                    sum += double{a[aIndex(i, k)]} * double{b[bIndex(k, j)]};
                float& element = out[static_cast<size_t>(i * shape.ldc + j)];
                element = static_cast<float>((shape.accumulate ? double{element} : 0) + sum);
            }
        }
        return out;
    }
};

bool sameBits(float a, float b) {
    return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

/// Returns FNV-1a over the bits.
uint64_t digest(const std::vector<float>& values) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const float value : values)
        for (int shift = 0; shift < 32; shift += 8)
            hash = (hash ^ ((std::bit_cast<uint32_t>(value) >> shift) & 255)) * 0x100000001b3;
    return hash;
}

using Loop = void (*)(const LoopArgs&);

std::vector<float> resultsOf(Loop loop, const std::vector<float>& x) {
    std::vector<float> y(x.size());
    LoopArgs args;
    args.in[0] = x.data();
    args.out = y.data();
    args.n = x.size();
    loop(args);
    return y;
}

struct Function {
    const char* name;
    Loop loop;
    double (*exact)(double);
    double from, to; ///< the range of arguments that matters
    uint64_t digest; ///< of the results for inputsOf(from, to)
};

constexpr Function kFunctions[] = {
    {"exp", loopExp, std::exp, -105, 89, 0xc2dc0616c7a29c93},
    {"expm1", loopExpm1, std::expm1, -20, 89, 0x59390e6a419bf073},
    {"log", loopLog, std::log, 0x1p-149, 100, 0x3e40e9214d42fc1},
    {"log1p", loopLog1p, std::log1p, -1, 100, 0x33f87a72e8f023b8},
    {"tanh", loopTanh, std::tanh, -10, 10, 0x28d7aeb87157f392},
    {"sigmoid", loopSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -105, 20,
     0x80031ebd8e375c2f},
    {"silu", loopSilu, [](double x) { return x / (1 + std::exp(-x)); }, -105, 100,
     0x43caf49a16b81d73},
    {"sin", loopSin, std::sin, -400, 400, 0xfe2be1afce5f4893},
    {"cos", loopCos, std::cos, -400, 400, 0xd3fb054f90004e98},
    {"sin of large angles", loopSin, std::sin, -0x1p22, 0x1p22, 0x46acea99a152c0b7},
    {"cos of large angles", loopCos, std::cos, -0x1p22, 0x1p22, 0x4cb29ef58b507798},
    {"erf", loopErf, std::erf, -5, 5, 0x6bc22e160b4af777},
    {"gelu", loopGelu, [](double x) { return 0.5 * x * std::erfc(-x * std::sqrt(0.5)); }, -15, 20,
     0x4fccca23d1b5e7dc},
    {"softplus", loopSoftplus, [](double x) { return x > 40 ? x : std::log1p(std::exp(x)); }, -105,
     100, 0x6fe91ca67b248933},
};

/// Returns arguments spread over the range, near 0 and near 1.
std::vector<float> inputsOf(const Function& f) {
    constexpr int kCount = 20'000;
    std::vector<float> x;
    for (int i = 0; i <= kCount; ++i)
        x.push_back(static_cast<float>(f.from + (f.to - f.from) * i / kCount));
    for (float small = 1; small > 0 && f.from < 0; small *= 0.37f) {
        x.push_back(small);
        x.push_back(-small);
    }
    for (int i = -500; i < 500; ++i)
        x.push_back(1 + static_cast<float>(i) * 0x1p-20f);
    std::erase_if(x, [&](float value) { return double{value} < f.from; });
    return x;
}

} // namespace

class TestSameBits : public QObject {
    Q_OBJECT

private slots:
    void productOrder_data() {
        QTest::addColumn<int>("m");
        QTest::addColumn<int>("n");
        QTest::addColumn<int>("k");
        const int sizes[][3] = {{1, 1, 1},     {1, 20, 64},  {64, 1, 20},   {64, 20, 10},
                                {20, 20, 64},  {33, 31, 17}, {31, 33, 257}, {257, 2, 31},
                                {16, 16, 576}, {5, 65, 513}, {23, 129, 7},  {13, 4, 1000},
                                {7, 5, 0}};
        for (const auto& s : sizes)
            QTest::addRow("%d x %d x %d", s[0], s[1], s[2]) << s[0] << s[1] << s[2];
    }
    /// Every path, transposition and way of storing follows the stated order, to the bit, and
    /// writes nothing beside the result.
    void productOrder() {
        QFETCH(int, m);
        QFETCH(int, n);
        QFETCH(int, k);
        Random random(static_cast<uint32_t>(m * 7919 + n * 104729 + k));
        for (int how = 0; how < 8; ++how) {
            GemmShape shape{m, n, k, (how & 1) != 0, (how & 2) != 0};
            shape.accumulate = (how & 4) != 0;
            const Product product(shape, random);
            const std::vector<float> wanted = product.wanted();
            for (const VectorSet path : kVectorSets) {
                if (!hasVectorSet(path)) continue;
                std::vector<float> c = product.c;
                smallGemm(path, product.shape, product.a.data(), product.b.data(), c.data());
                for (size_t i = 0; i < c.size(); ++i)
                    QVERIFY2(sameBits(c[i], wanted[i]),
                             qPrintable(QString("path %1, transposed %2 %3, element %4: %5, not %6")
                                            .arg(static_cast<int>(path))
                                            .arg(shape.transposeA)
                                            .arg(shape.transposeB)
                                            .arg(i)
                                            .arg(double{c[i]}, 0, 'g', 9)
                                            .arg(double{wanted[i]}, 0, 'g', 9)));
            }
        }
    }

    /// gemm() uses it for the sizes of small networks, and only for those.
    void gemmTakesIt() {
        QVERIFY(isSmallGemm({576, 16, 16})); // the largest of the recorded trainings
        QVERIFY(isSmallGemm({16, 16, 576, true}));
        QVERIFY(isSmallGemm({576, 1, 16, false, true}));
        QVERIFY(!isSmallGemm({512, 256, 256}));
        QVERIFY(!isSmallGemm({4096, 1, 128, false, true}));
        Random random(3);
        const Product product({64, 20, 300, false, true}, random);
        std::vector<float> c = product.c;
        gemm(product.shape, product.a.data(), product.b.data(), c.data());
        QVERIFY(c == product.wanted());
    }

    /// Sums that float32 would lose are kept: there is one rounding, at the end.
    void sumsAreInDouble() {
        const std::vector<float> a{0x1p127f, 0x1p127f, -0x1p127f, 0x1p30f, 1, -0x1p30f},
            b{2, 1, 3, 1, 0x1p-20f, 1}; // in float32: inf, and 0 for the last three
        const GemmShape shape{1, 1, 6, false, false, 6, 1, 1};
        for (const VectorSet path : kVectorSets) {
            if (!hasVectorSet(path)) continue;
            float c = 0;
            smallGemm(path, shape, a.data(), b.data(), &c);
            QCOMPARE(c, 0x1p-20f);
        }
    }

    void loopFunctions_data() {
        QTest::addColumn<int>("index");
        for (size_t i = 0; i < std::size(kFunctions); ++i)
            QTest::newRow(kFunctions[i].name) << static_cast<int>(i);
    }
    /// The result is the nearest float except for a share of about 1e-14 / 2^-24, and has the same
    /// bits everywhere.
    void loopFunctions() {
        QFETCH(int, index);
        const Function& f = kFunctions[index];
        const std::vector<float> x = inputsOf(f), y = resultsOf(f.loop, x);
        for (size_t i = 0; i < x.size(); ++i) {
            const double exact = f.exact(double{x[i]});
            const auto nearest = static_cast<float>(exact);
            if (sameBits(y[i], nearest)) continue;
            const float other =
                y[i] < nearest ? std::nextafterf(nearest, -kInf) : std::nextafterf(nearest, kInf);
            // half way between two floats, within the accuracy of the double: either is accepted
            const double middle = (double{nearest} + double{other}) / 2;
            QVERIFY2(sameBits(y[i], other) && std::fabs(exact - middle) <= 1e-13 * std::fabs(exact),
                     qPrintable(QString("%1: %2, not %3")
                                    .arg(double{x[i]}, 0, 'g', 9)
                                    .arg(double{y[i]}, 0, 'g', 9)
                                    .arg(double{nearest}, 0, 'g', 9)));
        }
        QCOMPARE(QString::number(digest(y), 16), QString::number(f.digest, 16));
    }

    /// At the edges, results are as in the C library.
    void loopFunctionsAtTheEdges() {
        const std::vector<float> x{0, -0.0f, kInf, -kInf, std::nanf(""), -1, -2, 0x1p-149f, 3e38f};
        const float nan = std::nanf("");
        const auto check = [&](Loop loop, std::vector<float> wanted) {
            for (size_t i = 0; i < wanted.size(); ++i) {
                // many at a time, for the vectors' sake, but alike: one may change others' way
                for (const float y : resultsOf(loop, std::vector<float>(35, x[i]))) {
                    if (sameBits(y, wanted[i])) continue;
                    qInfo("%g gives %g, not %g", double{x[i]}, double{y}, double{wanted[i]});
                    return false;
                }
            }
            return true;
        };
        QVERIFY(check(loopExp, {1, 1, kInf, 0, nan, 0x1.78b564p-2f, 0x1.152aaap-3f, 1, kInf}));
        QVERIFY(check(loopExpm1, {0, -0.0f, kInf, -1, nan, -0x1.43a54ep-1f, -0x1.bab556p-1f,
                                  0x1p-149f, kInf}));
        QVERIFY(check(loopLog, {-kInf, -kInf, kInf, nan, nan, nan, nan}));
        QVERIFY(check(loopLog1p, {0, -0.0f, kInf, nan, nan, -kInf, nan, 0x1p-149f}));
        QVERIFY(check(loopTanh, {0, -0.0f, 1, -1, nan}));
        QVERIFY(check(loopSin, {0, -0.0f, nan, nan, nan, -0x1.aed548p-1f, -0x1.d18f6ep-1f,
                                0x1p-149f, static_cast<float>(std::sin(double{3e38f}))}));
        QVERIFY(check(loopCos, {1, 1, nan, nan, nan, 0x1.14a28p-1f, -0x1.aa2266p-2f, 1,
                                static_cast<float>(std::cos(double{3e38f}))}));
        QVERIFY(check(loopErf, {0, -0.0f, 1, -1, nan, -0x1.af767ap-1f, -0x1.fd9ae2p-1f}));
        QVERIFY(check(loopGelu, {0, -0.0f, kInf, nan, nan, -0x1.44ed0cp-3f, -0x1.74bcf8p-5f, 0,
                                 3e38f})); // -inf * 0, as in PyTorch
        QVERIFY(check(loopSigmoid, {0.5f, 0.5f, 1, 0, nan}));
        QVERIFY(check(loopSilu, {0, -0.0f, kInf, nan, nan})); // -inf / inf, as in PyTorch
        QVERIFY(check(loopSoftplus, {0x1.62e43p-1f, 0x1.62e43p-1f, kInf, 0, nan}));
    }
};

} // namespace tst_same_bits

QTEST_GUILESS_MAIN(tst_same_bits::TestSameBits)
#include "tst_same_bits.moc"
