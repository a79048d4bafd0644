// The task that the settings of a run describe.
#pragma once

#include "engine/data/task.h"
#include "engine/settings/run_config.h"

#include <string_view>

namespace halfscope {

/// Returns the settings of the task with what the network decides: where it begins with an
/// Embedding, whole numbers in arrays are indices.
TaskConfig taskOf(const RunConfig&);
/// Says why the data of a run do not allow the loss of this name; empty when they do.
Message lossObstacle(const RunConfig&, std::string_view loss);
/// Makes the task. Throws InputError when a file cannot be used.
std::unique_ptr<Task> makeTask(const RunConfig&);
/// Makes it of a data set that was made of these settings, but for a seed that it does not use.
std::unique_ptr<Task> makeTask(const RunConfig&, std::shared_ptr<const Dataset>);
/// Sets what the samples decide: the number of steps that the epochs give, and the weights of the
/// classes. Throws InputError as weightsFor() does.
void setFromData(RunConfig&, const Dataset&);

} // namespace halfscope
