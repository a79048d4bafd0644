// The thread of a verification; its signals reach the window through Qt's queue.
#include "ui/session/verify_job.h"

#include "engine/core/error.h"
#include "ui/session/last_signal.h"

#include <QCoreApplication>

#include <chrono>
#include <system_error>

namespace halfscope {
namespace {
using namespace std::chrono_literals;
constexpr auto kBetweenProgress = 33ms;
} // namespace

VerifyJob::~VerifyJob() = default;

void VerifyJob::start() {
    try {
        m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    } catch (const std::system_error& error) {
        m_ended = true;
        const Message reason(phrase("Verification", "Cannot start a thread to verify: %1"),
                             error.what());
        QMetaObject::invokeMethod(
            this, [this, reason] { emit failed(reason); }, Qt::QueuedConnection);
    }
}

void VerifyJob::abandon(std::unique_ptr<VerifyJob> job) {
    VerifyJob* left = job.release();
    left->disconnect();
    left->setParent(QCoreApplication::instance());
    connect(left, &VerifyJob::done, left, &QObject::deleteLater);
    connect(left, &VerifyJob::failed, left, &QObject::deleteLater);
    left->stop();
    if (left->m_ended) left->deleteLater(); // its last signal may have come before
}

void VerifyJob::run(const std::stop_token& stop) {
    auto next = std::chrono::steady_clock::now();
    try {
        m_options.progress = [&](const VerifyProgress& progress) {
            const auto now = std::chrono::steady_clock::now();
            if (now >= next) {
                emit progressed(QString::fromStdString(progress.suite),
                                static_cast<int>(progress.done), static_cast<int>(progress.cases));
                next = now + kBetweenProgress;
            }
            return !stop.stop_requested();
        };
        const VerifyReport report = verify(m_options);
        m_ended = true;
        emit done(report);
    } catch (const std::exception& error) {
        m_ended = true;
        emitLast([&] { return stop.stop_requested(); }, [&] { emit failed(messageOf(error)); });
    }
}

} // namespace halfscope
