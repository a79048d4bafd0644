// Runs the thread that reads; its signals reach the window through Qt's queue.
#include "ui/session/restore_job.h"

#include "engine/core/cancel.h"
#include "engine/core/error.h"
#include "ui/session/job_link.h"
#include "ui/session/last_signal.h"

#include <atomic>
#include <exception>
#include <utility>

namespace halfscope {
namespace {

/// The number of looks of a watch, of 4096 rows each, between two writes of what has been read.
constexpr int kBetweenWrites = 64;

} // namespace

struct RestoreJob::Work {
    void run();
    /// Reads one run and emits it. Returns false when it was stopped.
    bool restore(const LeftRun&);
    bool isOver() const { return isCancelled() || stops; }
    std::shared_ptr<const LeftSession> session;
    std::shared_ptr<SessionStore> store;
    JobLink<RestoreJob> job;
    std::atomic<bool> stops{false}; ///< the runs that are not read yet stay where they are
};

RestoreJob::RestoreJob(std::shared_ptr<const LeftSession> session,
                       std::shared_ptr<SessionStore> store)
    : m_work(new Work{std::move(session), std::move(store), JobLink(this)}) {}

RestoreJob::~RestoreJob() {
    if (m_job) m_job->cancel();
    m_work->job.cut();
}

void RestoreJob::start() {
    try {
        m_job =
            std::make_unique<FileJob>([work = m_work] { work->run(); }, FileJob::Leaving::Abandons);
    } catch (const RunError& error) {
        const Message reason = error.message();
        QMetaObject::invokeMethod(
            this, [this, reason] { emit finished(reason); }, Qt::QueuedConnection);
    }
}

void RestoreJob::stop() { m_work->stops = true; }

void RestoreJob::Work::run() {
    std::exception_ptr failure;
    for (const LeftRun& left : session->runs()) {
        try {
            if (isOver() || !restore(left)) break;
        } catch (const std::exception&) {
            failure = std::current_exception();
        }
    }
    emitLast(isCancelled, [&] {
        job.call([&](RestoreJob& waiting) {
            emit waiting.finished(failure ? messageOf(failure) : Message());
        });
    });
}

bool RestoreJob::Work::restore(const LeftRun& left) {
    RunPtr growing;
    bool watched = false;
    int looks = 0;
    RestoreWatch watch;
    watch.begun = [&](const std::shared_ptr<Run>& run) { growing = run; };
    watch.goesOn = [&](double) {
        if (store && ++looks % kBetweenWrites == 0) {
            if (!std::exchange(watched, true))
                store->watch(growing, left.name, SessionStore::Whole::No, namedBy(left.named));
            store->flush();
        }
        return !isOver();
    };
    RunPtr run;
    try {
        run = session->read(left, watch);
    } catch (...) {
        if (watched) store->forget(growing.get());
        throw;
    }
    if (watched && run) store->complete(run.get());
    if (watched && !run) store->forget(growing.get());
    if (run) job.call([&](RestoreJob& waiting) { emit waiting.read(run, left, watched); });
    return run != nullptr;
}

} // namespace halfscope
