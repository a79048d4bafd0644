// Losses as composites of primitives: mean over all elements, a scalar, in F32 under autocast.
// Their forms are chosen so that neither the value nor the gradient overflows.
#include "engine/core/error.h"
#include "engine/ops/functional.h"
#include "engine/ops/functional_detail.h"

#include <string>

namespace halfscope::fn {
namespace {

void requireSameShape(const Builder& b, std::string_view name, NodeId x, NodeId target) {
    require(b.shapeOf(x) == b.shapeOf(target), std::string(name) + ": input " +
                                                   b.shapeOf(x).text() + " and target " +
                                                   b.shapeOf(target).text() + " differ");
}

/// 1 - t in t's dtype.
NodeId complement(Builder& b, NodeId t) { return b.sub(b.constantLike(1, t), t); }

} // namespace

NodeId mseLoss(Builder& b, NodeId input, NodeId target) {
    requireSameShape(b, "mse_loss", input, target);
    const auto in = castInputs(b, "mse_loss", std::array{input, target});
    const AutocastScope off(b, nullptr);
    const NodeId difference = sub(b, in[0], in[1]);
    return mean(b, b.mul(difference, difference), {});
}

NodeId crossEntropy(Builder& b, NodeId logits, NodeId labels) {
    const Shape shape = b.shapeOf(logits);
    require(shape.rank() == 2 && b.shapeOf(labels) == Shape{shape[0]} &&
                b.dtypeOf(labels) == DType::I32,
            "cross_entropy: logits (n, classes) and int32 labels (n) wanted, not " + shape.text() +
                " and " + b.shapeOf(labels).text());
    // listed as one op on the CPU only; elsewhere its parts are
    const NodeId cast = castInputs(b, "cross_entropy", std::array{logits})[0];
    const AutocastScope inner(b, detail::innerPolicy(b, "cross_entropy"));
    const NodeId logProbability = castInputs(b, "nll_loss", std::array{logSoftmax(b, cast, 1)})[0];
    const AutocastScope off(b, nullptr);
    const NodeId index = b.reshape(labels, Shape{shape[0], 1});
    const NodeId picked = b.emit(Op::Gather, {logProbability, index}, AxisAttrs{1, 0});
    return b.neg(mean(b, picked, {}));
}

NodeId bceWithLogits(Builder& b, NodeId logits, NodeId target) {
    constexpr std::string_view kName = "binary_cross_entropy_with_logits";
    requireSameShape(b, kName, logits, target);
    const auto in = castInputs(b, kName, std::array{logits, target});
    const AutocastScope off(b, nullptr);
    const NodeId x = in[0], t = b.cast(in[1], b.dtypeOf(in[0]));
    // Both terms are non-negative for t in [0, 1], so that nothing cancels, and their slopes are
    // sigmoids; the form with max(x, 0) and |x| has a wrong slope at 0.
    const NodeId positive = b.mul(t, b.unary(Op::Softplus, b.neg(x)));
    const NodeId negative = b.mul(complement(b, t), b.unary(Op::Softplus, x));
    return mean(b, b.add(positive, negative), {});
}

NodeId bce(Builder& b, NodeId probability, NodeId target) {
    constexpr std::string_view kName = "binary_cross_entropy";
    constexpr double kLeast = 1e-12;
    requireSameShape(b, kName, probability, target);
    const detail::Operands in(b, kName, std::array{probability, target});
    const AutocastScope off(b, nullptr);
    const NodeId p = in[0], t = in[1];
    // As in PyTorch a logarithm is at least -100, and the slope is (p - t) / max(p (1 - p), 1e-12).
    const auto bounded = [&](Op log, NodeId x) {
        return b.emit(Op::Maximum, {b.unary(log, x), b.constantLike(-100, x)});
    };
    const auto lossAt = [&](NodeId x) { // log(1 - x) by log1p: a small x would be lost in 1 - x
        return b.neg(b.add(b.mul(t, bounded(Op::Log, x)),
                           b.mul(complement(b, t), bounded(Op::Log1p, b.neg(x)))));
    };
    const NodeId within = b.emit(Op::Less, {b.constantLike(kLeast, p), b.mul(p, complement(b, p))});
    const NodeId inner = lossAt(b.where(within, p, b.constantLike(0.5, p)));
    // At the ends the value and that slope do not belong together: the slope is that of a parabola
    // which is taken off again.
    const NodeId fixed = b.unary(Op::StopGradient, t);
    const NodeId parabola = b.scale(b.sub(b.scale(b.mul(p, p), 0.5), b.mul(fixed, p)), 1 / kLeast);
    const NodeId slope = b.sub(parabola, b.unary(Op::StopGradient, parabola));
    const NodeId ends = b.add(lossAt(b.unary(Op::StopGradient, p)), slope);
    return in.result(b, mean(b, b.where(within, inner, ends), {}));
}

} // namespace halfscope::fn
