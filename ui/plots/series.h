// Every point of one curve, with a pyramid of extremes so that any stretch of it can be drawn with
// a few points per pixel without losing a spike. Knows no widgets.
#pragma once

#include <QVector>
#include <QtGlobal>

#include <array>
#include <vector>

namespace halfscope {

/// Append-only (step, value) points; steps never decrease. A value is kept as float32: a point
/// takes 12 bytes, and 8/7 byte in the pyramid.
class Series {
public:
    /// Keeps a finite value. A value that is nan or inf (also after rounding to float) is counted
    /// and its step kept apart, because a line graph must never see it. Refuses a step lower than
    /// the last one and returns false then.
    bool append(qint64 step, double value);
    void clear();

    qsizetype size() const { return static_cast<qsizetype>(m_values.size()); }
    bool isEmpty() const { return m_values.empty(); }
    qint64 step(qsizetype i) const { return m_steps[static_cast<size_t>(i)]; }
    double value(qsizetype i) const {
        return static_cast<double>(m_values[static_cast<size_t>(i)]);
    }
    /// Returns the index of the last point at or before `step`; -1 when there is none.
    qsizetype indexAt(double step) const;
    /// Returns the steps whose value was not finite, in order.
    const std::vector<qint64>& nonFiniteSteps() const { return m_nonFinite; }
    /// Whether the value of exactly this step was not finite.
    bool isNonFinite(qint64 step) const;
    /// Extremes of all finite values; 0 when there are none.
    double minimum() const;
    double maximum() const;

    /// Selects the points to draw for steps in [from, to] on `pixels` pixels, in order of step: all
    /// of them when there are few, else the lowest and highest point of each bucket (at most one
    /// bucket a pixel), and the newest point. Every point is a real one. One neighbour outside each
    /// end is added so that lines reach the edges.
    void sample(double from, double to, int pixels, QVector<double>& xs, QVector<double>& ys) const;

private:
    /// Indices of the lowest and highest point under a node; node i of level k covers points [i *
    /// 8^(k+1), (i+1) * 8^(k+1)). 32 bits can count more points than memory holds.
    struct Node {
        quint32 lowest, highest;
    };
    Node merged(Node, Node) const;
    Node everything() const;
    Node bucket(qsizetype first, qsizetype width) const;

    std::vector<qint64> m_steps;
    std::vector<float> m_values;
    static constexpr int kLevels = 9; ///< the last level has a node per 134 million points
    std::array<std::vector<Node>, kLevels> m_levels;
    std::vector<qint64> m_nonFinite;
};

} // namespace halfscope
