// Storage types: every half and bfloat16 value both ways, every tie between neighbours, and each
// block path compared with the scalar conversions. The oracle below knows only the values of the
// format.
#include "engine/core/dtype.h"
#include "engine/core/dtype_blocks.h"
#include "engine/core/philox.h"

#include <QTest>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace tst_dtype {

using namespace halfscope;

namespace {

constexpr uint64_t kSeed = 20240611;

struct LowFormat {
    DType type;
    uint16_t infinity;
    int storedBits; ///< of the significand
    uint16_t (*fromFloat)(float);
    uint16_t (*fromDouble)(double);
    float (*toFloat)(uint16_t);
};
const LowFormat kHalf{DType::F16, 0x7C00, 10, halfFromFloat, halfFromDouble, floatFromHalf};
const LowFormat kBfloat16{DType::BF16,        0x7F80,           7, bfloat16FromFloat,
                          bfloat16FromDouble, floatFromBfloat16};

// Returns the value of a finite pattern, by the definition of the format.
double valueOf(const LowFormat& format, uint16_t bits) {
    const int bias = (1 << (14 - format.storedBits)) - 1;
    const int field = (bits & 0x7FFF) >> format.storedBits;
    const int fraction = bits & ((1 << format.storedBits) - 1);
    const int significand = field == 0 ? fraction : fraction + (1 << format.storedBits);
    const double magnitude = std::ldexp(significand, std::max(field, 1) - bias - format.storedBits);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

bool sameBits(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}
bool isNanPattern(const LowFormat& format, uint16_t bits) {
    return (bits & 0x7FFF) > format.infinity;
}
bool samePattern(const LowFormat& format, uint16_t a, uint16_t b) {
    return a == b || (isNanPattern(format, a) && isNanPattern(format, b));
}

// Returns values where conversions go wrong: every pattern, every tie, its two neighbours, the
// float subnormals, infinities and NaNs.
std::vector<float> hardFloats(const LowFormat& format) {
    std::vector<float> values;
    for (uint32_t bits = 0; bits < 0x10000; ++bits)
        values.push_back(format.toFloat(static_cast<uint16_t>(bits)));
    for (uint16_t bits = 0; bits < format.infinity; ++bits) {
        const double step =
            valueOf(format, static_cast<uint16_t>(bits + 1)) - valueOf(format, bits);
        const auto tie = static_cast<float>(valueOf(format, bits) + step / 2);
        for (const float sign : {1.0F, -1.0F})
            for (const float value :
                 {tie, std::nextafter(tie, 0.0F), std::nextafter(tie, INFINITY)})
                values.push_back(sign * value);
    }
    for (const uint32_t bits : {0x00000001U, 0x007FFFFFU, 0x00800000U, 0x7F7FFFFFU, 0x7F800000U,
                                0x7F800001U, 0x7FBFFFFFU, 0x7FC00000U, 0x7FFFFFFFU})
        for (const uint32_t sign : {0U, 0x80000000U})
            values.push_back(std::bit_cast<float>(bits | sign));
    return values;
}

std::vector<float> randomFloats(size_t count) {
    std::vector<float> values(count);
    const Philox random(kSeed, 1);
    for (size_t i = 0; i < count; ++i)
        values[i] = std::bit_cast<float>(random.bits(i));
    return values;
}

QString hex(uint32_t bits) { return "0x" + QString::number(bits, 16); }

} // namespace

class TestDType : public QObject {
    Q_OBJECT

private:
    static void lowFormats() {
        QTest::addColumn<const LowFormat*>("format");
        QTest::newRow("float16") << &kHalf;
        QTest::newRow("bfloat16") << &kBfloat16;
    }

private slots:
    void properties_data();
    void properties();
    void names();
    void everyPattern_data() { lowFormats(); }
    void everyPattern();
    void everyTie_data() { lowFormats(); }
    void everyTie();
    void specialValues_data() { lowFormats(); }
    void specialValues();
    void noDoubleRounding_data() { lowFormats(); }
    void noDoubleRounding();
    void nearestOfRandomDoubles_data() { lowFormats(); }
    void nearestOfRandomDoubles();
    void roundToOtherTypes();
    void blocksEqualScalars_data();
    void blocksEqualScalars();
    void blocksOfAnyLengthAndAlignment_data() { blocksEqualScalars_data(); }
    void blocksOfAnyLengthAndAlignment();
    void loadAndStoreEveryType_data();
    void loadAndStoreEveryType();
};

void TestDType::properties_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("bytes");
    QTest::addColumn<int>("bits");
    QTest::addColumn<double>("maxFinite");
    QTest::addColumn<double>("minNormal");
    QTest::addColumn<double>("minSubnormal");
    const auto row = [](DType type, int bytes, int bits, double max, double normal, double tiny) {
        QTest::newRow(std::string(nameOf(type)).c_str())
            << static_cast<int>(type) << bytes << bits << max << normal << tiny;
    };
    using Float = std::numeric_limits<float>;
    using Double = std::numeric_limits<double>;
    row(DType::F16, 2, 11, 65504.0, 0x1p-14, 0x1p-24);
    row(DType::BF16, 2, 8, 0x1.fep127, 0x1p-126, 0x1p-133);
    row(DType::F32, 4, 24, static_cast<double>(Float::max()), static_cast<double>(Float::min()),
        static_cast<double>(Float::denorm_min()));
    row(DType::F64, 8, 53, Double::max(), Double::min(), Double::denorm_min());
    row(DType::I32, 4, 0, 0, 0, 0);
    row(DType::Bool, 1, 0, 0, 0, 0);
}

void TestDType::properties() {
    QFETCH(int, type);
    QFETCH(int, bytes);
    QFETCH(int, bits);
    const auto dtype = static_cast<DType>(type);
    QCOMPARE(bytesOf(dtype), static_cast<size_t>(bytes));
    QCOMPARE(isFloat(dtype), bits > 0);
    QCOMPARE(isLow(dtype), bits > 0 && bytes == 2);
    if (bits == 0) {
        QVERIFY_THROWS_EXCEPTION(std::logic_error, formatOf(dtype));
        return;
    }
    const FloatFormat& format = formatOf(dtype);
    QCOMPARE(format.significandBits, bits);
    QTEST(format.maxFinite, "maxFinite");
    QTEST(format.minNormal, "minNormal");
    QTEST(format.minSubnormal, "minSubnormal");
    QCOMPARE(format.unitRoundoff(), std::ldexp(1.0, -bits));
}

void TestDType::names() {
    for (int i = 0; i < kDTypeCount; ++i) {
        const auto type = static_cast<DType>(i);
        QVERIFY(dtypeNamed(nameOf(type)) == type);
    }
    QVERIFY(!dtypeNamed("half"));
    QVERIFY(!dtypeNamed(""));
}

void TestDType::everyPattern() {
    QFETCH(const LowFormat*, format);
    for (uint32_t i = 0; i < 0x10000; ++i) {
        const auto bits = static_cast<uint16_t>(i);
        const float value = format->toFloat(bits);
        if (isNanPattern(*format, bits)) {
            QVERIFY2(std::isnan(value), qPrintable(hex(bits)));
        } else if ((bits & 0x7FFF) == format->infinity) {
            QVERIFY2(std::isinf(value) && std::signbit(value) == (bits >= 0x8000),
                     qPrintable(hex(bits)));
        } else {
            QVERIFY2(static_cast<double>(value) == valueOf(*format, bits), qPrintable(hex(bits)));
        }
        const uint16_t back = format->fromFloat(value);
        const uint16_t fromDouble = format->fromDouble(static_cast<double>(value));
        QVERIFY2(samePattern(*format, back, bits), qPrintable(hex(bits)));
        QVERIFY2(samePattern(*format, fromDouble, bits), qPrintable(hex(bits)));
        QVERIFY2((back & 0x8000) == (bits & 0x8000), qPrintable(hex(bits)));
    }
}

void TestDType::everyTie() {
    QFETCH(const LowFormat*, format);
    // Between each pattern and the next, the middle rounds to the even one and its neighbours to
    // theirs.
    for (uint16_t bits = 0; bits < format->infinity; ++bits) {
        const auto above = static_cast<uint16_t>(bits + 1);
        const double low = valueOf(*format, bits);
        const double tie = low + (valueOf(*format, above) - low) / 2;
        const uint16_t even = bits % 2 == 0 ? bits : above;
        for (const double sign : {1.0, -1.0}) {
            const uint16_t signBit = sign < 0 ? 0x8000 : 0;
            QCOMPARE(format->fromDouble(sign * tie), even | signBit);
            QCOMPARE(format->fromDouble(sign * std::nextafter(tie, 0.0)), bits | signBit);
            QCOMPARE(format->fromDouble(sign * std::nextafter(tie, 1e300)), above | signBit);
            const auto tieFloat = static_cast<float>(tie); // exact: one bit more than the format
                                                           // has
            QCOMPARE(format->fromFloat(static_cast<float>(sign) * tieFloat), even | signBit);
            QCOMPARE(format->fromFloat(static_cast<float>(sign) * std::nextafter(tieFloat, 0.0F)),
                     bits | signBit);
            QCOMPARE(
                format->fromFloat(static_cast<float>(sign) * std::nextafter(tieFloat, INFINITY)),
                above | signBit);
        }
    }
}

void TestDType::specialValues() {
    QFETCH(const LowFormat*, format);
    const double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    QCOMPARE(format->fromDouble(infinity), format->infinity);
    QCOMPARE(format->fromDouble(-infinity), format->infinity | 0x8000);
    QVERIFY(isNanPattern(*format, format->fromDouble(nan)));
    QVERIFY(isNanPattern(*format, format->fromFloat(std::bit_cast<float>(0x7F800001U))));
    QCOMPARE(format->fromDouble(-0.0), 0x8000);
    QCOMPARE(format->fromDouble(1e300), format->infinity);
    QCOMPARE(format->fromDouble(-std::numeric_limits<double>::denorm_min()), 0x8000);
    const FloatFormat& properties = formatOf(format->type);
    QCOMPARE(format->fromDouble(properties.maxFinite), format->infinity - 1);
    QCOMPARE(format->fromDouble(properties.minSubnormal), 1);
    QCOMPARE(format->fromDouble(properties.minSubnormal / 2), 0); // a tie, and 0 is even
    QCOMPARE(format->fromDouble(std::nextafter(properties.minSubnormal / 2, 1.0)), 1);
    QCOMPARE(format->fromDouble(properties.minNormal), 1 << format->storedBits);
}

void TestDType::noDoubleRounding() {
    QFETCH(const LowFormat*, format);
    // Just above a tie, by less than a float can represent: rounding to float first would make it a
    // tie.
    const double tie = 1.0 + std::ldexp(1.0, -format->storedBits - 1);
    const double above = tie + 0x1p-40;
    QCOMPARE(static_cast<double>(static_cast<float>(above)), tie);
    const uint16_t one = format->fromDouble(1.0);
    QCOMPARE(format->fromDouble(tie), one);
    QCOMPARE(format->fromDouble(above), one + 1);
    QCOMPARE(roundTo(format->type, above), 1.0 + std::ldexp(1.0, -format->storedBits));
}

void TestDType::nearestOfRandomDoubles() {
    QFETCH(const LowFormat*, format);
    const Philox random(kSeed, 2);
    const FloatFormat& properties = formatOf(format->type);
    for (uint64_t i = 0; i < 200000; ++i) {
        const double exponent = std::log2(properties.minSubnormal) - 2 +
                                static_cast<double>(random.uniform(2 * i)) *
                                    std::log2(properties.maxFinite / properties.minSubnormal * 4);
        const double x = std::exp2(exponent) * (random.bits(2 * i + 1) % 2 == 0 ? 1 : -1);
        const uint16_t bits = format->fromDouble(x);
        QCOMPARE(format->fromFloat(static_cast<float>(x)),
                 format->fromDouble(static_cast<double>(static_cast<float>(x))));
        if ((bits & 0x7FFF) == format->infinity) {
            // Half a step above the largest number, and beyond, the result is infinite.
            const double limit = properties.maxFinite * (1 + properties.unitRoundoff() / 2);
            QVERIFY2(std::abs(x) > limit, qPrintable(QString::number(x, 'g', 17)));
            continue;
        }
        // No neighbour is nearer.
        const double distance = std::abs(valueOf(*format, bits) - x);
        for (const int step : {-1, 1}) {
            const int magnitude = (bits & 0x7FFF) + step;
            if (magnitude < 0 || magnitude >= format->infinity) continue;
            const auto other = static_cast<uint16_t>(magnitude | (bits & 0x8000));
            if (distance > std::abs(valueOf(*format, other) - x))
                QFAIL(qPrintable(QString("seed %1 index %2").arg(kSeed).arg(i)));
        }
    }
}

void TestDType::roundToOtherTypes() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    QCOMPARE(roundTo(DType::F32, 1.0 + 0x1p-30), 1.0);
    QCOMPARE(roundTo(DType::F64, 1.0 + 0x1p-30), 1.0 + 0x1p-30);
    QCOMPARE(roundTo(DType::F32, 1.25F), 1.25F);
    QCOMPARE(roundTo(DType::I32, -2.9), -2.0);
    QCOMPARE(roundTo(DType::I32, 2.9F), 2.0F);
    QCOMPARE(roundTo(DType::I32, 1e20), 2147483647.0);
    QCOMPARE(roundTo(DType::I32, -1e20), -2147483648.0);
    QCOMPARE(roundTo(DType::I32, nan), 0.0);
    QCOMPARE(roundTo(DType::Bool, -0.5), 1.0);
    QCOMPARE(roundTo(DType::Bool, -0.0F), 0.0F);
    QCOMPARE(roundTo(DType::F16, 65520.0F), std::numeric_limits<float>::infinity());
    QCOMPARE(roundTo(DType::F16, 0x1p-24), 0x1p-24);
}

void TestDType::blocksEqualScalars_data() {
    QTest::addColumn<const LowFormat*>("format");
    QTest::addColumn<int>("path");
    for (const LowFormat* format : {&kHalf, &kBfloat16})
        for (const VectorSet set : kVectorSets)
            QTest::newRow((std::string(nameOf(format->type)) + " " + nameOf(set)).c_str())
                << format << int(set);
}

void TestDType::blocksEqualScalars() {
    QFETCH(const LowFormat*, format);
    QFETCH(int, path);
    const BlockKernels* kernels = blockKernels(static_cast<VectorSet>(path));
    if (kernels == nullptr) QSKIP("this machine has not got the instructions");
    const bool half = format->type == DType::F16;

    std::vector<uint16_t> patterns(0x10000);
    for (size_t i = 0; i < patterns.size(); ++i)
        patterns[i] = static_cast<uint16_t>(i);
    std::vector<float> loaded(patterns.size());
    (half ? kernels->loadHalf : kernels->loadBfloat16)(patterns.data(), loaded.data(),
                                                       patterns.size());
    for (size_t i = 0; i < patterns.size(); ++i)
        QVERIFY2(sameBits(loaded[i], format->toFloat(patterns[i])), qPrintable(hex(patterns[i])));

    std::vector<float> values = hardFloats(*format);
    for (const float value : randomFloats(1000000))
        values.push_back(value);
    std::vector<uint16_t> stored(values.size());
    (half ? kernels->storeHalf : kernels->storeBfloat16)(values.data(), stored.data(),
                                                         values.size());
    std::vector<float> rounded = values;
    (half ? kernels->roundHalf : kernels->roundBfloat16)(rounded.data(), rounded.size());
    for (size_t i = 0; i < values.size(); ++i) {
        const uint16_t expected = format->fromFloat(values[i]);
        // QVERIFY2 would build its text a million times.
        if (!samePattern(*format, stored[i], expected) ||
            !sameBits(rounded[i], format->toFloat(expected)))
            QFAIL(qPrintable(hex(std::bit_cast<uint32_t>(values[i]))));
    }
}

void TestDType::blocksOfAnyLengthAndAlignment() {
    QFETCH(const LowFormat*, format);
    QFETCH(int, path);
    const BlockKernels* kernels = blockKernels(static_cast<VectorSet>(path));
    if (kernels == nullptr) QSKIP("this machine has not got the instructions");
    const bool half = format->type == DType::F16;
    const std::vector<float> values = randomFloats(300);
    constexpr auto kGuard = std::byte{0xA5};

    const std::vector<size_t> lengths{0,  1,  2,  7,  8,  9,  15, 16, 17,
                                      31, 32, 33, 47, 63, 64, 65, 257};
    for (const size_t n : lengths)
        for (size_t offset = 0; offset < 4; ++offset) { // bytes for storage, floats for floats
            std::vector<std::byte> bytes(2 * n + offset + 64, kGuard);
            std::byte* storage = bytes.data() + offset;
            const float* source = values.data() + offset;
            (half ? kernels->storeHalf : kernels->storeBfloat16)(source, storage, n);
            std::vector<float> loaded(n + offset + 16, 7.5F);
            (half ? kernels->loadHalf : kernels->loadBfloat16)(storage, loaded.data() + offset, n);
            std::vector<float> rounded(values.begin(), values.end());
            (half ? kernels->roundHalf : kernels->roundBfloat16)(rounded.data() + offset, n);

            for (size_t i = 0; i < n; ++i) {
                const float expected = roundTo(format->type, source[i]);
                QVERIFY(sameBits(loaded[offset + i], expected));
                QVERIFY(sameBits(rounded[offset + i], expected));
            }
            for (size_t i = 0; i < offset; ++i)
                QVERIFY(bytes[i] == kGuard && loaded[i] == 7.5F && sameBits(rounded[i], values[i]));
            for (size_t i = offset + 2 * n; i < bytes.size(); ++i)
                QVERIFY2(bytes[i] == kGuard, qPrintable(QString::number(n)));
            for (size_t i = offset + n; i < loaded.size(); ++i)
                QVERIFY2(loaded[i] == 7.5F, qPrintable(QString::number(n)));
            for (size_t i = offset + n; i < rounded.size(); ++i)
                QVERIFY2(sameBits(rounded[i], values[i]), qPrintable(QString::number(n)));
        }
}

void TestDType::loadAndStoreEveryType_data() {
    QTest::addColumn<int>("type");
    for (int type = 0; type < kDTypeCount; ++type)
        QTest::newRow(std::string(nameOf(static_cast<DType>(type))).c_str()) << type;
}

void TestDType::loadAndStoreEveryType() {
    QFETCH(int, type);
    const auto dtype = static_cast<DType>(type);
    const std::vector<float> values{0.0F,     -0.0F,    1.0F,     -2.9F,    1e-7F,
                                    65519.9F, 65520.0F, -3e9F,    0x1p-25F, 1.0009766F,
                                    INFINITY, NAN,      0x1p-149F};
    for (const size_t n : {size_t{0}, size_t{1}, values.size()}) {
        std::vector<std::byte> storage(n * bytesOf(dtype) + 1, std::byte{0xA5});
        storeFromFloat(dtype, values.data(), storage.data(), n);
        QVERIFY(storage.back() == std::byte{0xA5});
        std::vector<float> loaded(n);
        loadAsFloat(dtype, storage.data(), loaded.data(), n);
        std::vector<float> rounded(values.begin(), values.end());
        roundInPlace(dtype, rounded.data(), n);
        for (size_t i = 0; i < values.size(); ++i) {
            const float expected = i < n ? roundTo(dtype, values[i]) : values[i];
            QVERIFY(sameBits(rounded[i], expected));
            if (i < n) QVERIFY(sameBits(loaded[i], expected));
        }
    }
    // double and int32 storage holds the language's own types
    if (dtype == DType::F64) {
        const double stored = 1.0 + 0x1p-40;
        float loaded = 0;
        loadAsFloat(dtype, &stored, &loaded, 1);
        QCOMPARE(loaded, 1.0F);
    }
    if (dtype == DType::I32) {
        const int32_t stored = -7;
        float loaded = 0;
        loadAsFloat(dtype, &stored, &loaded, 1);
        QCOMPARE(loaded, -7.0F);
    }
}

} // namespace tst_dtype

QTEST_GUILESS_MAIN(tst_dtype::TestDType)
#include "tst_dtype.moc"
