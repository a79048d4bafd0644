// Reads the runs of a session that was left behind, on a thread of its own. While long runs are
// read, they are written to this session's store on disk, because they may be larger than memory.
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
    /// `store` is this session's store, or null when there is none.
    RestoreJob(std::shared_ptr<const LeftSession>, std::shared_ptr<SessionStore> store);
    /// Stops the thread, which may read a few thousand rows more; does not wait for it, see
    /// FileJob::Leaving.
    ~RestoreJob() override;
    RestoreJob(const RestoreJob&) = delete;
    RestoreJob& operator=(const RestoreJob&) = delete;

    /// Starts the thread; must be called only once. finished() is the last signal, unless the job
    /// is destroyed first. Both signals come from the thread.
    void start();
    /// Reads no more runs: the one that is being read is given up, and finished() follows.
    void stop();

signals:
    /// `watched` tells whether the store holds the run already.
    void read(const halfscope::RunPtr& run, const halfscope::LeftRun& left, bool watched);
    /// `reason` says why runs are missing; it is empty when all were read, up to a stop().
    void finished(const halfscope::Message& reason);

private:
    /// What the job shares with its thread.
    struct Work;
    std::shared_ptr<Work> m_work;
    std::unique_ptr<FileJob> m_job; ///< null until it starts
};

} // namespace halfscope
