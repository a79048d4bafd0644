// The thread that reads; its signals reach the window through Qt's queue.
#include "ui/session/restore_job.h"

#include "engine/core/error.h"
#include "ui/session/last_signal.h"

#include <exception>
#include <system_error>
#include <utility>

namespace halfscope {
namespace {

/// Looks of a watch, of 4096 rows each, between two writes of what has been read.
constexpr int kBetweenWrites = 64;

} // namespace

RestoreJob::RestoreJob(std::shared_ptr<const LeftSession> session, SessionStore* store)
    : m_session(std::move(session)), m_store(store) {}

RestoreJob::~RestoreJob() = default;

void RestoreJob::start() {
    try {
        m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    } catch (const std::system_error& error) {
        const Message reason(phrase("Files", "cannot start a thread to read them: %1"),
                             error.what());
        QMetaObject::invokeMethod(
            this, [this, reason] { emit finished(reason); }, Qt::QueuedConnection);
    }
}

void RestoreJob::run(const std::stop_token& stop) {
    std::exception_ptr failure;
    for (const LeftRun& left : m_session->runs()) {
        try {
            if (!restore(left, stop)) return;
        } catch (const std::exception&) {
            failure = std::current_exception();
        }
    }
    emitLast(stop, [&] { emit finished(failure ? messageOf(failure) : Message()); });
}

bool RestoreJob::restore(const LeftRun& left, const std::stop_token& stop) {
    RunPtr growing;
    bool watched = false;
    int looks = 0;
    RestoreWatch watch;
    watch.begun = [&](const std::shared_ptr<Run>& run) { growing = run; };
    watch.goesOn = [&](double) {
        if (m_store != nullptr && ++looks % kBetweenWrites == 0) {
            if (!std::exchange(watched, true)) m_store->watch(growing, left.name);
            m_store->flush();
        }
        return !stop.stop_requested();
    };
    RunPtr run;
    try {
        run = m_session->read(left, watch);
    } catch (...) {
        if (watched) m_store->forget(growing.get());
        throw;
    }
    if (!run && watched) m_store->forget(growing.get());
    if (run) emit read(run, QString::fromStdString(left.name), watched);
    return run != nullptr;
}

} // namespace halfscope
