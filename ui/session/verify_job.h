// Compares the engine with PyTorch's recorded values on a thread of its own. Progress is reported
// by signals, because there is at most one in a frame's time.
#pragma once

#include "engine/verify/verify.h"

#include <QObject>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

namespace halfscope {

class VerifyJob : public QObject {
    Q_OBJECT
public:
    explicit VerifyJob(VerifyOptions options) : m_options(std::move(options)) {}
    /// Stops after the present case and joins the thread.
    ~VerifyJob() override;
    VerifyJob(const VerifyJob&) = delete;
    VerifyJob& operator=(const VerifyJob&) = delete;

    /// Starts comparing; call it once. done() or failed() is the last signal.
    void start();
    /// Stops early; done() is then emitted with the cases that were finished.
    void stop() { m_thread.request_stop(); }
    /// Stops a job that nobody waits for any more and deletes it when its thread has ended, at the
    /// latest with the application. A case on a GPU can take seconds, which a closing window must
    /// not wait for.
    static void abandon(std::unique_ptr<VerifyJob>);

signals:
    void progressed(const QString& suite, int done, int cases);
    void done(const halfscope::VerifyReport& report);
    void failed(const halfscope::Message& reason);

private:
    void run(const std::stop_token&);

    VerifyOptions m_options;
    std::atomic<bool> m_ended{false}; ///< done() or failed() is on its way
    std::jthread m_thread;            ///< last member: it uses the others
};

} // namespace halfscope
