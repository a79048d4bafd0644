// The rows of the table of metrics, in the order of metric::Known.
#include "engine/runs/metrics.h"

#include "engine/core/text.h"

#include <array>

namespace halfscope {

std::span<const Metric> knownMetrics() {
    using enum PlotAxis;
    using enum MetricFile;
    using enum ValueKind;
    static const std::array<Metric, metric::kKnown> kMetrics{{
        {"loss", "Loss", "Loss", "",
         "The loss on the batch of each step, before scaling. Training makes it smaller.", Log10,
         Steps, Float32},
        {"scale", "Loss scale", "Scale", "",
         "The factor by which the loss is multiplied before the backward pass, a power of two in "
         "most runs. It falls after an overflow and grows after enough clean steps.",
         Log2, Steps, Float32},
        {"growth_tracker", "Growth tracker", "Tracker", "steps",
         "Clean steps since the loss scale last changed. At the growth interval the scale grows.",
         None, Steps, Integer},
        {"learning_rate", "Learning rate", "Rate", "",
         "The learning rate that the schedule sets, including steps that are skipped.", Linear,
         Steps, Float32},
        {"gradient_norm", "Gradient norm", "Norm", "",
         "The L2 norm of all gradients together, unscaled and before clipping. It is not finite "
         "when they overflow.",
         Log10, Steps, Float32},
        {"skipped", "Skipped", "Skipped", "",
         "Whether the step was skipped because a gradient was not finite.", None, Steps, Flag},
        {"grew", "Scale grew", "Grew", "", "Whether the loss scale grew after the step.", None,
         Steps, Flag},
        {"backed_off", "Scale fell", "Fell", "", "Whether the loss scale fell after the step.",
         None, Steps, Flag},
        {"loss_not_finite", "Loss not finite", "Not finite", "",
         "Whether the loss itself was infinite or not a number.", None, Steps, Flag},
        {"skipped_so_far", "Skipped steps", "Skipped", "steps",
         "Steps that updated no weights because a gradient was not finite, counted from the start.",
         Linear, Steps, Integer},
        {"device_seconds", "Throughput", "Steps/s", "s",
         "Steps per second of each lane, from the time that its device spent on them.", Rate,
         Timing, Float64},
        {"wall_seconds", "Time", "Time", "s",
         "The time since the start of the training, without pauses.", None, Timing, Float64},
        {"epoch", "Epoch", "Epoch", "",
         "Which pass over the training samples the step belongs to, counted from 1.", None, Steps,
         Integer, false},
        {"batch", "Batch", "Batch", "",
         "Which batch of its epoch the step trained on, counted from 1.", None, Steps, Integer,
         false},
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
