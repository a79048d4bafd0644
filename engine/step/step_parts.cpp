// Turns the settings into lists.
#include "engine/step/step_parts.h"

namespace halfscope {

size_t StepParts::optimizerOf(std::string_view parameter) const {
    if (critic && parameter.starts_with(critic->prefix)) return critic->optimizer;
    for (const NetworkPart& each : networks)
        if (!each.prefix.empty() && parameter.starts_with(each.prefix)) return each.optimizer;
    return networks.front().optimizer;
}

StepParts partsOf(const RunConfig& config) {
    StepParts parts;
    parts.networks = {{"", 0}};
    parts.losses = {{{1}}};
    parts.optimizers = {{config.optimizer, "optimizer", "schedule.table", "learning rate"}};
    if (networksOf(config.model) == 1) return parts;
    OptimizerConfig second = config.optimizer;
    second.kind = config.second.kind;
    second.lr = config.second.lr;
    parts.optimizers.push_back({second, "optimizer2", "schedule.table2", "second learning rate"});
    if (isAdversarial(config.model)) {
        parts.critic = {"critic.", 1};
        parts.optimizers[0].every = config.model.criticSteps;
        return parts;
    }
    parts.networks.push_back({"second.", 1});
    // The factors of PyTorch's notes on AMP; both losses are zero at (8, 1) / 19 of the target.
    parts.losses = {{{2, 3}}, {{3, -5}}};
    return parts;
}

} // namespace halfscope
