// Makes a task from settings.
#include "engine/settings/run_task.h"

#include "engine/data/class_weights.h"
#include "engine/data/losses.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_length.h"

#include <algorithm>

namespace halfscope {

TaskConfig taskOf(const RunConfig& config) {
    TaskConfig task = config.task;
    if (task.kind == TaskKind::Arrays) task.indices = firstIndices(config.model);
    return task;
}

Message lossObstacle(const RunConfig& config, std::string_view loss) {
    const DataSetInfo& data = infoOf(config.task.kind);
    const auto row = std::ranges::find(losses(), loss, &LossInfo::name);
    if (row == losses().end() || data.targets == Targets::AsTheLoss) return {};
    if (data.targets == Targets::TwoClasses && row->ofShares) return {};
    if (row->ofLabels == (data.targets != Targets::Numbers)) return {};
    return {row->ofLabels ? phrase("Settings", "task.loss: %1 is not allowed with data.kind %2: "
                                               "its targets are numbers, not classes")
                          : phrase("Settings", "task.loss: %1 is not allowed with data.kind %2: "
                                               "its targets are classes, not numbers"),
            row->name, data.name};
}

std::unique_ptr<Task> makeTask(const RunConfig& config) {
    return makeTask(config, makeDataset(taskOf(config), config.seed)); // before its plan
}

std::unique_ptr<Task> makeTask(const RunConfig& config, std::shared_ptr<const Dataset> data) {
    return std::make_unique<Task>(std::move(data), epochPlanOf(config), config.seed,
                                  static_cast<int>(config.data.workers),
                                  config.data.shuffle ? Order::Shuffled : Order::AsStored);
}

void setFromData(RunConfig& config, const Dataset& data) {
    config.steps = stepsOf(config);
    config.task.loss.weights = weightsFor(config.task.loss, data);
}

} // namespace halfscope
