// A curve's trend: the exponential moving average that TensorBoard and Weights & Biases draw, kept
// point by point beside the curve itself. Knows no widgets.
#pragma once

#include "engine/runs/column.h"
#include "ui/plots/series.h"

namespace halfscope {

/// s(n) = w s(n-1) + (1 - w) x(n) from s(0) = 0, divided by 1 - w^n: without that the first points
/// would lean towards zero.
class Smoother {
public:
    /// The heaviest weight that still lets a curve move.
    static constexpr double kMost = 0.99;

    /// `weight` of what came before: 0 (each point as it is) to kMost; clamped, nan is 0.
    explicit Smoother(double weight = 0);
    double weight() const { return m_weight; }
    double add(double value);

private:
    double m_weight, m_sum = 0, m_shares = 0;
};

/// The trend of a column that only grows: a point for each finite value. With weight 0 it keeps
/// nothing.
class SmoothedColumn {
public:
    /// Starts again: the next update() goes through all of the column.
    void setWeight(double weight);
    double weight() const { return m_smoother.weight(); }
    /// Takes the values that came since the last call.
    void update(const Column& raw);
    const Series& series() const { return m_series; }

private:
    Smoother m_smoother;
    Series m_series;
    int64_t m_step = 0; ///< the last one that was taken
};

} // namespace halfscope
