// What a run trains, as lists: networks, losses over weighted sums of their outputs, and
// optimizers. The settings have one network, the two of PyTorch's recipe, or one with its critic;
// the step takes any number.
#pragma once

#include "engine/settings/run_config.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halfscope {

struct NetworkPart {
    std::string prefix;   ///< of its states' names: "second."; empty for the first
    size_t optimizer = 0; ///< index of the optimizer that steps its parameters
};
struct LossPart {
    std::vector<double> factors; ///< one for each network; the loss compares the weighted sum of
                                 ///< outputs with the target
};
struct OptimizerPart {
    OptimizerConfig config;
    std::string name;  ///< for "optimizer" the step count is the state "optimizer.step"
    std::string table; ///< the state that holds its learning rates
    std::string label; ///< "learning rate", for the causes of nodes that read it
    int64_t every = 1; ///< it takes only the last of every so many updates
    /// The state that counts the updates since its last one; only when it sits some out.
    std::string passed() const { return name + ".passed"; }
};
struct StepParts {
    std::vector<NetworkPart> networks; ///< those of model.layers
    std::optional<NetworkPart> critic; ///< that of model.critic
    /// The first loss's sum is the prediction. With a critic there is one loss, which takes the
    /// prediction as it is.
    std::vector<LossPart> losses;
    std::vector<OptimizerPart> optimizers;

    /// Returns the index of the optimizer that steps a parameter, by the parameter's name.
    size_t optimizerOf(std::string_view parameter) const;
};

StepParts partsOf(const RunConfig&);

} // namespace halfscope
