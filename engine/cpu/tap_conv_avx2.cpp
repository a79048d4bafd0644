// Convolutions with few taps for processors with AVX2 and FMA.
#include "engine/cpu/tap_conv_kernel.h"

#if defined(__AVX2__) && defined(__FMA__)
#include "engine/cpu/panel_vectors_avx2.h"

namespace halfscope {

void copyRowsAvx2(const float* from, int64_t rows, int64_t columns, float* to, int64_t pitch) {
    copyRows<Avx2Floats>(from, rows, columns, to, pitch);
}

void tapForwardAvx2(const TapShape& s, const float* image, const float* weight, float* y) {
    compute<Avx2Floats, 4>(s, image, weight, y);
}

void addTapProductsAvx2(const TapShape& s, const float* image, const float* dy, float* sums) {
    addProducts<Avx2Floats, 2>(s, image, dy, sums);
}

} // namespace halfscope
#endif
