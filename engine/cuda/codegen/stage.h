// One stage of the schedule: the wide units that are ready and the small units that must run before
// the next wide ones can, cut into as few and as short launches as the cost model finds.
#pragma once

#include "engine/cuda/codegen/launch_plan.h"

namespace halfscope::cuda {

class Stage {
public:
    /// `members` is ascending; `before` is of all units. What members wait for outside the stage is
    /// done.
    Stage(const std::vector<Unit>&, const std::vector<std::vector<size_t>>& before,
          const CostModel&, const std::vector<size_t>& members);

    std::vector<PlannedLaunch> launches() const;

private:
    /// Levels [first, split) are heads side by side, [split, end) the tail. When first == split,
    /// all run in one block, without a ticket.
    struct Cut {
        size_t first = 0, split = 0, end = 0;
        double microseconds = 0;
    };
    class Components;

    void findLevels();
    std::vector<Cut> cheapestCuts() const;
    PlannedLaunch launchOf(const Cut&) const;
    bool inLevels(size_t unit, size_t first, size_t end) const;
    double chainTime(size_t level) const;

    const std::vector<Unit>& m_units;
    const std::vector<std::vector<size_t>>& m_before;
    const CostModel& m_cost;
    std::vector<size_t> m_members;
    std::vector<int> m_level;                  ///< by unit; -1 outside the stage
    std::vector<std::vector<size_t>> m_levels; ///< members by longest path from the stage's start
};

/// Returns the units' phases when one block runs them, in order of `units` (ascending).
Strand strandOf(const std::vector<size_t>& units, const std::vector<std::vector<size_t>>& before);

} // namespace halfscope::cuda
