// Counts the gradients of a step by their size, in the form in which the step stores them, so that
// values that half precision rounds to zero or to infinity are seen.
#pragma once

#include "engine/exec/executor.h"
#include "engine/runs/gradient_counts.h"

#include <map>
#include <string>
#include <vector>

namespace halfscope {

class GradientSampler {
public:
    /// `graph` is a program's graph of a training step.
    explicit GradientSampler(const Graph& graph);

    /// Runs the next step, stepwise, and puts back every state that it changes, so that the
    /// training is not affected. Gradients that the device does not store are left out. Returns
    /// false when the run was stopped midway, and when the device cannot show values.
    bool sample(Executor&, const Graph&, GradientRange&) const;
    /// The layer of each parameter, as in GradientRange::layers.
    const std::map<std::string, std::string>& layers() const { return m_layerOf; }

private:
    /// What is counted of a node.
    struct Role {
        int outputsOf = -1; ///< the layer at whose outputs these gradients are
        int parameter = -1; ///< the parameter whose gradient it is
    };
    struct Parameter {
        int layer = 0;
        DType type = DType::F32; ///< of its gradient
    };
    int layerNamed(const std::string& label) const;
    DType markWeights(const Graph&, NodeId at, int parameter);
    std::map<std::string, std::string> m_layerOf; ///< by parameter
    std::vector<LayerGradients> m_layers; ///< without counts; the last one has no name and stands
                                          ///< for none
    std::vector<Role> m_roles;            ///< by node
    std::vector<Parameter> m_parameters;
};

} // namespace halfscope
