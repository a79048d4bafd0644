// The clip rules as nodes. Sources: the documentation of torch.nn.utils.clip_grad_norm_ and
// clip_grad_value_.
#include "engine/step/clip.h"

#include "engine/core/error.h"
#include "engine/ops/functional.h"

namespace halfscope {

namespace {

/// PyTorch divides by the norm plus this value, so that a norm of zero does no harm.
constexpr double kNormEps = 1e-6;

NodeId squaredSum(Builder& b, NodeId x) { return b.sumAll(b.mul(x, x)); }

NodeId totalNorm(Builder& b, ClipKind kind, std::span<const ParameterGradient> gradients) {
    NodeId total = kNoNode;
    for (const ParameterGradient& pg : gradients) {
        const bool squares = kind == ClipKind::Norm2;
        const NodeId part =
            squares ? squaredSum(b, pg.gradient) : fn::amax(b, b.unary(Op::Abs, pg.gradient), {});
        if (total == kNoNode)
            total = part;
        else
            total = squares ? b.add(total, part) : b.emit(Op::Maximum, {total, part});
    }
    return kind == ClipKind::Norm2 ? b.unary(Op::Sqrt, total) : total;
}

} // namespace

NodeId clipGradients(Builder& b, ClipKind kind, double limit,
                     std::span<ParameterGradient> gradients) {
    if (kind == ClipKind::None || gradients.empty()) return kNoNode;
    const AutocastScope off(b, nullptr);
    const LabelScope label(b, "clip");
    if (kind == ClipKind::Value) {
        for (ParameterGradient& pg : gradients)
            pg.gradient = b.emit(Op::Clamp, {pg.gradient}, RangeAttrs{-limit, limit});
        return kNoNode;
    }
    const NodeId norm = totalNorm(b, kind, gradients);
    const NodeId ratio = b.div(b.constantLike(limit, norm), b.shift(norm, kNormEps));
    const NodeId factor = b.emit(Op::Minimum, {ratio, b.constantLike(1, ratio)});
    for (ParameterGradient& pg : gradients)
        pg.gradient = b.mul(pg.gradient, b.expandLike(factor, pg.gradient));
    return norm;
}

} // namespace halfscope
