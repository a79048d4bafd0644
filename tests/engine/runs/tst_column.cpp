// Columns compared with plain lists: every value comes back, every range and resolution has the
// extremes that a search over all values finds, views do not change, and the bytes are few.
#include "engine/core/philox.h"
#include "engine/runs/column.h"

#include "tests/support/buckets.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

namespace tst_column {

using namespace halfscope;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

bool sameBits(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

/// Draws whole numbers from 0 to n - 1.
class Draw {
public:
    explicit Draw(uint64_t seed) : m_random(seed, 7) {}
    int64_t below(int64_t n) {
        return static_cast<int64_t>(m_random.below(m_index++, static_cast<uint64_t>(n)));
    }
    double real() { return static_cast<double>(below(1 << 20)) / 1024 - 512; }

private:
    Philox m_random;
    uint64_t m_index = 0;
};

/// Values of the kinds that runs have, by index.
using Values = std::function<double(Draw&, size_t)>;
struct Kind {
    const char* name;
    Values at;
};
const std::vector<Kind> kKinds{
    {"constant", [](Draw&, size_t) { return 65536.0; }},
    {"counter", [](Draw&, size_t i) { return static_cast<double>(i % 2000); }},
    {"short counter", [](Draw&, size_t i) { return static_cast<double>(i % 3); }},
    {"counter beyond float32",
     [](Draw& draw, size_t i) {
         return draw.below(50) == 0 ? 0.5 : 16777000.0 + static_cast<double>(i);
     }},
    {"negative counter",
     [](Draw& draw, size_t i) {
         return draw.below(9) == 0 ? 0.5 : -16777300.0 + static_cast<double>(i);
     }},
    {"flags", [](Draw& draw, size_t) { return draw.below(4) == 0 ? 1.0 : 0.0; }},
    {"float32",
     [](Draw& draw, size_t) { return static_cast<double>(static_cast<float>(draw.real() / 3)); }},
    {"float64", [](Draw& draw, size_t) { return draw.real() / 3; }},
    {"zeros with signs", [](Draw& draw, size_t) { return draw.below(2) == 0 ? 0.0 : -0.0; }},
    {"calm, then wild", [](Draw& draw, size_t i) { return i < 700 ? 3.0 : draw.real() * 1e300; }},
    {"not finite here and there",
     [](Draw& draw, size_t i) {
         const int64_t drawn = draw.below(40);
         if (i / 300 % 5 == 3) return kNan;
         return drawn == 0 ? kNan : drawn == 1 ? kInf : drawn == 2 ? -kInf : draw.real();
     }},
    {"never finite", [](Draw&, size_t i) { return i % 7 == 0 ? kInf : kNan; }},
    {"stretches",
     [](Draw&, size_t i) { return i / 500 % 3 == 2 ? kInf : static_cast<double>(i / 500); }},
};
using Steps = std::function<int64_t(Draw&, size_t, int64_t before)>;
struct Spacing {
    const char* name;
    Steps next;
};
const std::vector<Spacing> kSpacings{
    {"each step", [](Draw&, size_t i, int64_t) { return static_cast<int64_t>(i) + 1; }},
    {"every 100", [](Draw&, size_t i, int64_t) { return static_cast<int64_t>(i + 1) * 100; }},
    {"irregular", [](Draw& draw, size_t, int64_t before) { return before + 1 + draw.below(9); }},
    {"with one gap",
     [](Draw&, size_t i, int64_t) { return static_cast<int64_t>(i) + (i < 70 ? 1 : 1000000); }},
};

/// Returns the extremes by a search over all points.
Extremes searched(const std::vector<Point>& points, int64_t from, int64_t end) {
    Extremes found;
    found.from = from;
    found.to = end;
    for (const Point& each : points) {
        if (each.step < from || each.step >= end) continue;
        if (!std::isfinite(each.value)) {
            ++found.notFinite;
            continue;
        }
        if (found.finite == 0 || each.value < found.lowest.value) found.lowest = each;
        if (found.finite == 0 || each.value > found.highest.value) found.highest = each;
        found.last = each;
        found.sum += each.value;
        ++found.finite;
    }
    return found;
}

bool same(const Extremes& a, const Extremes& b) {
    return a.from == b.from && a.to == b.to && isKnownAs(a, b);
}

std::vector<Point> pointsOf(const Column& column, int64_t from, int64_t to) {
    std::vector<Point> points;
    column.values(from, to, [&](int64_t step, double value) { points.push_back({step, value}); });
    return points;
}

bool same(const std::vector<Point>& a, const std::vector<Point>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Point& x, const Point& y) {
        return x.step == y.step && sameBits(x.value, y.value);
    });
}

struct Filled {
    ColumnWriter writer;
    std::vector<Point> points;
};

Filled filled(const Kind& kind, const Spacing& spacing, size_t size, uint64_t seed) {
    Draw draw(seed);
    Filled result;
    int64_t step = 0;
    for (size_t i = 0; i < size; ++i) {
        step = spacing.next(draw, i, step);
        const double value = kind.at(draw, i);
        result.writer.append(step, value);
        result.points.push_back({step, value});
    }
    return result;
}

} // namespace

class TestColumn : public QObject {
    Q_OBJECT
private slots:
    void isAsAList_data();
    void isAsAList();
    void longCountsKeepTheirValues();
    void emptyOnes();
    void bucketsStay();
    void viewsStay();
    void sharesItsPast();
    void takesNoOtherChunk();
    void stepsRise();
    void medians();
    void takesFewBytes_data();
    void takesFewBytes();
};

void TestColumn::isAsAList_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("spacing");
    for (size_t kind = 0; kind < kKinds.size(); ++kind)
        for (size_t spacing = 0; spacing < kSpacings.size(); ++spacing)
            QTest::addRow("%s, %s", kKinds[kind].name, kSpacings[spacing].name)
                << static_cast<int>(kind) << static_cast<int>(spacing);
}

void TestColumn::isAsAList() {
    QFETCH(int, kind);
    QFETCH(int, spacing);
    for (const size_t size :
         std::initializer_list<size_t>{1, 2, 3, 15, 16, 17, 64, 65, 256, 4095, 4096, 4097, 13000}) {
        const Filled all = filled(kKinds[static_cast<size_t>(kind)],
                                  kSpacings[static_cast<size_t>(spacing)], size, size + 3);
        const std::vector<Point>& points = all.points;
        const Column& column = all.writer.column();
        QCOMPARE(column.size(), static_cast<int64_t>(size));
        QCOMPARE(column.firstStep(), points.front().step);
        QCOMPARE(column.lastStep(), points.back().step);
        QVERIFY(sameBits(column.lastValue(), points.back().value));
        QVERIFY(same(pointsOf(column, kLeast, kMost), points));
        Draw draw(size);
        const int64_t last = points.back().step;
        for (int i = 0; i < 30; ++i) {
            const int64_t from = draw.below(last + 5) - 2;
            const int64_t to =
                std::min(last + 9, from - 1 + draw.below(i % 2 == 0 ? last + 3 : 40));
            std::vector<Point> within;
            for (const Point& each : points)
                if (each.step >= from && each.step <= to) within.push_back(each);
            QVERIFY(same(pointsOf(column, from, to), within));
            if (to >= from)
                QVERIFY(same(column.extremes(from, to), searched(points, from, to + 1)));
            const auto upTo =
                std::find_if(points.rbegin(), points.rend(), [&](auto& p) { return p.step <= to; });
            const std::optional<Point> newest = column.upTo(to);
            QCOMPARE(newest.has_value(), upTo != points.rend());
            if (newest) {
                QCOMPARE(newest->step, upTo->step);
                QVERIFY(sameBits(newest->value, upTo->value));
                QCOMPARE(column.at(to).has_value(), upTo->step == to);
            }
            std::vector<int64_t> wild, expected;
            column.notFinite(from, to, [&](int64_t step) { wild.push_back(step); });
            for (const Point& each : within)
                if (!std::isfinite(each.value)) expected.push_back(each.step);
            QCOMPARE(wild, expected);
            const auto buckets = static_cast<size_t>(1 + draw.below(60));
            std::vector<Extremes> found;
            column.extremes(from, to, buckets, found);
            QVERIFY(found.size() <= buckets);
            QVERIFY(areBucketsOf(found, from, to, [&points](int64_t first, int64_t end) {
                return searched(points, first, end);
            }));
            for (const Extremes& each : found) // few values: no group of them is narrow enough
                if (spacing == 0 || each.to - each.from < 512)
                    QVERIFY(same(each, searched(points, each.from, each.to)));
        }
    }
}

/// Runs that become too many are coded by value: a count past 2^24 does not fit into float32 even
/// where its last value does.
void TestColumn::longCountsKeepTheirValues() {
    Filled all;
    const auto add = [&all](double value) {
        all.points.push_back({static_cast<int64_t>(all.points.size()) + 1, value});
        all.writer.append(all.points.back().step, value);
    };
    for (int i = 0; i <= 1000; ++i)
        add(0x1p24 - 500 + i);
    for (int i = 0; i < 400; ++i)
        add(i % 2 == 0 ? 0.5 : 7.25);
    QVERIFY(same(pointsOf(all.writer.column(), kLeast, kMost), all.points));
}

void TestColumn::emptyOnes() {
    const Column none;
    QVERIFY(none.empty());
    QCOMPARE(none.lastStep(), int64_t{0});
    QVERIFY(std::isnan(none.lastValue()));
    QVERIFY(!none.at(1) && !none.upTo(kMost) && !none.firstNotFinite(kLeast, kMost));
    QCOMPARE(none.extremes(kLeast, kMost).finite, int64_t{0});
    std::vector<Extremes> found(3);
    none.extremes(kLeast, kMost, 5, found);
    QVERIFY(found.empty());
    QCOMPARE(none.bytes(), size_t{0});
}

void TestColumn::bucketsStay() {
    Filled all = filled(kKinds[6], kSpacings[0], 5000, 1);
    std::vector<Extremes> before, after;
    all.writer.column().extremes(1, 5000, 100, before);
    QCOMPARE(before.size(), size_t{79}); // of 64 steps
    QCOMPARE(before[1].from, int64_t{65});
    all.writer.append(5001, 1);
    all.writer.column().extremes(1, 5001, 100, after);
    for (size_t i = 0; i + 1 < before.size(); ++i)
        QVERIFY(same(before[i], after[i]));
}

void TestColumn::viewsStay() {
    for (const Kind& kind : kKinds)
        for (const Spacing& spacing : kSpacings) {
            Draw draw(5);
            ColumnWriter writer;
            std::vector<Point> points;
            std::vector<Column> views; // after 0, 1, 2 ... values, then after each prime number
            int64_t step = 0;
            for (size_t i = 0; i < 9000; ++i) {
                if (i < 300 || i % 97 == 0) views.push_back(writer.column());
                step = spacing.next(draw, i, step);
                points.push_back({step, kind.at(draw, i)});
                writer.append(step, points.back().value);
            }
            for (const Column& view : views) {
                const auto size = static_cast<size_t>(view.size());
                QVERIFY2(same(pointsOf(view, kLeast, kMost),
                              {points.begin(), points.begin() + static_cast<std::ptrdiff_t>(size)}),
                         kind.name);
                if (size > 0)
                    QVERIFY(same(view.extremes(1, step),
                                 searched({points.begin(),
                                           points.begin() + static_cast<std::ptrdiff_t>(size)},
                                          1, step + 1)));
            }
        }
}

void TestColumn::sharesItsPast() {
    const Filled parent = filled(kKinds[6], kSpacings[0], 10000, 2);
    for (const int64_t fork : {int64_t{0}, int64_t{1}, int64_t{4095}, int64_t{4096}, int64_t{4097},
                               int64_t{9000}, int64_t{10000}, int64_t{20000}}) {
        ColumnWriter child;
        child.share(parent.writer.column(), fork);
        const auto kept = std::min<int64_t>(fork, 10000);
        std::vector<Point> wanted(parent.points.begin(), parent.points.begin() + kept);
        QVERIFY(same(pointsOf(child.column(), kLeast, kMost), wanted));
        child.append(kept + 1, -1);
        wanted.push_back({kept + 1, -1});
        QVERIFY(same(pointsOf(child.column(), kLeast, kMost), wanted));
    }
    QVERIFY(same(pointsOf(parent.writer.column(), kLeast, kMost), parent.points));
}

/// A store that has the bytes of another chunk under the key has lost the values: they are nan, at
/// the steps that they had.
void TestColumn::takesNoOtherChunk() {
    struct Store : ChunkStore {
        std::vector<std::byte> read(int64_t) const override { return bytes; }
        std::vector<std::byte> bytes;
    };
    const Filled all = filled(kKinds[7], kSpacings[0], 10000, 4);
    const auto& spans = all.writer.column().spans();
    const std::vector<ColumnSpanPtr> full(spans.begin(), spans.end());
    QCOMPARE(full.size(), size_t{2});
    for (const size_t stored : {size_t{0}, size_t{1}}) {
        const auto store = std::make_shared<Store>();
        store->bytes = full[stored]->packed();
        full[0]->setStored(store, 1);
        // values that were read are spared once
        QVERIFY(full[0]->drop() || full[0]->drop());
        Point first;
        full[0]->read(0, {&first, 1});
        QCOMPARE(first.step, int64_t{1});
        QCOMPARE(std::isnan(first.value), stored == 1);
    }
}

void TestColumn::stepsRise() {
    ColumnWriter writer;
    writer.append(5, 1);
    QVERIFY_EXCEPTION_THROWN(writer.append(5, 2), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(writer.append(4, 2), std::logic_error);
    writer.append(6, 2);
    QCOMPARE(writer.column().size(), int64_t{2});
}

void TestColumn::medians() {
    ColumnWriter writer;
    QVERIFY(std::isnan(trailingMedian(writer.column(), kMost, 5)));
    for (const double value : {9.0, 1.0, 2.0, 8.0, 3.0})
        writer.append(writer.column().lastStep() + 2, value);
    QCOMPARE(trailingMedian(writer.column(), kMost, 1), 3.0);
    QCOMPARE(trailingMedian(writer.column(), kMost, 3), 3.0);
    QCOMPARE(trailingMedian(writer.column(), kMost, 4), 2.5);
    QCOMPARE(trailingMedian(writer.column(), kMost, 99), 3.0);
    QCOMPARE(trailingMedian(writer.column(), 7, 3), 2.0); // of the steps 2, 4 and 6
    writer.append(100, kNan);
    QCOMPARE(trailingMedian(writer.column(), kMost, 3), 8.0); // 3, 8, nan
    writer.append(101, kInf);
    writer.append(102, kNan);
    QVERIFY(std::isnan(trailingMedian(writer.column(), kMost, 3)));
    QVERIFY(std::isnan(trailingMedian(writer.column(), kMost, 2))); // of inf and nan
}

void TestColumn::takesFewBytes_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<double>("most"); // bytes a value
    // 0.375, 0.0234 and 0.0313 of the pyramid, chunks and their list
    constexpr double kOver = 0.485;
    QTest::newRow("constant") << 0 << 0.1;
    QTest::newRow("counter") << 1 << 0.2;
    QTest::newRow("flags") << 5 << 1 + kOver;
    QTest::newRow("float32") << 6 << 4 + kOver;
    QTest::newRow("float64") << 7 << 8 + kOver;
    QTest::newRow("stretches") << 12 << 0.15;
}

void TestColumn::takesFewBytes() {
    QFETCH(int, kind);
    QFETCH(double, most);
    constexpr size_t kValues = 1'000'000;
    const Filled all = filled(kKinds[static_cast<size_t>(kind)], kSpacings[0], kValues, 1);
    const double bytes = static_cast<double>(all.writer.column().bytes()) / kValues;
    QVERIFY2(bytes <= most, std::to_string(bytes).c_str());
    // a value every 100 steps costs as little
    const Filled sparse = filled(kKinds[static_cast<size_t>(kind)], kSpacings[1], kValues, 1);
    QCOMPARE(sparse.writer.column().bytes(), all.writer.column().bytes());
}

} // namespace tst_column

QTEST_APPLESS_MAIN(tst_column::TestColumn)
#include "tst_column.moc"
