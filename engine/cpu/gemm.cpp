// The f32 matrix product on one thread: our own for small ones, else oneDNN's sgemm, or CBLAS where
// oneDNN is missing. Callers cut large products into tiles of about 512 rows and run each tile on
// one thread.
#include "engine/cpu/small_gemm.h"

#ifdef HALFSCOPE_ONEDNN
#include <dnnl.h>
#include <omp.h>
#else
#include <cblas.h>
#endif

#include "engine/core/error.h"
#include "engine/core/text.h"
#include "engine/core/usable_memory.h"

namespace halfscope {

#ifdef HALFSCOPE_ONEDNN

void requireRoomForCode() {
    constexpr size_t kRoom = size_t{32} << 20; // the products' code and buffers take 13 MiB
    if (!hasAddressSpace(kRoom))
        throw EngineError(phrase("Devices", "cpu: oneDNN needs %1 of address space, which is not "
                                            "free (a higher ulimit -v allows more; a smaller "
                                            "picture, batch or width, or fewer lanes need less)"),
                          sizeText(kRoom));
}

void libraryGemm(const GemmShape& s, const float* a, const float* b, float* c) {
    requireRoomForCode();
    const dnnl_status_t status =
        dnnl_sgemm(s.transposeA ? 'T' : 'N', s.transposeB ? 'T' : 'N', s.m, s.n, s.k, 1.0f, a,
                   s.lda, b, s.ldb, s.accumulate ? 1.0f : 0.0f, c, s.ldc);
    if (status != dnnl_success)
        throw EngineError(phrase("Devices", "oneDNN sgemm failed with status %1"), int{status});
}

std::string gemmLibrary() {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
}

namespace {

bool limitVectors() {
    const VectorSet set = usedVectorSet();
    return set >= VectorSet::Avx512 ||
           dnnl_set_max_cpu_isa(set == VectorSet::Avx2 ? dnnl_cpu_isa_avx2 : dnnl_cpu_isa_sse41) ==
               dnnl_success;
}

} // namespace

void limitGemmLibrary() { [[maybe_unused]] static const bool limited = limitVectors(); }

void prepareGemmThread() noexcept { omp_set_num_threads(1); }

#else

void libraryGemm(const GemmShape& s, const float* a, const float* b, float* c) {
    const auto index = [](int64_t value) { return static_cast<int>(value); };
    cblas_sgemm(CblasRowMajor, s.transposeA ? CblasTrans : CblasNoTrans,
                s.transposeB ? CblasTrans : CblasNoTrans, index(s.m), index(s.n), index(s.k), 1.0f,
                a, index(s.lda), b, index(s.ldb), s.accumulate ? 1.0f : 0.0f, c, index(s.ldc));
}

extern "C" {
// Only OpenBLAS has these; the reference BLAS lacks them, and has one thread in any case.
__attribute__((weak)) void openblas_set_num_threads(int);
__attribute__((weak)) char* openblas_get_config(void);
}

std::string gemmLibrary() {
    if (!openblas_get_config) return "CBLAS";
    const std::string config = openblas_get_config();
    return config.substr(0, config.find(' ', config.find(' ') + 1));
}

void limitGemmLibrary() {}

void requireRoomForCode() {}

void prepareGemmThread() noexcept {
    if (openblas_set_num_threads) openblas_set_num_threads(1);
}

#endif

void gemm(const GemmShape& s, const float* a, const float* b, float* c) {
    if (isSmallGemm(s))
        smallGemm(usedVectorSet(), s, a, b, c);
    else
        libraryGemm(s, a, b, c);
}

} // namespace halfscope
