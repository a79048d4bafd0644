// Reads the results of a saved run on a thread of its own: long tables take seconds.
#pragma once

#include "engine/io/picture.h"
#include "engine/runs/gradient_history.h"
#include "engine/runs/saved_run.h"
#include "engine/settings/run_config.h"

#include <QObject>
#include <memory>
#include <thread>

namespace halfscope {

struct SavedResults {
    RunConfig config;
    std::vector<std::string> lanes; ///< their names, see laneNames()
    SavedRun run;
    std::vector<Event> events; ///< to be seen: the run's without echoes, see withoutEchoes()
    std::vector<GradientHistory> gradients; ///< by lane, as of a saved run
    std::vector<Picture> outputs;           ///< by lane; empty unless every lane has one
    bool onDisk = true;                     ///< else it was kept in memory and never saved
};
using SavedResultsPtr = std::shared_ptr<SavedResults>;

class SavedRunJob : public QObject {
    Q_OBJECT
public:
    /// Of a run with the settings of its experiment.json.
    SavedRunJob(std::string folder, RunConfig);
    /// Stops after a few thousand rows and joins the thread.
    ~SavedRunJob() override;
    SavedRunJob(const SavedRunJob&) = delete;
    SavedRunJob& operator=(const SavedRunJob&) = delete;

    /// Once. done() or failed() is the last signal, unless the job is destroyed before.
    void start();

signals:
    /// How much is read, 0 to 1; at most one in a frame's time.
    void progressed(double share);
    void done(halfscope::SavedResultsPtr results);
    void failed(const QString& reason);

private:
    void run(const std::stop_token&);

    std::string m_folder;
    RunConfig m_config;
    std::jthread m_thread; ///< last: it uses the rest
};

} // namespace halfscope
