// Reads the runs of a session that was left behind, on a thread of its own.
#pragma once

#include "engine/runs/left_session.h"
#include "ui/session/saved_run_job.h"

#include <QObject>
#include <memory>
#include <thread>

namespace halfscope {

class RestoreJob : public QObject {
    Q_OBJECT
public:
    explicit RestoreJob(std::shared_ptr<const LeftSession>);
    /// Stops after a few thousand rows and joins the thread.
    ~RestoreJob() override;
    RestoreJob(const RestoreJob&) = delete;
    RestoreJob& operator=(const RestoreJob&) = delete;

    /// Once. finished() is the last signal, unless the job is destroyed before.
    void start();

signals:
    void read(const halfscope::RunPtr& run, const QString& name);
    /// `reason`: why runs are missing; empty when all were read.
    void finished(const halfscope::Message& reason);

private:
    void run(const std::stop_token&);

    std::shared_ptr<const LeftSession> m_session;
    std::jthread m_thread; ///< last: it uses the rest
};

} // namespace halfscope
