// Finds the values of a column that standardising cannot cope with.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace halfscope {

/// Returns the indices of one to three values, in their order, that are so far from all others that
/// these become nearly equal when the column is standardised: they lie ten times as far from the
/// median as the next one and hold nine tenths of the variance. Where all values are above 0, their
/// logarithms must be far apart, too, which they are not in columns such as incomes. Nothing where
/// there are no such values, and of fewer than 50.
std::vector<size_t> outliersOf(std::span<const double> values);

} // namespace halfscope
