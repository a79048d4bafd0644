// Trains a map of settings on a thread of its own, beside the window's training.
#pragma once

#include "engine/train/setting_grid.h"
#include "ui/session/file_job.h"

#include <QObject>
#include <QTimer>
#include <memory>

namespace halfscope {

class GridJob : public QObject {
    Q_OBJECT
public:
    explicit GridJob(SettingGrid);
    /// Stops the training. Does not wait for the thread, see FileJob::Leaving.
    ~GridJob() override;
    GridJob(const GridJob&) = delete;
    GridJob& operator=(const GridJob&) = delete;

    /// Starts training; call it once. ended() or failed() is the last signal, unless the job is
    /// destroyed before. A receiver may destroy the job only through Qt's queue.
    void start();
    /// Stops within a step; ended() then comes all the same.
    void stop();

signals:
    void trained(int cell, const halfscope::GridCell& result);
    /// The steps of the cell in progress, at most ten times a second.
    void progressed(int cell, qint64 steps);
    void ended();
    /// No cell can be trained, for this reason.
    void failed(const halfscope::Message& reason);

private:
    /// What the thread writes for the window's thread.
    struct Shared;
    void look();
    void conclude();

    SettingGrid m_grid;
    std::shared_ptr<Shared> m_shared;
    QTimer m_looks; ///< looks what is trained
    std::unique_ptr<FileJob> m_job;
};

} // namespace halfscope
