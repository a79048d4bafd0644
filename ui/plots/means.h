// The line through the middle of a dense band of values: their means. Knows no widgets.
#pragma once

#include "engine/runs/column.h"

#include <QVector>

#include <cstdint>
#include <span>
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
/// `changes` are steps from which on values follow other settings, in order: no mean is of steps
/// before and after one, and the line is level up to it, so that it jumps where its cause is.
void sampleMeans(const Column&, double from, double to, int pixels,
                 std::span<const int64_t> changes, QVector<double>& xs, QVector<double>& ys);
/// Puts the curve's own points in the place of its means where it does not turn for a while: means
/// of a fall would begin to fall before it does. All xs rise.
void followWhereSmooth(const QVector<double>& curveXs, const QVector<double>& curveYs,
                       QVector<double>& xs, QVector<double>& ys);
/// Replaces values of a dense curve by means of a few pixels; the first and the last one stay.
void averageDense(QVector<double>& values);

} // namespace halfscope
