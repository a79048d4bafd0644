// The rows of the table of settings for optimizers.
#include "engine/settings/field_parts.h"

namespace halfscope {

using namespace field_parts;

namespace {

bool twoNetworks(const RunConfig& c) { return networksOf(c.model) > 1; }

/// Makes a test for whether any optimizer of the run has a setting.
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
        describing(
            kOptimizers,
            oneOf(ofRun(
                      {"optimizer.kind", phrase("Settings", "Optimizer"), kNoUnit,
                       phrase("Settings", "The rule by which gradients change the weights.")},
                      [](auto& c) -> auto& { return c.optimizer.kind; }),
                  namesUpTo(kOptimizers.back().kind))),
        live(
            FieldApply::Rates,
            when(ownRate, in(ofRun(
                                 {"optimizer.lr", phrase("Settings", "Learning rate"), kNoUnit,
                                  phrase("Settings",
                                         "The size of a step. Schedules start from it; the "
                                         "one-cycle schedule replaces it with values of its own.")},
                                 [](auto& c) -> auto& { return c.optimizer.lr; }),
                             {0, 1000, Bound::Closed, true}))),
        live(FieldApply::Training,
             when(has(&OptimizerSettings::betas),
                  in(ofRun(
                         {"optimizer.beta1", phrase("Settings", "Beta 1"), kNoUnit,
                          phrase("Settings", "Decay of the running mean of gradients, which "
                                             "remembers about 1 / (1 - beta1) steps.")},
                         [](auto& c) -> auto& { return c.optimizer.beta1; }),
                     {0, 1, Bound::BelowMaximum}))),
        live(FieldApply::Training,
             when(has(&OptimizerSettings::betas),
                  in(ofRun(
                         {"optimizer.beta2", phrase("Settings", "Beta 2"), kNoUnit,
                          phrase("Settings", "Decay of the running mean of squared gradients (of "
                                             "the largest gradient with Adamax), which remembers "
                                             "about 1 / (1 - beta2) steps.")},
                         [](auto& c) -> auto& { return c.optimizer.beta2; }),
                     {0, 1, Bound::BelowMaximum}))),
        live(FieldApply::Training,
             when(has(&OptimizerSettings::epsilon),
                  in(ofRun(
                         {"optimizer.eps", phrase("Settings", "Epsilon"), kNoUnit,
                          phrase("Settings",
                                 "Keeps an update from dividing by zero. The usual 1e-8 is zero in "
                                 "float16, so pure fp16 training can divide by zero.")},
                         [](auto& c) -> auto& { return c.optimizer.eps; }),
                     {0, 1, Bound::Closed, true}))),
        live(FieldApply::Training,
             in(ofRun(
                    {"optimizer.weight_decay", phrase("Settings", "Weight decay"), kNoUnit,
                     phrase("Settings", "Pulls the weights towards zero at each step. A skipped "
                                        "step does not decay them.")},
                    [](auto& c) -> auto& { return c.optimizer.weightDecay; }),
                {0, 1000, Bound::Closed, true})),
    };
}

/// The fields that only some optimizers have.
std::vector<Field> specialOptimizerFields() {
    return {
        live(FieldApply::Training,
             when(has(&OptimizerSettings::momentum),
                  in(ofRun(
                         {"optimizer.momentum", phrase("Settings", "Momentum"), kNoUnit,
                          phrase("Settings", "The share of the last update that SGD or RMSprop "
                                             "carries into the next one; 0 carries nothing over.")},
                         [](auto& c) -> auto& { return c.optimizer.momentum; }),
                     {0, 1, Bound::BelowMaximum}))),
        live(FieldApply::Training,
             when(has(&OptimizerSettings::nesterov),
                  in(ofRun(
                         {"optimizer.dampening", phrase("Settings", "Dampening"), kNoUnit,
                          phrase("Settings", "Reduces the share of each new gradient in SGD's "
                                             "momentum by this much.")},
                         [](auto& c) -> auto& { return c.optimizer.dampening; }),
                     {0, 1, Bound::BelowMaximum}))),
        when(has(&OptimizerSettings::nesterov),
             ofRun(
                 {"optimizer.nesterov", phrase("Settings", "Nesterov"), kNoUnit,
                  phrase("Settings", "SGD looks ahead along its momentum. It needs a momentum "
                                     "above 0 and a dampening of 0.")},
                 [](auto& c) -> auto& { return c.optimizer.nesterov; })),
        when(has(&OptimizerSettings::amsgrad),
             ofRun(
                 {"optimizer.amsgrad", phrase("Settings", "AMSGrad"), kNoUnit,
                  phrase("Settings", "Adam divides by the largest mean square so far instead of "
                                     "the latest one, so its steps never grow.")},
                 [](auto& c) -> auto& { return c.optimizer.amsgrad; })),
        live(FieldApply::Training,
             when(has(&OptimizerSettings::alpha),
                  in(ofRun(
                         {"optimizer.alpha", phrase("Settings", "Alpha"), kNoUnit,
                          phrase("Settings",
                                 "Decay of the running mean of squared gradients; PyTorch's "
                                 "Adadelta calls it rho.")},
                         [](auto& c) -> auto& { return c.optimizer.alpha; }),
                     {0, 1, Bound::BelowMaximum}))),
        when(has(&OptimizerSettings::centered),
             ofRun(
                 {"optimizer.centered", phrase("Settings", "Centred"), kNoUnit,
                  phrase(
                      "Settings",
                      "RMSprop divides by the spread of the gradients around their running mean.")},
                 [](auto& c) -> auto& { return c.optimizer.centered; })),
    };
}

/// The fields that a second network's optimizer has of its own.
std::vector<Field> secondOptimizerFields() {
    const auto secondRate = [](const RunConfig& c) {
        return twoNetworks(c) && c.schedule.kind != ScheduleKind::OneCycle;
    };
    return {
        when(
            twoNetworks,
            explaining(
                kOptimizers,
                oneOf(ofRun(
                          {"optimizer.second_kind", phrase("Settings", "Second optimizer"), kNoUnit,
                           phrase("Settings",
                                  "The optimizer of the second network. It shares the other "
                                  "settings of the first one, and skips steps on its own.")},
                          [](auto& c) -> auto& { return c.second.kind; }),
                      namesUpTo(kOptimizers.back().kind)))),
        live(
            FieldApply::Rates,
            when(secondRate,
                 in(ofRun(
                        {"optimizer.second_lr", phrase("Settings", "Second learning rate"), kNoUnit,
                         phrase("Settings", "The size of a step of the second optimizer.")},
                        [](auto& c) -> auto& { return c.second.lr; }),
                    {0, 1000, Bound::Closed, true}))),
    };
}

} // namespace halfscope
