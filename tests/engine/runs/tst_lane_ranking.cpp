// Which lane of a run did best: by its accuracy, its validation, its last losses, its skips.
#include "engine/runs/lane_ranking.h"

#include <QTest>

#include <cmath>

namespace tst_lane_ranking {

using namespace halfscope;

class TestLaneRanking : public QObject {
    Q_OBJECT

private slots:
    void theFairestJudgeDecides() {
        // each one is better than the one before it by a criterion that counts more
        const LaneScore worst{0.5, 1.0, 1.0, 0}, loss{0.5, 1.0, 0.5, 9},
            validated{0.5, 0.5, 2.0, 9}, accurate{0.6, 9.0, 9.0, 9};
        const LaneScore scores[] = {worst, loss, validated, accurate};
        QCOMPARE(ranked(scores), (std::vector<size_t>{3, 2, 1, 0}));
    }

    void withoutValidationTheLossDecides() {
        const LaneScore scores[] = {{{}, {}, 2, 0}, {{}, {}, 1, 5}, {{}, {}, 1, 4}, {{}, {}, 1, 4}};
        QCOMPARE(ranked(scores), (std::vector<size_t>{2, 3, 1, 0})); // equal lanes keep their order
    }

    void whatIsNotKnownComesLast() {
        const LaneScore scores[] = {{{}, {}, NAN, 0},
                                    {NAN, {}, 1, 0},
                                    {{}, {}, INFINITY, 1},
                                    {{}, {}, 3, 0},
                                    {0.0, {}, 9, 9}};
        QCOMPARE(ranked(scores), (std::vector<size_t>{4, 1, 3, 0, 2}));
    }

    /// nan is an output like any other to the count of correct ones, which may well be the highest.
    void lossesThatAreNotFiniteComeLast() {
        const LaneScore good{0.2, 3.0, 3.0, 0}, lost{0.9, NAN, 1.0, 0}, infinite{{}, {}, INFINITY};
        const LaneScore scores[] = {lost, infinite, good};
        QCOMPARE(ranked(scores), (std::vector<size_t>{2, 0, 1}));
        QVERIFY(good.isFinite() && !lost.isFinite() && !infinite.isFinite());
    }

    /// The criterion that parts the best one from the last of those that equal it so far.
    void whatDecides() {
        const LaneScore good{1.0, 0.5, 2.0, 3}, lost{1.0, INFINITY, 1.0, 0};
        LaneScore other = good;
        other.validationLoss = 0.6;
        const LaneScore validated[] = {lost, other, good, {0.9, 0.1, 0.1, 0}};
        const Win win = winOf(validated);
        QVERIFY(win.by == Criterion::ValidationLoss);
        QVERIFY(win.equal == std::vector<Criterion>{Criterion::Accuracy});
        QCOMPARE(win.contenders, (std::vector<size_t>{1, 2}));
        const LaneScore accurate[] = {{0.9, 0.1, 0.1, 0}, good};
        QVERIFY(winOf(accurate).by == Criterion::Accuracy && winOf(accurate).equal.empty());
        QCOMPARE(winOf(accurate).contenders.size(), size_t{2});
        const LaneScore one[] = {{{}, {}, 1, 0}};
        QVERIFY(winOf(one).by == Criterion::Loss && winOf(one).equal.empty());
        const LaneScore skips[] = {{{}, {}, 1, 5}, {{}, {}, 1, 4}};
        QVERIFY(winOf(skips).by == Criterion::Skipped);
        QVERIFY(winOf(skips).equal == std::vector<Criterion>{Criterion::Loss});
        const LaneScore alike[] = {good, good};
        QVERIFY(!winOf(alike).by);
        QCOMPARE(winOf(alike).contenders, (std::vector<size_t>{0, 1}));
    }

    void latestLosses() {
        LatestLosses losses;
        QVERIFY(std::isnan(losses.median()));
        losses.add(4);
        losses.add(2);
        QCOMPARE(losses.median(), 3.0);
        for (size_t i = 0; i < LatestLosses::kMost; ++i)
            losses.add(7);
        QCOMPARE(losses.median(), 7.0);
        losses.add(NAN); // one among many
        QCOMPARE(losses.median(), 7.0);
        for (size_t i = 0; i < LatestLosses::kMost; ++i)
            losses.add(NAN);
        QVERIFY(std::isnan(losses.median()));
    }
};

} // namespace tst_lane_ranking

QTEST_GUILESS_MAIN(tst_lane_ranking::TestLaneRanking)
#include "tst_lane_ranking.moc"
