// The rows of the table of settings for optimizers.
#include "engine/settings/field_parts.h"

namespace halfscope {

using namespace field_parts;

namespace {

bool twoNetworks(const RunConfig& c) { return c.model.networks > 1; }

/// Whether an optimizer of the run has a setting.
auto has(bool OptimizerSettings::*setting) {
    return [setting](const RunConfig& c) {
        return infoOf(c.optimizer.kind).has.*setting ||
               (twoNetworks(c) && infoOf(c.second.kind).has.*setting);
    };
}

} // namespace

std::vector<Field> optimizerFields() {
    const auto ownRate = [](const RunConfig& c) {
        return c.schedule.kind != ScheduleKind::OneCycle;
    };
    return {
        describing(kOptimizers, oneOf(ofRun(
                                          {"optimizer.kind", "Optimizer", "",
                                           "The rule by which gradients change the weights."},
                                          [](auto& c) -> auto& { return c.optimizer.kind; }),
                                      namesUpTo(kOptimizers.back().kind))),
        live(FieldApply::Rates,
             when(ownRate, in(ofRun(
                                  {"optimizer.lr", "Learning rate", "",
                                   "The size of a step. Schedules start from it; the one-cycle "
                                   "schedule replaces it with values of its own."},
                                  [](auto& c) -> auto& { return c.optimizer.lr; }),
                              {0, 1000, Bound::Closed, true}))),
        live(FieldApply::Training,
             when(has(&OptimizerSettings::betas),
                  in(ofRun(
                         {"optimizer.beta1", "Beta 1", "",
                          "Decay of Adam's running mean of gradients, which remembers about 1 / "
                          "(1 - beta1) steps."},
                         [](auto& c) -> auto& { return c.optimizer.beta1; }),
                     {0, 1, Bound::BelowMaximum}))),
        live(FieldApply::Training,
             when(has(&OptimizerSettings::betas),
                  in(ofRun(
                         {"optimizer.beta2", "Beta 2", "",
                          "Decay of Adam's running mean of squared gradients, which remembers "
                          "about 1 / (1 - beta2) steps."},
                         [](auto& c) -> auto& { return c.optimizer.beta2; }),
                     {0, 1, Bound::BelowMaximum}))),
        live(FieldApply::Training,
             when(has(&OptimizerSettings::epsilon),
                  in(ofRun(
                         {"optimizer.eps", "Epsilon", "",
                          "Keeps Adam and RMSprop from dividing by zero. The usual 1e-8 is zero in "
                          "float16, so pure fp16 training can divide by zero."},
                         [](auto& c) -> auto& { return c.optimizer.eps; }),
                     {0, 1, Bound::Closed, true}))),
        live(FieldApply::Training, in(ofRun(
                                          {"optimizer.weight_decay", "Weight decay", "",
                                           "Pulls the weights towards zero at each step. A skipped "
                                           "step does not decay them."},
                                          [](auto& c) -> auto& { return c.optimizer.weightDecay; }),
                                      {0, 1000, Bound::Closed, true})),
    };
}

/// The fields that only some optimizers have, and the second optimizer.
std::vector<Field> specialOptimizerFields() {
    const auto secondRate = [](const RunConfig& c) {
        return twoNetworks(c) && c.schedule.kind != ScheduleKind::OneCycle;
    };
    return {
        live(FieldApply::Training,
             when(has(&OptimizerSettings::momentum),
                  in(ofRun(
                         {"optimizer.momentum", "Momentum", "",
                          "The share of the last update that SGD or RMSprop carries into the "
                          "next one; 0 carries nothing over."},
                         [](auto& c) -> auto& { return c.optimizer.momentum; }),
                     {0, 1, Bound::BelowMaximum}))),
        live(FieldApply::Training,
             when(has(&OptimizerSettings::nesterov),
                  in(ofRun(
                         {"optimizer.dampening", "Dampening", "",
                          "Reduces the share of each new gradient in SGD's momentum by this much."},
                         [](auto& c) -> auto& { return c.optimizer.dampening; }),
                     {0, 1, Bound::BelowMaximum}))),
        when(has(&OptimizerSettings::nesterov),
             ofRun(
                 {"optimizer.nesterov", "Nesterov", "",
                  "SGD looks ahead along its momentum. It needs a momentum above 0 and a "
                  "dampening of 0."},
                 [](auto& c) -> auto& { return c.optimizer.nesterov; })),
        when(has(&OptimizerSettings::betas),
             ofRun(
                 {"optimizer.amsgrad", "AMSGrad", "",
                  "Adam divides by the largest mean square so far instead of the latest "
                  "one, so its steps never grow."},
                 [](auto& c) -> auto& { return c.optimizer.amsgrad; })),
        live(FieldApply::Training,
             when(has(&OptimizerSettings::alpha),
                  in(ofRun(
                         {"optimizer.alpha", "Alpha", "",
                          "Decay of RMSprop's running mean of squared gradients."},
                         [](auto& c) -> auto& { return c.optimizer.alpha; }),
                     {0, 1, Bound::BelowMaximum}))),
        when(has(&OptimizerSettings::alpha),
             ofRun(
                 {"optimizer.centered", "Centred", "",
                  "RMSprop divides by the spread of the gradients around their running mean."},
                 [](auto& c) -> auto& { return c.optimizer.centered; })),
        when(twoNetworks, oneOf(ofRun(
                                    {"optimizer.second_kind", "Second optimizer", "",
                                     "The optimizer of the second network. It shares the other "
                                     "settings of the first one, and skips steps on its own."},
                                    [](auto& c) -> auto& { return c.second.kind; }),
                                namesUpTo(kOptimizers.back().kind))),
        live(FieldApply::Rates,
             when(secondRate, in(ofRun(
                                     {"optimizer.second_lr", "Second learning rate", "",
                                      "The size of a step of the second optimizer."},
                                     [](auto& c) -> auto& { return c.second.lr; }),
                                 {0, 1000, Bound::Closed, true}))),
    };
}

} // namespace halfscope
