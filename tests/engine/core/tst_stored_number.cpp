// What a format makes of a number: bits from the definition of each format, fates at its limits,
// and spacings that follow from its digits.
#include "engine/core/stored_number.h"

#include <QTest>

#include <cmath>
#include <limits>

namespace tst_stored_number {

using namespace halfscope;

class TestStoredNumber : public QObject {
    Q_OBJECT
private slots:
    void numbers_data();
    void numbers();
    void errors();
    void notFinite();
};

void TestStoredNumber::numbers_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<double>("x");
    QTest::addColumn<int>("as");
    QTest::addColumn<QString>("bits");
    QTest::addColumn<double>("value");
    QTest::addColumn<double>("spacing");
    const auto row = [](const char* name, NumberFormat format, double x, Stored as,
                        const char* bits, double value, double spacing) {
        QTest::newRow(name) << static_cast<int>(format) << x << static_cast<int>(as)
                            << QString::fromLatin1(bits) << value << spacing;
    };
    constexpr auto f32 = NumberFormat::Float32, f16 = NumberFormat::Float16,
                   bf16 = NumberFormat::Bfloat16, e4m3 = NumberFormat::Fp8E4m3,
                   e5m2 = NumberFormat::Fp8E5m2;
    using enum Stored;
    row("f32 1", f32, 1, Exact, "0 01111111 00000000000000000000000", 1, 0x1p-23);
    row("f32 0.1", f32, 0.1, Rounded, "0 01111011 10011001100110011001101", 0x1.99999Ap-4, 0x1p-27);
    row("f16 0", f16, 0, Exact, "0 00000 0000000000", 0, 0x1p-24);
    row("f16 -0", f16, -0.0, Exact, "1 00000 0000000000", 0, 0x1p-24);
    row("f16 1.5", f16, 1.5, Exact, "0 01111 1000000000", 1.5, 0x1p-10);
    row("f16 -2", f16, -2, Exact, "1 10000 0000000000", -2, 0x1p-9);
    row("f16 0.1", f16, 0.1, Rounded, "0 01011 1001100110", 0x1.998p-4, 0x1p-14);
    row("f16 largest", f16, 65504, Exact, "0 11110 1111111111", 65504, 32);
    row("f16 below the middle to 2^16", f16, 65519.99, Rounded, "0 11110 1111111111", 65504, 32);
    row("f16 largest negative", f16, -65510, Rounded, "1 11110 1111111111", -65504, 32);
    row("f16 smallest normal", f16, 0x1p-14, Exact, "0 00001 0000000000", 0x1p-14, 0x1p-24);
    row("f16 subnormal", f16, 1e-7, Subnormal, "0 00000 0000000010", 0x1p-23, 0x1p-24);
    row("f16 exact subnormal", f16, 0x3p-24, Exact, "0 00000 0000000011", 0x3p-24, 0x1p-24);
    row("f16 above half of the smallest", f16, 0x1.0001p-25, Subnormal, "0 00000 0000000001",
        0x1p-24, 0x1p-24);
    row("f16 half of the smallest", f16, 0x1p-25, Zero, "0 00000 0000000000", 0, 0x1p-24);
    row("f16 negative gradient", f16, -1e-8, Zero, "1 00000 0000000000", 0, 0x1p-24);
    row("bf16 0.1", bf16, 0.1, Rounded, "0 01111011 1001101", 0x1.9Ap-4, 0x1p-11);
    row("bf16 tie to even", bf16, 0x1.01p0, Rounded, "0 01111111 0000000", 1, 0x1p-7);
    row("bf16 1e-8", bf16, 1e-8, Rounded, "0 01100100 0101100", 0x1.58p-27, 0x1p-34);
    row("e4m3 0.1", e4m3, 0.1, Rounded, "0 0011 101", 0.1015625, 0x1p-7);
    row("e4m3 -1", e4m3, -1, Exact, "1 0111 000", -1, 0x1p-3);
    row("e4m3 tie to even", e4m3, 1.0625, Rounded, "0 0111 000", 1, 0x1p-3);
    row("e4m3 largest", e4m3, 448, Exact, "0 1111 110", 448, 32);
    row("e4m3 rounds to the largest", e4m3, 460, Rounded, "0 1111 110", 448, 32);
    row("e4m3 beyond", e4m3, 1000, Largest, "0 1111 110", 448, 32);
    row("e4m3 smallest normal", e4m3, 0x1p-6, Exact, "0 0001 000", 0x1p-6, 0x1p-9);
    row("e4m3 subnormal", e4m3, 0x2.8p-9, Subnormal, "0 0000 010", 0x2p-9, 0x1p-9);
    row("e4m3 zero", e4m3, -1e-8, Zero, "1 0000 000", 0, 0x1p-9);
    row("e5m2 0.1", e5m2, 0.1, Rounded, "0 01011 10", 0.09375, 0x1p-6);
    row("e5m2 beyond", e5m2, -1e6, Largest, "1 11110 11", -57344, 8192);
    row("e5m2 smallest", e5m2, 0x1p-16, Exact, "0 00000 01", 0x1p-16, 0x1p-16);
    row("bf16 70000", bf16, 70000, Rounded, "0 10001111 0001001", 70144, 512);
}

void TestStoredNumber::numbers() {
    QFETCH(int, format);
    QFETCH(double, x);
    QFETCH(int, as);
    QFETCH(QString, bits);
    QFETCH(double, value);
    QFETCH(double, spacing);
    const StoredNumber number = stored(static_cast<NumberFormat>(format), x);
    QCOMPARE(QString::fromStdString(bitsText(number)), bits);
    QCOMPARE(static_cast<int>(number.as), as);
    QCOMPARE(static_cast<double>(number.value), value);
    QCOMPARE(static_cast<double>(number.spacing), spacing);
}

void TestStoredNumber::errors() {
    QCOMPARE(stored(NumberFormat::Float16, 1.5).relativeError, 0.0);
    QCOMPARE(stored(NumberFormat::Float16, 0x1p-25).relativeError, 0.0); // all of it is lost
    QCOMPARE(stored(NumberFormat::Float16, 1 + 0x1p-11).relativeError,
             0x1p-11 / (1 + 0x1p-11)); // a tie
    QCOMPARE(stored(NumberFormat::Bfloat16, -1 - 0x1p-8).relativeError, 0x1p-8 / (1 + 0x1p-8));
    QCOMPARE(stored(NumberFormat::Float16, 0x1.8p-24).relativeError, 1.0 / 3);
}

void TestStoredNumber::notFinite() {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const StoredNumber over = stored(NumberFormat::Float16, 65520);
    QCOMPARE(static_cast<int>(over.as), static_cast<int>(Stored::Infinite));
    QCOMPARE(bitsText(over), std::string("0 11111 0000000000"));
    QVERIFY(std::isinf(over.value) && std::isnan(over.spacing));
    QCOMPARE(static_cast<int>(stored(NumberFormat::Bfloat16, 3.4e38).as),
             static_cast<int>(Stored::Infinite));
    QCOMPARE(static_cast<int>(stored(NumberFormat::Float32, 1e39).as),
             static_cast<int>(Stored::Infinite));
    for (const NumberFormat format :
         {NumberFormat::Float32, NumberFormat::Float16, NumberFormat::Bfloat16}) {
        const StoredNumber inf = stored(format, -kInf), nan = stored(format, std::nan(""));
        QCOMPARE(static_cast<int>(inf.as), static_cast<int>(Stored::NotFinite));
        QVERIFY(std::isinf(inf.value) && inf.value < 0);
        QCOMPARE(static_cast<int>(nan.as), static_cast<int>(Stored::NotFinite));
        QVERIFY(std::isnan(nan.value) && std::isnan(nan.spacing));
    }
    for (const NumberFormat format : {NumberFormat::Fp8E4m3, NumberFormat::Fp8E5m2}) {
        const StoredNumber inf = stored(format, -kInf), nan = stored(format, std::nan(""));
        QCOMPARE(static_cast<int>(inf.as), static_cast<int>(Stored::Largest));
        QCOMPARE(static_cast<double>(inf.value), -formatOf(format).maxFinite);
        QCOMPARE(static_cast<int>(nan.as), static_cast<int>(Stored::NotFinite));
        QVERIFY(std::isnan(nan.value) && std::isnan(nan.spacing));
    }
}

} // namespace tst_stored_number

QTEST_GUILESS_MAIN(tst_stored_number::TestStoredNumber)
#include "tst_stored_number.moc"
