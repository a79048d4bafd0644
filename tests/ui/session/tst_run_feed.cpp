// What arrives from a training with the first steps of a forked lane gets into the run.
#include "engine/settings/fields.h"
#include "ui/session/run_feed.h"

#include <QTest>

namespace tst_run_feed {

using namespace halfscope;

namespace {

constexpr int64_t kForkStep = 5;

StepRecord rowAt(int64_t step, int lane) {
    StepRecord row;
    row.step = step;
    row.lane = lane;
    row.loss = 0.5f;
    row.scale = 1;
    return row;
}

GradientRange countsAt(int64_t step) {
    GradientRange range;
    range.step = step;
    range.outputs.buckets[30] = 10;
    return range;
}

std::vector<GradientRange> countsAt(int64_t step, size_t lanes) {
    return std::vector<GradientRange>(lanes, countsAt(step));
}

} // namespace

class TestRunFeed : public QObject {
    Q_OBJECT
private slots:
    void init();
    void countsOfAForkComeWithIt();
    void countsWaitForTheFork();
    void aGlanceOfAForkIsSeen();
    void aLostTargetIsThatOfTheNetworks();
    void aTargetOfAnotherKindIsThatOfTheNetworks();

private:
    SessionBatch forked() const;

    std::shared_ptr<Run> m_run;
    RunConfig m_config;
};

/// A run of two lanes.
void TestRunFeed::init() {
    m_config = defaultConfig();
    RunInfo info;
    info.config = info.recorded = m_config;
    m_run = std::make_shared<Run>(info, lanesOf(m_config));
    QCOMPARE(m_run->now().laneCount(), 2);
}

/// Returns a batch in which lane B is forked after some steps, and which brings rows and counts of
/// the next step.
SessionBatch TestRunFeed::forked() const {
    SessionBatch batch;
    RunConfig now = m_config, recorded = m_config;
    now.lanes.push_back(m_config.lanes[1]);
    recorded.forks.push_back({kForkStep + 1, 1, 0, m_config.lanes[1]});
    batch.change = SessionChange{now, recorded, {}};
    for (int64_t step = 1; step <= kForkStep; ++step)
        for (const int lane : {0, 1})
            batch.records.push_back(rowAt(step, lane));
    for (const int lane : {0, 1, 2})
        batch.records.push_back(rowAt(kForkStep + 1, lane));
    batch.gradients = {countsAt(kForkStep, 2), countsAt(kForkStep + 1, 3)};
    return batch;
}

void TestRunFeed::countsOfAForkComeWithIt() {
    RunFeed(m_run).take(forked());
    QCOMPARE(m_run->now().laneCount(), 3);
    for (const int lane : {0, 1, 2}) {
        const auto column = m_run->now().gradients(lane).at(kForkStep + 1);
        QVERIFY2(column && column->counted == kForkStep + 1, qPrintable(QString::number(lane)));
    }
    QCOMPARE(m_run->now().gradients(0).at(kForkStep)->counted, kForkStep);
}

/// The rows of the parent may come later than the counts.
void TestRunFeed::countsWaitForTheFork() {
    SessionBatch first = forked(), second;
    second.records = std::move(first.records);
    first.records.clear();
    RunFeed feed(m_run);
    feed.take(std::move(first));
    QCOMPARE(m_run->now().laneCount(), 2);
    feed.take(std::move(second));
    QCOMPARE(m_run->now().laneCount(), 3);
    const auto column = m_run->now().gradients(2).at(kForkStep + 1);
    QVERIFY(column && column->counted == kForkStep + 1);
}

/// Where nobody watches the gradients, their newest count reaches the cards and no history.
void TestRunFeed::aGlanceOfAForkIsSeen() {
    RunFeed(m_run).take(forked(), RunFeed::Counts::Glance);
    QCOMPARE(m_run->now().newestGradients().size(), size_t{3});
    QVERIFY(m_run->now().gradients(2).empty());
}

/// Otherwise each step of the run that goes on would lack it, and no folder could have all of it.
void TestRunFeed::aLostTargetIsThatOfTheNetworks() {
    const Picture kept{1, 1, 1, {0.25f}, {}}, own{1, 1, 1, {0.5f}, {}};
    const auto shown = [&](std::shared_ptr<const TargetPicture> before) {
        SessionInfo session;
        session.config = session.recorded = m_config;
        session.target = own;
        RunInfo info;
        info.config = info.recorded = m_config;
        session.begun = std::make_shared<Run>(info, lanesOf(m_config), std::move(before));
        return runOf(session, {})->now().target()->values;
    };
    QCOMPARE(shown(damagedTarget()), own.values);
    QCOMPARE(shown(sharedTarget(Picture())), own.values);
    QCOMPARE(shown(sharedTarget(kept)), kept.values);
}

/// Earlier versions drew predictions over targets where the targets of a bce loss are two sides: a
/// table of them cannot be compared with that.
void TestRunFeed::aTargetOfAnotherKindIsThatOfTheNetworks() {
    m_config.task.kind = TaskKind::Csv;
    m_config.task.loss.kind = LossKind::BceWithLogits;
    const auto picture = [](int side) {
        const auto values = static_cast<size_t>(side) * static_cast<size_t>(side);
        return Picture{side, side, 1, std::vector<float>(values, 0.5f), {}};
    };
    const auto sideAfter = [&](int before, int networks) {
        SessionInfo session;
        session.config = session.recorded = m_config;
        session.target = picture(networks);
        RunInfo info;
        info.config = info.recorded = m_config;
        session.begun =
            std::make_shared<Run>(info, lanesOf(m_config), sharedTarget(picture(before)));
        return runOf(session, {})->now().target()->width;
    };
    QCOMPARE(sideAfter(96, 2), 2);
    QCOMPARE(sideAfter(2, 2), 2);
    QCOMPARE(sideAfter(96, 64), 96); // another size is of the same kind
    m_config.task.loss.kind = LossKind::Mse;
    QCOMPARE(sideAfter(96, 2), 96);
}

} // namespace tst_run_feed

QTEST_MAIN(tst_run_feed::TestRunFeed)
#include "tst_run_feed.moc"
