// How often a training stops to count its gradients.
#include "engine/train/gradient_pace.h"

#include <QTest>

#include <algorithm>

namespace tst_gradient_pace {

using namespace halfscope;

class TestGradientPace : public QObject {
    Q_OBJECT
private slots:
    void paceKeepsItsShare_data();
    void paceKeepsItsShare();
    void smallNetworksAreCountedDensely();
    void glancesTakeAHundredth_data();
    void glancesTakeAHundredth();
    void restCostsAGlanceNothing();
};

void TestGradientPace::paceKeepsItsShare_data() {
    QTest::addColumn<double>("step");  // seconds
    QTest::addColumn<double>("count"); // seconds
    QTest::newRow("a tiny network") << 2e-5 << 4e-5;
    QTest::newRow("a small one") << 1e-3 << 1.5e-3;
    QTest::newRow("checkerboard") << 0.025 << 0.03;
    QTest::newRow("slow counts") << 1e-4 << 0.02;
}

/// Counts take no more of a minute than their share, the advance, and the last count; there is a
/// count every two seconds at least.
void TestGradientPace::paceKeepsItsShare() {
    QFETCH(const double, step);
    QFETCH(const double, count);
    GradientPace pace;
    double now = 100, spent = 0, last = now, longest = 0;
    int64_t number = 1;
    constexpr double kSeconds = 60;
    for (; now < 100 + kSeconds; ++number) {
        now += step;
        if (!pace.due(number, now)) continue;
        longest = std::max(longest, now - last);
        pace.counted(number, now, now + count);
        now += count;
        spent += count;
        last = now;
    }
    const double allowed = GradientPace::kAdvance + GradientPace::kShare * kSeconds + count;
    QVERIFY2(spent <= allowed, qPrintable(QString::number(spent)));
    QVERIFY2(longest <= GradientPace::kSlowest + step, qPrintable(QString::number(longest)));
    // a pause saves up no more than the advance
    now += 1000;
    double burst = 0;
    while (pace.due(++number, now) && burst < 10) {
        pace.counted(number, now, now + count);
        now += count;
        burst += count;
    }
    QVERIFY2(burst <= GradientPace::kAdvance * (1 + 2 * GradientPace::kShare) + 2 * count,
             qPrintable(QString::number(burst)));
}

/// Each of the first steps is counted, later ones as densely as a plot of all of them can show.
void TestGradientPace::smallNetworksAreCountedDensely() {
    GradientPace pace;
    double now = 0;
    int64_t last = 0, widest = 0;
    for (int64_t number = 1; number <= 4000; ++number) {
        now += 2e-5;
        if (!pace.due(number, now)) continue;
        widest = std::max(widest, number - last);
        if (number <= 2 * GradientPace::kMostInSight - 1) QCOMPARE(number - last, int64_t{1});
        pace.counted(number, now, now + 4e-5);
        now += 4e-5;
        last = number;
    }
    QCOMPARE(widest, int64_t{4000 / GradientPace::kMostInSight});
}

void TestGradientPace::glancesTakeAHundredth_data() {
    QTest::addColumn<double>("step");  // seconds
    QTest::addColumn<double>("count"); // seconds
    QTest::addColumn<double>("first"); // seconds until the first glance, at most
    QTest::newRow("a tiny network") << 2e-5 << 4e-5 << 0.01;
    QTest::newRow("checkerboard") << 0.025 << 0.06 << 0.05;
    QTest::newRow("slow counts") << 1e-4 << 0.02 << 0.01;
    QTest::newRow("a large network") << 0.5 << 1.5 << 60.0;
    QTest::newRow("a larger one than can be paid for") << 4.0 << 12.0 << 1e9;
}

/// No count a second is exceeded, nor a hundredth of the time and the advance.
void TestGradientPace::glancesTakeAHundredth() {
    QFETCH(const double, step);
    QFETCH(const double, count);
    QFETCH(const double, first);
    GradientPace pace;
    constexpr double kSeconds = 300, kBegin = 100;
    double now = kBegin, spent = 0, last = 0, begun = 1e9;
    while (now < kBegin + kSeconds) {
        now += step;
        if (!pace.dueForGlance(now, step)) continue;
        if (last > 0) QVERIFY(now - last >= GradientPace::kGlanceUsual);
        begun = std::min(begun, now - kBegin);
        pace.counted(1, now, now + count);
        now += count;
        spent += count;
        last = now;
    }
    QVERIFY2(begun <= first, qPrintable(QString::number(begun)));
    const double allowed =
        GradientPace::kGlanceAdvance + GradientPace::kGlanceShare * (now - kBegin);
    QVERIFY2(spent <= allowed, qPrintable(QString::number(spent)));
}

/// A count while nothing trains, which takes none of the training's time, says nothing of the next.
void TestGradientPace::restCostsAGlanceNothing() {
    GradientPace pace;
    QVERIFY(pace.dueForGlance(100, 0.001));
    pace.counted(1, 100, 100);
    QVERIFY(!pace.dueForGlance(100.5, 0.001));
    QVERIFY(!pace.dueForGlance(100.5, 0.001, 5, 5)); // four steps later
    QVERIFY(pace.dueForGlance(100.5, 0.001, 6, 5));
    QVERIFY(!pace.dueForGlance(100.5, 5, 6, 5));
    QVERIFY(!pace.dueForGlance(102, 5)); // fifteen seconds are not paid for
    QVERIFY(pace.dueForGlance(103, 0.001));
}

} // namespace tst_gradient_pace

QTEST_GUILESS_MAIN(tst_gradient_pace::TestGradientPace)
#include "tst_gradient_pace.moc"
