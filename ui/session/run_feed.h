// What arrives from a training, on its way into its run. Rows, events and lanes that were forked
// come by ways of their own: here they are put in order, so that no row or event comes before the
// lane that it is of, and no lane before its parent's steps.
#pragma once

#include "engine/runs/run.h"
#include "ui/session/session_channel.h"

#include <deque>
#include <memory>

namespace halfscope {

/// The run of networks that were built, without rows, or with those before the checkpoint that they
/// go on from.
std::shared_ptr<Run> runOf(const SessionInfo&, const std::string& preset);

class RunFeed {
public:
    explicit RunFeed(std::shared_ptr<Run> run) : m_run(std::move(run)) {}

    void take(SessionBatch);

private:
    void takeChange(const SessionChange&);
    /// Rows until the next fork, then the lane.
    void takeRows(std::span<const StepRecord>);
    void takeEvents();
    void takeCheckpoint();

    std::shared_ptr<Run> m_run;
    std::deque<LaneInfo> m_coming; ///< forked, and their parents' steps are not all there
    std::vector<Event> m_events;   ///< wait for their lanes
    std::optional<Snapshot> m_picture;
    std::shared_ptr<const RunCheckpoint> m_checkpoint; ///< waits for its step
};

} // namespace halfscope
