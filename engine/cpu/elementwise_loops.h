// The CPU loops of the elementwise rows: they compute n f32 results from n f32 values of each
// input, not yet rounded to storage (see LoopArgs). A result may be written over an input.
#pragma once

#include "engine/cpu/op_table.h"

namespace halfscope {

// one input
void loopNeg(const LoopArgs&);
void loopExp(const LoopArgs&);
void loopExpm1(const LoopArgs&);
void loopLog(const LoopArgs&);
void loopLog1p(const LoopArgs&);
void loopSqrt(const LoopArgs&);
void loopRsqrt(const LoopArgs&);
void loopReciprocal(const LoopArgs&);
void loopTanh(const LoopArgs&);
void loopSigmoid(const LoopArgs&);
void loopRelu(const LoopArgs&);
void loopGelu(const LoopArgs&);
void loopSilu(const LoopArgs&);
void loopSoftplus(const LoopArgs&);
void loopSin(const LoopArgs&);
void loopCos(const LoopArgs&);
void loopAbs(const LoopArgs&);
void loopSign(const LoopArgs&);
void loopErf(const LoopArgs&);
void loopErfinv(const LoopArgs&);
void loopTan(const LoopArgs&);
void loopAsin(const LoopArgs&);
void loopAcos(const LoopArgs&);
void loopSinh(const LoopArgs&);
void loopCosh(const LoopArgs&);
void loopLog10(const LoopArgs&);
void loopLog2(const LoopArgs&);
void loopFloor(const LoopArgs&);
void loopCeil(const LoopArgs&);
void loopRound(const LoopArgs&); ///< halves to even
void loopTrunc(const LoopArgs&);
void loopClamp(const LoopArgs&);
void loopIsFinite(const LoopArgs&);
void loopLogicalNot(const LoopArgs&);
/// Only copies, because storing converts.
void loopCast(const LoopArgs&);

// two and three inputs
void loopAdd(const LoopArgs&);
void loopSub(const LoopArgs&);
void loopMul(const LoopArgs&);
void loopDiv(const LoopArgs&);
void loopPow(const LoopArgs&);
void loopAtan2(const LoopArgs&);
void loopMaximum(const LoopArgs&);
void loopMinimum(const LoopArgs&);
void loopLess(const LoopArgs&);
void loopLessEqual(const LoopArgs&);
void loopEqual(const LoopArgs&);
void loopNotEqual(const LoopArgs&);
void loopLogicalAnd(const LoopArgs&);
void loopLogicalOr(const LoopArgs&);
void loopWhere(const LoopArgs&);
void loopQuantizeFp8(const LoopArgs&);

} // namespace halfscope
