// The gradient penalty of PyTorch's notes on automatic mixed precision ("Gradient penalty"), and
// that of WGAN-GP in the same form.
#include "engine/step/penalty.h"

#include "engine/core/error.h"
#include "engine/ops/functional.h"
#include "engine/passes/autodiff.h"

#include <array>

namespace halfscope {

NodeId emitGradientPenalty(Builder& b, const PenaltyTerms& terms) {
    PhaseScope phase(b, Phase::Loss);
    LabelScope label(b, "gradient penalty");
    std::vector<NodeId> unscaled;
    {
        const AutocastScope off(b, nullptr);
        for (const auto& gradient : gradients(b, terms.scaledLoss, terms.parameters)) {
            if (!gradient) continue; // the loss does not depend on this parameter
            const NodeId g = b.cast(*gradient, DType::F32);
            const NodeId inverse = terms.inverseScale;
            unscaled.push_back(inverse == kNoNode ? g : b.mul(g, b.expandLike(inverse, g)));
        }
    }
    require(!unscaled.empty(), "a gradient penalty wants a loss that depends on parameters");
    NodeId total = kNoNode;
    for (const NodeId g : unscaled) {
        const NodeId term = fn::sum(b, fn::mul(b, g, g), {});
        total = total == kNoNode ? term : fn::add(b, total, term);
    }
    total = b.cast(total, DType::F32);
    if (terms.epsilon != 0) total = b.shift(total, terms.epsilon);
    // A user's policy may lower the root's dtype; the loss that it is added to stays as it is.
    return b.cast(fn::unary(b, Op::Sqrt, total), DType::F32);
}

NodeId emitSlopePenalty(Builder& b, NodeId at, NodeId output, NodeId scale, NodeId inverseScale) {
    PhaseScope phase(b, Phase::Loss);
    LabelScope label(b, "slope penalty");
    const AutocastScope off(b, nullptr);
    NodeId sum = b.sumAll(b.cast(output, DType::F32));
    if (inverseScale != kNoNode) sum = b.mul(sum, scale);
    const auto slopes = gradients(b, sum, std::array{at});
    if (!slopes[0])
        throw InputError(phrase("Model", "model.critic: its score does not depend on its input"));
    NodeId slope = b.cast(*slopes[0], DType::F32);
    if (inverseScale != kNoNode) slope = b.mul(slope, b.expandLike(inverseScale, slope));
    // When every unit of a critic is off, its slope is zero, and the root's derivative there would
    // be infinite.
    constexpr double kNoSlope = 1e-12;
    const NodeId square = b.shift(b.sum(b.mul(slope, slope), Shape{1}), kNoSlope);
    const NodeId norm = b.unary(Op::Sqrt, square);
    const NodeId miss = b.shift(norm, -1);
    return fn::mean(b, b.mul(miss, miss), {});
}

} // namespace halfscope
