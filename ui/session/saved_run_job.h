// Reads a saved run on a thread of its own: long tables take seconds.
#pragma once

#include "engine/runs/run.h"

#include <QObject>
#include <memory>
#include <thread>

namespace halfscope {

using RunPtr = std::shared_ptr<Run>;

class SavedRunJob : public QObject {
    Q_OBJECT
public:
    /// Of a run with the settings of its experiment.json.
    SavedRunJob(std::string folder, RunConfig);
    /// Stops reading and joins the thread.
    ~SavedRunJob() override;
    SavedRunJob(const SavedRunJob&) = delete;
    SavedRunJob& operator=(const SavedRunJob&) = delete;

    /// Once. done() or failed() is the last signal, unless the job is destroyed before.
    void start();

signals:
    /// How much is read, 0 to 1; at most one in a frame's time.
    void progressed(double share);
    void done(const halfscope::RunPtr& run);
    void failed(const halfscope::Message& reason);

private:
    void run(const std::stop_token&);

    std::string m_folder;
    RunConfig m_config;
    std::jthread m_thread; ///< last: it uses the rest
};

} // namespace halfscope
