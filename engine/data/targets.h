// What the targets of a task are. Apart from losses.h, whose names the window's library takes for
// itself.
#pragma once

#include "engine/data/task_spec.h"

namespace halfscope {

/// Whether they are class numbers, as the loss wants them.
bool targetsAreClasses(const TaskConfig&);

} // namespace halfscope
