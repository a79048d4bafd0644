// What an edit in the middle of a run has changed, in words. Leaves the step and the lane to the
// sentence around them (events.h).
#pragma once

#include "engine/core/message.h"
#include "engine/settings/fields.h"

namespace halfscope {

/// The setting, its value with the unit, the value before.
inline constexpr Phrase kSettingChange = phrase("Events", "%1 set to %2 (before: %3)");
inline constexpr Phrase kSwitchedOn = phrase("Events", "%1 switched on");
inline constexpr Phrase kSwitchedOff = phrase("Events", "%1 switched off");
/// The steps or epochs, those before.
inline constexpr Phrase kLengthChange = phrase("Events", "the run ends after %1 (before: %2)");

/// Of a live field that was set to a value, which may not be all that changes between the two
/// configurations; run fields ignore `lane`. Of the run's length, what decides: the epochs where
/// there are any, else the steps.
Message editWords(const Field&, const FieldValue& value, const RunConfig& before,
                  const RunConfig& after, int lane);

} // namespace halfscope
