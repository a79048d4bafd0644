// The CPU's table of ops, in the order of the enum.
#include "engine/cpu/op_table.h"

#include "engine/core/error.h"
#include "engine/cpu/cpu_kernels.h"
#include "engine/cpu/elementwise_loops.h"

#include <string>

namespace halfscope {

namespace {

constexpr CpuOp kRows[] = {
    {Op::Input},
    {Op::State},
    {Op::Constant},
    {Op::Iota, nullptr, cpuIota},
    {Op::Neg, loopNeg},
    {Op::Exp, loopExp},
    {Op::Expm1, loopExpm1},
    {Op::Log, loopLog},
    {Op::Log1p, loopLog1p},
    {Op::Sqrt, loopSqrt},
    {Op::Rsqrt, loopRsqrt},
    {Op::Reciprocal, loopReciprocal},
    {Op::Tanh, loopTanh},
    {Op::Sigmoid, loopSigmoid},
    {Op::Relu, loopRelu},
    {Op::Gelu, loopGelu},
    {Op::Silu, loopSilu},
    {Op::Softplus, loopSoftplus},
    {Op::Sin, loopSin},
    {Op::Cos, loopCos},
    {Op::Abs, loopAbs},
    {Op::Sign, loopSign},
    {Op::Erf, loopErf},
    {Op::Erfinv, loopErfinv},
    {Op::Tan, loopTan},
    {Op::Asin, loopAsin},
    {Op::Acos, loopAcos},
    {Op::Sinh, loopSinh},
    {Op::Cosh, loopCosh},
    {Op::Log10, loopLog10},
    {Op::Log2, loopLog2},
    {Op::Floor, loopFloor},
    {Op::Ceil, loopCeil},
    {Op::Round, loopRound},
    {Op::Trunc, loopTrunc},
    {Op::Clamp, loopClamp},
    {Op::IsFinite, loopIsFinite},
    {Op::LogicalNot, loopLogicalNot},
    {Op::Cast, loopCast},
    {Op::StopGradient, loopCast},
    {Op::Add, loopAdd},
    {Op::Sub, loopSub},
    {Op::Mul, loopMul},
    {Op::Div, loopDiv},
    {Op::Pow, loopPow},
    {Op::Atan2, loopAtan2},
    {Op::Maximum, loopMaximum},
    {Op::Minimum, loopMinimum},
    {Op::Less, loopLess},
    {Op::LessEqual, loopLessEqual},
    {Op::Equal, loopEqual},
    {Op::NotEqual, loopNotEqual},
    {Op::LogicalAnd, loopLogicalAnd},
    {Op::LogicalOr, loopLogicalOr},
    {Op::Where, loopWhere},
    {Op::QuantizeFp8, loopQuantizeFp8},
    {Op::QuantizeGradient, loopCast},
    {Op::Matmul, nullptr, cpuMatmul, cpuMatmulScratchBytes},
    {Op::Conv2d, nullptr, cpuConv2d, cpuConvScratchBytes},
    {Op::Conv2dInputGrad, nullptr, cpuConv2dInputGrad, cpuConvScratchBytes},
    {Op::Conv2dWeightGrad, nullptr, cpuConv2dWeightGrad, cpuConvScratchBytes},
    {Op::Sum, nullptr, cpuSum, cpuReduceScratchBytes},
    {Op::Mean, nullptr, cpuMean, cpuReduceScratchBytes},
    {Op::ReduceMax, nullptr, cpuReduceMax, cpuReduceScratchBytes},
    {Op::ReduceMin, nullptr, cpuReduceMin, cpuReduceScratchBytes},
    {Op::Prod, nullptr, cpuProd, cpuReduceScratchBytes},
    {Op::Cumsum, nullptr, cpuScan},
    {Op::Cumprod, nullptr, cpuScan},
    {Op::Reshape},
    {Op::Transpose, nullptr, cpuCopyStrided},
    {Op::Slice, nullptr, cpuCopyStrided},
    {Op::Pad, nullptr, cpuPad},
    {Op::Concat, nullptr, cpuConcat},
    {Op::Expand, nullptr, cpuCopyStrided},
    {Op::Gather, nullptr, cpuGather},
    {Op::ScatterAdd, nullptr, cpuScatterAdd, cpuScatterScratchBytes},
    {Op::MaxPool2dIndex, nullptr, cpuMaxPoolIndex, cpuPoolScratchBytes},
    {Op::AvgPool2d, nullptr, cpuAvgPool, cpuPoolScratchBytes},
    {Op::AvgPool2dGrad, nullptr, cpuAvgPoolGrad, cpuPoolScratchBytes},
    {Op::Random, nullptr, cpuRandom},
    {Op::CountNonFinite, nullptr, cpuCountNonFinite},
    {Op::ScalerUpdate, nullptr, cpuScalerUpdate},
};
static_assert(std::size(kRows) == static_cast<size_t>(kOpCount), "one row for each op");

constexpr bool inOrder() {
    for (size_t i = 0; i < std::size(kRows); ++i)
        if (kRows[i].op != static_cast<Op>(i)) return false;
    return true;
}
static_assert(inOrder(), "a row stands at its op's number");

} // namespace

const CpuOp& cpuOpOf(Op op) {
    const auto at = static_cast<size_t>(op);
    require(at < std::size(kRows), "cpu: op number " + std::to_string(at) + " has no row");
    return kRows[at];
}

} // namespace halfscope
