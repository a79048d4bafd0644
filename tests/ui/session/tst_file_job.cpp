// Jobs on a thread of their own: the end is told once, nothing is told once the job is gone, and a
// thread that does not come back is left to itself.
#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "tests/support/dead_network.h"
#include "tests/support/thrown.h"
#include "ui/session/file_job.h"
#include "ui/session/left_threads.h"

#include <QEventLoop>
#include <QSignalSpy>
#include <QTest>
#include <QTimer>

#include <atomic>
#include <future>
#include <thread>

namespace tst_file_job {

using namespace halfscope;
using namespace std::chrono_literals;

namespace {

constexpr int kPatience = 60000; // ms
constexpr FileJob::Leaving kEither[] = {FileJob::Leaving::Waits, FileJob::Leaving::Abandons};

void compute(std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

} // namespace

class TestFileJob : public QObject {
    Q_OBJECT
private slots:
    void endsAreToldOnce();
    void handlersMayDestroyIt();
    void whoeverWaitsIsWoken();
    void goneAtAnyMoment();
    void failuresAreThrown();
    void cancelled();
    void leftToItself();
    void joinsWhatHasEnded();
};

/// When a job is done, what its work wrote can be read. Work that ends before anybody connects is
/// told, too.
void TestFileJob::endsAreToldOnce() {
    for (const FileJob::Leaving leaving : kEither)
        for (int i = 0; i < 100; ++i) {
            int written = 0, told = 0;
            FileJob job([&] { written = i + 1; }, leaving);
            if (i % 2 == 0) std::this_thread::sleep_for(1ms);
            connect(&job, &FileJob::done, [&told] { ++told; });
            QCOMPARE(told, 0);
            QTRY_COMPARE_WITH_TIMEOUT(told, 1, kPatience);
            QVERIFY(job.isDone());
            QCOMPARE(written, i + 1);
            job.result();
            QVERIFY(job.isDone()); // and stays so
            QCoreApplication::processEvents();
            QCOMPARE(told, 1);
        }
}

/// Most handlers begin by taking the job away.
void TestFileJob::handlersMayDestroyIt() {
    for (const FileJob::Leaving leaving : kEither) {
        bool told = false;
        auto job = std::make_unique<FileJob>([] {}, leaving);
        connect(job.get(), &FileJob::done, [&, kept = std::string(100, 'x')] {
            job.reset();
            told = kept.size() == 100;
        });
        QTRY_VERIFY_WITH_TIMEOUT(told, kPatience);
    }
}

/// The window waits like this while it saves: an event must wake it.
void TestFileJob::whoeverWaitsIsWoken() {
    // wakes a loop that nothing else woke
    QTimer rescue;
    rescue.start(kPatience);
    const QSignalSpy rescues(&rescue, &QTimer::timeout);
    for (int i = 0; i < 300; ++i) {
        rescue.start();
        FileJob job([i] { compute(std::chrono::microseconds(i % 50 * 10)); },
                    FileJob::Leaving::Abandons);
        QEventLoop waits;
        while (!job.isDone())
            waits.processEvents(QEventLoop::WaitForMoreEvents);
    }
    QCOMPARE(rescues.size(), 0);
}

void TestFileJob::goneAtAnyMoment() {
    for (const FileJob::Leaving leaving : kEither)
        for (int i = 0; i < 300; ++i) {
            int told = 0;
            {
                FileJob job([i] { compute(std::chrono::microseconds(i % 30 * 5)); }, leaving);
                connect(&job, &FileJob::done, [&told] { ++told; });
                compute(std::chrono::microseconds(i % 37 * 5));
                if (i % 3 == 0) QCoreApplication::processEvents();
            }
            const int before = std::exchange(told, 0);
            QVERIFY(before <= 1);
            QCoreApplication::processEvents();
            QCOMPARE(told, 0);
        }
}

void TestFileJob::failuresAreThrown() {
    FileJob job([] { throw RunError(Message::data("a folder is gone")); });
    QTRY_VERIFY(job.isDone());
    QCOMPARE(thrownBy<RunError>([&] { job.result(); }), std::string("a folder is gone"));
}

void TestFileJob::cancelled() {
    std::atomic<bool> begun{false}, asked{false};
    {
        FileJob job([&] {
            begun = true;
            while (!isCancelled())
                std::this_thread::yield();
            asked = true;
        });
        QTRY_VERIFY(begun.load());
        QVERIFY(!job.isDone(10ms));
    }
    QVERIFY(asked);
}

/// A thread that is left to itself owns all that it uses, and tells nobody when it comes back.
void TestFileJob::leftToItself() {
    checkLeavesItsThread([](const std::shared_ptr<DeadNetwork>& network) {
        return std::make_unique<FileJob>([network] { network->wait(); },
                                         FileJob::Leaving::Abandons);
    });
}

void TestFileJob::joinsWhatHasEnded() {
    std::promise<void> end;
    const std::future<void> ended = end.get_future();
    std::thread thread([&] { end.set_value(); });
    ended.wait();
    leaveOrJoin(thread, ended);
    QVERIFY(!thread.joinable());
}

} // namespace tst_file_job

QTEST_GUILESS_MAIN(tst_file_job::TestFileJob)
#include "tst_file_job.moc"
