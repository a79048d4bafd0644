// The table of metrics: what a training measures at its steps. The columns of csv files, plots,
// tool tips and exports follow from a metric's row here. To add one: an id here, its row in
// metrics.cpp, and StepRow::set() at the place that measures it.
#pragma once

#include "engine/core/message.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace halfscope {

/// An index into a run's list of metrics. The known ones come first, in the order of metric::Known,
/// so that an id below has the same meaning in every run.
using MetricId = int32_t;

namespace metric {
enum Known : MetricId {
    Loss,
    Scale,
    GrowthTracker,
    LearningRate,
    GradientNorm,
    Skipped,
    Grew,
    BackedOff,
    LossNotFinite,
    SkippedSoFar,
    DeviceSeconds,
    WallSeconds,
    Epoch,
    Batch,
    ValidationLoss,
    Accuracy,
    TrainingAccuracy,
    Perplexity,
    ValidationError,
    UnchangedWeights,
    UnchangedCopies,
    WeightDistance,
    GradientError,
    TestLoss,
    TestAccuracy,
    TestPerplexity,
    TestError,
    GeneratorLoss,
    kKnown ///< how many there are
};
} // namespace metric

/// How a metric is plotted over the steps.
enum class PlotAxis : uint8_t {
    None,   ///< not plotted
    Linear, ///< from zero
    Share,  ///< a share of a whole: the axis spans the values, within 0 and 1
    Log10,
    Log2,
    Rate, ///< values are seconds of a step; the plot shows steps per second, smoothed
};

/// The kind of a metric's values. Files write them so that they read back unchanged.
enum class ValueKind : uint8_t {
    Float32, ///< shortest decimal of a float32
    Float64, ///< shortest decimal of a float64
    Integer, ///< within +-2^53
    Flag,    ///< 0 or 1
};

/// Which file of a run has the metric's column.
enum class MetricFile : uint8_t {
    Steps,  ///< steps.csv: the same bytes whenever the same experiment runs again
    Timing, ///< timing.csv: what depends on the clock
};

struct Metric {
    std::string column; ///< in files: "gradient_norm"
    Message title;      ///< the title of its plot: "Gradient norm"
    Message shortTitle; ///< used where the title does not fit: "Norm"
    Message unit;       ///< "s", "steps", or empty
    Message about;      ///< one or two plain sentences for tool tips
    PlotAxis axis = PlotAxis::None;
    MetricFile file = MetricFile::Steps;
    ValueKind kind = ValueKind::Float32;
    /// Whether every run's file has the column. When false, files have it from the first step that
    /// measured it.
    bool always = true;
};

/// The known metrics, indexed by metric::Known.
std::span<const Metric> knownMetrics();
/// Returns the id of a known metric by its column, or -1 when there is none.
MetricId knownMetric(std::string_view column);
/// Returns the text of a value in a file: "0.125", "nan", "1"; empty for what was not measured.
std::string metricText(ValueKind, double value);

} // namespace halfscope
