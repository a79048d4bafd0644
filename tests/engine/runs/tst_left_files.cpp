// The files of a session that was left behind are damaged: nothing crashes, and nothing is removed
// that may hold a run.
#include "engine/core/error.h"
#include "engine/io/database.h"
#include "engine/runs/left_session.h"
#include "engine/runs/session_store.h"
#include "tests/support/ordinary_user.h"
#include "tests/support/session_run.h"
#include "tests/support/thrown.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace tst_left_files {

using namespace halfscope;

class TestLeftFiles : public QObject {
    Q_OBJECT
private slots:
    void damagedFiles();
    void aDamagedLogIsKept();
    void wholeRunsAreNotDamaged();
    void damagedRunsAreNotLost();
    void damagedRunsAreNamed_data();
    void damagedRunsAreNamed();
    void untrainedRunsAreNotDamaged();
    void foldersMayBeLinks();
    void halfARunIsNone();
    void copiesAreNoMoreRuns();
    void savedRunsAreLeftOut();
    void removedRunsMayHaveTheStepsOfSavedOnes();
    void earlierVersionsHaveFewerColumns();
    void whoGaveTheNameIsStored();
    void whatCannotBeReadIsNamed_data();
    void whatCannotBeReadIsNamed();
    void locksAloneGo();
    void aLookTakesNoLockOfAStart();
    void whyThereIsNoLock();
};

void TestLeftFiles::damagedFiles() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string path;
    {
        SessionStore store({sessions});
        store.watch(madeRun(9000), "one");
        store.flush();
        path = store.path();
    }
    std::ifstream in(path, std::ios::binary);
    const std::string good{std::istreambuf_iterator<char>(in), {}};
    QVERIFY(good.size() > 100000);
    std::mt19937 random(5);
    for (int round = 0; round < 60; ++round) {
        std::string bad = good;
        for (int i = 0; i < 40; ++i)
            bad[random() % bad.size()] = static_cast<char>(random());
        if (round % 3 == 0) bad.resize(random() % bad.size());
        std::ofstream(path, std::ios::binary | std::ios::trunc) << bad;
        for (const LeftSession& left : leftSessions(sessions))
            for (const LeftRun& run : left.runs()) {
                try {
                    QVERIFY(left.read(run) != nullptr);
                } catch (const std::runtime_error& error) {
                    QVERIFY(*error.what() != '\0');
                }
            }
    }
}

/// SQLite takes a log whose first frame is damaged for an empty one.
void TestLeftFiles::aDamagedLogIsKept() {
    namespace fs = std::filesystem;
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString() + "/used",
                      left = folder.path().toStdString() + "/left";
    const auto logOf = [&left] {
        std::string path;
        for (const auto& each : fs::directory_iterator(left))
            if (each.path().string().ends_with("-wal")) path = each.path().string();
        return path;
    };
    const auto copy = [&] {
        fs::remove_all(left);
        fs::create_directory(left);
        for (const auto& each : fs::directory_iterator(sessions))
            if (each.path().extension() != ".lock" && !each.path().string().ends_with("-shm"))
                fs::copy(each.path(), left);
    };
    const auto damage = [&logOf] {
        std::fstream log(logOf(), std::ios::in | std::ios::out | std::ios::binary);
        log.seekp(32 + 24 + 1000); // within the page of the first frame
        log.write("damage", 6);
    };
    SessionStore store({sessions});
    const size_t tablesAlone = (copy(), fs::file_size(logOf()));
    damage();
    QVERIFY(leftSessions(left).empty());
    QCOMPARE(sessionsIn(left).size(), size_t{1}); // nobody knows that there was nothing in it
    const std::shared_ptr<Run> run = madeRun(12000);
    store.watch(run, "Run 1");
    store.flush();
    copy();
    const size_t bytes = fs::file_size(logOf());
    QVERIFY(bytes > 4 * tablesAlone);
    QCOMPARE(leftSessions(left).size(), size_t{1});
    QCOMPARE(fs::file_size(logOf()), bytes); // a look changes nothing
    damage();
    QVERIFY(leftSessions(left).empty());
    QCOMPARE(sessionsIn(left).size(), size_t{1});
    QCOMPARE(fs::file_size(logOf()), bytes);
    for (const double place : {0.02, 0.1, 0.4, 0.7}) { // behind the tables
        copy();
        std::fstream log(logOf(), std::ios::in | std::ios::out | std::ios::binary);
        log.seekp(static_cast<std::streamoff>(place * static_cast<double>(bytes)));
        log.write("damage", 6).flush();
        OtherSessions others;
        std::vector<LeftSession> found = leftSessions(left, &others);
        QCOMPARE(found.size() + others.unreadable.size(), size_t{1});
        if (!found.empty()) {
            QVERIFY(!found[0].damage().empty());
            found[0].remove(LeftRun(found[0].runs().at(0)));
        }
        QCOMPARE(sessionsIn(left).size(), size_t{1});
    }
    appendRows(*run, 12001, 13000, 3);
    store.flush();
    copy(); // a program that is killed leaves such a log
    fs::resize_file(logOf(), fs::file_size(logOf()) - 1000);
    QCOMPARE(leftSessions(left).size(), size_t{1});
    QVERIFY(leftSessions(left)[0].damage().empty());
    copy();
    const std::string file = logOf().substr(0, logOf().size() - 4);
    const size_t whole = fs::file_size(logOf());
    fs::resize_file(file, 0); // SQLite would delete the log
    QVERIFY(leftSessions(left).empty());
    QCOMPARE(fs::file_size(logOf()), whole);
}

/// The values behind the last full chunk may be none.
void TestLeftFiles::wholeRunsAreNotDamaged() {
    for (const int64_t steps : {8192, 9000, 12288}) {
        const QTemporaryDir folder;
        const std::string sessions = folder.path().toStdString();
        const std::shared_ptr<Run> run = madeRun(steps);
        {
            SessionStore store({sessions});
            store.watch(run, "one");
            store.flush();
        }
        const std::vector<LeftSession> left = leftSessions(sessions);
        QCOMPARE(left.size(), size_t{1});
        QCOMPARE(left[0].read(left[0].runs().at(0))->step(), run->step());
        QCOMPARE(left[0].damage().english(), std::string());
    }
}

/// A run that lacks values, or that cannot be read at all, keeps the file from being removed.
void TestLeftFiles::damagedRunsAreNotLost() {
    for (const char* sql :
         {"UPDATE chunks SET data = x'00' WHERE id = 1", "DELETE FROM chunks WHERE id = 2",
          "UPDATE tails SET data = x'00' WHERE run = 1; DELETE FROM columns "
          "WHERE run = 1"}) {
        const QTemporaryDir folder;
        const std::string sessions = folder.path().toStdString();
        std::string path;
        {
            SessionStore store({sessions});
            store.watch(madeRun(9000), "one");
            store.flush();
            store.watch(madeRun(30), "two");
            store.flush();
            path = store.path();
        }
        Database(path, Database::Access::Create).run(sql);
        std::vector<LeftSession> left = leftSessions(sessions);
        QCOMPARE(left.size(), size_t{1});
        for (const LeftRun& run : left[0].runs())
            QVERIFY(left[0].read(run) != nullptr);
        QVERIFY2(left[0].damage().english().starts_with(path + ": "), sql);
        while (!left[0].runs().empty())
            left[0].remove(LeftRun(left[0].runs().front()));
        QVERIFY(std::filesystem::exists(path));
        left[0].remove();
        QVERIFY(!std::filesystem::exists(path));
    }
}

void TestLeftFiles::damagedRunsAreNamed_data() {
    QTest::addColumn<QByteArray>("sql");
    QTest::addColumn<QByteArray>("damage");
    QTest::addColumn<QByteArray>("refusal"); // of the run “two”
    const auto row = [](const char* name, const char* sql, const char* damage,
                        const char* refusal) {
        QTest::newRow(name) << QByteArray(sql) << QByteArray(damage) << QByteArray(refusal);
    };
    row("no values", "DELETE FROM tails WHERE run = 2; DELETE FROM columns WHERE run = 2",
        "values of “two” are damaged", "");
    row("none of two", "DELETE FROM tails WHERE run > 1; DELETE FROM columns WHERE run > 1",
        "values of “two” and of other runs are damaged", "");
    row("settings", "UPDATE runs SET experiment = '{ ]' WHERE id = 2", "",
        "the run “two” is damaged: experiment: line 1, column 3: not valid JSON");
    row("summary", "UPDATE runs SET summary = '{ ]' WHERE id = 2", "",
        "the run “two” is damaged: summary: line 1, column 3: not valid JSON");
    row("steps", "UPDATE runs SET steps = 4611686018427387904 WHERE id = 2", "",
        "the run “two” is damaged: summary: steps: 9000 is not allowed: 4611686018427387904, as in "
        "the column steps of the table runs");
}

void TestLeftFiles::damagedRunsAreNamed() {
    QFETCH(const QByteArray, sql);
    QFETCH(const QByteArray, damage);
    QFETCH(const QByteArray, refusal);
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string path;
    {
        SessionStore store({sessions});
        store.watch(madeRun(9000), "one");
        store.watch(madeRun(9000), "two");
        store.watch(madeRun(9000), "three");
        store.flush();
        path = store.path();
    }
    Database(path, Database::Access::Create).run(sql.constData());
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    const std::string place = path + ": ";
    QCOMPARE(left[0].damage().english(), damage.isEmpty() ? std::string() : place + damage.data());
    const auto& runs = left[0].runs();
    const auto two = std::find_if(runs.begin(), runs.end(),
                                  [](const LeftRun& each) { return each.name == "two"; });
    QCOMPARE(two == runs.end(), refusal.isEmpty());
    if (two == runs.end()) return;
    const std::string reason = thrownBy<InputError>([&] { left[0].read(*two); });
    QVERIFY2(reason.starts_with(place + refusal.data()), reason.c_str());
}

/// A window keeps the run that it shows before anybody trains it; its settings may be edited.
void TestLeftFiles::untrainedRunsAreNotDamaged() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const RunConfig config = defaultConfig();
    const Picture picture{2, 2, 1, {0, 1, 0.5f, 0.25f}};
    const auto run = std::make_shared<Run>(infoOf(config), lanesOf(config), picture);
    RunBatch begin;
    begin.pictures = LanePictures{0, {picture, picture}};
    begin.events = {eventAt(1, -1)};
    begin.events[0].kind = EventKind::Edit;
    run->append(std::move(begin));
    {
        SessionStore store({sessions});
        store.watch(run, "untrained");
        store.watch(madeRun(9000), "trained");
        store.flush();
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    QCOMPARE(left[0].runs().size(), size_t{1});
    QCOMPARE(left[0].damage().english(), std::string());
}

/// A home folder may be one; a file that is one belongs to somebody else.
void TestLeftFiles::foldersMayBeLinks() {
    const QTemporaryDir folder;
    const std::string real = folder.path().toStdString() + "/real",
                      link = folder.path().toStdString() + "/link";
    std::filesystem::create_directory(real);
    std::filesystem::create_directory_symlink(real, link);
    {
        SessionStore store({link + "/sessions"});
        store.watch(madeRun(30), "one");
        store.flush();
        QCOMPARE(store.problem().english(), std::string());
    }
    const std::vector<LeftSession> left = leftSessions(link + "/sessions");
    QCOMPARE(left.size(), size_t{1});
    QVERIFY(left[0].read(left[0].runs().at(0)) != nullptr);
    const std::string file = real + "/sessions/" + left[0].name() + ".session";
    std::filesystem::rename(file, real + "/moved");
    std::filesystem::create_symlink(real + "/moved", file);
    QVERIFY_EXCEPTION_THROWN(Database(file, Database::Access::LeavesLog), RunError);
}

/// The program may be killed while it reads a run of another session.
void TestLeftFiles::halfARunIsNone() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const std::shared_ptr<Run> run = madeRun(9000);
    for (const bool completes : {false, true}) {
        {
            SessionStore store({sessions});
            store.watch(run, "half", SessionStore::Whole::No);
            store.flush();
            if (completes) store.complete(run.get());
            store.flush();
        }
        QCOMPARE(sessionsIn(sessions).size(), size_t{1});
        QCOMPARE(leftSessions(sessions).size(), size_t{completes});
        QCOMPARE(sessionsIn(sessions).size(), size_t{completes});
    }
}

/// The program may be killed when it has read some runs of another session, which then has all of
/// them, still.
void TestLeftFiles::copiesAreNoMoreRuns() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    using Names = std::vector<std::string>;
    const auto names = [&sessions] {
        Names all;
        for (const LeftSession& each : leftSessions(sessions))
            for (const LeftRun& run : each.runs())
                all.push_back(run.name);
        return all;
    };
    const auto copyOne = [&sessions](int64_t more, bool own) {
        const std::vector<LeftSession> left = leftSessions(sessions);
        const std::shared_ptr<Run> copy = left.at(0).read(left[0].runs().at(0));
        if (more > 0) appendRows(*copy, 9001, 9000 + more, 3);
        SessionStore store({sessions});
        store.watch(copy, "copy");
        if (own) store.watch(madeRun(9000), "own");
        store.flush();
    };
    {
        SessionStore store({sessions});
        store.watch(madeRun(9000), "one");
        store.watch(madeRun(9000), "two");
        store.flush();
    }
    copyOne(0, false);
    QCOMPARE(sessionsIn(sessions).size(), size_t{2});
    QCOMPARE(names(), (Names{"one", "two"}));
    QCOMPARE(sessionsIn(sessions).size(), size_t{1}); // it had nothing else
    copyOne(0, true);
    QCOMPARE(names(), (Names{"one", "two", "own"}));
    {
        std::vector<LeftSession> left = leftSessions(sessions);
        QVERIFY(!left.at(1).indexOf(0));
        QVERIFY(left[1].indexOf(1) == size_t{0});
        left[0].remove();
    }
    QCOMPARE(names(), (Names{"copy", "own"})); // now it is the only one
    QTest::qWait(1001); // within a second, a new session takes the name of one that was removed
    copyOne(100, false);
    QCOMPARE(names(), (Names{"copy", "own", "copy"})); // it has been trained meanwhile
}

/// One that is marked as saved comes back once it has more steps than were saved, and a damaged
/// session leaves out nothing.
void TestLeftFiles::savedRunsAreLeftOut() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    using Names = std::vector<std::string>;
    const auto names = [&sessions](bool leavesOut) {
        Names all;
        for (LeftSession& each : leftSessions(sessions)) {
            if (leavesOut) each.leaveOutSaved();
            for (const LeftRun& run : each.runs())
                all.push_back(run.name);
        }
        return all;
    };
    std::string path;
    {
        SessionStore store({sessions});
        const std::shared_ptr<Run> one = madeRun(9000), two = madeRun(9000), three = madeRun(9000);
        store.watch(one, "one");
        store.watch(two, "two");
        store.watch(three, "three");
        store.setSaved({{one, {9000}}, {two, {9000}}, {three, {9000}}});
        store.flush();
        appendRows(*two, 9001, 9001, 3);
        store.setSaved({{one, {9000}}, {two, {9000}}}); // the third is missed after all
        store.flush();
        path = store.path();
    }
    QCOMPARE(names(false), (Names{"one", "two", "three"}));
    QCOMPARE(names(true), (Names{"two", "three"}));
    // what is damaged deep in a run that stays, which may be the other one that has the steps
    Database(path, Database::Access::Create)
        .run("UPDATE chunks SET data = x'00' WHERE id = (SELECT chunk FROM columns WHERE run = 3 "
             "AND lane = 0 AND metric = 'loss' ORDER BY place LIMIT 1)");
    QVERIFY(leftSessions(sessions).at(0).damage().empty());
    QCOMPARE(names(true), names(false));
    Database(path, Database::Access::Create)
        .run("UPDATE tails SET data = x'00' WHERE run = 2 AND lane = 0");
    QVERIFY(!leftSessions(sessions).at(0).damage().empty());
    QCOMPARE(names(true), names(false));
}

/// The second run has the steps of the first. The third and the fourth lie in folders.
void TestLeftFiles::removedRunsMayHaveTheStepsOfSavedOnes() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    using Names = std::vector<std::string>;
    const auto names = [&sessions] {
        Names all;
        for (LeftSession& each : leftSessions(sessions)) {
            each.leaveOutSaved();
            for (const LeftRun& run : each.runs())
                all.push_back(run.name);
        }
        return all;
    };
    {
        SessionStore store({sessions});
        const std::shared_ptr<Run> one = madeRun(9000), two = madeRun(9000), three = madeRun(9000),
                                   four = madeRun(9000);
        store.watch(one, "one");
        store.watch(two, "two");
        store.watch(three, "three");
        store.watch(four, "four");
        store.setSaved({{one, {9000}}, {three, {9000, 9000}}, {four, {9000, 9000}}});
        store.flush();
    }
    QCOMPARE(names(), Names{"two"});
    { // one that has a mark has no steps that others would miss
        std::vector<LeftSession> left = leftSessions(sessions);
        left.at(0).remove(LeftRun(left[0].runs().at(2)));
    }
    QCOMPARE(names(), Names{"two"});
    {
        std::vector<LeftSession> left = leftSessions(sessions);
        const std::vector<LeftRun>& runs = left.at(0).runs();
        const auto two = std::ranges::find(runs, "two", &LeftRun::name);
        QVERIFY(two != runs.end());
        left[0].remove(LeftRun(*two));
    }
    QCOMPARE(names(), Names{"one"});
}

void TestLeftFiles::earlierVersionsHaveFewerColumns() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string path;
    {
        SessionStore store({sessions});
        store.watch(madeRun(9000), "one", SessionStore::Whole::Yes, SessionStore::NamedBy::User);
        store.flush();
        path = store.path();
    }
    for (const char* column : {"origin", "named"})
        Database(path, Database::Access::Create)
            .run(("ALTER TABLE runs DROP COLUMN " + std::string(column)).c_str());
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    QVERIFY(!left[0].runs().at(0).named);
    QVERIFY(left[0].read(left[0].runs().at(0)) != nullptr);
}

void TestLeftFiles::whoGaveTheNameIsStored() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    {
        SessionStore store({sessions});
        store.watch(madeRun(100), "one");
        const std::shared_ptr<Run> two = madeRun(200);
        store.watch(two, "two");
        store.flush();
        store.rename(two.get(), "mine");
        store.watch(madeRun(300), "kept", SessionStore::Whole::Yes, SessionStore::NamedBy::User);
        store.flush();
    }
    const std::vector<LeftSession> left = leftSessions(sessions);
    QCOMPARE(left.size(), size_t{1});
    const std::vector<LeftRun>& runs = left[0].runs();
    QCOMPARE(runs.size(), size_t{3});
    QVERIFY(!runs[0].named && runs[1].named && runs[2].named);
    QCOMPARE(runs[1].name, std::string("mine"));
}

void TestLeftFiles::whatCannotBeReadIsNamed_data() {
    QTest::addColumn<QByteArray>("sql");
    QTest::addColumn<QByteArray>("reason");
    QTest::newRow("version") << QByteArray("PRAGMA user_version = 99")
                             << QByteArray("its version 99 is not one that this program reads, "
                                           "1 to 3");
    QTest::newRow("values") << QByteArray(
                                   "UPDATE tails SET data = x'00'; UPDATE chunks SET data = x'00'")
                            << QByteArray("its runs are damaged");
    QTest::newRow("tables") << QByteArray("DROP TABLE runs") << QByteArray("no such table: runs");
}

void TestLeftFiles::whatCannotBeReadIsNamed() {
    QFETCH(QByteArray, sql);
    QFETCH(QByteArray, reason);
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::string path;
    {
        SessionStore store({sessions});
        store.watch(madeRun(30), "one");
        store.flush();
        path = store.path();
    }
    OtherSessions others;
    const std::vector<UnreadableSession>& unreadable = others.unreadable;
    QCOMPARE(leftSessions(sessions, &others).size(), size_t{1});
    QVERIFY(unreadable.empty());
    Database(path, Database::Access::Create).run(sql.constData());
    QVERIFY(leftSessions(sessions, &others).empty());
    QCOMPARE(unreadable.size(), size_t{1});
    QCOMPARE(unreadable[0].name, std::filesystem::path(path).stem().string());
    QCOMPARE(unreadable[0].reason.english(), path + ": " + reason.toStdString());
    QVERIFY(std::filesystem::exists(path));
}

/// They are those of programs that were killed before they wrote.
void TestLeftFiles::locksAloneGo() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    const SessionLock used(sessions);
    const std::string start = sessions + "/20261121-173455-", left = start + "12.lock";
    const std::string others[] = {sessions + "/Cargo.lock", sessions + "/a.session",
                                  start + "1x.lock", start + ".lock", start + "2.lock"};
    for (const std::string& path : others)
        std::ofstream(path).flush();
    std::ofstream(others[4]).put('\n');
    std::ofstream(left).flush();
    QVERIFY(leftSessions(sessions).empty());
    QVERIFY(!std::filesystem::exists(left));
    QVERIFY(std::filesystem::exists(used.pathOf(".lock")));
    for (const std::string& path : others)
        QVERIFY2(std::filesystem::exists(path), path.c_str());
}

/// A program may look for left sessions between the moment in which another one makes its lock's
/// file and that in which it locks it.
void TestLeftFiles::aLookTakesNoLockOfAStart() {
    const QTemporaryDir folder;
    const std::string sessions = folder.path().toStdString();
    std::atomic<bool> ends = false;
    const auto look = std::async(std::launch::async, [&] {
        while (!ends)
            leftSessions(sessions);
    });
    int lost = 0;
    for (int i = 0; i < 20000; ++i) {
        SessionLock lock(sessions);
        if (!std::filesystem::exists(lock.pathOf(".lock"))) ++lost;
        lock.removeSession();
    }
    ends = true;
    look.wait();
    QCOMPARE(lost, 0);
}

/// As where the home folder is on a read-only file system: what cannot be made is the folder.
void TestLeftFiles::whyThereIsNoLock() {
    const QTemporaryDir folder;
    const std::string path = folder.path().toStdString();
    const auto refusal = [](const std::string& sessions) {
        return thrownBy<RunError>([&] { const SessionLock lock(sessions); });
    };
    std::ofstream(path + "/file") << "no folder";
    QCOMPARE(refusal(path + "/file/sessions"),
             path + "/file/sessions: cannot create the folder: Not a directory");
    const std::string closed = path + "/closed";
    std::filesystem::create_directory(closed);
    using std::filesystem::perms;
    std::filesystem::permissions(path, perms(0755));
    std::filesystem::permissions(closed, perms(0555));
    const OrdinaryUser user;
    if (!user.holds()) QSKIP("root cannot become an ordinary user here");
    QCOMPARE(refusal(closed), closed + ": cannot write to this folder: Permission denied");
    QCOMPARE(refusal(closed + "/deeper/yet"),
             closed + "/deeper/yet: cannot create the folder: Permission denied");
}

} // namespace tst_left_files

QTEST_APPLESS_MAIN(tst_left_files::TestLeftFiles)
#include "tst_left_files.moc"
