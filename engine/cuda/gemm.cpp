// cuBLASLt descriptors and algorithms. cuBLASLt is column-major: a row-major matrix is its own
// transpose there, so the product is requested as out' = b' a'.
#include "engine/cuda/gemm.h"

#include "engine/core/error.h"

#include <algorithm>

namespace halfscope::cuda {
namespace {

constexpr int kMostCandidates = 16;
constexpr size_t kBestAlignment = 256; ///< that of the arena, and as much as any kernel asks for

cudaDataType_t typeOf(DType dtype) {
    switch (dtype) {
    case DType::F16: return CUDA_R_16F;
    case DType::BF16: return CUDA_R_16BF;
    case DType::F32: return CUDA_R_32F;
    default: failInvariant("cuda: a matrix product of " + std::string(nameOf(dtype)));
    }
}

cublasComputeType_t computeTypeOf(const Node& node, DType in) {
    if (in != DType::F32) return CUBLAS_COMPUTE_32F;
    // PEDANTIC: no tensor cores, and f32 is not split into shorter numbers
    return node.math == MathMode::TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F_PEDANTIC;
}

uint32_t alignmentOf(size_t offset) {
    const size_t low = offset & (~offset + 1);
    return static_cast<uint32_t>(low == 0 ? kBestAlignment : std::min(low, kBestAlignment));
}

} // namespace

MatmulPlan::MatmulPlan(Device& device, const Program& program, NodeId id)
    : m_device(device), m_node(program.graph[id]), m_in(program.graph[m_node.in[0]].dtype) {
    const Graph& graph = program.graph;
    const Node &a = graph[m_node.in[0]], &b = graph[m_node.in[1]];
    m_what = "matmul '" + m_node.cause.label + "' " + a.shape.text() + " x " + b.shape.text() +
             ", " + std::string(nameOf(m_in));
    require(b.dtype == m_in, "cuda: operands of a matrix product differ in dtype");
    m_offset = {program.memory.offset[static_cast<size_t>(m_node.in[0])],
                program.memory.offset[static_cast<size_t>(m_node.in[1])],
                program.memory.offset[static_cast<size_t>(id)]};
    m_inBytes = {a.bytes(), b.bytes()};
    const auto& attrs = std::get<MatmulAttrs>(m_node.attrs);
    const int64_t m = m_node.shape[m_node.shape.rank() - 2], n = m_node.shape.back();
    const int64_t k = attrs.transposeA ? a.shape[a.shape.rank() - 2] : a.shape.back();
    require(m_node.elements() > 0 && k > 0, "cuda: an empty matrix product");
    m_batch = m_node.elements() / (m * n);

    const BlasApi& blas = m_device.api().blas;
    cublasLtMatmulDesc_t desc = nullptr;
    m_device.check(blas.cublasLtMatmulDescCreate(&desc, computeTypeOf(m_node, m_in), CUDA_R_32F),
                   m_what);
    m_desc = MatmulDesc(desc, blas.cublasLtMatmulDescDestroy);
    const cublasOperation_t first = attrs.transposeB ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t second = attrs.transposeA ? CUBLAS_OP_T : CUBLAS_OP_N;
    m_device.check(blas.cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &first,
                                                       sizeof first),
                   m_what);
    m_device.check(blas.cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &second,
                                                       sizeof second),
                   m_what);
    if (m_node.in.size() == 3) {
        m_bias = program.memory.offset[static_cast<size_t>(m_node.in[2])];
        const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
        m_device.check(blas.cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                                           &epilogue, sizeof epilogue),
                       m_what);
        setBias(0); // for the heuristic: that there is one, and how its offset is aligned
    }
    m_a = attrs.transposeA ? layout(m_in, m, k, m * k) : layout(m_in, k, m, m * k);
    m_b = attrs.transposeB ? layout(m_in, k, n, k * n) : layout(m_in, n, k, k * n);
    m_out = layout(m_node.dtype, n, m, m * n);
    findCandidates();
}

/// `rows` is meant as in cuBLASLt: the extent whose elements are neighbours.
MatrixLayout MatmulPlan::layout(DType dtype, int64_t rows, int64_t columns,
                                int64_t elements) const {
    const BlasApi& blas = m_device.api().blas;
    cublasLtMatrixLayout_t made = nullptr;
    m_device.check(blas.cublasLtMatrixLayoutCreate(&made, typeOf(dtype),
                                                   static_cast<uint64_t>(rows),
                                                   static_cast<uint64_t>(columns), rows),
                   m_what);
    MatrixLayout owned(made, blas.cublasLtMatrixLayoutDestroy);
    const auto batch = static_cast<int32_t>(m_batch);
    m_device.check(blas.cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                         &batch, sizeof batch),
                   m_what);
    m_device.check(
        blas.cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                              &elements, sizeof elements),
        m_what);
    return owned;
}

/// The bias is added to the sums in f32, one for each row of out', and has its dtype.
void MatmulPlan::setBias(CUdeviceptr arena) const {
    if (!m_bias) return;
    const auto* at = reinterpret_cast<const void*>(arena + *m_bias);
    m_device.check(m_device.api().blas.cublasLtMatmulDescSetAttribute(
                       m_desc.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, &at, sizeof at),
                   m_what);
}

void MatmulPlan::findCandidates() {
    const BlasApi& blas = m_device.api().blas;
    cublasLtMatmulPreference_t made = nullptr;
    m_device.check(blas.cublasLtMatmulPreferenceCreate(&made), m_what);
    const Owned<cublasLtMatmulPreference_t, cublasStatus_t> preference(
        made, blas.cublasLtMatmulPreferenceDestroy);
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t which, const auto& value) {
        m_device.check(blas.cublasLtMatmulPreferenceSetAttribute(made, which, &value, sizeof value),
                       m_what);
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{kMostWorkspace});
    // Parts of a sum are added in f32, from the workspace: in one order, and rounded once.
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignmentOf(m_offset[1]));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignmentOf(m_offset[0]));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignmentOf(m_offset[2]));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignmentOf(m_offset[2]));
    m_candidates.resize(kMostCandidates);
    int found = 0;
    const cublasStatus_t status = blas.cublasLtMatmulAlgoGetHeuristic(
        m_device.blas(), m_desc.get(), m_b.get(), m_a.get(), m_out.get(), m_out.get(), made,
        kMostCandidates, m_candidates.data(), &found);
    // some versions may answer so where a bias is added to a single row or column; elsewhere it
    // means that a description is wrong
    const bool refusesBias = m_bias && status == CUBLAS_STATUS_INVALID_VALUE;
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || refusesBias) {
        m_device.checkStream(Message::of(m_what)); // a lost device shows first in the libraries
        found = 0;
    } else {
        m_device.check(status, m_what);
    }
    m_candidates.resize(static_cast<size_t>(std::max(found, 0)));
    std::erase_if(m_candidates, [](const cublasLtMatmulHeuristicResult_t& candidate) {
        return candidate.state != CUBLAS_STATUS_SUCCESS || candidate.workspaceSize > kMostWorkspace;
    });
    if (m_candidates.empty())
        throw NoAlgorithm(phrase("Devices", "%1: cuBLASLt has no algorithm for it on %2"), m_what,
                          m_device.info().name);
    for (const cublasLtMatmulHeuristicResult_t& candidate : m_candidates)
        m_workspaceBytes = std::max(m_workspaceBytes, candidate.workspaceSize);
}

cublasStatus_t MatmulPlan::call(const cublasLtMatmulAlgo_t& algorithm, CUdeviceptr arena,
                                CUdeviceptr workspace, CUstream stream) const {
    const float one = 1, zero = 0; // read by the call, not by the device
    setBias(arena);
    const auto at = [&](size_t operand) {
        return reinterpret_cast<void*>(arena + m_offset[operand]);
    };
    return m_device.api().blas.cublasLtMatmul(
        m_device.blas(), m_desc.get(), &one, at(1), m_b.get(), at(0), m_a.get(), &zero, at(2),
        m_out.get(), at(2), m_out.get(), &algorithm, reinterpret_cast<void*>(workspace),
        m_workspaceBytes, stream);
}

void MatmulPlan::tune(const FileCache& cache, CUdeviceptr arena, CUdeviceptr workspace) {
    Trial trial;
    trial.what = m_what;
    const auto& attrs = std::get<MatmulAttrs>(m_node.attrs);
    trial.key = "choice cuBLASLt " + std::to_string(m_device.api().blas.cublasLtGetVersion()) +
                " " + m_device.info().name + " " + m_node.shape.text() + " in " +
                std::to_string(m_inBytes[0]) + " " + std::to_string(m_inBytes[1]) + " " +
                std::string(nameOf(m_in)) + " " + std::string(nameOf(m_node.dtype)) +
                (m_node.math == MathMode::TF32 ? " tf32" : "") + (attrs.transposeA ? " ta" : "") +
                (attrs.transposeB ? " tb" : "") + (m_bias ? " bias" : "");
    for (const size_t offset : m_offset)
        trial.key += " " + std::to_string(alignmentOf(offset));
    if (m_bias) trial.key += " " + std::to_string(alignmentOf(*m_bias)); // the heuristic sees it
    trial.count = static_cast<int>(m_candidates.size());
    trial.run = [&](int candidate) {
        return call(m_candidates[static_cast<size_t>(candidate)].algo, arena, workspace,
                    m_device.stream()) == CUBLAS_STATUS_SUCCESS;
    };
    trial.operands = {{arena + m_offset[0], m_inBytes[0], m_in},
                      {arena + m_offset[1], m_inBytes[1], m_in}};
    if (m_bias)
        trial.operands.push_back(
            {arena + *m_bias, static_cast<size_t>(m_node.shape.back()) * bytesOf(m_in), m_in});
    trial.result = arena + m_offset[2];
    trial.resultBytes = m_node.bytes();
    const int chosen = chooseCandidate(m_device, cache, trial);
    if (chosen < 0)
        throw NoAlgorithm(phrase("Devices", "%1: cuBLASLt refuses every algorithm that it offered"),
                          m_what);
    m_chosen = static_cast<size_t>(chosen);
}

void MatmulPlan::enqueue(CUdeviceptr arena, CUdeviceptr workspace, CUstream stream) const {
    m_device.check(call(m_candidates[m_chosen].algo, arena, workspace, stream), m_what);
}

} // namespace halfscope::cuda
