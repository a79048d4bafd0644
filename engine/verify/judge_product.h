// Judges a matrix product that a device has computed against double precision. The bound is that of
// the numeric contract: operands in their type, exact products, sums in f32, one rounding to
// storage.
#pragma once

#include "engine/graph/op.h"
#include "engine/verify/suites.h"

#include <cstdint>
#include <string>
#include <vector>

namespace halfscope::recorded {

/// A matrix within other values, perhaps transposed; strides are in elements.
struct MatrixView {
    const double* values = nullptr;
    int64_t rowStride = 0, columnStride = 0;
    double at(int64_t row, int64_t column) const {
        return values[row * rowStride + column * columnStride];
    }
};

/// a (m, k) times b (k, n), plus bias (n) in each row.
struct ProductTruth {
    std::string name; ///< "y = x W^T + b"
    int64_t m = 0, n = 0, k = 0;
    MatrixView a, b;              ///< as the product takes them: rounded to TF32 for TF32
    const double* bias = nullptr; ///< null when there is none
    DType type = DType::F32;      ///< storage of operands and result
    MathMode math = MathMode::F32;
};

/// Which elements are compared. Computing all of a large product in double would take minutes.
enum class Elements : uint8_t {
    Sample, ///< kSampledElements, half of them in rows and columns at edges of tiles
    /// The sample, and for all elements whether they are finite, infinite or NaN: for operands of
    /// which a few are not finite and none is so large that a sum could overflow.
    SampleAndPlaces,
    /// All, exactly: for whole numbers whose sums are exact in f32 and in storage. Sums of rows
    /// show whether an element is wrong, so no product need be computed.
    All,
};
inline constexpr int kSampledElements = 512;

/// Returns how many f32 roundings a term passes on its way into a sum of k, in any order: that of
/// its product and those of the sums; one more, so that a sum may begin from zero. Products of f32
/// may be put together from bfloat16 terms, which omits less than two roundings (term_gemm.h).
double roundingsOf(const ProductTruth&);

/// Adds the elements of `got` (m, n), row-major, to the result. A deviation is the smallest error
/// of a sum, before it was stored, that explains the value, as a fraction of the sum of its terms'
/// magnitudes; the bound follows from roundingsOf().
void judgeProduct(CaseResult&, const ProductTruth&, const std::vector<double>& got, Elements);

} // namespace halfscope::recorded
