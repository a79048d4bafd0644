// Sessions in a folder that cannot be written: they can be read where nobody can be using them.
#include "engine/core/error.h"
#include "engine/runs/left_session.h"
#include "engine/runs/session_store.h"
#include "tests/support/ordinary_user.h"
#include "tests/support/session_run.h"
#include "tests/support/thrown.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tst_sealed_sessions {

using namespace halfscope;
namespace fs = std::filesystem;

namespace {

constexpr int64_t kSteps = 9000;

/// A folder with a session that nobody may change. A path may have characters of URIs.
class Sealed {
public:
    enum class Log { Left, None };

    explicit Sealed(Log log) {
        fs::permissions(m_folder.path().toStdString(), fs::perms(0755));
        const std::string used = m_folder.filePath("used").toStdString();
        fs::create_directory(path());
        {
            SessionStore store({used});
            const std::shared_ptr<Run> run = madeRun(kSteps);
            RunBatch batch;
            batch.checkpoint = std::make_shared<const RunCheckpoint>(
                kSteps, [] { return std::string("networks"); });
            run->append(std::move(batch));
            store.watch(run, "one");
            store.flush();
            m_name = fs::path(store.path()).stem().string();
            if (log == Log::Left) copyFrom(used);
        }
        if (log == Log::None) copyFrom(used);
        std::ofstream(lock()).flush();
        for (const auto& each : fs::directory_iterator(path()))
            fs::permissions(each.path(), fs::perms(0644));
    }
    ~Sealed() { fs::permissions(path(), fs::perms(0755)); }
    Sealed(const Sealed&) = delete;
    Sealed& operator=(const Sealed&) = delete;

    std::string path() const { return m_folder.filePath("left 100%25?#").toStdString(); }
    std::string name() const { return m_name; }
    std::string lock() const { return path() + '/' + m_name + ".lock"; }
    void seal() const { fs::permissions(path(), fs::perms(0555)); }
    QStringList files() const {
        return QDir(QString::fromStdString(path())).entryList(QDir::Files);
    }

private:
    /// As after a crash: without the lock, and without the index that SQLite makes.
    void copyFrom(const std::string& folder) const {
        for (const auto& each : fs::directory_iterator(folder))
            if (each.path().extension() != ".lock" && !each.path().string().ends_with("-shm"))
                fs::copy(each.path(), path());
    }

    QTemporaryDir m_folder;
    std::string m_name;
};

} // namespace

class TestSealedSessions : public QObject {
    Q_OBJECT
private slots:
    void canBeRead_data();
    void canBeRead();
    void usedOnesAreLeftAlone();
    void nobodyKnowsWhoUsesThem();
};

void TestSealedSessions::canBeRead_data() {
    QTest::addColumn<bool>("hasLog");
    QTest::newRow("with a log") << true;
    QTest::newRow("without a log") << false;
}

void TestSealedSessions::canBeRead() {
    QFETCH(const bool, hasLog);
    const Sealed sealed(hasLog ? Sealed::Log::Left : Sealed::Log::None);
    QCOMPARE(sealed.files().size(), hasLog ? 3 : 2);
    sealed.seal();
    const OrdinaryUser user;
    if (!user.holds()) QSKIP("root cannot become an ordinary user here");
    const QStringList before = sealed.files();
    {
        OtherSessions others;
        std::vector<LeftSession> left = leftSessions(sealed.path(), &others);
        for (const UnreadableSession& each : others.unreadable)
            QFAIL(each.reason.english().c_str());
        QCOMPARE(left.size(), size_t{1});
        QVERIFY(left[0].isSealed());
        const LeftRun run = left[0].runs().at(0);
        const std::shared_ptr<Run> back = left[0].read(run);
        QCOMPARE(back->step(), kSteps);
        QCOMPARE(back->now().checkpoint()->bytes(), std::string("networks"));
        const std::string reason =
            sealed.path() + ": cannot write to this folder: Permission denied";
        QCOMPARE(thrownBy<RunError>([&] { left[0].remove(run); }), reason);
        QCOMPARE(thrownBy<RunError>([&] { left[0].remove(); }), reason);
    }
    QCOMPARE(sealed.files(), before);
}

void TestSealedSessions::usedOnesAreLeftAlone() {
    const Sealed sealed(Sealed::Log::None);
    const auto used = SessionLock::ofLeft(sealed.path(), sealed.name());
    QVERIFY(used && used->obstacle().empty());
    sealed.seal();
    const OrdinaryUser user;
    if (!user.holds()) QSKIP("root cannot become an ordinary user here");
    OtherSessions others;
    QVERIFY(leftSessions(sealed.path(), &others).empty());
    QCOMPARE(others.used, size_t{1});
    QCOMPARE(others.unreadable.size(), size_t{0});
}

/// Without a lock's file, a program that may write there could take the session at any moment.
void TestSealedSessions::nobodyKnowsWhoUsesThem() {
    const Sealed sealed(Sealed::Log::None);
    fs::remove(sealed.lock());
    sealed.seal();
    const OrdinaryUser user;
    if (!user.holds()) QSKIP("root cannot become an ordinary user here");
    OtherSessions others;
    QVERIFY(leftSessions(sealed.path(), &others).empty());
    QCOMPARE(others.used, size_t{0});
    QCOMPARE(others.unreadable.size(), size_t{1});
    QCOMPARE(others.unreadable[0].name, sealed.name());
    QCOMPARE(others.unreadable[0].reason.english(),
             sealed.path() + ": cannot write to this folder: Permission denied");
}

} // namespace tst_sealed_sessions

QTEST_APPLESS_MAIN(tst_sealed_sessions::TestSealedSessions)
#include "tst_sealed_sessions.moc"
