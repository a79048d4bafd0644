// Convolutions with few taps for processors with AVX-512.
#include "engine/cpu/tap_conv_kernel.h"

#if defined(__AVX512F__)
#include "engine/cpu/panel_vectors_avx512.h"

namespace halfscope {

void copyRowsAvx512(const float* from, int64_t rows, int64_t columns, float* to, int64_t pitch) {
    copyRows<Avx512Floats>(from, rows, columns, to, pitch);
}

void tapForwardAvx512(const TapShape& s, const float* image, const float* weight, float* y) {
    compute<Avx512Floats, 8>(s, image, weight, y);
}

void addTapProductsAvx512(const TapShape& s, const float* image, const float* dy, float* sums) {
    addProducts<Avx512Floats, 4>(s, image, dy, sums);
}

} // namespace halfscope
#endif
