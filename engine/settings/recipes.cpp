// The settings of each recipe. The step itself is in step_graph, clip, penalty, schedule and
// optimizer.
#include "engine/settings/recipes.h"

#include <cmath>

namespace halfscope {

namespace {

constexpr Phrase kSteps = phrase("Presets", "Recipes: steps");
constexpr Phrase kClipping = phrase("Presets", "Recipes: clipping");
constexpr Phrase kSchedules = phrase("Presets", "Recipes: schedules");
constexpr Phrase kOptimizers = phrase("Presets", "Recipes: optimizers");

/// A regression like the preset of that name, short enough to watch. Its first steps overflow at
/// the usual initial scale, so that every recipe shows what it does on a skipped step.
Preset recipe(const char* name, Phrase group, Phrase title, Phrase about) {
    Preset made{name, group, title, about, defaultConfig()};
    made.config.title = title.text();
    made.config.lanes = parseLanes("fp32,amp-fp16");
    made.config.task.kind = TaskKind::Regression;
    made.config.model = {20, 1, Norm::None, Activation::Relu};
    made.config.steps = 300;
    made.config.pace = kWatchedPace;
    return made;
}

Preset plain() {
    return recipe("recipe-plain", kSteps, phrase("Presets", "Plain step"),
                  phrase("Presets",
                         "Autocast around the forward pass and the loss, then scale, backward, "
                         "step and update, as in PyTorch's first example of mixed precision."));
}

Preset accumulation() {
    Preset made =
        recipe("recipe-accumulate", kSteps, phrase("Presets", "Accumulation"),
               phrase("Presets", "Four batches of 16 make one update: scaled gradients add up, and "
                                 "scale, check and step wait for the last one."));
    made.config.task.batch = 16;
    made.config.gradients.accumulate = 4;
    made.config.steps = 1200;
    made.config.pace = 4 * kWatchedPace; // as many updates per second as in the others
    return made;
}

Preset penalty() {
    Preset made = recipe(
        "recipe-penalty", kSteps, phrase("Presets", "Gradient penalty"),
        phrase("Presets", "The norm of the gradient is added to the loss: scaled gradients, "
                          "unscaled for the norm, then a second backward pass through both."));
    made.config.gradients.penalty = 1;
    return made;
}

Preset twoOptimizers() {
    Preset made = recipe(
        "recipe-two-optimizers", kSteps, phrase("Presets", "Two optimizers"),
        phrase(
            "Presets",
            "Two networks, two losses over both outputs, Adam and SGD: the scale probes its limit "
            "every 20 steps, and when only one optimizer skips, the scale still falls for both."));
    made.config.model.networks = 2;
    made.config.second = {OptimizerKind::Sgd, 1e-5};
    made.config.lanes[1].scaler.rules.growthInterval = 20; // else nearly all skips come together
    return made;
}

/// Plain gradient descent at a learning rate at which the weights overflow unless gradients are
/// clipped: without clipping no loss scale helps, and the scaler takes it down to 0.
Preset clipped(const char* name, Phrase title, Phrase about, ClipKind kind, double limit) {
    Preset made = recipe(name, kClipping, title, about);
    made.config.optimizer.kind = OptimizerKind::Sgd;
    made.config.optimizer.momentum = 0;
    made.config.optimizer.lr = 0.2;
    made.config.gradients.clip = kind;
    made.config.gradients.clipLimit = limit;
    return made;
}

Preset oneCycle() {
    Preset made = recipe(
        "recipe-onecycle", kSchedules, phrase("Presets", "One cycle"),
        phrase("Presets", "The learning rate rises to a peak and falls again while Adam's beta 1 "
                          "runs against it; the schedule advances on skipped steps too."));
    made.config.schedule.kind = ScheduleKind::OneCycle;
    made.config.schedule.cycleMomentum = true;
    return made;
}

Preset oneCycleLinear() {
    Preset made = oneCycle();
    made.name = "recipe-onecycle-linear";
    made.title = phrase("Presets", "One cycle, linear");
    made.config.title = made.title.text();
    made.about = phrase(
        "Presets", "SGD's learning rate goes up and down in straight lines, its momentum down from "
                   "0.95 and up again; AMP, whose first steps are skipped, starts on the way up.");
    made.config.optimizer.kind = OptimizerKind::Sgd;
    made.config.schedule.anneal = Anneal::Linear;
    return made;
}

Preset oneCycleThreePhase() {
    Preset made = oneCycle();
    made.name = "recipe-onecycle-three-phase";
    made.title = phrase("Presets", "One cycle, 3 phases");
    made.config.title = made.title.text();
    made.about =
        phrase("Presets",
               "Up, down in the same number of steps, then on to nearly zero: the last updates are "
               "too small for float16, and only float32 weights, which AMP keeps, still move.");
    made.config.schedule.threePhase = true;
    return made;
}

/// Adam at ten times its usual learning rate, so that its decay shows.
Preset scheduled(const char* name, Phrase title, Phrase about, ScheduleKind kind) {
    Preset made = recipe(name, kSchedules, title, about);
    made.config.optimizer.lr = 1e-2;
    made.config.schedule.kind = kind;
    return made;
}

Preset stepDecay() {
    Preset made = scheduled(
        "recipe-schedule-step", phrase("Presets", "Step decay"),
        phrase("Presets", "The learning rate falls to a tenth every 100 steps, and the loss "
                          "settles. Skipped steps count, so AMP takes fewer of the large ones."),
        ScheduleKind::Step);
    made.config.schedule.stepSize = 100;
    made.config.schedule.gamma = 0.1;
    return made;
}

Preset exponentialDecay() {
    Preset made = scheduled(
        "recipe-schedule-exponential", phrase("Presets", "Exponential decay"),
        phrase("Presets", "The learning rate drops by 1 % with every step, skipped or not: the "
                          "steps that AMP skips while it looks for its scale are the largest."),
        ScheduleKind::Exponential);
    made.config.schedule.gamma = 0.99;
    return made;
}

Preset cosineDecay() {
    Preset made = scheduled(
        "recipe-schedule-cosine", phrase("Presets", "Cosine decay"),
        phrase("Presets",
               "Half a cosine from 0.01 down to 0.0001: scheduler.step() follows scaler.update(), "
               "so both lanes finish the schedule at the same step, no matter what was skipped."),
        ScheduleKind::Cosine);
    made.config.schedule.minLr = 1e-4;
    return made;
}

Preset warmUpAndCosine() {
    Preset made = scheduled(
        "recipe-schedule-warmup", phrase("Presets", "Warm-up, then cosine"),
        phrase("Presets",
               "As transformers are usually trained: the rate rises to 0.01 in 30 steps and falls "
               "along half a cosine. The steps that AMP skips at first are among the smallest."),
        ScheduleKind::Cosine);
    made.config.schedule.warmupSteps = 30;
    return made;
}

Preset warmUp() {
    Preset made = scheduled(
        "recipe-schedule-linear", phrase("Presets", "Linear warm-up"),
        phrase("Presets", "From a tenth of the learning rate to all of it in 100 steps, with a "
                          "first scale of 2^24: while steps are skipped, B's schedule keeps "
                          "running, as in PyTorch, and C's waits, as in Keras."),
        ScheduleKind::Linear);
    made.config.schedule.totalSteps = 100;
    made.config.lanes = parseLanes("fp32,amp-fp16,amp-fp16");
    std::vector<LaneConfig>& lanes = made.config.lanes;
    lanes[1].scaler.initScale = lanes[2].scaler.initScale = std::ldexp(1.0, 24);
    lanes[2].scaler.holdSchedule = true;
    return made;
}

Preset amsgrad() {
    Preset made =
        recipe("recipe-adam-amsgrad", kOptimizers, phrase("Presets", "Adam with AMSGrad"),
               phrase("Presets",
                      "Adam divides by the largest mean square so far. One inf would stay there "
                      "forever, so a skipped step must not touch the states of the optimizer."));
    made.config.optimizer.lr = 1e-2;
    made.config.optimizer.beta2 = 0.95; // at 0.999 a mean square would not fall within the run
    made.config.optimizer.amsgrad = true;
    return made;
}

Preset adamW() {
    Preset made =
        recipe("recipe-adamw", kOptimizers, phrase("Presets", "AdamW"),
               phrase("Presets",
                      "Weights decay directly rather than through the gradient, so the loss scale "
                      "does not affect the decay. A skipped step must not decay them either."));
    made.config.optimizer.kind = OptimizerKind::AdamW;
    made.config.optimizer.lr = 1e-2;
    made.config.optimizer.weightDecay = 0.5;
    return made;
}

/// SGD with a momentum of 0.9.
Preset momentumSgd(const char* name, Phrase title, Phrase about, double lr) {
    Preset made = recipe(name, kOptimizers, title, about);
    made.config.optimizer.kind = OptimizerKind::Sgd;
    made.config.optimizer.lr = lr;
    return made;
}

Preset nesterov() {
    Preset made = momentumSgd(
        "recipe-sgd-nesterov", phrase("Presets", "SGD with Nesterov"),
        phrase("Presets", "The size of an SGD step follows its gradients: without unscaling it "
                          "would be 2048 times too large here. Adam's division hides such a "
                          "mistake."),
        3e-3);
    made.config.optimizer.nesterov = true;
    return made;
}

Preset dampening() {
    Preset made = momentumSgd(
        "recipe-sgd-dampening", phrase("Presets", "SGD with dampening"),
        phrase("Presets", "The momentum takes a tenth of every gradient, but all of the first one. "
                          "With AMP the first one is that of the first step that is not skipped."),
        0.03);
    made.config.optimizer.dampening = 0.9;
    return made;
}

Preset rmsProp() {
    Preset made =
        recipe("recipe-rmsprop", kOptimizers, phrase("Presets", "RMSprop"),
               phrase("Presets",
                      "Steps are divided by the root of a running mean of squared gradients: AMP "
                      "keeps it in float32, since in float16 the square of 0.0001 is zero."));
    made.config.optimizer.kind = OptimizerKind::RmsProp;
    made.config.optimizer.momentum = 0; // PyTorch's default
    made.config.optimizer.lr = 3e-3;
    return made;
}

Preset adagrad() {
    Preset made =
        recipe("recipe-adagrad", kOptimizers, phrase("Presets", "Adagrad"),
               phrase("Presets",
                      "Adagrad divides by the root of the sum of all squared gradients. The sum "
                      "never falls: one inf in it would end the training, so a skipped step must "
                      "not add to it."));
    made.config.optimizer.kind = OptimizerKind::Adagrad;
    made.config.optimizer.eps = infoOf(OptimizerKind::Adagrad).torch.epsilon;
    made.config.optimizer.lr = 0.05;
    return made;
}

/// With PyTorch's defaults.
Preset adadelta() {
    Preset made =
        recipe("recipe-adadelta", kOptimizers, phrase("Presets", "Adadelta"),
               phrase("Presets",
                      "A step is as large as past steps were, whatever the size of the gradients: "
                      "a forgotten unscaling would hardly show. PyTorch's MNIST example trains "
                      "with it."));
    const TorchOptimizer& torch = infoOf(OptimizerKind::Adadelta).torch;
    made.config.optimizer.kind = OptimizerKind::Adadelta;
    made.config.optimizer.eps = torch.epsilon;
    made.config.optimizer.alpha = torch.alphaDefault;
    made.config.optimizer.lr = 1;
    return made;
}

} // namespace

std::vector<Preset> recipePresets() {
    return {
        plain(),
        accumulation(),
        penalty(),
        twoOptimizers(),
        clipped(
            "recipe-clip", phrase("Presets", "Clip by L2 norm"),
            phrase(
                "Presets",
                "Gradients are unscaled before their norm is cut to 5, so that the limit means the "
                "same at every scale; without clipping, these weights become nan and the scale 0."),
            ClipKind::Norm2, 5),
        clipped("recipe-clip-inf", phrase("Presets", "Clip by inf norm"),
                phrase("Presets",
                       "After unscaling, one factor for all gradients brings the largest down to "
                       "2. On an overflow the norm is infinite, and the step is skipped."),
                ClipKind::NormInf, 2),
        clipped(
            "recipe-clip-value", phrase("Presets", "Clip by value"),
            phrase("Presets",
                   "Each gradient is cut off at 0.1 separately. Without unscaling first, all but "
                   "the smallest would be cut, and little more than their signs would be left."),
            ClipKind::Value, 0.1),
        oneCycle(),
        oneCycleLinear(),
        oneCycleThreePhase(),
        stepDecay(),
        exponentialDecay(),
        cosineDecay(),
        warmUpAndCosine(),
        warmUp(),
        amsgrad(),
        adamW(),
        nesterov(),
        dampening(),
        rmsProp(),
        adagrad(),
        adadelta()};
}

} // namespace halfscope
