// What is drawn of a curve's points: the line without what the eye cannot tell.
#pragma once

#include <qcustomplot.h>

#include <QVector>

#include <optional>

namespace halfscope {

/// The points of a curve in view; kept to save allocations.
struct CurvePoints {
    QVector<double> xs, ys;
};

struct DrawnLine {
    QVector<QCPGraphData> data;
    bool noise = false; ///< so dense that the lines fill an area, in which dashes drown
};

/// Returns the line on so many pixels. On a logarithmic axis, zero and negative values have no
/// place: there they lie on `floor`, its lower edge.
DrawnLine drawnLine(const CurvePoints&, int pixels, std::optional<double> floor);

} // namespace halfscope
