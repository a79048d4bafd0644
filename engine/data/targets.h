// What the targets of a task are. Apart from losses.h, whose names the window's library takes for
// itself.
#pragma once

#include "engine/data/task_spec.h"

namespace halfscope {

/// Whether they are class numbers, as the loss wants them.
bool targetsAreClasses(const TaskConfig&);
/// Whether samples are text and have a target at each position, the next character.
bool predictsEvery(const TaskConfig&);

} // namespace halfscope
