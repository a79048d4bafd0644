// Pictures in a session's file: small, and a target once for all runs.
#include "engine/runs/session_pictures.h"

#include "engine/core/error.h"
#include "engine/runs/left_session.h"
#include "engine/runs/lost_pictures.h"
#include "engine/runs/run_saving.h"
#include "engine/runs/session_file.h"
#include "engine/runs/session_store.h"
#include "engine/runs/session_values.h"
#include "engine/runs/tensorboard.h"
#include "tests/support/cpu_run.h"
#include "tests/support/event_files.h"
#include "tests/support/painted_runs.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tst_session_pictures {

using namespace halfscope;

namespace {

int64_t numberIn(const std::string& path, const char* sql) {
    const Database database(path, Database::Access::LeavesLog);
    Statement row = database.prepare(sql);
    return row.next() ? row.whole(0) : -1;
}

/// Returns how many steps a board has of each lane, in its only file; -1 when the lanes differ.
qsizetype stepsOn(const QTemporaryDir& board) {
    const auto of = [&board](const char* lane) {
        const QList<QByteArray> records =
            recordsOf(eventsOf(board.path(), QString::fromLatin1(lane)));
        return std::count_if(records.begin(), records.end(),
                             [](const QByteArray& each) { return each.contains("loss"); });
    };
    const qsizetype steps = of("fp32");
    return of("amp-fp16") == steps ? steps : -1;
}

} // namespace

class TestSessionPictures : public QObject {
    Q_OBJECT
private slots:
    void takeLittleRoom();
    void aTargetGoesWithItsLastRun();
    void aTargetThatChangesIsReplaced();
    void runsShareTheirTarget();
    void movedRunsAreRemoved();
    void aTargetIsPackedInMemory();
    void manyRunsTakeLittleMemory();
    void thoseInUseStayInMemory();
    void oldOnesOutliveTheirSuccessors();
    void thoseOfAForgottenRunStay();
    void damageIsTold();
    void aBoardHasTheRest();
    void damageInALeftSessionIsTold();
    void areReadFromARemovedFile();
    void whatCannotBeTakenOverIsNotWritten();
};

void TestSessionPictures::takeLittleRoom() {
    constexpr int kRuns = 30;
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string path;
    size_t before = 0;
    {
        SessionStore store({sessions});
        path = store.path();
        for (int i = 0; i < kRuns; ++i) {
            const std::shared_ptr<Run> run = runWith(painted(1));
            before += (2 + 2 * run->now().pictures()->outputs.size()) * kPaintedBytes;
            store.watch(run, "run " + std::to_string(i));
        }
        store.flush();
        QCOMPARE(store.problem().english(), std::string());
    }
    QCOMPARE(numberIn(path, "SELECT count(*) FROM targets"), int64_t{1});
    QVERIFY(std::filesystem::file_size(path) < before / 4);
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.at(0).runs().size(), size_t{kRuns});
    const std::shared_ptr<Run> back = left[0].read(left[0].runs().back());
    QVERIFY(isSame(*back->now().target(), painted(1)));
    const LanePictures pictures = *back->now().pictures();
    QCOMPARE(pictures.outputs.size(), size_t{2});
    QVERIFY(isSame(pictures.outputs[1], painted(7)));
    QCOMPARE(pictures.galleries.size(), size_t{3});
    QVERIFY(isSame(pictures.galleries[0], painted(8)));
}

void TestSessionPictures::aTargetGoesWithItsLastRun() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    std::shared_ptr<Run> a = runWith(painted(1)), b = runWith(painted(1)), c = runWith(painted(2));
    for (const auto& run : {a, b, c})
        store.watch(run, "run");
    const auto forget = [&store](std::shared_ptr<Run>& run) {
        store.forget(run.get());
        run.reset(); // otherwise its pictures stay in the file
    };
    const auto targets = [&store] {
        store.flush();
        return numberIn(store.path(), "SELECT count(*) FROM targets");
    };
    QCOMPARE(targets(), int64_t{2});
    forget(a);
    QCOMPARE(targets(), int64_t{2});
    forget(b);
    QCOMPARE(targets(), int64_t{1});
    forget(c);
    QCOMPARE(targets(), int64_t{0});
}

/// A scatter of validation samples comes with a target of its own, again and again.
void TestSessionPictures::aTargetThatChangesIsReplaced() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    {
        SessionStore store({sessions});
        const std::shared_ptr<Run> run = runWith(painted(1)), other = runWith(painted(1));
        store.watch(run, "run");
        store.watch(other, "other");
        for (int i = 2; i < 5; ++i) {
            RunBatch batch;
            batch.pictures = picturesOf(*run, i);
            batch.pictures->target = painted(i);
            run->append(std::move(batch));
            store.flush();
        }
        QCOMPARE(numberIn(store.path(), "SELECT count(*) FROM targets"), int64_t{2});
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QVERIFY(isSame(*left.at(0).read(left[0].runs().at(0))->now().target(), painted(4)));
    QVERIFY(isSame(*left[0].read(left[0].runs().at(1))->now().target(), painted(1)));
}

/// In memory, too, where it counts once.
void TestSessionPictures::runsShareTheirTarget() {
    const QTemporaryDir folder;
    Picture large{400, 400, 1, std::vector<float>(160'000, 0.25f)};
    uint32_t noise = 1; // no packing makes it much smaller
    for (float& each : large.values)
        each = static_cast<float>((noise = noise * 1664525 + 1013904223) >> 8);
    SessionStore store({folder.path().toStdString()});
    std::vector<std::shared_ptr<Run>> runs;
    for (int i = 0; i < 10; ++i) {
        const RunConfig config = defaultConfig();
        runs.push_back(std::make_shared<Run>(cpuRunInfo(config), lanesOf(config), large));
        store.watch(runs.back(), "run");
    }
    QVERIFY(runs[9]->now().sharedTarget() == runs[0]->now().sharedTarget());
    const Picture other{400, 400, 1, std::vector<float>(160'000, 0.5f)};
    QVERIFY(runWith(other)->now().sharedTarget() != runs[0]->now().sharedTarget());
    store.flush();
    store.flush();
    const size_t one = large.values.size() * sizeof(float);
    QVERIFY(store.residentBytes() > one / 2);
    QVERIFY(store.residentBytes() < 3 * one);
}

/// The others stay, and a target that one of them has.
void TestSessionPictures::movedRunsAreRemoved() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    {
        SessionStore store({sessions});
        for (const char* name : {"one", "two", "three"})
            store.watch(runWith(painted(1)), name);
        store.flush();
    }
    {
        std::vector<LeftSession> left = leftSessions(sessions);
        const std::vector<LeftRun> runs = left.at(0).runs();
        left[0].removeMoved({runs.at(0), runs.at(2)});
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.at(0).runs().size(), size_t{1});
    QCOMPARE(left[0].runs()[0].name, std::string("two"));
    QVERIFY(isSame(*left[0].read(left[0].runs()[0])->now().target(), painted(1)));
}

/// A store packs it, also one that the pictures have replaced; whoever looks sees the same.
void TestSessionPictures::aTargetIsPackedInMemory() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> run = runWith(painted(41)), same = runWith(painted(41));
    RunBatch batch;
    batch.pictures = picturesOf(*run, 2);
    batch.pictures->target = painted(42);
    run->append(std::move(batch));
    QVERIFY(run->now().sharedTarget() == same->now().sharedTarget());
    QVERIFY(run->now().sharedTarget()->bytes() >= kPaintedBytes);
    store.watch(run, "run");
    store.flush();
    QVERIFY(run->now().sharedTarget()->bytes() < kPaintedBytes / 4);
    QVERIFY(run->now().targetPicture().bytes() < kPaintedBytes / 4);
    QVERIFY(isSame(*run->now().target(), painted(42)));
    QVERIFY(isSame(*same->now().target(), painted(41)));
    QVERIFY(runWith(painted(41))->now().sharedTarget() == same->now().sharedTarget());
}

/// Neither a session that is left behind nor the one that takes its runs over holds pictures.
void TestSessionPictures::manyRunsTakeLittleMemory() {
    constexpr size_t kRuns = 150;
    constexpr size_t kEach = kPaintedBytes / 4; // the pictures alone have five times kPaintedBytes
    const QTemporaryDir before, after;
    const auto pictureOf = [](size_t run) { return painted(static_cast<int>(run)); };
    {
        SessionStore store({before.path().toStdString()});
        std::vector<std::shared_ptr<Run>> runs;
        for (size_t i = 0; i < kRuns; ++i) {
            runs.push_back(runWith(painted(1)));
            RunBatch batch;
            batch.pictures = picturesOf(*runs.back(), 1);
            batch.pictures->outputs[1] = pictureOf(i);
            runs.back()->append(std::move(batch));
            store.watch(runs.back(), "run " + std::to_string(i));
        }
        store.flush();
        QVERIFY(store.residentBytes() < kRuns * kEach);
    }
    SessionStore store({after.path().toStdString()});
    std::vector<std::shared_ptr<Run>> runs;
    {
        std::vector<LeftSession> left = leftSessions(before.path().toStdString());
        QCOMPARE(left.at(0).runs().size(), kRuns);
        for (const LeftRun& each : left[0].runs()) {
            runs.push_back(left[0].read(each));
            QVERIFY(runs.back()->now().bytes() < kEach);
            QCOMPARE(runs.back()->now().sharedPictures()->bytes(), size_t{0});
            store.watch(runs.back(), each.name);
        }
        store.flush();
        left[0].remove();
    }
    QCOMPARE(store.problem().english(), std::string());
    QVERIFY(store.residentBytes() < kRuns * kEach);
    for (size_t i = 0; i < kRuns; ++i) {
        const auto pictures = runs[i]->now().pictures();
        QVERIFY(isSame(pictures->outputs.at(0), painted(7)));
        QVERIFY(isSame(pictures->outputs.at(1), pictureOf(i)));
        QVERIFY(isSame(pictures->galleries.at(0), painted(8)));
        QCOMPARE(pictures->step, int64_t{1});
    }
    store.flush();
    QVERIFY(store.residentBytes() < kRuns * kEach); // nobody holds what was read
}

void TestSessionPictures::thoseInUseStayInMemory() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> run = runWith(painted(1));
    const auto& pictures = run->now().sharedPictures();
    QCOMPARE(pictures->bytes(), 5 * kPaintedBytes);
    store.watch(run, "run");
    auto seen = run->now().pictures();
    store.flush();
    QVERIFY(pictures->held() == seen);
    seen.reset();
    QVERIFY(!pictures->held());
    seen = pictures->read();
    QVERIFY(pictures->held() == seen && pictures->read() == seen);
}

/// A run in training has new pictures in its store while somebody still saves those before.
void TestSessionPictures::oldOnesOutliveTheirSuccessors() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> run = runWith(painted(1));
    store.watch(run, "run");
    store.flush();
    const RunSnapshot before = run->snapshot();
    QVERIFY(!before.sharedPictures()->held());
    RunBatch batch;
    batch.pictures = picturesOf(*run, 2);
    batch.pictures->outputs[0] = painted(3);
    run->append(std::move(batch));
    store.flush();
    QVERIFY(isSame(before.pictures()->outputs.at(0), painted(7)));
    QVERIFY(isSame(run->now().pictures()->outputs.at(0), painted(3)));
    QVERIFY(!run->now().sharedPictures()->held());
}

/// Somebody may still save it; the next start does not offer it.
void TestSessionPictures::thoseOfAForgottenRunStay() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    std::shared_ptr<Run> run = runWith(painted(1));
    store.watch(run, "run");
    store.flush();
    store.forget(run.get());
    store.flush();
    QVERIFY(isSame(run->now().pictures()->outputs.at(0), painted(7)));
    const char* const offered = "SELECT count(*) FROM runs WHERE experiment IS NOT NULL";
    QCOMPARE(numberIn(store.path(), offered), int64_t{0});
    run.reset();
    store.flush();
    QCOMPARE(numberIn(store.path(), "SELECT count(*) FROM runs"), int64_t{0});
    QCOMPARE(numberIn(store.path(), "SELECT count(*) FROM pictures"), int64_t{0});
}

/// In one sentence, to whoever asks for the pictures; all else of the run can be saved.
void TestSessionPictures::damageIsTold() {
    const QTemporaryDir folder, results;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> run = runWith(painted(1)), other = runWith(painted(2));
    store.watch(run, "run");
    store.watch(other, "other");
    store.flush();
    const auto saved = [&] { return saveRun(run->snapshot(), results.path().toStdString()); };
    QVERIFY(saved().picturesError.empty());
    const std::string damaged = store.path() + ": the pictures of step 1 are damaged";
    const std::string gone = store.path() + ": the pictures of step 1 are gone";
    {
        const Database database(store.path(), Database::Access::LeavesLog);
        database.run("UPDATE pictures SET data = substr(data, 1, 100) WHERE run = 1; "
                     "UPDATE galleries SET data = x'00' WHERE run = 1");
    }
    try {
        (void)run->now().pictures();
        QFAIL("no error");
    } catch (const RunError& error) {
        QCOMPARE(std::string(error.what()), damaged);
    }
    const std::string kept = "Saved, but pictures cannot be read any more. Those that were saved "
                             "earlier stay in the folder: ";
    QCOMPARE(saved().picturesError.english(), kept + damaged);
    QVERIFY(std::filesystem::exists(results.path().toStdString() + "/steps.csv"));
    const QTemporaryDir empty;
    QCOMPARE(saveRun(run->snapshot(), empty.path().toStdString()).picturesError.english(),
             "Saved without pictures: " + damaged);
    QVERIFY(isSame(other->now().pictures()->outputs.at(1), painted(7)));
    {
        const Database database(store.path(), Database::Access::LeavesLog);
        database.run("DELETE FROM pictures WHERE run = 1");
    }
    QCOMPARE(saved().picturesError.english(), kept + gone);
}

/// TensorBoard shows all steps, whether the run is saved for it or followed.
void TestSessionPictures::aBoardHasTheRest() {
    const QTemporaryDir folder, some, none, followed;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> run = runWith(painted(1));
    store.watch(run, "run");
    store.flush();
    const auto damage = [&store](const char* sql) {
        Database(store.path(), Database::Access::LeavesLog).run(sql);
    };
    const auto saveIn = [&run](const QTemporaryDir& board) {
        return saveTensorBoard(run->snapshot(), board.path().toStdString()).english();
    };
    damage("UPDATE pictures SET data = x'00' WHERE lane = 1; "
           "UPDATE galleries SET data = x'00' WHERE place = 0"); // a board has no samples
    QCOMPARE(saveIn(some), "Saved without some of the pictures: " + store.path() +
                               ": some pictures of step 1 are damaged (lane amp-fp16)");
    QCOMPARE(stepsOn(some), qsizetype{1});
    QVERIFY(eventsOf(some.path(), QStringLiteral("fp32")).contains("picture"));
    damage("DELETE FROM pictures");
    QCOMPARE(saveIn(none),
             "Saved without pictures: " + store.path() + ": the pictures of step 1 are gone");
    QCOMPARE(stepsOn(none), qsizetype{1});
    TensorBoardFollower follower(followed.path().toStdString(), run->now(), startOf(run->now()));
    const auto follow = [&] {
        follower.write(run->now());
        follower.writer().sync();
        return stepsOn(followed);
    };
    QCOMPARE(follow(), qsizetype{1});
    RunBatch batch;
    for (int lane = 0; lane < run->now().laneCount(); ++lane)
        batch.rows.push_back(StepRow(2, lane).set(metric::Loss, 0.5f));
    run->append(std::move(batch));
    QCOMPARE(follow(), qsizetype{2});
}

/// The run is restored all the same, and goes on in the next session.
void TestSessionPictures::damageInALeftSessionIsTold() {
    const QTemporaryDir before, after;
    std::string path;
    {
        SessionStore store({before.path().toStdString()});
        path = store.path();
        store.watch(runWith(painted(1)), "run");
        store.watch(runWith(painted(1)), "other");
    }
    {
        const Database database(path, Database::Access::Create);
        database.run("UPDATE galleries SET data = substr(data, 1, 100) "
                     "WHERE run = 1 AND place = 2");
    }
    SessionStore store({after.path().toStdString()});
    std::vector<LeftSession> left = leftSessions(before.path().toStdString());
    std::vector<std::shared_ptr<Run>> runs;
    for (const LeftRun& each : left.at(0).runs()) {
        runs.push_back(left[0].read(each));
        store.watch(runs.back(), each.name);
    }
    store.flush();
    left[0].remove();
    QVERIFY(store.problem().empty());
    QCOMPARE(runs.size(), size_t{2});
    QCOMPARE(runs[0]->now().lastStep(), int64_t{1});
    const auto pictures = runs[0]->now().pictures();
    QVERIFY(isSame(pictures->outputs.at(1), painted(7)));
    QCOMPARE(pictures->galleries.at(2).width, 0);
    QCOMPARE(lostPicturesText(runs[0]->now(), *pictures).english(),
             store.path() + ": some pictures of step 1 are damaged (the samples with their true "
                            "classes)");
    QVERIFY(isSame(runs[1]->now().pictures()->galleries.at(0), painted(8)));
}

/// Who looks at a run for the first time may do so after somebody has removed the file.
void TestSessionPictures::areReadFromARemovedFile() {
    const QTemporaryDir folder;
    SessionStore store({folder.path().toStdString()});
    const std::shared_ptr<Run> run = runWith(painted(1));
    store.watch(run, "run");
    store.flush();
    QVERIFY(!run->now().sharedPictures()->held());
    for (const char* ending : {"", "-wal", "-shm"})
        std::filesystem::remove(store.path() + ending);
    QVERIFY(isSame(run->now().pictures()->galleries.at(0), painted(8)));
    store.flush(); // goes on in a new file
    QVERIFY(isSame(run->now().pictures()->galleries.at(0), painted(8)));
}

/// Otherwise the session that has the only copy would be deleted. It says nothing of another one,
/// all of which could be read.
void TestSessionPictures::whatCannotBeTakenOverIsNotWritten() {
    const QTemporaryDir before, after;
    std::vector<std::string> paths;
    for (const char* name : {"damaged", "healthy"}) {
        SessionStore store({before.path().toStdString()});
        paths.push_back(store.path());
        store.watch(runWith(painted(1)), name);
    }
    const auto nameOf = [](const std::string& path) {
        return std::filesystem::path(path).stem().string();
    };
    SessionStore store({after.path().toStdString()});
    const std::vector<LeftSession> left = leftSessions(before.path().toStdString());
    QCOMPARE(left.size(), size_t{2});
    std::vector<std::shared_ptr<Run>> runs;
    for (const LeftSession& each : left)
        runs.push_back(each.read(each.runs().at(0)));
    Database(paths[0], Database::Access::Create).run("DELETE FROM pictures");
    for (const std::shared_ptr<Run>& run : runs)
        store.watch(run, "run");
    const uint64_t asked = store.askToWrite();
    store.flush();
    QVERIFY(store.isWritten(asked));
    QVERIFY(store.problem().empty());
    QCOMPARE(store.unreadIn(nameOf(paths[0])).english(),
             paths[0] + ": the pictures of step 1 are gone");
    QCOMPARE(store.unreadIn(nameOf(paths[1])).english(), std::string());
    QVERIFY(isSame(runs[1]->now().pictures()->galleries.at(0), painted(8)));
}

} // namespace tst_session_pictures

QTEST_GUILESS_MAIN(tst_session_pictures::TestSessionPictures)
#include "tst_session_pictures.moc"
