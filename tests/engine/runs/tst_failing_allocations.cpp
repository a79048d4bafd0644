// Every single allocation of what reads and writes files fails, once and from there on, in a
// process of its own: it may end with an error, and never by std::terminate. This program's
// operator new fails when it is told to.
#include "engine/core/error.h"
#include "engine/io/safetensors.h"
#include "engine/runs/left_session.h"
#include "engine/runs/run_manifest.h"
#include "engine/runs/run_reader.h"
#include "engine/runs/run_saving.h"
#include "engine/runs/session_store.h"
#include "engine/runs/tensorboard.h"
#include "engine/settings/fields.h"
#include "engine/train/checkpoint.h"
#include "tests/support/cli.h"
#include "tests/support/failing_new.h"
#include "tests/support/train_into.h"

#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <functional>
#include <limits>

#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
std::atomic<int64_t> s_calls{0}, s_first{kNever}, s_last{kNever};

} // namespace

bool halfscope::test::allocationFails(size_t) noexcept {
    if (s_first == kNever) return false;
    const int64_t call = ++s_calls;
    return call >= s_first && call <= s_last;
}

namespace tst_failing_allocations {

using namespace halfscope;
using namespace halfscope::test;

class TestFailingAllocations : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void endsWithAnError_data();
    void endsWithAnError();

private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    std::function<void()> workOf(const QString& name) const;

    QTemporaryDir m_folder;
    std::string m_experiment, m_manifest;
};

void TestFailingAllocations::initTestCase() {
    RunConfig config = presetNamed("line-fit").config;
    config.steps = 6;
    config.epochs = 0;
    config.threads = 1;
    m_experiment = configText(config);
    trainInto(path("run"), config);
    m_manifest = contentOf(m_folder.filePath("run/manifest.json")).toStdString();
    Experiment experiment(config);
    writeCheckpoint(path("checkpoint.safetensors"), experiment.state(), "test");
    SessionStore store({path("sessions")});
    store.watch(readRun(path("run")), "a");
    store.flush();
    QVERIFY(QDir(m_folder.path()).mkpath("board/a folder with a long name that takes memory"));
}

std::function<void()> TestFailingAllocations::workOf(const QString& name) const {
    if (name == "experiment") return [this] { parseConfig(m_experiment, "x"); };
    if (name == "manifest") return [this] { manifestOf(m_manifest); };
    if (name == "safetensors") return [this] { safetensorsInfo(path("checkpoint.safetensors")); };
    if (name == "checkpoint") return [this] { readCheckpoint(path("checkpoint.safetensors")); };
    if (name == "run") return [this] { readRun(path("run")); };
    if (name == "save") return [this] { saveRun(readRun(path("run"))->snapshot(), path("saved")); };
    if (name == "sessions")
        return [this] {
            for (const LeftSession& session : leftSessions(path("sessions")))
                for (const LeftRun& left : session.runs())
                    session.read(left);
        };
    if (name == "tensorboard")
        return [this] { saveTensorBoard(readRun(path("run"))->snapshot(), path("board")); };
    return {};
}

void TestFailingAllocations::endsWithAnError_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"experiment", "manifest", "safetensors", "checkpoint", "run", "save",
                             "sessions", "tensorboard"})
        QTest::newRow(name) << QString(name);
}

/// At most 250 of its allocations, evenly; "once" and "on" in turn.
void TestFailingAllocations::endsWithAnError() {
    QFETCH(const QString, name);
    constexpr int64_t kMost = 250;
    const std::function<void()> work = workOf(name);
    s_calls = 0;
    s_last = 0; // counts alone
    s_first = 1;
    work();
    s_first = kNever;
    const int64_t all = s_calls;
    QVERIFY(all > 10);
    for (int64_t i = 0; i < 2 * std::min(all, kMost); ++i) {
        const int64_t call = 1 + i / 2 * std::max(all, kMost) / kMost;
        const bool once = i % 2 == 0;
        const pid_t child = ::fork();
        QVERIFY(child >= 0);
        if (child == 0) {
            ::alarm(60); // a lock that a failed allocation left behind would hold it for ever
            s_calls = 0;
            s_last = once ? call : kNever - 1;
            s_first = call;
            try {
                work();
            } catch (const std::exception&) {
            }
            ::_exit(0);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QVERIFY2(WIFEXITED(status), qPrintable(QStringLiteral("allocation %1 of %2, %3")
                                                   .arg(call)
                                                   .arg(all)
                                                   .arg(once ? "once" : "on")));
    }
}

} // namespace tst_failing_allocations

QTEST_GUILESS_MAIN(tst_failing_allocations::TestFailingAllocations)
#include "tst_failing_allocations.moc"
