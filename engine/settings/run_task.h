// The task that the settings of a run describe.
#pragma once

#include "engine/data/task.h"
#include "engine/settings/run_config.h"

namespace halfscope {

/// Makes the task. Throws InputError when a file cannot be used.
std::unique_ptr<Task> makeTask(const RunConfig&);

} // namespace halfscope
