// Decides whether a lane's skipped steps are normal: counts step by step where they came from, and
// says so in a sentence. Why a single step was skipped is in overflow.h; which lane clears the
// precision of another one, in divergence.h.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/events.h"
#include "engine/runs/fault_scale.h"
#include "engine/runs/loss_rise.h"
#include "engine/runs/step_record.h"

#include <cstdint>
#include <string>

namespace halfscope {

struct LaneConfig;

/// The verdict on skipped steps.
enum class SkipVerdict : uint8_t {
    None,    ///< no step was skipped, or nothing is known of those that were
    Normal,  ///< the loss scale searched for its limit
    TooMany, ///< training suffers; the sentence says what to do
};

/// Adds up the rows of one lane, which come in the order of its steps.
class SkipTally {
public:
    SkipTally() = default;
    /// The gradients of so many steps add up before one update (gradients.accumulate): only the
    /// last of them can be skipped.
    explicit SkipTally(int64_t stepsPerUpdate) : m_stepsPerUpdate(stepsPerUpdate) {}
    void add(const StepRow&);
    void add(const StepRecord& record) { add(rowOf(record)); }
    /// Adds an event that concernsLane(), or one of a fork's parent before the fork. It may come
    /// before or after the row of its step, and tells where the first inf or nan came from, and
    /// whether the scale has been set by hand.
    void add(const Event&);

    /// Lets a fork go on from here: what its parent has skipped counts, but is not judged any more.
    /// `step` and `scalesAnew`: see LaneInfo::forkStep and scalesAnew.
    void fork(int64_t step, bool scalesAnew = false);

    int64_t steps() const { return m_steps; }
    int64_t stepsPerUpdate() const { return m_stepsPerUpdate; }
    /// Counted from step 1: where the rows begin later, as after a checkpoint without those before
    /// it, the first one tells how many steps before it were skipped.
    int64_t skipped() const { return m_before + m_start + m_trials + m_others; }
    /// Skipped steps before the loss scale had come down to what fits: before its first growth, and
    /// before 20 clean steps in a row.
    int64_t atStart() const { return m_start; }
    /// Skipped steps after a growth, at a larger scale than before it: the first one however late,
    /// others until 20 clean steps in a row. The scale that was tried was too large.
    int64_t afterGrowth() const { return m_trials; }
    /// All other skipped steps: gradients had grown meanwhile.
    int64_t others() const { return m_others; }

    /// The step since which the loss is not finite; 0 when it is finite.
    int64_t lossLostAt() const { return m_lossLostAt; }
    /// The first input or target with inf or nan, as Event::tensor names it, and its step.
    struct DataFault {
        int64_t step = 0; ///< 0: none is known
        std::string tensor{};
    };
    DataFault dataFault() const { return {m_data.step, m_data.what}; }
    /// Of the steps that were skipped for a reason that no loss scale prevents, those of a fork's
    /// parent included.
    const FaultScale& faultScale() const { return m_faultScale; }
    /// Whether this is a fork that has skipped nothing by itself, but its parent has.
    bool areOfParent() const { return m_isFork && skipped() > 0 && isAllBefore(); }

    /// `dynamic` tells whether the scale falls after an overflow (ScalerMode::Dynamic).
    SkipVerdict verdict(bool dynamic) const;
    /// Returns what saves normal skips where the scale came down a long way at the start, a
    /// sentence of its own; empty where it did not.
    Message startAdvice() const;
    /// Returns why so many steps were skipped and what may help, "32 of them followed a growth
    /// ...", the end of the sentence; empty where the verdict is not TooMany. `lane` tells in which
    /// type a layer computes; null when its settings are not known. `diverged` names the lane of
    /// divergedBeside(), which clears the precision of this one; empty where there is none.
    Message badReason(bool dynamic, const LaneConfig* lane = nullptr,
                      const Message& diverged = {}) const;
    /// Returns the step in which values of the lane were first not finite at any loss scale, where
    /// a diverging training can be the reason: weights had changed before, and neither data nor
    /// settings explain it. Else 0.
    int64_t failedAt() const;
    const LossRise& lossRise() const { return m_rise; }
    /// Whether that is an input or target with inf or nan, the one of dataFault().
    bool badReasonIsData() const;
    /// Returns the layer whose forward pass is the reason why steps were skipped or the loss is
    /// lost; empty where it is another one.
    Message badLayer() const;
    /// Whether the input is the reason instead, because it does not fit into fp16.
    bool badReasonIsInput() const;
    /// Returns the step that was taken although its gradients were not finite, and lost the loss;
    /// 0 when the loss is finite or something else has lost it. Never one of a lane that does not
    /// scale its loss. `lane`: see badReason().
    int64_t losingStep(const LaneConfig* lane) const;
    /// Returns "24 of 300 steps were skipped. That is normal: ...", or "updates" where they take
    /// several steps. Without skips, it says why nothing is learned: the loss is not finite, or no
    /// update was made yet; else it is empty. `lane` and `diverged`: see badReason().
    Message sentence(bool dynamic, const LaneConfig* lane = nullptr,
                     const Message& diverged = {}) const;

private:
    /// Some scalers tolerate one or two overflows before the scale falls, but not this many in a
    /// row.
    static constexpr int64_t kForgiven = 10;
    void addBefore(const StepRow& first);
    void addUpdate(const StepRow&);
    void addTrial(const StepRow&);
    /// Whether nothing is known of the skipped steps but their number: rows begin after them, or
    /// they are of a fork's parent.
    bool isAllBefore() const;
    int64_t updates() const { return m_updatesBefore + m_updates; }
    void addToFaultScale(const Event&);
    void addPlaces(const Event&);
    void addLoss(const StepRow&);
    Message countText() const;
    /// Whether a layer's forward pass, or its input, lost the loss, if anything did.
    bool lostInLayer() const;
    bool isForwardToBlame() const;
    /// Whether a scaler let a step pass that lost the loss.
    bool lostByStep(const LaneConfig*) const;
    Message sinceText() const;
    Message layerAdvice(const LaneConfig*) const;
    Message lossText(const LaneConfig*) const;
    Message helplessText(const LaneConfig*) const;
    Message badCauses() const;
    Message textWithoutSkips(const LaneConfig*, const Message& diverged) const;
    Message divergedText(const Message& diverged) const;
    /// Notes that the weights have changed at a step.
    void learn(int64_t step) {
        if (m_learnedAt == 0) m_learnedAt = step;
    }
    /// Whether weights had changed before a step failed: only then the learning rate may be the
    /// reason.
    bool rateMayHelp(int64_t failed) const { return m_learnedAt > 0 && m_learnedAt < failed; }
    /// Whether the scale has come down so far without growing that it does not search any more.
    bool onlyFalls() const;
    /// Whether the last step used a scale that no rule changes any more.
    bool stuck() const;
    /// Whether the scale does not fall although steps are skipped at it: it is static, or at its
    /// floor. One that was made static later may have come down before.
    bool held(bool dynamic) const {
        const bool tooLarge = m_skipsHere > 0 && !m_fell;
        return (!dynamic && tooLarge) || m_stopped || m_unanswered > kForgiven;
    }
    /// How many skips no loss scale would have prevented.
    int64_t helpless() const { return m_lost > m_helpless ? m_lost : m_helpless; }
    /// Whether so many skips of one cause, after the start, are too many.
    bool often(int64_t count) const;

    int64_t m_stepsPerUpdate = 1;
    /// The step of the first row, if it is not the first one, and what the steps before it were, or
    /// those before a fork.
    int64_t m_firstStep = 0, m_updatesBefore = 0, m_before = 0;
    int64_t m_steps = 0, m_updates = 0, m_start = 0, m_trials = 0, m_others = 0;
    int64_t m_startFalls = 0;    ///< those of m_start after which the scale fell
    int64_t m_falls = 0;         ///< since it was m_fallenFrom
    int64_t m_laterFalls = 0;    ///< those of m_falls behind the start
    int64_t m_skipsHere = 0;     ///< skips since the scale became what it is
    int64_t m_failedGrowths = 0; ///< how many growths m_trials followed
    int64_t m_lossLostAt = 0;    ///< the step since which the loss is not finite; 0 when it is
    int64_t m_lost = 0;          ///< skips with a loss that was not finite
    int64_t m_helpless = 0;      ///< skips whose events say that no loss scale would have helped
    int64_t m_lastHelpless = 0;  ///< the last such step, or the last with a loss not finite
    int64_t m_lostSteps = 0;     ///< steps with a loss that was not finite, of all
    int64_t m_lostBefore = 0;    ///< those before m_lossLostAt
    int64_t m_learnedAt = 0;     ///< the first step that changed the weights; 0: none has
    LossRise m_rise;
    enum class Trial : uint8_t {
        None,   ///< the scale is not one that a growth tries
        Open,   ///< it is, and nothing has overflowed since
        Failed, ///< steps overflowed at it
    };
    Trial m_trial = Trial::None;
    struct Place {
        int64_t step = 0; ///< 0: none
        std::string what{};
    };
    /// Whose forward pass was the first that was not finite; the input, as Event::tensor names it,
    /// where that did not fit.
    Place m_layer;
    Place m_data;        ///< the first input or target that was not
    Place m_zeroEpsilon; ///< the optimizer that divided by its epsilon, which was zero
    FaultScale m_faultScale;
    /// Events up to these steps are of a fork's parent. What they tell is not judged, or has no
    /// part in the places above or in m_faultScale.
    int64_t m_judgedAfter = -1, m_placesAfter = -1, m_faultsAfter = -1;
    int64_t m_unanswered = 0;   ///< skips in a row after which the scale did not change
    bool m_isFork = false;      ///< whether m_before are those of its parent
    bool m_losing = false;      ///< whether a loss of this update was not finite
    bool m_settled = false;     ///< whether the start is over
    bool m_fell = false;        ///< whether it fell after the last step
    bool m_hadOne = false;      ///< whether the scale has been one or more
    bool m_belowOne = false;    ///< whether an overflow at one or less has brought it below
    bool m_stopped = false;     ///< whether the last update ends the run: the scale is at its floor
    bool m_lostAtOnce = false;  ///< whether the loss was lost before a step changed the weights
    bool m_lostByStep = false;  ///< whether it was lost by a step that was taken on an overflow
    bool m_taken = false;       ///< whether the last step was
    bool m_belowAtOnce = false; ///< likewise, whether the scale fell below one
    float m_scale = 1;          ///< the scale that the last step used
    float m_grownFrom = 0;      ///< the scale before the last growth
    float m_fallenFrom = 0; ///< the first one, or what it last grew to or was set to; 0: none yet
    float m_takenScale = 1; ///< that of the last step that was taken on an overflow
    float m_lostScale = 1;  ///< that of the step by which the loss was lost
};

} // namespace halfscope
