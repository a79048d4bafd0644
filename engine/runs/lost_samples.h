// How many samples of a run could not be read, which its events tell one by one.
#pragma once

#include "engine/runs/events.h"

#include <cstdint>

namespace halfscope {

/// The sentences about such a sample, events of the kind Damaged: the step and the reason.
inline constexpr Phrase kReplacedSample =
    phrase("Events", "Step %1: %2. Another sample took its place.");
inline constexpr Phrase kNotValidatedOn =
    phrase("Events", "Step %1: %2. Validation leaves it out.");
inline constexpr Phrase kNotTestedOn = phrase("Events", "Step %1: %2. The test leaves it out.");

/// Counts events, of which a sample has one. It can have another where a run went on from a
/// checkpoint that had no room for it, beside 100,000 other ones.
struct LostSamples {
    int64_t trained = 0; ///< of those to train on, the ones that others replaced
    int64_t judged = 0;  ///< of those to validate on
    int64_t tested = 0;

    void add(const Event&); ///< also one of a saved run; other events do not count
    int64_t all() const { return trained + judged + tested; }
    /// Returns a sentence; empty where no sample was lost.
    Message sentence() const;
};

} // namespace halfscope
