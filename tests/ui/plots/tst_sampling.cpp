// The points that are drawn of a curve: no extreme is lost in any stretch of steps, only real
// points are drawn, and values that are not finite are left out. The same of its trend.
#include "engine/runs/column.h"
#include "ui/plots/means.h"
#include "ui/plots/sampling.h"
#include "ui/plots/smoothing.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

namespace tst_sampling {

using namespace halfscope;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Reference {
    std::vector<qint64> steps;
    std::vector<double> values;
};

/// Returns random steps with gaps, and values with rare spikes both ways.
Reference randomPoints(std::mt19937_64& random, int count) {
    Reference reference;
    std::uniform_int_distribution<int> gap(1, 3), spike(0, 499);
    std::normal_distribution<float> noise;
    qint64 step = 0;
    for (int i = 0; i < count; ++i) {
        step += gap(random);
        const int kind = spike(random);
        const float value = noise(random) * (kind == 0 ? 1e4f : 1.0f);
        reference.steps.push_back(step);
        reference.values.push_back(static_cast<double>(value));
    }
    return reference;
}

/// Returns the mean of the finite values of the steps 1 + k * width to (k + 1) * width that this
/// one is among.
double meanAround(const std::vector<double>& values, double step, size_t width) {
    const size_t first = static_cast<size_t>(step - 1) / width * width;
    double sum = 0;
    int finite = 0;
    for (size_t i = first; i < std::min(first + width, values.size()); ++i) {
        if (!std::isfinite(values[i])) continue;
        sum += values[i];
        ++finite;
    }
    return sum / finite;
}

} // namespace

class TestSampling : public QObject {
    Q_OBJECT
private slots:
    void extremesSurvive_data();
    void extremesSurvive();
    void everyBucketKeepsItsExtremes();
    void fewPointsAreDrawnAsTheyAre();
    void neighboursReachTheEdges();
    void theNewestIsDrawn();
    void notFiniteIsLeftOut_data();
    void notFiniteIsLeftOut();
    void bucketsStandStill();
    void emptyAndOddRequests();
    void trendsFollowTheFormula_data();
    void trendsFollowTheFormula();
    void trendsOfSparseColumns();
    void meansTakeEveryValue();
    void meansJumpWhereSettingsChange();
    void meansGiveWayToSmoothCurves();
    void trendsAreThoseOfTheColumn();
    void trendsTakeNoLongerInALongRun();
};

void TestSampling::extremesSurvive_data() {
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("pixels");
    // around powers of sixteen, where levels of the pyramid begin
    for (const int count : {1, 2, 15, 16, 17, 255, 256, 257, 4095, 4096, 4097, 40000})
        for (const int pixels : {1, 3, 100, 701})
            QTest::addRow("%d points, %d pixels", count, pixels) << count << pixels;
}

void TestSampling::extremesSurvive() {
    QFETCH(int, count);
    QFETCH(int, pixels);
    const auto seed = static_cast<unsigned>(count * 1000 + pixels);
    std::mt19937_64 random(seed);
    const Reference reference = randomPoints(random, count);
    ColumnWriter writer;
    for (size_t i = 0; i < reference.steps.size(); ++i)
        writer.append(reference.steps[i], reference.values[i]);
    std::uniform_real_distribution<double> place(0,
                                                 static_cast<double>(reference.steps.back() + 1));
    QVector<double> xs, ys;
    for (int round = 0; round < 30; ++round) {
        double from = place(random), to = place(random);
        if (from > to) std::swap(from, to);
        if (round == 0) {
            from = 0;
            to = static_cast<double>(reference.steps.back());
        }
        const QByteArray where =
            QStringLiteral("seed %1, steps %2 to %3").arg(seed).arg(from).arg(to).toUtf8();
        sample(writer.column(), from, to, pixels, xs, ys);
        QCOMPARE(xs.size(), ys.size());
        // lowest, highest and last of each bucket; two more buckets at the ends
        QVERIFY2(xs.size() <= 3 * (pixels + 2), where.constData());
        QVERIFY2(std::is_sorted(xs.begin(), xs.end()), where.constData());
        double wantedLow = kInf, wantedHigh = -kInf, seenLow = kInf, seenHigh = -kInf;
        for (size_t i = 0; i < reference.steps.size(); ++i) {
            const auto step = static_cast<double>(reference.steps[i]);
            if (step < from || step > to) continue;
            wantedLow = std::min(wantedLow, reference.values[i]);
            wantedHigh = std::max(wantedHigh, reference.values[i]);
        }
        for (qsizetype i = 0; i < xs.size(); ++i) {
            // only real points
            const auto at = std::lower_bound(reference.steps.begin(), reference.steps.end(), xs[i],
                                             [](qint64 s, double x) { return double(s) < x; });
            QVERIFY2(at != reference.steps.end() && double(*at) == xs[i], where.constData());
            QCOMPARE(ys[i], reference.values[size_t(at - reference.steps.begin())]);
            seenLow = std::min(seenLow, ys[i]);
            seenHigh = std::max(seenHigh, ys[i]);
        }
        QVERIFY2(seenLow <= wantedLow, where.constData());
        QVERIFY2(seenHigh >= wantedHigh, where.constData());
    }
}

/// A single spike anywhere is shown at its own step, however many points share its pixel.
void TestSampling::everyBucketKeepsItsExtremes() {
    constexpr int kCount = 5000;
    for (int spike = 0; spike < kCount; spike += 37) {
        ColumnWriter writer;
        for (int i = 0; i < kCount; ++i)
            writer.append(i, i == spike ? 9.0 : 1.0);
        QVector<double> xs, ys;
        sample(writer.column(), 0, kCount, 50, xs, ys);
        const auto at = ys.indexOf(9.0);
        QVERIFY2(at >= 0, qPrintable(QString::number(spike)));
        QCOMPARE(xs[at], double(spike));
        QCOMPARE(ys.count(9.0), 1);
    }
}

void TestSampling::fewPointsAreDrawnAsTheyAre() {
    ColumnWriter writer;
    for (int i = 1; i <= 100; ++i)
        writer.append(i, i % 7);
    QVector<double> xs, ys;
    sample(writer.column(), 1, 100, 60, xs, ys);
    QCOMPARE(xs.size(), 100);
    for (int i = 0; i < 100; ++i) {
        QCOMPARE(xs[i], double(i + 1));
        QCOMPARE(ys[i], double((i + 1) % 7));
    }
}

void TestSampling::neighboursReachTheEdges() {
    ColumnWriter writer;
    for (const int step : {10, 20, 30, 40})
        writer.append(step, step);
    QVector<double> xs, ys;
    sample(writer.column(), 22, 28, 100, xs, ys); // between two points: the line crosses the view
    QCOMPARE(xs, QVector<double>({20, 30}));
    sample(writer.column(), 20, 30, 100, xs, ys);
    QCOMPARE(xs, QVector<double>({10, 20, 30, 40}));
}

/// Also when it is no extreme.
void TestSampling::theNewestIsDrawn() {
    constexpr int64_t kLast = 1000;
    ColumnWriter writer;
    for (int64_t step = 1; step <= kLast; ++step)
        writer.append(step, step == kLast ? 0.5 : step % 2 == 0 ? 1 : 0);
    QVector<double> xs, ys;
    sample(writer.column(), 2.2, 2.8, 100, xs, ys); // between two points
    QCOMPARE(xs, QVector<double>({2, 3}));
    sample(writer.column(), 1, kLast, 10, xs, ys);
    QVERIFY(xs.size() < 40);
    QCOMPARE(xs.back(), double{kLast});
    QCOMPARE(ys.back(), 0.5);
}

void TestSampling::notFiniteIsLeftOut_data() {
    QTest::addColumn<double>("value");
    QTest::newRow("nan") << kNan;
    QTest::newRow("inf") << kInf;
    QTest::newRow("-inf") << -kInf;
}

void TestSampling::notFiniteIsLeftOut() {
    QFETCH(double, value);
    ColumnWriter writer;
    for (int i = 0; i < 1000; ++i)
        writer.append(i, i % 10 == 3 ? value : double(i));
    QVector<double> xs, ys;
    for (const int pixels : {1, 10, 2000}) {
        sample(writer.column(), 0, 1000, pixels, xs, ys);
        QVERIFY(!xs.isEmpty());
        QVERIFY(std::all_of(ys.begin(), ys.end(), [](double y) { return std::isfinite(y); }));
        QCOMPARE(ys.count(999.0), 1);
    }
}

/// While points arrive, what was drawn stays the same (at the same zoom): there is no shimmer.
void TestSampling::bucketsStandStill() {
    std::mt19937_64 random(7);
    const Reference reference = randomPoints(random, 3000);
    ColumnWriter writer;
    for (size_t i = 0; i < 2900; ++i)
        writer.append(reference.steps[i], reference.values[i]);
    QVector<double> before, beforeY, after, afterY;
    sample(writer.column(), 0, 1e9, 1000, before, beforeY);
    for (size_t i = 2900; i < 3000; ++i)
        writer.append(reference.steps[i], reference.values[i]);
    sample(writer.column(), 0, 1e9, 1000, after, afterY);
    // the last bucket may still change
    const auto common = before.size() - 3;
    QCOMPARE(before.mid(0, common), after.mid(0, common));
}

void TestSampling::emptyAndOddRequests() {
    ColumnWriter writer;
    QVector<double> xs{1}, ys{1};
    sample(writer.column(), 0, 1, 10, xs, ys);
    QVERIFY(xs.isEmpty() && ys.isEmpty());
    writer.append(1, 1);
    for (const auto& [from, to] :
         {std::pair(2.0, 1.0), std::pair(kNan, 1.0), std::pair(0.0, kNan)}) {
        sample(writer.column(), from, to, 10, xs, ys);
        QVERIFY(xs.isEmpty());
    }
    sample(writer.column(), 0, 2, 0, xs, ys);
    QVERIFY(xs.isEmpty());
    sample(writer.column(), -kInf, kInf, 10, xs, ys);
    QCOMPARE(xs, QVector<double>({1}));
}

void TestSampling::trendsFollowTheFormula_data() {
    QTest::addColumn<double>("weight");
    for (const double weight : {0.6, 0.9, 0.97, 0.99})
        QTest::addRow("%g", weight) << weight;
}

/// What lies too far back to be read counts for less than 2^-24 of the largest difference.
void TestSampling::trendsFollowTheFormula() {
    QFETCH(double, weight);
    constexpr int kCount = 30'000;
    std::mt19937_64 random(3);
    std::normal_distribution<double> noise(5);
    ColumnWriter writer;
    Smoother smoother(weight);
    std::vector<double> wanted;
    std::vector<double> raw;
    double lowest = kInf, highest = -kInf;
    for (int step = 1; step <= kCount; ++step) {
        const double value = step % 1000 == 7 ? kNan : noise(random);
        writer.append(step, value);
        raw.push_back(value);
        wanted.push_back(std::isnan(value) ? kNan : smoother.add(value));
        if (std::isnan(value)) continue;
        lowest = std::min(lowest, value);
        highest = std::max(highest, value);
    }
    const double bound = std::ldexp(highest - lowest, -23); // a nan takes the place of a value
    const auto trendAt = [&](double step) { return wanted[static_cast<size_t>(step) - 1]; };
    const auto near = [&](double step, double value) {
        return std::abs(value - trendAt(step)) <= bound;
    };
    Trend trend(weight);
    int64_t next = 20'001;
    trend.values(writer.column(), next, kCount, [&](int64_t step, double value) {
        next += std::isnan(wanted[static_cast<size_t>(next) - 1]);
        QCOMPARE(step, next++);
        QVERIFY(near(static_cast<double>(step), value));
    });
    QCOMPARE(next, int64_t{kCount + 1});
    const auto atNan = trend.upTo(writer.column(), 25'007);
    QVERIFY(atNan && atNan->step == 25'006 && near(25'006, atNan->value));
    QVector<double> xs, ys;
    for (const auto& [from, to, pixels] :
         {std::tuple(0, kCount, 10), std::tuple(0, kCount, 700), std::tuple(9000, 9900, 700),
          std::tuple(5000, 25'000, 300), std::tuple(5100, 25'100, 300)}) {
        trend.sample(writer.column(), from, to, pixels, xs, ys);
        const bool wide = (to - from) / pixels >= 512;
        QVERIFY(xs.size() >= (wide ? pixels / 8 : pixels) && xs.size() <= 3 * (pixels + 2));
        QVERIFY(std::is_sorted(xs.begin(), xs.end()));
        const double bucket = 8.0 * (to - from) / pixels; // at most so wide
        QVERIFY(xs.front() <= from + bucket && xs.back() >= to);
        for (qsizetype i = 0; i < xs.size(); ++i) {
            const bool mean = wide && i + 1 < xs.size(); // the trend itself is at the end
            const double value = mean ? meanAround(raw, xs[i], 16'384) : trendAt(xs[i]);
            QVERIFY2(std::abs(ys[i] - value) <= bound, qPrintable(QString::number(xs[i])));
        }
    }
}

void TestSampling::trendsOfSparseColumns() {
    ColumnWriter writer;
    Smoother smoother(0.9);
    double wanted = 0;
    for (int i = 1; i <= 3000; ++i) {
        writer.append(100 * i, i % 17);
        wanted = smoother.add(i % 17);
    }
    const auto newest = Trend(0.9).upTo(writer.column(), 1'000'000);
    QVERIFY(newest && newest->step == 300'000);
    QVERIFY(std::abs(newest->value - wanted) < std::ldexp(17, -24));
    // many steps, but few values: the trend, not their means
    QVector<double> xs, ys;
    Trend(0.9).sample(writer.column(), 0, 300'000, 100, xs, ys);
    QVERIFY(xs.size() > 100);
    for (qsizetype i = 0; i < xs.size(); ++i) {
        const auto there = Trend(0.9).upTo(writer.column(), static_cast<int64_t>(xs[i]));
        QVERIFY(there && there->value == ys[i]);
    }
}

/// A mean of samples would swing: one value in 256 is far from the rest here, always at the same
/// place, so that a sample sees all of these or none.
void TestSampling::meansTakeEveryValue() {
    constexpr int kCount = 1 << 20, kPixels = 256;
    ColumnWriter writer;
    std::vector<double> raw;
    for (int step = 1; step <= kCount; ++step) {
        raw.push_back(step % 256 == 0 ? 255 : step % 256 == 9 ? kInf : std::sqrt(step));
        writer.append(step, raw.back());
    }
    QVector<double> xs, ys;
    for (const int to : {kCount, kCount / 4, kCount / 64}) {
        sampleMeans(writer.column(), 1, to, kPixels, {}, xs, ys);
        const int width = to / (kPixels / 4);
        QCOMPARE(xs.size(), qsizetype{kPixels / 4});
        for (qsizetype i = 0; i < xs.size(); ++i) {
            const double value = meanAround(raw, xs[i], static_cast<size_t>(width));
            // both sums have `width` terms of one sign
            QVERIFY(std::abs(ys[i] - value) <= std::ldexp(value * width, -52));
            const double middle = static_cast<double>(i * width) + (width + 1) / 2.0;
            QVERIFY(std::abs(xs[i] - middle) < width / 64.0);
        }
    }
    sampleMeans(writer.column(), 1, kPixels / 2, kPixels, {}, xs, ys);
    QVERIFY(xs.isEmpty());
}

/// The line through the means is level up to a change, and begins anew there: what a change does
/// is not seen before it.
void TestSampling::meansJumpWhereSettingsChange() {
    constexpr int kCount = 20'000, kPixels = 400;
    constexpr int64_t kChanges[] = {1, 7001, 7002, 12'345, kCount, kCount + 1}; // all kinds
    ColumnWriter writer;
    for (int step = 1; step <= kCount; ++step)
        writer.append(step, step % 2 + (step < 7001 ? 0 : step < 12'345 ? 100 : 10));
    QVector<double> xs, ys;
    for (const int pixels : {kPixels, 40}) { // few: a mean is of more than a thousand steps
        sampleMeans(writer.column(), 1, kCount, pixels, kChanges, xs, ys);
        QVERIFY(xs.size() >= pixels / 8 && std::is_sorted(xs.begin(), xs.end()));
        QVERIFY(std::adjacent_find(xs.begin(), xs.end()) == xs.end());
        for (qsizetype i = 0; i < xs.size(); ++i) {
            const double level = xs[i] < 7001 ? 0.5 : xs[i] < 12'345 ? 100.5 : 10.5;
            QVERIFY2(std::abs(ys[i] - level) <= 0.5, qPrintable(QString::number(xs[i])));
        }
        for (const double change : {7001.0, 12'345.0}) {
            const auto at = xs.indexOf(change);
            QVERIFY(at > 0);
            QCOMPARE(xs[at - 1], change - 1);
        }
    }
    sampleMeans(writer.column(), 7001, 12'344, kPixels, kChanges, xs, ys); // at the edges
    QVERIFY(xs.front() >= 7001 && xs.back() <= 12'344);
    QVERIFY(std::all_of(ys.begin(), ys.end(), [](double y) { return std::abs(y - 100.5) <= 0.5; }));
}

/// While a column grows, the buckets that were looked at before are kept; the same is drawn as
/// without them.
void TestSampling::trendsAreThoseOfTheColumn() {
    std::mt19937_64 random(5);
    std::normal_distribution<double> noise;
    ColumnWriter writer;
    Trend kept(0.9);
    QVector<double> xs, ys, freshXs, freshYs;
    for (int step = 1; step <= 20'000; ++step) {
        writer.append(step, noise(random));
        if (step % 97 != 0) continue;
        kept.sample(writer.column(), 0, step, 100, xs, ys);
        Trend(0.9).sample(writer.column(), 0, step, 100, freshXs, freshYs);
        QCOMPARE(xs, freshXs);
        QVERIFY(std::equal(ys.begin(), ys.end(), freshYs.begin(), freshYs.end()));
    }
}

/// Counts what is read from a store: for a long run, no more than its end.
void TestSampling::trendsTakeNoLongerInALongRun() {
    constexpr int kCount = 2'000'000, kPixels = 100;
    ColumnWriter writer;
    for (int step = 1; step <= kCount; ++step)
        writer.append(step, static_cast<double>(step % 1009 * 7919 % 1009));
    class Counted : public ChunkStore {
    public:
        std::vector<std::byte> read(int64_t key) const override {
            ++reads;
            return packed[static_cast<size_t>(key - 1)];
        }
        std::vector<std::vector<std::byte>> packed;
        mutable int reads = 0;
    };
    const auto store = std::make_shared<Counted>();
    for (const ColumnSpanPtr& span : writer.column().spans()) {
        store->packed.push_back(span->packed());
        span->setStored(store, static_cast<int64_t>(store->packed.size()));
        QVERIFY(span->drop());
    }
    Trend trend(Smoother::kMost);
    QVector<double> xs, ys;
    trend.sample(writer.column(), 0, kCount, kPixels, xs, ys);
    QVERIFY(xs.size() >= kPixels / 8);
    QVERIFY2(store->reads <= 4, qPrintable(QString::number(store->reads)));
    const auto at = trend.upTo(writer.column(), kCount / 2);
    QVERIFY(at && store->reads <= 8);
}

/// A line of means is the curve itself where that does not turn, and only there.
void TestSampling::meansGiveWayToSmoothCurves() {
    constexpr int kCount = 100, kEach = 5;
    QVector<double> curveXs, curveYs, xs, ys;
    const auto fill = [&](int noiseFrom) {
        for (QVector<double>* each : {&curveXs, &curveYs, &xs, &ys})
            each->clear();
        for (int step = 1; step <= kCount; ++step) {
            curveXs << step;
            curveYs << (step < noiseFrom ? std::min(10, step) : 10 + step % 2);
            if (step % kEach != 0) continue;
            xs << step - (kEach - 1) / 2.0;
            ys << 7;
        }
        followWhereSmooth(curveXs, curveYs, xs, ys);
    };
    fill(kCount + 1);
    QCOMPARE(xs, curveXs);
    QCOMPARE(ys, curveYs);
    fill(1);
    QCOMPARE(xs.size(), kCount / kEach);
    QCOMPARE(ys.count(7), kCount / kEach);
    fill(51);
    QVERIFY(std::is_sorted(xs.begin(), xs.end()));
    QCOMPARE(xs.first(30), curveXs.first(30));
    QCOMPARE(xs.last(10), QVector<double>({53, 58, 63, 68, 73, 78, 83, 88, 93, 98}));
    xs.clear();
    ys.clear();
    followWhereSmooth(curveXs, curveYs, xs, ys);
    QVERIFY(xs.isEmpty() && ys.isEmpty());
}

} // namespace tst_sampling

QTEST_GUILESS_MAIN(tst_sampling::TestSampling)
#include "tst_sampling.moc"
