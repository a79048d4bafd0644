// Means over the sums that a column keeps for groups of its values.
#include "ui/plots/means.h"

#include "ui/plots/sampling.h"

#include <algorithm>
#include <cmath>

namespace halfscope {

std::vector<Mean> meansOf(const Column& column, int64_t from, int64_t to, int pixels) {
    constexpr int64_t kPixelsPerMean = 4;
    constexpr int64_t kBucketsPerPixel = 2; // so that slack at their ends is small beside a mean
    std::vector<Mean> means;
    const int64_t range = to - from + 1;
    if (column.empty() || range < 1) return means;
    // where a store holds the values, few of them or none have to be read for buckets so wide
    constexpr int64_t kWide = ChunkValues::kWide;
    int64_t wanted = kBucketsPerPixel * pixels;
    if (range >= kWide * pixels) wanted = std::min(wanted, range / kWide);
    std::vector<Extremes> buckets;
    column.extremes(from, to, static_cast<size_t>(std::max<int64_t>(wanted, 1)), buckets);
    int64_t width = 1; // as that of the buckets: a mean stays while a view moves on
    while (width * std::max<int64_t>(pixels / kPixelsPerMean, 1) < range)
        width *= 2;
    double steps = 0, sum = 0, count = 0;
    for (size_t i = 0; i < buckets.size(); ++i) {
        const Extremes& bucket = buckets[i];
        const auto finite = static_cast<double>(bucket.finite);
        steps += finite * (static_cast<double>(bucket.from) + static_cast<double>(bucket.to - 1));
        sum += bucket.sum;
        count += finite;
        const bool closes = i + 1 == buckets.size() ||
                            (buckets[i + 1].from - 1) / width != (bucket.from - 1) / width;
        if (!closes) continue;
        if (count > 0 && std::isfinite(sum)) means.push_back({steps / 2 / count, sum / count});
        steps = sum = count = 0;
    }
    return means;
}

void sampleMeans(const Column& column, double from, double to, int pixels, QVector<double>& xs,
                 QVector<double>& ys) {
    xs.clear();
    ys.clear();
    if (column.empty() || !(from <= to) || pixels < 1) return;
    const int64_t first = std::max(stepOf(std::ceil(from)), column.firstStep());
    const int64_t last = std::min(stepOf(std::floor(to)), column.lastStep());
    if (last - first + 1 < pixels) return;
    for (const Mean& mean : meansOf(column, first, last, pixels)) {
        xs.append(mean.step);
        ys.append(mean.value);
    }
}

} // namespace halfscope
