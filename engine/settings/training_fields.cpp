// The rows of the table of settings that shape a step of training: schedule, gradients.
#include "engine/settings/field_parts.h"

namespace halfscope {

using namespace field_parts;

namespace {

bool momentumCycles(const RunConfig& c) { return cyclesMomentum(c.schedule); }

auto isKind(ScheduleKind kind) {
    return [kind](const RunConfig& c) { return c.schedule.kind == kind; };
}

} // namespace

std::vector<Field> scheduleFields() {
    const auto cycle = isKind(ScheduleKind::OneCycle);
    const auto changes = [](const RunConfig& c) { return hasCourse(c.schedule); };
    const auto warms = [](const RunConfig& c) { return warmsUp(c.schedule); };
    return {
        oneOf(
            ofRun(
                {"schedule.kind", phrase("Settings", "Schedule"), kNoUnit,
                 phrase("Settings",
                        "How the learning rate changes. constant keeps the learning rate; "
                        "one-cycle warms up to a peak and then "
                        "anneals to far below the start; step, multi-step, exponential, polynomial "
                        "and cosine let the learning rate fall, and warm-restarts does so again "
                        "and again; linear takes it from one share of it to another; plateau "
                        "lets each lane's fall when its validation loss stops improving. "
                        "Skipped steps count, unless scaler.hold_schedule is on.")},
                [](auto& c) -> auto& { return c.schedule.kind; }),
            namesUpTo(ScheduleKind::Plateau)),
        when(cycle,
             in(ofRun(
                    {"schedule.max_lr", phrase("Settings", "Peak learning rate"), kNoUnit,
                     phrase("Settings",
                            "The highest learning rate, reached at the end of the warm-up.")},
                    [](auto& c) -> auto& { return c.schedule.maxLr; }),
                {0, 1000, Bound::AboveMinimum, true})),
        // The table of rates is on the device as float32: 32 MB at the maximum. The two falls of a
        // cosine's period are still counted exactly in float32.
        when(changes,
             in(ofRun(
                    {"schedule.total_steps", phrase("Settings", "Schedule length"),
                     phrase("Settings", "steps"),
                     phrase("Settings", "Number of steps of the whole schedule, where accumulated "
                                        "batches count as one; 0 means the length of the run. "
                                        "Afterwards the last learning rate stays. A cosine rises "
                                        "again over the same number of steps, as in PyTorch.")},
                    [](auto& c) -> auto& { return c.schedule.totalSteps; }),
                {0, kLongestSchedule, Bound::Closed, true})),
        when(warms,
             in(ofRun(
                    {"schedule.warmup_steps", phrase("Settings", "Warm-up"),
                     phrase("Settings", "steps"),
                     phrase("Settings",
                            "This many steps at the start of the schedule raise the learning rate "
                            "in a straight line; with 100, from a hundredth of it to all of it. "
                            "The steps that are left follow the schedule. 0: no warm-up.")},
                    [](auto& c) -> auto& { return c.schedule.warmupSteps; }),
                {0, kLongestSchedule - 1, Bound::Closed, true})),
    };
}

/// The other fields of one-cycle.
std::vector<Field> cycleFields() {
    const auto cycle = isKind(ScheduleKind::OneCycle);
    return {
        when(cycle, in(ofRun(
                           {"schedule.pct_start", phrase("Settings", "Warm-up share"), kNoUnit,
                            phrase("Settings",
                                   "The share of the cycle in which the learning rate rises.")},
                           [](auto& c) -> auto& { return c.schedule.pctStart; }),
                       {0, 1})),
        when(cycle, in(ofRun(
                           {"schedule.div_factor", phrase("Settings", "Start divisor"), kNoUnit,
                            phrase("Settings",
                                   "The cycle starts at the peak learning rate divided by this.")},
                           [](auto& c) -> auto& { return c.schedule.divFactor; }),
                       {1, 1e6, Bound::Closed, true})),
        when(cycle, in(ofRun(
                           {"schedule.final_div_factor", phrase("Settings", "End divisor"), kNoUnit,
                            phrase("Settings",
                                   "The cycle ends at its initial learning rate divided by this.")},
                           [](auto& c) -> auto& { return c.schedule.finalDivFactor; }),
                       {1, 1e12, Bound::Closed, true})),
        when(cycle,
             oneOf(ofRun(
                       {"schedule.anneal", phrase("Settings", "Annealing"), kNoUnit,
                        phrase("Settings", "The shape of the curve between start, peak and end.")},
                       [](auto& c) -> auto& { return c.schedule.anneal; }),
                   namesUpTo(Anneal::Linear))),
        when(cycle, ofRun(
                        {"schedule.three_phase", phrase("Settings", "Three phases"), kNoUnit,
                         phrase("Settings",
                                "After the peak, the learning rate returns to its initial value in "
                                "as many steps as it rose, then goes on to the end.")},
                        [](auto& c) -> auto& { return c.schedule.threePhase; })),
        when(cycle,
             ofRun(
                 {"schedule.cycle_momentum", phrase("Settings", "Cycle momentum"), kNoUnit,
                  phrase("Settings", "The momentum of the optimizer, or Adam's beta 1, falls while "
                                     "the learning rate rises, and vice versa.")},
                 [](auto& c) -> auto& { return c.schedule.cycleMomentum; })),
    };
}

/// The fields of schedules that fall at some steps, or after each.
std::vector<Field> decayFields() {
    const auto decays = [](const RunConfig& c) {
        using enum ScheduleKind;
        const ScheduleKind kind = c.schedule.kind;
        return kind == Step || kind == MultiStep || kind == Exponential || kind == Plateau;
    };
    Field milestones = when(
        isKind(ScheduleKind::MultiStep),
        ofRun(
            {"schedule.milestones", phrase("Settings", "Milestones"), phrase("Settings", "steps"),
             phrase("Settings", "After each of these numbers of steps the learning rate falls "
                                "once, for example 100, 200. The steps of a warm-up do not "
                                "count.")},
            [](auto& c) -> auto& { return c.schedule.milestones; }));
    milestones.check = [](const std::string& text) { milestonesOf(text); };
    milestones.allowed = phrase("Settings", "rising whole numbers, separated by commas");
    return {
        when(
            isKind(ScheduleKind::Step),
            in(ofRun(
                   {"schedule.step_size", phrase("Settings", "Step length"),
                    phrase("Settings", "steps"),
                    phrase("Settings", "The learning rate falls each time after this many steps.")},
                   [](auto& c) -> auto& { return c.schedule.stepSize; }),
               {1, 1e7, Bound::Closed, true})),
        std::move(milestones),
        when(decays,
             in(ofRun(
                    {"schedule.gamma", phrase("Settings", "Decay"), kNoUnit,
                     phrase("Settings", "The learning rate is multiplied by this: at each "
                                        "fall (step, multi-step, plateau; the latter has 0.1 in "
                                        "PyTorch), or after every step (exponential).")},
                    [](auto& c) -> auto& { return c.schedule.gamma; }),
                {0, 1, Bound::AboveMinimum})),
        when(
            isKind(ScheduleKind::Polynomial),
            in(ofRun(
                   {"schedule.power", phrase("Settings", "Power"), kNoUnit,
                    phrase("Settings", "The learning rate falls to 0 as this power of the share of "
                                       "the schedule that is left: 1 is a straight line, 2 falls "
                                       "fast at first and then slowly.")},
                   [](auto& c) -> auto& { return c.schedule.power; }),
               {0, 100, Bound::AboveMinimum, true})),
    };
}

/// The fields of schedules that fall along half a cosine.
std::vector<Field> cosineFields() {
    const auto restarts = isKind(ScheduleKind::WarmRestarts);
    const auto falls = [](const RunConfig& c) {
        return c.schedule.kind == ScheduleKind::Cosine ||
               c.schedule.kind == ScheduleKind::WarmRestarts ||
               c.schedule.kind == ScheduleKind::Plateau;
    };
    return {
        when(falls, in(ofRun(
                           {"schedule.min_lr", phrase("Settings", "Lowest learning rate"), kNoUnit,
                            phrase("Settings", "The learning rate at the end of the half cosine, "
                                               "from where it rises again (cosine) or starts again "
                                               "at the top (warm-restarts); with plateau, the rate "
                                               "falls no further than this.")},
                           [](auto& c) -> auto& { return c.schedule.minLr; }),
                       {0, 1000, Bound::Closed, true})),
        when(restarts,
             in(ofRun(
                    {"schedule.period", phrase("Settings", "First period"),
                     phrase("Settings", "steps"),
                     phrase("Settings", "Number of steps in which the learning rate falls before "
                                        "it first starts again at the top (T_0 in PyTorch).")},
                    [](auto& c) -> auto& { return c.schedule.period; }),
                {1, 1e7, Bound::Closed, true})),
        when(restarts,
             in(ofRun(
                    {"schedule.period_factor", phrase("Settings", "Period factor"), kNoUnit,
                     phrase("Settings", "Each period has this many times as many steps as the one "
                                        "before (T_mult in PyTorch).")},
                    [](auto& c) -> auto& { return c.schedule.periodFactor; }),
                {1, 100})),
    };
}

/// The fields of the schedule that follows the validation.
std::vector<Field> plateauFields() {
    const auto plateau = isKind(ScheduleKind::Plateau);
    return {
        when(plateau,
             in(ofRun(
                    {"schedule.patience", phrase("Settings", "Patience"),
                     phrase("Settings", "validations"),
                     phrase("Settings", "How many validations in a row may pass without a lower "
                                        "loss; after one more, the learning rate falls.")},
                    [](auto& c) -> auto& { return c.schedule.patience; }),
                {0, 1e6, Bound::Closed, true})),
        when(plateau,
             in(ofRun(
                    {"schedule.threshold", phrase("Settings", "Least improvement"), kNoUnit,
                     phrase("Settings", "A validation loss counts as lower if it is below the "
                                        "lowest so far by more than this share of it.")},
                    [](auto& c) -> auto& { return c.schedule.threshold; }),
                {0, 1, Bound::BelowMaximum, true})),
        when(plateau,
             in(ofRun(
                    {"schedule.cooldown", phrase("Settings", "Cooldown"),
                     phrase("Settings", "validations"),
                     phrase("Settings", "How many validations after a fall are not counted.")},
                    [](auto& c) -> auto& { return c.schedule.cooldown; }),
                {0, 1e6, Bound::Closed, true})),
    };
}

/// The momentum of one-cycle, and the fields of linear.
std::vector<Field> specialScheduleFields() {
    const auto linear = isKind(ScheduleKind::Linear);
    return {
        when(momentumCycles,
             in(ofRun(
                    {"schedule.base_momentum", phrase("Settings", "Lowest momentum"), kNoUnit,
                     phrase("Settings", "The momentum at the peak of the learning rate.")},
                    [](auto& c) -> auto& { return c.schedule.baseMomentum; }),
                {0, 1, Bound::BelowMaximum})),
        when(momentumCycles,
             in(ofRun(
                    {"schedule.max_momentum", phrase("Settings", "Highest momentum"), kNoUnit,
                     phrase("Settings", "The momentum at the start and at the end of the cycle.")},
                    [](auto& c) -> auto& { return c.schedule.maxMomentum; }),
                {0, 1, Bound::BelowMaximum})),
        when(linear,
             in(ofRun(
                    {"schedule.start_factor", phrase("Settings", "Start factor"), kNoUnit,
                     phrase("Settings", "The schedule starts at the learning rate times this.")},
                    [](auto& c) -> auto& { return c.schedule.startFactor; }),
                {0, 1, Bound::AboveMinimum})),
        when(linear,
             in(ofRun(
                    {"schedule.end_factor", phrase("Settings", "End factor"), kNoUnit,
                     phrase("Settings", "The schedule ends at the learning rate times this.")},
                    [](auto& c) -> auto& { return c.schedule.endFactor; }),
                {0, 1})),
    };
}

std::vector<Field> gradientFields() {
    const auto clips = [](const RunConfig& c) { return c.gradients.clip != ClipKind::None; };
    const auto slopes = [](const RunConfig& c) { return c.model.adversary == Adversary::WganGp; };
    const auto penalised = [](const RunConfig& c) { return c.gradients.penalty != 0; };
    return {
        oneOf(ofRun(
                  {"gradients.clip", phrase("Settings", "Clipping"), kNoUnit,
                   phrase("Settings",
                          "Clipping follows unscaling, so the limit applies to the true gradients. "
                          "norm and norm-inf shorten all gradients together (by L2 norm or largest "
                          "magnitude); value limits each element.")},
                  [](auto& c) -> auto& { return c.gradients.clip; }),
              namesUpTo(ClipKind::Value)),
        live(FieldApply::Training,
             when(clips,
                  in(ofRun(
                         {"gradients.clip_limit", phrase("Settings", "Clipping limit"), kNoUnit,
                          phrase(
                              "Settings",
                              "The largest norm allowed, or the largest magnitude of an element.")},
                         [](auto& c) -> auto& { return c.gradients.clipLimit; }),
                     {0, 1e6, Bound::AboveMinimum, true}))),
        in(ofRun(
               {"gradients.accumulate", phrase("Settings", "Accumulate"),
                phrase("Settings", "batches"),
                phrase("Settings",
                       "The gradients of this many batches add up before one update, as if the "
                       "batch were that much larger. The loss scale does not change in between.")},
               [](auto& c) -> auto& { return c.gradients.accumulate; }),
           {1, 1e6, Bound::Closed, true}),
        live(FieldApply::Training,
             in(ofRun(
                    {"gradients.penalty", phrase("Settings", "Gradient penalty"), kNoUnit,
                     phrase("Settings",
                            "Weight of the L2 norm of the gradient, which is added to the loss. "
                            "Its own gradient takes a second backward pass. 0: no penalty.")},
                    [](auto& c) -> auto& { return c.gradients.penalty; }),
                {0, 1e6})),
        live(FieldApply::Training,
             when(penalised,
                  in(ofRun(
                         {"gradients.penalty_eps", phrase("Settings", "Penalty epsilon"), kNoUnit,
                          phrase("Settings",
                                 "Added under the square root of the penalty, which has an "
                                 "infinite slope at a gradient of zero. PyTorch's recipe adds 0.")},
                         [](auto& c) -> auto& { return c.gradients.penaltyEps; }),
                     {0, 1, Bound::Closed, true}))),
        when(slopes,
             in(ofRun(
                    {"gradients.critic_penalty", phrase("Settings", "Slope penalty"), kNoUnit,
                     phrase("Settings",
                            "Weight of the mean squared difference between the critic's slope "
                            "and 1, taken at points between targets and predictions.")},
                    [](auto& c) -> auto& { return c.gradients.criticPenalty; }),
                {0, 1e6})),
    };
}

} // namespace halfscope
