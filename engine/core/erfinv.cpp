// The inverse of the error function: an approximation that Halley's steps refine.
#include "engine/core/erfinv.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace halfscope {

double erfinvOf(double x) {
    const double size = std::fabs(x);
    if (!(size < 1)) return size == 1 ? std::copysign(HUGE_VAL, x) : std::nan("");
    // Winitzki's approximation ("A handy approximation for the error function and its inverse",
    // 2008), good to 2e-3; then Halley's steps, which cube the error, on erf itself.
    constexpr double kA = 0.147;
    const double log = std::log1p(-size * size), half = 2 / (std::numbers::pi * kA) + log / 2;
    double z = std::sqrt(std::max(0.0, std::sqrt(half * half - log / kA) - half));
    constexpr int kSteps = 3;
    for (int i = 0; i < kSteps; ++i) {
        // erfc for large arguments, because 1 - erf would cancel.
        const double off = size < 0.5 ? std::erf(z) - size : (1 - size) - std::erfc(z);
        const double newton = off * std::exp(z * z) / (2 * std::numbers::inv_sqrtpi);
        z -= newton / (1 + z * newton);
    }
    return std::copysign(z, x);
}

} // namespace halfscope
