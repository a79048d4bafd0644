// Reads the runs of a session that was left behind, on a thread of its own. While long ones are
// read they are written to this session's store on disk: they may be larger than memory.
#pragma once

#include "engine/runs/left_session.h"
#include "engine/runs/session_store.h"
#include "ui/session/saved_run_job.h"

#include <QObject>
#include <memory>

namespace halfscope {

class RestoreJob : public QObject {
    Q_OBJECT
public:
    /// `store`: of this session; null where there is none.
    RestoreJob(std::shared_ptr<const LeftSession>, std::shared_ptr<SessionStore> store);
    /// Stops after a few thousand rows; does not wait for it, see FileJob::Leaving.
    ~RestoreJob() override;
    RestoreJob(const RestoreJob&) = delete;
    RestoreJob& operator=(const RestoreJob&) = delete;

    /// Once. finished() is the last signal, unless the job is destroyed before; both come from the
    /// thread.
    void start();

signals:
    /// `watched` tells whether the store holds the run already.
    void read(const halfscope::RunPtr& run, const QString& name, bool watched);
    /// `reason` says why runs are missing; it is empty when all were read.
    void finished(const halfscope::Message& reason);

private:
    /// What the thread uses.
    struct Work;
    std::shared_ptr<Work> m_work;
    std::unique_ptr<FileJob> m_job; ///< null until it starts
};

} // namespace halfscope
