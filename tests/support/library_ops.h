// Tells which ops are functions of a mathematical library, for bounds: IEEE arithmetic determines
// every other op's value to the last bit.
#pragma once

#include "engine/graph/op.h"

namespace halfscope::test {

/// Whether an engine's value may err by a few units in the last place. Rsqrt is not such an op: it
/// is a square root and a division, two roundings.
inline bool isLibraryFunction(Op op) {
    switch (op) {
    case Op::Exp:
    case Op::Expm1:
    case Op::Log:
    case Op::Log1p:
    case Op::Log2:
    case Op::Log10:
    case Op::Pow:
    case Op::Sin:
    case Op::Cos:
    case Op::Tan:
    case Op::Asin:
    case Op::Acos:
    case Op::Atan2:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Tanh:
    case Op::Sigmoid:
    case Op::Gelu:
    case Op::Silu:
    case Op::Softplus:
    case Op::Erf:
    case Op::Erfinv: return true;
    default: return false;
    }
}

} // namespace halfscope::test
