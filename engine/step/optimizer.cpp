// The optimizers as elementwise nodes, in the order of operations of PyTorch's foreach
// implementation. Sources: the documentation of the classes of torch.optim. Parameters that
// are stored in 16 bits have every operation's result rounded to 16 bits, as PyTorch rounds it: in
// float16, Adam's epsilon of 1e-8 is zero. With stochastic rounding only the end result is rounded.
#include "engine/step/optimizer.h"

#include "engine/core/error.h"
#include "engine/ops/functions/activations.h"

#include <cmath>
#include <numbers>

namespace halfscope {

namespace {

/// The parts of an update that all parameters share: rank 0, F32.
struct Shared {
    NodeId lr = kNoNode;
    NodeId stepSize = kNoNode;   ///< Adam: lr / (1 - beta1^t)
    NodeId secondRoot = kNoNode; ///< Adam: sqrt(1 - beta2^t)
    NodeId decay = kNoNode;      ///< AdamW: lr * weight decay
    NodeId ofGradient = kNoNode; ///< NAdam: how far a step goes along the gradient,
    NodeId ofMean = kNoNode;     ///< and along the mean of gradients
    NodeId first = kNoNode;      ///< Bool: true before the first step that was taken (SGD with
                                 ///< dampening)
};

class OptimizerEmitter {
public:
    OptimizerEmitter(Builder& b, const OptimizerConfig& config, NodeId lr, NodeId skip,
                     const OptimizerExtras& extras)
        : m_b(b), m_config(config), m_skip(skip), m_complement(extras.momentumComplement),
          m_largestComplement(extras.largestComplement), m_roundingSeed(extras.roundingSeed) {
        m_shared.lr = lr;
        LabelScope label(b, extras.name);
        // F32 counts exactly to 2^24 and stays there; every bias correction is 1 long before that.
        const NodeId step = m_step =
            b.state(std::string(extras.name) + ".step", {}, DType::F32, StateRole::Counter);
        const NodeId taken = b.shift(step, 1);
        b.graph().setNext(step, select(step, taken));
        if (config.dampening != 0)
            m_shared.first = b.emit(Op::Equal, {step, b.constantLike(0, step)});
        if (!infoOf(config.kind).has.betas) return;
        m_shared.stepSize = b.div(lr, firstCorrection(taken));
        m_shared.secondRoot = b.unary(Op::Sqrt, biasCorrection(config.beta2, taken));
        if (config.kind == OptimizerKind::AdamW) m_shared.decay = b.scale(lr, config.weightDecay);
        if (config.kind == OptimizerKind::NAdam) lookAhead(taken, extras.name);
    }

    void update(const ParameterGradient& pg) {
        LabelScope label(m_b, pg.name);
        const DType stored = m_b.dtypeOf(pg.parameter);
        const bool byChance = m_roundingSeed && isLow(stored);
        m_storage = byChance ? DType::F32 : stored;
        const NodeId p = m_b.cast(pg.parameter, DType::F32);
        NodeId next = updated(pg, p);
        if (byChance) next = stochasticCast(m_b, next, stored, m_step, *m_roundingSeed);
        store(pg.parameter, next);
    }

private:
    NodeId updated(const ParameterGradient& pg, NodeId p) {
        switch (m_config.kind) {
        case OptimizerKind::Adam:
        case OptimizerKind::AdamW: return adam(pg, p);
        case OptimizerKind::Sgd: return sgd(pg, p);
        case OptimizerKind::RmsProp: return rmsProp(pg, p);
        case OptimizerKind::NAdam: return nAdam(pg, p);
        case OptimizerKind::Adamax: return adamax(pg, p);
        case OptimizerKind::Adagrad: return adagrad(pg, p);
        case OptimizerKind::Adadelta: return adadelta(pg, p);
        }
        failInvariant("unknown optimizer");
    }

    /// Rounds an operation's result as the parameter is stored.
    NodeId rounded(NodeId x) { return m_b.cast(m_b.cast(x, m_storage), DType::F32); }

    /// Emits 1 - beta^t without cancellation for beta near 1, as -expm1(t log beta).
    NodeId biasCorrection(double beta, NodeId t) {
        if (beta == 0) return m_b.constantLike(1, t);
        return m_b.neg(m_b.unary(Op::Expm1, m_b.scale(t, std::log(beta))));
    }

    /// Emits the bias correction of beta1. As in PyTorch, a cycled beta1 counts as if it had always
    /// had its present value.
    NodeId firstCorrection(NodeId t) {
        if (m_complement == kNoNode) return biasCorrection(m_config.beta1, t);
        const NodeId log = m_b.unary(Op::Log1p, m_b.neg(m_complement));
        return m_b.neg(m_b.unary(Op::Expm1, m_b.mul(t, log)));
    }

    /// Emits 1 - mu of NAdam's step t: its momentum mu rises from half of beta1 to beta1.
    NodeId nesterovComplement(NodeId t) {
        constexpr double kMomentumDecay = 0.004; // PyTorch's default
        const NodeId log = m_b.scale(t, kMomentumDecay * std::log(0.96));
        const NodeId share = m_b.shift(m_b.scale(m_b.unary(Op::Exp, log), -0.5), 1);
        NodeId mu = m_b.scale(share, m_config.beta1);
        if (m_complement != kNoNode) mu = m_b.mul(share, m_b.shift(m_b.neg(m_complement), 1));
        return m_b.shift(m_b.neg(mu), 1);
    }

    /// NAdam's sizes of a step. What is kept is 1 - the product of all mu, which starts at zero as
    /// states do, and has more digits than the product.
    void lookAhead(NodeId taken, const char* name) {
        const NodeId past = m_b.state(std::string(name) + ".mu_product_complement", {}, DType::F32,
                                      StateRole::Moment);
        const auto with = [&](NodeId kept, NodeId complement) {
            return m_b.add(kept, m_b.mul(m_b.shift(m_b.neg(kept), 1), complement));
        };
        const NodeId now = nesterovComplement(taken);
        const NodeId following = nesterovComplement(m_b.shift(taken, 1));
        const NodeId kept = with(past, now);
        m_b.graph().setNext(past, select(past, kept));
        const NodeId mu = m_b.shift(m_b.neg(following), 1);
        m_shared.ofGradient = m_b.div(m_b.mul(m_shared.lr, now), kept);
        m_shared.ofMean = m_b.div(m_b.mul(m_shared.lr, mu), with(kept, following));
    }

    NodeId select(NodeId old, NodeId next) {
        if (m_skip == kNoNode) return next;
        return m_b.where(m_b.expandLike(m_skip, old), old, next);
    }

    void store(NodeId state, NodeId value) {
        m_b.graph().setNext(state, select(state, m_b.cast(value, m_b.dtypeOf(state))));
    }

    /// Returns a moment's state; value() reads its value.
    NodeId moment(const ParameterGradient& pg, const char* name) {
        const Shape shape = m_b.shapeOf(pg.parameter);
        const DType dtype = m_b.dtypeOf(pg.parameter);
        return m_b.state(pg.name + "." + name, shape, dtype, StateRole::Moment);
    }
    NodeId value(NodeId state) { return m_b.cast(state, DType::F32); }

    NodeId decayedGradient(const ParameterGradient& pg, NodeId p) {
        const NodeId g = rounded(pg.gradient);
        if (m_config.weightDecay == 0) return g;
        return rounded(m_b.add(g, m_b.scale(p, m_config.weightDecay)));
    }

    bool hasMomentum() const { return m_complement != kNoNode || m_config.momentum != 0; }

    /// Emits x times the momentum.
    NodeId timesMomentum(NodeId x) {
        if (m_complement == kNoNode) return m_b.scale(x, m_config.momentum);
        const NodeId momentum = m_b.shift(m_b.neg(m_complement), 1);
        return m_b.mul(x, m_b.expandLike(momentum, x));
    }

    /// Goes from x to the target by a share of the way, from the nearer end as torch.lerp does: a
    /// share of 1 gives exactly the target.
    NodeId towards(NodeId x, NodeId target, double share) {
        const NodeId way = m_b.sub(target, x);
        if (share < 0.5) return m_b.add(x, m_b.scale(way, share));
        return m_b.sub(target, m_b.scale(way, 1 - share));
    }

    /// Emits Adam's mean of gradients, which moves towards g by the share 1 - beta1.
    NodeId nextMean(NodeId x, NodeId g) {
        if (m_complement == kNoNode) return towards(x, g, 1 - m_config.beta1);
        const NodeId way = m_b.sub(g, x);
        const NodeId near = m_b.add(x, m_b.mul(way, m_b.expandLike(m_complement, way)));
        if (m_largestComplement < 0.5) return near;
        const NodeId far = m_b.sub(g, timesMomentum(way));
        const NodeId half = m_b.constantLike(0.5, m_complement);
        const NodeId isNear = m_b.emit(Op::Less, {m_complement, half});
        return m_b.where(m_b.expandLike(isNear, way), near, far);
    }

    /// Emits beta * v + (1 - beta) * g^2.
    NodeId meanSquare(NodeId v, NodeId g, double beta) {
        const NodeId kept = rounded(m_b.scale(v, beta));
        return rounded(m_b.add(kept, m_b.scale(m_b.mul(g, g), 1 - beta)));
    }

    NodeId plusEps(NodeId x) { return rounded(m_b.shift(x, m_config.eps)); }
    NodeId root(NodeId x) { return rounded(m_b.unary(Op::Sqrt, x)); }

    /// Emits p - step * (x / divisor), `step` of rank 0.
    NodeId along(NodeId p, NodeId step, NodeId x, NodeId divisor) {
        return m_b.sub(p, m_b.mul(m_b.expandLike(step, p), m_b.div(x, divisor)));
    }

    /// Stores the next mean of gradients, and returns it.
    NodeId movedMean(const ParameterGradient& pg, NodeId g) {
        const NodeId mean = moment(pg, "exp_avg");
        const NodeId next = rounded(nextMean(value(mean), g));
        store(mean, next);
        return next;
    }
    /// Stores the next mean of squared gradients, and returns it.
    NodeId movedSquares(const ParameterGradient& pg, NodeId g, const char* name, double beta) {
        const NodeId squares = moment(pg, name);
        const NodeId next = meanSquare(value(squares), g, beta);
        store(squares, next);
        return next;
    }

    NodeId sgd(const ParameterGradient& pg, NodeId p) {
        const NodeId g = decayedGradient(pg, p);
        NodeId direction = g;
        if (hasMomentum()) {
            const NodeId buffer = moment(pg, "momentum_buffer");
            const NodeId kept = rounded(timesMomentum(value(buffer)));
            NodeId next = rounded(m_b.add(kept, m_b.scale(g, 1 - m_config.dampening)));
            // The buffer starts as the first gradient, which is not dampened.
            if (m_config.dampening != 0)
                next = m_b.where(m_b.expandLike(m_shared.first, g), g, next);
            store(buffer, next);
            direction = m_config.nesterov ? rounded(m_b.add(g, timesMomentum(next))) : next;
        }
        return m_b.sub(p, m_b.mul(m_b.expandLike(m_shared.lr, p), direction));
    }

    NodeId rmsProp(const ParameterGradient& pg, NodeId p) {
        const NodeId g = decayedGradient(pg, p);
        NodeId spread = movedSquares(pg, g, "square_avg", m_config.alpha);
        if (m_config.centered) {
            const NodeId mean = moment(pg, "grad_avg");
            const NodeId next = rounded(towards(value(mean), g, 1 - m_config.alpha));
            store(mean, next);
            spread = rounded(m_b.sub(spread, m_b.mul(next, next)));
        }
        NodeId direction = m_b.div(g, plusEps(root(spread)));
        if (hasMomentum()) {
            const NodeId buffer = moment(pg, "momentum_buffer");
            const NodeId kept = rounded(timesMomentum(value(buffer)));
            direction = rounded(m_b.add(kept, direction));
            store(buffer, direction);
        }
        return m_b.sub(p, m_b.mul(m_b.expandLike(m_shared.lr, p), direction));
    }

    NodeId correctedRoot(NodeId squares) {
        return rounded(m_b.div(root(squares), m_b.expandLike(m_shared.secondRoot, squares)));
    }

    NodeId adam(const ParameterGradient& pg, NodeId p) {
        const bool decoupled = m_config.kind == OptimizerKind::AdamW;
        const NodeId g = decoupled ? rounded(pg.gradient) : decayedGradient(pg, p);
        const NodeId mean = movedMean(pg, g);
        NodeId largest = movedSquares(pg, g, "exp_avg_sq", m_config.beta2);
        if (m_config.amsgrad) {
            const NodeId past = moment(pg, "max_exp_avg_sq");
            largest = m_b.emit(Op::Maximum, {value(past), largest});
            store(past, largest);
        }
        const NodeId ratio = m_b.div(mean, plusEps(correctedRoot(largest)));
        const NodeId step = m_b.mul(m_b.expandLike(m_shared.stepSize, p), ratio);
        if (!decoupled) return m_b.sub(p, step);
        const NodeId decay = m_b.mul(p, m_b.expandLike(m_shared.decay, p));
        if (m_storage != DType::F32) return m_b.sub(rounded(m_b.sub(p, decay)), step);
        // p - (p * decay + step) rather than PyTorch's p * (1 - decay) - step: the rounding of a
        // factor near 1 would act on every step in the same direction, and here p itself is rounded
        // only once.
        return m_b.sub(p, m_b.add(decay, step));
    }

    NodeId nAdam(const ParameterGradient& pg, NodeId p) {
        const NodeId g = decayedGradient(pg, p);
        const NodeId mean = movedMean(pg, g);
        const NodeId squares = movedSquares(pg, g, "exp_avg_sq", m_config.beta2);
        const NodeId divisor = plusEps(correctedRoot(squares));
        const NodeId moved = rounded(along(p, m_shared.ofGradient, g, divisor));
        return along(moved, m_shared.ofMean, mean, divisor);
    }

    NodeId adamax(const ParameterGradient& pg, NodeId p) {
        const NodeId g = decayedGradient(pg, p);
        const NodeId mean = movedMean(pg, g);
        const NodeId largest = moment(pg, "exp_inf");
        const NodeId kept = rounded(m_b.scale(value(largest), m_config.beta2));
        const NodeId next = m_b.emit(Op::Maximum, {kept, plusEps(m_b.unary(Op::Abs, g))});
        store(largest, next);
        return along(p, m_shared.stepSize, mean, next);
    }

    NodeId adagrad(const ParameterGradient& pg, NodeId p) {
        const NodeId g = decayedGradient(pg, p);
        const NodeId sum = moment(pg, "sum");
        const NodeId next = rounded(m_b.add(value(sum), m_b.mul(g, g)));
        store(sum, next);
        const NodeId step = rounded(m_b.mul(g, m_b.expandLike(m_shared.lr, g)));
        return m_b.sub(p, m_b.div(step, plusEps(root(next))));
    }

    NodeId adadelta(const ParameterGradient& pg, NodeId p) {
        const NodeId g = decayedGradient(pg, p);
        const NodeId divisor = root(plusEps(movedSquares(pg, g, "square_avg", m_config.alpha)));
        const NodeId past = moment(pg, "acc_delta");
        const NodeId ratio = rounded(m_b.div(root(plusEps(value(past))), divisor));
        const NodeId delta = rounded(m_b.mul(ratio, g));
        store(past, meanSquare(value(past), delta, m_config.alpha));
        return m_b.sub(p, m_b.mul(m_b.expandLike(m_shared.lr, p), delta));
    }

    Builder& m_b;
    const OptimizerConfig& m_config;
    NodeId m_skip, m_complement;
    double m_largestComplement;
    std::optional<uint64_t> m_roundingSeed;
    NodeId m_step = kNoNode; ///< the number of steps taken before this one
    Shared m_shared;
    DType m_storage = DType::F32; ///< to which the results of operations are rounded
};

} // namespace

NodeId stochasticCast(Builder& b, NodeId valueF32, DType to, NodeId counter, uint64_t seed) {
    const FloatFormat& format = formatOf(to);
    const NodeId size = b.unary(Op::Abs, valueF32);
    const NodeId least = b.constantLike(format.minNormal, size);
    const NodeId exponent =
        b.unary(Op::Floor, b.unary(Op::Log2, b.emit(Op::Maximum, {size, least})));
    const NodeId power = b.unary(Op::Exp, b.scale(exponent, std::numbers::ln2)); // 2^exponent
    const NodeId gap = b.scale(power, std::ldexp(1.0, 1 - format.significandBits));
    const NodeId chance = b.shift(fn::uniform(b, b.shapeOf(size), counter, seed), -0.5);
    const NodeId moved = b.add(size, b.mul(chance, gap));
    // At a power of two the gap below is half as wide: a number there must not move down. Below
    // the smallest normal number all gaps are alike.
    const NodeId subnormal = b.emit(Op::Less, {size, least});
    const NodeId low = b.where(subnormal, b.constantLike(0, size), power);
    const NodeId kept = b.emit(Op::Maximum, {moved, low});
    return b.cast(b.mul(b.unary(Op::Sign, valueF32), kept), to);
}

void emitOptimizer(Builder& b, const OptimizerConfig& config,
                   std::span<const ParameterGradient> parameters, NodeId learningRate, NodeId skip,
                   const OptimizerExtras& extras) {
    PhaseScope phase(b, Phase::Optimizer);
    AutocastScope off(b, nullptr);
    OptimizerEmitter emitter(b, config, learningRate, skip, extras);
    for (const ParameterGradient& pg : parameters)
        emitter.update(pg);
}

} // namespace halfscope
