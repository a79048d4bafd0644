// Checkpoints and galleries in a session's file: the newest of each run, whole after a kill, and
// sessions of earlier versions, which have none. Runs whose columns end with a whole chunk.
#include "engine/core/error.h"
#include "engine/io/database.h"
#include "engine/runs/chunk_values.h"
#include "engine/runs/left_session.h"
#include "engine/runs/session_store.h"
#include "engine/runs/validation_shown.h"
#include "tests/support/cpu_run.h"
#include "tests/support/growth_limit.h"

#include <QTemporaryDir>
#include <QTest>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

namespace tst_session_checkpoints {

using namespace halfscope;
using namespace std::chrono_literals;

namespace {

void appendRows(Run& run, int64_t from, int64_t to) {
    RunBatch batch;
    for (int64_t step = from; step <= to; ++step)
        for (int lane = 0; lane < run.now().laneCount(); ++lane)
            batch.rows.push_back(StepRow(step, lane).set(metric::Loss, 1 / float(step + lane)));
    run.append(std::move(batch));
}

std::shared_ptr<Run> madeRun(int64_t steps) {
    auto run = std::make_shared<Run>(cpuRunInfo(), lanesOf(defaultConfig()));
    appendRows(*run, 1, steps);
    return run;
}

/// A session that was left with a small run and a large one.
struct SmallAndLarge {
    QTemporaryDir folder;
    const std::string path = [this] {
        SessionStore store({folder.path().toStdString()});
        store.watch(madeRun(100), "small");
        store.watch(madeRun(60000), "large");
        store.flush();
        return store.path();
    }();
    std::vector<LeftSession> left = leftSessions(folder.path().toStdString());
};

} // namespace

class TestSessionCheckpoints : public QObject {
    Q_OBJECT
private slots:
    void checkpointsComeBack();
    void eachRunHasItsOwn();
    void oneThatIsGoneStopsNoOther();
    void oneThatCannotBeReadStaysInItsSession();
    void damageStopsNoRun_data();
    void damageStopsNoRun();
    void sessionsWithoutCheckpoints();
    void aKilledProgramHasACheckpoint();
    void killedBeforeTheFirstWrite();
    void galleriesComeBack();
    void galleriesGoWithTheirStep();
    void picturesOfAValidationAreToldApart();
    void changesBetweenTwoLooks();
    void aForgottenRunsPlaceStaysEmpty();
    void aRunThatComesBackStandsOnce();
    void chunksThatRunsShare();
    void runsOfWholeChunks();
    void aFullDiskKeepsNoRun();
    void removedRunsLeaveNoRoomBehind();
};

namespace {

std::string contentAfter(int64_t step) {
    return std::string(100000, static_cast<char>('a' + step % 26)) + std::to_string(step);
}

/// Keeps a checkpoint whose bytes are made when the store asks for them; `made` counts that.
void keep(Run& run, int64_t step, int* made = nullptr) {
    RunBatch batch;
    batch.checkpoint = std::make_shared<const RunCheckpoint>(step, [step, made] {
        if (made) ++*made;
        return contentAfter(step);
    });
    run.append(std::move(batch));
}

int64_t numberIn(const std::string& path, const std::string& sql) {
    const Database database(path, Database::Access::ReadOnly);
    Statement count = database.prepare(sql);
    return count.next() ? count.whole(0) : -1;
}
int64_t countOf(const std::string& path, const std::string& table) {
    return numberIn(path, "SELECT COUNT(*) FROM " + table);
}

} // namespace

/// Only the newest checkpoint comes back; memory drops what the store has.
void TestSessionCheckpoints::checkpointsComeBack() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::shared_ptr<Run> run = madeRun(6000), other = madeRun(100);
    int made = 0;
    std::string path;
    {
        SessionStore store({sessions});
        path = store.path();
        store.watch(run, "one");
        store.watch(other, "two");
        for (const int64_t step : {int64_t{2000}, int64_t{6000}}) {
            keep(*run, step, &made);
            store.flush();
            QCOMPARE(run->now().checkpoint()->bytes(), contentAfter(step));
        }
        QCOMPARE(made, 2); // after that it was read
        QCOMPARE(countOf(path, "checkpoints"), int64_t{1});
        QVERIFY(store.problem().empty());
    }
    std::vector<LeftSession> left = leftSessions(sessions);
    const std::shared_ptr<Run> back = left.at(0).read(left[0].runs().at(0));
    QVERIFY(back->now().checkpoint() != nullptr);
    QCOMPARE(back->now().checkpoint()->step(), int64_t{6000});
    QCOMPARE(back->now().checkpoint()->bytes(), contentAfter(6000));
    QVERIFY(left[0].read(left[0].runs().at(1))->now().checkpoint() == nullptr);
    left[0].remove(left[0].runs().at(0));
    QCOMPARE(countOf(path, "checkpoints"), int64_t{0});
    QVERIFY_EXCEPTION_THROWN((void)back->now().checkpoint()->bytes(), RunError);
}

/// When one run continues from another one's checkpoint, both keep it.
void TestSessionCheckpoints::eachRunHasItsOwn() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> run = madeRun(100), next = madeRun(100);
    store.watch(run, "one");
    keep(*run, 100);
    store.flush();
    RunBatch first;
    first.checkpoint = std::make_shared<const RunCheckpoint>(*run->now().checkpoint());
    next->append(std::move(first));
    store.watch(next, "two");
    store.flush();
    QCOMPARE(countOf(store.path(), "checkpoints"), int64_t{2});
    appendRows(*next, 101, 200);
    keep(*next, 200);
    store.flush(); // replaces its first one
    QCOMPARE(run->now().checkpoint()->bytes(), contentAfter(100));
    store.forget(next.get());
    store.flush();
    QCOMPARE(run->now().checkpoint()->bytes(), contentAfter(100));
}

void TestSessionCheckpoints::oneThatIsGoneStopsNoOther() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> run = madeRun(100), other = madeRun(100);
    RunBatch lost;
    lost.checkpoint = std::make_shared<const RunCheckpoint>(
        100, []() -> std::string { throw RunError(Message::data("it is gone")); });
    run->append(std::move(lost));
    keep(*other, 100);
    store.watch(run, "one");
    store.watch(other, "two");
    store.flush();
    QVERIFY2(store.problem().empty(), store.problem().english().c_str());
    QCOMPARE(countOf(store.path(), "runs"), int64_t{2});
    QCOMPARE(countOf(store.path(), "checkpoints"), int64_t{1});
    keep(*run, 100); // a newer one can be obtained
    store.flush();
    QCOMPARE(countOf(store.path(), "checkpoints"), int64_t{2});
}

/// The session has the only copy: it must not be deleted once its runs are in another one.
void TestSessionCheckpoints::oneThatCannotBeReadStaysInItsSession() {
    const QTemporaryDir before, after;
    std::string path;
    {
        SessionStore store({before.path().toStdString()});
        path = store.path();
        const std::shared_ptr<Run> run = madeRun(100);
        store.watch(run, "one");
        keep(*run, 100);
        store.flush();
    }
    std::vector<LeftSession> left = leftSessions(before.path().toStdString());
    QVERIFY(left.at(0).isWhole(left[0].runs().at(0)));
    const std::shared_ptr<Run> run = left[0].read(left[0].runs()[0]);
    Database(path, Database::Access::Create).run("ALTER TABLE checkpoints RENAME data TO lost");
    QVERIFY(!left[0].isWhole(left[0].runs()[0]));
    SessionStore store({after.path().toStdString()});
    store.watch(run, "one");
    store.flush();
    QVERIFY2(store.problem().empty(), store.problem().english().c_str());
    const std::string told = store.unreadIn(left[0].name()).english();
    QVERIFY2(told.starts_with("the checkpoint after step 100 cannot be read: " + path),
             told.c_str());
    keep(*run, 100); // a newer one can be obtained
    store.flush();
    QVERIFY(store.unreadIn(left[0].name()).empty());
}

void TestSessionCheckpoints::damageStopsNoRun_data() {
    QTest::addColumn<QByteArray>("sql");
    QTest::newRow("checkpoints") << QByteArray("ALTER TABLE checkpoints RENAME step TO lost");
    QTest::newRow("gradients") << QByteArray("ALTER TABLE gradients RENAME data TO lost");
    QTest::newRow("gradients that were cut off")
        << QByteArray("INSERT INTO gradients VALUES(1, 0, x'00')");
}

/// All else of the run is restored, and its session says that it is damaged.
void TestSessionCheckpoints::damageStopsNoRun() {
    QFETCH(const QByteArray, sql);
    const QTemporaryDir folder;
    std::string path;
    {
        SessionStore store({folder.path().toStdString()});
        path = store.path();
        const std::shared_ptr<Run> run = madeRun(100);
        store.watch(run, "one");
        keep(*run, 100);
        store.flush();
    }
    Database(path, Database::Access::Create).run(sql.constData());
    const std::vector<LeftSession> left = leftSessions(folder.path().toStdString());
    const std::shared_ptr<Run> run = left.at(0).read(left[0].runs().at(0));
    QCOMPARE(run->now().lastStep(), int64_t{100});
    QCOMPARE(left[0].damage().english(), path + ": values of “one” are damaged");
    QVERIFY(!left[0].isWhole(left[0].runs()[0]));
}

/// A run is removed even where there is no room for the smaller copy of its file, which a file of
/// an earlier version needs.
void TestSessionCheckpoints::aFullDiskKeepsNoRun() {
    SmallAndLarge two;
    LeftSession& left = two.left.at(0);
    Database(two.path, Database::Access::Create).run("PRAGMA auto_vacuum=NONE; VACUUM");
    {
        const GrowthLimit full(200000); // more than removing writes, and less than the copy
        left.remove(left.runs().at(0));
    }
    QVERIFY(numberIn(two.path, "PRAGMA freelist_count") > 0); // else there was room after all
    QCOMPARE(left.runs().size(), size_t{1});
    QCOMPARE(countOf(two.path, "runs"), int64_t{1});
}

/// The room of a removed run goes back to the disk.
void TestSessionCheckpoints::removedRunsLeaveNoRoomBehind() {
    SmallAndLarge two;
    LeftSession& left = two.left.at(0);
    const int64_t before = numberIn(two.path, "PRAGMA page_count");
    left.remove(left.runs().at(1));
    QVERIFY(numberIn(two.path, "PRAGMA page_count") < before / 2);
    QCOMPARE(numberIn(two.path, "PRAGMA freelist_count"), int64_t{0});
    QCOMPARE(numberIn(two.path, "PRAGMA auto_vacuum"), int64_t{2}); // without a copy of the others
}

/// Sessions of earlier versions lack the tables.
void TestSessionCheckpoints::sessionsWithoutCheckpoints() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::shared_ptr<Run> run = madeRun(6000);
    {
        SessionStore store({sessions});
        store.watch(run, "one");
        store.watch(madeRun(100), "two");
        store.flush();
        const Database database(store.path(), Database::Access::Create);
        database.run("DROP TABLE checkpoints");
        database.run("DROP TABLE galleries");
        database.run("DROP TABLE mistakes");
    }
    std::vector<LeftSession> left = leftSessions(sessions);
    const std::shared_ptr<Run> back = left.at(0).read(left[0].runs().at(0));
    QCOMPARE(back->step(), int64_t{6000});
    QVERIFY(back->now().checkpoint() == nullptr);
    left[0].remove(left[0].runs().at(0));
    QCOMPARE(left[0].runs().size(), size_t{1});
}

/// Whenever the kill comes, there is a whole checkpoint, of a step that the rows reach.
void TestSessionCheckpoints::aKilledProgramHasACheckpoint() {
    for (const auto pause : {150ms, 333ms, 700ms}) {
        const QTemporaryDir folder;
        const std::string sessions = folder.path().toStdString();
        const pid_t child = fork();
        QVERIFY(child >= 0);
        if (child == 0) {
            SessionStore store({sessions});
            const std::shared_ptr<Run> run = madeRun(100);
            store.watch(run, "one");
            keep(*run, 100);
            store.flush();
            std::jthread killer([pause] {
                std::this_thread::sleep_for(pause);
                kill(getpid(), SIGKILL);
            });
            for (int64_t step = 101;; step += 100) {
                appendRows(*run, step, step + 99);
                keep(*run, step + 99);
                store.flush(); // a new checkpoint in each transaction
            }
        }
        int status = 0;
        QCOMPARE(waitpid(child, &status, 0), child);
        QVERIFY(WIFSIGNALED(status));
        const std::vector<LeftSession> left = leftSessions(sessions);
        const std::shared_ptr<Run> back = left.at(0).read(left[0].runs().at(0));
        const auto& kept = back->now().checkpoint();
        QVERIFY(kept && kept->step() >= 100 && kept->step() <= back->step());
        QCOMPARE(kept->bytes(), contentAfter(kept->step()));
    }
}

/// Wherever a kill comes while a session is made, the next start removes the file: it has all
/// tables or none.
void TestSessionCheckpoints::killedBeforeTheFirstWrite() {
    constexpr int kTimes = 40;
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const auto begun = std::chrono::steady_clock::now();
    SessionStore({sessions});
    const auto lasts = std::chrono::steady_clock::now() - begun;
    for (int i = 0; i < kTimes; ++i) {
        const pid_t child = fork();
        QVERIFY(child >= 0);
        if (child == 0) {
            const SessionStore store({sessions});
            for (;;)
                pause();
        }
        std::this_thread::sleep_for(lasts * i / kTimes);
        kill(child, SIGKILL);
        QCOMPARE(waitpid(child, nullptr, 0), child);
        QCOMPARE(leftSessions(sessions).size(), size_t{0});
        QCOMPARE(sessionsIn(sessions).size(), size_t{0});
    }
}

/// No file says whether pictures are of a validation, but what they count does.
void TestSessionCheckpoints::picturesOfAValidationAreToldApart() {
    const std::shared_ptr<Run> run = madeRun(10);
    RunBatch rows;
    for (int32_t lane = 0; lane < 2; ++lane) {
        StepRow row(11, lane);
        row.set(metric::Loss, 0.5).set(metric::ValidationLoss, 0.25);
        rows.rows.push_back(row.set(metric::Accuracy, 0.8502f - 0.1f * static_cast<float>(lane)));
    }
    run->append(std::move(rows));
    appendRows(*run, 12, 20);
    const auto shown = [&run](int64_t step, const char* a, const char* b) {
        return validationShown(
            run->now(), {step, {Picture{1, 1, 1, {0}, a}, Picture{1, 1, 1, {1}, b}}, {}, {}});
    };
    QVERIFY(shown(11, "4251/5000", "3751/5000") == 11);
    QVERIFY(!shown(11, "4251/5000", "nan"));            // B was not judged so
    QVERIFY(shown(20, "4251/5000", "3751/5000") == 11); // a table stays until the next validation
    QVERIFY(!shown(20, "4251/5000", "48/64"));          // of a batch
    QVERIFY(!shown(10, "4251/5000", "3751/5000"));      // before it
    QVERIFY(shown(11, "", "") == 11);                   // a scatter counts nothing
    QVERIFY(!shown(20, "", ""));
    LanePictures some; // B's is lost
    some.step = 20;
    some.outputs = {Picture{1, 1, 1, {0}, "4251/5000"}, Picture()};
    some.lost.outputs = {1};
    QVERIFY(validationShown(run->now(), some) == 11);
    some.lost.outputs = {0, 1};
    QVERIFY(!validationShown(run->now(), some));
    const QTemporaryDir folder;
    RunBatch batch;
    batch.pictures = LanePictures{20, {}, 11};
    batch.pictures->outputs = {{1, 1, 1, {0}, "4251/5000"}, {1, 1, 1, {1}, "3751/5000"}};
    run->append(std::move(batch));
    {
        SessionStore store({folder.path().toStdString()});
        store.watch(run, "one");
        store.flush();
    }
    const std::vector<LeftSession> left = leftSessions(folder.path().toStdString());
    QVERIFY(left.at(0).read(left[0].runs().at(0))->now().pictures()->validated == 11);
}

void TestSessionCheckpoints::galleriesComeBack() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::shared_ptr<Run> run = madeRun(6000);
    RunBatch batch;
    batch.pictures = LanePictures{6000, {Picture{1, 1, 1, {0}, {}}, Picture{1, 1, 1, {1}, {}}}};
    const Picture one{1, 2, 3, {0, 0.5f, 1, 0.25f, 0.125f, 0}, "5/8"};
    const Picture two{1, 1, 1, {0.75f}, {}};
    batch.pictures->galleries = {one, two, two};
    batch.pictures->mistakes = {two, one};
    run->append(std::move(batch));
    {
        SessionStore store({sessions});
        store.watch(run, "one");
        store.flush();
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    const std::shared_ptr<Run> back = left.at(0).read(left[0].runs().at(0));
    const std::vector<Picture> found = back->now().pictures()->galleries;
    QCOMPARE(found.size(), size_t{3});
    QCOMPARE(found[0].values, one.values);
    QCOMPARE(found[0].caption, one.caption);
    QCOMPARE(found[2].values, two.values);
    const std::vector<Picture> mistakes = back->now().pictures()->mistakes;
    QCOMPARE(mistakes.size(), size_t{2});
    QCOMPARE(mistakes[0].values, two.values);
    QCOMPARE(mistakes[1].caption, one.caption);
}

/// Otherwise they would be read as those of the next step, which has none.
void TestSessionCheckpoints::galleriesGoWithTheirStep() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> run = madeRun(10);
    store.watch(run, "one");
    const Picture one{1, 1, 1, {0.75f}, {}};
    for (const size_t lanes : {size_t{2}, size_t{0}}) { // with and without galleries and mistakes
        RunBatch batch;
        batch.pictures = LanePictures{10, {one, one}};
        batch.pictures->galleries.resize(lanes > 0 ? lanes + 1 : 0, one);
        batch.pictures->mistakes.resize(lanes, one);
        run->append(std::move(batch));
        store.flush();
        QCOMPARE(countOf(store.path(), "galleries"), lanes > 0 ? int64_t{3} : int64_t{0});
        QCOMPARE(countOf(store.path(), "mistakes"), static_cast<int64_t>(lanes));
        QCOMPARE(run->now().pictures()->mistakes.size(), lanes);
    }
}

/// Settings that change twice between two looks, which may put the newest where the stored ones
/// were in memory, and pictures of the same step that are more.
void TestSessionCheckpoints::changesBetweenTwoLooks() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::shared_ptr<Run> run = madeRun(10);
    const auto append = [&run](int64_t seed, std::vector<Picture> galleries) {
        RunBatch batch;
        batch.info = run->info();
        batch.info->recorded.seed = static_cast<uint64_t>(seed);
        batch.pictures = LanePictures{10, {Picture{1, 1, 1, {0}, {}}, Picture{1, 1, 1, {1}, {}}}};
        batch.pictures->galleries = std::move(galleries);
        run->append(std::move(batch));
    };
    const Picture one{1, 1, 1, {0.75f}, {}};
    constexpr int64_t kRounds = 20, kLast = 2 * kRounds;
    {
        SessionStore store({sessions});
        store.watch(run, "one");
        for (int64_t round = 1; round <= kRounds; ++round) {
            append(2 * round - 1, {});
            append(2 * round,
                   round == kRounds ? std::vector<Picture>{one, one, one} : std::vector<Picture>{});
            store.flush();
        }
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    const std::shared_ptr<Run> back = left.at(0).read(left[0].runs().at(0));
    QCOMPARE(static_cast<int64_t>(back->info().recorded.seed), kLast);
    QCOMPARE(back->now().pictures()->galleries.size(), size_t{3});
}

/// A run that was forgotten may still be in somebody's hands: its checkpoint is gone then, and no
/// other run's is taken for it. Nor is the next run erased with it.
void TestSessionCheckpoints::aForgottenRunsPlaceStaysEmpty() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::shared_ptr<Run> gone = madeRun(10), next = madeRun(10);
    {
        SessionStore store({sessions});
        store.watch(gone, "gone");
        keep(*gone, 10);
        store.flush();
        store.forget(gone.get());
        store.flush();
        store.watch(next, "next");
        keep(*next, 10);
        store.flush();
        appendRows(*next, 11, 20);
        store.flush();
        QVERIFY(store.problem().empty());
        QVERIFY_EXCEPTION_THROWN((void)gone->now().checkpoint()->bytes(), RunError);
        QCOMPARE(next->now().checkpoint()->bytes(), contentAfter(10));
        const Database database(store.path(), Database::Access::Create);
        Statement synchronous = database.prepare("PRAGMA synchronous");
        QVERIFY(synchronous.next());
        QCOMPARE(synchronous.whole(0), int64_t{2}); // FULL: a commit survives a power cut
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.at(0).runs().size(), size_t{1});
    QCOMPARE(left[0].runs()[0].name, std::string("next"));
    QCOMPARE(left[0].runs()[0].steps, int64_t{20});
}

/// Somebody shows a forgotten run, so that the file still has it when it is watched again.
void TestSessionCheckpoints::aRunThatComesBackStandsOnce() {
    for (const bool looks : {false, true}) { // at the run that is forgotten
        const QTemporaryDir folder;
        const std::string sessions = folder.path().toStdString();
        const std::shared_ptr<Run> run = madeRun(6000);
        RunBatch painted;
        painted.pictures =
            LanePictures{6000, {Picture{1, 1, 1, {0}, {}}, Picture{1, 1, 1, {1}, {}}}};
        run->append(std::move(painted));
        keep(*run, 6000);
        {
            SessionStore store({sessions, size_t{1} << 30, 1h});
            store.watch(run, "one");
            store.flush();
            store.forget(run.get());
            if (looks) store.flush();
            store.watch(run, "again");
            appendRows(*run, 6001, 6010);
            store.flush();
            QVERIFY(store.problem().empty());
            QCOMPARE(countOf(store.path(), "runs"), int64_t{1});
            QCOMPARE(countOf(store.path(), "pictures"), int64_t{2});
            QCOMPARE(countOf(store.path(), "checkpoints"), int64_t{1});
            QCOMPARE(run->now().checkpoint()->bytes(), contentAfter(6000));
        }
        const std::vector<LeftSession> left = leftSessions(sessions);
        QCOMPARE(left.at(0).runs().size(), size_t{1});
        QCOMPARE(left[0].runs()[0].name, std::string("again"));
        const std::shared_ptr<Run> back = left[0].read(left[0].runs()[0]);
        QCOMPARE(back->step(), int64_t{6010});
        for (const int64_t step : {1, 6000, 6010})
            QCOMPARE(back->now().row(1, step).loss(), run->now().row(1, step).loss());
        QCOMPARE(back->now().pictures()->outputs.at(1).values, std::vector{1.0f});
    }
}

/// Full chunks that a fork or a run that goes on has from an earlier one are stored once, and stay
/// as long as one of them does.
void TestSessionCheckpoints::chunksThatRunsShare() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    constexpr int64_t kSteps = 6000; // one full chunk of each lane's losses
    const std::shared_ptr<Run> first = madeRun(kSteps);
    RunBatch forked, begun;
    begun.info = forked.info = first->info();
    forked.info->recorded.forks = {{kSteps + 1, 1, 0, defaultConfig().lanes[1]}};
    forked.lanes = {lanesOf(forked.info->recorded).back()};
    first->append(std::move(forked));
    const std::shared_ptr<Run> second = Run::goingOn(defaultConfig(), first->now(), kSteps - 1);
    second->append(std::move(begun));
    {
        SessionStore store({sessions});
        store.watch(first, "first");
        store.watch(second, "second");
        store.flush();
        QCOMPARE(countOf(store.path(), "chunks"), int64_t{2});
    }
    std::vector<LeftSession> left = leftSessions(sessions);
    left.at(0).remove(left[0].runs().at(0));
    const std::shared_ptr<Run> back = left[0].read(left[0].runs().at(0));
    QCOMPARE(back->now().step(), kSteps - 1);
    QCOMPARE(back->now().row(1, 10)[metric::Loss], first->now().row(1, 10)[metric::Loss]);
}

/// A column is stored in chunks and a tail, and a full chunk leaves no tail.
void TestSessionCheckpoints::runsOfWholeChunks() {
    constexpr auto kChunk = static_cast<int64_t>(ChunkValues::kMost);
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::vector<int64_t> lengths{kChunk - 1, kChunk, kChunk + 1, 2 * kChunk};
    {
        SessionStore store({sessions});
        for (const int64_t steps : lengths)
            store.watch(madeRun(steps), std::to_string(steps));
        store.flush();
        QVERIFY(store.problem().empty());
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.at(0).runs().size(), lengths.size());
    for (size_t i = 0; i < lengths.size(); ++i) {
        QCOMPARE(left[0].runs()[i].steps, lengths[i]);
        const std::shared_ptr<Run> back = left[0].read(left[0].runs()[i]);
        QCOMPARE(back->step(), lengths[i]);
        QCOMPARE(back->now().row(1, lengths[i]).loss(), 1 / float(lengths[i] + 1));
    }
}

} // namespace tst_session_checkpoints

QTEST_GUILESS_MAIN(tst_session_checkpoints::TestSessionCheckpoints)
#include "tst_session_checkpoints.moc"
