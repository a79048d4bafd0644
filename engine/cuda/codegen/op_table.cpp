// CUDA's table of ops, in the order of the enum, and the rough cost of kernels for the launch plan.
#include "engine/cuda/codegen/op_table.h"

#include "engine/core/error.h"
#include "engine/ops/op_info.h"

#include <algorithm>
#include <string>

namespace halfscope::cuda {
namespace {

double elementsOf(const Graph& graph, const Node& node, size_t input) {
    return static_cast<double>(graph[node.in[input]].elements());
}

double matmulDepth(const Graph& graph, const Node& node) {
    const Shape& a = graph[node.in[0]].shape;
    const bool turned = attrsOf<MatmulAttrs>(node.attrs).transposeA;
    return static_cast<double>(turned ? a[a.rank() - 2] : a.back());
}

// a weight is used once for each result of its channel
double imageDepth(const Graph& graph, const Node& node) {
    return elementsOf(graph, node, 1) / static_cast<double>(node.shape[1]);
}
double weightDepth(const Graph& graph, const Node& node) {
    return elementsOf(graph, node, 1) / static_cast<double>(node.shape[0]);
}

double sumDepth(const Graph& graph, const Node& node) {
    return elementsOf(graph, node, 0) / static_cast<double>(std::max<int64_t>(node.elements(), 1));
}

double scatterDepth(const Graph& graph, const Node& node) {
    const int axis = attrsOf<AxisAttrs>(node.attrs).axis;
    return static_cast<double>(std::min<int64_t>(graph[node.in[0]].shape[axis], 32));
}

double windowDepth(const Graph&, const Node& node) {
    const auto& pool = attrsOf<PoolAttrs>(node.attrs);
    return static_cast<double>(pool.kernel[0] * pool.kernel[1]);
}

double randomDepth(const Graph&, const Node&) { return 10; } // rounds

constexpr CudaOp kRows[] = {
    {Op::Input},
    {Op::State},
    {Op::Constant, writeElementwise},
    {Op::Iota, writeIota},
    {Op::Neg, writeElementwise},
    {Op::Exp, writeElementwise},
    {Op::Expm1, writeElementwise},
    {Op::Log, writeElementwise},
    {Op::Log1p, writeElementwise},
    {Op::Sqrt, writeElementwise},
    {Op::Rsqrt, writeElementwise},
    {Op::Reciprocal, writeElementwise},
    {Op::Tanh, writeElementwise},
    {Op::Sigmoid, writeElementwise},
    {Op::Relu, writeElementwise},
    {Op::Gelu, writeElementwise},
    {Op::Silu, writeElementwise},
    {Op::Softplus, writeElementwise},
    {Op::Sin, writeElementwise},
    {Op::Cos, writeElementwise},
    {Op::Abs, writeElementwise},
    {Op::Sign, writeElementwise},
    {Op::Erf, writeElementwise},
    {Op::Erfinv, writeElementwise},
    {Op::Tan, writeElementwise},
    {Op::Asin, writeElementwise},
    {Op::Acos, writeElementwise},
    {Op::Sinh, writeElementwise},
    {Op::Cosh, writeElementwise},
    {Op::Log10, writeElementwise},
    {Op::Log2, writeElementwise},
    {Op::Floor, writeElementwise},
    {Op::Ceil, writeElementwise},
    {Op::Round, writeElementwise},
    {Op::Trunc, writeElementwise},
    {Op::Clamp, writeElementwise},
    {Op::IsFinite, writeElementwise},
    {Op::LogicalNot, writeElementwise},
    {Op::Cast, writeElementwise},
    {Op::StopGradient, writeElementwise},
    {Op::Add, writeElementwise},
    {Op::Sub, writeElementwise},
    {Op::Mul, writeElementwise},
    {Op::Div, writeElementwise},
    {Op::Pow, writeElementwise},
    {Op::Atan2, writeElementwise},
    {Op::Maximum, writeElementwise},
    {Op::Minimum, writeElementwise},
    {Op::Less, writeElementwise},
    {Op::LessEqual, writeElementwise},
    {Op::Equal, writeElementwise},
    {Op::NotEqual, writeElementwise},
    {Op::LogicalAnd, writeElementwise},
    {Op::LogicalOr, writeElementwise},
    {Op::Where, writeElementwise},
    {Op::QuantizeFp8, writeElementwise},
    {Op::QuantizeGradient, writeElementwise},
    {Op::Matmul, writeProduct, matmulDepth},
    {Op::Conv2d, writeProduct, imageDepth},
    {Op::Conv2dInputGrad, writeProduct, imageDepth},
    {Op::Conv2dWeightGrad, writeProduct, weightDepth},
    {Op::Sum, writeSum, sumDepth},
    {Op::Mean, writeMean, sumDepth},
    {Op::ReduceMax, writeReduceMax, sumDepth},
    {Op::ReduceMin, writeReduceMin, sumDepth},
    {Op::Prod, writeProd, sumDepth},
    {Op::Cumsum, writeScan},
    {Op::Cumprod, writeScan},
    {Op::Reshape, writeReshape},
    {Op::Transpose, writeTranspose},
    {Op::Slice, writeSlice},
    {Op::Pad, writePad},
    {Op::Concat, writeConcat},
    {Op::Expand, writeExpand},
    {Op::Gather, writeGather},
    {Op::ScatterAdd, writeScatter, scatterDepth},
    {Op::MaxPool2dIndex, writePool, windowDepth},
    {Op::AvgPool2d, writePool, windowDepth},
    {Op::AvgPool2dGrad, writePool, windowDepth},
    {Op::Random, writeRandom, randomDepth},
    {Op::CountNonFinite, writeCount, sumDepth},
    {Op::ScalerUpdate, writeScaler},
};
static_assert(std::size(kRows) == static_cast<size_t>(kOpCount), "one row for each op");

constexpr bool inOrder() {
    for (size_t i = 0; i < std::size(kRows); ++i)
        if (kRows[i].op != static_cast<Op>(i)) return false;
    return true;
}
static_assert(inOrder(), "a row stands at its op's number");

} // namespace

const CudaOp& cudaOpOf(Op op) {
    const auto at = static_cast<size_t>(op);
    require(at < std::size(kRows), "cuda: op number " + std::to_string(at) + " has no row");
    return kRows[at];
}

KernelText writeNode(const KernelSite& given, const DeviceTraits& traits) {
    const NodeSite site(given, traits);
    const Op op = site.node().op;
    const NodeWriterFn write = cudaOpOf(op).write;
    require(write != nullptr, "cuda text: no kernel computes " + std::string(nameOf(op)));
    return write(site);
}

double workOf(const Program& program, size_t kernel) {
    const Kernel& k = program.kernels[kernel];
    double work = 0;
    for (const NodeId id : k.members) {
        const Node& node = program.graph[id];
        const auto results = static_cast<double>(k.loop ? k.space.elements() : node.elements());
        const bool product = infoOf(node.op).flags.has(OpFlag::Product);
        const DepthFn depth = k.loop && !product ? nullptr : cudaOpOf(node.op).depth;
        work += results * (depth != nullptr ? depth(program.graph, node) : 1.0);
    }
    return work;
}

} // namespace halfscope::cuda
