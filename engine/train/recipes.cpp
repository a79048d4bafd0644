// What each recipe sets. The step itself is in step_graph, clip and penalty.
#include "engine/train/recipes.h"

namespace halfscope {

namespace {

/// A regression like the preset of that name, short enough to watch.
Preset recipe(const char* name, const char* title, const char* about) {
    Preset made{name, title, about, defaultConfig()};
    made.config.title = title;
    made.config.lanes = parseLanes("fp32,amp-fp16");
    made.config.task.kind = TaskKind::Regression;
    made.config.model = {20, 1, Norm::None, Activation::Relu};
    made.config.steps = 300;
    return made;
}

Preset clipping() {
    Preset made =
        recipe("recipe-clip", "Recipe: clip gradients",
               "Gradients are unscaled before their global norm is clipped to 1, so that the limit "
               "means the same at every loss scale.");
    made.config.gradients.clip = ClipKind::Norm2;
    return made;
}

Preset accumulation() {
    Preset made = recipe("recipe-accumulate", "Recipe: accumulate gradients",
                         "Four batches of 16 make one update: scaled gradients add up, and scale, "
                         "check and step wait for the last one.");
    made.config.task.batch = 16;
    made.config.gradients.accumulate = 4;
    made.config.steps = 1200;
    return made;
}

Preset penalty() {
    Preset made = recipe("recipe-penalty", "Recipe: gradient penalty",
                         "The norm of the gradient is added to the loss: scaled gradients, "
                         "unscaled for the norm, then a second backward pass through both.");
    made.config.gradients.penalty = 1;
    return made;
}

Preset twoOptimizers() {
    Preset made = recipe("recipe-two-optimizers", "Recipe: several models and optimizers",
                         "Two networks, two losses over both outputs, Adam and SGD: each optimizer "
                         "skips on its own, and any overflow lowers the one loss scale.");
    made.config.model.networks = 2;
    made.config.second = {OptimizerKind::Sgd, 1e-5};
    return made;
}

Preset oneCycle() {
    Preset made = recipe("recipe-onecycle", "Recipe: one-cycle schedule",
                         "The learning rate rises to a peak and falls again while Adam's beta 1 "
                         "runs against it; the schedule advances on skipped steps too.");
    made.config.schedule.kind = ScheduleKind::OneCycle;
    made.config.schedule.totalSteps = made.config.steps;
    made.config.schedule.cycleMomentum = true;
    return made;
}

} // namespace

std::vector<Preset> recipePresets() {
    return {recipe("recipe-plain", "Recipe: plain step",
                   "Autocast around the forward pass and the loss, then scale, backward, step and "
                   "update, as in PyTorch's first example of mixed precision."),
            clipping(),
            accumulation(),
            penalty(),
            twoOptimizers(),
            oneCycle()};
}

} // namespace halfscope
