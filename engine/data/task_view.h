// How the predictions on a task are shown, as data, and the picture that it makes of them.
#pragma once

#include "engine/data/batch.h"
#include "engine/io/picture.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halfscope {

enum class ViewKind : uint8_t {
    Painted, ///< each sample is a pixel, each prediction its colour
    Scatter, ///< the target to the right, the prediction upwards, the ideal as the diagonal
    Curve,   ///< an input to the right; samples as points, predictions as a curve through them
    Plane,   ///< two inputs, two classes: how likely each place is to be of which
    Samples, ///< each prediction is a picture of one channel
    Classes, ///< how often each class (downwards) was taken for which (to the right)
};

/// What a picture shows along an axis.
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
    int width = 0, height = 0, channels = 1; ///< Painted: of the whole picture; Samples: of each
    double centre = 0, reach = 1;            ///< Scatter: targets lie within centre +- reach
    std::vector<std::string> classes{};      ///< Plane, Classes: their names
    AxisRange across{}, up{};                ///< Curve, Plane
    /// Curve, Plane, Samples: what the network is asked for the picture, beside the batch of the
    /// step. A curve's is along its axis, with the true values; a map's is a grid, see planeGrid().
    std::shared_ptr<const Batch> probe{};
    size_t axisInput = 0;             ///< Curve: the input to the right
    std::vector<std::string> terms{}; ///< Curve: what the inputs are: "x²", "x", "" for 1
    std::string truth{};              ///< Curve: its formula, for the caption of the target
    std::vector<PlaneMark> marks{};   ///< Plane: samples, which lie on the map
};

/// For targets from `least` to `most`.
TaskView scatterView(double least, double most);
/// For so many classes; those without a name are called by their number, "0", "1" ...
TaskView classesView(int64_t classes, std::vector<std::string> names = {});

/// The probe of a map: rows from low to high, each from left to right.
std::shared_ptr<const Batch> planeGrid(const AxisRange& across, const AxisRange& up);

/// Of the predictions (rows, outputs) for the probe of the view, where it has one, else for the
/// batch. Values outside lie on the edge; a nan is a nan, on the lower edge where it has no place
/// of its own, which files and windows draw in magenta.
Picture pictureOf(const TaskView&, const Batch&, std::span<const float> prediction);
/// What predictions are compared with: the picture of the targets themselves.
Picture targetPictureOf(const TaskView&, const Batch&);

/// "y = 4.99 x² + 0.01 x + 3.00": what a network has learnt that is one Linear layer on the view's
/// terms. `bias`: one number, or none.
std::string formulaOf(const TaskView&, std::span<const float> weights, std::span<const float> bias);

} // namespace halfscope
