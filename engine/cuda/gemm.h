// Matrix products of the graph by cuBLASLt: one plan per node, made and timed when a step is
// loaded.
#pragma once

#include "engine/cuda/candidates.h"
#include "engine/graph/program.h"

namespace halfscope::cuda {

/// The most bytes that a library may use besides its operands.
inline constexpr size_t kMostWorkspace = size_t{32} << 20;

using MatmulDesc = Owned<cublasLtMatmulDesc_t, cublasStatus_t>;
using MatrixLayout = Owned<cublasLtMatrixLayout_t, cublasStatus_t>;

/// Operands are in 16 bits or f32 (TF32 if the node says so), products and sums in f32, with one
/// rounding to the result's dtype; sums have a fixed order.
class MatmulPlan {
public:
    /// Throws NoAlgorithm when cuBLASLt knows no algorithm.
    MatmulPlan(Device&, const Program&, NodeId);
    size_t workspaceBytes() const { return m_workspaceBytes; }
    /// Chooses the algorithm. Overwrites operands and result.
    void tune(const FileCache&, CUdeviceptr arena, CUdeviceptr workspace);
    void enqueue(CUdeviceptr arena, CUdeviceptr workspace, CUstream) const;
    /// Returns "matmul 'layer 1' (64, 256) x (256, 10), float16".
    const std::string& what() const { return m_what; }

private:
    MatrixLayout layout(DType, int64_t rows, int64_t columns, int64_t elements) const;
    void setBias(CUdeviceptr arena) const;
    void findCandidates();
    cublasStatus_t call(const cublasLtMatmulAlgo_t&, CUdeviceptr arena, CUdeviceptr workspace,
                        CUstream) const;

    Device& m_device;
    std::string m_what;
    Node m_node;
    DType m_in;
    std::array<size_t, 3> m_offset{}; ///< of a, b and the result
    std::array<size_t, 2> m_inBytes{};
    int64_t m_batch = 1;
    MatmulDesc m_desc;
    MatrixLayout m_a, m_b, m_out;
    std::vector<cublasLtMatmulHeuristicResult_t> m_candidates;
    size_t m_chosen = 0, m_workspaceBytes = 0;
    std::optional<size_t> m_bias; ///< its offset
};

} // namespace halfscope::cuda
