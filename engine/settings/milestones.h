// The setting schedule.milestones, as text and as numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

/// The largest milestone, in updates.
inline constexpr int64_t kLastMilestone = 10'000'000;

/// Parses "100, 200": whole numbers from 1 to kLastMilestone, each above the one before. Throws
/// InputError, a sentence with the key, for anything else.
std::vector<int64_t> milestonesOf(std::string_view text);
/// Returns such a text.
std::string milestonesText(const std::vector<int64_t>&);

} // namespace halfscope
