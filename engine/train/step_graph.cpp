// The training step as one graph, phase by phase. No host value enters it but through inputs and
// states; a skipped step is a select. Rules of the scaler: torch.amp.GradScaler.
#include "engine/train/step_graph.h"

#include "engine/core/error.h"
#include "engine/ops/functional.h"
#include "engine/passes/autodiff.h"
#include "engine/train/optimizer.h"
#include "engine/train/schedule.h"
#include "engine/train/trainer.h"

#include <array>

namespace halfscope {

namespace {

std::optional<CastPolicy> policyOf(Precision precision) {
    switch (precision) {
    case Precision::AmpFp16: return torchCudaPolicy(DType::F16);
    case Precision::AmpBf16: return torchCudaPolicy(DType::BF16);
    case Precision::Fp32:
    case Precision::Fp16: return std::nullopt;
    }
    failInvariant("unknown precision");
}

/// Element `slot` of a small vector, as rank 0.
NodeId element(Builder& b, NodeId vector, int slot) {
    return b.reshape(b.slice(vector, 0, slot, slot + 1), {});
}

class StepBuilder {
public:
    StepBuilder(Graph& graph, const RunConfig& config, const LaneConfig& lane)
        : m_b(graph), m_config(config), m_lane(lane) {}

    void build(const ForwardFn& forward) {
        const std::optional<CastPolicy> policy = policyOf(m_lane.precision);
        Forward f;
        {
            AutocastScope scope(m_b, policy ? &*policy : nullptr);
            f = forward(m_b, storageOf(m_lane.precision));
        }
        m_scaler = m_b.state("scaler", {kScalerSlots}, DType::F64, StateRole::Scaler);
        const NodeId scaled = scaledLoss(f.loss);
        differentiate(scaled);
        unscale();
        const NodeId lr = learningRateNode();
        const NodeId skip = scalesLoss(m_lane) ? m_skip : kNoNode;
        emitOptimizer(m_b, m_config.optimizer, m_gradients, lr, skip);
        updateScaler();
        emitRunningStatistics(m_b, f.running);
        m_b.graph().addOutput("loss", f.loss);
        m_b.graph().addOutput("prediction", f.prediction);
        m_b.graph().addOutput("metrics", metrics(f.loss, lr));
    }

private:
    NodeId scaledLoss(NodeId loss) {
        PhaseScope phase(m_b, Phase::Loss);
        LabelScope label(m_b, "scaled loss");
        m_scale = m_b.cast(element(m_b, m_scaler, kScaleSlot), DType::F32);
        return scalesLoss(m_lane) ? m_b.mul(loss, m_scale) : loss;
    }

    void differentiate(NodeId scaled) {
        std::vector<NodeId> parameters;
        std::vector<std::string> names;
        for (const StateInfo& state : m_b.graph().states()) {
            if (state.role != StateRole::Parameter) continue;
            parameters.push_back(state.node);
            names.push_back(state.name);
        }
        PhaseScope phase(m_b, Phase::Backward);
        const auto gradient = gradients(m_b, scaled, parameters);
        for (size_t i = 0; i < parameters.size(); ++i) {
            require(gradient[i].has_value(), names[i] + " does not reach the loss");
            m_gradients.push_back({parameters[i], *gradient[i], names[i]});
        }
    }

    /// Checks the scaled gradients, as PyTorch does: what overflows in the multiplication is let
    /// through.
    void unscale() {
        PhaseScope phase(m_b, Phase::Unscale);
        LabelScope all(m_b, "gradients");
        NodeId count = kNoNode;
        const bool scales = scalesLoss(m_lane);
        const NodeId one = m_b.constant(1, {}, DType::F32);
        const NodeId inverse = scales ? m_b.div(one, m_scale) : kNoNode;
        NodeId squares = kNoNode;
        for (ParameterGradient& pg : m_gradients) {
            LabelScope label(m_b, pg.name + " gradient");
            if (scales) count = sumOf(count, m_b.emit(Op::CountNonFinite, {pg.gradient}));
            pg.gradient = m_b.cast(pg.gradient, DType::F32);
            if (scales) pg.gradient = m_b.mul(pg.gradient, m_b.expandLike(inverse, pg.gradient));
            squares = sumOf(squares, m_b.sumAll(m_b.mul(pg.gradient, pg.gradient)));
        }
        m_norm = m_b.unary(Op::Sqrt, squares);
        if (!scales) {
            m_foundInf = m_b.constant(0, {}, DType::F32);
            return;
        }
        m_skip = m_b.emit(Op::Less, {m_b.constantLike(0, count), count});
        m_foundInf = m_b.cast(m_skip, DType::F32);
    }

    NodeId sumOf(NodeId total, NodeId term) {
        return total == kNoNode ? term : m_b.add(total, term);
    }

    /// The table's value at the tick, which advances on every iteration, as PyTorch's recipe does.
    NodeId learningRateNode() {
        PhaseScope phase(m_b, Phase::Optimizer);
        LabelScope label(m_b, "learning rate");
        const int64_t n = scheduleLength(m_config.schedule);
        const NodeId table = m_b.state("schedule.table", {n}, DType::F32, StateRole::Setting);
        const NodeId tick = m_b.state("schedule.tick", {1}, DType::F32, StateRole::Counter);
        // F32 counts exactly to 2^24 and stays there: past the end of any table.
        m_b.graph().setNext(tick, m_b.shift(tick, 1));
        if (n == 1) return m_b.reshape(table, {});
        const double last = static_cast<double>(n - 1);
        const NodeId at = m_b.emit(Op::Minimum, {tick, m_b.constantLike(last, tick)});
        const NodeId index = m_b.cast(at, DType::I32);
        return m_b.reshape(m_b.emit(Op::Gather, {table, index}, AxisAttrs{0, 0}), {});
    }

    void updateScaler() {
        PhaseScope phase(m_b, Phase::Scaler);
        LabelScope label(m_b, "loss scaler");
        const Shape slots{kRuleSlots};
        const NodeId rules = m_b.state("scaler.rules", slots, DType::F64, StateRole::Setting);
        m_nextScaler = m_b.emit(Op::ScalerUpdate, {m_scaler, rules, m_foundInf});
        m_b.graph().setNext(m_scaler, m_nextScaler);
    }

    NodeId metrics(NodeId loss, NodeId lr) {
        PhaseScope phase(m_b, Phase::Metrics);
        LabelScope label(m_b, "metrics");
        static_assert(kTrackerMetric == kNextScaleMetric + 1 && kTrackerSlot == kScaleSlot + 1);
        std::array<NodeId, kNextScaleMetric> row{};
        row[kLossMetric] = loss;
        row[kScaleMetric] = m_scale;
        row[kFoundInfMetric] = m_foundInf;
        row[kLearningRateMetric] = lr;
        row[kGradientNormMetric] = m_norm;
        for (NodeId& value : row)
            value = m_b.reshape(value, {1});
        const std::array parts{m_b.cast(m_b.concat(row, 0), DType::F64), m_nextScaler};
        return m_b.concat(parts, 0);
    }

    Builder m_b;
    const RunConfig& m_config;
    const LaneConfig& m_lane;
    NodeId m_scaler = kNoNode, m_nextScaler = kNoNode, m_scale = kNoNode;
    NodeId m_skip = kNoNode, m_foundInf = kNoNode, m_norm = kNoNode;
    std::vector<ParameterGradient> m_gradients;
};

Network emitPrediction(Builder& b, const RunConfig& config, const BatchShape& shape,
                       DType storage) {
    const NodeId x = b.input("x", {shape.rows, shape.inputs}, storage);
    return emitNetwork(b, config.model, x, shape.outputs, storage);
}

} // namespace

DType storageOf(Precision precision) {
    return precision == Precision::Fp16 ? DType::F16 : DType::F32;
}

bool scalesLoss(const LaneConfig& lane) {
    const bool amp = lane.precision == Precision::AmpFp16 || lane.precision == Precision::AmpBf16;
    return amp && lane.scaler.rules.mode != ScalerMode::Off;
}

Graph buildStepWith(const RunConfig& config, const LaneConfig& lane, const ForwardFn& forward) {
    Graph graph;
    StepBuilder(graph, config, lane).build(forward);
    return graph;
}

Graph buildStep(const RunConfig& config, const LaneConfig& lane, const BatchShape& shape) {
    return buildStepWith(config, lane, [&](Builder& b, DType storage) {
        Network network = emitPrediction(b, config, shape, storage);
        Forward f{network.output, kNoNode, std::move(network.running)};
        const NodeId target = b.input("target", {shape.rows, shape.outputs}, DType::F32);
        PhaseScope phase(b, Phase::Loss);
        LabelScope label(b, "loss");
        // Without autocast nothing casts the prediction: the loss is taken in F32 all the same.
        const NodeId y = b.policy() ? f.prediction : b.cast(f.prediction, DType::F32);
        f.loss = fn::mseLoss(b, y, target);
        return f;
    });
}

Graph buildForward(const RunConfig& config, const LaneConfig& lane, const BatchShape& shape) {
    Graph graph;
    Builder b(graph);
    const std::optional<CastPolicy> policy = policyOf(lane.precision);
    AutocastScope scope(b, policy ? &*policy : nullptr);
    const Network network = emitPrediction(b, config, shape, storageOf(lane.precision));
    graph.addOutput("prediction", network.output);
    return graph;
}

} // namespace halfscope
