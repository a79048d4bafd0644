// Whether buckets of a range are as Column::extremes() promises.
#pragma once

#include "engine/runs/points.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace halfscope {

/// Whether both know the same of their values; sums that were added in another order differ by
/// rounding.
inline bool isKnownAs(const Extremes& a, const Extremes& b) {
    if (a.finite != b.finite || a.notFinite != b.notFinite) return false;
    if (a.finite == 0) return a.sum == 0 && b.sum == 0;
    const double largest = std::max(std::abs(a.lowest.value), std::abs(a.highest.value));
    const auto count = static_cast<double>(a.finite);
    return a.lowest == b.lowest && a.highest == b.highest && a.last == b.last &&
           std::abs(a.sum - b.sum) <= std::ldexp(count * count * largest, -52);
}

/// `search(from, end)` returns the extremes of all values at from <= step < end. Each bucket must
/// have all values of its steps but those of its first half, and no others than those of half a
/// width behind its end; together they must have each value of from..to once.
template <class Search>
bool areBucketsOf(const std::vector<Extremes>& buckets, int64_t from, int64_t to, Search&& search) {
    int64_t width = 0, finite = 0, notFinite = 0;
    for (const Extremes& each : buckets)
        width = std::max(width, each.to - each.from);
    for (const Extremes& each : buckets) {
        const Extremes least = search(each.from + width / 2, each.to),
                       most = search(each.from, std::min(each.to + width / 2, to + 1));
        if (each.finite < least.finite || each.finite > most.finite) return false;
        if (each.notFinite < least.notFinite || each.notFinite > most.notFinite) return false;
        if (least.finite > 0 &&
            (each.lowest.value > least.lowest.value || each.highest.value < least.highest.value))
            return false;
        if (each.finite > 0 &&
            (each.lowest.value < most.lowest.value || each.highest.value > most.highest.value ||
             each.lowest.step < each.from || each.last.step > most.last.step))
            return false;
        finite += each.finite;
        notFinite += each.notFinite;
    }
    const Extremes all = search(from, to + 1);
    return finite == all.finite && notFinite == all.notFinite;
}

} // namespace halfscope
