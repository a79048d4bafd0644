// What a store has of a column and memory does not: dropped values and spans of spans answer as
// values in memory do, forks share them, and what the store has lost is nan.
#include "engine/core/error.h"
#include "engine/runs/column.h"

#include "tests/support/buckets.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace tst_column_spans {

using namespace halfscope;

namespace {

bool sameBits(double a, double b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
}

bool same(const Column& a, const Column& b, int64_t from, int64_t to) {
    std::vector<Point> p(300), q(300);
    const size_t count = a.read(from, to, p);
    if (b.read(from, to, q) != count) return false;
    for (size_t i = 0; i < count; ++i)
        if (p[i].step != q[i].step || !sameBits(p[i].value, q[i].value)) return false;
    return true;
}

/// Keeps spans in a map.
class MapStore : public ChunkStore {
public:
    std::vector<std::byte> read(int64_t key) const override {
        ++reads;
        if (failing > 0 && failing-- > 0) return {};
        const auto found = chunks.find(key);
        return found == chunks.end() ? std::vector<std::byte>() : found->second;
    }
    std::map<int64_t, std::vector<std::byte>> chunks;
    mutable int reads = 0;
    mutable int failing = 0; ///< so many of the next reads
};

/// Stores what is not stored yet, and drops everything.
void drop(const Column& column, const std::shared_ptr<MapStore>& store) {
    for (const ColumnSpanPtr& span : column.spans()) {
        if (span->key() == 0) {
            const auto key = static_cast<int64_t>(store->chunks.size()) + 1;
            store->chunks[key] = span->packed();
            span->setStored(store, key);
        }
        span->drop(); // what was read again stays once
        span->drop();
    }
}

/// A column in memory and the same one in spans of three levels.
struct Both {
    ColumnWriter kept, dropped;
    std::shared_ptr<MapStore> store = std::make_shared<MapStore>();

    /// Kinds of values: 0 noise, 1 some not finite, 2 hardly any finite, 3 stretches. With stride
    /// 0, the distances of the steps are between 1 and 3, with a long gap now and then; with -3
    /// they are 1 at first, then 3.
    Both(int kind, int64_t stride) {
        std::mt19937 random(19), distance(20);
        int64_t step = 0;
        constexpr int kValues = 4096 * (16 * 16 + 2 * 16 + 3) + 100;
        for (int i = 1; i <= kValues; ++i) {
            double value = static_cast<float>(random()) / 3e9f;
            const bool wild =
                (kind == 1 && random() % 9000 == 0) || (kind == 2 && random() % 300000 != 0);
            if (wild) value = random() % 2 ? std::numeric_limits<double>::infinity() : std::nan("");
            if (kind == 3) value = i / 5000;
            step += stride > 0                ? stride
                    : stride < 0              ? (i > 200000 ? -stride : 1)
                    : distance() % 50000 == 0 ? 40000
                                              : 1 + static_cast<int64_t>(distance() % 3);
            kept.append(step, value);
            dropped.append(step, value);
            if (i % 20000 == 0) drop(dropped.column(), store);
        }
        drop(dropped.column(), store);
        store->reads = 0;
    }
    int64_t last() const { return kept.column().lastStep(); }
};

void addKinds() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<int64_t>("stride");
    const auto row = [](const char* name, int kind, int64_t stride) {
        QTest::newRow(name) << kind << stride;
    };
    row("noise", 0, 1);
    row("every third step", 0, 3);
    row("unequal steps", 0, 0);
    row("first each, then every third step", 0, -3);
    row("some not finite", 1, 1);
    row("some not finite, unequal steps", 1, 0);
    row("hardly any finite", 2, 1);
    row("stretches", 3, 1);
}

} // namespace

class TestColumnSpans : public QObject {
    Q_OBJECT
private slots:
    void droppedValuesAnswerTheSame_data();
    void droppedValuesAnswerTheSame();
    void spansOfSpansAnswerTheSame_data() { addKinds(); }
    void spansOfSpansAnswerTheSame();
    void spansOfSpansTakeLittle_data() { addKinds(); }
    void spansOfSpansTakeLittle();
    void forksShareThem();
    void plotsReadLittle_data() { addKinds(); }
    void plotsReadLittle();
    void whatCannotBeReadIsNan();
    void aLostSpanIsNan();
    void aFailedReadIsTriedAgain();
    void aForkWithoutTheStore();
};

void TestColumnSpans::droppedValuesAnswerTheSame_data() {
    QTest::addColumn<int>("kind");
    QTest::newRow("noise, float32") << 0;
    QTest::newRow("with nan and inf") << 1;
    QTest::newRow("bytes") << 2;
    QTest::newRow("doubles at every 3rd step") << 3;
    QTest::newRow("mostly not finite") << 4;
    QTest::newRow("at steps of their own") << 5;
}

void TestColumnSpans::droppedValuesAnswerTheSame() {
    QFETCH(int, kind);
    std::mt19937 random(17);
    ColumnWriter kept, dropped;
    int64_t step = 0;
    for (int i = 0; i < 3 * 4096 + 100; ++i) {
        step += kind == 3 ? 3 : kind == 5 ? 1 + int64_t(random() % 5) : 1;
        double value = static_cast<float>(random()) / 3e9f;
        if (kind == 2) value = double(random() % 200);
        if (kind == 3) value = double(random()) / 7;
        if ((kind == 1 && random() % 50 == 0) || (kind == 4 && random() % 300 != 0))
            value = random() % 2 ? std::numeric_limits<double>::infinity() : std::nan("");
        kept.append(step, value);
        dropped.append(step, value);
    }
    const auto store = std::make_shared<MapStore>();
    const Column& column = dropped.column();
    const auto drop = [&] {
        int64_t key = 0;
        int count = 0;
        for (const ColumnSpanPtr& span : column.spans()) {
            if (span->key() == 0) {
                store->chunks[++key] = span->packed();
                span->setStored(store, key);
            }
            span->drop(); // what was read again stays once
            count += span->drop();
        }
        return count;
    };
    const size_t before = column.bytes();
    drop();
    QVERIFY(column.bytes() < before / 2);
    // ranges of whole groups need no values
    const Extremes all = column.extremes(1, step);
    QCOMPARE(store->reads, 0);
    QCOMPARE(all.finite, kept.column().extremes(1, step).finite);
    for (int i = 0; i < 200; ++i) {
        drop();
        const int64_t from = int64_t(random() % uint32_t(step)),
                      to = from + int64_t(random() % 5000);
        const Extremes a = kept.column().extremes(from, to), b = column.extremes(from, to);
        QVERIFY(isKnownAs(a, b));
        QCOMPARE(kept.column().firstNotFinite(from, to), column.firstNotFinite(from, to));
        drop();
        const auto x = kept.column().upTo(from), y = column.upTo(from);
        QCOMPARE(x.has_value(), y.has_value());
        if (x) QVERIFY(x->step == y->step && sameBits(x->value, y->value));
        drop();
        std::vector<Point> p(300), q(300);
        QCOMPARE(kept.column().read(from, to, p), column.read(from, to, q));
        for (size_t at = 0; at < p.size(); ++at)
            QVERIFY(p[at].step == q[at].step && sameBits(p[at].value, q[at].value));
    }
    QVERIFY(store->reads > 0);
}

void TestColumnSpans::whatCannotBeReadIsNan() {
    ColumnWriter writer;
    for (int64_t step = 1; step <= 4096; ++step)
        writer.append(step, std::sqrt(double(step)));
    const auto store = std::make_shared<MapStore>();
    store->chunks[1] = {std::byte{1}};
    const ColumnSpanPtr& chunk = writer.column().spans()[0];
    chunk->setStored(store, 1);
    QVERIFY(chunk->drop());
    QCOMPARE(writer.column().extremes(1, 4096).highest.value, 64.0);
    QVERIFY(std::isnan(*writer.column().at(2000)));
}

void TestColumnSpans::spansOfSpansAnswerTheSame() {
    QFETCH(const int, kind);
    QFETCH(const int64_t, stride);
    const Both both(kind, stride);
    const Column &a = both.kept.column(), &b = both.dropped.column();
    QCOMPARE(b.size(), a.size());
    QCOMPARE(b.lastStep(), a.lastStep());
    std::mt19937 random(23);
    for (int i = 0; i < 400; ++i) {
        const auto from = static_cast<int64_t>(random()) % both.last();
        const int64_t to = from + static_cast<int64_t>(random()) % (i % 2 ? both.last() : 5000);
        QVERIFY(isKnownAs(a.extremes(from, to), b.extremes(from, to)));
        QCOMPARE(a.firstNotFinite(from, to), b.firstNotFinite(from, to));
        QVERIFY(same(a, b, from, to));
        const auto x = a.upTo(from), y = b.upTo(from);
        QVERIFY(x.has_value() == y.has_value());
        if (x) QVERIFY(x->step == y->step && sameBits(x->value, y->value));
        if (i % 3 == 0) drop(b, both.store);
    }
    QVERIFY(both.store->reads > 0);
    std::vector<Extremes> found;
    for (const size_t buckets : {size_t{1}, size_t{70}, size_t{1500}, size_t{9000}})
        for (const int64_t to : {both.last(), both.last() / 3}) {
            drop(b, both.store);
            b.extremes(1, to, buckets, found);
            QVERIFY(areBucketsOf(found, 1, to, [&a](int64_t first, int64_t end) {
                return a.extremes(first, end - 1);
            }));
            for (const Extremes& each : found)
                if (stride == 1) QVERIFY(isKnownAs(each, a.extremes(each.from, each.to - 1)));
        }
}

/// Whole ranges and wide buckets need no values, and what stays in memory is next to nothing.
void TestColumnSpans::spansOfSpansTakeLittle() {
    QFETCH(const int, kind);
    QFETCH(const int64_t, stride);
    const Both both(kind, stride);
    const Column& column = both.dropped.column();
    QCOMPARE(column.spans()[0]->level(), 2);
    QVERIFY(column.spans().size() < 64);
    const double bytes = static_cast<double>(column.bytes()) / static_cast<double>(column.size());
    QVERIFY2(bytes < 0.028, std::to_string(bytes).c_str());
    const Extremes all = column.extremes(1, both.last());
    QVERIFY(isKnownAs(all, both.kept.column().extremes(1, both.last())));
    std::vector<Extremes> buckets;
    column.extremes(1, both.last(), 30, buckets);
    QVERIFY2(both.store->reads <= 3, std::to_string(both.store->reads).c_str()); // at the end
}

void TestColumnSpans::forksShareThem() {
    const Both both(1, 1);
    const Column& column = both.dropped.column();
    std::mt19937 random(29);
    for (int i = 0; i < 12; ++i) {
        const int64_t fork = i == 0 ? 0 : 1 + static_cast<int64_t>(random()) % both.last();
        ColumnWriter child;
        child.share(column, fork);
        QCOMPARE(child.column().size(), fork);
        for (int64_t step = fork + 1; step <= fork + 9000; ++step)
            child.append(step, -1);
        QCOMPARE(child.column().size(), fork + 9000);
        QVERIFY(isKnownAs(child.column().extremes(1, fork), column.extremes(1, fork)));
        QVERIFY(same(child.column(), column, std::max<int64_t>(1, fork - 299), fork));
        QCOMPARE(child.column().extremes(fork + 1, fork + 9000).highest.value, -1.0);
        drop(child.column(), both.store);
        QVERIFY(isKnownAs(child.column().extremes(1, fork), column.extremes(1, fork)));
    }
}

/// A store may lose everything, or have other bytes under the key.
void TestColumnSpans::aLostSpanIsNan() {
    for (const auto& [gone, stride] : {std::pair(true, 1), {false, 1}, {true, 0}, {false, 0}}) {
        const Both both(0, stride);
        const Column& column = both.dropped.column();
        for (auto& [key, bytes] : both.store->chunks)
            bytes = gone ? std::vector<std::byte>() : both.store->chunks.begin()->second;
        const auto full = static_cast<int64_t>(column.fullValues());
        int64_t count = 0, known = 0, before = 0;
        column.values(1, column.spans()[column.spans().size() - 1]->lastStep(),
                      [&](int64_t step, double value) {
                          count += step > before;
                          known += !std::isnan(value);
                          before = step;
                      });
        QCOMPARE(count, full);
        QCOMPARE(known, int64_t{0});
        QCOMPARE(column.extremes(50000, 51000).finite, int64_t{0});
        // what is known without the store is still known
        const int64_t some = column.spans()[0]->lastStep();
        QVERIFY(isKnownAs(column.extremes(1, some), both.kept.column().extremes(1, some)));
    }
}

/// What could not be read once is no different when the store answers again.
void TestColumnSpans::aFailedReadIsTriedAgain() {
    for (int failing = 1; failing < 6; ++failing) {
        const Both both(1, 1);
        const Column &a = both.kept.column(), &b = both.dropped.column();
        if (failing % 2 == 0) (void)b.extremes(60007, 60100); // the node above the chunks is read
        both.store->failing = failing;
        for (int i = 0; i < failing; ++i)
            QCOMPARE(b.extremes(5000 * i + 7, 5000 * i + 100).finite, int64_t{0});
        QCOMPARE(both.store->failing, 0);
        for (int64_t from = 1; from < 30000; from += 1000) {
            QVERIFY(isKnownAs(a.extremes(from, from + 900), b.extremes(from, from + 900)));
            QVERIFY(same(a, b, from, from + 299));
        }
        std::vector<int64_t> keys;
        for (const ColumnSpanPtr& span : b.spans())
            span->chunkKeys(keys);
        QCOMPARE(keys.size(), both.dropped.column().fullValues() / 4096);
        QVERIFY(std::all_of(keys.begin(), keys.end(), [](int64_t key) { return key > 0; }));
    }
    const Both both(0, 1);
    both.store->failing = 1;
    std::vector<int64_t> keys;
    QVERIFY_EXCEPTION_THROWN(both.dropped.column().spans()[0]->chunkKeys(keys), RunError);
}

/// A fork that is made while the store does not answer lacks at most what had to be read then.
void TestColumnSpans::aForkWithoutTheStore() {
    const Both both(0, 1);
    const Column& column = both.dropped.column();
    const int64_t fork = 65536 * 3 + 4096 * 2 + 50;
    both.store->failing = 1;
    ColumnWriter child;
    child.share(column, fork);
    QCOMPARE(child.column().size(), fork);
    QCOMPARE(child.column().lastStep(), fork);
    QVERIFY(isKnownAs(child.column().extremes(1, 65536 * 3), column.extremes(1, 65536 * 3)));
    QVERIFY(same(child.column(), column, fork - 49, fork)); // the store answered by then
}

/// A plot of any part reads few spans, although far more values are behind it.
void TestColumnSpans::plotsReadLittle() {
    QFETCH(const int, kind);
    QFETCH(const int64_t, stride);
    const Both both(kind, stride);
    const Column& column = both.dropped.column();
    constexpr size_t kPixels = 1500;
    std::vector<Extremes> buckets;
    // a group of 256 values has at most half of the steps
    for (int64_t width = stride > 0 ? 512 * stride : 2048; width * int64_t{kPixels} < both.last();
         width *= 2) {
        drop(column, both.store);
        both.store->reads = 0;
        column.extremes(1, width * int64_t{kPixels}, kPixels, buckets);
        QVERIFY(stride == 0 || buckets.size() > kPixels / 2);
        const int most = stride == 0 ? 60 : 20; // a chunk with a long gap is read for its buckets
        QVERIFY2(both.store->reads <= most, std::to_string(both.store->reads).c_str());
    }
}

} // namespace tst_column_spans

QTEST_APPLESS_MAIN(tst_column_spans::TestColumnSpans)
#include "tst_column_spans.moc"
