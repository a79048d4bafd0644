// Means over the sums that a column keeps for groups of its values.
#include "ui/plots/means.h"

#include "ui/plots/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace halfscope {

namespace {

/// How steps are put together: the same in all stretches of a view.
struct Grouping {
    int64_t bucket = 1; ///< in steps, as the next one
    int64_t width = 1;  ///< of a mean

    static Grouping of(int64_t from, int64_t to, int pixels) {
        constexpr int64_t kPixelsPerMean = 4;
        constexpr int64_t kBucketsPerPixel = 2; // so that slack at their ends is small beside a
                                                // mean
        // where a store holds the values, few of them or none have to be read for buckets so wide
        constexpr int64_t kWide = ChunkValues::kWide;
        const int64_t range = to - from + 1;
        int64_t wanted = kBucketsPerPixel * pixels;
        if (range >= kWide * pixels) wanted = std::min(wanted, range / kWide);
        wanted = std::max<int64_t>(wanted, 1);
        Grouping grouping;
        while (grouping.bucketsIn(from, to) > wanted)
            grouping.bucket *= 2;
        // as that of the buckets: a mean stays while a view moves on
        while (grouping.width * std::max<int64_t>(pixels / kPixelsPerMean, 1) < range)
            grouping.width *= 2;
        return grouping;
    }
    int64_t bucketsIn(int64_t from, int64_t to) const {
        return (to - 1) / bucket - (from - 1) / bucket + 1;
    }
};

/// Appends the means of the steps from..to.
void addMeans(const Column& column, int64_t from, int64_t to, const Grouping& grouping,
              std::vector<Mean>& means) {
    std::vector<Extremes> buckets;
    column.extremes(from, to, static_cast<size_t>(grouping.bucketsIn(from, to)), buckets);
    double steps = 0, sum = 0, count = 0;
    for (size_t i = 0; i < buckets.size(); ++i) {
        const Extremes& bucket = buckets[i];
        const auto finite = static_cast<double>(bucket.finite);
        steps += finite * (static_cast<double>(bucket.from) + static_cast<double>(bucket.to - 1));
        sum += bucket.sum;
        count += finite;
        const bool closes = i + 1 == buckets.size() || (buckets[i + 1].from - 1) / grouping.width !=
                                                           (bucket.from - 1) / grouping.width;
        if (!closes) continue;
        if (count > 0 && std::isfinite(sum)) means.push_back({steps / 2 / count, sum / count});
        steps = sum = count = 0;
    }
}

} // namespace

std::vector<Mean> meansOf(const Column& column, int64_t from, int64_t to, int pixels) {
    std::vector<Mean> means;
    if (!column.empty() && from <= to)
        addMeans(column, from, to, Grouping::of(from, to, pixels), means);
    return means;
}

void sampleMeans(const Column& column, double from, double to, int pixels,
                 std::span<const int64_t> changes, QVector<double>& xs, QVector<double>& ys) {
    xs.clear();
    ys.clear();
    if (column.empty() || !(from <= to) || pixels < 1) return;
    const int64_t first = std::max(stepOf(std::ceil(from)), column.firstStep());
    const int64_t last = std::min(stepOf(std::floor(to)), column.lastStep());
    if (last - first + 1 < pixels) return;
    const auto put = [&](double step, double value) {
        if (!xs.isEmpty() && xs.back() >= step) return; // a mean of one step is there already
        xs.append(step);
        ys.append(value);
    };
    const Grouping grouping = Grouping::of(first, last, pixels);
    auto change = std::upper_bound(changes.begin(), changes.end(), first);
    std::vector<Mean> means;
    for (int64_t begin = first; begin <= last;) {
        while (change != changes.end() && *change <= begin)
            ++change;
        const int64_t end = change != changes.end() ? std::min(*change - 1, last) : last;
        means.clear();
        addMeans(column, begin, end, grouping, means);
        if (begin > first && !means.empty()) put(static_cast<double>(begin), means.front().value);
        for (const Mean& mean : means)
            put(mean.step, mean.value);
        if (end < last && !means.empty()) put(static_cast<double>(end), means.back().value);
        begin = end + 1;
    }
}

void followWhereSmooth(const QVector<double>& curveXs, const QVector<double>& curveYs,
                       QVector<double>& xs, QVector<double>& ys) {
    constexpr qsizetype kBeside = 2; // stretches on each side: one of noise may rise by chance
    const qsizetype count = xs.size(), points = curveXs.size();
    // by point: how often the curve has turned before
    std::vector<qsizetype> turns(static_cast<size_t>(points) + 1, 0);
    double before = 0;
    for (qsizetype i = 1; i < points; ++i) {
        const double rise = curveYs[i] - curveYs[i - 1];
        turns[static_cast<size_t>(i) + 1] = turns[static_cast<size_t>(i)] + (rise * before < 0);
        if (rise != 0) before = rise;
    }
    // by mean: the first point of its stretch, which ends half-way to the next one
    std::vector<qsizetype> firsts{0};
    for (qsizetype i = 1; i < count; ++i) {
        const double border = (xs[i - 1] + xs[i]) / 2;
        const auto first = std::lower_bound(curveXs.begin(), curveXs.end(), border);
        firsts.push_back(first - curveXs.begin());
    }
    firsts.push_back(points);
    const auto firstOf = [&](qsizetype mean) {
        return firsts[static_cast<size_t>(std::clamp<qsizetype>(mean, 0, count))];
    };
    QVector<double> lineXs, lineYs;
    for (qsizetype i = 0; i < count; ++i) {
        const qsizetype from = firstOf(i - kBeside), to = firstOf(i + kBeside + 1);
        const bool smooth = to > from && firstOf(i + 1) > firstOf(i) &&
                            turns[static_cast<size_t>(to)] == turns[static_cast<size_t>(from) + 1];
        if (!smooth) {
            lineXs.append(xs[i]);
            lineYs.append(ys[i]);
            continue;
        }
        for (qsizetype point = firstOf(i); point < firstOf(i + 1); ++point) {
            lineXs.append(curveXs[point]);
            lineYs.append(curveYs[point]);
        }
    }
    xs = std::move(lineXs);
    ys = std::move(lineYs);
}

void averageDense(QVector<double>& values) {
    constexpr qsizetype kTogether = 16; // two of a pixel
    qsizetype kept = 1;
    for (qsizetype i = 1; i + 1 < values.size(); i += kTogether) {
        const qsizetype end = std::min(i + kTogether, values.size() - 1);
        const double sum = std::accumulate(values.begin() + i, values.begin() + end, 0.0);
        values[kept++] = sum / static_cast<double>(end - i);
    }
    values[kept++] = values.back();
    values.resize(kept);
}

} // namespace halfscope
