// CUDA's table of ops: what writes the kernel of each of them, and what a result costs. The
// meaning, gradient and reference of an op are in its row of engine/ops.
#pragma once

#include "engine/cuda/codegen/node_source.h"

namespace halfscope::cuda {

using NodeWriterFn = KernelText (*)(const NodeSite&);
/// Returns roughly how many products and additions one result takes.
using DepthFn = double (*)(const Graph&, const Node&);

struct CudaOp {
    Op op;
    NodeWriterFn write = nullptr; ///< null when nothing computes it (inputs and states)
    DepthFn depth = nullptr;      ///< null for 1
};

/// Returns the row of an op.
const CudaOp& cudaOpOf(Op);

} // namespace halfscope::cuda
