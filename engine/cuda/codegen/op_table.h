// CUDA's table of ops: what writes the kernel of each of them, and what a result costs. Meaning,
// gradient and reference of an op are in its row of engine/ops.
#pragma once

#include "engine/cuda/codegen/node_source.h"

namespace halfscope::cuda {

using NodeWriterFn = KernelText (*)(const NodeSite&);
/// Products and additions of one result, roughly.
using DepthFn = double (*)(const Graph&, const Node&);

struct CudaOp {
    Op op;
    NodeWriterFn write = nullptr; ///< null: nothing computes it (inputs and states)
    DepthFn depth = nullptr;      ///< null: 1
};

/// The row of an op.
const CudaOp& cudaOpOf(Op);

} // namespace halfscope::cuda
