// What is kept of a lane's gradients over time: which step has which counts, how a new loss scale
// moves them, and neighbours that are merged.
#include "engine/core/half_limits.h"
#include "engine/io/atomic_file.h"
#include "engine/runs/gradient_file.h"
#include "engine/runs/gradient_history.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <cmath>
#include <limits>

namespace tst_gradient_history {

using namespace halfscope;

namespace {

using Counts = MagnitudeCounts;

/// Returns counts of many equal values of 2^exponent.
GradientRange rangeOf(int64_t step, int exponent, float scale = 1, DType type = DType::F16) {
    GradientRange range;
    range.step = step;
    range.scale = scale;
    range.type = type;
    range.outputs.buckets[static_cast<size_t>(exponent - Counts::kLowest)] = 100;
    return range;
}

StepRecord rowOf(int64_t step, float scale = 1, uint32_t flags = 0) {
    StepRecord row;
    row.step = step;
    row.scale = scale;
    row.flags = flags;
    return row;
}

double shareAt(const GradientColumn& column, int exponent) {
    return column.shares.between(exponent, exponent + 1);
}

/// Takes steps from..to at one scale.
void train(GradientHistory& history, int64_t from, int64_t to, float scale = 1) {
    for (int64_t step = from; step <= to; ++step)
        history.stepDone(rowOf(step, scale));
}

} // namespace

class TestGradientHistory : public QObject {
    Q_OBJECT
private slots:
    void sharesAddUp();
    void countsStandFromTheirStepOn();
    void aSecondCountReplacesTheFirst();
    void theLossScaleMovesThem_data();
    void theLossScaleMovesThem();
    void unevenScalesAreSpread();
    void infIsNotMoved();
    void infEndsWithACleanStep();
    void interruptionsStayBlank();
    void endsAtAStep();
    void memoryIsBounded_data();
    void memoryIsBounded();
    void meansAreByTime();
    void skipsAreFound_data();
    void skipsAreFound();
    void tableReadsBack();
};

void TestGradientHistory::sharesAddUp() {
    GradientRange range = rangeOf(1, 0);
    range.weights.buckets[3] = 60;
    range.weights.zeros = 30;
    range.outputs.notFinite = 10;
    const GradientShares shares = GradientShares::of(range);
    QCOMPARE(shares.zeros, 0.15f);
    QCOMPARE(shares.notFinite, 0.05f);
    QCOMPARE(shares.between(0, 1), double{0.5f});
    QCOMPARE(shares.between(Counts::kLowest + 3, Counts::kLowest + 4), double{0.3f});
    QVERIFY(std::abs(shares.total() - 1) < 1e-6);
    QCOMPARE(GradientShares::of(GradientRange()).total(), 0.0);
}

/// A count comes before the row of its step, and holds until the next one.
void TestGradientHistory::countsStandFromTheirStepOn() {
    GradientHistory history;
    history.add(rangeOf(3, -5));
    train(history, 1, 2);
    QVERIFY(history.empty());
    QVERIFY(!history.at(2));
    history.add(rangeOf(7, 2));
    train(history, 3, 9);
    history.add(rangeOf(4, 10)); // too late
    train(history, 10, 10);
    const auto columns = history.columns();
    QCOMPARE(columns.size(), size_t{2});
    QCOMPARE(columns[0].from, int64_t{3});
    QCOMPARE(columns[0].to, int64_t{7});
    QCOMPARE(columns[1].from, int64_t{7});
    QCOMPARE(columns[1].to, int64_t{11});
    QCOMPARE(history.at(6)->counted, int64_t{3});
    QCOMPARE(shareAt(*history.at(6), -5), 1.0);
    QCOMPARE(shareAt(*history.at(std::nullopt), 2), 1.0);
    QVERIFY(!history.at(1));
    QVERIFY(!history.at(11));
    history.clear();
    QVERIFY(history.empty());
    QVERIFY(!history.at(std::nullopt));
}

/// An edit while nothing trains gives the same step other gradients.
void TestGradientHistory::aSecondCountReplacesTheFirst() {
    GradientHistory history;
    history.add(rangeOf(1, -5));
    history.add(rangeOf(2, -6));
    history.add(rangeOf(1, 4));
    train(history, 1, 2);
    QCOMPARE(history.columns().size(), size_t{1});
    QCOMPARE(shareAt(*history.at(2), 4), 1.0);
}

void TestGradientHistory::theLossScaleMovesThem_data() {
    QTest::addColumn<int>("exponent");
    QTest::addColumn<float>("scale"); // from scale 1
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("wanted"); // an exponent, or one of the two below
    constexpr int kZero = -1000, kInf = 1000;
    const int half = static_cast<int>(DType::F16), full = static_cast<int>(DType::F32);
    QTest::newRow("up") << -3 << 8.0f << half << 0;
    QTest::newRow("down") << -3 << 0.25f << half << -5;
    QTest::newRow("into the subnormals") << -20 << 0.03125f << half << kHalfZero;
    QTest::newRow("to zero") << -20 << 0.015625f << half << kZero;
    QTest::newRow("to the largest") << 13 << 4.0f << half << kHalfInfinite - 1;
    QTest::newRow("to inf") << 13 << 8.0f << half << kInf;
    QTest::newRow("float32 goes on") << 13 << 8.0f << full << 16;
    QTest::newRow("float32 stays small") << -20 << 0.015625f << full << -26;
    QTest::newRow("beyond the buckets") << 20 << 65536.0f << full << 23;
    QTest::newRow("below the buckets") << -39 << 1e-30f << full << -40;
}

void TestGradientHistory::theLossScaleMovesThem() {
    QFETCH(const int, exponent);
    QFETCH(const float, scale);
    QFETCH(const int, type);
    QFETCH(const int, wanted);
    GradientHistory history;
    history.add(rangeOf(1, exponent, 1, static_cast<DType>(type)));
    train(history, 1, 4);
    train(history, 5, 8, scale);
    train(history, 9, 9); // and back: nothing was lost on the way
    QCOMPARE(history.columns().size(), size_t{3});
    const GradientColumn moved = *history.at(5);
    QCOMPARE(moved.from, int64_t{5});
    QCOMPARE(moved.to, int64_t{9});
    QCOMPARE(moved.counted, int64_t{1});
    QVERIFY(std::abs(moved.shares.total() - 1) < 1e-6);
    const double share = wanted == -1000  ? double{moved.shares.zeros}
                         : wanted == 1000 ? double{moved.shares.notFinite}
                                          : shareAt(moved, wanted);
    QVERIFY2(std::abs(share - 1) < 1e-6, qPrintable(QString::number(share)));
    QCOMPARE(shareAt(*history.at(9), exponent), 1.0);
}

/// A growth by 3 moves a value by an octave and a part of the next one.
void TestGradientHistory::unevenScalesAreSpread() {
    GradientHistory history;
    history.add(rangeOf(1, 0));
    train(history, 1, 1);
    train(history, 2, 2, 3);
    const double part = std::log2(3.0) - 1;
    QVERIFY(std::abs(shareAt(*history.at(2), 1) - (1 - part)) < 1e-6);
    QVERIFY(std::abs(shareAt(*history.at(2), 2) - part) < 1e-6);
}

/// An inf at one scale says nothing about the next scale: the earlier counts are kept, or nothing.
void TestGradientHistory::infIsNotMoved() {
    GradientRange bad = rangeOf(3, 10, 8);
    bad.weights.notFinite = 100;
    GradientHistory history;
    history.add(rangeOf(1, 10, 4));
    history.add(bad);
    train(history, 1, 2, 4);
    history.stepDone(rowOf(3, 8, kSkipped));
    train(history, 4, 5, 4);
    QCOMPARE(shareAt(*history.at(3), 10), 0.5);
    QCOMPARE(history.at(3)->shares.notFinite, 0.5f);
    QCOMPARE(history.at(4)->shares.notFinite, 0.0f);
    QCOMPARE(shareAt(*history.at(4), 10), 1.0);
    QCOMPARE(history.at(4)->counted, int64_t{1});
    GradientHistory first;
    first.add(bad);
    first.stepDone(rowOf(3, 8, kSkipped));
    train(first, 4, 5, 4);
    QVERIFY(first.at(3));
    QVERIFY(!first.at(4));
    // a scale of zero moves nothing anywhere
    history.stepDone(rowOf(6, 0));
    QVERIFY(!history.at(6));
}

/// This also holds at a fixed scale: a step that was not skipped had no inf.
void TestGradientHistory::infEndsWithACleanStep() {
    GradientRange bad = rangeOf(2, 10);
    bad.weights.notFinite = 100;
    GradientHistory history;
    history.add(rangeOf(1, 10));
    history.add(bad);
    train(history, 1, 1);
    history.stepDone(rowOf(2, 1, kSkipped));
    history.stepDone(rowOf(3, 1, kSkipped));
    train(history, 4, 4);
    QVERIFY(history.at(3)->shares.notFinite > 0);
    QCOMPARE(history.at(4)->shares.notFinite, 0.0f);
    // without the check, inf stays
    GradientHistory unchecked;
    unchecked.add(bad);
    train(unchecked, 1, 4);
    QVERIFY(unchecked.at(4)->shares.notFinite > 0);
}

void TestGradientHistory::interruptionsStayBlank() {
    GradientHistory history;
    history.add(rangeOf(1, 0));
    train(history, 1, 10);
    history.interrupt();
    train(history, 11, 20);
    train(history, 21, 29, 2); // there is nothing to move
    history.add(rangeOf(30, 1));
    train(history, 30, 31);
    const auto columns = history.columns();
    QCOMPARE(columns.size(), size_t{2});
    QCOMPARE(columns[0].to, int64_t{11});
    QCOMPARE(columns[1].from, int64_t{30});
    QVERIFY(!history.at(15));
    QVERIFY(!history.mean(11.5, 28));
    QVERIFY(history.mean(10, 28));
}

/// A fork's past has columns up to its step, and that step itself.
void TestGradientHistory::endsAtAStep() {
    GradientHistory history;
    for (const int64_t step : {1, 11, 21}) {
        history.add(rangeOf(step, 0));
        train(history, step, step + 9);
    }
    const GradientHistory past = history.upTo(15);
    const auto columns = past.columns();
    QCOMPARE(columns.size(), size_t{2});
    QCOMPARE(columns[0].to, int64_t{11});
    QCOMPARE(columns[1].to, int64_t{16});
    QVERIFY(past.at(15));
    QCOMPARE(past.lastStep(), int64_t{15});
    GradientHistory skips; // of steps 10 and 11, which are in bins of their own
    for (int64_t step = 1; step <= 20; ++step)
        skips.stepDone(rowOf(step, 1, step == 10 || step == 11 ? uint32_t{kSkipped} : 0));
    QVERIFY(skips.skipped(10.5, 20.5) && skips.upTo(10).skipped(9.5, 10.5));
    QVERIFY(!skips.upTo(10).skipped(10.5, 20.5));
}

void TestGradientHistory::memoryIsBounded_data() {
    QTest::addColumn<int>("every"); // the number of steps for each count
    QTest::addColumn<bool>("gaps");
    QTest::newRow("each step") << 1 << false;
    QTest::newRow("some steps") << 7 << false;
    QTest::newRow("with gaps") << 3 << true;
}

/// Neighbours are merged: in order, without holes, and without losing what rare steps had.
void TestGradientHistory::memoryIsBounded() {
    QFETCH(const int, every);
    QFETCH(const bool, gaps);
    constexpr int64_t kSteps = 60000;
    GradientHistory history;
    int64_t odd = 0, counted = 0;
    for (int64_t step = 1; step <= kSteps; ++step) {
        const bool rare = step % (100 * every) == 1;
        if (step % every == 1 % every) {
            history.add(rangeOf(step, rare ? 5 : -5));
            odd += rare;
            ++counted;
        }
        history.stepDone(rowOf(step));
        if (gaps && step % every == 1) history.interrupt();
        if (step % 1000 == 0)
            QVERIFY(history.columns().size() <= GradientHistory::kMostColumns + 1);
    }
    const auto columns = history.columns();
    QVERIFY(columns.size() > GradientHistory::kMostColumns / 3);
    double steps = 0, sum = 0;
    for (size_t i = 0; i < columns.size(); ++i) {
        const auto width = static_cast<double>(columns[i].to - columns[i].from);
        QVERIFY(width > 0);
        if (i > 0 && !gaps) QCOMPARE(columns[i].from, columns[i - 1].to);
        if (i > 0) QVERIFY(columns[i].from >= columns[i - 1].to);
        QVERIFY(std::abs(columns[i].shares.total() - 1) < 1e-5);
        steps += width;
        sum += width * shareAt(columns[i], 5);
    }
    QCOMPARE(columns.front().from, int64_t{1});
    QVERIFY(columns.front().merged);
    if (gaps) return;
    QCOMPARE(columns.back().to, kSteps + 1);
    // the rare ones keep the share of the steps that they had
    const double wanted = static_cast<double>(odd) / static_cast<double>(counted);
    QVERIFY2(std::abs(sum / steps - wanted) < 1e-4 + 0.02 * wanted,
             qPrintable(QString::number(sum / steps)));
}

void TestGradientHistory::meansAreByTime() {
    GradientHistory history;
    history.add(rangeOf(1, 0));
    history.add(rangeOf(4, 1));
    train(history, 1, 4);
    const auto all = history.mean(0.5, 4.5); // three steps of one, one step of the other
    QVERIFY(all);
    QCOMPARE(all->between(0, 1), 0.75);
    QCOMPARE(all->between(1, 2), 0.25);
    QCOMPARE(history.mean(3.6, 3.9)->between(1, 2), 1.0); // step 4 begins at 3.5
    QVERIFY(!history.mean(-3, 0.5));
    QVERIFY(!history.mean(4.5, 9));
}

void TestGradientHistory::skipsAreFound_data() {
    QTest::addColumn<qint64>("steps");
    QTest::addColumn<qint64>("skipped");
    QTest::newRow("the first") << qint64{100} << qint64{1};
    QTest::newRow("in the middle") << qint64{100} << qint64{50};
    QTest::newRow("the last bin") << qint64{4095} << qint64{4095};
    QTest::newRow("bins of two") << qint64{5000} << qint64{4097};
    QTest::newRow("a long run") << qint64{100000} << qint64{77777};
    QTest::newRow("early in a long run") << qint64{100000} << qint64{3};
}

void TestGradientHistory::skipsAreFound() {
    QFETCH(const qint64, steps);
    QFETCH(const qint64, skipped);
    GradientHistory history;
    for (qint64 step = 1; step <= steps; ++step)
        history.stepDone(rowOf(step, 1, step == skipped ? uint32_t{kSkipped} : 0));
    const auto step = static_cast<double>(skipped);
    QVERIFY(history.skipped(step - 0.5, step + 0.5));
    QVERIFY(history.skipped(step - 0.1, step + 0.1));
    QVERIFY(history.skipped(0.5, static_cast<double>(steps) + 0.5));
    // groups are at most 2/kSkipBins of the run
    const double near = std::max(1.0, 2.0 * static_cast<double>(steps) / 4096);
    QVERIFY(!history.skipped(step + near, static_cast<double>(steps) + near));
    QVERIFY(!history.skipped(-2, step - near));
}

void TestGradientHistory::tableReadsBack() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath(QStringLiteral("gradients.csv")).toStdString();
    std::array<GradientHistory, 2> lanes;
    const std::array<std::string, 2> names{"fp32", "a, \"b\""};
    QCOMPARE(gradientText(lanes, names), std::string());
    lanes[1].add(rangeOf(2, Counts::kLowest + 1));
    train(lanes[1], 1, 5);
    writeFileAtomically(path, gradientText(lanes, names));
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QList<QByteArray> lines = file.readAll().split('\n');
    QCOMPARE(lines.size(), 3);
    QVERIFY(lines[2].isEmpty());
    QVERIFY(lines[0].startsWith("lane,first_step,last_step,counted_step,zero,2^-40,2^-39,"));
    QVERIFY(lines[0].endsWith(",2^23,not_finite"));
    QVERIFY(lines[1].startsWith("\"a, \"\"b\"\"\",2,5,2,0,0,1,0,"));
    QCOMPARE(lines[1].count(',') - 1, lines[0].count(',')); // one comma is in the name
    // a mean of many shares may round to a little more than 1
    QByteArray rounded = lines[1];
    rounded.replace(",0,0,1,0,", ",0,0,1.0005,0,");
    writeFileAtomically(path, (lines[0] + '\n' + rounded + '\n').toStdString());
    const auto read = readGradients(path, names, 5);
    QCOMPARE(shareAt(*read->at(1).at(3), Counts::kLowest + 1), double{1.0005f});
}

} // namespace tst_gradient_history

QTEST_GUILESS_MAIN(tst_gradient_history::TestGradientHistory)
#include "tst_gradient_history.moc"
