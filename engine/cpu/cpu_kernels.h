// The kernels of the CPU's table of ops, the scratch memory they need, and the matrix product that
// they share.
#pragma once

#include "engine/cpu/op_table.h"

#include <cstdint>
#include <string>

namespace halfscope {

/// Computes c (m, n) = op(a) op(b) + (accumulate ? c : 0), row-major f32, leading dimensions in
/// elements, on the calling thread alone. Small products run in an order of our own (small_gemm.h)
/// and have the same bits on every processor; larger ones use oneDNN, or CBLAS where oneDNN is
/// missing.
struct GemmShape {
    int64_t m = 0, n = 0, k = 0;
    bool transposeA = false, transposeB = false;
    int64_t lda = 0, ldb = 0, ldc = 0;
    bool accumulate = false;
};
void gemm(const GemmShape&, const float* a, const float* b, float* c);
/// Computes the same with the library, whatever the size.
void libraryGemm(const GemmShape&, const float* a, const float* b, float* c);
/// Returns "oneDNN 2.6.3" or "OpenBLAS 0.3.21".
std::string gemmLibrary();
/// Limits oneDNN to usedVectorSet(). Must come before the library's first use: it refuses later,
/// when it has chosen. Throws std::bad_alloc.
void limitGemmLibrary();
/// Throws EngineError where a limit on the address space leaves oneDNN no room for the code that it
/// makes for the first product of a kind: it would crash.
void requireRoomForCode();
/// Must be called once on each thread that calls gemm: keeps the library from starting threads of
/// its own.
void prepareGemmThread() noexcept;

// Kernels (CpuOp::kernel).
void cpuMatmul(const CpuCall&);
void cpuConv2d(const CpuCall&);
void cpuConv2dInputGrad(const CpuCall&);
void cpuConv2dWeightGrad(const CpuCall&);
void cpuSum(const CpuCall&);
void cpuMean(const CpuCall&);
void cpuReduceMax(const CpuCall&);
void cpuReduceMin(const CpuCall&);
void cpuProd(const CpuCall&);
void cpuScan(const CpuCall&); ///< Cumsum, Cumprod
void cpuRandom(const CpuCall&);
void cpuCopyStrided(const CpuCall&); ///< Transpose, Slice, Expand
void cpuPad(const CpuCall&);
void cpuConcat(const CpuCall&);
void cpuGather(const CpuCall&);
void cpuScatterAdd(const CpuCall&);
void cpuIota(const CpuCall&);
void cpuMaxPoolIndex(const CpuCall&);
void cpuAvgPool(const CpuCall&);
void cpuAvgPoolGrad(const CpuCall&);
void cpuCountNonFinite(const CpuCall&);
void cpuScalerUpdate(const CpuCall&);

/// Whether the library convolves images with channels last, and nothing of ours does it better. It
/// then takes an image or an output of planes beside the other, too: it brings it into its layout.
bool cpuTakesChannelsLast(const Graph&, NodeId convolution);

// Scratch memory (CpuOp::scratch).
size_t cpuMatmulScratchBytes(const Graph&, NodeId, int threads);
size_t cpuConvScratchBytes(const Graph&, NodeId, int threads);
size_t cpuReduceScratchBytes(const Graph&, NodeId, int threads);
size_t cpuScatterScratchBytes(const Graph&, NodeId, int threads);
size_t cpuPoolScratchBytes(const Graph&, NodeId, int threads);

} // namespace halfscope
