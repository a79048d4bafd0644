// What standardised targets mean to users: a sentence about them, and the same in a PyTorch
// program.
#pragma once

#include "engine/core/message.h"
#include "engine/data/dataset.h"
#include "engine/data/standardiser.h"
#include "engine/data/task_spec.h"

#include <optional>
#include <string>

namespace halfscope {

/// What to do with a setting, %1, that is true or false: a window has a check box for it.
inline constexpr Phrase kSetToTrue = phrase("Data", "set %1 to true");
inline constexpr Phrase kSetToFalse = phrase("Data", "set %1 to false");

/// Returns a sentence that says how targets of this scale are standardised and how to undo that, or
/// that they had better be; nothing when there is nothing to say. The loss takes any numbers.
std::optional<Message> targetScaleNote(const Standardiser&, const TaskConfig&);
/// Whether a note says that targets had better be standardised.
bool tellsFarOff(const Message& note);

/// Returns the lines of samples() in a PyTorch program that standardise `name`, the targets, whose
/// samples have this shape; empty where the settings do not ask for it.
std::string scaleTargetPython(const TaskConfig&, const std::string& name, const Shape& sample);
/// Adds to a program with such lines what else they need, and the error in the units of the data.
PythonData withTargetScale(PythonData, const TaskConfig&);

} // namespace halfscope
