// What a kernel costs, roughly: element operations, for the launch plan to weigh.
#include "engine/cuda/codegen/kernel_text.h"

#include <algorithm>

namespace halfscope::cuda {
namespace {

/// Products and additions of one result of a contraction or of a sum.
double depthOf(const Graph& graph, const Node& node) {
    const auto elements = [&](size_t i) {
        return static_cast<double>(graph[node.in[i]].elements());
    };
    const auto results = static_cast<double>(std::max<int64_t>(node.elements(), 1));
    switch (node.op) {
    case Op::Matmul: {
        const Shape& a = graph[node.in[0]].shape;
        const bool turned = std::get<MatmulAttrs>(node.attrs).transposeA;
        return static_cast<double>(turned ? a[a.rank() - 2] : a.back());
    }
    // a weight is used once for each result of its channel
    case Op::Conv2d:
    case Op::Conv2dInputGrad: return elements(1) / static_cast<double>(node.shape[1]);
    case Op::Conv2dWeightGrad: return elements(1) / static_cast<double>(node.shape[0]);
    case Op::Sum:
    case Op::Mean:
    case Op::ReduceMax:
    case Op::ReduceMin:
    case Op::Prod:
    case Op::CountNonFinite: return elements(0) / results;
    case Op::ScatterAdd: {
        const int axis = std::get<AxisAttrs>(node.attrs).axis;
        return static_cast<double>(std::min<int64_t>(graph[node.in[0]].shape[axis], 32));
    }
    case Op::AvgPool2d:
    case Op::AvgPool2dGrad:
    case Op::MaxPool2dIndex: {
        const auto& pool = std::get<PoolAttrs>(node.attrs);
        return static_cast<double>(pool.kernel[0] * pool.kernel[1]);
    }
    case Op::Random: return 10; // rounds
    default: return 1;
    }
}

} // namespace

double workOf(const Program& program, size_t kernel) {
    const Kernel& k = program.kernels[kernel];
    double work = 0;
    for (const NodeId id : k.members) {
        const Node& node = program.graph[id];
        const auto results = static_cast<double>(k.loop ? k.space.elements() : node.elements());
        work += results * (k.loop ? 1.0 : depthOf(program.graph, node));
    }
    return work;
}

} // namespace halfscope::cuda
