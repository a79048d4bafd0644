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
    requireSameShape(b, kName, probability, target);
    const auto in = castInputs(b, kName, std::array{probability, target});
    const AutocastScope off(b, nullptr);
    const NodeId p = in[0], t = b.cast(in[1], b.dtypeOf(in[0]));
    // As in PyTorch a logarithm is at least -100. Log sees 1 where the result is not used, because
    // the infinite slope at 0 times a zero gradient would be NaN.
    const auto boundedLog = [&](NodeId x) {
        const NodeId one = b.constantLike(1, x);
        const NodeId usable = b.emit(Op::Less, {b.constantLike(0, x), x});
        const NodeId log = b.unary(Op::Log, b.where(usable, x, one));
        const NodeId floor = b.constantLike(-100, x);
        return b.where(usable, b.emit(Op::Maximum, {log, floor}), floor);
    };
    const NodeId positive = b.mul(t, boundedLog(p));
    const NodeId negative = b.mul(complement(b, t), boundedLog(complement(b, p)));
    return b.neg(mean(b, b.add(positive, negative), {}));
}

} // namespace halfscope::fn
