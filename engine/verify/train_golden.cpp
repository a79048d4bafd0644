// Repeats the recorded trainings.
#include "engine/core/error.h"
#include "engine/core/philox.h"
#include "engine/models/emit_model.h"
#include "engine/ops/functional.h"
#include "engine/settings/model_settings.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"
#include "engine/train/step_runner.h"
#include "engine/verify/fixed_dataset.h"
#include "engine/verify/golden_optim.h"
#include "engine/verify/golden_runs.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace halfscope::recorded {
namespace {

constexpr int kMostLayers = 1000;

bool isPicture(const Golden& run) { return run.at("kind").text() == "checkerboard"; }
/// Returns how many layers of nn.Sequential lie from one linear layer to the next: with a norm and
/// an activation, or with the activation alone.
int periodOf(const Golden& run) { return isPicture(run) ? 3 : 2; }

/// Returns "3" for "3.weight", as a number.
int indexOf(const std::string& name, const Golden& value) {
    int index = -1;
    const size_t dot = std::min(name.find('.'), name.size());
    const auto [end, error] = std::from_chars(name.data(), name.data() + dot, index);
    if (error != std::errc() || end != name.data() + dot || index < 0 || index > kMostLayers) {
        value.fail(phrase("Verification", "a name like 0.weight is expected"));
    }
    return index;
}

/// Returns the order in which weights are moved: linear layers, then norms, each from the first on.
std::vector<std::pair<int, std::string>> movedOrder(const Golden& run) {
    const int period = periodOf(run);
    std::vector<std::pair<int, std::string>> order;
    for (const auto& [name, values] : run.at("start").members()) {
        const int index = indexOf(name, values);
        const bool linear = index % period == 0;
        if (!name.ends_with(kBatchesTracked))
            order.emplace_back(linear ? index : index + kMostLayers, name);
    }
    std::sort(order.begin(), order.end());
    return order;
}

/// Returns the recorded state dict; ours has the same names, apart from PyTorch's count of batches.
Weights startOf(const Golden& run, const Perturbation& moved) {
    Weights weights;
    for (const auto& [name, values] : run.at("start").members())
        if (!name.ends_with(kBatchesTracked)) weights[name] = values.floats();
    if (moved.seed == 0) return weights;
    uint64_t stream = 0;
    for (const auto& [place, name] : movedOrder(run)) {
        std::vector<float>& values = weights.at(name);
        const Philox random(moved.seed, stream++);
        for (size_t i = 0; i < values.size(); ++i)
            values[i] *= 1 + moved.size * (2 * random.uniform(i) - 1);
    }
    return weights;
}

/// Takes over what a run was recorded with beyond the plain recipe.
void takeExtra(const Golden& run, RunConfig& config) {
    const std::string extra = run.textOr("extra", "");
    if (extra == "grad_penalty") {
        config.gradients.penalty = 1;
    } else if (extra == "clip") {
        config.gradients.clip = ClipKind::Norm2;
        config.gradients.clipLimit = 0.1;
    } else if (extra == "onecycle") {
        config.schedule.kind = ScheduleKind::OneCycle;
        config.schedule.maxLr = 10 * config.optimizer.lr;
        config.schedule.totalSteps = run.at("steps").integer() + 1;
        // The recorded losses are exactly those of a constant beta1.
        config.schedule.cycleMomentum = false;
    } else if (!extra.empty()) {
        run.at("extra").fail(
            phrase("Verification", "null, grad_penalty, clip or onecycle is expected"));
    }
}

LaneConfig laneOf(const Golden& run) {
    LaneConfig lane;
    const std::string amp = run.textOr("amp", "");
    if (amp == "float16") {
        lane.precision = Precision::AmpFp16;
    } else if (amp == "bfloat16") {
        lane.precision = Precision::AmpBf16;
    } else if (!amp.empty()) {
        run.at("amp").fail(phrase("Verification", "null, float16 or bfloat16 is expected"));
    }
    lane.scaler.initScale = run.at("init_scale").number();
    lane.scaler.rules.growthInterval = run.at("growth_interval").integer();
    // PyTorch's bfloat16 recipe has no scaler.
    if (amp != "float16") lane.scaler.rules.mode = ScalerMode::Off;
    return lane;
}

/// Returns the recorded run as our configuration.
RunConfig configOf(const Golden& run) {
    RunConfig config;
    config.steps = run.at("steps").integer();
    config.optimizer.kind = optimizerNamed(run.at("optimizer"));
    config.optimizer.lr = run.at("lr").number();
    config.optimizer.momentum = 0; // PyTorch's defaults, where ours differ
    config.optimizer.weightDecay = infoOf(config.optimizer.kind).torch.decay;
    if (isPicture(run)) {
        config.task.side = run.at("side").integer();
        if (config.task.side < 2 || config.task.side > 4096) {
            run.at("side").fail(phrase("Verification", "2 to 4096 is expected"));
        }
    }
    int last = 0;
    for (const auto& [name, values] : run.at("start").members())
        last = std::max(last, indexOf(name, values) / periodOf(run));
    if (last < 1)
        run.at("start").fail(
            phrase("Verification", "a network of at least two layers is expected"));
    config.model.width = static_cast<int64_t>(run.at("start").at("0.bias").numbers().size());
    config.model.depth = last - 1;
    config.model.norm = isPicture(run) ? Norm::BatchNorm : Norm::None;
    config.lanes = {laneOf(run)};
    if (run.at("kind").text() == "mlp_ce") config.task.loss.kind = LossKind::CrossEntropy;
    takeExtra(run, config);
    return config;
}

/// Returns (rows, inputs) of a recorded input.
Shape inputShape(const Golden& run) {
    const Golden input = run.at("input");
    const Shape shape{static_cast<int64_t>(input.size()), static_cast<int64_t>(input.at(0).size())};
    if (shape.elements() == 0) input.fail(phrase("Verification", "rows of numbers are expected"));
    return shape;
}

TrainedRun trainLane(const Golden& run, const RunConfig& config, const BatchSource& data,
                     const MakeExecutor& make, const Perturbation& moved, int64_t steps) {
    Trainer trainer(config, 0, "run", data, make());
    try {
        trainer.setWeights(startOf(run, moved));
    } catch (const InputError& error) {
        run.at("start").fail(error.message());
    }
    TrainedRun outcome;
    std::vector<Event> events;
    for (int64_t step = 1; step <= steps; ++step) {
        const StepRecord record = trainer.step(step, events).value();
        if (record.flags & kSkipped) outcome.skipped.push_back(outcome.losses.size());
        outcome.losses.push_back(record.loss);
        outcome.scales.push_back(record.scale);
        outcome.norms.push_back(record.gradientNorm);
    }
    outcome.nextScale = trainer.scaler().scale;
    outcome.weights = trainer.weights();
    return outcome;
}

FixedDataset fixedData(const Golden& run, const RunConfig& config) {
    const Shape shape = inputShape(run);
    const std::vector<double> x = run.at("input").tensor(shape);
    const std::vector<double> target = run.at("target").tensor({shape[0]});
    FixedDataset::Batch batch{{x.begin(), x.end()}, {target.begin(), target.end()}};
    if (config.task.loss.kind != LossKind::CrossEntropy)
        return {{shape[0], shape[1], 1}, {std::move(batch)}};
    const std::string bias = std::to_string(2 * (config.model.depth + 1)) + ".bias";
    const auto classes = static_cast<int64_t>(run.at("start").at(bias).numbers().size());
    for (const double label : target)
        if (label < 0 || label >= static_cast<double>(classes) || std::trunc(label) != label)
            run.at("target").fail(
                {phrase("Verification", "labels from 0 to %1 are expected"), classes - 1});
    batch.labels.assign(target.begin(), target.end());
    return {{.rows = shape[0], .inputs = shape[1], .outputs = classes, .labels = true},
            {std::move(batch)}};
}

} // namespace

TrainedRun trainRun(const Golden& run, const MakeExecutor& make, const Perturbation& moved,
                    size_t most) {
    const std::string kind = run.at("kind").text();
    if (kind != "checkerboard" && kind != "mlp_ce" && kind != "mlp_mse") {
        run.at("kind").fail(phrase("Verification", "checkerboard, mlp_ce or mlp_mse is expected"));
    }
    const RunConfig config = configOf(run);
    const auto steps = static_cast<int64_t>(run.at("trace").size());
    if (steps < 1 || steps != config.steps) {
        run.at("trace").fail(
            {phrase("Verification", "%1 steps, where steps says %2"), steps, config.steps});
    }
    const auto wanted = static_cast<int64_t>(std::min(most, run.at("trace").size()));
    if (kind == "checkerboard")
        return trainLane(run, config, *makeTask(config), make, moved, wanted);
    return trainLane(run, config, fixedData(run, config), make, moved, wanted);
}

} // namespace halfscope::recorded
