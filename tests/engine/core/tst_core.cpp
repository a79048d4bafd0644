// Shapes, words, and random numbers (known answers from the Random123 distribution).
#include "engine/core/error.h"
#include "engine/core/escape.h"
#include "engine/core/large_pages.h"
#include "engine/core/percent.h"
#include "engine/core/philox.h"
#include "engine/core/shape.h"
#include "engine/core/some_of.h"
#include "engine/core/text.h"
#include "engine/core/vector_set.h"
#include "tests/support/thrown.h"

#include <QFile>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

namespace tst_core {

using namespace halfscope;

class TestCore : public QObject {
    Q_OBJECT

private slots:
    void shapeBasics();
    void shapeLimits();
    void broadcast_data();
    void broadcast();
    void axes();
    void misspeltWords();
    void sizes_data();
    void sizes();
    void nearlyAllIsNotAll();
    void escapes_data();
    void escapes();
    void pathsForShells();
    void longTextsAreCut();
    void someNamesFitOneMessage();
    void errorsAreFitToBeShown();
    void invariant();
    void philoxKnownAnswers_data();
    void philoxKnownAnswers();
    void philoxAddressing();
    void uniformRuns();
    void uniformRange();
    void normalMoments();
    void belowIsUniform();
    void shuffleIsPermutation();
    void largePagesAreAskedFor();
    void slowPairsAreLeftOut();
};

void TestCore::shapeBasics() {
    const Shape scalar;
    QCOMPARE(scalar.elements(), 1);
    QCOMPARE(scalar.text(), std::string("[]"));
    QVERIFY(scalar.empty());
    const Shape shape{2, 3, 4};
    QCOMPARE(shape.rank(), 3);
    QCOMPARE(shape.elements(), 24);
    QCOMPARE(shape.back(), 4);
    QCOMPARE(shape.text(), std::string("[2, 3, 4]"));
    QVERIFY(shape.strides() == (Shape{12, 4, 1}));
    QVERIFY(shape == (Shape{2, 3, 4}));
    QVERIFY(!(shape == (Shape{2, 3})));
    QVERIFY(!(shape == (Shape{2, 3, 5})));
    QVERIFY(Shape::filled(2, 7) == (Shape{7, 7}));
    QCOMPARE((Shape{0, 5}.elements()), 0);
    const std::vector<int64_t> extents{5, 6};
    QVERIFY(Shape(std::span<const int64_t>(extents)) == (Shape{5, 6}));
}

void TestCore::shapeLimits() {
    Shape shape = Shape::filled(kMaxRank, 2);
    QVERIFY_THROWS_EXCEPTION(std::logic_error, shape.push(1));
    QCOMPARE(shape.rank(), kMaxRank);
    QVERIFY_THROWS_EXCEPTION(std::logic_error,
                             Shape::filled(kMaxRank, int64_t{1} << 12).elements());
    QCOMPARE((Shape{int64_t{1} << 31, int64_t{1} << 31}.elements()), int64_t{1} << 62);
}

void TestCore::broadcast_data() {
    QTest::addColumn<std::vector<int64_t>>("a");
    QTest::addColumn<std::vector<int64_t>>("b");
    QTest::addColumn<std::vector<int64_t>>("common"); // {-1} means that there is none
    using Extents = std::vector<int64_t>;
    const auto row = [](const char* name, Extents a, Extents b, Extents common) {
        QTest::newRow(name) << a << b << common;
    };
    row("same", {2, 3}, {2, 3}, {2, 3});
    row("row", {2, 3}, {3}, {2, 3});
    row("column", {2, 1}, {1, 3}, {2, 3});
    row("scalar", {}, {4, 5}, {4, 5});
    row("empty extent", {0, 3}, {1, 3}, {0, 3});
    row("one against nothing", {1}, {0}, {0});
    row("mismatch", {2, 3}, {2}, {-1});
    row("two against nothing", {2}, {0}, {-1});
}

void TestCore::broadcast() {
    QFETCH(std::vector<int64_t>, a);
    QFETCH(std::vector<int64_t>, b);
    QFETCH(std::vector<int64_t>, common);
    const Shape shapeA{std::span<const int64_t>(a)};
    const Shape shapeB{std::span<const int64_t>(b)};
    std::optional<Shape> expected = Shape(std::span<const int64_t>(common));
    if (common == std::vector<int64_t>{-1}) expected.reset();
    QVERIFY(broadcastShape(shapeA, shapeB) == expected);
    QVERIFY(broadcastShape(shapeB, shapeA) == expected);
}

void TestCore::axes() {
    QCOMPARE(normalAxis(0, 3), 0);
    QCOMPARE(normalAxis(2, 3), 2);
    QCOMPARE(normalAxis(-1, 3), 2);
    QCOMPARE(normalAxis(-3, 3), 0);
    QVERIFY_THROWS_EXCEPTION(std::logic_error, normalAxis(3, 3));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, normalAxis(-4, 3));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, normalAxis(0, 0));
}

void TestCore::sizes_data() {
    QTest::addColumn<quint64>("bytes");
    QTest::addColumn<QString>("text");
    const auto row = [](quint64 bytes, const char* text) {
        QTest::newRow(text) << bytes << QString(text);
    };
    row(0, "0 B");
    row(1023, "1023 B");
    row(1536, "1.5 KiB");
    row(1048400, "1 MiB");
    row(10229, "9.99 KiB");
    row(102350, "100 KiB"); // 99.95
    row(quint64{23} << 20, "23 MiB");
    row((quint64{97} << 20) + (quint64{7} << 17), "97.9 MiB"); // 97.875
    row(quint64{7} << 29, "3.5 GiB");
    row(quint64{4} << 40, "4096 GiB");
    row(quint64{102400000} << 20, "100000 GiB");
}

/// None is "0.0" of a unit that is too large for it.
void TestCore::sizes() {
    QFETCH(const quint64, bytes);
    QFETCH(const QString, text);
    QCOMPARE(QString::fromStdString(sizeText(static_cast<size_t>(bytes))), text);
}

void TestCore::misspeltWords() {
    QCOMPARE(editDistance("tanh", "tanh"), size_t{0});
    QCOMPARE(editDistance("Tahn", "tanh"), size_t{1}); // neighbours that are swapped
    QCOMPARE(editDistance("tsahn", "tanh"), size_t{2});
    QVERIFY(isNear("rnu", "run"));
    // names that only lack their end, in any case
    QCOMPARE(editDistance("amp", "amp-fp16"), size_t{1});
    QCOMPARE(editDistance("AMP", "amp-fp16"), size_t{1});
}

/// Two decimals round 99.995 % up to 100 %.
void TestCore::nearlyAllIsNotAll() {
    QCOMPARE(nearlyAllPercent(0.99996, 2), std::optional(99.99));
    QCOMPARE(nearlyAllPercent(0.9996, 1), std::optional(99.9));
    for (const double share : {0.0, 0.5, 0.99994, 1.0, std::nan("")})
        QVERIFY(!nearlyAllPercent(share, 2));
}

void TestCore::escapes_data() {
    QTest::addColumn<std::string>("text");
    QTest::addColumn<std::string>("shown");
    const auto row = [](const char* name, const std::string& text, const std::string& shown) {
        QTest::newRow(name) << text << shown;
    };
    row("plain", "a b/c.json", "a b/c.json");
    row("other scripts", "Gr\u00f6\u00dfe \u05e9\u05dc\u05d5\u05dd \U0001f600",
        "Gr\u00f6\u00dfe \u05e9\u05dc\u05d5\u05dd \U0001f600");
    row("empty", "", "");
    row("lines", "a\nb\r\n\tc", "a\\nb\\r\\n\\tc");
    row("terminal", "\x1b[31mred\x7f", "\\u001b[31mred\\u007f");
    row("nul", std::string("a\0b", 3), "a\\u0000b");
    row("C1", "\u0085\u009b31m", "\\u0085\\u009b31m");
    row("no UTF-8", "a\xff\xc3(", "a\\xff\\xc3(");
    row("overlong", "\xc0\xaf", "\\xc0\\xaf");
    row("surrogate", "\xed\xa0\x80", "\\xed\\xa0\\x80");
    row("cut off", "\xf0\x9f\x98", "\\xf0\\x9f\\x98");
    row("direction", "exe.\u202egnp\u2066\u200f", "exe.\\u202egnp\\u2066\\u200f");
    row("separators", "a\u2028b\u2029c", "a\\u2028b\\u2029c");
    row("nothing to see", "a\u200bb\ufeff", "a\\u200bb\\ufeff");
}

void TestCore::escapes() {
    QFETCH(std::string, text);
    QFETCH(std::string, shown);
    QCOMPARE(escapedText(text), shown);
    QCOMPARE(escapedEnds(text), shown);
    QCOMPARE(quotedText(text), '"' + shown + '"');
    QCOMPARE(pathText(text), shown);
    QVERIFY(isPlainText(escapedText(text)));
    QCOMPARE(std::string(InputError(Message::data(text)).what()), shown);
    QCOMPARE(std::string(RunError(Message::data(text)).what()), shown);
    QCOMPARE(std::string(EngineError(Message::data(text)).what()), shown);
}

void TestCore::pathsForShells() {
    QCOMPARE(shellText("/tmp/a-b_c.d/\u00e4,1"), std::string("/tmp/a-b_c.d/\u00e4,1"));
    QCOMPARE(shellText("dir with space"), std::string("'dir with space'"));
    QCOMPARE(shellText("it's $HOME"), std::string("'it'\\''s $HOME'"));
    QCOMPARE(shellText("~"), std::string("'~'"));
    QCOMPARE(shellText(""), std::string("''"));
    const std::string longPath = "/" + std::string(300, 'a') + " b";
    QCOMPARE(shellWord(longPath), "'" + longPath + "'"); // to be run, not to be read
}

void TestCore::longTextsAreCut() {
    const std::string most(200, 'x'), more(201, 'x'), umlaut = "\u00e4";
    QCOMPARE(quotedText(most), '"' + most + '"');
    QCOMPARE(quotedText(more), '"' + most + "...\"");
    QCOMPARE(pathText(most), most);
    const std::string path = pathText("/begin" + std::string(5000, '-') + "/end.json");
    QVERIFY2(path.starts_with("/begin-") && path.ends_with("-/end.json"), path.c_str());
    QCOMPARE(path.size(), size_t{200});
    // length is counted in characters, and none is cut in two
    std::string many;
    for (int i = 0; i < 1000; ++i)
        many += umlaut;
    QCOMPARE(quotedText(many).size(), size_t{400 + 5});
    QVERIFY(isPlainText(pathText(many)) && pathText(many).find('\\') == std::string::npos);
    const std::string bad(20'000'000, '\xff');
    // as shown: four characters for each such byte, and none of them cut
    QCOMPARE(quotedText(bad), quotedText(bad.substr(0, 51)));
    QCOMPARE(quotedText(bad).size(), size_t{200 + 5});
    QCOMPARE(pathText(bad).size(), size_t{195}); // 64 of 66, 3 dots, 128 of 131
    for (const std::string& text : {path, pathText(bad), pathText(many), messageText(bad)})
        QCOMPARE(messageText(text), text);
    QVERIFY(messageText(bad).size() <= kMostMessage);
}

void TestCore::someNamesFitOneMessage() {
    const std::vector<std::string> names(9, std::string(5000, '\xff'));
    const std::string shown = someOf(names).english();
    QVERIFY2(shown.ends_with(", " + pathText(names[0]) + " and 1 more"), shown.c_str());
    QCOMPARE(messageText(shown), shown);
}

void TestCore::errorsAreFitToBeShown() {
    const std::string long20(20'000'000, 'y');
    const std::string text = InputError(Message::data(long20 + ": cannot read: the reason")).what();
    QVERIFY(text.size() < 2100);
    QVERIFY(text.ends_with(": cannot read: the reason"));
}

void TestCore::invariant() {
    require(true, "holds");
    const auto text = [](const auto& call) { return thrownBy<std::logic_error>(call); };
    QVERIFY(text([] { require(false, "does not hold"); }).ends_with("does not hold"));
    QVERIFY(text([] { failInvariant("this one"); }).ends_with("this one"));
}

void TestCore::philoxKnownAnswers_data() {
    QTest::addColumn<std::vector<uint32_t>>("words"); // counter, key, result
    using Words = std::vector<uint32_t>;
    // kat_vectors of the Random123 distribution, philox4x32, 10 rounds
    QTest::newRow("zero") << Words{0, 0,          0,          0,          0,
                                   0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    QTest::newRow("ones") << Words{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
                                   0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
    QTest::newRow("pi") << Words{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822,
                                 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
}

void TestCore::philoxKnownAnswers() {
    QFETCH(std::vector<uint32_t>, words);
    const auto result = philox4x32({words[0], words[1], words[2], words[3]}, {words[4], words[5]});
    QCOMPARE(std::vector<uint32_t>(result.begin(), result.end()),
             std::vector<uint32_t>(words.begin() + 6, words.end()));
}

void TestCore::philoxAddressing() {
    // counter = (index, stream), key = seed, low words first
    const Philox random(0x299f31d0a4093822, 0x0370734413198a2e);
    QCOMPARE(random.bits(0x85a308d3243f6a88), 0xd16cfe09U);
    std::set<uint32_t> seen;
    for (uint64_t i = 0; i < 100; ++i)
        for (const uint64_t seed : {1U, 2U})
            for (const uint64_t stream : {1U, 2U})
                seen.insert(Philox(seed, stream).bits(i));
    QCOMPARE(seen.size(), size_t{400});
}

/// A run of numbers equals the numbers one by one, from any index on and of any length.
void TestCore::uniformRuns() {
    const Philox random(0x123456789ABCDEF0, 0xFEDCBA9876543210);
    for (const uint64_t first : {uint64_t{0}, uint64_t{5}, uint64_t{0xFFFFFFF0}, ~uint64_t{0} - 7})
        for (const size_t count : {0U, 1U, 7U, 16U, 31U, 257U}) {
            std::vector<float> run(count + 1, -1.0F);
            random.uniforms(first, std::span(run).first(count));
            for (size_t i = 0; i < count; ++i)
                QCOMPARE(run[i], random.uniform(first + i));
            QCOMPARE(run[count], -1.0F);
        }
}

void TestCore::uniformRange() {
    const Philox random(7, 1);
    std::vector<float> values(100000);
    random.fillUniform(values, -2.0F, 3.0F);
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        QVERIFY(values[i] >= -2.0F && values[i] < 3.0F);
        sum += static_cast<double>(values[i]);
        const float unit = random.uniform(i);
        QVERIFY(unit >= 0.0F && unit < 1.0F);
    }
    // Five standard errors of the mean of n uniform numbers in an interval of width 5.
    const auto n = static_cast<double>(values.size());
    QVERIFY2(std::abs(sum / n - 0.5) < 5 * 5 / std::sqrt(12 * n), "seed 7 stream 1");

    // In an interval of one float, the end must never be drawn, though rounding would reach it.
    std::vector<float> narrow(1000);
    const float end = std::nextafter(1.0F, 2.0F);
    random.fillUniform(narrow, 1.0F, end);
    QCOMPARE(std::count(narrow.begin(), narrow.end(), 1.0F), 1000);
    random.fillUniform(narrow, 4.0F, 4.0F);
    QCOMPARE(std::count(narrow.begin(), narrow.end(), 4.0F), 1000);
}

void TestCore::normalMoments() {
    std::vector<float> values(200000);
    const Philox random(11, 3);
    random.fillNormal(values);
    double sum = 0, squares = 0, fourth = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        const auto x = static_cast<double>(values[i]);
        QVERIFY(std::isfinite(x));
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    QCOMPARE(values[12345], random.normal(12345));
    // Five standard errors: the variances of x, x^2 and x^4 are 1, 2 and 96.
    const auto n = static_cast<double>(values.size());
    QVERIFY2(std::abs(sum / n) < 5 / std::sqrt(n), "seed 11 stream 3");
    QVERIFY2(std::abs(squares / n - 1) < 5 * std::sqrt(2 / n), "seed 11 stream 3");
    QVERIFY2(std::abs(fourth / n - 3) < 5 * std::sqrt(96 / n), "seed 11 stream 3");
}

void TestCore::belowIsUniform() {
    const Philox random(5, 9);
    constexpr int kBound = 7, kDraws = 70000;
    std::vector<int> counts(kBound);
    for (uint64_t i = 0; i < kDraws; ++i)
        ++counts[random.below(i, kBound)];
    // Five standard deviations of a binomial count.
    const double deviation = std::sqrt(kDraws * (1.0 / kBound) * (1 - 1.0 / kBound));
    for (const int count : counts)
        QVERIFY2(std::abs(count - kDraws / kBound) < 5 * deviation, "seed 5 stream 9");
    QCOMPARE(random.below(3, 1), uint64_t{0});
    // Multiplying by 2^63 and shifting keeps the upper 63 bits: it uses the whole 128-bit product.
    const auto block = philox4x32({3, 0, 9, 0}, {5, 0});
    const uint64_t joined = (uint64_t{block[1]} << 32) | block[0];
    QCOMPARE(random.below(3, uint64_t{1} << 63), joined >> 1);
    // x * (2^64 - 1) / 2^64 is x - 1 for every x but 0
    QCOMPARE(random.below(3, ~uint64_t{0}), joined - 1);
    QVERIFY_THROWS_EXCEPTION(std::logic_error, random.below(0, 0));
}

void TestCore::shuffleIsPermutation() {
    std::vector<int32_t> items(1000);
    std::iota(items.begin(), items.end(), 0);
    std::vector<int32_t> shuffled = items, again = items, other = items;
    shuffle(shuffled, Philox(1, 2));
    shuffle(again, Philox(1, 2));
    shuffle(other, Philox(1, 3));
    QVERIFY(shuffled == again);
    QVERIFY(shuffled != other);
    QVERIFY(shuffled != items);
    std::sort(shuffled.begin(), shuffled.end());
    QVERIFY(shuffled == items);
    shuffle({}, Philox(1, 2));

    // Each of the 6 orders of 3 items is as likely as the others.
    std::map<std::vector<int32_t>, int> orders;
    for (uint64_t seed = 0; seed < 6000; ++seed) {
        std::vector<int32_t> three{0, 1, 2};
        shuffle(three, Philox(seed, 4));
        ++orders[three];
    }
    QCOMPARE(orders.size(), size_t{6});
    for (const auto& [order, count] : orders)
        QVERIFY(std::abs(count - 1000) < 5 * std::sqrt(6000 / 6.0 * 5 / 6));
}

/// Returns what the system notes about the memory at an address: "rd wr mr mw me ac hg ", where hg
/// is the advice to use large pages.
QByteArray flagsOfMemoryAt(uintptr_t address) {
    QFile maps(QStringLiteral("/proc/self/smaps"));
    if (!maps.open(QIODevice::ReadOnly)) return {};
    bool inside = false;
    for (const QByteArray& line : maps.readAll().split('\n')) {
        const QByteArray range = line.left(line.indexOf(' '));
        const qsizetype dash = range.indexOf('-');
        bool isRange = false;
        const uintptr_t begin = range.left(dash).toULongLong(&isRange, 16);
        if (dash > 0 && isRange)
            inside = begin <= address && address < range.mid(dash + 1).toULongLong(nullptr, 16);
        if (inside && line.startsWith("VmFlags:")) return line.mid(8) + ' ';
    }
    return {};
}

/// Advice goes to whole large pages alone: what lies around them may be somebody else's.
void TestCore::largePagesAreAskedFor() {
    if (!QFile::exists(QStringLiteral("/sys/kernel/mm/transparent_hugepage/enabled")))
        QSKIP("this system has no large pages");
    std::vector<std::byte> memory;
    memory.reserve(8 * kLargePage);
    const auto begin = reinterpret_cast<uintptr_t>(memory.data());
    const uintptr_t whole = (begin + kLargePage - 1) / kLargePage * kLargePage;
    const uintptr_t inside = whole + kLargePage, outside = whole - 1;
    QVERIFY(!flagsOfMemoryAt(inside).contains(" hg "));
    adviseLargePages(memory.data(), kLargePage - 1); // no whole page
    QVERIFY(!flagsOfMemoryAt(inside).contains(" hg "));
    adviseLargePages(memory.data(), memory.capacity());
    QVERIFY(flagsOfMemoryAt(inside).contains(" hg "));
    QVERIFY(begin == whole || !flagsOfMemoryAt(outside).contains(" hg "));
}

void TestCore::slowPairsAreLeftOut() {
    const std::optional<VectorSet> any;
    QCOMPARE(chooseVectorSet(VectorSet::Avx512Bf16, true, any), VectorSet::Avx512);
    QCOMPARE(chooseVectorSet(VectorSet::Avx512Bf16, false, any), VectorSet::Avx512Bf16);
    QCOMPARE(chooseVectorSet(VectorSet::Amx, true, any), VectorSet::Amx);
    QCOMPARE(chooseVectorSet(VectorSet::Avx2, true, any), VectorSet::Avx2);
    // Who names them gets them.
    QCOMPARE(chooseVectorSet(VectorSet::Avx512Bf16, true, VectorSet::Avx512Bf16),
             VectorSet::Avx512Bf16);
    QCOMPARE(chooseVectorSet(VectorSet::Amx, true, VectorSet::Avx512Bf16), VectorSet::Avx512Bf16);
    // Nobody gets what the machine lacks.
    QCOMPARE(chooseVectorSet(VectorSet::Avx2, false, VectorSet::Amx), VectorSet::Avx2);
}

} // namespace tst_core

QTEST_GUILESS_MAIN(tst_core::TestCore)
#include "tst_core.moc"
