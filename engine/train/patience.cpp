// Each lane has a best of its own; the run waits for the lane that got better last.
#include "engine/train/patience.h"

#include <algorithm>

namespace halfscope {

void Patience::add(std::span<const StepRecord> rows) {
    m_lanes.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
        if (!rows[i].validation) continue;
        SinceBest& lane = m_lanes[i];
        if (takeBetter(lane.best, *rows[i].validation, rows[i].step))
            lane.without = 0;
        else
            ++lane.without;
    }
}

void Patience::addLane(size_t parent) {
    if (parent < m_lanes.size()) m_lanes.push_back(SinceBest(m_lanes[parent]));
}

int64_t Patience::waited() const {
    const auto least = std::ranges::min_element(m_lanes, {}, &SinceBest::without);
    return least == m_lanes.end() ? 0 : least->without;
}

Message patienceWords(int64_t waited) {
    if (waited == 1)
        return phrase("Training", "No lane's last validation was a new best, so the run ended "
                                  "(run.patience).");
    return {phrase("Training",
                   "In the last %1 validations no lane had a new best, so the run ended "
                   "(run.patience)."),
            waited};
}

} // namespace halfscope
