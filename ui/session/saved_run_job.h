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
    /// Of a run with the settings of its experiment.json.
    SavedRunJob(std::string folder, RunConfig);
    /// Stops reading; does not wait for it, see FileJob::Leaving.
    ~SavedRunJob() override;
    SavedRunJob(const SavedRunJob&) = delete;
    SavedRunJob& operator=(const SavedRunJob&) = delete;

    /// Once. done() or failed() is the last signal, unless the job is destroyed before; whoever
    /// hears it may destroy the job through Qt's queue only.
    void start();

signals:
    /// How much is read, 0 to 1; at most one in a frame's time.
    void progressed(double share);
    void done(const halfscope::RunPtr& run);
    void failed(const halfscope::Message& reason);

private:
    /// What the thread leaves here.
    struct Shared;
    void conclude();

    std::string m_folder;
    RunConfig m_config;
    std::shared_ptr<Shared> m_shared;
    QTimer m_looks; ///< at how much is read
    std::unique_ptr<FileJob> m_job;
};

} // namespace halfscope
