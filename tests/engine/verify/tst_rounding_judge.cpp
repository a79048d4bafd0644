// The judge of recorded trainings by itself: what its random roundings are, and how it judges
// trainings whose deviations are given. Whole trainings are in tst_conditioning and
// tst_optimizer_conditioning.
#include "engine/core/dtype.h"
#include "engine/core/random_rounding.h"
#include "engine/exec/reference.h"
#include "engine/ops/builder.h"
#include "engine/ops/op_info.h"
#include "engine/verify/conditioning.h"
#include "engine/verify/judge_optimizer.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <set>

namespace tst_rounding_judge {

using namespace halfscope;
using namespace halfscope::recorded;

namespace {

constexpr double kWide = 0x1p22; ///< in units in the last place: draws that float32 tells apart
constexpr double kMiddle = 0x1.000001p0; ///< is no float32

std::vector<double> drawn(uint64_t seed, uint64_t stream, size_t count) {
    RandomRounding rounding(seed, stream, kWide);
    std::vector<double> draws;
    for (size_t i = 0; i < count; ++i)
        draws.push_back((rounding(kMiddle) / kMiddle - 1) / (kWide * 0x1p-23));
    return draws;
}

constexpr double kBound = 1e-6, kMoved = 1e-3; ///< what is allowed, and what roundings cause

/// Four steps of one value, 1; from step 1 on, the draws that `moves` names change it by kMoved.
Conditioning trainingOf(std::function<bool(uint64_t seed)> moves) {
    Conditioning training;
    training.exact = training.magnitude = Trace(4, {1.0});
    training.draws = 5;
    training.draw = [moves](uint64_t seed, size_t steps) {
        Trace trace(steps, {1.0});
        for (size_t step = 1; step < steps && moves(seed); ++step)
            trace[step][0] += kMoved;
        return trace;
    };
    return training;
}

/// Returns a comparison that is right up to `first`, then off.
Compared partedAt(size_t first, double off) {
    Compared compared{Trace(4, {1.0}), kBound, 1};
    for (size_t step = first; step < 4; ++step)
        compared.values[step][0] += off;
    return compared;
}

bool always(uint64_t) { return true; }

} // namespace

class TestRoundingJudge : public QObject {
    Q_OBJECT

private slots:
    void drawsFillTheirRange() {
        const std::vector<double> draws = drawn(1, 0, 4096);
        const auto [low, high] = std::minmax_element(draws.begin(), draws.end());
        QVERIFY(*low >= -1 - 1e-6 && *low < -0.99);
        QVERIFY(*high <= 1 + 1e-6 && *high > 0.99);
        double sum = 0;
        for (const double draw : draws)
            sum += draw;
        // of the mean of n uniform draws: 5 standard deviations, 1 / sqrt(3 n) each
        QVERIFY2(std::abs(sum / 4096) < 5 / std::sqrt(3.0 * 4096),
                 qPrintable(QString::number(sum)));
    }

    void drawsDoNotRepeat() {
        const std::vector<double> draws = drawn(1, 0, 64);
        QCOMPARE(std::set<double>(draws.begin(), draws.end()).size(), draws.size());
    }

    void seedsAndStreamsDiffer() {
        const std::vector<double> first = drawn(1, 2, 8);
        QVERIFY(drawn(1, 2, 8) == first);
        constexpr uint64_t kHigh = uint64_t{1} << 32;
        QVERIFY(drawn(2, 2, 8) != first);
        QVERIFY(drawn(1 + kHigh, 2, 8) != first);
        QVERIFY(drawn(1, 3, 8) != first);
        QVERIFY(drawn(1, 2 + kHigh, 8) != first);
    }

    /// Only values that a step keeps as float32 are drawn: the counts and scales in float64 stay.
    void othersAreNotDrawn() {
        Graph graph;
        Builder b(graph);
        const NodeId wide = b.input("wide", {}, DType::F64), half = b.input("half", {}, DType::F16);
        const std::map<NodeId, RefTensor> leaves{{wide, {{}, {kMiddle}}}, {half, {{}, {0.1}}}};
        const auto values =
            evaluate(graph, leaves, std::vector{wide, half}, RefRounding::Random, 7);
        QCOMPARE(values.at(wide).values, std::vector<double>{kMiddle});
        QCOMPARE(values.at(half).values, std::vector<double>{roundTo(DType::F16, 0.1)});
    }

    /// A deviation larger than that of the draws times the freedom cannot be caused by rounding.
    void freedomOfTheDraws_data() {
        QTest::addColumn<double>("off"); // in units of the draws' deviation
        QTest::addColumn<bool>("undecided");
        QTest::newRow("as far") << 1.0 << true;
        QTest::newRow("within the freedom") << kNoiseFreedom * 0.95 << true;
        QTest::newRow("beyond it") << kNoiseFreedom * 1.05 << false;
        QTest::newRow("not a number") << double{NAN} << false;
    }
    void freedomOfTheDraws() {
        QFETCH(double, off);
        QFETCH(bool, undecided);
        const Verdict verdict =
            judgeByRounding(trainingOf(always), partedAt(1, off * kMoved), partedAt(4, 0));
        QCOMPARE(verdict.undecided.has_value(), undecided);
        QVERIFY(!verdict.wrongFile);
        QVERIFY(!undecided || std::abs(verdict.moved / kMoved - 1) < 1e-9);
        const Verdict other =
            judgeByRounding(trainingOf(always), partedAt(4, 0), partedAt(1, off * kMoved));
        QCOMPARE(other.undecided.has_value(), undecided);
        QCOMPARE(other.wrongFile.has_value(), !undecided);
    }

    /// A file that is exact to float64 is not excused by what float32's roundings do.
    void freedomOfAnExactFile() {
        Compared file = partedAt(1, kMoved);
        file.unit = kFloat64Unit;
        const Verdict verdict = judgeByRounding(trainingOf(always), partedAt(1, kMoved), file);
        QVERIFY(!verdict.undecided && verdict.wrongFile);
        QCOMPARE(verdict.wrongFile->step, size_t{1});
    }

    /// Either of the two may diverge first.
    void firstPlace_data() {
        QTest::addColumn<int>("ours");
        QTest::addColumn<int>("file");
        QTest::addColumn<int>("first");
        QTest::newRow("ours") << 1 << 3 << 1;
        QTest::newRow("the file") << 3 << 2 << 2;
        QTest::newRow("ours alone") << 2 << 4 << 2;
        QTest::newRow("the file alone") << 4 << 3 << 3;
    }
    void firstPlace() {
        QFETCH(int, ours);
        QFETCH(int, file);
        QFETCH(int, first);
        const Verdict verdict =
            judgeByRounding(trainingOf(always), partedAt(static_cast<size_t>(ours), kMoved),
                            partedAt(static_cast<size_t>(file), kMoved));
        QVERIFY(verdict.undecided);
        QCOMPARE(verdict.undecided->step, static_cast<size_t>(first));
    }

    /// Before the draws diverge, nothing excuses a deviation.
    void beforeTheDrawsPart() {
        QVERIFY(
            !judgeByRounding(trainingOf(always), partedAt(0, kMoved), partedAt(4, 0)).undecided);
    }

    /// Every draw counts, including the last one, and no more are made than requested.
    void everyDrawCounts() {
        for (uint64_t one = 1; one <= 6; ++one) {
            const Verdict verdict =
                judgeByRounding(trainingOf([one](uint64_t seed) { return seed == one; }),
                                partedAt(1, kMoved), partedAt(4, 0));
            QCOMPARE(verdict.undecided.has_value(), one <= 5);
        }
    }

    void withinTheBoundNothingIsDrawn() {
        Conditioning training = trainingOf(always);
        training.draw = [](uint64_t, size_t) -> Trace { throw std::logic_error("drawn"); };
        const Verdict verdict =
            judgeByRounding(training, partedAt(0, kBound / 2), partedAt(0, kBound / 2));
        QVERIFY(!verdict.undecided && !verdict.wrongFile);
    }

    void deviations() {
        QCOMPARE(deviationOf(1.5, 1, 2), 0.25);
        QCOMPARE(deviationOf(NAN, NAN, 1), 0.0);
        QCOMPARE(deviationOf(INFINITY, INFINITY, 1), 0.0);
        for (const auto& [value, wanted] :
             {std::pair{double{NAN}, 1.0}, std::pair{1.0, double{NAN}},
              std::pair{double{INFINITY}, double{-INFINITY}}})
            QVERIFY(std::isinf(deviationOf(value, wanted, 1)));
        QVERIFY(std::isinf(deviationOf(1, 0, 0)));
        CaseResult result; // nan is within no bound
        result.add(NAN, 1, [] { return std::string("not a number"); });
        QCOMPARE(result.difference, std::string("not a number"));
    }

    /// Deviations are relative to the largest value so far, including the start's.
    void magnitudesGrow() {
        const RecordedOptimizer recorded = recordedOptimizer(
            Golden::parse("row", R"({"start": [-4, 0.5], "grads": [[9, 9], [9, 9], [9, 9]],
                                     "params": [[1, -2], [3, 1], [-5, 0]]})"));
        QCOMPARE(recorded.magnitude, (Trace{{4, 2}, {4, 2}, {5, 2}}));
    }
};

} // namespace tst_rounding_judge

QTEST_GUILESS_MAIN(tst_rounding_judge::TestRoundingJudge)
#include "tst_rounding_judge.moc"
