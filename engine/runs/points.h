// A value of a column, and what many of them add up to.
#pragma once

#include <cstdint>

namespace halfscope {

struct Point {
    int64_t step = 0;
    double value = 0;
    bool operator==(const Point&) const = default;
};

/// Of the values at the steps from <= step < to.
struct Extremes {
    int64_t from = 0, to = 0;
    int64_t finite = 0;          ///< finite values
    int64_t notFinite = 0;       ///< inf and nan; they never count in the points below
    Point lowest, highest, last; ///< where finite > 0; of equal values the first one

    /// Adds `count` finite values that follow those that are there.
    void add(const Point& low, const Point& high, const Point& newest, int64_t count) {
        if (finite == 0 || low.value < lowest.value) lowest = low;
        if (finite == 0 || high.value > highest.value) highest = high;
        last = newest;
        finite += count;
    }
};

} // namespace halfscope
