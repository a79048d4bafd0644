// How the predictions on a task are shown, as data, and the picture that it makes of them.
#pragma once

#include "engine/data/batch.h"
#include "engine/io/picture.h"

#include <string>

namespace halfscope {

enum class ViewKind : uint8_t {
    Painted, ///< each sample is a pixel, each prediction its colour
    Scatter, ///< the target to the right, the prediction upwards, the ideal as the diagonal
    Curve,   ///< the first input to the right, target and prediction upwards
    Classes, ///< how often each class (downwards) was taken for which (to the right)
};

struct TaskView {
    ViewKind kind = ViewKind::Scatter;
    int width = 0, height = 0, channels = 1; ///< Painted: of the whole picture
    double centre = 0, reach = 1;            ///< Scatter, Curve: targets lie within centre +- reach
    std::vector<std::string> classes{};      ///< Classes: their names
};

/// Of the predictions (rows, outputs) for a batch. Values outside lie on the edge; a nan is a nan
/// on the lower edge, which files and windows draw in magenta.
Picture pictureOf(const TaskView&, const Batch&, std::span<const float> prediction);
/// What predictions are compared with: the picture of the targets themselves.
Picture targetPictureOf(const TaskView&, const Batch&);

} // namespace halfscope
