// What a session's file tells of its runs besides their values: the names that they were given,
// whether they were over, and what an earlier session could not give. Runs that still read the file
// keep it.
#include "engine/io/database.h"
#include "engine/io/strict_json.h"
#include "engine/runs/left_session.h"
#include "engine/runs/run_summary.h"
#include "engine/runs/session_store.h"
#include "tests/support/cpu_run.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <chrono>
#include <optional>

namespace tst_restored_runs {

using namespace halfscope;
using namespace std::chrono_literals;

namespace {

constexpr int64_t kSteps = 20;

RunConfig shortConfig() {
    RunConfig config = defaultConfig();
    config.steps = kSteps;
    return config;
}

std::shared_ptr<Run> trainedTo(int64_t steps, const RunConfig& config = shortConfig()) {
    auto run = std::make_shared<Run>(cpuRunInfo(config), lanesOf(config));
    RunBatch batch;
    for (int64_t step = 1; step <= steps; ++step)
        for (int lane = 0; lane < run->now().laneCount(); ++lane)
            batch.rows.push_back(StepRow(step, lane).set(metric::Loss, 1 / float(step + lane)));
    run->append(std::move(batch));
    return run;
}

void end(Run& run, RunOutcome outcome) {
    RunBatch batch;
    batch.info = run.now().info();
    batch.info->outcome = outcome;
    run.append(std::move(batch));
}

/// Keeps a run in a session of its own, and returns why not all of `before` could be read.
Message storeIn(const std::string& sessions, const std::shared_ptr<Run>& run,
                const std::string& before) {
    SessionStore store({sessions});
    store.watch(run, "one");
    store.flush();
    return store.unreadIn(before);
}

/// Returns the sessions that a start offers.
std::vector<LeftSession> offeredIn(const std::string& sessions) {
    std::vector<LeftSession> left = leftSessions(sessions);
    leaveOutCopied(left);
    return left;
}

/// Leaves a run whose pictures, checkpoint and gradients cannot be read, and returns its file.
std::string leaveUnreadable(const std::string& sessions) {
    const std::shared_ptr<Run> run = trainedTo(kSteps);
    RunBatch batch;
    batch.pictures =
        LanePictures{kSteps, {Picture{1, 1, 1, {0.5f}, {}}, Picture{1, 1, 1, {1}, {}}}};
    batch.checkpoint = std::make_shared<const RunCheckpoint>(kSteps, [] { return "a state"; });
    run->append(std::move(batch));
    std::string path;
    {
        SessionStore store({sessions});
        store.watch(run, "one");
        store.flush();
        path = store.path();
    }
    Database(path, Database::Access::Create)
        .run("ALTER TABLE pictures RENAME data TO lost; ALTER TABLE checkpoints RENAME data TO "
             "lost; ALTER TABLE gradients RENAME data TO lost");
    return path;
}

/// Returns the outcome that the results of the restored run have.
std::string savedOutcome(const RunSnapshot& run) {
    std::vector<LaneTotals> totals;
    for (int lane = 0; lane < run.laneCount(); ++lane)
        totals.push_back(run.totals(lane));
    const std::vector<double> noTimes(totals.size());
    const std::string text = summaryText(run.info(), run.lanes(), totals, noTimes);
    return Json::parse(text).at("outcome").get<std::string>();
}

} // namespace

class TestRestoredRuns : public QObject {
    Q_OBJECT
private slots:
    void haveTheirLastNames();
    void haveNamesGivenAtOnce();
    void tellTheirOutcome();
    void tellTheirOutcomeAgain();
    void ofEpochsAreNotCalledFinished();
    void holdTheSessionThatTheyRead_data();
    void holdTheSessionThatTheyRead();
    void lackTheSameAtEachStart();
};

/// Also a run that is over and takes in nothing more.
void TestRestoredRuns::haveTheirLastNames() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::shared_ptr<Run> one = trainedTo(kSteps), two = trainedTo(5);
    {
        SessionStore store({sessions, usualBudget(), 10ms});
        store.watch(one, "one");
        store.watch(two, "two");
        store.flush();
        store.rename(one.get(), "Underflow");
        store.flush();
        QVERIFY(store.problem().empty());
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.at(0).runs().size(), size_t{2});
    QCOMPARE(left[0].runs()[0].name, std::string("Underflow"));
    QCOMPARE(left[0].runs()[1].name, std::string("two"));
    const std::shared_ptr<Run> back = left[0].read(left[0].runs()[0]);
    QCOMPARE(back->step(), kSteps);
    QCOMPARE(configText(back->now().info().recorded), configText(one->now().info().recorded));
}

/// Before the store has looked at the run, and while the run is still being read from elsewhere. A
/// name of a run that went is not that of another one.
void TestRestoredRuns::haveNamesGivenAtOnce() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::shared_ptr<Run> one = trainedTo(kSteps), two = trainedTo(5), three = trainedTo(7);
    {
        SessionStore store({sessions, usualBudget(), 1h});
        store.watch(one, "one");
        store.rename(one.get(), "first");
        store.watch(two, "two", SessionStore::Whole::No);
        store.flush();
        store.rename(two.get(), "second");
        store.flush();
        store.complete(two.get());
        store.watch(three, "three");
        store.rename(three.get(), "third");
        store.forget(three.get());
        store.watch(three, "again");
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    std::vector<std::string> names;
    for (const LeftRun& run : left.at(0).runs())
        names.push_back(run.name);
    QCOMPARE(names, (std::vector<std::string>{"first", "second", "again"}));
}

/// What was over is over, and what was being trained may go on. Where the program ended before it
/// wrote that a run was over, the steps tell it.
void TestRestoredRuns::tellTheirOutcome() {
    struct Case {
        int64_t steps;
        std::optional<RunOutcome> ended, restored;
        const char* saved;
    };
    for (const Case& each :
         {Case{kSteps, RunOutcome::Finished, RunOutcome::Finished, "finished"},
          Case{kSteps, std::nullopt, RunOutcome::Finished, "finished"},
          Case{12, RunOutcome::OutOfPatience, RunOutcome::OutOfPatience, "out_of_patience"},
          Case{12, RunOutcome::Stopped, RunOutcome::Stopped, "stopped"},
          Case{kSteps - 1, std::nullopt, std::nullopt, "interrupted"}}) {
        const QTemporaryDir folder;
        const std::string sessions = folder.path().toStdString();
        {
            SessionStore store({sessions});
            const std::shared_ptr<Run> run = trainedTo(each.steps);
            store.watch(run, "one");
            store.flush();
            if (each.ended) end(*run, *each.ended);
        }
        const std::vector<LeftSession> left = leftSessions(sessions);
        const std::shared_ptr<Run> back = left.at(0).read(left[0].runs().at(0));
        QVERIFY(back->now().info().outcome == each.restored);
        QCOMPARE(savedOutcome(back->now()), std::string(each.saved));
    }
}

/// A run that was restored may be left behind once more, and an earlier version of the program may
/// have written that it was interrupted.
void TestRestoredRuns::tellTheirOutcomeAgain() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string path;
    {
        SessionStore store({sessions});
        const std::shared_ptr<Run> run = trainedTo(kSteps);
        end(*run, RunOutcome::Finished);
        store.watch(run, "one");
        store.flush();
        path = store.path();
    }
    Database(path, Database::Access::Create)
        .run("UPDATE runs SET summary = replace(summary, 'finished', 'interrupted')");
    std::shared_ptr<Run> back;
    {
        std::vector<LeftSession> left = leftSessions(sessions);
        back = left.at(0).read(left[0].runs().at(0));
        left[0].remove();
    }
    {
        SessionStore store({sessions});
        store.watch(back, "one");
        store.flush();
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    const std::shared_ptr<Run> again = left.at(0).read(left[0].runs().at(0));
    QVERIFY(again->now().info().outcome == RunOutcome::Finished);
}

/// How many steps they have, the data tell, which may be gone.
void TestRestoredRuns::ofEpochsAreNotCalledFinished() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    RunConfig config = shortConfig();
    config.epochs = 1;
    {
        SessionStore store({sessions});
        store.watch(trainedTo(kSteps, config), "one");
        store.flush();
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    const std::shared_ptr<Run> back = left.at(0).read(left[0].runs().at(0));
    QVERIFY(!back->now().info().outcome);
}

void TestRestoredRuns::holdTheSessionThatTheyRead_data() {
    QTest::addColumn<bool>("paints"); // or has a checkpoint
    QTest::newRow("pictures") << true;
    QTest::newRow("a checkpoint") << false;
}

/// What a run reads when somebody asks for it, no other window may delete or take over, until this
/// window's own store has it.
void TestRestoredRuns::holdTheSessionThatTheyRead() {
    QFETCH(const bool, paints);
    const QTemporaryDir before, after;
    const std::string sessions = before.path().toStdString();
    {
        SessionStore store({sessions});
        const std::shared_ptr<Run> run = trainedTo(kSteps);
        RunBatch batch;
        if (paints)
            batch.pictures =
                LanePictures{kSteps, {Picture{1, 1, 1, {0.5f}, {}}, Picture{1, 1, 1, {1}, {}}}};
        else
            batch.checkpoint = std::make_shared<const RunCheckpoint>(
                kSteps, [] { return std::string("a state"); });
        run->append(std::move(batch));
        store.watch(run, "one");
        store.flush();
    }
    std::shared_ptr<Run> run;
    {
        const std::vector<LeftSession> left = leftSessions(sessions);
        run = left.at(0).read(left[0].runs().at(0));
    }
    OtherSessions others;
    QVERIFY(leftSessions(sessions, &others).empty());
    QCOMPARE(others.used, size_t{1});
    SessionStore store({after.path().toStdString()});
    store.watch(run, "one");
    store.flush();
    QCOMPARE(leftSessions(sessions).size(), size_t{1});
    if (paints)
        QCOMPARE(run->now().pictures()->outputs.at(1).values, std::vector{1.0f});
    else
        QCOMPARE(run->now().checkpoint()->bytes(), std::string("a state"));
}

/// Else the second start would take them for runs that never had any, and a save into the folder
/// that has an earlier copy would delete it. Each start offers one copy, and the damaged file
/// stays.
void TestRestoredRuns::lackTheSameAtEachStart() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::string damaged = leaveUnreadable(sessions);
    const auto moves = [&sessions](LeftSession& from) {
        const std::shared_ptr<Run> run = from.read(from.runs().at(0));
        const Message unread = storeIn(sessions, run, from.name());
        const RunSnapshot& now = run->now();
        const bool lacks = now.gradientsUnread() && now.checkpoint() &&
                           now.checkpoint()->step() == kSteps &&
                           now.sharedPictures()->step() == kSteps;
        const std::string told[] = {
            thrownBy<RunError>([&] { now.checkpoint()->bytes(); }),
            thrownBy<RunError>([&] { now.sharedPictures()->packed(); }),
        };
        const bool tells = told[0].find(sessions) != std::string::npos &&
                           told[1].find(sessions) != std::string::npos;
        return lacks && tells ? unread.english() : std::string("not the same");
    };
    {
        std::vector<LeftSession> first = offeredIn(sessions);
        QCOMPARE(first.size(), size_t{1});
        QVERIFY(moves(first[0]).starts_with(damaged + ": "));
    }
    for (int start = 2; start <= 4; ++start) {
        std::vector<LeftSession> left = offeredIn(sessions);
        QCOMPARE(left.size(), size_t{2});
        QVERIFY(left[0].runs().empty());
        QVERIFY2(left[0].stays().english().starts_with(damaged + ": "),
                 left[0].stays().english().c_str());
        QCOMPARE(left[1].runs().size(), size_t{1});
        QVERIFY(left[1].stays().empty() && left[1].isWhole(left[1].runs()[0]));
        QCOMPARE(moves(left[1]), std::string()); // nothing is unread there
        left[1].remove();
    }
    std::vector<LeftSession> left = offeredIn(sessions);
    left.at(1).remove(); // the user has deleted the copy
    left.clear();
    left = offeredIn(sessions);
    QCOMPARE(left.at(0).runs().size(), size_t{1});
}

} // namespace tst_restored_runs

QTEST_GUILESS_MAIN(tst_restored_runs::TestRestoredRuns)
#include "tst_restored_runs.moc"
