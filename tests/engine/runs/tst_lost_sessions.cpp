// The file of a session that another program removes or replaces while the session is written: it
// goes on in a new one, or says that nothing is kept.
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "engine/io/input_file.h"
#include "engine/runs/left_session.h"
#include "engine/runs/session_store.h"
#include "tests/support/session_run.h"

#include <QTemporaryDir>
#include <QTest>

#include <bit>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tst_lost_sessions {

using namespace halfscope;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

constexpr int64_t kFirst = 30011, kLast = 40003;

/// The bits of all losses and times: a loss may be nan.
std::vector<uint64_t> valuesOf(const Run& run) {
    std::vector<uint64_t> values;
    for (int lane = 0; lane < run.now().laneCount(); ++lane)
        for (const MetricId id : {MetricId{metric::Loss}, MetricId{metric::DeviceSeconds}})
            run.column(lane, id).values(1, kLast, [&](int64_t step, double value) {
                values.push_back(static_cast<uint64_t>(step));
                values.push_back(std::bit_cast<uint64_t>(value));
            });
    return values;
}

} // namespace

class TestLostSessions : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_sessions = m_folder->filePath("a/sessions").toStdString();
    }
    void goesOnInANewFile_data();
    void goesOnInANewFile();
    void leavesWhatTookItsPlace();
    void saysThatNothingIsKept();
    void discardsTheNewOne();

private:
    /// The one run of the one session that was left.
    std::shared_ptr<Run> left() const {
        const std::vector<LeftSession> all = leftSessions(m_sessions);
        if (all.size() != 1 || all[0].runs().size() != 1) return nullptr;
        return all[0].read(all[0].runs()[0]);
    }
    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_sessions;
};

void TestLostSessions::goesOnInANewFile_data() {
    QTest::addColumn<bool>("folder");
    QTest::addColumn<bool>("little");
    QTest::newRow("the file") << false << false;
    QTest::newRow("the folder") << true << false;
    QTest::newRow("the folder, and values lie on disk alone") << true << true;
}

/// Everything is there again, also what was written before, and values that memory no longer held.
void TestLostSessions::goesOnInANewFile() {
    QFETCH(const bool, folder);
    QFETCH(const bool, little);
    const std::shared_ptr<Run> run = madeRun(kFirst);
    std::string path;
    {
        SessionStore store({m_sessions, little ? size_t{1} : size_t{1} << 30, 1h});
        store.watch(run, "A name");
        store.setMark(SessionMark::Kept);
        store.flush();
        path = store.path();
        folder ? fs::remove_all(m_sessions) : fs::remove(path);
        appendRows(*run, kFirst + 1, kLast, 3);
        const uint64_t asked = store.askToWrite();
        store.flush();
        QVERIFY2(store.problem().empty(), store.problem().english().c_str());
        QVERIFY(store.isWritten(asked));
        QVERIFY(store.path() != path);
        QVERIFY(fs::exists(store.path()));
        path = store.path();
        store.flush();
        QCOMPARE(store.path(), path);              // it is in order
        QVERIFY(leftSessions(m_sessions).empty()); // and in use
    }
    QVERIFY(leftSessions(m_sessions).at(0).wasKept());
    const std::shared_ptr<Run> back = left();
    QVERIFY(back);
    QCOMPARE(back->step(), kLast);
    QVERIFY(valuesOf(*back) == valuesOf(*run));
    QCOMPARE(back->events().size(), run->events().size());
}

/// Somebody else's file under the same name is not touched.
void TestLostSessions::leavesWhatTookItsPlace() {
    const std::string mine(8192, 'm');
    const std::shared_ptr<Run> run = madeRun(kFirst);
    std::string path;
    {
        SessionStore store({.folder = m_sessions, .every = 1h});
        store.watch(run, "A name");
        store.flush();
        path = store.path();
        writeFileAtomically(path, mine);
        store.flush();
        QVERIFY2(store.problem().empty(), store.problem().english().c_str());
        QVERIFY(store.path() != path);
    }
    const std::shared_ptr<Run> back = left();
    QVERIFY(back && back->step() == kFirst);
    QCOMPARE(readFile(path), mine);
}

void TestLostSessions::saysThatNothingIsKept() {
    const std::shared_ptr<Run> run = madeRun(kFirst);
    {
        SessionStore store({.folder = m_sessions, .every = 1h});
        store.watch(run, "A name");
        store.flush();
        fs::remove_all(m_sessions);
        writeFileAtomically(m_sessions, "no folder");
        const uint64_t asked = store.askToWrite();
        store.flush();
        const std::string problem = store.problem().english();
        QVERIFY2(problem.starts_with(store.path() + ": another program removed or replaced") &&
                     problem.find('\n') == std::string::npos,
                 problem.c_str());
        QVERIFY(!store.isWritten(asked));
        appendRows(*run, kFirst + 1, kLast, 3);
        store.flush();
        QVERIFY(!store.problem().empty());
        fs::remove(m_sessions); // then there can be one again
        store.flush();
        QVERIFY2(store.problem().empty(), store.problem().english().c_str());
    }
    const std::shared_ptr<Run> back = left();
    QVERIFY(back);
    QVERIFY(valuesOf(*back) == valuesOf(*run));
}

void TestLostSessions::discardsTheNewOne() {
    {
        SessionStore store({.folder = m_sessions, .every = 1h});
        store.watch(madeRun(kFirst), "A name");
        store.flush();
        fs::remove(store.path());
        store.flush();
        QVERIFY(fs::exists(store.path()));
        store.discard();
    }
    QVERIFY(fs::is_empty(m_sessions)); // no lock is left either
}

} // namespace tst_lost_sessions

QTEST_GUILESS_MAIN(tst_lost_sessions::TestLostSessions)
#include "tst_lost_sessions.moc"
