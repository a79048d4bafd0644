// Looks at the weights before and after a step: how many of them the step left unchanged because
// its update was too small for the format that stores them, and how far a lane's weights have moved
// away from another lane's. Changes nothing.
#pragma once

#include "engine/exec/executor.h"
#include "engine/runs/step_record.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace halfscope {

struct RunConfig;

/// Whether the weights are looked at in this step: run.watch_weights says how often. Between the
/// updates of accumulated gradients no weight changes; the next update is looked at instead.
bool watchesWeights(const RunConfig&, int64_t step);

class WeightWatch {
public:
    /// `graph` is a program's graph of a training step.
    explicit WeightWatch(const Graph& graph);

    /// Keeps the weights as they are before a step.
    void before(Executor&);
    /// Compares them with those after the step. Counts the parameters for which `updated` returns
    /// true; it gets their names. Returns nothing when there are none.
    std::optional<WeightChange> after(Executor&,
                                      const std::function<bool(const std::string&)>& updated);

private:
    struct Parameter {
        std::string name;
        NodeId node = kNoNode;
        DType stored = DType::F32;
        size_t bytes = 0; ///< in storage form
        /// The 16-bit type in which layers compute with a copy of an f32 parameter; else nothing.
        std::optional<DType> copy{};
        std::optional<Fp8Scaling> fp8{}; ///< of a copy that is rounded to E4M3 before
        std::vector<std::byte> before{}; ///< empty until it is needed
    };
    std::vector<Parameter> m_parameters;
    std::vector<std::byte> m_after; ///< of one parameter
};

/// Returns the L2 norm of the difference between a lane's parameters and those of another lane, as
/// a share of the norm of the other one's. Both have parameters of the same names and shapes, in
/// any dtype.
double weightDistance(Executor&, const Graph&, Executor& reference, const Graph& referenceGraph);

} // namespace halfscope
