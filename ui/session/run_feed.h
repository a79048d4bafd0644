// Puts what arrives from a training into its run. Rows, events, counted gradients and forked lanes
// arrive separately; they are put in order here, so that nothing comes before its lane, and no lane
// before its parent's steps.
#pragma once

#include "engine/runs/run.h"
#include "ui/session/session_channel.h"

#include <deque>
#include <memory>

namespace halfscope {

/// Makes the run of networks that were built: without rows, or with the rows before the checkpoint
/// that the run continues from. Where their file has lost the target, or an earlier version drew
/// another kind of picture, the target is that of the networks.
std::shared_ptr<Run> runOf(const SessionInfo&, const std::string& preset);

class RunFeed {
public:
    explicit RunFeed(std::shared_ptr<Run> run) : m_run(std::move(run)) {}

    /// What becomes of counted gradients: histories and files have only those that the user asked
    /// to see, so that they do not depend on what a window happens to show.
    enum class Counts : uint8_t { Keep, Glance };
    void take(SessionBatch, Counts = Counts::Keep);

private:
    void takeChange(const SessionChange&);
    /// Takes the rows up to the next fork, then adds the forked lane.
    void takeRows(std::span<const StepRecord>);
    void takeCounts();
    void takeEvents();
    void takeCheckpoint();

    std::shared_ptr<Run> m_run;
    std::deque<LaneInfo> m_coming; ///< forked lanes whose parents' steps are not all there yet
    std::vector<Event> m_events;   ///< events that wait for their lanes
    std::vector<std::vector<GradientRange>> m_counts; ///< gradients that wait for their lanes
    Counts m_keep = Counts::Keep;
    std::optional<Snapshot> m_picture;
    std::shared_ptr<const RunCheckpoint> m_checkpoint; ///< waits for the rows up to its step
};

} // namespace halfscope
