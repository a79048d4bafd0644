// A curve's trend: the exponential moving average that TensorBoard and Weights & Biases draw. Knows
// no widgets.
#pragma once

#include "engine/runs/column.h"

#include <QVector>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

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

/// The trend of a column that only grows: a point for each finite value. It is computed where it is
/// looked at, from as many values before as count for more than 2^-24, so that a look takes no
/// longer in a long training and nothing grows with it. With weight 0 there is none.
class Trend {
public:
    explicit Trend(double weight = 0);
    double weight() const { return m_weight; }

    /// Calls visitor(step, trend) for the finite values of the steps from..to, both included.
    template <class Visitor>
    void values(const Column& raw, int64_t from, int64_t to, Visitor&& visitor) const {
        if (m_weight > 0) Pass(*this, raw).run(from, to, visitor);
    }
    /// Returns the trend at or before a step, if any value that counts there is finite.
    std::optional<Point> upTo(const Column& raw, int64_t step) const;
    /// See the function sample(). In a long run, the trend moves far too fast to be seen: there is
    /// a point for four pixels, the mean of the raw values. What was computed last is kept for the
    /// next look, which has to be at the same column.
    void sample(const Column& raw, double from, double to, int pixels, QVector<double>& xs,
                QVector<double>& ys);

private:
    /// Goes through a column forwards. It begins anew at each block of steps, early enough: so the
    /// trend at a step has the same bits however one comes to it.
    class Pass {
    public:
        Pass(const Trend& trend, const Column& raw)
            : m_raw(raw), m_weight(trend.m_weight), m_reach(trend.reach(raw)),
              m_width(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(m_reach)))) {}
        template <class Visitor>
        void run(int64_t from, int64_t to, Visitor&& visitor) {
            from = std::max(from, m_raw.firstStep());
            while (from <= to) {
                const int64_t block = from - from % m_width;
                const int64_t end = std::min(to, block + m_width - 1);
                if (!m_smoother || m_block != block) {
                    m_smoother.emplace(m_weight);
                    m_next = block - m_reach;
                    m_block = block;
                }
                m_raw.values(m_next, end, [&](int64_t step, double value) {
                    if (!std::isfinite(value)) return;
                    const double trend = m_smoother->add(value);
                    if (step >= from) visitor(step, trend);
                });
                m_next = from = end + 1;
            }
        }

    private:
        const Column& m_raw;
        double m_weight;
        int64_t m_reach;
        int64_t m_width;                    ///< of a block
        std::optional<Smoother> m_smoother; ///< set when the next two are
        int64_t m_block = 0, m_next = 0;    ///< its first step; the step that comes next
    };
    struct Source;
    /// Returns how many steps back a value counts.
    int64_t reach(const Column& raw) const;
    void extremes(const Column& raw, int64_t from, int64_t to, size_t buckets,
                  std::vector<Extremes>& out);
    void means(const Column& raw, int64_t from, int64_t to, int pixels,
               std::vector<Extremes>& out) const;

    double m_weight;
    std::vector<Extremes> m_buckets; ///< of the last sample
    int64_t m_width = 0;             ///< of these, in steps
};

} // namespace halfscope
