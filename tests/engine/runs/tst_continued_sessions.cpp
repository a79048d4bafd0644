// A store that goes on in the file of a left session: nothing is copied, nothing is lost when it is
// killed, and a file that is damaged stays as it was.
#include "engine/core/error.h"
#include "engine/io/database.h"
#include "engine/runs/left_session.h"
#include "engine/runs/session_store.h"
#include "tests/support/run_difference.h"
#include "tests/support/session_run.h"

#include <QTemporaryDir>
#include <QTest>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tst_continued_sessions {

using namespace halfscope;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

constexpr int64_t kSteps = 10'000; // full chunks, and values behind them
constexpr size_t kAnyMemory = size_t{1} << 40;

std::string textOf(const Message& message) { return message.english(); }

void giveCheckpoint(Run& run, const std::string& bytes) {
    RunBatch batch;
    batch.checkpoint = std::make_shared<const RunCheckpoint>(run.step(), [bytes] { return bytes; });
    run.append(std::move(batch));
}

/// Leaves a session with the runs "one", "two" and "saved", and returns its path.
std::string leave(const std::string& folder) {
    SessionStore store({folder});
    const auto one = madeRun(kSteps), two = madeRun(kSteps), saved = madeRun(kSteps);
    giveCheckpoint(*one, "the state of one");
    store.watch(one, "one");
    store.watch(two, "two", SessionStore::Whole::Yes, SessionStore::NamedBy::User);
    store.watch(saved, "saved");
    store.setSaved({{saved, {kSteps, kSteps}}});
    store.setMark(SessionMark::Kept);
    store.flush();
    return store.path();
}

/// The only session of a folder, and its runs as a window restores them.
struct Restored {
    explicit Restored(const std::string& folder) {
        std::vector<LeftSession> left = leftSessions(folder);
        if (left.size() != 1) return;
        left[0].leaveOutSaved();
        session.emplace(std::move(left[0]));
        for (const LeftRun& each : session->runs()) {
            const std::shared_ptr<Run> run = session->read(each);
            runs.push_back(run);
            restored.push_back({run, run->snapshot(), each});
        }
    }
    std::optional<LeftSession> session;
    std::vector<std::shared_ptr<Run>> runs;
    std::vector<RestoredRun> restored;
};

std::set<std::string> namesOf(const Restored& restored) {
    std::set<std::string> names;
    for (const RestoredRun& each : restored.restored)
        names.insert(each.left.name);
    return names;
}

int64_t numberIn(const std::string& path, const std::string& sql) {
    const Database database(path, Database::Access::LeavesLog);
    Statement row = database.prepare(sql);
    return row.next() ? row.whole(0) : -1;
}

/// Which chunk has the values of each place of these runs' columns.
using Rows = std::vector<std::array<int64_t, 3>>;
Rows chunksOf(const std::string& path, const std::string& runs) {
    const Database database(path, Database::Access::LeavesLog);
    Statement row = database.prepare("SELECT run, place, chunk FROM columns WHERE run IN " + runs +
                                     " ORDER BY run, lane, metric, place");
    Rows rows;
    while (row.next())
        rows.push_back({row.whole(0), row.whole(1), row.whole(2)});
    return rows;
}

using Names = std::set<std::string>;

} // namespace

class TestContinuedSessions : public QObject {
    Q_OBJECT
private slots:
    void nothingIsCopied();
    void restoredRunsGoOn();
    void valuesAreDroppedFromMemory();
    void nobodyElseTakesTheSession();
    void aDiscardedOneGoes();
    void onlyThoseOfThisVersionGoOn();
    void moreThanMemoryHoldsIsCopied();
    void moreThanIsSoonReadIsCopied();
    void onlyTheLatestGoesOn();
    void aKilledMoveOffersNothingTwice();
    void aDamagedFileStaysAsItWas_data();
    void aDamagedFileStaysAsItWas();
    void aDamagedPictureStaysWhereItIs();
    void aKilledProgramLosesNothing();
};

/// The saved run, which nobody restored, is gone; the others have all that they had.
void TestContinuedSessions::nothingIsCopied() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString(), path = leave(sessions);
    const Rows chunks = chunksOf(path, "(1, 2)");
    QVERIFY(chunks.size() > 6);
    const int64_t pages = numberIn(path, "PRAGMA page_count");
    {
        Restored left(sessions);
        QCOMPARE(namesOf(left), (Names{"one", "two"}));
        QVERIFY(left.session->canGoOn(kAnyMemory));
        SessionStore store({sessions}, *left.session, left.restored);
        QCOMPARE(store.path(), path);
        // of the saved run
        QCOMPARE(numberIn(path, "PRAGMA freelist_count"), int64_t{0});
        QVERIFY(numberIn(path, "PRAGMA page_count") < pages);
        store.flush();
        QVERIFY2(store.problem().empty(), textOf(store.problem()).c_str());
        QCOMPARE(sessionsIn(sessions).size(), size_t{1});
        const auto whole = madeRun(kSteps);
        for (const auto& run : left.runs) {
            QCOMPARE(difference(whole->now(), run->now()), std::string());
            QCOMPARE(run->now().pictures()->outputs[2].values,
                     whole->now().pictures()->outputs[2].values);
        }
        QCOMPARE(left.runs[0]->now().checkpoint()->bytes(), std::string("the state of one"));
    }
    QVERIFY(chunksOf(path, "(1, 2)") == chunks);
    QCOMPARE(numberIn(path, "SELECT COUNT(*) FROM columns"), static_cast<int64_t>(chunks.size()));
    QCOMPARE(numberIn(path, "SELECT COUNT(*) FROM runs"), int64_t{2});
    const Restored again(sessions);
    QCOMPARE(namesOf(again), (Names{"one", "two"}));
    QVERIFY(!again.session->wasKept());
    QVERIFY(again.session->runs().at(1).named && !again.session->runs()[0].named);
    QCOMPARE(again.runs[0]->now().checkpoint()->bytes(), std::string("the state of one"));
    QCOMPARE(difference(madeRun(kSteps)->now(), again.runs[1]->now()), std::string());
}

/// One gets more steps, events and pictures and another name, one is forgotten, a third one comes.
void TestContinuedSessions::restoredRunsGoOn() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    leave(sessions);
    const auto whole = madeRun(kSteps);
    const auto goOn = [](Run& run) {
        appendRows(run, kSteps + 1, 2 * kSteps, 3);
        RunBatch batch;
        batch.events = {eventAt(2 * kSteps, 1)};
        batch.pictures = LanePictures{2 * kSteps, std::vector<Picture>(3, {2, 1, 1, {0.5f, 1}})};
        run.append(std::move(batch));
        giveCheckpoint(run, "a later state");
    };
    goOn(*whole);
    {
        Restored left(sessions);
        SessionStore store({sessions}, *left.session, left.restored);
        store.flush();
        goOn(*left.runs[0]);
        store.rename(left.runs[0].get(), "first");
        store.forget(left.runs[1].get());
        store.watch(madeRun(5000), "three");
        store.flush();
        QVERIFY2(store.problem().empty(), textOf(store.problem()).c_str());
    }
    const Restored again(sessions);
    QCOMPARE(namesOf(again), (Names{"first", "three"}));
    const RunSnapshot& now = again.runs[0]->now();
    QCOMPARE(difference(whole->now(), now), std::string());
    QCOMPARE(now.events().size(), whole->now().events().size());
    QCOMPARE(now.pictures()->step, 2 * kSteps);
    QCOMPARE(now.pictures()->outputs[1].values, (std::vector<float>{0.5f, 1}));
    QCOMPARE(now.checkpoint()->bytes(), std::string("a later state"));
    QCOMPARE(difference(madeRun(5000)->now(), again.runs[1]->now()), std::string());
}

void TestContinuedSessions::valuesAreDroppedFromMemory() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    {
        SessionStore store({sessions});
        store.watch(madeRun(60'000), "long");
        store.flush();
    }
    Restored left(sessions);
    const size_t bytes = left.runs.at(0)->now().columnBytes();
    SessionStore store({sessions, bytes / 4}, *left.session, left.restored);
    store.flush();
    store.flush();
    QVERIFY(left.runs[0]->now().columnBytes() <= bytes / 4);
    QCOMPARE(difference(madeRun(60'000)->now(), left.runs[0]->now()), std::string());
}

void TestContinuedSessions::nobodyElseTakesTheSession() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    leave(sessions);
    std::optional<SessionStore> store;
    {
        Restored left(sessions);
        store.emplace(SessionOptions{sessions}, *left.session, left.restored);
        store->flush();
    } // the session is held by the store alone
    OtherSessions others;
    QVERIFY(leftSessions(sessions, &others).empty());
    QCOMPARE(others.used, size_t{1});
    store.reset();
    QCOMPARE(leftSessions(sessions).size(), size_t{1});
}

void TestContinuedSessions::aDiscardedOneGoes() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    leave(sessions);
    {
        Restored left(sessions);
        SessionStore store({sessions}, *left.session, left.restored);
        store.flush();
        store.discard();
    }
    QVERIFY(fs::is_empty(sessions));
}

void TestContinuedSessions::onlyThoseOfThisVersionGoOn() {
    for (const char* before : {"PRAGMA user_version = 1", "ALTER TABLE runs DROP COLUMN named"}) {
        const QTemporaryDir folder;
        const std::string sessions = folder.path().toStdString(), path = leave(sessions);
        QVERIFY(leftSessions(sessions).at(0).canGoOn(kAnyMemory));
        Database(path, Database::Access::Create).run(before);
        QVERIFY2(!leftSessions(sessions).at(0).canGoOn(kAnyMemory), before);
    }
}

void TestContinuedSessions::moreThanMemoryHoldsIsCopied() {
    const QTemporaryDir folder;
    const std::string path = leave(folder.path().toStdString());
    const auto bytes = static_cast<size_t>(numberIn(path, "SELECT SUM(LENGTH(data)) FROM chunks"));
    const std::vector<LeftSession> left = leftSessions(folder.path().toStdString());
    QVERIFY(left.at(0).canGoOn(2 * bytes));
    QVERIFY(!left[0].canGoOn(2 * bytes - 1));
}

void TestContinuedSessions::moreThanIsSoonReadIsCopied() {
    const QTemporaryDir folder;
    const std::string path = leave(folder.path().toStdString());
    const auto bytes = static_cast<size_t>(numberIn(path, "PRAGMA page_count") *
                                           numberIn(path, "PRAGMA page_size"));
    const std::vector<LeftSession> left = leftSessions(folder.path().toStdString());
    QVERIFY(left.at(0).canGoOn(kAnyMemory, bytes));
    QVERIFY(!left[0].canGoOn(kAnyMemory, bytes - 1));
}

/// A program that uses a later one may have copied runs of the earlier one.
void TestContinuedSessions::onlyTheLatestGoesOn() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    leave(sessions);
    QVERIFY(leftSessions(sessions).at(0).canGoOn(kAnyMemory));
    {
        const SessionStore later({sessions});
        const std::vector<LeftSession> left = leftSessions(sessions);
        QCOMPARE(left.size(), size_t{1});
        QVERIFY(!left[0].canGoOn(kAnyMemory));
    } // it has no run: the next look removes it
    QVERIFY(leftSessions(sessions).at(0).canGoOn(kAnyMemory));
    leave(sessions);
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{2});
    QVERIFY(!left[0].canGoOn(kAnyMemory));
    QVERIFY(left[1].canGoOn(kAnyMemory));
}

/// The earlier session has more runs. The program ends when it has copied those of the other file,
/// and has not removed them there.
void TestContinuedSessions::aKilledMoveOffersNothingTwice() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    leave(sessions);
    {
        SessionStore store({sessions});
        store.watch(madeRun(kSteps), "three");
        store.flush();
    }
    for (int start = 0; start < 2; ++start) {
        std::vector<LeftSession> left = leftSessions(sessions);
        QCOMPARE(left.size(), size_t{2});
        std::vector<std::string> offered;
        std::vector<RestoredRun> stay, move;
        const LeftSession* into = nullptr;
        for (LeftSession& session : left) {
            session.leaveOutSaved();
            const bool goesOn = !into && session.canGoOn(kAnyMemory);
            if (goesOn) into = &session;
            for (const LeftRun& each : session.runs()) {
                offered.push_back(each.name);
                const std::shared_ptr<Run> run = session.read(each);
                (goesOn ? stay : move).push_back({run, run->snapshot(), each});
            }
        }
        QCOMPARE(offered, (std::vector<std::string>{"one", "two", "three"}));
        QVERIFY(into);
        SessionStore store({sessions}, *into, stay);
        for (const RestoredRun& each : move)
            store.watch(each.run, each.left.name);
        store.flush();
        QVERIFY2(store.problem().empty(), textOf(store.problem()).c_str());
    }
}

void TestContinuedSessions::aDamagedFileStaysAsItWas_data() {
    QTest::addColumn<QByteArray>("sql");
    QTest::newRow("pictures") << QByteArray("ALTER TABLE pictures RENAME COLUMN data TO lost");
    QTest::newRow("places") << QByteArray("UPDATE columns SET place = 7 WHERE place = 1");
    QTest::newRow("events") << QByteArray("UPDATE events SET lane = 99 WHERE place = 1");
    QTest::newRow("unknown kind") << QByteArray("UPDATE events SET kind = 9999 WHERE place = 1");
}

void TestContinuedSessions::aDamagedFileStaysAsItWas() {
    QFETCH(const QByteArray, sql);
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString(), path = leave(sessions);
    Database(path, Database::Access::Create).run(sql);
    {
        Restored left(sessions);
        QVERIFY(left.runs.size() >= 2); // also the saved one where something is known to be damaged
        bool refused = false;
        try {
            const SessionStore store({sessions}, *left.session, left.restored);
        } catch (const RunError&) {
            refused = true;
        }
        QVERIFY(refused);
        for (const auto& run : left.runs) // they are still in memory, for another store
            QVERIFY(run->step() > 0);
    }
    QCOMPARE(numberIn(path, "SELECT COUNT(*) FROM runs"), int64_t{3});
    QCOMPARE(numberIn(path, "SELECT COUNT(*) FROM kept"), int64_t{1});
    QCOMPARE(leftSessions(sessions).size(), size_t{1});
}

/// A store could not erase it. Reading the run does not find it.
void TestContinuedSessions::aDamagedPictureStaysWhereItIs() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string path;
    {
        const auto run = madeRun(kSteps);
        RunBatch batch;
        Picture large{200, 200, 1, std::vector<float>(40'000)};
        for (size_t i = 0; i < large.values.size(); ++i)
            large.values[i] = std::sin(static_cast<float>(i * i));
        batch.pictures = LanePictures{kSteps, {large, large, large}};
        run->append(std::move(batch));
        SessionStore store({sessions});
        store.watch(run, "one");
        store.flush();
        path = store.path();
    }
    Database(path, Database::Access::Create).run("PRAGMA wal_checkpoint(TRUNCATE)");
    const int64_t page = numberIn(path, "PRAGMA page_size"),
                  last = numberIn(path, "PRAGMA page_count");
    Restored left(sessions);
    {
        // a page in the middle of the last picture: the chain of its pages leads nowhere
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp((last - 6) * page);
        const std::string bytes(static_cast<size_t>(page), '\xff');
        file.write(bytes.data(), page);
        QVERIFY(file.good());
    }
    QVERIFY(left.session->canGoOn(kAnyMemory)); // nobody has looked at the pictures
    bool refused = false;
    try {
        const SessionStore store({sessions}, *left.session, left.restored);
    } catch (const RunError&) {
        refused = true;
    }
    QVERIFY(refused);
}

namespace {

/// Restores the session as a window does and trains on, in a process that kills itself.
[[noreturn]] void restoreAndDie(const std::string& sessions, std::chrono::microseconds after) {
    std::thread([after] {
        std::this_thread::sleep_for(after);
        kill(getpid(), SIGKILL);
    }).detach();
    for (int64_t more = 0;; ++more) {
        Restored left(sessions);
        SessionStore store({sessions}, *left.session, left.restored);
        for (const auto& run : left.runs) {
            const int64_t step = run->now().lastStep();
            appendRows(*run, step + 1, step + 100, run->now().laneCount());
        }
        store.flush();
    }
}

} // namespace

void TestContinuedSessions::aKilledProgramLosesNothing() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    leave(sessions);
    int64_t before = kSteps;
    const int64_t enough = kSteps + 300;
    for (auto after = 1ms; before < enough && after < 20s; after += after / 2 + 1ms) {
        const pid_t child = fork();
        QVERIFY(child >= 0);
        if (child == 0) restoreAndDie(sessions, after);
        int status = 0;
        QCOMPARE(waitpid(child, &status, 0), child);
        QVERIFY(WIFSIGNALED(status));
        const Restored left(sessions);
        QCOMPARE(namesOf(left), (Names{"one", "two"}));
        QVERIFY(left.session->damage().empty());
        const int64_t step = left.runs[0]->step();
        QVERIFY(step >= before);
        before = step;
        for (const int64_t at : {int64_t{1}, kSteps, step})
            QCOMPARE(left.runs[0]->now().row(0, at).loss(), rowAt(at, 0).loss());
        QCOMPARE(left.runs[0]->now().pictures()->step, kSteps);
    }
    QVERIFY(before >= enough); // some had the time to train on
}

} // namespace tst_continued_sessions

QTEST_GUILESS_MAIN(tst_continued_sessions::TestContinuedSessions)
#include "tst_continued_sessions.moc"
