// How predictions on a task are shown, as data, and the picture that is made from it.
#pragma once

#include "engine/data/batch.h"
#include "engine/data/standardiser.h"
#include "engine/io/picture.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

enum class ViewKind : uint8_t {
    Painted, ///< each sample is a pixel, each prediction its colour
    Scatter, ///< targets run to the right, predictions upwards; the ideal is the diagonal
    Curve,   ///< an input runs to the right; samples are points, predictions a curve through them
    Plane,   ///< two inputs and two classes: how likely each class is at each place
    Samples, ///< each prediction is a picture of one channel
    Classes, ///< how often each class (downwards) was taken for which (to the right)
};

/// The range that a picture shows along an axis.
struct AxisRange {
    double low = -1, high = 1;
};

/// A sample on a map of the plane.
struct PlaneMark {
    float x = 0, y = 0;
    int32_t label = 0; ///< 0 or 1
};

struct TaskView {
    ViewKind kind = ViewKind::Scatter;
    int width = 0, height = 0, channels = 1; ///< Painted: the picture's; Samples: each one's
    double centre = 0, reach = 1;            ///< Scatter: targets lie within centre +- reach
    std::vector<std::string> classes{};      ///< Plane, Classes: the classes' names
    AxisRange across{}, up{};                ///< Curve, Plane
    /// Curve, Plane, Samples: what the network is asked for the picture, besides the batch of the
    /// step. For a curve it runs along the axis and has the true values; for a map it is a grid,
    /// see planeGrid().
    std::shared_ptr<const Batch> probe{};
    size_t axisInput = 0;             ///< Curve: the input that runs to the right
    std::vector<std::string> terms{}; ///< Curve: what the inputs are: "x²", "x", "" for 1
    /// The caption of the target. Curve: its formula. Scatter: where both axes run, "0.8 to 5.4";
    /// empty where that is not known.
    std::string truth{};
    std::vector<PlaneMark> marks{}; ///< Plane: the samples on the map
};

/// Returns a view for targets from `least` to `most`, which `scale` may have standardised.
TaskView scatterView(double least, double most, const Standardiser& scale = {});
/// Returns a view for so many classes; those without a name are called by their number, "0", "1"
/// ...
TaskView classesView(int64_t classes, std::vector<std::string> names = {});

/// Returns the probe of a map: rows from low to high, each from left to right.
std::shared_ptr<const Batch> planeGrid(const AxisRange& across, const AxisRange& up);

/// Draws the predictions (rows, outputs), which are for the probe of the view if it has one, else
/// for the batch. Values outside the picture are drawn on its edge. A nan stays nan, which files
/// and windows draw in magenta; when it has no place of its own, it goes on the lower edge.
Picture pictureOf(const TaskView&, const Batch&, std::span<const float> prediction);
/// Draws what predictions are compared with: the targets themselves; of classes, the table of a
/// network that is always right.
Picture targetPictureOf(const TaskView&, const Batch&);

/// Returns "y = 4.99 x² + 0.01 x + 3.00": what a network has learnt that is one Linear layer on the
/// view's terms. `bias` has one number or none.
std::string formulaOf(const TaskView&, std::span<const float> weights, std::span<const float> bias);

} // namespace halfscope
