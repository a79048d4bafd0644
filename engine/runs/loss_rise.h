// Where the loss of a lane rose far above that of its first step: there its training diverged, also
// if the loss stayed finite and came down again to what guessing gives.
#pragma once

#include "engine/runs/step_row.h"

#include <cstdint>

namespace halfscope {

/// Takes the rows of a lane in the order of its steps.
class LossRise {
public:
    void add(const StepRow&);
    /// Whether the loss stood that high, or was not finite, around a step.
    bool covers(int64_t step) const;

private:
    /// Steps with such a loss, none of them far from the next.
    struct Spell {
        int64_t from = 0, to = 0, count = 0;
        bool covers(int64_t step) const;
    };
    double m_first = 0; ///< the first loss; 0: there was none
    Spell m_earlier;    ///< the first long one that is over; what a later step raises is m_last
    Spell m_last;
};

} // namespace halfscope
