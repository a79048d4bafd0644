// Compares with the table of optimizers, which has PyTorch's defaults.
#include "engine/settings/optimizer_warnings.h"

#include "engine/core/dtype.h"
#include "engine/settings/precision.h"

#include <algorithm>
#include <utility>

namespace halfscope {

namespace {

/// Compares only settings that are exactly the usual ones: others were chosen. The steps of the
/// other optimizers are about as large as the learning rate, whatever the gradients are.
Message warningOfUsual(const RunConfig& config, OptimizerKind kind, double lr, Phrase lrText) {
    if (kind != OptimizerKind::Adagrad && kind != OptimizerKind::Adadelta) return {};
    const OptimizerConfig usual, &given = config.optimizer;
    const OptimizerInfo& info = infoOf(kind);
    std::vector<Message> parts;
    bool small = false;
    const auto compare = [&](Phrase text, double value, double usually, double inTorch) {
        if (value != usually || usually == inTorch) return false;
        parts.push_back({text, inTorch});
        return usually < inTorch;
    };
    if (config.schedule.kind != ScheduleKind::OneCycle) // which has rates of its own
        small = compare(lrText, lr, usual.lr, info.torch.rate);
    if (info.has.epsilon)
        small = compare(phrase("Settings", "optimizer.eps %1"), given.eps, usual.eps,
                        info.torch.epsilon) ||
                small;
    if (info.has.alpha)
        compare(phrase("Settings", "optimizer.alpha %1"), given.alpha, usual.alpha,
                info.torch.alphaDefault);
    if (!small) return {};
    return {phrase("Settings",
                   "%1 has settings here that suit Adam: it may hardly learn. PyTorch's "
                   "defaults for it: %2."),
            info.torch.name, listed(parts)};
}

/// Without an epsilon, Adadelta's first step is zero, and so is each step after it.
bool standsStill(const RunConfig& config, const LaneConfig& lane) {
    return storesHalf(lane) && lane.rounding == WeightRounding::Nearest &&
           roundTo(*presetOf(lane.precision).model, config.optimizer.eps) == 0;
}

} // namespace

std::vector<Message> optimizerWarnings(const RunConfig& config) {
    const bool two = networksOf(config.model) > 1;
    std::vector<Message> warnings;
    const auto add = [&warnings](Message warning) {
        if (!warning.empty()) warnings.push_back(std::move(warning));
    };
    add(warningOfUsual(config, config.optimizer.kind, config.optimizer.lr,
                       phrase("Settings", "optimizer.lr %1")));
    if (two)
        add(warningOfUsual(config, config.second.kind, config.second.lr,
                           phrase("Settings", "optimizer.second_lr %1")));
    const bool adadelta = config.optimizer.kind == OptimizerKind::Adadelta ||
                          (two && config.second.kind == OptimizerKind::Adadelta);
    const auto still = [&](const LaneConfig& lane) { return standsStill(config, lane); };
    if (adadelta && std::ranges::any_of(config.lanes, still))
        add(phrase("Settings", "optimizer.eps is zero in float16: with Adadelta, float16 weights "
                               "never change then; 1e-6 is large enough."));
    return warnings;
}

} // namespace halfscope
