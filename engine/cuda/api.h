// Every function of the CUDA driver, NVRTC, cuBLASLt and cuDNN that is used, as tables of pointers
// that are filled from the libraries at run time, or by a test. Nothing else of CUDA is ever
// called.
#pragma once

#include "engine/core/message.h"

#include <string>

#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>

#ifdef HALFSCOPE_CUDNN
#include <cudnn.h>
#endif

namespace halfscope::cuda {

// cuda.h gives many functions a version by a macro (cuMemAlloc is cuMemAlloc_v2). The macros of
// these lists expand it, so that a member has the name that the library exports.
#define HALFSCOPE_DRIVER_FUNCTIONS(X)                                                              \
    X(cuInit)                                                                                      \
    X(cuDriverGetVersion)                                                                          \
    X(cuGetErrorName)                                                                              \
    X(cuGetErrorString)                                                                            \
    X(cuDeviceGetCount)                                                                            \
    X(cuDeviceGet)                                                                                 \
    X(cuDeviceGetName)                                                                             \
    X(cuDeviceGetAttribute)                                                                        \
    X(cuDeviceTotalMem)                                                                            \
    X(cuDevicePrimaryCtxRetain)                                                                    \
    X(cuDevicePrimaryCtxRelease)                                                                   \
    X(cuCtxSetCurrent)                                                                             \
    X(cuMemGetInfo)                                                                                \
    X(cuMemAlloc)                                                                                  \
    X(cuMemFree)                                                                                   \
    X(cuMemHostAlloc)                                                                              \
    X(cuMemFreeHost)                                                                               \
    X(cuMemHostGetDevicePointer)                                                                   \
    X(cuMemcpyHtoDAsync)                                                                           \
    X(cuMemcpyDtoHAsync)                                                                           \
    X(cuMemcpyDtoDAsync)                                                                           \
    X(cuMemsetD8Async)                                                                             \
    X(cuStreamCreate)                                                                              \
    X(cuStreamDestroy)                                                                             \
    X(cuStreamSynchronize)                                                                         \
    X(cuStreamQuery)                                                                               \
    X(cuStreamWaitEvent)                                                                           \
    X(cuStreamBeginCapture)                                                                        \
    X(cuStreamEndCapture)                                                                          \
    X(cuGraphInstantiate)                                                                          \
    X(cuGraphUpload)                                                                               \
    X(cuGraphLaunch)                                                                               \
    X(cuGraphDestroy)                                                                              \
    X(cuGraphExecDestroy)                                                                          \
    X(cuEventCreate)                                                                               \
    X(cuEventDestroy)                                                                              \
    X(cuEventRecord)                                                                               \
    X(cuEventSynchronize)                                                                          \
    X(cuEventElapsedTime)                                                                          \
    X(cuModuleLoadData)                                                                            \
    X(cuModuleUnload)                                                                              \
    X(cuModuleGetFunction)                                                                         \
    X(cuFuncGetAttribute)                                                                          \
    X(cuFuncSetAttribute)                                                                          \
    X(cuLaunchKernel)

#define HALFSCOPE_COMPILER_FUNCTIONS(X)                                                            \
    X(nvrtcVersion)                                                                                \
    X(nvrtcGetErrorString)                                                                         \
    X(nvrtcGetNumSupportedArchs)                                                                   \
    X(nvrtcGetSupportedArchs)                                                                      \
    X(nvrtcCreateProgram)                                                                          \
    X(nvrtcDestroyProgram)                                                                         \
    X(nvrtcCompileProgram)                                                                         \
    X(nvrtcGetProgramLogSize)                                                                      \
    X(nvrtcGetProgramLog)                                                                          \
    X(nvrtcGetCUBINSize)                                                                           \
    X(nvrtcGetCUBIN)                                                                               \
    X(nvrtcGetPTXSize)                                                                             \
    X(nvrtcGetPTX)

#define HALFSCOPE_BLAS_FUNCTIONS(X)                                                                \
    X(cublasLtGetVersion)                                                                          \
    X(cublasLtGetStatusString)                                                                     \
    X(cublasLtCreate)                                                                              \
    X(cublasLtDestroy)                                                                             \
    X(cublasLtMatmulDescCreate)                                                                    \
    X(cublasLtMatmulDescDestroy)                                                                   \
    X(cublasLtMatmulDescSetAttribute)                                                              \
    X(cublasLtMatrixLayoutCreate)                                                                  \
    X(cublasLtMatrixLayoutDestroy)                                                                 \
    X(cublasLtMatrixLayoutSetAttribute)                                                            \
    X(cublasLtMatmulPreferenceCreate)                                                              \
    X(cublasLtMatmulPreferenceDestroy)                                                             \
    X(cublasLtMatmulPreferenceSetAttribute)                                                        \
    X(cublasLtMatmulAlgoGetHeuristic)                                                              \
    X(cublasLtMatmul)

#define HALFSCOPE_DNN_FUNCTIONS(X)                                                                 \
    X(cudnnGetVersion)                                                                             \
    X(cudnnGetCudartVersion)                                                                       \
    X(cudnnGetErrorString)                                                                         \
    X(cudnnCreate)                                                                                 \
    X(cudnnDestroy)                                                                                \
    X(cudnnSetStream)                                                                              \
    X(cudnnCreateTensorDescriptor)                                                                 \
    X(cudnnDestroyTensorDescriptor)                                                                \
    X(cudnnSetTensor4dDescriptor)                                                                  \
    X(cudnnCreateFilterDescriptor)                                                                 \
    X(cudnnDestroyFilterDescriptor)                                                                \
    X(cudnnSetFilter4dDescriptor)                                                                  \
    X(cudnnCreateConvolutionDescriptor)                                                            \
    X(cudnnDestroyConvolutionDescriptor)                                                           \
    X(cudnnSetConvolution2dDescriptor)                                                             \
    X(cudnnSetConvolutionGroupCount)                                                               \
    X(cudnnSetConvolutionMathType)                                                                 \
    X(cudnnGetConvolutionForwardAlgorithm_v7)                                                      \
    X(cudnnGetConvolutionBackwardDataAlgorithm_v7)                                                 \
    X(cudnnGetConvolutionBackwardFilterAlgorithm_v7)                                               \
    X(cudnnConvolutionForward)                                                                     \
    X(cudnnConvolutionBackwardData)                                                                \
    X(cudnnConvolutionBackwardFilter)

#define HALFSCOPE_MEMBER(name) decltype(&::name) name = nullptr;
struct DriverApi {
    HALFSCOPE_DRIVER_FUNCTIONS(HALFSCOPE_MEMBER)
};
struct CompilerApi {
    HALFSCOPE_COMPILER_FUNCTIONS(HALFSCOPE_MEMBER)
};
struct BlasApi {
    HALFSCOPE_BLAS_FUNCTIONS(HALFSCOPE_MEMBER)
};
struct DnnApi {
#ifdef HALFSCOPE_CUDNN
    HALFSCOPE_DNN_FUNCTIONS(HALFSCOPE_MEMBER)
#endif
};
#undef HALFSCOPE_MEMBER

/// When a sentence is not empty, the table before it must not be used, and the sentence tells why:
/// "libcublasLt.so.13 was not found (...)".
struct Api {
    DriverApi driver;
    Message noDriver;
    CompilerApi compiler;
    Message noCompiler;
    BlasApi blas;
    Message noBlas;
    DnnApi dnn;
    Message noDnn;
};

struct Library;
/// Fills the functions of an open driver. When it lacks one, `reason` tells why it cannot be used.
void fill(const Library&, DriverApi&, Message& reason);
/// Loads the functions from the libraries of this machine. Never throws when one is missing.
Api loadApi();
/// Loads NVRTC only, which needs no driver.
void loadCompiler(Api&);

} // namespace halfscope::cuda
