// In how many slots rows differ from the rows most like them: those are the settings of thousands
// of runs, which cannot be compared pair by pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace halfscope {

/// What the rows have in one slot. Two rows differ there if both have a value, the values are not
/// the same, their kinds can be compared, and they are not both silent.
struct SlotCells {
    std::vector<int> values;     ///< the same for the same value; -1 for a row that has none
    std::vector<int> kinds;      ///< small numbers
    std::vector<uint8_t> silent; ///< 1 when there is nothing to say of the value
};

/// Tells whether rows of two kinds can be compared in a slot; the order does not matter.
using ComparableKinds = std::function<bool(size_t slot, int, int)>;

inline constexpr uint32_t kNoneDiffers = UINT32_MAX;

/// Returns, by row and slot, the least number of slots in which a row differs from one of those
/// that differ from it in this slot; kNoneDiffers where none does. Only the first `rows` rows of
/// the cells count. Takes time in proportion to the rows times the different ones that are left
/// without some slots, at most eight, that are chosen for it: one for a sweep of eight settings.
/// Only where more of them vary at random, this is the square of the rows.
std::vector<std::vector<uint32_t>> nearestRows(std::span<const SlotCells>, size_t rows,
                                               const ComparableKinds&);

} // namespace halfscope
