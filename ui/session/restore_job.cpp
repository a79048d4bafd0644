// The thread that reads; its signals reach the window through Qt's queue.
#include "ui/session/restore_job.h"

#include "engine/core/error.h"

#include <utility>

namespace halfscope {

RestoreJob::RestoreJob(std::shared_ptr<const LeftSession> session)
    : m_session(std::move(session)) {}

RestoreJob::~RestoreJob() = default;

void RestoreJob::start() {
    m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void RestoreJob::run(const std::stop_token& stop) {
    Message reason;
    for (const LeftRun& left : m_session->runs()) {
        try {
            const RunPtr run =
                m_session->read(left, [&stop](double) { return !stop.stop_requested(); });
            if (!run) return;
            emit read(run, QString::fromStdString(left.name));
        } catch (const std::exception& error) {
            reason = messageOf(error);
        }
    }
    emit finished(reason);
}

} // namespace halfscope
