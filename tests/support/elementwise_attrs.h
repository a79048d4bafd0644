// The attributes with which tests emit each elementwise op.
#pragma once

#include "engine/graph/op.h"

namespace halfscope::test {

inline Attrs elementwiseAttrs(Op op, RangeAttrs clamp) {
    switch (op) {
    case Op::Clamp: return clamp;
    case Op::Cast: return CastAttrs{DType::F32};
    case Op::QuantizeFp8: return Fp8Attrs{Fp8Format::E4M3};
    case Op::QuantizeGradient: return Fp8GradientAttrs{};
    default: return {};
    }
}

} // namespace halfscope::test
