// Nodes of one function stand together, as they carry its label and decision; a function's row is
// what they have in common.
#include "engine/step/function_types.h"

#include "engine/data/dataset.h"
#include "engine/ops/cast_report.h"
#include "engine/ops/op_info.h"
#include "engine/settings/run_length.h"
#include "engine/settings/run_task.h"
#include "engine/step/step_graph.h"

#include <algorithm>

namespace halfscope {
namespace {

const std::string kFp8Rule = ": FP8 ("; // as LayerOperands writes it, before the policy's name

bool isFp8Mark(Op op) { return op == Op::QuantizeFp8 || op == Op::QuantizeGradient; }

bool isProduct(Op op) { return infoOf(op).flags.has(OpFlag::Product); }

/// Returns the node whose values a tensor has, in another shape or rounded.
NodeId origin(const Graph& graph, NodeId id) {
    for (;;) {
        const Node& node = graph[id];
        const OpFlags flags = infoOf(node.op).flags;
        const bool same =
            flags.has(OpFlag::View) || flags.has(OpFlag::StridedRead) || isFp8Mark(node.op);
        if (!same || node.in.empty()) return id;
        id = node.in[0];
    }
}

/// Builds the rows of one graph.
class Functions {
public:
    Functions(const Graph& graph, const CastPolicy& policy, bool autocast)
        : m_graph(graph), m_policy(policy), m_autocast(autocast) {
        for (const StateInfo& state : graph.states())
            m_states[state.node] = &state;
        for (const InputInfo& input : graph.inputs())
            m_inputs[input.node] = &input;
    }

    std::vector<FunctionTypes> all() {
        for (NodeId id = 0; id < m_graph.size(); ++id) {
            if (infoOf(m_graph[id].op).flags.has(OpFlag::Leaf)) continue;
            for (const NodeId in : m_graph[id].in)
                m_readers[in].push_back(id);
            take(id);
        }
        for (const OutputInfo& output : m_graph.outputs())
            m_readers[output.node].push_back(kNoNode);
        for (const auto& [id, row] : m_rowOf)
            if (isFloat(m_graph[id].dtype) && isHandedOn(id)) m_rows[row].type = m_graph[id].dtype;
        for (FunctionTypes& row : m_rows)
            row.insideF32 &= row.type != DType::F32;
        return std::move(m_rows);
    }

private:
    void take(NodeId id) {
        const Node& node = m_graph[id];
        const Cause& cause = node.cause;
        const std::string& why = cause.rule.empty() ? cause.decision : cause.rule;
        if (why.empty()) return; // no function's: shapes, sums of losses
        const bool outputs = why == kOutputsInF32;
        const std::string function = outputs ? "to" : functionIn(why);
        if (m_rows.empty() || m_rows.back().label != cause.label ||
            m_rows.back().function != function)
            begin(cause, function, why);
        m_rowOf[id] = m_rows.size() - 1;
        FunctionTypes& row = m_rows.back();
        if (outputs) row.source = TypeSource::Outputs;
        if (node.op == Op::Cast && isOfPolicy(cause.rule)) row.casts.push_back(castAt(id));
        if (isFp8Mark(node.op)) row.fp8 = true;
        if (isProduct(node.op)) {
            row.product = true;
            row.tf32 |= node.math == MathMode::TF32;
        }
        const bool reduces = infoOf(node.op).flags.has(OpFlag::Reduction);
        // what finds the scale of a tensor for FP8 is no part of the function
        const bool scales = m_policy.fp8 && cause.rule.ends_with(kFp8Rule + m_policy.name + ")");
        const bool wide = isProduct(node.op) && node.math != MathMode::F32FromHalf;
        row.insideF32 |= (reduces || wide) && !scales && node.dtype == DType::F32;
    }

    /// Whether another function, or the caller, reads what a node makes.
    bool isHandedOn(NodeId id) const {
        const auto readers = m_readers.find(id);
        if (readers == m_readers.end()) return false;
        return std::any_of(readers->second.begin(), readers->second.end(), [&](NodeId reader) {
            const auto row = m_rowOf.find(reader);
            return row == m_rowOf.end() || row->second != m_rowOf.at(id);
        });
    }

    bool isOfPolicy(const std::string& why) const {
        return why.ends_with(" (" + m_policy.name + ")");
    }

    void begin(const Cause& cause, const std::string& function, const std::string& why) {
        FunctionTypes row;
        row.label = cause.label;
        row.function = function;
        row.rule = m_policy.ruleOf(function);
        const bool byLayer = m_policy.layerDType(cause.label, cause.phase).has_value();
        if (m_policy.ownDType(cause.label))
            row.source = TypeSource::Layer;
        else if (byLayer && cause.phase == Phase::Loss)
            row.source = TypeSource::Loss;
        else if (byLayer && isOfPolicy(why))
            row.source = TypeSource::EveryLayer;
        else if (m_autocast)
            row.source = TypeSource::Rule;
        m_rows.push_back(std::move(row));
    }

    InputCast castAt(NodeId id) const {
        const NodeId from = m_graph[id].in[0];
        const NodeId made = origin(m_graph, from);
        InputCast cast;
        cast.from = m_graph[from].dtype;
        cast.to = m_graph[id].dtype;
        cast.elements = m_graph[id].elements();
        if (const auto state = m_states.find(made); state != m_states.end()) {
            cast.of = state->second->name;
            cast.weight = state->second->role == StateRole::Parameter;
        } else if (const auto input = m_inputs.find(made); input != m_inputs.end()) {
            cast.of = input->second->name;
        } else {
            cast.of = m_graph[made].cause.label;
        }
        return cast;
    }

    const Graph& m_graph;
    const CastPolicy& m_policy;
    bool m_autocast;
    std::map<NodeId, const StateInfo*> m_states;
    std::map<NodeId, const InputInfo*> m_inputs;
    std::vector<FunctionTypes> m_rows;
    std::map<NodeId, size_t> m_rowOf; ///< of nodes that belong to a function
    std::map<NodeId, std::vector<NodeId>> m_readers;
};

bool sameFunction(const FunctionTypes& a, const TypesRow& b) {
    return a.label == b.label && a.function == b.function;
}

} // namespace

LaneTypes laneTypes(const RunConfig& config, const LaneConfig& lane, const BatchShape& shape) {
    PrecisionPlan plan = planOf(lane);
    LaneTypes types;
    // A policy in which no function has a rule casts nothing, and names the functions.
    if (!plan.policy) plan.policy.emplace();
    const bool autocast = !plan.policy->rules.empty();
    if (autocast || plan.policy->everyLayer) types.policy = plan.policy->name;
    const Graph graph = buildLoss(config, plan, shape, ModelMode::Train);
    checkLayers(*plan.policy, lane, graph);
    types.functions = Functions(graph, *plan.policy, autocast).all();
    return types;
}

std::vector<LaneTypes> laneTypes(const RunConfig& config) {
    const BatchShape shape = batchShape(factsOf(taskOf(config)).tensors, epochPlanOf(config).batch);
    std::vector<LaneTypes> lanes;
    for (const LaneConfig& lane : config.lanes)
        lanes.push_back(laneTypes(config, lane, shape));
    return lanes;
}

std::vector<TypesRow> typesRows(const std::vector<LaneTypes>& lanes) {
    std::vector<TypesRow> rows;
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
        auto at = rows.begin();
        for (const FunctionTypes& each : lanes[lane].functions) {
            const auto same = std::find_if(
                at, rows.end(), [&](const TypesRow& row) { return sameFunction(each, row); });
            // a function that the lanes before do not have goes where this lane has it
            if (same == rows.end()) {
                at = rows.insert(at, {each.label, each.function, {}});
                at->lanes.resize(lane, nullptr);
            } else {
                at = same;
            }
            at->lanes.push_back(&each);
            ++at;
        }
        for (TypesRow& row : rows)
            row.lanes.resize(lane + 1, nullptr);
    }
    return rows;
}

} // namespace halfscope
