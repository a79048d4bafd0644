// The CPU's table of ops: what computes each of them. The meaning, gradient and reference of an op
// are in its row of engine/ops.
#pragma once

#include "engine/core/thread_pool.h"
#include "engine/graph/graph.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <span>

namespace halfscope {

/// The operands of an elementwise loop: n values of each input as f32 (masks as 0 and 1), and n
/// results as f32, not yet rounded to storage. `out` may be in[i].
struct LoopArgs {
    std::array<const float*, 3> in{};
    float* out = nullptr;
    size_t n = 0;
    const Attrs* attrs = nullptr;
};

/// A tensor in its storage form: row-major elements of `dtype`.
struct CpuTensor {
    const void* data = nullptr;
    const Shape* shape = nullptr;
    DType dtype = DType::F32;
};

/// The operands of one node's kernel. `scratch` has the bytes that the kernel asked for
/// (CpuOp::scratch).
struct CpuCall {
    const Node& node;
    std::span<const CpuTensor> in;
    void* out = nullptr; ///< node.shape, node.dtype; never overlaps an input
    ThreadPool& pool;
    std::span<std::byte> scratch;
    const std::atomic<bool>* stop =
        nullptr; ///< a kernel may return early, unfinished, once it is true
};

using LoopFn = void (*)(const LoopArgs&);
using CpuKernelFn = void (*)(const CpuCall&);
/// Returns the bytes of scratch memory that the kernel of a node needs with this number of threads.
using CpuScratchFn = size_t (*)(const Graph&, NodeId, int threads);

/// One row per op: elementwise ops have a loop, all others that compute have a kernel.
struct CpuOp {
    Op op;
    LoopFn loop = nullptr;
    CpuKernelFn kernel = nullptr;
    CpuScratchFn scratch = nullptr; ///< null when it needs none
};

/// Returns the row of an op. Values that need no computation (inputs, states, constants, views)
/// have neither a loop nor a kernel.
const CpuOp& cpuOpOf(Op);

} // namespace halfscope
