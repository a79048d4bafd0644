// The rows of the table of settings that shape a step of training: optimizer, schedule, gradients.
#include "engine/settings/field_parts.h"

namespace halfscope {

using namespace field_parts;

namespace {

bool twoNetworks(const RunConfig& c) { return c.model.networks > 1; }

bool uses(const RunConfig& c, OptimizerKind kind) {
    return c.optimizer.kind == kind || (twoNetworks(c) && c.second.kind == kind);
}
bool isAdam(const RunConfig& c) {
    return uses(c, OptimizerKind::Adam) || uses(c, OptimizerKind::AdamW);
}
bool usesSgd(const RunConfig& c) { return uses(c, OptimizerKind::Sgd); }
bool usesRms(const RunConfig& c) { return uses(c, OptimizerKind::RmsProp); }
bool momentumCycles(const RunConfig& c) { return cyclesMomentum(c.schedule); }

auto isKind(ScheduleKind kind) {
    return [kind](const RunConfig& c) { return c.schedule.kind == kind; };
}

} // namespace

std::vector<Field> optimizerFields() {
    const auto ownRate = [](const RunConfig& c) {
        return c.schedule.kind != ScheduleKind::OneCycle;
    };
    const auto divides = [](const RunConfig& c) { return isAdam(c) || usesRms(c); };
    return {
        oneOf(ofRun(
                  {"optimizer.kind", "Optimizer", "",
                   "adam adds weight decay to the gradient; adamw applies it to the weights "
                   "directly; sgd is gradient descent with momentum; rmsprop divides the gradient "
                   "by a running average of its size."},
                  [](auto& c) -> auto& { return c.optimizer.kind; }),
              namesUpTo(OptimizerKind::RmsProp)),
        live(FieldApply::Rates,
             when(ownRate, in(ofRun(
                                  {"optimizer.lr", "Learning rate", "",
                                   "The size of a step. Schedules start from it; the one-cycle "
                                   "schedule replaces it with values of its own."},
                                  [](auto& c) -> auto& { return c.optimizer.lr; }),
                              {0, 1000, Bound::Closed, true}))),
        live(FieldApply::Training,
             when(isAdam,
                  in(ofRun(
                         {"optimizer.beta1", "Beta 1", "",
                          "Decay of Adam's running mean of gradients, which remembers about 1 / "
                          "(1 - beta1) steps."},
                         [](auto& c) -> auto& { return c.optimizer.beta1; }),
                     {0, 1, Bound::BelowMaximum}))),
        live(FieldApply::Training,
             when(isAdam,
                  in(ofRun(
                         {"optimizer.beta2", "Beta 2", "",
                          "Decay of Adam's running mean of squared gradients, which remembers "
                          "about 1 / (1 - beta2) steps."},
                         [](auto& c) -> auto& { return c.optimizer.beta2; }),
                     {0, 1, Bound::BelowMaximum}))),
        live(FieldApply::Training,
             when(divides,
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
    const auto remembers = [](const RunConfig& c) { return usesSgd(c) || usesRms(c); };
    return {
        live(FieldApply::Training,
             when(remembers,
                  in(ofRun(
                         {"optimizer.momentum", "Momentum", "",
                          "The share of the last update that SGD or RMSprop carries into the "
                          "next one; 0 carries nothing over."},
                         [](auto& c) -> auto& { return c.optimizer.momentum; }),
                     {0, 1, Bound::BelowMaximum}))),
        live(FieldApply::Training,
             when(usesSgd,
                  in(ofRun(
                         {"optimizer.dampening", "Dampening", "",
                          "Reduces the share of each new gradient in SGD's momentum by this much."},
                         [](auto& c) -> auto& { return c.optimizer.dampening; }),
                     {0, 1, Bound::BelowMaximum}))),
        when(usesSgd, ofRun(
                          {"optimizer.nesterov", "Nesterov", "",
                           "SGD looks ahead along its momentum. It needs a momentum above 0 and a "
                           "dampening of 0."},
                          [](auto& c) -> auto& { return c.optimizer.nesterov; })),
        when(isAdam, ofRun(
                         {"optimizer.amsgrad", "AMSGrad", "",
                          "Adam divides by the largest mean square so far instead of the latest "
                          "one, so its steps never grow."},
                         [](auto& c) -> auto& { return c.optimizer.amsgrad; })),
        live(FieldApply::Training,
             when(usesRms, in(ofRun(
                                  {"optimizer.alpha", "Alpha", "",
                                   "Decay of RMSprop's running mean of squared gradients."},
                                  [](auto& c) -> auto& { return c.optimizer.alpha; }),
                              {0, 1, Bound::BelowMaximum}))),
        when(usesRms,
             ofRun(
                 {"optimizer.centered", "Centred", "",
                  "RMSprop divides by the spread of the gradients around their running mean."},
                 [](auto& c) -> auto& { return c.optimizer.centered; })),
        when(twoNetworks, oneOf(ofRun(
                                    {"optimizer.second_kind", "Second optimizer", "",
                                     "The optimizer of the second network. It shares the other "
                                     "settings of the first one, and skips steps on its own."},
                                    [](auto& c) -> auto& { return c.second.kind; }),
                                namesUpTo(OptimizerKind::RmsProp))),
        live(FieldApply::Rates,
             when(secondRate, in(ofRun(
                                     {"optimizer.second_lr", "Second learning rate", "",
                                      "The size of a step of the second optimizer."},
                                     [](auto& c) -> auto& { return c.second.lr; }),
                                 {0, 1000, Bound::Closed, true}))),
    };
}

std::vector<Field> scheduleFields() {
    const auto cycle = isKind(ScheduleKind::OneCycle);
    const auto changes = [](const RunConfig& c) {
        return c.schedule.kind != ScheduleKind::Constant;
    };
    return {
        oneOf(ofRun(
                  {"schedule.kind", "Schedule", "",
                   "constant keeps the learning rate; one-cycle warms up to a peak and then "
                   "anneals to far below the start; the others fall or rise from the learning "
                   "rate. A schedule advances on skipped steps too."},
                  [](auto& c) -> auto& { return c.schedule.kind; }),
              namesUpTo(ScheduleKind::Linear)),
        when(cycle, in(ofRun(
                           {"schedule.max_lr", "Peak learning rate", "",
                            "The highest learning rate, reached at the end of the warm-up."},
                           [](auto& c) -> auto& { return c.schedule.maxLr; }),
                       {0, 1000, Bound::AboveMinimum, true})),
        // The table of rates lies on the device as float32: 32 MB at the maximum, and the two falls
        // of a cosine's period still count exactly in float32.
        when(changes,
             in(ofRun(
                    {"schedule.total_steps", "Schedule length", "steps",
                     "Number of steps of the whole schedule, where accumulated batches count as "
                     "one; 0 means the length of the run. Afterwards the last learning rate stays. "
                     "A cosine rises again over the same number of steps, as in PyTorch."},
                    [](auto& c) -> auto& { return c.schedule.totalSteps; }),
                {0, kLongestSchedule, Bound::Closed, true})),
        when(cycle, in(ofRun(
                           {"schedule.pct_start", "Warm-up share", "",
                            "The share of the cycle in which the learning rate rises."},
                           [](auto& c) -> auto& { return c.schedule.pctStart; }),
                       {0, 1})),
        when(cycle, in(ofRun(
                           {"schedule.div_factor", "Start divisor", "",
                            "The cycle starts at the peak learning rate divided by this."},
                           [](auto& c) -> auto& { return c.schedule.divFactor; }),
                       {1, 1e6, Bound::Closed, true})),
        when(cycle, in(ofRun(
                           {"schedule.final_div_factor", "End divisor", "",
                            "The cycle ends at its initial learning rate divided by this."},
                           [](auto& c) -> auto& { return c.schedule.finalDivFactor; }),
                       {1, 1e12, Bound::Closed, true})),
        when(cycle, oneOf(ofRun(
                              {"schedule.anneal", "Annealing", "",
                               "The shape of the curve between start, peak and end."},
                              [](auto& c) -> auto& { return c.schedule.anneal; }),
                          namesUpTo(Anneal::Linear))),
        when(cycle, ofRun(
                        {"schedule.three_phase", "Three phases", "",
                         "After the peak, the learning rate returns to its initial value in as "
                         "many steps as it rose, then goes on to the end."},
                        [](auto& c) -> auto& { return c.schedule.threePhase; })),
        when(cycle, ofRun(
                        {"schedule.cycle_momentum", "Cycle momentum", "",
                         "The momentum of the optimizer, or Adam's beta 1, falls while the "
                         "learning rate rises, and vice versa."},
                        [](auto& c) -> auto& { return c.schedule.cycleMomentum; })),
    };
}

/// The fields that only one kind of schedule has.
std::vector<Field> specialScheduleFields() {
    const auto steps = isKind(ScheduleKind::Step);
    const auto linear = isKind(ScheduleKind::Linear);
    const auto decays = [](const RunConfig& c) {
        return c.schedule.kind == ScheduleKind::Step ||
               c.schedule.kind == ScheduleKind::Exponential;
    };
    return {
        when(momentumCycles, in(ofRun(
                                    {"schedule.base_momentum", "Lowest momentum", "",
                                     "The momentum at the peak of the learning rate."},
                                    [](auto& c) -> auto& { return c.schedule.baseMomentum; }),
                                {0, 1, Bound::BelowMaximum})),
        when(momentumCycles, in(ofRun(
                                    {"schedule.max_momentum", "Highest momentum", "",
                                     "The momentum at the start and at the end of the cycle."},
                                    [](auto& c) -> auto& { return c.schedule.maxMomentum; }),
                                {0, 1, Bound::BelowMaximum})),
        when(steps, in(ofRun(
                           {"schedule.step_size", "Step length", "steps",
                            "The learning rate falls each time after this many steps."},
                           [](auto& c) -> auto& { return c.schedule.stepSize; }),
                       {1, 1e7, Bound::Closed, true})),
        when(decays, in(ofRun(
                            {"schedule.gamma", "Decay", "",
                             "The learning rate is multiplied by this: at each fall (step), or "
                             "after every step (exponential)."},
                            [](auto& c) -> auto& { return c.schedule.gamma; }),
                        {0, 1, Bound::AboveMinimum})),
        when(isKind(ScheduleKind::Cosine),
             in(ofRun(
                    {"schedule.min_lr", "Lowest learning rate", "",
                     "The learning rate at the end of the half cosine, from where it rises again."},
                    [](auto& c) -> auto& { return c.schedule.minLr; }),
                {0, 1000, Bound::Closed, true})),
        when(linear, in(ofRun(
                            {"schedule.start_factor", "Start factor", "",
                             "The schedule starts at the learning rate times this."},
                            [](auto& c) -> auto& { return c.schedule.startFactor; }),
                        {0, 1, Bound::AboveMinimum})),
        when(linear, in(ofRun(
                            {"schedule.end_factor", "End factor", "",
                             "The schedule ends at the learning rate times this."},
                            [](auto& c) -> auto& { return c.schedule.endFactor; }),
                        {0, 1})),
    };
}

std::vector<Field> gradientFields() {
    const auto clips = [](const RunConfig& c) { return c.gradients.clip != ClipKind::None; };
    const auto penalised = [](const RunConfig& c) { return c.gradients.penalty != 0; };
    return {
        oneOf(ofRun(
                  {"gradients.clip", "Clipping", "",
                   "Clipping follows unscaling, so the limit applies to the true gradients. norm "
                   "and norm-inf shorten all gradients together (by L2 norm or largest magnitude); "
                   "value limits each element."},
                  [](auto& c) -> auto& { return c.gradients.clip; }),
              namesUpTo(ClipKind::Value)),
        live(FieldApply::Training,
             when(clips,
                  in(ofRun(
                         {"gradients.clip_limit", "Clipping limit", "",
                          "The largest norm allowed, or the largest magnitude of an element."},
                         [](auto& c) -> auto& { return c.gradients.clipLimit; }),
                     {0, 1e6, Bound::AboveMinimum, true}))),
        in(ofRun(
               {"gradients.accumulate", "Accumulate", "batches",
                "The gradients of this many batches add up before one update, as if the batch were "
                "that much larger. The loss scale does not change in between."},
               [](auto& c) -> auto& { return c.gradients.accumulate; }),
           {1, 1e6, Bound::Closed, true}),
        live(FieldApply::Training,
             in(ofRun(
                    {"gradients.penalty", "Gradient penalty", "",
                     "Weight of the L2 norm of the gradient, which is added to the loss. Its own "
                     "gradient takes a second backward pass. 0: no penalty."},
                    [](auto& c) -> auto& { return c.gradients.penalty; }),
                {0, 1e6})),
        live(FieldApply::Training,
             when(penalised,
                  in(ofRun(
                         {"gradients.penalty_eps", "Penalty epsilon", "",
                          "Added under the square root of the penalty, which has an infinite "
                          "slope at a gradient of zero. PyTorch's recipe adds 0."},
                         [](auto& c) -> auto& { return c.gradients.penaltyEps; }),
                     {0, 1, Bound::Closed, true}))),
    };
}

} // namespace halfscope
