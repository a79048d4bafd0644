// Convolutions of the graph by cuDNN: one plan per node, made and timed when a step is loaded.
#pragma once

#include "engine/cuda/candidates.h"
#include "engine/graph/program.h"

#include <memory>

namespace halfscope::cuda {

/// Forward, input gradient and weight gradient. Operands are in 16 bits or f32 (TF32 if the node
/// says so), products and sums in f32; only algorithms that add in a fixed order are used.
class ConvolutionPlan {
public:
    /// Throws NoConvolution when cuDNN knows no algorithm, or this build has no cuDNN.
    ConvolutionPlan(Device&, const Program&, NodeId);
    ~ConvolutionPlan();
    ConvolutionPlan(ConvolutionPlan&&) noexcept;
    size_t workspaceBytes() const;
    /// Chooses the algorithm. Overwrites operands and result.
    void tune(const FileCache&, CUdeviceptr arena, CUdeviceptr workspace);
    void enqueue(CUdeviceptr arena, CUdeviceptr workspace, CUstream) const;
    const std::string& what() const;

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace halfscope::cuda
