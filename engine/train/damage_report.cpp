// Remembers reasons by short hashes, because a checkpoint has them all.
#include "engine/train/damage_report.h"

#include "engine/runs/lost_samples.h"
#include "engine/train/experiment_state.h"

namespace halfscope {
namespace {

Event damageEvent(int64_t step, Phrase sentence, const Message& reason) {
    Event event;
    event.kind = EventKind::Damaged;
    event.step = step;
    event.lane = -1;
    event.text = {sentence, step, reason};
    return event;
}

} // namespace

void DamageReport::tell(int64_t step, std::span<const Message> reasons, Phrase sentence,
                        std::vector<Event>& events) {
    for (const Message& why : reasons)
        if (m_told.insert(damagedKey(why)).second)
            events.push_back(damageEvent(step, sentence, why));
}

/// The reason may be that of the only sample, which is told of, too.
void DamageReport::tellNone(int64_t step, const Message& reason, Phrase sentence,
                            std::vector<Event>& events) {
    if (reason.empty() || !m_told.insert(damagedKey({sentence, 0, reason})).second) return;
    events.push_back(damageEvent(step, sentence, reason));
}

void DamageReport::addStep(int64_t step, std::span<const Message> skipped, const Dataset& data,
                           const std::atomic<bool>& stop, std::vector<Event>& events) {
    if (!skipped.empty() && !m_knowsLost) {
        tell(step, data.lostClasses(stop), kLostClass, events);
        m_knowsLost = !stop;
    }
    tell(step, skipped, kReplacedSample, events);
}

void DamageReport::addJudged(int64_t step, const LaneJudge& judge, std::vector<Event>& events) {
    tell(step, judge.leftOut(), kNotValidatedOn, events);
    tellNone(step, judge.noValidation(), kNoValidation, events);
    tell(step, judge.leftOutOfTest(), kNotTestedOn, events);
    tellNone(step, judge.testProblem(), kNoTest, events);
}

} // namespace halfscope
