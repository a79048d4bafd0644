// The rows of the table of metrics, in the order of metric::Known.
#include "engine/runs/metrics.h"

#include "engine/core/text.h"

#include <array>

namespace halfscope {

std::span<const Metric> knownMetrics() {
    using enum PlotAxis;
    using enum MetricFile;
    using enum ValueKind;
    const Phrase kNoUnit;
    static const std::array<Metric, metric::kKnown> kMetrics{{
        {"loss", phrase("Metrics", "Loss"), phrase("Metrics", "Loss"), kNoUnit,
         phrase("Metrics",
                "The loss on the batch of each step, before scaling. Training makes it smaller."),
         Log10, Steps, Float32},
        {"scale", phrase("Metrics", "Loss scale"), phrase("Metrics", "Scale"), kNoUnit,
         phrase("Metrics",
                "The factor by which the loss is multiplied before the backward pass, a power of "
                "two in most runs. It falls after an overflow and grows after enough clean steps."),
         Log2, Steps, Float32},
        {"growth_tracker", phrase("Metrics", "Growth tracker"), phrase("Metrics", "Tracker"),
         phrase("Metrics", "steps"),
         phrase("Metrics", "Clean steps since the loss scale last changed. At the growth interval "
                           "the scale grows."),
         None, Steps, Integer},
        {"learning_rate", phrase("Metrics", "Learning rate"), phrase("Metrics", "Rate"), kNoUnit,
         phrase("Metrics",
                "The learning rate that the schedule sets, including steps that are skipped."),
         Linear, Steps, Float32},
        {"gradient_norm", phrase("Metrics", "Gradient norm"), phrase("Metrics", "Norm"), kNoUnit,
         phrase("Metrics", "The L2 norm of all gradients together, unscaled and before clipping. "
                           "It is not finite when they overflow."),
         Log10, Steps, Float32},
        {"skipped", phrase("Metrics", "Skipped"), phrase("Metrics", "Skipped"), kNoUnit,
         phrase("Metrics", "Whether the step was skipped because a gradient was not finite."), None,
         Steps, Flag},
        {"grew", phrase("Metrics", "Scale grew"), phrase("Metrics", "Grew"), kNoUnit,
         phrase("Metrics", "Whether the loss scale grew after the step."), None, Steps, Flag},
        {"backed_off", phrase("Metrics", "Scale fell"), phrase("Metrics", "Fell"), kNoUnit,
         phrase("Metrics", "Whether the loss scale fell after the step."), None, Steps, Flag},
        {"loss_not_finite", phrase("Metrics", "Loss not finite"), phrase("Metrics", "Not finite"),
         kNoUnit, phrase("Metrics", "Whether the loss itself was infinite or not a number."), None,
         Steps, Flag},
        {"skipped_so_far", phrase("Metrics", "Skipped steps"), phrase("Metrics", "Skipped"),
         phrase("Metrics", "steps"),
         phrase("Metrics", "Steps that updated no weights because a gradient was not finite, "
                           "counted from step 1. A lane that continues another one counts the "
                           "steps that it has from there, too."),
         Linear, Steps, Integer},
        {"device_seconds", phrase("Metrics", "Throughput"), phrase("Metrics", "Steps/s"),
         phrase("Metrics", "s"),
         phrase("Metrics",
                "Steps per second of each lane, from the time that its device spent on them."),
         Rate, Timing, Float64},
        {"wall_seconds", phrase("Metrics", "Time"), phrase("Metrics", "Time"),
         phrase("Metrics", "s"),
         phrase("Metrics", "The time since the start of the training, without pauses."), None,
         Timing, Float64},
        {"epoch", phrase("Metrics", "Epoch"), phrase("Metrics", "Epoch"), kNoUnit,
         phrase("Metrics",
                "Which pass over the training samples the step belongs to, counted from 1."),
         None, Steps, Integer, false},
        {"batch", phrase("Metrics", "Batch"), phrase("Metrics", "Batch"), kNoUnit,
         phrase("Metrics", "Which batch of its epoch the step trained on, counted from 1."), None,
         Steps, Integer, false},
        {"validation_loss", phrase("Metrics", "Validation loss"), phrase("Metrics", "Val. loss"),
         kNoUnit,
         phrase("Metrics", "The loss on samples that the lane does not train on, with running "
                           "statistics and without dropout."),
         Log10, Steps, Float64, false},
        {"accuracy", phrase("Metrics", "Accuracy"), phrase("Metrics", "Accuracy"), kNoUnit,
         phrase("Metrics", "The share of the validation samples whose class has the highest output "
                           "of the network."),
         Share, Steps, Float64, false},
        {"training_accuracy", phrase("Metrics", "Training accuracy"),
         phrase("Metrics", "Train. acc."), kNoUnit,
         phrase("Metrics", "The share of the training samples whose class had the highest output "
                           "when their step was trained, over the epoch so far. "
                           "If it stays above the validation accuracy, the network overfits."),
         Share, Steps, Float64, false},
        {"perplexity", phrase("Metrics", "Perplexity"), phrase("Metrics", "Perpl."), kNoUnit,
         phrase("Metrics", "e to the power of the validation loss: among how many characters, all "
                           "equally likely, the network would be as unsure of the next one."),
         Log10, Steps, Float64, false},
        {"validation_mae", phrase("Metrics", "Validation error"), phrase("Metrics", "Val. error"),
         kNoUnit,
         phrase("Metrics", "The mean absolute error on the validation samples, in the units of the "
                           "data. It is measured where targets are standardised, because the loss "
                           "then has no unit."),
         Log10, Steps, Float64, false},
        {"unchanged_weights", phrase("Metrics", "Unchanged weights"),
         phrase("Metrics", "Unchanged"), kNoUnit,
         phrase("Metrics",
                "The share of the weights that the step left exactly as they were. Where weights "
                "are stored in 16 bits, small updates round away. Weights without a gradient do "
                "not change in any precision."),
         Share, Steps, Float64, false},
        {"unchanged_copies", phrase("Metrics", "Unchanged copies"), phrase("Metrics", "Copies"),
         kNoUnit,
         phrase("Metrics",
                "The share of the copies in 16 or 8 bits, with which AMP's layers compute, that "
                "the step left exactly as they were. The float32 weights behind them collect small "
                "updates until a copy changes."),
         Share, Steps, Float64, false},
        {"weight_distance", phrase("Metrics", "Weight distance"), phrase("Metrics", "Distance"),
         kNoUnit,
         phrase("Metrics", "How far the lane's weights are from those of the first lane: the L2 "
                           "norm of the difference, divided by that of the first lane's weights."),
         Log10, Steps, Float64, false},
        {"gradient_error", phrase("Metrics", "Gradient error"), phrase("Metrics", "Grad. error"),
         kNoUnit,
         phrase("Metrics",
                "What the lane's precision does to the gradient: the L2 norm of its difference "
                "from the gradient that float32 computes from the same weights and batch, divided "
                "by the norm of that. A gradient of zeros has 1; above it, the difference is "
                "larger than the gradient itself."),
         Log10, Steps, Float64, false},
        {"test_loss", phrase("Metrics", "Test loss"), phrase("Metrics", "Test loss"), kNoUnit,
         phrase("Metrics", "The loss at the end of the run on samples that neither the training "
                           "nor a validation saw."),
         None, Steps, Float64, false},
        {"test_accuracy", phrase("Metrics", "Test accuracy"), phrase("Metrics", "Test acc."),
         kNoUnit,
         phrase("Metrics", "The share of the test samples whose class has the highest output of "
                           "the network at the end of the run."),
         None, Steps, Float64, false},
        {"test_perplexity", phrase("Metrics", "Test perplexity"), phrase("Metrics", "Test perpl."),
         kNoUnit, phrase("Metrics", "e to the power of the test loss."), None, Steps, Float64,
         false},
        {"test_mae", phrase("Metrics", "Test error"), phrase("Metrics", "Test error"), kNoUnit,
         phrase("Metrics", "The mean absolute error on the test samples at the end of the run, in "
                           "the units of the data."),
         None, Steps, Float64, false},
        // plotted in the plot of the critic's loss, on its axis
        {"generator_loss", phrase("Metrics", "Generator's loss"), phrase("Metrics", "Generator"),
         kNoUnit,
         phrase("Metrics", "The loss of the network that learns from the critic, on the batch of "
                           "each step, before scaling. It falls as that network gets better at "
                           "deceiving the critic."),
         Linear, Steps, Float32, false},
    }};
    return kMetrics;
}

MetricId knownMetric(std::string_view column) {
    for (MetricId id = 0; const Metric& each : knownMetrics()) {
        if (each.column == column) return id;
        ++id;
    }
    return -1;
}

std::string metricText(ValueKind kind, double value) {
    switch (kind) {
    case ValueKind::Float32: return numberText(static_cast<float>(value));
    case ValueKind::Float64: return numberText(value);
    case ValueKind::Integer: return numberText(static_cast<int64_t>(value));
    case ValueKind::Flag: return value != 0 ? "1" : "0";
    }
    return {};
}

} // namespace halfscope
