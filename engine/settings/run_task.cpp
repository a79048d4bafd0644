// From settings to specs.
#include "engine/settings/run_task.h"

#include "engine/settings/run_length.h"

namespace halfscope {

std::unique_ptr<Task> makeTask(const RunConfig& config) {
    return std::make_unique<Task>(infoOf(config.task.kind).make(config.task, config.seed),
                                  epochPlanOf(config), config.seed,
                                  static_cast<int>(config.data.workers));
}

} // namespace halfscope
