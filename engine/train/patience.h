// Early stopping: counts the validations in a row in which no lane has got better.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/step_record.h"
#include "engine/train/lane_state.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halfscope {

class Patience {
public:
    /// Takes the validations that rows have, which are those of all lanes in order.
    void add(std::span<const StepRecord> rows);
    /// Lets the last lane, which is new, go on with what its parent has.
    void addLane(size_t parent);

    /// What a checkpoint keeps of a lane.
    SinceBest of(size_t lane) const { return lane < m_lanes.size() ? m_lanes[lane] : SinceBest(); }
    void restore(std::vector<SinceBest> lanes) { m_lanes = std::move(lanes); }

    /// Returns how many validations in a row have been no new best in any lane.
    int64_t waited() const;

private:
    std::vector<SinceBest> m_lanes; ///< empty before the first validation
};

/// Says that a run ended because no lane got better in so many validations in a row.
Message patienceWords(int64_t waited);

} // namespace halfscope
