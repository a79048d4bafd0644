// What users should know of inputs that are not standardised.
#pragma once

#include "engine/core/message.h"
#include "engine/data/standardiser.h"
#include "engine/data/task_spec.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// Whether fp16 rounds a finite value to inf.
bool isBeyondHalf(float value);
/// Returns the setting that would standardise the inputs, which are not: "data.standardise_x";
/// empty where there is none.
std::string_view inputScaleSetting(const TaskConfig&);
/// Returns what helps inputs that fp16 cannot hold, a sentence that names the setting.
Message fittingAdvice(std::string_view setting);
/// Returns a sentence about inputs called `name`, whose largest finite value is given without its
/// sign; nothing when fp16 can hold it or no setting helps.
std::optional<Message> beyondHalfNote(const std::string& name, float largest, const TaskConfig&);

/// Returns a sentence that names the inputs of which float32 rounds too much away, and the setting
/// that standardises them; nothing when there are none. Each spread has a name.
std::optional<Message> roundedInputsNote(const Standardiser&, const std::vector<std::string>& names,
                                         const char* setting);

} // namespace halfscope
