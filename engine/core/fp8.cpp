// FP8 by its definition, for references and for numbers that people type.
#include "engine/core/fp8.h"

namespace halfscope {

double nearestFp8(const Fp8Facts& facts, double x) {
    const double greatest = static_cast<double>(facts.max), size = std::fabs(x);
    if (!(size < greatest)) return std::isnan(x) ? x : std::copysign(greatest, x);
    const double exponent = size > 0 ? std::floor(std::log2(size)) : facts.minExponent;
    const double least = facts.minExponent;
    const double spacing = std::exp2(std::max(exponent, least) - facts.fractionBits);
    return std::copysign(std::nearbyint(size / spacing) * spacing, x);
}

} // namespace halfscope
