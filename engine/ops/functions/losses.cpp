// Losses put together from primitives: mean over all elements, a scalar, in F32 under autocast.
// Their forms are chosen so that neither the value nor the gradient overflows sooner than it must.
#include "engine/ops/functions/losses.h"

#include "engine/core/error.h"
#include "engine/ops/functions/activations.h"
#include "engine/ops/functions/arithmetic.h"
#include "engine/ops/functions/operands.h"
#include "engine/ops/functions/reductions.h"

#include <limits>
#include <string>

namespace halfscope::fn {

using namespace detail;

namespace {

/// Throws InputError for what a caller may get wrong: the sizes and dtypes of the operands.
void requireInput(bool holds, const Message& what) {
    if (!holds) throw InputError(what);
}

void requireSameShape(const Builder& b, std::string_view name, NodeId input, NodeId target) {
    requireInput(b.shapeOf(input) == b.shapeOf(target),
                 {phrase("Operations", "%1: input %2 and target %3 differ"), name,
                  b.shapeOf(input).text(), b.shapeOf(target).text()});
}

/// Returns 1 - t in t's dtype.
NodeId complement(Builder& b, NodeId t) { return b.sub(b.constantLike(1, t), t); }

/// Returns two operands of one shape, in F32 after autocast.
Operands pairOf(Builder& b, std::string_view name, NodeId input, NodeId target) {
    requireSameShape(b, name, input, target);
    return Operands(b, name, std::array{input, target});
}

NodeId meanOf(Builder& b, const Operands& in, NodeId x) {
    const Shape shape = b.shapeOf(x);
    return in.result(b, shape.empty() ? x : b.reshape(b.mean(x, allAxes(shape.rank())), {}));
}

NodeId isOne(Builder& b, NodeId target) {
    return b.emit(Op::Equal, {target, b.constantLike(1, target)});
}

/// max(x, 0), with slope 1 at 0: PyTorch's losses clamp there, unlike relu.
NodeId hinge(Builder& b, NodeId x) {
    return b.emit(Op::Clamp, {x}, RangeAttrs{0, std::numeric_limits<double>::infinity()});
}

/// Returns the norms of the rows of a - c, with PyTorch's 1e-6 added to each difference, which
/// keeps the slope finite where rows are equal.
NodeId rowDistance(Builder& b, NodeId a, NodeId c) {
    const NodeId difference = b.shift(b.sub(a, c), 1e-6);
    return normOver(b, difference, {1});
}

/// |d| - beta / 2 from the bound on, and within it a parabola with slope d / beta that meets it
/// smoothly. NaN counts as within, where its slope is NaN too.
NodeId roundedAbs(Builder& b, NodeId d, double beta) {
    const NodeId size = b.unary(Op::Abs, d);
    const NodeId far = b.emit(Op::LessEqual, {b.constantLike(beta, size), size});
    // 0 where the branch is not taken: the slope of an infinite d times 0 would be NaN.
    const NodeId inner = b.where(far, b.constantLike(0, d), d);
    const NodeId parabola = b.scale(b.mul(inner, inner), 0.5 / beta);
    return b.where(far, b.shift(size, -0.5 * beta), parabola);
}

/// Returns the cross entropy of logarithms (n, classes) and labels (n, 1) as a mean with weights.
/// Weights may be large, so sums of 16-bit logarithms would overflow: they are taken in F32.
NodeId weightedCrossEntropy(Builder& b, NodeId logProbability, NodeId labels, double smoothing,
                            NodeId weights) {
    const NodeId wide = widened(b, logProbability);
    const Shape shape = b.shapeOf(wide);
    const NodeId byClass = b.cast(weights, b.dtypeOf(wide));
    const NodeId column = b.reshape(byClass, Shape{shape[1], 1});
    const NodeId own = b.emit(Op::Gather, {column, labels}, AxisAttrs{0, 0});
    const NodeId total = b.sumAll(own);
    const auto meanBy = [&](NodeId factors, NodeId x) {
        return b.neg(b.div(b.sumAll(b.mul(factors, x)), total));
    };
    NodeId loss = meanBy(own, b.emit(Op::Gather, {wide, labels}, AxisAttrs{1, 0}));
    if (smoothing != 0) {
        const NodeId all = meanBy(b.expand(b.reshape(byClass, Shape{1, shape[1]}), shape), wide);
        const double share = smoothing / static_cast<double>(shape[1]);
        loss = b.add(b.scale(loss, 1 - smoothing), b.scale(all, share));
    }
    return b.cast(loss, b.dtypeOf(logProbability));
}

} // namespace

NodeId mseLoss(Builder& b, NodeId input, NodeId target) {
    requireSameShape(b, "mse_loss", input, target);
    const auto in = castInputs(b, "mse_loss", std::array{input, target});
    const AutocastScope off(b, nullptr);
    const NodeId difference = sub(b, in[0], in[1]);
    return mean(b, b.mul(difference, difference), {});
}

NodeId crossEntropy(Builder& b, NodeId logits, NodeId labels, double smoothing, NodeId weights) {
    const Shape shape = b.shapeOf(logits);
    requireInput(
        shape.rank() == 2 && b.shapeOf(labels) == Shape{shape[0]} &&
            b.dtypeOf(labels) == DType::I32,
        {phrase("Operations",
                "cross_entropy: logits (n, classes) and int32 labels (n) expected, not %1 and %2"),
         shape.text(), b.shapeOf(labels).text()});
    requireInput(weights == kNoNode || b.shapeOf(weights) == Shape{shape[1]},
                 phrase("Operations", "cross_entropy: one weight for each class expected"));
    // Listed as one op on the CPU only; elsewhere its parts are listed.
    const NodeId cast = castInputs(b, "cross_entropy", std::array{logits})[0];
    const AutocastScope inner(b, innerPolicy(b, "cross_entropy"));
    const NodeId logProbability = castInputs(b, "nll_loss", std::array{logSoftmax(b, cast, 1)})[0];
    const AutocastScope off(b, nullptr);
    const NodeId index = b.reshape(labels, Shape{shape[0], 1});
    if (weights != kNoNode)
        return weightedCrossEntropy(b, logProbability, index, smoothing, weights);
    const NodeId picked = b.emit(Op::Gather, {logProbability, index}, AxisAttrs{1, 0});
    const NodeId loss = b.neg(mean(b, picked, {}));
    if (smoothing == 0) return loss;
    const NodeId all = b.neg(mean(b, logProbability, {}));
    return add(b, b.scale(loss, 1 - smoothing), b.scale(all, smoothing));
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
    const Operands in(b, kName, std::array{probability, target});
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
    // At the ends the value and that slope do not belong together. The slope comes from a parabola
    // whose value is subtracted again.
    const NodeId fixed = b.unary(Op::StopGradient, t);
    const NodeId parabola = b.scale(b.sub(b.scale(b.mul(p, p), 0.5), b.mul(fixed, p)), 1 / kLeast);
    const NodeId slope = b.sub(parabola, b.unary(Op::StopGradient, parabola));
    const NodeId ends = b.add(lossAt(b.unary(Op::StopGradient, p)), slope);
    return in.result(b, mean(b, b.where(within, inner, ends), {}));
}

NodeId l1Loss(Builder& b, NodeId input, NodeId target) {
    const Operands in = pairOf(b, "l1_loss", input, target);
    return meanOf(b, in, b.unary(Op::Abs, b.sub(in[0], in[1])));
}

NodeId smoothL1Loss(Builder& b, NodeId input, NodeId target, double beta) {
    requireInput(beta > 0,
                 phrase("Operations", "smooth_l1_loss: beta must be above 0 (0 is l1_loss)"));
    const Operands in = pairOf(b, "smooth_l1_loss", input, target);
    return meanOf(b, in, roundedAbs(b, b.sub(in[0], in[1]), beta));
}

NodeId huberLoss(Builder& b, NodeId input, NodeId target, double delta) {
    requireInput(delta > 0, phrase("Operations", "huber_loss: delta must be above 0"));
    const Operands in = pairOf(b, "huber_loss", input, target);
    return meanOf(b, in, b.scale(roundedAbs(b, b.sub(in[0], in[1]), delta), delta));
}

NodeId klDiv(Builder& b, NodeId logInput, NodeId target) {
    const Operands in = pairOf(b, "kl_div", logInput, target);
    const NodeId t = in[1], one = b.constantLike(1, t), zero = b.constantLike(0, t);
    // t log t is 0 at t = 0. The logarithm sees 1 there, because its infinite slope times 0 would
    // be NaN.
    const NodeId log = b.unary(Op::Log, b.where(b.emit(Op::Equal, {t, zero}), one, t));
    return meanOf(b, in, b.mul(t, b.sub(log, in[0])));
}

NodeId softMarginLoss(Builder& b, NodeId input, NodeId target) {
    const Operands in = pairOf(b, "soft_margin_loss", input, target);
    return meanOf(b, in, b.unary(Op::Softplus, b.neg(b.mul(in[0], in[1]))));
}

NodeId poissonNllLoss(Builder& b, NodeId logRate, NodeId target) {
    const Operands in = pairOf(b, "poisson_nll_loss", logRate, target);
    return meanOf(b, in, b.sub(b.unary(Op::Exp, in[0]), b.mul(in[1], in[0])));
}

NodeId nllLoss(Builder& b, NodeId logProbability, NodeId labels) {
    const Shape shape = b.shapeOf(logProbability);
    requireInput(shape.rank() == 2 && b.shapeOf(labels) == Shape{shape[0]} &&
                     b.dtypeOf(labels) == DType::I32,
                 {phrase("Operations",
                         "nll_loss: (n, classes) and int32 labels (n) expected, not %1 and %2"),
                  shape.text(), b.shapeOf(labels).text()});
    const Operands in(b, "nll_loss", std::array{logProbability});
    const NodeId index = b.reshape(labels, {shape[0], 1});
    return meanOf(b, in, b.neg(b.emit(Op::Gather, {in[0], index}, AxisAttrs{1, 0})));
}

NodeId hingeEmbeddingLoss(Builder& b, NodeId input, NodeId target, double margin) {
    const Operands in = pairOf(b, "hinge_embedding_loss", input, target);
    const NodeId apart = hinge(b, b.sub(b.constantLike(margin, in[0]), in[0]));
    return meanOf(b, in, b.where(isOne(b, in[1]), in[0], apart));
}

NodeId cosineEmbeddingLoss(Builder& b, NodeId a, NodeId c, NodeId target, double margin) {
    const Operands in(b, "cosine_embedding_loss", std::array{a, c, target});
    requireInput(
        b.shapeOf(in[0]).rank() == 2 && b.shapeOf(in[0]) == b.shapeOf(in[1]) &&
            b.shapeOf(in[2]) == Shape{b.shapeOf(in[0])[0]},
        phrase("Operations", "cosine_embedding_loss: two (n, d) and targets (n) expected"));
    const auto inner = [&](NodeId x, NodeId y) { return b.sum(b.mul(x, y), {1}); };
    // PyTorch adds 1e-12 to each square: a row of zeros has the cosine 0.
    const NodeId sizes =
        b.mul(b.shift(inner(in[0], in[0]), 1e-12), b.shift(inner(in[1], in[1]), 1e-12));
    const NodeId column = b.div(inner(in[0], in[1]), b.unary(Op::Sqrt, sizes));
    const NodeId cosine = b.reshape(column, Shape{b.shapeOf(column)[0]});
    const NodeId together = b.sub(b.constantLike(1, cosine), cosine);
    const NodeId apart = hinge(b, b.shift(cosine, -margin));
    return meanOf(b, in, b.where(isOne(b, in[2]), together, apart));
}

NodeId marginRankingLoss(Builder& b, NodeId a, NodeId c, NodeId target, double margin) {
    const Operands in(b, "margin_ranking_loss", std::array{a, c, target});
    requireInput(b.shapeOf(in[0]) == b.shapeOf(in[1]) && b.shapeOf(in[0]) == b.shapeOf(in[2]),
                 phrase("Operations", "margin_ranking_loss: three operands of one shape expected"));
    const NodeId order = b.mul(in[2], b.sub(in[0], in[1]));
    return meanOf(b, in, hinge(b, b.sub(b.constantLike(margin, order), order)));
}

NodeId tripletMarginLoss(Builder& b, NodeId anchor, NodeId positive, NodeId negative,
                         double margin) {
    const Operands in(b, "triplet_margin_loss", std::array{anchor, positive, negative});
    requireInput(b.shapeOf(in[0]).rank() == 2 && b.shapeOf(in[0]) == b.shapeOf(in[1]) &&
                     b.shapeOf(in[0]) == b.shapeOf(in[2]),
                 phrase("Operations", "triplet_margin_loss: three (n, d) expected"));
    const NodeId near = rowDistance(b, in[0], in[1]), far = rowDistance(b, in[0], in[2]);
    return meanOf(b, in, hinge(b, b.shift(b.sub(near, far), margin)));
}

NodeId multilabelSoftMarginLoss(Builder& b, NodeId input, NodeId target) {
    // Made of functions that ask autocast for themselves, as PyTorch's is: no list names it, and
    // under the CUDA lists its sum returns float32.
    const auto logSigmoid = [&](NodeId x) {
        const Operands in(b, "log_sigmoid", std::array{x});
        return in.result(b, b.neg(b.unary(Op::Softplus, b.neg(in[0]))));
    };
    const NodeId rest = sub(b, b.constant(1, {}, b.dtypeOf(target)), target);
    const NodeId likelihood =
        add(b, mul(b, target, logSigmoid(input)), mul(b, rest, logSigmoid(b.neg(input))));
    const int last = b.shapeOf(likelihood).rank() - 1;
    requireInput(last >= 0,
                 phrase("Operations", "multilabel_soft_margin_loss: a class axis expected"));
    const double classes = static_cast<double>(b.shapeOf(likelihood)[last]);
    const NodeId sums = sum(b, likelihood, {last});
    return mean(b, b.scale(sums, -1 / classes), {});
}

} // namespace halfscope::fn
