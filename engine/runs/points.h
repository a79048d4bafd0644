// A value of a column, and the extremes and the sum of many values.
#pragma once

#include <cstdint>

namespace halfscope {

struct Point {
    int64_t step = 0;
    double value = 0;
    bool operator==(const Point&) const = default;
};

/// The extremes of the values at the steps from <= step < to.
struct Extremes {
    int64_t from = 0, to = 0;
    int64_t finite = 0;          ///< finite values
    int64_t notFinite = 0;       ///< inf and nan; the points below leave them out
    Point lowest, highest, last; ///< set when finite > 0; among equal values the first one
    double sum = 0;              ///< of the finite values; its last bits depend on how it is asked

    /// Adds `count` finite values that follow those already there.
    void add(const Point& low, const Point& high, const Point& newest, int64_t count,
             double sumOfThem) {
        if (finite == 0 || low.value < lowest.value) lowest = low;
        if (finite == 0 || high.value > highest.value) highest = high;
        last = newest;
        finite += count;
        sum += sumOfThem;
    }
    /// Adds one finite value that follows those already there.
    void add(const Point& point) { add(point, point, point, 1, point.value); }
};

} // namespace halfscope
