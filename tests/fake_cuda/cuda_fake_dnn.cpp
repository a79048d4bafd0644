// The fake cuDNN: descriptors obeyed, convolutions in plain loops, algorithms of which some must
// not be taken.
#include "tests/fake_cuda/cuda_fake.h"

#include "engine/core/dtype.h"
#include "engine/cpu/tf32.h"
#include "tests/fake_cuda/cuda_fake_parts.h"

#include <array>

namespace halfscope::test::fake {

#ifndef HALFSCOPE_CUDNN

void fillDnn(cuda::DnnApi&) {}

#else

namespace {

template <class T, class Handle>
T* as(Handle handle) {
    return reinterpret_cast<T*>(handle);
}

struct Tensor {
    DType dtype = DType::F32;
    std::array<int, 4> shape{};
    int64_t elements() const { return int64_t{shape[0]} * shape[1] * shape[2] * shape[3]; }
    int64_t index(int64_t a, int64_t b, int64_t c, int64_t d) const {
        return ((a * shape[1] + b) * shape[2] + c) * shape[3] + d;
    }
};
struct Convolution {
    int padY = 0, padX = 0, strideY = 1, strideX = 1;
    cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};
struct Dnn {
    CUstream stream = nullptr;
};

cudnnStatus_t result(const char* function) {
    if (!hasContext()) complain(std::string(function) + " without a context");
    return static_cast<cudnnStatus_t>(enter(function));
}

template <class T, class Handle>
cudnnStatus_t create(const char* function, Handle* handle) {
    if (const auto status = result(function)) return status;
    ++fakeCuda().live;
    *handle = reinterpret_cast<Handle>(new T); // given back by its destroy function
    return CUDNN_STATUS_SUCCESS;
}
template <class T, class Handle>
cudnnStatus_t destroy(const char* function, Handle handle) {
    delete as<T>(handle);
    --fakeCuda().live;
    return result(function);
}

size_t version() { return 91900; }
size_t cudartVersion() { return CUDA_VERSION; }
const char* errorString(cudnnStatus_t) { return "CUDNN_STATUS_FAKE"; }
cudnnStatus_t handleCreate(cudnnHandle_t* handle) { return create<Dnn>("cudnnCreate", handle); }
cudnnStatus_t handleDestroy(cudnnHandle_t handle) {
    const CUstream stream = as<Dnn>(handle)->stream; // cuDNN waits for its work
    if (stream != nullptr && !isAlive(stream)) complain("cuDNN: a handle whose stream is gone");
    return destroy<Dnn>("cudnnDestroy", handle);
}
cudnnStatus_t setStream(cudnnHandle_t handle, CUstream stream) {
    as<Dnn>(handle)->stream = stream;
    return result("cudnnSetStream");
}

DType dtypeOf(cudnnDataType_t type) {
    if (type == CUDNN_DATA_HALF) return DType::F16;
    if (type == CUDNN_DATA_BFLOAT16) return DType::BF16;
    if (type != CUDNN_DATA_FLOAT) complain("cuDNN: a type that is not used here");
    return DType::F32;
}
/// Images and weights alike.
cudnnStatus_t describe(const char* function, Tensor& tensor, cudnnTensorFormat_t format,
                       cudnnDataType_t type, const std::array<int, 4>& shape) {
    if (format != CUDNN_TENSOR_NCHW)
        complain("cuDNN: the graph's images are NCHW and its weights OIHW");
    tensor = {dtypeOf(type), shape};
    return result(function);
}
cudnnStatus_t tensorSet(cudnnTensorDescriptor_t desc, cudnnTensorFormat_t format,
                        cudnnDataType_t type, int n, int c, int h, int w) {
    return describe("cudnnSetTensor4dDescriptor", *as<Tensor>(desc), format, type, {n, c, h, w});
}
cudnnStatus_t filterSet(cudnnFilterDescriptor_t desc, cudnnDataType_t type,
                        cudnnTensorFormat_t format, int k, int c, int h, int w) {
    return describe("cudnnSetFilter4dDescriptor", *as<Tensor>(desc), format, type, {k, c, h, w});
}
cudnnStatus_t convSet(cudnnConvolutionDescriptor_t desc, int padY, int padX, int strideY,
                      int strideX, int dilationY, int dilationX, cudnnConvolutionMode_t mode,
                      cudnnDataType_t compute) {
    if (dilationY != 1 || dilationX != 1 || mode != CUDNN_CROSS_CORRELATION ||
        compute != CUDNN_DATA_FLOAT)
        complain("cuDNN: another convolution than the graph's");
    *as<Convolution>(desc) = {padY, padX, strideY, strideX, CUDNN_DEFAULT_MATH};
    return result("cudnnSetConvolution2dDescriptor");
}
cudnnStatus_t mathSet(cudnnConvolutionDescriptor_t desc, cudnnMathType_t math) {
    as<Convolution>(desc)->math = math;
    return result("cudnnSetConvolutionMathType");
}

/// Algorithms in the order of cuDNN's guess; the first two must never be taken.
template <class Perf, class Algorithm>
cudnnStatus_t offer(const char* function, const Convolution& conv, int most, int* count,
                    Perf* found, std::initializer_list<Algorithm> algorithms) {
    if (isCapturing()) spoilCapture(function);
    if (const auto status = result(function)) return status;
    if (!fakeCuda().dnnSupports) return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
    *count = 0;
    for (const Algorithm algorithm : algorithms) {
        if (*count == most) break;
        Perf& perf = found[(*count)++];
        perf = {};
        perf.algo = algorithm;
        perf.status = CUDNN_STATUS_SUCCESS;
        perf.determinism = *count == 1 ? CUDNN_NON_DETERMINISTIC : CUDNN_DETERMINISTIC;
        perf.memory = 8192;
        const int offered = fakeCuda().dnnOffers;
        perf.mathType = offered < 0 ? conv.math : static_cast<cudnnMathType_t>(offered);
    }
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t offerForward(cudnnHandle_t, cudnnTensorDescriptor_t, cudnnFilterDescriptor_t,
                           cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t, int most,
                           int* count, cudnnConvolutionFwdAlgoPerf_t* found) {
    return offer("cudnnGetConvolutionForwardAlgorithm_v7", *as<Convolution>(conv), most, count,
                 found,
                 {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD,
                  CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
                  CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM});
}
cudnnStatus_t offerData(cudnnHandle_t, cudnnFilterDescriptor_t, cudnnTensorDescriptor_t,
                        cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t, int most,
                        int* count, cudnnConvolutionBwdDataAlgoPerf_t* found) {
    return offer("cudnnGetConvolutionBackwardDataAlgorithm_v7", *as<Convolution>(conv), most, count,
                 found,
                 {CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD,
                  CUDNN_CONVOLUTION_BWD_DATA_ALGO_1});
}
cudnnStatus_t offerFilter(cudnnHandle_t, cudnnTensorDescriptor_t, cudnnTensorDescriptor_t,
                          cudnnConvolutionDescriptor_t conv, cudnnFilterDescriptor_t, int most,
                          int* count, cudnnConvolutionBwdFilterAlgoPerf_t* found) {
    return offer("cudnnGetConvolutionBackwardFilterAlgorithm_v7", *as<Convolution>(conv), most,
                 count, found,
                 {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT,
                  CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1});
}

enum class Direction : uint8_t { Forward, Data, Filter };

/// image (n, c, h, w), filter (o, c, kh, kw), output (n, o, oh, ow); one of them is the result.
void convolve(Direction direction, const Convolution& conv, const std::array<Tensor, 3>& shapes,
              const std::array<CUdeviceptr, 3>& places) {
    const auto& [image, filter, output] = shapes;
    std::array<std::vector<float>, 3> values;
    const size_t target = direction == Direction::Forward ? 2
                          : direction == Direction::Data  ? 0
                                                          : 1;
    for (size_t i = 0; i < 3; ++i) {
        values[i].resize(static_cast<size_t>(shapes[i].elements()));
        if (i == target) continue;
        loadAsFloat(shapes[i].dtype,
                    memoryAt(places[i], values[i].size() * bytesOf(shapes[i].dtype), "cuDNN"),
                    values[i].data(), values[i].size());
        if (shapes[i].dtype == DType::F32 && conv.math == CUDNN_TENSOR_OP_MATH)
            roundToTf32(values[i].data(), values[i].size());
    }
    const auto at = [&](size_t which, int64_t index) -> float& {
        return values[which][static_cast<size_t>(index)];
    };
    for (int n = 0; n < output.shape[0]; ++n)
        for (int o = 0; o < output.shape[1]; ++o)
            for (int y = 0; y < output.shape[2]; ++y)
                for (int x = 0; x < output.shape[3]; ++x)
                    for (int c = 0; c < image.shape[1]; ++c)
                        for (int ky = 0; ky < filter.shape[2]; ++ky)
                            for (int kx = 0; kx < filter.shape[3]; ++kx) {
                                const int iy = y * conv.strideY + ky - conv.padY;
                                const int ix = x * conv.strideX + kx - conv.padX;
                                if (iy < 0 || ix < 0 || iy >= image.shape[2] ||
                                    ix >= image.shape[3])
                                    continue;
                                const std::array<int64_t, 3> index{image.index(n, c, iy, ix),
                                                                   filter.index(o, c, ky, kx),
                                                                   output.index(n, o, y, x)};
                                const size_t a = target == 0 ? 1 : 0, b = target == 2 ? 1 : 2;
                                at(target, index[target]) += at(a, index[a]) * at(b, index[b]);
                            }
    const std::vector<float>& out = values[target];
    storeFromFloat(shapes[target].dtype, out.data(),
                   memoryAt(places[target], out.size() * bytesOf(shapes[target].dtype), "cuDNN"),
                   out.size());
}

cudnnStatus_t run(const char* function, Direction direction, cudnnHandle_t handle,
                  const void* alpha, const void* beta, cudnnTensorDescriptor_t image,
                  const void* imageAt, cudnnFilterDescriptor_t filter, const void* filterAt,
                  cudnnTensorDescriptor_t output, const void* outputAt,
                  cudnnConvolutionDescriptor_t conv, int algorithm, void* workspace, size_t bytes) {
    if (const auto status = result(function)) return status;
    if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0)
        complain("cuDNN: the result is to be as it is, and overwrites");
    if (bytes < 8192) return CUDNN_STATUS_BAD_PARAM;
    fakeCuda().dnnUsed.push_back(algorithm);
    fakeCuda().dnnMath.push_back(as<Convolution>(conv)->math);
    const std::array<Tensor, 3> shapes{*as<Tensor>(image), *as<Tensor>(filter),
                                       *as<Tensor>(output)};
    const std::array<CUdeviceptr, 3> places{reinterpret_cast<CUdeviceptr>(imageAt),
                                            reinterpret_cast<CUdeviceptr>(filterAt),
                                            reinterpret_cast<CUdeviceptr>(outputAt)};
    enqueue(as<Dnn>(handle)->stream, [=, how = *as<Convolution>(conv)] {
        spend(1 + algorithm);
        (void)memoryAt(reinterpret_cast<CUdeviceptr>(workspace), bytes, "workspace");
        convolve(direction, how, shapes, places);
    });
    return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t forward(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t image,
                      const void* imageAt, cudnnFilterDescriptor_t filter, const void* filterAt,
                      cudnnConvolutionDescriptor_t conv, cudnnConvolutionFwdAlgo_t algorithm,
                      void* workspace, size_t bytes, const void* beta,
                      cudnnTensorDescriptor_t output, void* outputAt) {
    return run("cudnnConvolutionForward", Direction::Forward, handle, alpha, beta, image, imageAt,
               filter, filterAt, output, outputAt, conv, algorithm, workspace, bytes);
}
cudnnStatus_t backwardData(cudnnHandle_t handle, const void* alpha, cudnnFilterDescriptor_t filter,
                           const void* filterAt, cudnnTensorDescriptor_t output,
                           const void* outputAt, cudnnConvolutionDescriptor_t conv,
                           cudnnConvolutionBwdDataAlgo_t algorithm, void* workspace, size_t bytes,
                           const void* beta, cudnnTensorDescriptor_t image, void* imageAt) {
    return run("cudnnConvolutionBackwardData", Direction::Data, handle, alpha, beta, image, imageAt,
               filter, filterAt, output, outputAt, conv, algorithm, workspace, bytes);
}
cudnnStatus_t backwardFilter(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t image,
                             const void* imageAt, cudnnTensorDescriptor_t output,
                             const void* outputAt, cudnnConvolutionDescriptor_t conv,
                             cudnnConvolutionBwdFilterAlgo_t algorithm, void* workspace,
                             size_t bytes, const void* beta, cudnnFilterDescriptor_t filter,
                             void* filterAt) {
    return run("cudnnConvolutionBackwardFilter", Direction::Filter, handle, alpha, beta, image,
               imageAt, filter, filterAt, output, outputAt, conv, algorithm, workspace, bytes);
}

} // namespace

#define FAKE_DESCRIPTOR(name, Type)                                                                \
    api.cudnnCreate##name##Descriptor = [](auto* desc) {                                           \
        return create<Type>("cudnnCreate" #name "Descriptor", desc);                               \
    };                                                                                             \
    api.cudnnDestroy##name##Descriptor = [](auto desc) {                                           \
        return destroy<Type>("cudnnDestroy" #name "Descriptor", desc);                             \
    }

void fillDnn(cuda::DnnApi& api) {
    api.cudnnGetVersion = version;
    api.cudnnGetCudartVersion = cudartVersion;
    api.cudnnGetErrorString = errorString;
    api.cudnnCreate = handleCreate;
    api.cudnnDestroy = handleDestroy;
    api.cudnnSetStream = setStream;
    FAKE_DESCRIPTOR(Tensor, Tensor);
    api.cudnnSetTensor4dDescriptor = tensorSet;
    FAKE_DESCRIPTOR(Filter, Tensor);
    api.cudnnSetFilter4dDescriptor = filterSet;
    FAKE_DESCRIPTOR(Convolution, Convolution);
    api.cudnnSetConvolution2dDescriptor = convSet;
    api.cudnnSetConvolutionMathType = mathSet;
    api.cudnnGetConvolutionForwardAlgorithm_v7 = offerForward;
    api.cudnnGetConvolutionBackwardDataAlgorithm_v7 = offerData;
    api.cudnnGetConvolutionBackwardFilterAlgorithm_v7 = offerFilter;
    api.cudnnConvolutionForward = forward;
    api.cudnnConvolutionBackwardData = backwardData;
    api.cudnnConvolutionBackwardFilter = backwardFilter;
}

#endif

} // namespace halfscope::test::fake
