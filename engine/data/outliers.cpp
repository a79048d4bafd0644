// Looks at the three values that are farthest from the median, and at what is left without them.
#include "engine/data/outliers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace halfscope {

namespace {

constexpr size_t kFewest = 50, kMost = 3; // values; outliers

double medianOf(std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    return *middle;
}

/// The mean of values, and the sum of the squares of their distances from it.
struct Moments {
    double mean = 0, squares = 0;
    size_t count = 0;

    void add(double value) { // as Welford did, in one pass
        const double before = value - mean;
        mean += before / static_cast<double>(++count);
        squares += before * (value - mean);
    }
    double deviation() const { return std::sqrt(squares / static_cast<double>(count)); }
};

/// Whether the values are far from the others by a factor, not only by a difference: those of a
/// log-normal column are not.
bool areFarByFactor(std::span<const double> values, std::span<const size_t> far) {
    constexpr double kDeviations = 5;
    if (std::ranges::any_of(values, [](double value) { return value <= 0; })) return true;
    Moments others;
    for (size_t i = 0; i < values.size(); ++i)
        if (std::ranges::find(far, i) == far.end()) others.add(std::log(values[i]));
    return std::ranges::all_of(far, [&](size_t i) {
        return std::abs(std::log(values[i]) - others.mean) > kDeviations * others.deviation();
    });
}

/// Whether the values have nearly all of the variance.
bool holdVariance(std::span<const double> values, std::span<const size_t> far) {
    constexpr double kLeft = 0.1;
    Moments all, others;
    for (size_t i = 0; i < values.size(); ++i) {
        all.add(values[i]);
        if (std::ranges::find(far, i) == far.end()) others.add(values[i]);
    }
    return others.squares < kLeft * all.squares;
}

} // namespace

std::vector<size_t> outliersOf(std::span<const double> values) {
    constexpr double kGap = 10;
    if (values.size() < kFewest ||
        !std::ranges::all_of(values, [](double value) { return std::isfinite(value); }))
        return {};
    const double median = medianOf(values);
    const auto distance = [&](size_t i) { return std::abs(values[i] - median); };
    std::vector<size_t> order(values.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::partial_sort(order, order.begin() + kMost + 1, std::ranges::greater(), distance);
    for (size_t count = 1; count <= kMost; ++count) {
        const double next = distance(order[count]); // 0 where a flag is set in a line or two
        if (next == 0 || distance(order[count - 1]) < kGap * next) continue;
        std::vector<size_t> far(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
        if (!holdVariance(values, far) || !areFarByFactor(values, far)) return {};
        std::ranges::sort(far);
        return far;
    }
    return {};
}

} // namespace halfscope
