// The pyramid: each node names the lowest and the highest of its eight children.
#include "ui/plots/series.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

namespace {
constexpr int kFanOutBits = 3;
constexpr qsizetype kFanOut = 1 << kFanOutBits;
} // namespace

bool Series::append(qint64 step, double value) {
    const qint64 last = std::max(m_steps.empty() ? step : m_steps.back(),
                                 m_nonFinite.empty() ? step : m_nonFinite.back());
    if (step < last) return false;
    const auto rounded = static_cast<float>(value);
    if (!std::isfinite(rounded)) {
        m_nonFinite.push_back(step);
        return true;
    }
    const auto index = static_cast<quint32>(m_values.size());
    m_steps.push_back(step);
    m_values.push_back(rounded);
    for (int level = 0; level < kLevels; ++level) {
        auto& nodes = m_levels[static_cast<size_t>(level)];
        const auto node = static_cast<size_t>(index >> (kFanOutBits * (level + 1)));
        if (node == nodes.size()) {
            nodes.push_back({index, index});
            continue;
        }
        const Node before = nodes[node];
        nodes[node] = merged(before, {index, index});
        if (nodes[node].lowest == before.lowest && nodes[node].highest == before.highest)
            break; // no new extreme here, so none further up
    }
    return true;
}

void Series::clear() {
    m_steps.clear();
    m_values.clear();
    for (auto& level : m_levels)
        level.clear();
    m_nonFinite.clear();
}

Series::Node Series::merged(Node a, Node b) const {
    // The earlier one of equal values stays, so that the same points are drawn frame after frame.
    return {m_values[b.lowest] < m_values[a.lowest] ? b.lowest : a.lowest,
            m_values[b.highest] > m_values[a.highest] ? b.highest : a.highest};
}

qsizetype Series::indexAt(double step) const {
    const auto after =
        std::upper_bound(m_steps.begin(), m_steps.end(), step,
                         [](double s, qint64 v) { return s < static_cast<double>(v); });
    return static_cast<qsizetype>(after - m_steps.begin()) - 1;
}

bool Series::isNonFinite(qint64 step) const {
    return std::binary_search(m_nonFinite.begin(), m_nonFinite.end(), step);
}

double Series::minimum() const {
    return isEmpty() ? 0 : value(static_cast<qsizetype>(everything().lowest));
}

double Series::maximum() const {
    return isEmpty() ? 0 : value(static_cast<qsizetype>(everything().highest));
}

Series::Node Series::everything() const {
    Node all = m_levels.back().front();
    for (const Node& node : m_levels.back())
        all = merged(all, node);
    return all;
}

/// Returns the extremes of points [first, first + width); first is a multiple of width, a power of
/// two.
Series::Node Series::bucket(qsizetype first, qsizetype width) const {
    const qsizetype end = std::min(first + width, size());
    qsizetype covered = 1;
    size_t level = 0;
    while (covered * kFanOut <= width && level < size_t{kLevels}) {
        covered *= kFanOut;
        ++level;
    }
    const auto start = static_cast<quint32>(first);
    if (level == 0) {
        Node all{start, start};
        for (qsizetype i = first + 1; i < end; ++i)
            all = merged(all, {static_cast<quint32>(i), static_cast<quint32>(i)});
        return all;
    }
    const auto& nodes = m_levels[level - 1];
    Node all{start, start};
    for (qsizetype i = first / covered; i * covered < end; ++i)
        all = merged(all, nodes[static_cast<size_t>(i)]);
    return all;
}

void Series::sample(double from, double to, int pixels, QVector<double>& xs,
                    QVector<double>& ys) const {
    xs.clear();
    ys.clear();
    if (isEmpty() || !(from <= to) || pixels < 1) return;
    const auto lower =
        std::lower_bound(m_steps.begin(), m_steps.end(), from,
                         [](qint64 v, double s) { return static_cast<double>(v) < s; });
    const qsizetype first =
        std::max<qsizetype>(0, static_cast<qsizetype>(lower - m_steps.begin()) - 1);
    const qsizetype last = std::min(size() - 1, indexAt(to) + 1);
    // Buckets lie at multiples of a power of two: they stay the same while the view follows the
    // newest step, so the curve does not shimmer.
    qsizetype width = 1;
    while ((last - first + 1) / width > pixels)
        width *= 2;
    const qsizetype buckets = (last - first) / width + 2;
    xs.resize(width <= 2 ? last - first + 1 : 2 * buckets + 1);
    ys.resize(xs.size());
    double* x = xs.data(); // not detached point by point: this runs for every curve and frame
    double* y = ys.data();
    const auto put = [&](qsizetype i) {
        *x++ = static_cast<double>(step(i));
        *y++ = value(i);
    };
    for (qsizetype i = first / width * width; width > 2 && i <= last; i += width) {
        const Node extremes = bucket(i, width);
        const auto [early, late] = std::minmax(extremes.lowest, extremes.highest);
        put(early);
        if (late != early) put(late);
        if (i + width >= size() && late + 1 != size()) put(size() - 1);
    }
    for (qsizetype i = first; width <= 2 && i <= last; ++i)
        put(i);
    xs.resize(x - xs.constData());
    ys.resize(xs.size());
}

} // namespace halfscope
