// The progress of a run on standard error: one line that is redrawn on a terminal, plain lines
// about every 5 % or 2 s elsewhere.
#pragma once

#include "engine/runs/step_record.h"
#include "engine/settings/run_config.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halfscope::cli {

class Progress {
public:
    /// `begun` is the number of steps that were taken before.
    Progress(const RunConfig&, const EpochPlan&, int64_t begun);
    /// Called after a lane was forked.
    void setLanes(const RunConfig&);
    /// Called after each step; `records` has one entry for each lane. Draws only when it is time
    /// to, and tells of underflow and of the first damaged samples at once: unlike skipped steps,
    /// the figures do not show them.
    void show(std::span<const StepRecord> records, std::span<const Event> events);
    /// Ends the line, and tells how many more damaged samples there were; call before other output.
    void end();
    /// Ends the line that is redrawn; call before a line of its own while the run goes on.
    void endLine();

private:
    using Clock = std::chrono::steady_clock;

    bool isTime(int64_t step) const;
    std::string text(std::span<const StepRecord> records) const;
    std::string laneText(const StepRecord&) const;
    void tell(std::span<const Event> events);

    std::vector<std::string> m_lanes;
    std::vector<bool> m_scales; ///< by lane: whether it has a loss scale
    int64_t m_steps, m_begun;
    EpochPlan m_epochs;
    bool m_terminal;
    bool m_drawn = false;
    int64_t m_damaged = 0; ///< samples that could not be read
    Clock::time_point m_start = Clock::now();
    Clock::time_point m_shown = m_start;
    int64_t m_shownStep = 0;
};

} // namespace halfscope::cli
