// The words for what an edit in the middle of a run has changed. The sentence around them, with the
// step and the lane, is in events.h.
#pragma once

#include "engine/core/message.h"
#include "engine/settings/fields.h"

namespace halfscope {

/// %1: the setting, %2: its value with the unit, %3: the value before.
inline constexpr Phrase kSettingChange = phrase("Events", "%1 set to %2 (before: %3)");
inline constexpr Phrase kSwitchedOn = phrase("Events", "%1 switched on");
inline constexpr Phrase kSwitchedOff = phrase("Events", "%1 switched off");
/// %1: the new steps or epochs, %2: those before.
inline constexpr Phrase kLengthChange = phrase("Events", "the run ends after %1 (before: %2)");
/// The same for a run that goes on after its schedule. %3: a step, %4: a learning rate.
inline constexpr Phrase kLengthBeyondSchedule =
    phrase("Events", "the run ends after %1 (before: %2); the schedule ends with step %3, and the "
                     "learning rate then stays at %4");

/// Returns the words for a live field that was set to a value, which need not be all that differs
/// between the two configurations; fields of the run ignore `lane`. For the run's length they tell
/// what decides it: the epochs when there are any, else the steps. The schedule is that of `after`;
/// it has the length that it was built with.
Message editWords(const Field&, const FieldValue& value, const RunConfig& before,
                  const RunConfig& after, int lane);

} // namespace halfscope
