// Counts the gradients of a step by their size, in the form in which the step stores them, so that
// values that half precision rounds to zero or to infinity are seen.
#pragma once

#include "engine/exec/executor.h"
#include "engine/runs/gradient_counts.h"

#include <vector>

namespace halfscope {

class GradientSampler {
public:
    /// `graph` is a program's graph of a training step.
    explicit GradientSampler(const Graph& graph);

    /// Runs the next step, stepwise, and puts back every state that it changes, so that the
    /// training is not affected. Gradients that the device does not store are left out. Returns
    /// false when the run was stopped midway.
    bool sample(Executor&, const Graph&, GradientRange&) const;

private:
    void markWeights(const Graph&, NodeId at, int parameter);

    std::vector<bool> m_outputs; ///< by node: true for the gradients that enter backward products
    std::vector<int> m_weights;  ///< by node: the number of the parameter whose gradient it is, or
                                 ///< -1
    int m_parameters = 0;
};

} // namespace halfscope
