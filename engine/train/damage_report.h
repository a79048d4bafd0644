// Tells of the damaged samples of a training in events, each file once: where a file is one to
// train on and one to validate or test on, only the first of these is told.
#pragma once

#include "engine/data/dataset.h"
#include "engine/runs/events.h"
#include "engine/train/lane_judge.h"

#include <atomic>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace halfscope {

class DamageReport {
public:
    /// What earlier events have told, see ExperimentState::damaged.
    const std::set<std::string>& told() const { return m_told; }
    void goOn(std::set<std::string> told) { m_told = std::move(told); }

    /// Tells of the samples of a step that were skipped, and of classes that have no other ones.
    void addStep(int64_t step, std::span<const Message> skipped, const Dataset&,
                 const std::atomic<bool>& stop, std::vector<Event>& events);
    /// Tells of those of the validation after a step and of the test, and where none was left.
    void addJudged(int64_t step, const LaneJudge&, std::vector<Event>& events);

private:
    void tell(int64_t step, std::span<const Message> reasons, Phrase sentence,
              std::vector<Event>& events);
    void tellNone(int64_t step, const Message& reason, Phrase sentence, std::vector<Event>& events);

    std::set<std::string> m_told;
    bool m_knowsLost = false; ///< whether it was looked for classes without samples
};

} // namespace halfscope
