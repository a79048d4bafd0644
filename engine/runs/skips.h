// Decides whether a lane's skipped steps are normal: counts step by step where they came from, and
// says so in a sentence. Why a single step was skipped is in overflow.h.
#pragma once

#include "engine/core/message.h"
#include "engine/runs/step_record.h"

#include <cstdint>
#include <string>

namespace halfscope {

/// How skipped steps are to be read.
enum class SkipVerdict : uint8_t {
    None,    ///< no step was skipped
    Normal,  ///< the loss scale looked for its limit
    TooMany, ///< training suffers; the sentence says what to do
};

/// Adds up the records of one lane, in the order of its steps.
class SkipTally {
public:
    void add(const StepRow&);
    void add(const StepRecord& record) { add(rowOf(record)); }

    int64_t steps() const { return m_steps; }
    int64_t skipped() const { return m_start + m_trials + m_others; }
    /// Until the loss scale had come down to what fits: before its first growth, and before
    /// 20 clean steps in a row.
    int64_t atStart() const { return m_start; }
    /// The first one after each growth: it had tried too large a scale.
    int64_t afterGrowth() const { return m_trials; }
    /// All others: gradients had grown meanwhile.
    int64_t others() const { return m_others; }

    /// `dynamic`: the scale falls after an overflow (ScalerMode::Dynamic).
    SkipVerdict verdict(bool dynamic) const;
    /// "24 of 300 steps were skipped. That is normal: ..."; empty without skips.
    Message sentence(bool dynamic) const;

private:
    Message countText() const;
    /// The scale does not fall although steps are skipped: a static one, or one at its floor.
    bool held(bool dynamic) const;
    /// Whether the loss is lost and comes back again and again, as with a damaged sample.
    bool losesAgain() const { return m_losses > 1 && m_lost > 0; }
    /// So many skips of one cause, after the start, are too many.
    bool often(int64_t count) const;

    int64_t m_steps = 0, m_start = 0, m_trials = 0, m_others = 0;
    int64_t m_lossLostAt = 0; ///< the step from which on the loss is not finite; 0: it is
    int64_t m_lost = 0;       ///< skipped steps whose loss was not finite
    int64_t m_losses = 0;     ///< how often the loss was lost; in between it came back
    int64_t m_unanswered = 0; ///< skipped steps in a row after which the scale stayed
    bool m_settled = false;   ///< the start is over
    bool m_trial = false;     ///< the scale has grown and not overflowed since
    bool m_fell = false;      ///< after the last step
    bool m_belowOne = false;  ///< falls have brought the scale there
    float m_scale = 1;        ///< that the last step used
};

} // namespace halfscope
