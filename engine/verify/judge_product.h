// A matrix product that a device has computed, against double precision. Its bound is that of the
// numeric contract: operands in their type, exact products, sums in f32, one rounding to storage.
#pragma once

#include "engine/graph/op.h"
#include "engine/verify/suites.h"

#include <cstdint>
#include <string>
#include <vector>

namespace halfscope::recorded {

/// A matrix inside of other values, perhaps turned; strides in elements.
struct MatrixView {
    const double* values = nullptr;
    int64_t rowStride = 0, columnStride = 0;
    double at(int64_t row, int64_t column) const {
        return values[row * rowStride + column * columnStride];
    }
};

/// a (m, k) b (k, n), and in each row + bias (n)
struct ProductTruth {
    std::string name; ///< "y = x W^T + b"
    int64_t m = 0, n = 0, k = 0;
    MatrixView a, b;              ///< as the product takes them: for TF32, rounded to that
    const double* bias = nullptr; ///< null: none
    DType type = DType::F32;      ///< in which operands and result are stored
    MathMode math = MathMode::F32;
};

/// Which elements are compared. All of a large product in double would take minutes.
enum class Elements : uint8_t {
    Sample, ///< kSampledElements, half of their rows and columns at edges of tiles
    /// These, and which of all elements are finite, infinite and NaN: for operands of which a few
    /// are not finite and none is so large that a sum could overflow.
    SampleAndPlaces,
    /// Each, to the last bit: for whole numbers whose sums are exact in f32 and in storage. Sums of
    /// rows show whether an element is wrong, so that it takes no product.
    All,
};
inline constexpr int kSampledElements = 512;

/// Roundings of f32 that a term passes on its way into a sum of k, in any order: that of its
/// product and those of the sums; one more, so that a sum may begin from zero. Products of f32 may
/// be put together from bfloat16 terms, which leaves out less than two roundings (term_gemm.h).
double roundingsOf(const ProductTruth&);

/// Takes the elements of `got` (m, n), row-major, into the result. A deviation is the smallest
/// error of a sum before it was stored that explains the value, as a fraction of the sum of its
/// terms' sizes; the bound is that of roundingsOf().
void judgeProduct(CaseResult&, const ProductTruth&, const std::vector<double>& got, Elements);

} // namespace halfscope::recorded
