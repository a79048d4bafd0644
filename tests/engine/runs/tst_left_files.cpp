// The files of a session that was left behind are damaged: nothing crashes, and nothing is removed
// that may hold a run.
#include "engine/io/database.h"
#include "engine/runs/left_session.h"
#include "engine/runs/session_store.h"
#include "tests/support/session_run.h"

#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>

namespace tst_left_files {

using namespace halfscope;

class TestLeftFiles : public QObject {
    Q_OBJECT
private slots:
    void damagedFiles();
    void aDamagedLogIsKept();
    void whatCannotBeReadIsNamed_data();
    void whatCannotBeReadIsNamed();
    void locksAloneGo();
    void aLookTakesNoLockOfAStart();
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
    QVERIFY(sessionsIn(left).empty()); // there was nothing in it
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
}

void TestLeftFiles::whatCannotBeReadIsNamed_data() {
    QTest::addColumn<QByteArray>("sql");
    QTest::addColumn<QByteArray>("reason");
    QTest::newRow("version") << QByteArray("PRAGMA user_version = 2")
                             << QByteArray("another version of the program wrote it");
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
    std::vector<UnreadableSession> unreadable;
    QCOMPARE(leftSessions(sessions, &unreadable).size(), size_t{1});
    QVERIFY(unreadable.empty());
    Database(path, Database::Access::Create).run(sql.constData());
    QVERIFY(leftSessions(sessions, &unreadable).empty());
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
    const std::string others[] = {sessions + "/Cargo.lock", start + "1x.lock", start + ".lock",
                                  start + "2.lock"};
    for (const std::string& path : others)
        std::ofstream(path).flush();
    std::ofstream(others[3]).put('\n');
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

} // namespace tst_left_files

QTEST_APPLESS_MAIN(tst_left_files::TestLeftFiles)
#include "tst_left_files.moc"
