// What sets the settings of several runs apart, in the order in which it tells one run from those
// that are most like it.
#pragma once

#include "engine/settings/lane_titles.h"

#include <span>
#include <string>
#include <vector>

namespace halfscope {

/// Returns, by configuration, the settings in which it differs from others, as short texts: "lr
/// 0.01", "width 64", and "B: init_scale 2^24" for one of a lane, which is compared with the lane
/// of the same place where that has the same precision; "fp32 + amp-fp16" where the lanes differ.
/// What tells it from the configuration that differs least comes first, and then what fewest
/// others have. The title does not count;
/// where it is a preset's, it tells the settings of that preset, and these are left out as long as
/// all configurations of this title have them.
std::vector<std::vector<std::string>> settingDifferences(std::span<const RunConfig* const>,
                                                         const SettingName& = shortKey);

} // namespace halfscope
