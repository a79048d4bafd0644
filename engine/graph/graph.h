// The training step as data: nodes in an order in which every input stands before its user, states
// with their next values, named outputs, and for every node why it exists.
#pragma once

#include "engine/graph/op.h"

#include <string>
#include <vector>

namespace halfscope {

/// The part of the step that emitted a node.
enum class Phase : uint8_t { Forward, Loss, Backward, Unscale, Optimizer, Scaler, Metrics };
std::string_view nameOf(Phase);

/// Why a node exists. `forward` is the forward node whose gradient it serves (kNoNode otherwise);
/// `label` is the layer or tensor ("layer 2", "6.weight gradient"); `rule` is the autocast rule
/// that put a cast here ("linear: lower precision (torch cuda float16)"); `decision` is the rule of
/// the function that emitted the node, whether it cast anything or not.
struct Cause {
    Phase phase = Phase::Forward;
    NodeId forward = kNoNode;
    std::string label;
    std::string rule;
    std::string decision{};
};

struct Node {
    Op op = Op::Constant;
    std::vector<NodeId> in;
    Attrs attrs;
    Shape shape;
    DType dtype = DType::F32;
    MathMode math = MathMode::F32;
    Cause cause;

    NodeType type() const { return {shape, dtype}; }
    int64_t elements() const { return shape.elements(); }
    size_t bytes() const { return static_cast<size_t>(elements()) * bytesOf(dtype); }
};

/// What a state is for. The memory by cause and the diagnosis of overflows sort states by it.
enum class StateRole : uint8_t {
    Parameter,
    Moment,
    RunningStatistic,
    Scaler,
    Counter,
    Setting,
    Gradient ///< accumulates over micro-batches
};
std::string_view nameOf(StateRole);

/// The value that a model's state begins with: all elements alike, or each drawn uniformly from
/// [-value, value), or from the normal distribution around 0 with the standard deviation `value`.
struct InitialValue {
    enum class Kind : uint8_t { Constant, Uniform, Normal };
    Kind kind = Kind::Constant;
    double value = 0;
    int64_t zeroRow = -1; ///< the row of a matrix that begins with zeros instead; -1 when there is
                          ///< none
};

/// A value that lives from step to step. `next` is its value after the step; with kNoNode, only an
/// upload changes it.
struct StateInfo {
    NodeId node = kNoNode;
    NodeId next = kNoNode;
    std::string name;
    StateRole role = StateRole::Parameter;
    InitialValue start{}; ///< for parameters and running statistics
};
struct InputInfo {
    NodeId node = kNoNode;
    std::string name;
};
struct OutputInfo {
    NodeId node = kNoNode;
    std::string name;
};

class Graph {
public:
    const Node& operator[](NodeId id) const { return m_nodes[static_cast<size_t>(id)]; }
    int size() const { return static_cast<int>(m_nodes.size()); }
    const std::vector<StateInfo>& states() const { return m_states; }
    const std::vector<InputInfo>& inputs() const { return m_inputs; }
    const std::vector<OutputInfo>& outputs() const { return m_outputs; }

    /// Adds a node. Its inputs must exist already, and it has at most 2^47 elements; throws
    /// std::logic_error for more.
    NodeId add(Node node);
    void addState(StateInfo state) { m_states.push_back(std::move(state)); }
    void addInput(InputInfo input) { m_inputs.push_back(std::move(input)); }
    void addOutput(std::string name, NodeId node) { m_outputs.push_back({node, std::move(name)}); }
    /// Sets a state's next value, whose shape and dtype must equal the state's.
    void setNext(NodeId state, NodeId next);

    /// Returns the node of an output, input or state by name; throws std::logic_error when there is
    /// none.
    NodeId output(std::string_view name) const;
    NodeId input(std::string_view name) const;
    NodeId state(std::string_view name) const;
    std::optional<NodeId> findOutput(std::string_view name) const;

    /// Returns how many nodes, states and outputs read each node.
    std::vector<int> useCounts() const;

private:
    std::vector<Node> m_nodes;
    std::vector<StateInfo> m_states;
    std::vector<InputInfo> m_inputs;
    std::vector<OutputInfo> m_outputs;
};

} // namespace halfscope
