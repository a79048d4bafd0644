// Adam, AdamW and SGD with momentum as elementwise nodes, in the order of operations of PyTorch's
// foreach implementation. Sources: the documentation of torch.optim.Adam, AdamW and SGD.
#include "engine/train/optimizer.h"

#include <cmath>

namespace halfscope {

namespace {

/// The parts of an update that all parameters share: rank 0, F32.
struct Shared {
    NodeId lr = kNoNode;
    NodeId stepSize = kNoNode;   ///< Adam: lr / (1 - beta1^t)
    NodeId secondRoot = kNoNode; ///< Adam: sqrt(1 - beta2^t)
    NodeId decay = kNoNode;      ///< AdamW: lr * weight decay
};

class OptimizerEmitter {
public:
    OptimizerEmitter(Builder& b, const OptimizerConfig& config, NodeId lr, NodeId skip)
        : m_b(b), m_config(config), m_skip(skip) {
        m_shared.lr = lr;
        LabelScope label(b, "optimizer");
        // F32 counts exactly to 2^24; there it stays, and every bias correction is 1 long before.
        const NodeId step = b.state("optimizer.step", {}, DType::F32, StateRole::Counter);
        const NodeId taken = b.shift(step, 1);
        b.graph().setNext(step, select(step, taken));
        if (config.kind == OptimizerKind::Sgd) return;
        m_shared.stepSize = b.div(lr, biasCorrection(config.beta1, taken));
        m_shared.secondRoot = b.unary(Op::Sqrt, biasCorrection(config.beta2, taken));
        if (config.kind == OptimizerKind::AdamW) m_shared.decay = b.scale(lr, config.weightDecay);
    }

    void update(const ParameterGradient& pg) {
        LabelScope label(m_b, pg.name);
        const NodeId p = m_b.cast(pg.parameter, DType::F32);
        const NodeId updated = m_config.kind == OptimizerKind::Sgd ? sgd(pg, p) : adam(pg, p);
        store(pg.parameter, updated);
    }

private:
    /// 1 - beta^t without cancellation for beta near 1: -expm1(t log beta).
    NodeId biasCorrection(double beta, NodeId t) {
        if (beta == 0) return m_b.constantLike(1, t);
        return m_b.neg(m_b.unary(Op::Expm1, m_b.scale(t, std::log(beta))));
    }

    NodeId select(NodeId old, NodeId next) {
        if (m_skip == kNoNode) return next;
        return m_b.where(m_b.expandLike(m_skip, old), old, next);
    }

    void store(NodeId state, NodeId valueF32) {
        m_b.graph().setNext(state, select(state, m_b.cast(valueF32, m_b.dtypeOf(state))));
    }

    NodeId moment(const ParameterGradient& pg, const char* name) {
        const Shape shape = m_b.shapeOf(pg.parameter);
        const DType dtype = m_b.dtypeOf(pg.parameter);
        return m_b.state(pg.name + "." + name, shape, dtype, StateRole::Moment);
    }

    NodeId decayedGradient(const ParameterGradient& pg, NodeId p) {
        if (m_config.weightDecay == 0) return pg.gradient;
        return m_b.add(pg.gradient, m_b.scale(p, m_config.weightDecay));
    }

    NodeId sgd(const ParameterGradient& pg, NodeId p) {
        NodeId g = decayedGradient(pg, p);
        if (m_config.momentum != 0) {
            const NodeId buffer = moment(pg, "momentum_buffer");
            g = m_b.add(m_b.scale(m_b.cast(buffer, DType::F32), m_config.momentum), g);
            store(buffer, g);
        }
        return m_b.sub(p, m_b.mul(m_b.expandLike(m_shared.lr, p), g));
    }

    NodeId adam(const ParameterGradient& pg, NodeId p) {
        const bool decoupled = m_config.kind == OptimizerKind::AdamW;
        const NodeId g = decoupled ? pg.gradient : decayedGradient(pg, p);
        // p - p * decay rather than p * (1 - decay): the rounding of a factor near 1 would act on
        // every step in the same direction.
        if (decoupled) p = m_b.sub(p, m_b.mul(p, m_b.expandLike(m_shared.decay, p)));
        const NodeId first = moment(pg, "exp_avg");
        const NodeId second = moment(pg, "exp_avg_sq");
        const NodeId m = m_b.cast(first, DType::F32);
        const NodeId v = m_b.cast(second, DType::F32);
        const NodeId nextM = m_b.add(m, m_b.scale(m_b.sub(g, m), 1 - m_config.beta1));
        const NodeId squares = m_b.scale(m_b.mul(g, g), 1 - m_config.beta2);
        const NodeId nextV = m_b.add(m_b.scale(v, m_config.beta2), squares);
        store(first, nextM);
        store(second, nextV);
        const NodeId root = m_b.unary(Op::Sqrt, nextV);
        const NodeId corrected = m_b.div(root, m_b.expandLike(m_shared.secondRoot, p));
        const NodeId ratio = m_b.div(nextM, m_b.shift(corrected, m_config.eps));
        return m_b.sub(p, m_b.mul(m_b.expandLike(m_shared.stepSize, p), ratio));
    }

    Builder& m_b;
    const OptimizerConfig& m_config;
    NodeId m_skip;
    Shared m_shared;
};

} // namespace

void emitOptimizer(Builder& b, const OptimizerConfig& config,
                   std::span<const ParameterGradient> parameters, NodeId learningRate,
                   NodeId skip) {
    PhaseScope phase(b, Phase::Optimizer);
    AutocastScope off(b, nullptr);
    OptimizerEmitter emitter(b, config, learningRate, skip);
    for (const ParameterGradient& pg : parameters)
        emitter.update(pg);
}

} // namespace halfscope
