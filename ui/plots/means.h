// The line through the middle of a dense band of values: their means. Knows no widgets.
#pragma once

#include "engine/runs/column.h"

#include <QVector>

#include <cstdint>
#include <vector>

namespace halfscope {

/// The mean of the finite values of some steps.
struct Mean {
    double step; ///< the middle of the steps
    double value;
};

/// Returns the means of the steps from..to in order, about one in four of so many pixels. Every
/// value counts once.
std::vector<Mean> meansOf(const Column&, int64_t from, int64_t to, int pixels);
/// Returns them as points of a line for steps in [from, to]; none for fewer steps than pixels.
void sampleMeans(const Column&, double from, double to, int pixels, QVector<double>& xs,
                 QVector<double>& ys);

} // namespace halfscope
