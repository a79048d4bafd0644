// The training step as one graph, phase by phase. Host values enter it only through inputs and
// states; a skipped step is a select. Rules of the scaler: torch.amp.GradScaler.
#include "engine/step/step_graph.h"

#include "engine/core/error.h"
#include "engine/passes/autodiff.h"
#include "engine/settings/precision.h"
#include "engine/settings/precision_plan.h"
#include "engine/settings/run_length.h"
#include "engine/step/clip.h"
#include "engine/step/optimizer.h"
#include "engine/step/parameter_layers.h"
#include "engine/step/penalty.h"
#include "engine/step/schedule.h"
#include "engine/step/schedule_nodes.h"
#include "engine/step/step_parts.h"

#include <algorithm>
#include <array>

namespace halfscope {

namespace {

/// Returns element `slot` of a small vector, as rank 0.
NodeId element(Builder& b, NodeId vector, int slot) {
    return b.reshape(b.slice(vector, 0, slot, slot + 1), {});
}

class StepBuilder {
public:
    StepBuilder(Graph& graph, const RunConfig& config, const LaneConfig& lane)
        : m_b(graph), m_config(config), m_lane(lane), m_rates(scheduleOf(config)),
          m_schedule(m_b, m_rates) {}

    /// The pass forward and backward, up to the unscaled gradients of this batch.
    void buildGradients(const PrecisionPlan& plan, const ForwardFn& forward) {
        const Forward f = begin(plan, forward);
        for (size_t i = 0; i < f.losses.size(); ++i)
            differentiate(f, i);
        unscale();
        for (const Group& group : m_groups)
            for (const ParameterGradient& pg : group.gradients)
                m_b.graph().addOutput(std::string(kGradientOutput) + pg.name, pg.gradient);
    }

    void build(const PrecisionPlan& plan, const ForwardFn& forward) {
        const Forward f = begin(plan, forward);
        emitBoundary();
        emitTurns();
        NodeId loss = kNoNode;
        for (size_t i = 0; i < f.losses.size(); ++i) {
            differentiate(f, i);
            PhaseScope phase(m_b, Phase::Loss);
            LabelScope label(m_b, "loss");
            if (f.shownLoss == kNoNode) loss = sumOf(loss, f.losses[i]);
        }
        if (f.shownLoss != kNoNode) loss = f.shownLoss;
        accumulate();
        unscale();
        clip();
        const NodeId lr = optimize();
        updateScaler();
        emitModelUpdates(m_b, f.updates);
        m_b.graph().addOutput("loss", loss);
        m_b.graph().addOutput("prediction", f.prediction);
        if (m_penalty != kNoNode) m_b.graph().addOutput("penalty", m_penalty);
        m_b.graph().addOutput("metrics", metrics(loss, lr, f.generatorLoss));
    }

private:
    /// The parameters of one optimizer, which steps or skips on its own.
    struct Group {
        std::vector<ParameterGradient> gradients;
        NodeId found = kNoNode;  ///< Bool: a gradient was not finite; kNoNode without scaling
        NodeId passes = kNoNode; ///< Bool: its optimizer sits this update out; kNoNode when it
                                 ///< never does
    };

    /// Emits the forward pass, and what the gradients need besides it.
    Forward begin(const PrecisionPlan& plan, const ForwardFn& forward) {
        m_policy = plan.policy ? &*plan.policy : nullptr;
        m_b.setMathMode(plan.math);
        Forward f;
        {
            AutocastScope scope(m_b, m_policy);
            f = forward(m_b, plan.storage.weights);
        }
        if (m_policy != nullptr) checkLayers(*m_policy, m_lane, m_b.graph());
        m_scaler = m_b.state("scaler", {kScalerSlots}, DType::F64, StateRole::Scaler);
        takeScale();
        groupParameters(f);
        return f;
    }

    void takeScale() {
        PhaseScope phase(m_b, Phase::Loss);
        LabelScope label(m_b, "scaled loss");
        m_scale = m_b.cast(element(m_b, m_scaler, kScaleSlot), DType::F32);
        if (!scalesLoss(m_lane)) return;
        LabelScope inverse(m_b, kInverseLabel);
        m_inverse = m_b.div(m_b.constant(1, {}, DType::F32), m_scale);
    }

    void groupParameters(const Forward& f) {
        m_groups.resize(std::max<size_t>(f.parameters.size(), 1));
        for (const StateInfo& state : m_b.graph().states()) {
            if (state.role != StateRole::Parameter) continue;
            const size_t group = optimizerOf(f, state.node);
            m_groups[group].gradients.push_back({state.node, kNoNode, state.name});
        }
    }

    static size_t optimizerOf(const Forward& f, NodeId state) {
        for (size_t i = 0; i < f.parameters.size(); ++i)
            if (std::find(f.parameters[i].begin(), f.parameters[i].end(), state) !=
                f.parameters[i].end())
                return i;
        return 0;
    }

    /// Emits whether this micro-batch is the last one of its update.
    void emitBoundary() {
        const int64_t count = m_config.gradients.accumulate;
        if (count <= 1) return;
        PhaseScope phase(m_b, Phase::Backward);
        LabelScope label(m_b, "accumulation");
        const NodeId seen = m_b.state("accumulation.count", {}, DType::F32, StateRole::Counter);
        const NodeId now = m_b.shift(seen, 1);
        const NodeId last = m_b.constantLike(static_cast<double>(count), now);
        m_boundary = m_b.emit(Op::LessEqual, {last, now});
        m_b.graph().setNext(seen, m_b.where(m_boundary, m_b.constantLike(0, now), now));
    }

    /// Returns `next` when an update is due, otherwise `old`.
    NodeId atBoundary(NodeId next, NodeId old) {
        if (m_boundary == kNoNode) return next;
        return m_b.where(m_b.expandLike(m_boundary, old), next, old);
    }

    /// Emits which optimizers sit this update out.
    void emitTurns() {
        const std::vector<OptimizerPart> optimizers = partsOf(m_config).optimizers;
        require(m_groups.size() <= optimizers.size(), "parameters without an optimizer");
        PhaseScope phase(m_b, Phase::Optimizer);
        LabelScope label(m_b, "turns");
        for (size_t i = 0; i < m_groups.size(); ++i) {
            if (optimizers[i].every <= 1) continue;
            const NodeId passed =
                m_b.state(optimizers[i].passed(), {}, DType::F32, StateRole::Counter);
            const NodeId now = m_b.shift(passed, 1);
            const NodeId all = m_b.constantLike(static_cast<double>(optimizers[i].every), now);
            m_groups[i].passes = m_b.emit(Op::Less, {now, all});
            const NodeId next = m_b.where(m_groups[i].passes, now, m_b.constantLike(0, now));
            m_b.graph().setNext(passed, atBoundary(next, passed));
        }
    }

    /// Returns what a group adds to a sum: zero when its optimizer does not step.
    NodeId inTurn(const Group& group, NodeId value) {
        if (group.passes == kNoNode) return value;
        return m_b.where(group.passes, m_b.constantLike(0, value), value);
    }

    NodeId timesScale(NodeId loss) { return scalesLoss(m_lane) ? m_b.mul(loss, m_scale) : loss; }

    NodeId withPenalty(NodeId loss, std::span<const NodeId> parameters) {
        const GradientConfig& config = m_config.gradients;
        if (config.penalty == 0) return loss;
        AutocastScope scope(m_b, m_policy);
        const NodeId norm =
            emitGradientPenalty(m_b, {timesScale(loss), m_inverse, parameters, config.penaltyEps});
        m_penalty = sumOf(m_penalty, norm);
        return m_b.add(loss, m_b.scale(norm, config.penalty));
    }

    NodeId withSlopePenalty(NodeId loss, const SlopePenalty& slope) {
        const NodeId penalty = emitSlopePenalty(m_b, slope.at, slope.output, m_scale, m_inverse);
        m_penalty = sumOf(m_penalty, penalty);
        return m_b.add(loss, m_b.scale(penalty, m_config.gradients.criticPenalty));
    }

    /// Returns the groups whose parameters a loss reaches.
    std::span<Group> reachedBy(const Forward& f, size_t loss) {
        return f.ownLosses ? std::span(m_groups).subspan(loss, 1) : std::span(m_groups);
    }

    /// Adds the gradients of one loss to the gradients collected so far.
    void differentiate(const Forward& f, size_t index) {
        NodeId loss = f.losses[index];
        const std::span<Group> groups = reachedBy(f, index);
        std::vector<NodeId> parameters;
        for (const Group& group : groups)
            for (const ParameterGradient& pg : group.gradients)
                parameters.push_back(pg.parameter);
        NodeId scaled = kNoNode;
        {
            PhaseScope phase(m_b, Phase::Loss);
            LabelScope label(m_b, "scaled loss");
            loss = withPenalty(loss, parameters);
            const SlopePenalty& slope = f.slopePenalty;
            if (slope.at != kNoNode && slope.loss == index) loss = withSlopePenalty(loss, slope);
            const int64_t count = m_config.gradients.accumulate;
            if (count > 1) loss = m_b.div(loss, m_b.constantLike(static_cast<double>(count), loss));
            scaled = timesScale(loss);
        }
        PhaseScope phase(m_b, Phase::Backward);
        const auto found = gradients(m_b, scaled, parameters);
        size_t i = 0;
        for (Group& group : groups)
            for (ParameterGradient& pg : group.gradients) {
                LabelScope label(m_b, pg.name + " over losses");
                if (const auto& gradient = found[i++]) pg.gradient = sumOf(pg.gradient, *gradient);
            }
    }

    /// Accumulates the scaled gradients over micro-batches; the scale is held until the last one.
    void accumulate() {
        PhaseScope phase(m_b, Phase::Backward);
        for (Group& group : m_groups) {
            for (ParameterGradient& pg : group.gradients) {
                require(pg.gradient != kNoNode, pg.name + " does not reach the loss");
                if (m_boundary == kNoNode) continue;
                LabelScope label(m_b, pg.name + " accumulated");
                const NodeId sum = m_b.state(pg.name + ".accumulated", m_b.shapeOf(pg.gradient),
                                             m_b.dtypeOf(pg.gradient), StateRole::Gradient);
                pg.gradient = m_b.add(sum, pg.gradient);
                const NodeId none = m_b.constantLike(0, sum);
                m_b.graph().setNext(sum, atBoundary(none, pg.gradient));
            }
        }
    }

    /// Checks the scaled gradients and unscales them, as PyTorch does: what overflows in the
    /// multiplication is let through unless the lane asks for a second check.
    void unscale() {
        PhaseScope phase(m_b, Phase::Unscale);
        LabelScope all(m_b, "gradients");
        NodeId squares = kNoNode;
        for (Group& group : m_groups) {
            NodeId count = kNoNode;
            for (ParameterGradient& pg : group.gradients) {
                LabelScope label(m_b, pg.name + std::string(kGradientLabel));
                if (scalesLoss(m_lane))
                    count = sumOf(count, m_b.emit(Op::CountNonFinite, {pg.gradient}));
                pg.gradient = m_b.cast(pg.gradient, DType::F32);
                if (scalesLoss(m_lane))
                    pg.gradient = m_b.mul(pg.gradient, m_b.expandLike(m_inverse, pg.gradient));
                if (scalesLoss(m_lane) && m_lane.scaler.checkUnscaled)
                    count = m_b.add(count, m_b.emit(Op::CountNonFinite, {pg.gradient}));
                const NodeId square = m_b.sumAll(m_b.mul(pg.gradient, pg.gradient));
                squares = sumOf(squares, inTurn(group, square));
            }
            if (count != kNoNode)
                group.found = m_b.emit(Op::Less, {m_b.constantLike(0, count), count});
        }
        m_norm = m_b.unary(Op::Sqrt, squares);
        m_foundInf = foundCode();
    }

    /// Returns the sum of 1 for an overflow of the first optimizer, 2 for one of the second and so
    /// on; 0 between updates.
    NodeId foundCode() {
        NodeId code = kNoNode;
        double weight = 1;
        for (const Group& group : m_groups) {
            if (group.found == kNoNode) continue;
            const NodeId found = m_b.scale(m_b.cast(group.found, DType::F32), weight);
            code = sumOf(code, inTurn(group, found));
            weight *= 2;
        }
        const NodeId none = m_b.constant(0, {}, DType::F32);
        return code == kNoNode ? none : atBoundary(code, none);
    }

    NodeId sumOf(NodeId total, NodeId term) {
        return total == kNoNode ? term : m_b.add(total, term);
    }

    /// Clips each optimizer's gradients by their own norm, after unscaling: the limit applies to
    /// true gradients.
    void clip() {
        PhaseScope phase(m_b, Phase::Unscale);
        for (Group& group : m_groups)
            clipGradients(m_b, m_config.gradients.clip, m_config.gradients.clipLimit,
                          group.gradients);
    }

    bool skipsOverflows() const {
        return scalesLoss(m_lane) && m_lane.scaler.onOverflow == OverflowAction::Skip;
    }

    /// Returns when an optimizer keeps its values; kNoNode when it always steps.
    NodeId skipOf(const Group& group) {
        LabelScope label(m_b, "skip");
        NodeId skip = skipsOverflows() ? group.found : kNoNode;
        const auto also = [&](NodeId other) {
            skip = skip == kNoNode ? other : m_b.emit(Op::LogicalOr, {other, skip});
        };
        if (m_boundary != kNoNode) also(m_b.unary(Op::LogicalNot, m_boundary));
        if (group.passes != kNoNode) also(group.passes);
        return skip;
    }

    /// Updates every group and returns the first one's learning rate.
    NodeId optimize() {
        PhaseScope phase(m_b, Phase::Optimizer);
        const std::vector<OptimizerPart> optimizers = partsOf(m_config).optimizers;
        const NodeId lr = rateOf(optimizers[0]);
        advanceSchedule();
        const ScheduleConfig& schedule = m_rates;
        OptimizerExtras extras;
        if (cyclesMomentum(schedule)) {
            extras.momentumComplement =
                m_schedule.valueOf("schedule.momentum_complement", "momentum");
            extras.largestComplement = 1 - std::min(schedule.baseMomentum, schedule.maxMomentum);
        }
        if (m_lane.rounding == WeightRounding::Stochastic) extras.roundingSeed = m_config.seed;
        for (size_t i = 0; i < m_groups.size(); ++i) {
            const NodeId rate = i == 0 ? lr : rateOf(optimizers[i]);
            extras.name = optimizers[i].name.c_str();
            emitOptimizer(m_b, optimizers[i].config, m_groups[i].gradients, rate,
                          skipOf(m_groups[i]), extras);
        }
        return lr;
    }

    NodeId rateOf(const OptimizerPart& optimizer) {
        return m_schedule.valueOf(optimizer.table.c_str(), optimizer.label.c_str());
    }

    /// Advances the tick with every update of the scaler, on skips too, as PyTorch's recipe does,
    /// unless the lane holds it on skips.
    void advanceSchedule() {
        LabelScope label(m_b, "learning rate");
        const NodeId tick = m_schedule.tick();
        NodeId ahead = m_schedule.following();
        if (skipsOverflows() && m_lane.scaler.holdSchedule) {
            const NodeId none = m_b.constantLike(0, m_foundInf);
            const NodeId skips = m_b.emit(Op::Less, {none, m_foundInf});
            ahead = m_b.where(m_b.expandLike(skips, ahead), tick, ahead);
        }
        m_b.graph().setNext(tick, atBoundary(ahead, tick));
    }

    void updateScaler() {
        PhaseScope phase(m_b, Phase::Scaler);
        LabelScope label(m_b, "loss scaler");
        const Shape slots{kRuleSlots};
        const NodeId rules = m_b.state("scaler.rules", slots, DType::F64, StateRole::Setting);
        const NodeId next = m_b.emit(Op::ScalerUpdate, {m_scaler, rules, m_foundInf});
        m_nextScaler = atBoundary(next, m_scaler);
        m_b.graph().setNext(m_scaler, m_nextScaler);
    }

    NodeId metrics(NodeId loss, NodeId lr, NodeId generatorLoss) {
        PhaseScope phase(m_b, Phase::Metrics);
        LabelScope label(m_b, "metrics");
        std::array<NodeId, kNextScaleMetric> row{};
        row[kLossMetric] = loss;
        row[kScaleMetric] = m_scale;
        row[kFoundInfMetric] = m_foundInf;
        row[kLearningRateMetric] = lr;
        row[kGradientNormMetric] = m_norm;
        for (NodeId& value : row)
            value = m_b.reshape(value, {1});
        std::vector<NodeId> parts{m_b.cast(m_b.concat(row, 0), DType::F64), m_nextScaler};
        if (generatorLoss != kNoNode)
            parts.push_back(m_b.cast(m_b.reshape(generatorLoss, {1}), DType::F64));
        return m_b.concat(parts, 0);
    }

    Builder m_b;
    const RunConfig& m_config;
    const LaneConfig& m_lane;
    NodeId m_scaler = kNoNode, m_nextScaler = kNoNode, m_scale = kNoNode;
    NodeId m_inverse = kNoNode, m_foundInf = kNoNode, m_norm = kNoNode, m_penalty = kNoNode;
    NodeId m_boundary = kNoNode; ///< Bool; kNoNode when every step updates
    const ScheduleConfig m_rates;
    ScheduleEmitter m_schedule;
    const CastPolicy* m_policy = nullptr;
    std::vector<Group> m_groups; ///< by optimizer
};

} // namespace

Graph buildStepWith(const RunConfig& config, const LaneConfig& lane, const ForwardFn& forward) {
    return buildStepWith(config, lane, planOf(lane), forward);
}

Graph buildStepWith(const RunConfig& config, const LaneConfig& lane, const PrecisionPlan& plan,
                    const ForwardFn& forward) {
    Graph graph;
    StepBuilder(graph, config, lane).build(plan, forward);
    return graph;
}

Graph buildGradientsWith(const RunConfig& config, const LaneConfig& lane, const PrecisionPlan& plan,
                         const ForwardFn& forward) {
    Graph graph;
    StepBuilder(graph, config, lane).buildGradients(plan, forward);
    return graph;
}

bool hasOtherStep(const LaneConfig& a, const LaneConfig& b) {
    return scalesLoss(a) != scalesLoss(b) || a.scaler.onOverflow != b.scaler.onOverflow ||
           a.scaler.checkUnscaled != b.scaler.checkUnscaled ||
           a.scaler.holdSchedule != b.scaler.holdSchedule;
}

} // namespace halfscope
