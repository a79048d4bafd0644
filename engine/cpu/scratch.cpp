// Which CPU kernels want scratch memory: each file of kernels tells how much.
#include "engine/cpu/support.h"

namespace halfscope {

size_t cpuScratchBytes(const Graph& graph, NodeId id, int threads) {
    size_t floats = 0;
    switch (graph[id].op) {
    case Op::Matmul: return cpuMatmulScratchBytes(graph, id, threads);
    case Op::Conv2d:
    case Op::Conv2dInputGrad:
    case Op::Conv2dWeightGrad: floats = cpuConvScratchFloats(graph, id, threads); break;
    case Op::Sum:
    case Op::Mean:
    case Op::ReduceMax:
    case Op::ReduceMin:
    case Op::Prod: floats = cpuReduceScratchFloats(graph, id); break;
    case Op::ScatterAdd: floats = cpuScatterScratchFloats(graph, id, threads); break;
    case Op::MaxPool2dIndex:
    case Op::AvgPool2d:
    case Op::AvgPool2dGrad: floats = cpuPoolScratchFloats(graph, id, threads); break;
    default: break;
    }
    return floats * sizeof(float);
}

} // namespace halfscope
