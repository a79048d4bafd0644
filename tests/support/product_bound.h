// How far a matrix product may deviate from the exact one.
#pragma once

#include "engine/core/dtype.h"

#include <QString>

#include <cmath>
#include <cstdint>
#include <vector>

namespace halfscope::test {

/// Returns the first element beyond its bound, or nothing. `size` holds the sums of the products'
/// magnitudes: they bound the terms of each sum and with them the rounding of a sum of k products
/// in f32. `lost` is what a product may lose besides. 16-bit results are rounded once more.
inline QString beyondBound(const std::vector<double>& got, const std::vector<double>& exact,
                           const std::vector<double>& size, int k, DType type, double lost = 0) {
    const double u32 = formatOf(DType::F32).unitRoundoff(), u = formatOf(type).unitRoundoff();
    for (size_t i = 0; i < got.size(); ++i) {
        const double bound = size[i] * ((k + 1) * u32 + lost) +
                             (type == DType::F32 ? 0 : std::fabs(exact[i]) * u * (1 + k * u32)) +
                             formatOf(type).minSubnormal;
        if (!(std::fabs(got[i] - exact[i]) <= bound))
            return QString("element %1: %2, exact %3, bound %4")
                .arg(i)
                .arg(got[i])
                .arg(exact[i])
                .arg(bound);
    }
    return {};
}

} // namespace halfscope::test
