// A curve's trend: the exponential moving average that TensorBoard and Weights & Biases draw, kept
// point by point beside the curve itself. Knows no widgets.
#pragma once

#include "engine/runs/column.h"
#include "ui/plots/series.h"

namespace halfscope {

/// Computes s(n) = w s(n-1) + (1 - w) x(n) from s(0) = 0, divided by 1 - w^n: without the division
/// the first points would lean towards zero.
class Smoother {
public:
    /// The heaviest weight with which a curve still moves.
    static constexpr double kMost = 0.99;

    /// `weight` is the weight of the past: 0 (each point as it is) to kMost. It is clamped; nan
    /// counts as 0.
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
    /// Starts again: the next update() goes through the whole column.
    void setWeight(double weight);
    double weight() const { return m_smoother.weight(); }
    /// Takes the values that came since the last call.
    void update(const Column& raw);
    const Series& series() const { return m_series; }

private:
    Smoother m_smoother;
    Series m_series;
    int64_t m_step = 0; ///< the last step that was taken
};

} // namespace halfscope
