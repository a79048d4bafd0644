// Shares in percent, for people: less than all is never shown as 100 %.
#pragma once

#include <cmath>
#include <optional>

namespace halfscope {

/// Returns the largest number below 100 with so many decimals, for a share from 0 to 1 that is less
/// than all and that these decimals would round to 100 %: it is shown as more than that number.
/// Returns nothing for other shares.
inline std::optional<double> nearlyAllPercent(double share, int decimals) {
    const double last = std::pow(10.0, -decimals);
    const double percent = 100 * share;
    if (share >= 1 || !(percent >= 100 - last / 2)) return std::nullopt;
    return 100 - last;
}

} // namespace halfscope
