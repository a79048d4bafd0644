// The fake NVRTC, cuBLASLt and cuDNN: descriptors checked and obeyed, products and convolutions in
// plain loops, candidates that differ in speed and in the order of their sums.
#include "tests/fake_cuda/cuda_fake.h"

#include "engine/core/dtype.h"
#include "engine/cpu/tf32.h"
#include "tests/fake_cuda/cuda_fake_parts.h"

#include <array>
#include <cstring>

namespace halfscope::test::fake {
namespace {

template <class T, class Handle>
T* as(Handle handle) {
    return reinterpret_cast<T*>(handle);
}

template <class Handle, class T>
Handle made(T value) {
    ++fakeCuda().live;
    return reinterpret_cast<Handle>(new T(std::move(value))); // given back by its destroy function
}
template <class T, class Handle>
void unmade(Handle handle) {
    delete as<T>(handle);
    --fakeCuda().live;
}

/// A stored tensor as floats and back.
std::vector<float> floatsAt(DType dtype, CUdeviceptr at, int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    loadAsFloat(dtype, memoryAt(at, values.size() * bytesOf(dtype), "a library"), values.data(),
                values.size());
    return values;
}
void storeFloats(DType dtype, const std::vector<float>& values, CUdeviceptr at) {
    storeFromFloat(dtype, values.data(), memoryAt(at, values.size() * bytesOf(dtype), "a library"),
                   values.size());
}

/// In this order or the other one: the same sum but for its rounding.
template <class Term>
float sumOf(int64_t count, bool backwards, const Term& term) {
    float sum = 0;
    for (int64_t i = 0; i < count; ++i)
        sum += term(backwards ? count - 1 - i : i);
    return sum;
}

// ---- NVRTC -------------------------------------------------------------------------------------

struct Source {
    std::string text, log;
};
constexpr std::string_view kCodeMark = "fake code\n";

nvrtcResult compilerVersion(int* major, int* minor) {
    *major = CUDA_VERSION / 1000;
    *minor = CUDA_VERSION % 1000 / 10;
    return static_cast<nvrtcResult>(enter("nvrtcVersion"));
}
const char* compilerError(nvrtcResult result) {
    return result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_FAKE";
}
constexpr std::array<int, 4> kArchitectures = {75, 80, 86, 90};
nvrtcResult architectureCount(int* count) {
    *count = static_cast<int>(kArchitectures.size());
    return static_cast<nvrtcResult>(enter("nvrtcGetNumSupportedArchs"));
}
nvrtcResult architectures(int* known) {
    std::copy(kArchitectures.begin(), kArchitectures.end(), known);
    return static_cast<nvrtcResult>(enter("nvrtcGetSupportedArchs"));
}
nvrtcResult createProgram(nvrtcProgram* program, const char* text, const char*, int,
                          const char* const*, const char* const*) {
    const std::lock_guard lock(machineMutex());
    if (const int result = enter("nvrtcCreateProgram")) return static_cast<nvrtcResult>(result);
    *program = made<nvrtcProgram>(Source{text, {}});
    return NVRTC_SUCCESS;
}
nvrtcResult destroyProgram(nvrtcProgram* program) {
    const std::lock_guard lock(machineMutex());
    unmade<Source>(*program);
    return static_cast<nvrtcResult>(enter("nvrtcDestroyProgram"));
}
nvrtcResult compileProgram(nvrtcProgram program, int count, const char* const* options) {
    const std::lock_guard lock(machineMutex());
    ++fakeCuda().compiled;
    fakeCuda().compileOptions.assign(options, options + count);
    int result = enter("nvrtcCompileProgram");
    if (result == 0 && fakeCuda().compile) result = fakeCuda().compile(as<Source>(program)->text);
    if (result != 0)
        as<Source>(program)->log = "step.cu(1): warning: a lot of text\n"
                                   "step.cu(7): error: identifier \"nothing\" is undefined\n";
    return static_cast<nvrtcResult>(result);
}
nvrtcResult logSize(nvrtcProgram program, size_t* bytes) {
    *bytes = as<Source>(program)->log.size() + 1;
    return static_cast<nvrtcResult>(enter("nvrtcGetProgramLogSize"));
}
nvrtcResult log(nvrtcProgram program, char* to) {
    std::strcpy(to, as<Source>(program)->log.c_str());
    return static_cast<nvrtcResult>(enter("nvrtcGetProgramLog"));
}
nvrtcResult codeSize(nvrtcProgram program, size_t* bytes) {
    *bytes = kCodeMark.size() + as<Source>(program)->text.size() + 1;
    return static_cast<nvrtcResult>(enter("nvrtcGetCUBINSize"));
}
nvrtcResult code(nvrtcProgram program, char* to) {
    std::strcpy(to, (std::string(kCodeMark) + as<Source>(program)->text).c_str());
    return static_cast<nvrtcResult>(enter("nvrtcGetCUBIN"));
}
nvrtcResult assemblySize(nvrtcProgram program, size_t* bytes) {
    *bytes = kCodeMark.size() + as<Source>(program)->text.size() + 1;
    return static_cast<nvrtcResult>(enter("nvrtcGetPTXSize"));
}
nvrtcResult assembly(nvrtcProgram program, char* to) {
    std::strcpy(to, (std::string(kCodeMark) + as<Source>(program)->text).c_str());
    return static_cast<nvrtcResult>(enter("nvrtcGetPTX"));
}

// ---- cuBLASLt ----------------------------------------------------------------------------------

struct Product {
    cublasComputeType_t compute;
    std::array<bool, 2> transposed{};
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    const void* bias = nullptr;
};
struct Layout {
    DType dtype;
    int64_t rows, columns, ld, batch = 1, stride = 0;
};
struct Preference {
    uint64_t workspace = 0;
    uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
    std::array<uint32_t, 4> alignment{256, 256, 256, 256};
};

cublasStatus_t blasResult(const char* function) {
    if (!hasContext()) complain(std::string(function) + " without a context");
    return static_cast<cublasStatus_t>(enter(function));
}
DType dtypeOf(cudaDataType_t type) {
    if (type == CUDA_R_16F) return DType::F16;
    if (type == CUDA_R_16BF) return DType::BF16;
    if (type != CUDA_R_32F) complain("cuBLASLt: a type that is not used here");
    return DType::F32;
}

size_t blasVersion() { return 130100; }
const char* blasError(cublasStatus_t) { return "CUBLAS_STATUS_FAKE"; }
cublasStatus_t blasCreate(cublasLtHandle_t* handle) {
    if (isCapturing()) spoilCapture("cublasLtCreate");
    if (const auto result = blasResult("cublasLtCreate")) return result;
    *handle = made<cublasLtHandle_t>(0);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t blasDestroy(cublasLtHandle_t handle) {
    unmade<int>(handle);
    return blasResult("cublasLtDestroy");
}
cublasStatus_t productCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute,
                             cudaDataType_t scale) {
    if (const auto result = blasResult("cublasLtMatmulDescCreate")) return result;
    if (scale != CUDA_R_32F) complain("cuBLASLt: alpha and beta are floats");
    *desc = made<cublasLtMatmulDesc_t>(Product{.compute = compute});
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t productDestroy(cublasLtMatmulDesc_t desc) {
    unmade<Product>(desc);
    return blasResult("cublasLtMatmulDescDestroy");
}
cublasStatus_t productSet(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t which,
                          const void* value, size_t bytes) {
    if (which == CUBLASLT_MATMUL_DESC_EPILOGUE || which == CUBLASLT_MATMUL_DESC_BIAS_POINTER) {
        Product* const product = as<Product>(desc);
        const bool isBias = which == CUBLASLT_MATMUL_DESC_BIAS_POINTER;
        const size_t wanted = isBias ? sizeof product->bias : sizeof product->epilogue;
        if (bytes != wanted) return CUBLAS_STATUS_INVALID_VALUE;
        std::memcpy(isBias ? static_cast<void*>(&product->bias) : &product->epilogue, value, bytes);
        return blasResult("cublasLtMatmulDescSetAttribute");
    }
    if (bytes != sizeof(cublasOperation_t)) return CUBLAS_STATUS_INVALID_VALUE;
    cublasOperation_t how;
    std::memcpy(&how, value, bytes);
    if (which != CUBLASLT_MATMUL_DESC_TRANSA && which != CUBLASLT_MATMUL_DESC_TRANSB)
        return CUBLAS_STATUS_INVALID_VALUE;
    as<Product>(desc)->transposed[which == CUBLASLT_MATMUL_DESC_TRANSB] = how == CUBLAS_OP_T;
    return blasResult("cublasLtMatmulDescSetAttribute");
}
cublasStatus_t layoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType_t type, uint64_t rows,
                            uint64_t columns, int64_t ld) {
    if (const auto result = blasResult("cublasLtMatrixLayoutCreate")) return result;
    *layout = made<cublasLtMatrixLayout_t>(
        Layout{dtypeOf(type), static_cast<int64_t>(rows), static_cast<int64_t>(columns), ld});
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t layoutDestroy(cublasLtMatrixLayout_t layout) {
    unmade<Layout>(layout);
    return blasResult("cublasLtMatrixLayoutDestroy");
}
cublasStatus_t layoutSet(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which,
                         const void* value, size_t bytes) {
    if (which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && bytes == sizeof(int32_t)) {
        int32_t batch;
        std::memcpy(&batch, value, bytes);
        as<Layout>(layout)->batch = batch;
    } else if (which == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET && bytes == sizeof(int64_t)) {
        std::memcpy(&as<Layout>(layout)->stride, value, bytes);
    } else {
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    return blasResult("cublasLtMatrixLayoutSetAttribute");
}
cublasStatus_t preferenceCreate(cublasLtMatmulPreference_t* preference) {
    if (const auto result = blasResult("cublasLtMatmulPreferenceCreate")) return result;
    *preference = made<cublasLtMatmulPreference_t>(Preference{});
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t preferenceDestroy(cublasLtMatmulPreference_t preference) {
    unmade<Preference>(preference);
    return blasResult("cublasLtMatmulPreferenceDestroy");
}
cublasStatus_t preferenceSet(cublasLtMatmulPreference_t preference,
                             cublasLtMatmulPreferenceAttributes_t which, const void* value,
                             size_t bytes) {
    auto* to = as<Preference>(preference);
    void* place = nullptr;
    size_t wanted = sizeof(uint32_t);
    switch (which) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
        place = &to->workspace;
        wanted = sizeof to->workspace;
        break;
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: place = &to->reductions; break;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: place = &to->alignment[0]; break;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: place = &to->alignment[1]; break;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: place = &to->alignment[2]; break;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: place = &to->alignment[3]; break;
    default: return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (bytes != wanted) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(place, value, bytes);
    return blasResult("cublasLtMatmulPreferenceSetAttribute");
}
/// Of an algorithm: neither the first nor the last one needs the most.
size_t workspaceOf(int candidate) {
    return candidate % 3 == 1 ? 8192 : candidate % 3 == 2 ? 4096 : 0;
}

/// A candidate remembers its number and the alignment that it counts on.
cublasStatus_t heuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                         cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                         cublasLtMatmulPreference_t preference, int most,
                         cublasLtMatmulHeuristicResult_t* results, int* found) {
    if (isCapturing()) spoilCapture("cublasLtMatmulAlgoGetHeuristic");
    if (const auto result = blasResult("cublasLtMatmulAlgoGetHeuristic")) return result;
    const auto* wanted = as<Preference>(preference);
    if (wanted->reductions != CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)
        complain("cuBLASLt: sums of rounded parts, or parts in any order, are not forbidden");
    *found = std::min(most, fakeCuda().blasCandidates);
    for (int i = 0; i < *found; ++i) {
        results[i] = {};
        results[i].algo.data[0] = static_cast<uint64_t>(i);
        for (size_t operand = 0; operand < 4; ++operand)
            results[i].algo.data[1 + operand] = wanted->alignment[operand];
        results[i].workspaceSize = workspaceOf(i);
        results[i].state = CUBLAS_STATUS_SUCCESS;
    }
    return CUBLAS_STATUS_SUCCESS;
}

/// Columns first, as cuBLASLt counts: element (row, column) of op(x).
struct Operand {
    Layout layout;
    bool transposed;
    std::vector<float> values;
    float at(int64_t batch, int64_t row, int64_t column) const {
        const int64_t r = transposed ? column : row, c = transposed ? row : column;
        return values[static_cast<size_t>(batch * layout.stride + c * layout.ld + r)];
    }
};

Operand load(const Layout& layout, bool transposed, CUdeviceptr at, cublasComputeType_t compute) {
    Operand operand{layout, transposed, floatsAt(layout.dtype, at, layout.batch * layout.stride)};
    if (compute == CUBLAS_COMPUTE_32F_FAST_TF32)
        roundToTf32(operand.values.data(), operand.values.size());
    if (compute == CUBLAS_COMPUTE_32F && layout.dtype == DType::F32)
        complain("cuBLASLt: strict f32 may be split up");
    return operand;
}

cublasStatus_t multiply(cublasLtHandle_t, cublasLtMatmulDesc_t desc, const void* alpha,
                        const void* a, cublasLtMatrixLayout_t aLayout, const void* b,
                        cublasLtMatrixLayout_t bLayout, const void* beta, const void*,
                        cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t dLayout,
                        const cublasLtMatmulAlgo_t* algorithm, void* workspace, size_t bytes,
                        CUstream stream) {
    if (const auto result = blasResult("cublasLtMatmul")) return result;
    if (fakeCuda().refuseBlas) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (*static_cast<const float*>(alpha) != 1 || *static_cast<const float*>(beta) != 0)
        complain("cuBLASLt: the product is to be as it is, and overwrites");
    const auto candidate = static_cast<int>(algorithm->data[0]);
    if (bytes < workspaceOf(candidate)) {
        complain("cuBLASLt: an algorithm with less workspace than it told");
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (reinterpret_cast<uintptr_t>(workspace) % 256 != 0)
        complain("cuBLASLt: the workspace is less aligned than an allocation");
    const std::array<const void*, 4> pointers{a, b, d, d};
    for (size_t i = 0; i < 4; ++i)
        if (reinterpret_cast<uintptr_t>(pointers[i]) % algorithm->data[1 + i] != 0)
            complain("cuBLASLt: an operand is less aligned than promised");
    fakeCuda().blasUsed.push_back(candidate);
    enqueue(stream, [product = *as<Product>(desc), aShape = *as<Layout>(aLayout),
                     bShape = *as<Layout>(bLayout), dShape = *as<Layout>(dLayout), a, b, d,
                     workspace, bytes, candidate] {
        spend(fakeCuda().blasSlowness * (candidate == 1 ? 1 : candidate == 2 ? 2 : 3));
        // scratch is anybody's
        if (candidate > 0)
            std::memset(memoryAt(reinterpret_cast<CUdeviceptr>(workspace), bytes, "workspace"),
                        0xEE, bytes);
        const Operand x =
            load(aShape, product.transposed[0], reinterpret_cast<CUdeviceptr>(a), product.compute);
        const Operand y =
            load(bShape, product.transposed[1], reinterpret_cast<CUdeviceptr>(b), product.compute);
        const int64_t k = x.transposed ? aShape.rows : aShape.columns;
        std::vector<float> out(static_cast<size_t>(dShape.batch * dShape.stride)),
            bias(static_cast<size_t>(dShape.rows), 0.0f);
        if (product.epilogue == CUBLASLT_EPILOGUE_BIAS)
            bias = floatsAt(dShape.dtype, reinterpret_cast<CUdeviceptr>(product.bias), dShape.rows);
        for (int64_t batch = 0; batch < dShape.batch; ++batch)
            for (int64_t column = 0; column < dShape.columns; ++column)
                for (int64_t row = 0; row < dShape.rows; ++row)
                    out[static_cast<size_t>(batch * dShape.stride + column * dShape.ld + row)] =
                        sumOf(k, candidate == 1,
                              [&](int64_t i) {
                                  return x.at(batch, row, i) * y.at(batch, i, column);
                              }) +
                        bias[static_cast<size_t>(row)];
        storeFloats(dShape.dtype, out, reinterpret_cast<CUdeviceptr>(d));
    });
    return CUBLAS_STATUS_SUCCESS;
}

} // namespace

std::string textOfCode(const void* image) {
    const std::string_view whole = static_cast<const char*>(image);
    if (!whole.starts_with(kCodeMark)) {
        complain("the driver got code that the compiler did not make");
        return {};
    }
    return std::string(whole.substr(kCodeMark.size()));
}

void fillCompiler(cuda::CompilerApi& api) {
    api.nvrtcVersion = compilerVersion;
    api.nvrtcGetErrorString = compilerError;
    api.nvrtcGetNumSupportedArchs = architectureCount;
    api.nvrtcGetSupportedArchs = architectures;
    api.nvrtcCreateProgram = createProgram;
    api.nvrtcDestroyProgram = destroyProgram;
    api.nvrtcCompileProgram = compileProgram;
    api.nvrtcGetProgramLogSize = logSize;
    api.nvrtcGetProgramLog = log;
    api.nvrtcGetCUBINSize = codeSize;
    api.nvrtcGetCUBIN = code;
    api.nvrtcGetPTXSize = assemblySize;
    api.nvrtcGetPTX = assembly;
}

void fillBlas(cuda::BlasApi& api) {
    api.cublasLtGetVersion = blasVersion;
    api.cublasLtGetStatusString = blasError;
    api.cublasLtCreate = blasCreate;
    api.cublasLtDestroy = blasDestroy;
    api.cublasLtMatmulDescCreate = productCreate;
    api.cublasLtMatmulDescDestroy = productDestroy;
    api.cublasLtMatmulDescSetAttribute = productSet;
    api.cublasLtMatrixLayoutCreate = layoutCreate;
    api.cublasLtMatrixLayoutDestroy = layoutDestroy;
    api.cublasLtMatrixLayoutSetAttribute = layoutSet;
    api.cublasLtMatmulPreferenceCreate = preferenceCreate;
    api.cublasLtMatmulPreferenceDestroy = preferenceDestroy;
    api.cublasLtMatmulPreferenceSetAttribute = preferenceSet;
    api.cublasLtMatmulAlgoGetHeuristic = heuristic;
    api.cublasLtMatmul = multiply;
}

} // namespace halfscope::test::fake
