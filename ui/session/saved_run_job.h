// Reads a saved run on a thread of its own: long tables take seconds.
#pragma once

#include "engine/runs/run.h"
#include "ui/session/file_job.h"

#include <QObject>
#include <QTimer>
#include <memory>

namespace halfscope {

using RunPtr = std::shared_ptr<Run>;

class SavedRunJob : public QObject {
    Q_OBJECT
public:
    /// `folder` holds the saved run; the settings are those of its experiment.json.
    SavedRunJob(std::string folder, RunConfig);
    /// Stops reading. Does not wait for the thread, see FileJob::Leaving.
    ~SavedRunJob() override;
    SavedRunJob(const SavedRunJob&) = delete;
    SavedRunJob& operator=(const SavedRunJob&) = delete;

    /// Starts reading; call it once. done() or failed() is the last signal, unless the job is
    /// destroyed before. A receiver may destroy the job only through Qt's queue.
    void start();

signals:
    /// Emitted with the share that is read, 0 to 1, at most once in a frame's time.
    void progressed(double share);
    void done(const halfscope::RunPtr& run);
    void failed(const halfscope::Message& reason);

private:
    /// What the thread writes for the window's thread.
    struct Shared;
    void conclude();

    std::string m_folder;
    RunConfig m_config;
    std::shared_ptr<Shared> m_shared;
    QTimer m_looks; ///< looks how much is read
    std::unique_ptr<FileJob> m_job;
};

} // namespace halfscope
