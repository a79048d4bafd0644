// Series: no extreme is lost in any stretch of steps, only real points are drawn, and values that
// are not finite are kept apart.
#include "ui/plots/curve.h"
#include "ui/plots/series.h"

#include <QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tst_series {

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

} // namespace

class TestSeries : public QObject {
    Q_OBJECT
private slots:
    void extremesSurvive_data();
    void extremesSurvive();
    void everyBucketKeepsItsExtremes();
    void ofEqualValuesTheEarlierOne();
    void fewPointsAreDrawnAsTheyAre();
    void neighboursReachTheEdges();
    void columnsReachTheEdges();
    void notFiniteStaysApart_data();
    void notFiniteStaysApart();
    void lookup();
    void refusesToGoBack();
    void bucketsStandStill();
    void aMillionPoints();
    void emptyAndOddRequests();
    void clearForgets();
};

void TestSeries::extremesSurvive_data() {
    QTest::addColumn<int>("count");
    QTest::addColumn<int>("pixels");
    // around every power of eight, where levels of the pyramid begin
    for (const int count : {1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 4095, 4096, 4097, 40000})
        for (const int pixels : {1, 3, 100, 701})
            QTest::addRow("%d points, %d pixels", count, pixels) << count << pixels;
}

void TestSeries::extremesSurvive() {
    QFETCH(int, count);
    QFETCH(int, pixels);
    const auto seed = static_cast<unsigned>(count * 1000 + pixels);
    std::mt19937_64 random(seed);
    const Reference reference = randomPoints(random, count);
    Series series;
    for (size_t i = 0; i < reference.steps.size(); ++i)
        QVERIFY(series.append(reference.steps[i], reference.values[i]));
    const auto [low, high] = std::minmax_element(reference.values.begin(), reference.values.end());
    QCOMPARE(series.minimum(), *low);
    QCOMPARE(series.maximum(), *high);
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
        series.sample(from, to, pixels, xs, ys);
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
void TestSeries::everyBucketKeepsItsExtremes() {
    constexpr int kCount = 5000;
    for (int spike = 0; spike < kCount; spike += 37) {
        Series series;
        for (int i = 0; i < kCount; ++i)
            series.append(i, i == spike ? 9.0 : 1.0);
        QVector<double> xs, ys;
        series.sample(0, kCount, 50, xs, ys);
        const auto at = ys.indexOf(9.0);
        QVERIFY2(at >= 0, qPrintable(QString::number(spike)));
        QCOMPARE(xs[at], double(spike));
        QCOMPARE(ys.count(9.0), 1);
    }
}

/// A level stretch is drawn by its bucket's first point, however it continues: the same in every
/// frame.
void TestSeries::ofEqualValuesTheEarlierOne() {
    Series series;
    for (int i = 0; i < 4096; ++i)
        series.append(i, 1);
    QVector<double> xs, ys;
    series.sample(0, 4096, 50, xs, ys);
    QCOMPARE(xs.size(), 4096 / 128 + 1);
    for (qsizetype i = 0; i + 1 < xs.size(); ++i)
        QCOMPARE(xs[i], 128.0 * static_cast<double>(i));
    QCOMPARE(xs.back(), 4095.0);
}

void TestSeries::fewPointsAreDrawnAsTheyAre() {
    Series series;
    for (int i = 1; i <= 100; ++i)
        series.append(i, i % 7);
    QVector<double> xs, ys;
    series.sample(1, 100, 60, xs, ys);
    QCOMPARE(xs.size(), 100);
    for (int i = 0; i < 100; ++i) {
        QCOMPARE(xs[i], double(i + 1));
        QCOMPARE(ys[i], double((i + 1) % 7));
    }
}

void TestSeries::neighboursReachTheEdges() {
    Series series;
    for (const int step : {10, 20, 30, 40})
        series.append(step, step);
    QVector<double> xs, ys;
    series.sample(22, 28, 100, xs, ys); // between two points: the line crosses the view
    QCOMPARE(xs, QVector<double>({20, 30}));
    series.sample(20, 30, 100, xs, ys);
    QCOMPARE(xs, QVector<double>({10, 20, 30, 40}));
}

/// The same of a column, whose last value is drawn even when it is no extreme.
void TestSeries::columnsReachTheEdges() {
    constexpr int64_t kLast = 1000;
    ColumnWriter writer;
    for (int64_t step = 1; step <= kLast; ++step)
        writer.append(step, step == kLast ? 0.5 : step % 2 == 0 ? 1 : 0);
    QVector<double> xs, ys;
    sample(writer.column(), 2, 3, 100, xs, ys);
    QCOMPARE(xs, QVector<double>({1, 2, 3, 4}));
    QCOMPARE(ys, QVector<double>({0, 1, 0, 1}));
    sample(writer.column(), 2.2, 2.8, 100, xs, ys); // between two points
    QCOMPARE(xs, QVector<double>({2, 3}));
    sample(writer.column(), 1, kLast, 10, xs, ys);
    QVERIFY(xs.size() < 40);
    QCOMPARE(xs.back(), double{kLast});
    QCOMPARE(ys.back(), 0.5);
}

void TestSeries::notFiniteStaysApart_data() {
    QTest::addColumn<double>("value");
    QTest::newRow("nan") << kNan;
    QTest::newRow("inf") << kInf;
    QTest::newRow("-inf") << -kInf;
    QTest::newRow("finite as double, inf as float") << 1e39;
}

void TestSeries::notFiniteStaysApart() {
    QFETCH(double, value);
    Series series;
    for (int i = 0; i < 1000; ++i)
        QVERIFY(series.append(i, i % 10 == 3 ? value : double(i)));
    QCOMPARE(series.size(), 900);
    QCOMPARE(series.nonFiniteSteps().size(), size_t(100));
    QVERIFY(series.isNonFinite(13));
    QVERIFY(!series.isNonFinite(14));
    QVector<double> xs, ys;
    for (const int pixels : {1, 10, 2000}) {
        series.sample(0, 1000, pixels, xs, ys);
        QVERIFY(!xs.isEmpty());
        QVERIFY(std::all_of(ys.begin(), ys.end(), [](double y) { return std::isfinite(y); }));
        QCOMPARE(ys.count(999.0), 1);
    }
}

void TestSeries::lookup() {
    Series series;
    QCOMPARE(series.indexAt(5), -1);
    for (const int step : {10, 20, 20, 30})
        series.append(step, step);
    QCOMPARE(series.indexAt(9), -1);
    QCOMPARE(series.indexAt(10), 0);
    QCOMPARE(series.indexAt(19.5), 0);
    QCOMPARE(series.indexAt(20), 2);
    QCOMPARE(series.indexAt(1e9), 3);
}

void TestSeries::refusesToGoBack() {
    Series series;
    QVERIFY(series.append(5, 1));
    QVERIFY(series.append(5, 2));
    QVERIFY(!series.append(4, 3));
    QVERIFY(series.append(9, kNan));
    QVERIFY(!series.append(8, 3));
    QCOMPARE(series.size(), 2);
}

/// While points arrive, what was drawn stays the same (at the same zoom): there is no shimmer.
void TestSeries::bucketsStandStill() {
    std::mt19937_64 random(7);
    const Reference reference = randomPoints(random, 3000);
    Series series;
    for (size_t i = 0; i < 2900; ++i)
        series.append(reference.steps[i], reference.values[i]);
    QVector<double> before, beforeY, after, afterY;
    series.sample(0, 1e9, 1000, before, beforeY);
    for (size_t i = 2900; i < 3000; ++i)
        series.append(reference.steps[i], reference.values[i]);
    series.sample(0, 1e9, 1000, after, afterY);
    // the last bucket may still change
    const auto common = before.size() - 3;
    QCOMPARE(before.mid(0, common), after.mid(0, common));
}

void TestSeries::aMillionPoints() {
    constexpr int kCount = 1'000'000;
    Series series;
    for (int i = 0; i < kCount; ++i)
        series.append(i, i == 777'777 ? -5.0 : 1.0 + (i & 15));
    QCOMPARE(series.size(), kCount);
    QCOMPARE(series.minimum(), -5.0);
    QVector<double> xs, ys;
    series.sample(0, kCount, 800, xs, ys);
    QVERIFY(xs.size() > 800 && xs.size() <= 3 * 802);
    QCOMPARE(xs[ys.indexOf(-5.0)], 777'777.0);
    QCOMPARE(xs.last(), double(kCount - 1));
}

void TestSeries::emptyAndOddRequests() {
    Series series;
    QVector<double> xs{1}, ys{1};
    series.sample(0, 1, 10, xs, ys);
    QVERIFY(xs.isEmpty() && ys.isEmpty());
    QCOMPARE(series.minimum(), 0.0);
    series.append(1, 1);
    for (const auto& [from, to] :
         {std::pair(2.0, 1.0), std::pair(kNan, 1.0), std::pair(0.0, kNan)}) {
        series.sample(from, to, 10, xs, ys);
        QVERIFY(xs.isEmpty());
    }
    series.sample(0, 2, 0, xs, ys);
    QVERIFY(xs.isEmpty());
    series.sample(-kInf, kInf, 10, xs, ys);
    QCOMPARE(xs, QVector<double>({1}));
}

void TestSeries::clearForgets() {
    Series series;
    for (int i = 0; i < 1000; ++i)
        series.append(i, i == 500 ? kNan : 100.0);
    series.clear();
    QVERIFY(series.isEmpty() && series.nonFiniteSteps().empty());
    for (int i = 0; i < 100; ++i)
        QVERIFY(series.append(i, i));
    QCOMPARE(series.maximum(), 99.0);
    QCOMPARE(series.minimum(), 0.0);
}

} // namespace tst_series

QTEST_GUILESS_MAIN(tst_series::TestSeries)
#include "tst_series.moc"
