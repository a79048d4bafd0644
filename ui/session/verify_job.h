// Compares the engine with PyTorch's recorded values on a thread of its own. Progress is rare
// enough for signals: at most one in a frame's time.
#pragma once

#include "engine/verify/verify.h"

#include <QObject>
#include <thread>
#include <utility>

namespace halfscope {

class VerifyJob : public QObject {
    Q_OBJECT
public:
    explicit VerifyJob(VerifyOptions options) : m_options(std::move(options)) {}
    /// Stops after the case at hand and joins the thread.
    ~VerifyJob() override;
    VerifyJob(const VerifyJob&) = delete;
    VerifyJob& operator=(const VerifyJob&) = delete;

    /// Once. done() or failed() is the last signal.
    void start();
    /// done() comes then with what was finished.
    void stop() { m_thread.request_stop(); }

signals:
    void progressed(const QString& suite, int done, int cases);
    void done(const halfscope::VerifyReport& report);
    void failed(const QString& reason);

private:
    void run(const std::stop_token&);

    VerifyOptions m_options;
    std::jthread m_thread; ///< last: it uses the rest
};

} // namespace halfscope
