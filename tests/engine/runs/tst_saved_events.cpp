// The events of a saved run: their order, kinds that only another version knows, those with which
// it goes on from a checkpoint, and those that forks have from their parents.
#include "engine/io/input_file.h"
#include "engine/runs/left_session.h"
#include "engine/runs/run_past.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_saving.h"
#include "engine/runs/run_writer.h"
#include "engine/runs/session_store.h"
#include "engine/settings/fields.h"
#include "tests/support/cpu_run.h"
#include "tests/support/missing_texts.h"
#include "tests/support/run_tables.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>

namespace tst_saved_events {

using namespace halfscope;
using namespace halfscope::test;

namespace {

QString contentOf(const QString& folder, const QString& name) {
    return QString::fromStdString(readFile(QDir(folder).filePath(name).toStdString()));
}

/// Returns the rows of some steps. Lane 1 skips step 5 and has gradients of zero in step 7.
RunBatch rowsOf(int64_t from, int64_t to, int lanes) {
    RunBatch batch;
    for (int64_t step = from; step <= to; ++step)
        for (int lane = 0; lane < lanes; ++lane)
            batch.rows.push_back(
                StepRow(step, lane)
                    .set(metric::Loss, 1.0f)
                    .set(metric::Scale, lane > 0 ? 16.0f : 1.0f)
                    .set(metric::GrowthTracker, int64_t{0})
                    .set(metric::LearningRate, 0.01f)
                    .set(metric::GradientNorm, lane == 1 && step == 7 ? 0.0f : 1.0f)
                    .setFlags(lane == 1 && step == 5 ? kSkipped : 0u)
                    .set(metric::SkippedSoFar, lane > 0 && step >= 5 ? int64_t{1} : int64_t{0})
                    .set(metric::DeviceSeconds, 0.1)
                    .set(metric::WallSeconds, 0.1));
    return batch;
}

/// Returns a fork at step 11 and one of that fork at step 21.
RunConfig twiceForked() {
    RunConfig config = defaultConfig();
    config.steps = 30;
    config.forks = {{11, 1, 0, defaultLane(Precision::AmpFp16)},
                    {21, 2, 0, defaultLane(Precision::AmpFp16)}};
    return config;
}

/// Returns its run as a window trains it, which adds each lane when its step has come.
std::shared_ptr<Run> forkedRun() {
    const RunConfig config = twiceForked();
    const std::vector<LaneInfo> lanes = lanesOf(config);
    const auto overflow = [](int64_t step, int32_t lane, float scale, const char* tensor,
                             const char* text) {
        return Event{EventKind::Overflow, step, lane, scale, scale, tensor, Message::data(text)};
    };
    auto run = std::make_shared<Run>(cpuRunInfo(config),
                                     std::vector<LaneInfo>(lanes.begin(), lanes.begin() + 2));
    RunBatch first = rowsOf(1, 10, 2), second = rowsOf(11, 20, 3), third = rowsOf(21, 30, 4);
    first.events = {overflow(5, 1, 65536, "forward pass of layer 1",
                             "Step 5 skipped. No loss scale would have helped."),
                    {EventKind::Underflow, 7, 1, 16, 16, {}, Message::data("Step 7: lost.")}};
    second.lanes = {lanes[2]};
    second.events = {overflow(15, 1, 0x1p20F, "the loss", "Of the parent alone.")};
    third.lanes = {lanes[3]};
    for (RunBatch* each : {&first, &second, &third})
        run->append(std::move(*each));
    return run;
}

/// Returns what the events tell of a lane, and why too many of its steps were skipped.
QStringList toldOf(const RunSnapshot& run, int lane) {
    const LaneTotals& totals = run.totals(lane);
    return {QString::fromStdString(totals.tellingOverflow().english()),
            QString::fromStdString(totals.skips().badReason(true).english()),
            QString::number(totals.underflowStep()), QString::number(totals.zeroUpdates()),
            QString::number(totals.skips().faultScale().scale())};
}

} // namespace

class TestSavedEvents : public QObject {
    Q_OBJECT
private slots:
    void init() { m_folder = std::make_unique<RunFolder>(); }
    void eventsInOrder();
    void unknownEvents();
    void goesOnWithItsEvents();
    void forksHaveTheirParentsEvents();

private:
    std::unique_ptr<RunFolder> m_folder;
};

/// An edit in the middle of a step comes before what happens in that step, and lanes may come in
/// any order.
void TestSavedEvents::eventsInOrder() {
    const auto event = [](EventKind kind, int64_t step, int32_t lane) {
        return Event{kind, step, lane, 1, 1, {}, {}};
    };
    const std::vector<Event> arrived{
        event(EventKind::Edit, 3, 1),     event(EventKind::Overflow, 2, 1),
        event(EventKind::Backoff, 2, 1),  event(EventKind::Growth, 2, 0),
        event(EventKind::Damaged, 2, -1), event(EventKind::Growth, 3, 0)};
    const std::string told = std::string(table::kEvents) +
                             "2,all,damaged-sample,1,1,,\n2,fp32,growth,1,1,,\n"
                             "2,amp-fp16,overflow,1,1,,\n2,amp-fp16,backoff,1,1,,\n"
                             "3,amp-fp16,edit,1,1,,\n3,fp32,growth,1,1,,\n";
    RunInfo info;
    info.config = info.recorded = defaultConfig();
    info.device = DeviceInfo{};
    Run run(info, lanesOf(defaultConfig()));
    RunBatch batch;
    batch.events = arrived;
    run.append(std::move(batch));
    saveRun(run.snapshot(), m_folder->folder().toStdString());
    QCOMPARE(contentOf(m_folder->folder(), "events.csv").toStdString(), told);
    const QTemporaryDir grown;
    {
        RunWriter files(grown.path().toStdString(), info, lanesOf(defaultConfig()), {1, 1, 1, {0}});
        RunBatch first, second;
        first.events.assign(arrived.begin(), arrived.end() - 1);
        second.events.push_back(arrived.back());
        files.append(first);
        files.append(second);
    }
    QCOMPARE(contentOf(grown.path(), "events.csv").toStdString(), told);
}

/// A run of a later version opens, and keeps what only that version knows.
void TestSavedEvents::unknownEvents() {
    std::string steps = table::kSteps;
    for (int step = 1; step <= 2; ++step)
        for (const char* lane : {"fp32", "amp-fp16"})
            steps += std::to_string(step) + ',' + lane +
                     std::string(table::kRow).substr(std::string("1,fp32").size());
    m_folder->put("steps.csv", steps);
    const std::string events = std::string(table::kEvents) +
                               "1,all,plateau-2,1,1,,\"The loss, for once, stays.\"\n"
                               "2,fp32,growth,1,2,,\n2,amp-fp16,nan-guard,8,4,0.weight,\n"
                               "3,amp-fp16,plateau-2,1,1,,What comes next.\n";
    m_folder->put("events.csv", events);
    const auto run = m_folder->read();
    QCOMPARE(run->events().size(), size_t{4});
    QCOMPARE(run->events()[0].kind, EventKind::Other);
    QCOMPARE(kindNameOf(run->events()[0]), std::string_view("plateau-2"));
    QCOMPARE(run->events()[1].kind, EventKind::Growth);
    QVERIFY(run->events()[1].otherKind.empty());
    QCOMPARE(run->now().totals(1).scaleAfter(), 4.0f);
    const std::vector<std::string> missing = test::missingTexts(run->info());
    QVERIFY(std::find(missing.begin(), missing.end(), "events.csv") == missing.end());
    const QTemporaryDir saved;
    saveRun(run->snapshot(), saved.path().toStdString());
    QCOMPARE(contentOf(saved.path(), "events.csv").toStdString(), events);
}

/// An edit is named after the step that it acts on first, and comes before that step's row. One
/// that came after the checkpoint, as a live fork may, is no part of the run that goes on.
void TestSavedEvents::goesOnWithItsEvents() {
    const auto rows =
        std::make_shared<Run>(RunInfo{}, std::vector<LaneInfo>{{"fp32", "fp32"}, {"b", "b"}});
    RunBatch batch;
    for (int64_t step = 1; step <= 5; ++step)
        for (const int32_t lane : {0, 1})
            batch.rows.push_back(StepRow(step, lane).set(metric::Loss, 1.0f));
    for (const int64_t step : {3, 4, 5})
        for (const EventKind kind : {EventKind::Edit, EventKind::Backoff})
            batch.events.push_back({kind, step, 1, 8, 4, "optimizer.lr", {}});
    batch.events.push_back({EventKind::Edit, 4, 0, 1, 1, "optimizer.lr", {}});
    batch.events.push_back({EventKind::Edit, 4, 1, 1, 1, "optimizer.lr", {}});
    rows->append(std::move(batch));
    RunBatch forked;
    forked.lanes = {LaneInfo{"c", "c", 1, 3}};
    forked.events = {{EventKind::Edit, 4, 2, 1, 1, "fork", {}}};
    rows->append(std::move(forked));
    RunConfig recorded = defaultConfig();
    recorded.edits = {{4, 1, "optimizer.lr", 0.5}};
    const RunPast past{"1", "folder", 3, recorded, rows};
    std::vector<std::pair<EventKind, int64_t>> taken;
    past.forEach([&](const RunBatch& each) {
        for (const Event& event : each.events)
            taken.emplace_back(event.kind, event.step);
    });
    using Taken = decltype(taken);
    QVERIFY(taken == (Taken{{EventKind::Edit, 3}, {EventKind::Backoff, 3}, {EventKind::Edit, 4}}));
    const auto begun = past.begun();
    QCOMPARE(begun->now().laneCount(), 2);
    QCOMPARE(begun->events().size(), taken.size());
    QCOMPARE(begun->events().back().scaleBefore, 8.0f); // the one that was recorded
}

/// Also where a file has all rows of the parent before its events, or before those of the fork:
/// what the parent did before the fork explains the fork, but is not judged as the fork's own.
void TestSavedEvents::forksHaveTheirParentsEvents() {
    const std::shared_ptr<Run> run = forkedRun();
    const QStringList expected{QStringLiteral("Step 5 skipped. No loss scale would have helped."),
                               QString(), QStringLiteral("7"), QStringLiteral("1"),
                               QStringLiteral("65536")};
    const auto isTold = [&expected](const RunSnapshot& of) {
        return toldOf(of, 2) == expected && toldOf(of, 3) == expected;
    };
    QVERIFY(isTold(run->now()));
    QVERIFY(toldOf(run->now(), 1) != expected); // it has an event after the forks
    const QTemporaryDir saved, sessions;
    saveRun(run->snapshot(), saved.path().toStdString());
    QVERIFY(isTold(readRun(saved.path().toStdString(), twiceForked())->now()));
    {
        SessionStore store({sessions.path().toStdString()});
        store.watch(run, "forked");
        store.flush();
    }
    const std::vector<LeftSession> left = leftSessions(sessions.path().toStdString());
    const std::shared_ptr<Run> restored = left.at(0).read(left[0].runs().at(0));
    QVERIFY(isTold(restored->now()));
    QVERIFY(isTold(Run::goingOn(twiceForked(), restored->now(), 25)->now()));
}

} // namespace tst_saved_events

QTEST_GUILESS_MAIN(tst_saved_events::TestSavedEvents)
#include "tst_saved_events.moc"
