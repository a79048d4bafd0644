// Elementwise functions: arithmetic, comparison, choice and powers. Operands are promoted to the
// wider dtype and broadcast.
#pragma once

#include "engine/ops/builder.h"

namespace halfscope::fn {

NodeId add(Builder&, NodeId a, NodeId b);
NodeId sub(Builder&, NodeId a, NodeId b);
NodeId mul(Builder&, NodeId a, NodeId b);
NodeId div(Builder&, NodeId a, NodeId b);
NodeId maximum(Builder&, NodeId a, NodeId b);
NodeId minimum(Builder&, NodeId a, NodeId b);
NodeId pow(Builder&, NodeId a, NodeId b);
/// x to a constant power. Not an overload of pow: an int exponent would be taken for a node.
NodeId powScalar(Builder&, NodeId a, double exponent);
NodeId where(Builder&, NodeId condition, NodeId a, NodeId b);
enum class Comparison : uint8_t { Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual };
NodeId compare(Builder&, Comparison, NodeId a, NodeId b); ///< Bool, no gradient
/// Applies any elementwise op of one input except Clamp and Cast: Neg, Exp, ... IsFinite,
/// LogicalNot.
NodeId unary(Builder&, Op, NodeId x);
NodeId clamp(Builder&, NodeId x, double low, double high);
NodeId square(Builder&, NodeId x);
NodeId rpow(Builder&, double base, NodeId exponent); ///< base^exponent
NodeId frac(Builder&, NodeId x);                     ///< x - trunc(x)
NodeId atan2(Builder&, NodeId y, NodeId x);
NodeId addcmul(Builder&, NodeId x, NodeId a, NodeId c, double value = 1); ///< x + value a c
NodeId addcdiv(Builder&, NodeId x, NodeId a, NodeId c, double value = 1); ///< x + value a / c
/// Returns start + weight (end - start); both must have one dtype.
NodeId lerp(Builder&, NodeId start, NodeId end, double weight);

} // namespace halfscope::fn
